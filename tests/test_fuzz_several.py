"""A share of the fuzzer's instances with several predictors, and proof that it notices errors."""

from __future__ import annotations

import fuzz_several
import numpy as np
import pytest


@pytest.mark.parametrize("part", range(2))
def test_no_answer_is_wrong(part):
    state = fuzz_several.State(seed=7, patience=0.1, next=100 * part)
    fuzz_several.run(state, 100 * (part + 1))
    assert state.wrong == []
    assert len(state.not_closed) < 25


def instance(question):
    """A drawn instance in general position of which something remains to be chosen."""
    for number in range(20_000):
        drawn = fuzz_several.draw(7, number)
        plain = drawn.groups is None and not drawn.at_least and drawn.intercept
        wanted = drawn.family == "normal" and drawn.question == question and plain
        if wanted and drawn.k < drawn.units - 1 and drawn.listed == 200:
            return drawn
    raise AssertionError("no such instance")


@pytest.mark.parametrize("question", ["r2", "lts"])
def test_notices_a_subset_that_is_not_the_best(monkeypatch, question):
    drawn = instance(question)
    right = fuzz_several._core.several_fit(drawn.x, drawn.y, drawn.k, objective=question)
    chosen = list(range(drawn.k))
    if chosen == right["inliers"].tolist():
        chosen = list(range(1, drawn.k + 1))
    value = float(fuzz_several.exact_fit(drawn, chosen))
    sign = 1 if question == "r2" else -1
    wrong = right | {"inliers": np.array(chosen), "value": sign * value, "bound": sign * value}
    monkeypatch.setattr(fuzz_several._core, "several_fit", lambda *a, **o: wrong)
    assert "above the bound" in fuzz_several.check(drawn, 1.0)


def test_notices_a_subset_that_was_said_not_to_exist(monkeypatch):
    number = 2
    nothing = {"inliers": np.array([], dtype=np.int64), "decided": True}
    asked = fuzz_several._core.several_partial
    while True:
        drawn = fuzz_several.draw(7, number)
        number += 1
        if drawn.question != "partial" or drawn.family != "normal":
            continue
        design = np.ascontiguousarray(drawn.design)
        found = asked(
            np.ascontiguousarray(drawn.x[:, -1]), drawn.y, design, drawn.k, side=drawn.side,
            t=drawn.t, at_least=drawn.at_least, groups=drawn.groups,
        )  # fmt: skip
        if len(found["inliers"]):
            break
    monkeypatch.setattr(fuzz_several._core, "several_partial", lambda *a, **o: nothing)
    assert "is on that side" in fuzz_several.check(drawn, 1.0)

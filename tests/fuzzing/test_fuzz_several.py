"""A share of the fuzzer's instances with several predictors, and proof that it notices errors."""

from __future__ import annotations

import fuzz_runs
import fuzz_several
import naive_several
import numpy as np
import pytest


@pytest.mark.parametrize("part", range(2))
def test_no_answer_is_wrong(part):
    numbers = range(100 * part, 100 * (part + 1))
    found = fuzz_runs.tally(fuzz_several.judge, 7, numbers, {"patience": 0.1})
    assert found.wrong == []
    assert len(found.open) < 25


def instance(question):
    """A drawn instance in general position of which something remains to be chosen."""
    for number in range(20_000):
        drawn = fuzz_several.draw(7, number)
        plain = drawn.groups is None and not drawn.at_least and drawn.intercept
        plain &= drawn.above is None and drawn.weights is None
        wanted = drawn.family == "normal" and drawn.question == question and plain
        if wanted and drawn.k < drawn.units - 1 and drawn.listed == 200:
            return drawn
    raise AssertionError("no such instance")


@pytest.mark.parametrize("question", ["r2", "lts"])
def test_notices_a_subset_that_is_not_the_best(monkeypatch, question):
    drawn = instance(question)
    right = fuzz_several._core.regression_fit(drawn.x, drawn.y, drawn.k, objective=question)
    chosen = list(range(drawn.k))
    if chosen == right["inliers"].tolist():
        chosen = list(range(1, drawn.k + 1))
    value = float(fuzz_several.exact_fit(drawn, chosen))
    sign = 1 if question == "r2" else -1
    wrong = right | {"inliers": np.array(chosen), "value": sign * value, "bound": sign * value}
    monkeypatch.setattr(fuzz_several._core, "regression_fit", lambda *a, **o: wrong)
    assert "above the bound" in fuzz_several.check(drawn, 1.0)


def test_notices_a_subset_that_was_said_not_to_exist(monkeypatch):
    number = 2
    nothing = {"inliers": np.array([], dtype=np.int64), "decided": True}
    asked = fuzz_several._core.regression_partial
    while True:
        drawn = fuzz_several.draw(7, number)
        number += 1
        if drawn.question != "partial" or drawn.family != "normal":
            continue
        design = np.ascontiguousarray(drawn.design)
        found = asked(
            np.ascontiguousarray(drawn.x[:, -1]), drawn.y, design, drawn.k, side=drawn.side,
            t=drawn.t, k_or_more=drawn.at_least, groups=drawn.groups,
        )  # fmt: skip
        if len(found["inliers"]):
            break
    monkeypatch.setattr(fuzz_several._core, "regression_partial", lambda *a, **o: nothing)
    assert "is on that side" in fuzz_several.check(drawn, 1.0)


def test_asks_again_where_the_machine_rested_while_the_clock_ran(monkeypatch):
    answers = iter(["open", None])
    monkeypatch.setattr(fuzz_several, "check", lambda *_: next(answers))
    assert fuzz_several.check_patiently(instance("r2"), 10.0) is None


@pytest.mark.parametrize("number", [1934, 14329, 80194, 95514])
def test_pairs_with_as_many_rows_as_controls_are_closed(number):
    """Nothing is left of any column there, which 32 digits alone do not tell."""
    it = fuzz_several.plain(33, number)
    assert fuzz_several.judge_one(it).outcome == fuzz_runs.RIGHT


@pytest.mark.slow
def test_subsets_that_intervals_pass_over_are_not_near_the_answer():
    """Every subset in fractions: none that intervals pass over is above the limit."""
    for number in range(0, 500, 5):
        drawn = fuzz_several.draw(11, number)
        subsets = fuzz_several.subsets_of(drawn)[:60]
        values = [slow_fit(drawn, s) for s in subsets]
        known = sorted(v for v in values if v is not None)
        if not known or known[-1] == 1:
            continue
        for limit in {known[-1], known[len(known) // 2]}:
            kept = set(fuzz_several.may_pass(drawn, subsets, float(limit)).tolist())
            passed = {s for s, v in enumerate(values) if v is not None and v > float(limit)}
            assert passed <= kept, (number, float(limit))


def slow_fit(drawn, chosen):
    """R2, or minus the residual sum of squares, by tests/naive_several.py."""
    rows = fuzz_several.rows_of(drawn, chosen)
    design, y = drawn.design[rows].tolist(), drawn.y[rows].tolist()
    weights = None if drawn.weights is None else drawn.weights[rows].tolist()
    if drawn.question == "lts":
        return -naive_several.rss(design, y, weights)
    return naive_several.r2(design, y, intercept=drawn.intercept, weights=weights)


def test_values_in_whole_numbers_are_those_of_fractions():
    for number in range(120):
        drawn = fuzz_several.draw(12, number)
        for chosen in fuzz_several.subsets_of(drawn)[:3]:
            if drawn.question != "partial":
                slow = slow_fit(drawn, chosen)
                fast = fuzz_several.exact_fit(drawn, chosen)
                assert fast == (slow if slow is None else float(slow)), number
                continue
            rows, sign = fuzz_several.rows_of(drawn, chosen), 1 if drawn.side == "above" else -1
            slow = naive_several.partial_exceeds(
                drawn.x[rows, -1].tolist(), (sign * drawn.y[rows]).tolist(),
                drawn.design[rows].tolist(), sign * drawn.t,
            )  # fmt: skip
            assert fuzz_several.exact_exceeds(drawn, chosen) == bool(slow), number


def test_a_partial_correlation_that_intervals_pass_over_is_not_on_that_side():
    for number in range(4, 500, 5):
        drawn = fuzz_several.draw(13, number)
        subsets = fuzz_several.subsets_of(drawn)[:200]
        kept = set(fuzz_several.may_exceed(drawn, subsets).tolist())
        beyond = {s for s in range(len(subsets)) if fuzz_several.exact_exceeds(drawn, subsets[s])}
        assert beyond <= kept, number


def test_intervals_settle_most_subsets_of_ordinary_data():
    drawn = instance("r2")
    subsets = fuzz_several.subsets_of(drawn)
    best = max(fuzz_several.exact_fit(drawn, s) for s in subsets)
    assert len(fuzz_several.may_pass(drawn, subsets, best)) <= 2

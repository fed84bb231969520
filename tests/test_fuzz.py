"""A share of the fuzzer's instances, and proof that it notices what is wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import fuzz
import numpy as np
import pytest

SCRIPT = Path(fuzz.__file__)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_answer_is_wrong(part):
    state = fuzz.State(seed=2026, patience=0.2, next=1000 * part)
    fuzz.run(state, 1000 * (part + 1))
    assert state.wrong == []
    assert len(state.not_closed) < 50


def instance(form="exactly", number=0):
    """A drawn instance in general position of which something remains to be chosen."""
    while True:
        drawn = fuzz.draw(7, number)
        number += 1
        if drawn.family == "normal" and drawn.k < len(drawn.x) - 1:
            return replace(drawn, form=form)


def answering(monkeypatch, change):
    """The engine's answers, changed."""
    search = fuzz.search
    monkeypatch.setattr(fuzz, "search", lambda *a, **o: change(search(*a, **o)))


def test_notices_a_subset_that_is_not_the_best(monkeypatch):
    it = instance()
    best, _ = it.listed(it.k)
    other = sorted({*range(len(it.x))} - {best[0]})[: it.k]
    worse = it.exact(np.array(other))
    answering(
        monkeypatch,
        lambda found: replace(found, inliers=np.array(other), value=worse, bound=worse),
    )
    with pytest.raises(fuzz.Wrong, match="but a subset has"):
        fuzz.exactly(it)


@pytest.mark.parametrize("form", ["exactly", "warm"])
def test_notices_a_value_that_is_not_the_subset_s(monkeypatch, form):
    it = instance(form)
    off = 1e-8 * (it.scale + abs(it.listed(it.k)[1]))
    answering(monkeypatch, lambda found: replace(found, value=found.value + off))
    with pytest.raises(fuzz.Wrong, match="of the subset"):
        fuzz.FORMS[form](it)


@pytest.mark.parametrize("form", ["exactly", "at_most", "warm", "stopped"])
def test_notices_a_bound_that_is_not_true(monkeypatch, form):
    it = instance(form)
    behind = it.objective.sense * 1e-6 * it.scale
    answering(monkeypatch, lambda found: replace(found, bound=found.value - behind))
    with pytest.raises(fuzz.Wrong, match="bound"):
        fuzz.FORMS[form](it)


def test_notices_a_wrong_no(monkeypatch):
    nothing = np.array([], dtype=int)
    answering(monkeypatch, lambda found: replace(found, inliers=nothing, decided=True))
    noticed = 0
    for number in range(0, 6000, 100):
        try:
            fuzz.above(instance("above", number))
        except fuzz.Wrong as wrong:
            noticed += "is above" in str(wrong)
    assert noticed >= 10  # of sixty questions, those to be answered by yes


def test_goes_on_where_it_ended(tmp_path):
    kept = tmp_path / "state.json"
    run = [sys.executable, str(SCRIPT), "--state", str(kept), "--patience", "0.2"]
    for instances in ("30", "60"):
        done = subprocess.run(
            [*run, "--instances", instances], capture_output=True, text=True, check=True
        )
        assert f"{instances} instances, 0 wrong" in done.stdout
    state = fuzz.State.load(kept, seed=0, patience=0.2)
    assert state.next == sum(state.builds.values()) == 60

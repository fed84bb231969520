"""A share of the fuzzer's instances, and proof that it notices what is wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import fuzz
import fuzz_runs
import numpy as np
import pytest

SCRIPT = Path(fuzz.__file__)
QUICKLY = {"patience": 0.2}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_answer_is_wrong(part):
    found = fuzz_runs.tally(fuzz.judge, 2026, range(2000 * part, 2000 * (part + 1)), QUICKLY)
    assert found.wrong == []
    assert len(found.open) < 100


@pytest.mark.parametrize(
    ("first", "count"), [(0, 150), pytest.param(1000, 1500, marks=pytest.mark.slow)]
)
def test_no_least_determinant_is_wrong(first, count):
    options = QUICKLY | {"objectives": ["mcd"]}
    found = fuzz_runs.tally(fuzz.judge, 2026, range(first, first + count), options)
    assert found.wrong == []
    assert len(found.open) < 0.1 * count


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


def test_notices_a_planted_subset_that_was_missed(monkeypatch):
    """Where listing cannot reach."""
    missed = 0
    for number in range(20_000):
        it = fuzz.draw(7, number, 0.2)
        if it.planted is None or it.form != "exactly" or it.enumerate_up_to < fuzz.LISTING:
            continue
        outside = next(i for i in range(len(it.x)) if i not in it.planted)
        other = np.array(sorted([*it.planted[1:], outside]))
        value = it.exact(other)
        with monkeypatch.context() as changed:
            answering(changed, lambda f, o=other, v=value: replace(f, inliers=o, value=v, bound=v))
            with pytest.raises(fuzz.Wrong, match="but a subset has"):
                fuzz.exactly(it)
        missed += 1
        if missed == 6:
            return
    raise AssertionError("no such instance")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_goes_on_where_it_ended(tmp_path, jobs):
    kept = tmp_path / "state.jsonl"
    run = [sys.executable, str(SCRIPT), "--state", str(kept), "--patience", "0.2", "--jobs", jobs]
    for instances in ("500", "1000"):
        done = subprocess.run(
            [*run, "--instances", instances], capture_output=True, text=True, check=True
        )
        assert f"{int(instances):,} instances, 0 wrong" in done.stdout
    assert len(kept.read_text().splitlines()) == 2
    state = fuzz_runs.Run(fuzz.judge, 0, 500, QUICKLY, kept)
    assert state.total.instances == sum(state.builds.values()) == 1000


def test_a_line_cut_short_is_done_again(tmp_path):
    kept = tmp_path / "state.jsonl"
    fuzz_runs.Run(fuzz.judge, 1, 20, QUICKLY, kept).up_to(60)
    whole = kept.read_text()
    kept.write_text(whole[:-30])
    again = fuzz_runs.Run(fuzz.judge, 1, 20, QUICKLY, kept)
    assert again.total.instances == 40
    assert again.up_to(60).instances == 60


def test_a_state_of_another_seed_is_refused(tmp_path):
    kept = tmp_path / "state.jsonl"
    fuzz_runs.Run(fuzz.judge, 1, 20, QUICKLY, kept).up_to(20)
    with pytest.raises(SystemExit, match="belongs to a run with seed"):
        fuzz_runs.Run(fuzz.judge, 2, 20, QUICKLY, kept)

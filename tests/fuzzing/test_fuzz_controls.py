"""The fuzzers of audits notice what is wrong, and their fast refits are those of the slow twin."""

from __future__ import annotations

from types import SimpleNamespace

import fuzz_audit
import fuzz_controls
import fuzz_runs
import naive_controls
import numpy as np
import pytest
from naive_audit import audit as slow_audit

import quadsweep as qs


def asked(number):
    """An audit and its answer; None where there is none to be made."""
    case, _ = fuzz_controls.draw(0, number)
    try:
        return None if case is None else (case, qs.audit(case.x, case.y, n_jobs=1, **case.keywords))
    except ValueError:
        return None


def saying(found, **changes):
    """The same answer with something wrong in it, which an Audit itself would refuse to be."""
    names = ("claim", "level", "threshold", "tol", "max_drop", "lower", "upper", "drop", "success",
             "mask")  # fmt: skip
    return SimpleNamespace(**({name: getattr(found, name) for name in names} | changes))


def test_refits_in_whole_numbers_are_those_of_fractions():
    for number in range(0, 60, 3):
        if (made := asked(number)) is None:
            continue
        case, found = made
        refits, rng = fuzz_controls.Refits(case, found), np.random.default_rng(number)
        for _ in range(4):
            size = int(rng.integers(1, len(case.x) + 1))
            rows = sorted(rng.permutation(len(case.x))[:size].tolist())
            assert refits.exact(rows) == naive_controls.refit(case.regression, rows), number


@pytest.mark.slow
def test_subsets_that_intervals_pass_over_break_nothing():
    for number in range(40):
        if (made := asked(number)) is None:
            continue
        case, found = made
        refits, rng = fuzz_controls.Refits(case, found), np.random.default_rng(number)
        kept = rng.random((60, len(case.x))) < 0.8
        may = refits.may_break(kept)
        for rows, possible in zip(kept, may, strict=True):
            assert possible or not refits.broken(np.flatnonzero(rows).tolist()), number


@pytest.mark.slow
@pytest.mark.parametrize("changed", [-1, 1])
def test_notices_a_number_that_is_not_the_least(changed):
    noticed = 0
    for number in range(60):
        if (made := asked(number)) is None:
            continue
        case, found = made
        if not found.success or found.drop is None or found.drop + changed < 1:
            continue
        off = found.drop + changed
        wrong = saying(found, lower=off, upper=off, drop=off)
        assert not fuzz_controls.is_right(case, wrong), number
        noticed += 1
    assert noticed >= 10


def test_notices_an_interval_without_the_truth():
    for number in range(60):
        made = asked(number)
        if made and made[1].success and (made[1].drop or 0) >= 2:
            case, found = made
            assert fuzz_controls.is_right(case, saying(found, lower=1, drop=None))
            assert not fuzz_controls.is_right(case, saying(found, lower=found.upper + 1))
            return
    raise AssertionError("no such audit")


@pytest.mark.slow
def test_counts_audits_that_try_all_removals():
    verdicts = [fuzz_controls.judge(0, number) for number in range(60)]
    assert all(v.outcome != fuzz_runs.WRONG for v in verdicts)
    tried = {mark for v in verdicts for mark in v.marks if "all removals tried" in mark}
    assert tried
    assert not any("not listed" in mark for mark in tried)
    assert any("not listed" in v.family for v in verdicts)


def test_audits_of_one_predictor_are_right_and_wrong_ones_noticed():
    noticed = 0
    for number in range(40):
        assert fuzz_audit.judge(0, number).outcome in (fuzz_runs.RIGHT, fuzz_runs.NONE)
        claim = fuzz_audit.CLAIMS[number % 5]
        case = fuzz_audit.instance(number // 5, claim, sizes=(6, 14))
        if case is None:
            continue
        found = qs.audit(case.x, case.y, n_jobs=1, **case.arguments)
        if found.success and found.drop is not None and found.drop >= 2:
            noticed, off = noticed + 1, found.drop - 1
            wrong = saying(found, lower=off, upper=off, drop=off)
            assert not fuzz_audit.is_right(case, wrong), number
    assert noticed >= 3


def test_the_fast_least_number_is_that_of_fractions():
    for number in range(30):
        claim = fuzz_audit.CLAIMS[number % 5]
        case = fuzz_audit.instance(number // 5, claim, sizes=(6, 8))
        if case is None:
            continue
        found = qs.audit(case.x, case.y, n_jobs=1, **case.arguments)
        condition = fuzz_audit.naive_audit.broken(
            found.claim, case.x, case.y, found.level, found.threshold, found.tol
        )
        slow = slow_audit(case.x, case.y, len(case.x) - 3, condition)
        assert fuzz_audit.least_removals(case, condition) == slow, number


def test_weights_and_offsets_that_hide_rows_from_32_digits_refute_nothing():
    # Weights over ten powers of ten, and an outcome whose variation is its last digits.
    assert fuzz_controls.judge(0, 2426).outcome == fuzz_runs.RIGHT

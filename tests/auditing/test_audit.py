"""The fewest removals that break a claim, against trying every subset."""

from __future__ import annotations

import json
import math

import naive_audit
import numpy as np
import pytest
from audit_instances import CLAIMS, instance

import quadsweep as qs
from quadsweep.auditing.fit import critical_r


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS)
def test_agrees_with_every_subset_in_rational_arithmetic(claim: str) -> None:
    compared = 0
    for seed in range(60):
        case = instance(seed, claim, sizes=(6, 8))
        if case is None:
            continue
        found = qs.audit(case.x, case.y, n_jobs=1, **case.arguments)
        condition = naive_audit.broken(
            claim, case.x, case.y, found.level, found.threshold, found.tol
        )
        least = naive_audit.audit(case.x, case.y, len(case.x) - 3, condition)
        assert found.success, f"seed {seed}"
        assert found.drop == least, f"seed {seed}"
        if least is not None:
            kept = np.flatnonzero(found.mask)
            assert naive_audit.breaks(case.x, case.y, kept, condition), f"seed {seed}"
        compared += 1
    assert compared > 40


@pytest.mark.parametrize("claim", ["sign", "reverse"])
def test_rows_that_nearly_coincide_are_listed_not_searched(claim: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = rng.random((2, 9))
        x[:5], y[:5] = 1e-17 * np.arange(5), 1e-17 * rng.random(5)
        found = qs.audit(x, y, claim=claim, n_jobs=1)
        condition = naive_audit.broken(claim, x, y, found.level, found.threshold, found.tol)
        assert found.success, f"seed {seed}"
        assert found.drop == naive_audit.audit(x, y, 6, condition), f"seed {seed}"


def test_the_rows_named_do_what_is_said() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    y = 0.2 * x + rng.normal(size=300)
    found = qs.audit(x, y)
    assert found.success
    assert found.drop == len(found.outliers) == found.lower
    kept = np.delete(np.arange(300), found.outliers)
    assert np.polyfit(x[kept], y[kept], 1)[0] * np.polyfit(x, y, 1)[0] < 0
    assert found.after is not None
    assert found.after.n == len(kept)
    assert f"Removing {found.drop} of 300 rows" in found.message
    assert f"No set of {found.drop - 1} rows does." in found.message


def mostly_one_y(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """y constant on most rows, as in counts with many zeros; x on a lattice."""
    y = np.zeros(n)
    some = rng.choice(n, int(rng.integers(2, 4)), replace=False)
    y[some] = rng.integers(1, 6, len(some))
    return rng.integers(0, 5, n).astype(float), y


def test_rows_with_constant_y_break_no_claim_about_the_slope() -> None:
    x, y = [0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 1, 2, 9]
    found = qs.audit(x, y, claim="slope", threshold=(0.05, 10))
    assert found.status == "robust"  # rows 0 to 3 have a slope of 0, and y is constant there
    compared = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        x, y = mostly_one_y(rng, 7)
        ends = float(rng.choice([0.05, 0.3])), float(rng.choice([1.0, np.inf]))
        threshold = ends if seed % 2 else (-ends[1], -ends[0])
        if np.ptp(x) == 0:
            continue
        found = qs.audit(x, y, claim="slope", threshold=threshold, n_jobs=1)
        condition = naive_audit.broken("slope", x, y, 0.05, threshold, found.tol)
        assert found.success, f"seed {seed}"
        assert found.drop == naive_audit.audit(x, y, 4, condition), f"seed {seed}"
        compared += found.drop != 0
    assert compared > 15


def test_many_rows_with_one_y_do_not_stand_in_the_way() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    y = np.where(rng.random(200) < 0.2, np.round(2 * x + rng.normal(size=200)), 0.0)
    found = qs.audit(x, y, claim="slope", threshold=(0.1, math.inf))
    assert found.success
    assert found.drop is not None
    kept = np.flatnonzero(found.mask)
    assert np.ptp(y[kept]) > 0
    assert np.polyfit(x[kept], y[kept], 1)[0] < 0.1


def test_a_slope_of_exactly_zero_has_not_changed_its_sign() -> None:
    # Without the last point c is 0 exactly; one more must go.
    x, y = [-1, 0, 1, -1, 0, 1, 5], [1, 0, 1, -1, 0, -1, 5]
    kept = np.arange(6)
    assert np.polyfit(np.array(x)[kept], np.array(y)[kept], 1)[0] == pytest.approx(0)
    assert qs.audit(x, y).drop == 2


def test_decimals_that_cancel_are_not_a_change_of_sign() -> None:
    x = np.array([-0.1, 0, 0.1, -0.1, 0, 0.1, 0.5]) + 0.3
    y = np.array([0.1, 0, 0.1, -0.1, 0, -0.1, 0.5]) * 3
    assert qs.audit(x, y).drop == 2


def test_r2_that_equals_its_threshold_has_reached_it() -> None:
    found = qs.audit([0, 1, 2, 3, 4], [0, 1, 2, 3, 9], claim="r2", threshold=1.0)
    assert found.drop == 1
    assert found.outliers.tolist() == [4]


def test_what_no_removal_can_break_is_said_with_its_bound() -> None:
    x = np.arange(30.0)
    found = qs.audit(x, 2 * x, max_drop=10)
    assert found.status == "robust"
    assert found.success
    assert (found.drop, found.lower, found.upper, found.after) == (None, 11, None, None)
    assert found.message == "No removal of up to 10 of 30 rows (33%) reverses the sign."


def test_a_claim_that_does_not_hold_needs_no_removal() -> None:
    found = qs.audit([0, 1, 2, 3], [0, 1, 2, 3], claim="slope", threshold=(2, 3))
    assert found.drop == 0
    assert len(found.outliers) == 0


def test_a_time_limit_leaves_an_honest_interval() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = 0.3 * x + rng.normal(size=20_000)
    found = qs.audit(x, y, time_limit=0.0)
    assert found.status == "time_limit"
    assert not found.success
    assert found.drop is None
    assert found.lower == 1


def test_however_short_the_time_what_one_step_finds_is_counted() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = 0.3 * x + rng.normal(size=200)
    found = qs.audit(x, y, time_limit=0.0)
    one_step, _ = found.approximations
    assert found.upper == one_step.needed == len(found.outliers)
    assert (found.before.slope > 0) != (found.after.slope > 0)
    assert found.message.endswith(f"Whether 1 to {found.upper - 1} would suffice is not known.")


def test_one_row_found_when_the_time_is_up_is_the_least() -> None:
    found = qs.audit([1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20], time_limit=0.0)
    assert (found.drop, found.status) == (1, "optimal")


def test_stops_when_the_callback_says_so() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=50_000)
    y = 0.1 * x + rng.normal(size=50_000)
    found = qs.audit(x, y, claim="significance", progress=lambda *state: False)
    assert found.status == "interrupted"
    assert (found.lower, found.drop) == (1, None)


@pytest.mark.parametrize("claim", CLAIMS)
def test_turning_and_scaling_the_axes_changes_nothing(claim: str) -> None:
    for seed in range(100, 112):
        case = instance(seed, claim, sizes=(9, 12))
        if case is None or claim == "slope":
            continue
        plain = qs.audit(case.x, case.y, **case.arguments)
        turned = qs.audit(-4 * case.x, case.y, **case.arguments)
        swapped = qs.audit(case.y, case.x, **case.arguments)
        assert plain.drop == turned.drop == swapped.drop, f"seed {seed}"


def test_rows_left_out_keep_their_positions() -> None:
    x = [1, 2, 3, math.nan, 4, 5, 6, 20]
    y = [6, 5, 4, 0, 3, 2, 1, 20]
    found = qs.audit(x, y, nan_policy="omit")
    assert found.outliers.tolist() == [7]
    assert found.n == 7


def test_goes_to_json_and_html() -> None:
    found = qs.audit([1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20])
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert read["drop"] == 1
    assert read["outliers"] == [6]
    assert read["before"]["slope"] > 0 > read["after"]["slope"]
    assert "reverses the sign" in found._repr_html_()
    assert "certificate:" in found.summary()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"x": [1, 2, 3], "y": [1, 2, 4]}, "at least 4 rows; got 3"),
        ({"y": [7, 7, 7, 7, 7]}, "y is constant"),
        ({"x": [7, 7, 7, 7, 7]}, "x is constant"),
        ({"level": 0}, "level must be a number strictly between 0 and 1; got 0"),
        ({"level": 1.5}, "level must be a number strictly between 0 and 1; got 1.5"),
        ({"claim": "r2"}, "needs a threshold in .0, 1.; got None"),
        ({"claim": "r2", "threshold": 1.5}, "needs a threshold in .0, 1.; got 1.5"),
        ({"claim": "slope", "threshold": 2}, "needs a threshold, low and high"),
        ({"claim": "slope", "threshold": (3, 2)}, "needs a threshold, low and high"),
        ({"claim": "sign", "threshold": 2}, "takes no threshold"),
        ({"claim": "mean"}, "claim must be one of sign"),
        ({"max_drop": 3}, "between 1 and n - 3 = 2 are allowed"),
        ({"max_drop": 0}, "between 1 and n - 3 = 2 are allowed"),
        ({"x": [1, 2, 3, 4, 5], "y": [1, 0, 0, 0, 1]}, "no sign to reverse"),
    ],
)
def test_wrong_input_gets_one_clear_sentence(arguments: dict[str, object], sentence: str) -> None:
    given = {"x": [1, 2, 3, 4, 5], "y": [2, 1, 4, 3, 5], **arguments}
    with pytest.raises(ValueError, match=sentence):
        qs.audit(given.pop("x"), given.pop("y"), **given)


def test_critical_correlations_are_those_of_the_t_test() -> None:
    for k in (3, 4, 10, 1000):
        for level in (0.5, 0.05, 1e-6):
            assert critical_r(k, level) == pytest.approx(naive_audit.critical_r(k, level), rel=1e-9)
            assert critical_r(k, level) > critical_r(k + 1, level)


def test_columns_whose_squares_vanish_are_audited_without_a_warning():
    x = [1e-200] * 5 + [2e-200] * 3
    found = qs.audit(x, [0.0, 1, 2, 3, 1, 2, 3, 1], claim="significance")
    scaled = qs.audit([1.0] * 5 + [2.0] * 3, [0.0, 1, 2, 3, 1, 2, 3, 1], claim="significance")
    assert found.drop in (None, scaled.drop)
    assert found.lower <= scaled.lower

"""Predictors that nearly depend on each other, and weights far apart: what is called optimal is.

Every answer is compared with all subsets in whole numbers, and with what its own attributes say
(tests/fuzzing/fuzz_dependence.py has the twin).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import fuzz_dependence
import fuzz_runs
import numpy as np
import pytest
from fuzz_dependence import Exact, Instance, check

import quadsweep as qs
from quadsweep.least_squares import independent


def answered(X, y, k, *, weights=None, intercept=True, objective="r2", method="auto"):
    """A result that has been checked against enumeration in whole numbers, and what they have."""
    result = qs.solve(
        X, y, k, weights=weights, fit_intercept=intercept, objective=objective, method=method,
        n_jobs=1, time_limit=60,
    )  # fmt: skip
    it = Instance(0, "", X, y, k, weights, intercept, objective)
    exact = Exact(it, result.searched)
    assert check(it, result, exact) is None
    return result, exact


def nearly_the_first(seed, n, p, distance):
    """Predictors of which the last is the first and a little of what y is made of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    z = X[:, -1].copy()
    X[:, -1] = X[:, 0] + distance * z
    return X, z + 0.3 * rng.normal(size=n)


def test_exhaustive_does_not_drop_a_column_that_matters():
    X, y = nearly_the_first(3, 12, 6, 1e-11)
    result, _ = answered(X, y, 10)
    assert (result.method, result.status) == ("exhaustive", "optimal")
    assert result.outliers.tolist() == [3, 7]
    assert result.value == pytest.approx(0.994081139196, abs=1e-12)


@pytest.mark.parametrize("distance", [1e-11, 3e-12])
@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_methods_agree_where_columns_nearly_depend(objective, distance):
    for seed in range(6):
        for p, n, k in ((3, 9, 7), (6, 10, 9)):
            X, y = nearly_the_first([seed, p], n, p, distance)
            methods = ["exhaustive", "certified"] if p <= 5 else ["exhaustive", "auto"]
            values = []
            for method in methods:
                result, _ = answered(X, y, k, objective=objective, method=method)
                assert result.status == "optimal", (seed, p, method)
                values.append(result.value)
            assert values[0] == pytest.approx(values[1], rel=1e-9), (seed, p)


def test_attributes_tell_the_value_without_an_intercept():
    """The fit once dropped what the engine had not."""
    for seed in range(20):
        X, y = nearly_the_first([seed, 9], 7, 3, 10.0 ** -(9 + seed % 3))
        result, _ = answered(X, y, 5, intercept=False)
        assert result.status == "optimal"
        assert len(result.dependent) == 0


@pytest.mark.parametrize("method", ["auto", "certified"])
def test_rows_a_hundred_million_times_larger_hide_nothing(method):
    X, y = nearly_the_first(5, 12, 2, 1e-11)
    X[:3] *= 1e10
    result, _ = answered(X, y, 9, method=method)
    assert result.status == ("optimal" if method == "auto" else "heuristic")


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("heavy", [1e12, 1e20, 1e22, 1e40, 1e60, 1e100])
@pytest.mark.parametrize("rows", [1, 2])
def test_weights_far_apart_hide_nothing(objective, heavy, rows):
    for seed in range(3):
        X, y = nearly_the_first([seed, 4], 9, 2, 1e-10 if seed else 1.0)
        weights = np.ones(9)
        weights[:rows] = heavy
        for method in ("auto", "exhaustive", "certified"):
            result, _ = answered(X, y, 7, weights=weights, objective=objective, method=method)
            if method != "certified" or (seed == 0 and heavy <= 1e20):
                assert result.status == "optimal", (seed, method)


def test_heavy_rows_that_are_large_as_well_hide_nothing():
    """Neither their weights nor their values alone exceed the digits, but both together do."""
    it = fuzz_dependence.draw(91, 6777)
    given = {"weights": it.weights, "intercept": it.intercept, "objective": it.objective}
    values = [
        answered(it.x, it.y, it.k, **given, method=method)[0].value
        for method in ("auto", "exhaustive")
    ]
    assert values[0] == values[1]
    assert answered(it.x, it.y, it.k, **given, method="certified")[0].status != "optimal"


def test_an_intercept_too_thin_to_be_taken_off_ends_no_search():
    """On rows without the heavy one, the column of the intercept is next to nothing."""
    rng = np.random.default_rng([20, 0])
    X = rng.normal(size=(10, 2))
    y = X.sum(axis=1) + 0.3 * rng.normal(size=10)
    weights = np.ones(10)
    weights[0] = 1e20
    result, _ = answered(X, y, 7, weights=weights, method="certified")
    assert result.status == "optimal"


def test_one_weight_of_1e60_is_no_constant_y():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(9, 2)), rng.normal(size=9), np.ones(9)
    weights[4] = 1e60
    assert answered(X, y, 6, weights=weights)[0].status == "optimal"


def test_the_bound_of_an_exact_fit_with_weights_is_zero():
    """Below 2^-100 of their own sum of squares, residuals are the rounding of what is given."""
    exact_fits = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 8])
        X = rng.normal(size=(10, 2))
        y = X @ [1.0, 2.0] + 3 + 10.0 ** -(14 + 2 * (seed % 3)) * rng.normal(size=10)
        weights = 10.0 ** rng.uniform(-3, 3, 10)
        result, exact = answered(X, y, 8, weights=weights, objective="lts", method="certified")
        own = float(fuzz_dependence.tss(*_own(result, y, weights), True))
        if result.value < 2.0**-101 * own:
            assert (result.status, result.bound) == ("optimal", 0.0), seed
            exact_fits += 1
        assert -result.bound >= float(exact.best) * (1 + 1e-12), seed
    assert 0 < exact_fits < 12


def _own(result, y, weights):
    return [[Fraction(v) for v in column[result.inliers]] for column in (y, weights)]


@pytest.mark.slow
def test_no_method_contradicts_another():
    found = fuzz_runs.tally(fuzz_dependence.judge, 5, range(25), {})
    assert found.wrong == []
    assert found.open == []


def test_the_fuzzer_notices_a_value_that_is_not_the_best():
    X, y = nearly_the_first(3, 12, 6, 1e-11)
    it = Instance(0, "", X, y, 10, None, True, "r2")
    worse = qs.solve(np.delete(X, 5, axis=1), y, 10)
    right = qs.solve(X, y, 10)
    exact = Exact(it, right.searched)
    wrong = replace(right, inliers=worse.inliers, value=worse.value, bound=worse.value)
    assert "its own rows have" in check(it, wrong, exact)
    own = float(exact.value(worse.inliers.tolist()))
    assert "above the bound" in check(it, replace(wrong, value=own, bound=own), exact)
    assert check(it, right, exact) is None


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("heavy", [1e20, 1e60, 1e300])
def test_weights_far_apart_on_many_rows_are_answered_without_a_false_claim(objective, heavy):
    """Too many subsets to list: the value is that of its rows all the same."""
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(40, 2)), np.ones(40)
    y = X.sum(axis=1) + rng.normal(size=40)
    weights[3] = heavy
    for method in ("auto", "certified", "concentrate"):
        beyond = heavy > 1e22 and method == "auto"
        limit = 60 if beyond else 0.2  # beyond 32 digits the search is not even begun
        result = qs.solve(
            X, y, 30, weights=weights, objective=objective, method=method, time_limit=limit
        )
        assert result.status in ("time_limit", "heuristic")
        it = Instance(0, "", X, y, 30, weights, True, objective)
        exact = Exact(it, result.searched)
        own = exact.value(result.inliers.tolist())
        assert abs(result.value) == pytest.approx(abs(float(own)), rel=1e-9), method
        assert fuzz_dependence.contradiction(it, result, own) is None
        if beyond:
            assert "beyond 32 digits" in result.message


def test_a_column_that_is_nearly_constant_is_no_intercept_beside_itself():
    """Its last digits are no second column: without an intercept there is one coefficient."""
    rng = np.random.default_rng(0)
    x, y = 1 + 1e-13 * rng.normal(size=9), rng.normal(size=9)
    result = qs.solve(x, y, 7, objective="lts", fit_intercept=False)
    assert result.fit_intercept is False
    kept = result.inliers
    assert result.value == pytest.approx(y[kept] @ y[kept] - (x[kept] @ y[kept]) ** 2 / 7, rel=1e-9)
    dummies = np.eye(2)[[0, 1, 1] * 3]
    assert qs.solve(dummies, y, 7, fit_intercept=False).fit_intercept is True


def test_a_column_is_not_left_out_for_two_others_that_nearly_agree():
    """Their difference, times a large number, is a column of its own."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        X = rng.normal(size=(11, 5))
        X[:, 1] = 2 * X[:, 0] + 10 ** -(11 + seed / 20) * rng.normal(size=11)
        assert set(independent(X)) >= {0, 2, 3, 4}, seed
    total = np.column_stack([X[:, 2:], X[:, 2:].sum(axis=1)]) + 1e9
    assert independent(total).tolist() == [0, 1, 2]

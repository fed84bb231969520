"""Several predictors: the methods against rational enumeration, the plane, the result."""

import json
import math
from itertools import combinations

import naive_several
import numpy as np
import pytest
from families_several import FAMILIES

import quadsweep as qs
from quadsweep.least_squares import fit
from quadsweep.rational import exact_value


def close(found, exact, objective, y):
    scale = 1.0 if objective == "r2" else max(float(np.sum((y - np.median(y)) ** 2)), 1e-300)
    return abs(found - float(exact)) <= 1e-9 * scale


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("family", FAMILIES)
def test_listing_finds_the_best_of_all_subsets(family, objective):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(2, 4))
        n = int(rng.integers(p + 4, 10))
        k = int(rng.integers(p + 2, n))
        X, y = FAMILIES[family](rng, n, p)
        top, subsets = naive_several.best_of_all(X, y, k, objective)
        result = qs.solve(X, y, k, objective=objective, method="exhaustive")
        assert close(result.value, top, objective, y), seed
        assert result.status == "optimal", seed
        near = family not in ("nearly_collinear", "far_away", "heavy_tailed")
        assert not near or tuple(result.inliers.tolist()) in subsets, seed


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_and_planes_through_the_origin_agree_with_the_definition(objective, intercept):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(1, 4))
        n, k = p + 6, p + 3
        X, y, w = rng.normal(size=(n, p)) + 1, rng.normal(size=n), rng.integers(1, 9, n) / 4
        top, subsets = naive_several.best_of_all(X, y, k, objective, w.tolist(), intercept)
        result = qs.solve(
            X, y, k, objective=objective, method="exhaustive", weights=w, fit_intercept=intercept
        )
        assert close(result.value, top, objective, y), seed
        assert tuple(result.inliers.tolist()) in subsets, seed


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_concentration_is_what_it_says_and_finds_clear_outliers(objective):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 7))
    y = X @ np.arange(7.0) + 0.1 * rng.normal(size=80)
    y[[3, 30, 60]] += 20
    result = qs.solve(X, y, drop=3, objective=objective)
    assert result.outliers.tolist() == [3, 30, 60]
    assert (result.status, result.method) == ("optimal", "bounded")
    alone = qs.solve(X, y, drop=3, objective=objective, method="concentrate")
    assert alone.status == "heuristic"
    assert alone.value == pytest.approx(result.value, rel=1e-14)
    plane = fit(X[result.inliers], y[result.inliers])
    assert result.value == pytest.approx(plane.value(objective), rel=1e-12)


def test_concentration_never_claims_more_than_it_has():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(11, 2)), rng.normal(size=11)
        best = qs.solve(X, y, 7, method="exhaustive").value
        found = qs.solve(X, y, 7, method="concentrate")
        assert found.value <= best + 1e-12, seed
        assert found.bound >= best, seed


def test_the_plane_is_that_of_the_inliers_in_numpy_too():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 3)) + 1e6, rng.normal(size=20)
    result = qs.solve(X, y, drop=3)
    A = np.column_stack([np.ones(17), X[result.inliers] - 1e6])
    expected = np.linalg.lstsq(A, y[result.inliers], rcond=None)[0]
    np.testing.assert_allclose(result.coef, expected[1:], rtol=1e-7)
    assert result.slope is None
    assert result.conic is None
    np.testing.assert_allclose(result.predict(X), y - result.residuals)


def test_one_column_of_a_table_is_one_predictor():
    data = qs.datasets.load("stars-cyg")
    table, column = qs.solve(data.x[:, None], data.y, drop=4), qs.solve(data.x, data.y, drop=4)
    assert table.slope == column.slope == table.coef[0]
    assert table.conic is not None
    assert table.to_dict() | {"seconds": 0} == column.to_dict() | {"seconds": 0}


def test_equal_weights_change_nothing_and_large_ones_hold_a_row():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(14, 2)), rng.normal(size=14)
    plain = qs.solve(X, y, 9, method="exhaustive")
    same = qs.solve(X, y, 9, method="exhaustive", weights=np.full(14, 3.0))
    assert same.inliers.tolist() == plain.inliers.tolist()
    np.testing.assert_allclose(same.coef, plain.coef)


def test_to_dict_is_json_with_names():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    plain = json.loads(json.dumps(qs.solve(X, y, drop=2).to_dict(), allow_nan=False))
    assert plain["names"] == ["x1", "x2", "y"]
    assert len(plain["coef"]) == 2
    assert plain["slope"] is plain["conic"] is None


def test_the_summary_has_the_coefficients_before_and_after():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = 1 + X @ [2.0, 3.0]
    y[7] = 99
    result = qs.solve(X, y, drop=1)
    text = result.summary()
    header, *rows = text.split("\n\n")[0].splitlines()
    assert header.split() == ["coefficient", "all", "30", "rows", "29", "rows", "kept"]
    assert [line.split()[-1] for line in rows] == ["1", "2", "3"]
    assert result.status == "optimal"
    assert "proved" in text
    assert "no proof" not in text
    assert "caution" in text


# One rule each for degenerate data; docs/multiple-regression.md states them.


def test_a_constant_column_has_coefficient_zero_and_the_summary_says_so():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([np.full(12, 0.1), rng.normal(size=12)]), rng.normal(size=12)
    with_it, without = qs.solve(X, y, drop=2), qs.solve(X[:, 1], y, drop=2)
    assert with_it.coef[0] == 0
    assert with_it.value == pytest.approx(without.value, abs=1e-9)
    assert "x1 is constant or a combination" in with_it.summary()


def test_a_collinear_column_adds_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    both = qs.solve(np.column_stack([X, X[:, 0] - 2 * X[:, 1]]), y, 9)
    assert both.coef[2] == 0
    assert both.dependent.tolist() == [2]
    assert both.value == pytest.approx(qs.solve(X, y, 9).value, abs=1e-9)


def test_a_dummy_whose_ones_are_all_dropped_has_coefficient_zero():
    rng = np.random.default_rng(3)
    x = rng.normal(size=20)
    y = 2 * x + 0.01 * rng.normal(size=20)
    dummy = np.zeros(20)
    dummy[[4, 9]] = 1
    y[[4, 9]] = 50, -50
    X = np.column_stack([x, dummy])
    result = qs.solve(X, y, drop=2, objective="lts")
    left = [list(rows) for rows in combinations(range(20), 18)]
    assert result.value == pytest.approx(
        min(exact_value(X[rows], y[rows], None, True, "lts") for rows in left), rel=1e-9
    )
    without = np.delete(np.arange(20), [4, 9])
    plane = fit(X[without], y[without])
    assert (plane.coef[1], plane.dependent.tolist()) == (0, [1])
    kept = qs.solve(X[without], y[without], 18, objective="lts")
    assert (kept.coef[1], kept.dependent.tolist()) == (0, [1])
    assert kept.value == pytest.approx(plane.rss, rel=1e-9)


def test_fewer_rows_than_p_plus_two_are_refused():
    X, y = np.random.default_rng(0).normal(size=(9, 3)), np.arange(9.0)
    with pytest.raises(ValueError, match="r2 of 3 predictors needs between 5 and n = 9"):
        qs.solve(X, y, 4)
    assert qs.solve(X, y, 4, fit_intercept=False).k == 4


@pytest.mark.parametrize(("objective", "value"), [("r2", 1.0), ("lts", 0.0)])
def test_exact_fits_are_found(objective, value):
    rng = np.random.default_rng(4)
    X = rng.integers(-5, 6, (14, 2)).astype(float)
    y = X @ [2.0, -1.0] + 3
    y[[1, 8]] += 7
    result = qs.solve(X, y, drop=2, objective=objective)
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.outliers.tolist() == [1, 8]


def test_a_constant_y_is_refused_for_r2_and_an_exact_fit_for_lts():
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(ValueError, match=r"y is constant \(7 in all 9 rows\)"):
        qs.solve(X, np.full(9, 7.0), 6)
    assert qs.solve(X, np.full(9, 7.0), 6, objective="lts").value == 0
    with pytest.raises(ValueError, match="every column of x is constant"):
        qs.solve(np.ones((9, 2)), np.arange(9.0), 6)


def test_listing_stops_in_time_and_when_told_to():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    result = qs.solve(X, y, 20, method="exhaustive", time_limit=0.01)
    assert result.status == "time_limit"
    assert result.bound == 1
    result = qs.solve(X, y, 20, method="exhaustive", progress=lambda *_: False)
    assert result.status == "interrupted"
    assert math.isfinite(result.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"objective": "tv"}, "take objective 'r2' or 'lts'; got 'tv'"),
        ({"weights": [1.0] * 8}, "weights must be as many as there are rows, 9; got 8"),
        ({"weights": [0.0] + [1.0] * 8}, "weights must be positive; got 0 at index 0"),
        ({"weights": [math.nan] + [1.0] * 8}, "1 rows with NaN"),
        ({"method": "magic"}, "method must be one of"),
        ({"nan_policy": "drop"}, "'raise' or 'omit'"),
    ],
)
def test_misuse_is_one_sentence(options, says):
    X, y = np.random.default_rng(0).normal(size=(9, 2)), np.arange(9.0)
    with pytest.raises(ValueError, match=says):
        qs.solve(X, y, 6, **options)


def test_certified_says_up_to_where_it_goes():
    X, y = np.random.default_rng(0).normal(size=(30, 11)), np.arange(30.0)
    with pytest.raises(ValueError, match="up to 10 predictors; got 11"):
        qs.solve(X, y, 20, method="certified")


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("p", [6, 7, 8, 10])
def test_certified_finds_the_best_of_all_subsets_with_up_to_ten_predictors(p, objective):
    for seed in range(6):
        rng = np.random.default_rng([seed, p])
        X = rng.normal(size=(p + 6, p))
        X[:, 0] = X[:, 0] > 0 if seed % 2 else np.round(X[:, 0])
        y = X.sum(axis=1) + rng.standard_t(2, size=p + 6)
        asked = {"objective": objective, "weights": rng.uniform(1, 9, p + 6) if seed % 3 else None}
        all_of_them = qs.solve(X, y, p + 3, method="exhaustive", **asked)
        found = qs.solve(X, y, p + 3, method="certified", **asked)
        assert (found.method, found.status) == ("certified", "optimal")
        assert close(found.value, all_of_them.value, objective, y), seed


def test_rows_with_missing_values_are_left_out_and_positions_map_back():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    X[3, 1] = y[8] = np.nan
    with pytest.raises(ValueError, match="2 rows with NaN or infinity, the first at index 3"):
        qs.solve(X, y, 9)
    result = qs.solve(X, y, 9, nan_policy="omit")
    assert result.omitted.tolist() == [3, 8]
    assert len(result.mask) == 15
    assert np.isnan(result.residuals[[3, 8]]).all()


@pytest.mark.parametrize("method", ["sweep", "naive"])
def test_sweeps_take_one_predictor_without_weights(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(11, 2)), rng.normal(size=11)
    with pytest.raises(ValueError, match=f"{method} takes one predictor with an intercept"):
        qs.solve(X, y, 8, method=method)
    with pytest.raises(ValueError, match=f"{method} takes one predictor"):
        qs.solve(X[:, 0], y, 8, method=method, weights=np.ones(11))


@pytest.mark.parametrize("sentinel", [1e9, 1e12, 1e15, 1e20, 1e50])
@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_sentinels_in_two_columns_of_a_row_hide_no_subset(objective, sentinel):
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        x, y = rng.normal(size=(8, 2)), rng.normal(size=8)
        x[2] = -sentinel, 3 * sentinel
        every = [list(rows) for rows in combinations(range(8), 6)]
        values = [exact_value(x[rows], y[rows], None, True, objective) for rows in every]
        best = max(values) if objective == "r2" else min(values)
        for method in ("auto", "exhaustive", "certified"):
            result = qs.solve(x, y, 6, objective=objective, method=method)
            if result.status == "optimal":
                assert result.value == pytest.approx(float(best), rel=1e-8), (method, seed)
            else:
                assert method == "certified"
                assert sentinel > 1e9


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("sentinel", [-1e200, 1e308])
def test_squares_that_overflow_hide_no_subset(objective, sentinel):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=8)
    x[5, 1] = y[5] = sentinel  # a plane can pass through this row, with an R2 of nearly 1
    result = qs.solve(x, y, k=5, objective=objective)
    assert result.status == "optimal"
    sense = 1 if objective == "r2" else -1
    for rows in map(list, combinations(range(8), 5)):
        exact = exact_value(x[rows], y[rows], None, True, objective)
        assert sense * exact <= sense * result.value * (1 + sense * 1e-9)

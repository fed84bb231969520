"""The bound for any number of predictors: never past the best of all subsets, and often there."""

import importlib
import math
from itertools import combinations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import _core
from quadsweep.solving.methods.problem import Outcome, Watch
from quadsweep.solving.methods.regression import ball_bound, many_predictors
from quadsweep.solving.methods.regression.exhaustive import exhaustive
from quadsweep.solving.methods.regression.outside import fourth_moment, outside_bounds
from quadsweep.solving.methods.regression.placement import place_rows
from quadsweep.solving.methods.regression.row_bound import RowBound
from quadsweep.solving.question import pose

certified = importlib.import_module("quadsweep.solving.methods.regression.certified")


def small(rng):
    """A regression whose subsets can be listed: outliers, leverage, ties, copies, near-dependence,
    weights, planes through the origin, columns far from zero."""
    n, p, m = int(rng.integers(10, 20)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
    X = rng.normal(size=(n, p))
    y = X @ rng.normal(size=p) * rng.choice([0, 1, 10]) + rng.normal(size=n)
    family = rng.integers(6)
    if family == 1:
        y[:m] += 20 * rng.normal(size=m)
    elif family == 2:
        X[:m] += 10 * rng.normal(size=(m, p))
    elif family == 3:
        X, y = np.round(2 * X), np.round(2 * y)
    elif family == 4:
        X[:, -1] = X[:, 0] + rng.normal(size=n) * 10.0 ** -rng.integers(1, 6)
    elif family == 5:
        copied = rng.integers(n // 2, n, n // 2)
        X[: n // 2], y[: n // 2] = X[copied], y[copied]
    if rng.random() < 0.2:
        X, y = X * 10.0 ** rng.integers(-3, 4), y * 10.0 ** rng.integers(-3, 4) + 1e4
    weights = None if rng.random() < 0.6 else 0.1 + 3 * rng.random(n)
    return X, y, m, weights, bool(rng.random() < 0.7)


def listed(X, y, m, weights, intercept, objective):
    """All subsets and their values, by projections."""
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    columns = np.column_stack([np.ones(len(y)), X]) if intercept else X
    subsets = np.array(list(combinations(range(len(y)), len(y) - m)))
    part, r = (y * root)[subsets], root[subsets]
    if intercept:
        part = part - ((part * r).sum(axis=1) / (r * r).sum(axis=1))[:, None] * r
    q = np.linalg.qr((columns * root[:, None])[subsets])[0]
    left = part
    for _ in range(2):
        left = left - np.einsum("sij,sj->si", q, np.einsum("sij,si->sj", q, left))
    rss = (left**2).sum(axis=1)
    return subsets, rss if objective == "lts" else 1 - rss / (part**2).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["lts", "r2"])
def test_no_subset_passes_the_bound(objective, monkeypatch):
    monkeypatch.setattr(ball_bound, "_MOST_QUADRATICS", 40)
    monkeypatch.setattr(many_predictors, "_TRIED", 4)
    monkeypatch.setattr(many_predictors, "SECONDS", 0.3)
    rng, sense, useful = np.random.default_rng(5), 1 if objective == "r2" else -1, 0
    for number in range(12):
        X, y, m, weights, intercept = small(rng)
        question = pose(
            X, y, objective=objective, n_jobs=1, weights=weights, fit_intercept=intercept
        )
        problem = question.keeping(None, m).problem
        if problem.p < X.shape[1]:
            continue  # rounded columns may coincide
        subsets, values = listed(X, y, m, weights, intercept, objective)
        best = sense * (sense * values).max()
        # around the best subset, and around any
        for at in (int(np.argmax(sense * values)), int(rng.integers(len(values)))):
            found = Outcome(subsets[at], float(values[at]), math.nan, "heuristic", 1)
            watch = Watch(problem)
            watch.value = found.value
            steps = [many_predictors._bound_by_balls, many_predictors._bound_by_spheres]
            many_predictors.improve_bound(problem, found.inliers, steps, watch)
            bound = watch.bound
            slack = 1e-9 * (abs(best) if sense < 0 else 1)
            assert sense * bound >= sense * best - slack, number
            useful += 0 < bound < 1 if sense > 0 else bound > 0.2 * best
    assert useful > 6


def test_quadratics_are_below_truncated_squares():
    rng = np.random.default_rng(6)
    for _ in range(200):
        r, t = rng.normal(size=30) * 10.0 ** rng.integers(-2, 3), rng.random(30) * 4 - 0.2
        reach, mean = rng.random(30) * 10.0 ** rng.integers(-3, 3, 30), rng.normal(size=30)
        with np.errstate(all="ignore"):  # as the search has it: rows with t < 0 have no root
            below = ball_bound._below(r, reach, t, np.zeros(30), mean, rng.random(30))
        for share in np.linspace(-1, 1, 201):
            s = share * reach
            value = below.at_zero + below.first * s + below.second * s * s
            size = r * r + s * s + np.abs(below.second) * (r * r + s * s)
            assert (value <= np.minimum((r - s) ** 2, t) + 1e-11 * size).all()


def test_fourth_moments_are_not_passed_by_any_direction():
    rng = np.random.default_rng(7)
    z = rng.standard_t(4, size=(60, 4))
    most = fourth_moment(z)
    for _ in range(300):
        u = rng.normal(size=4)
        for _ in range(20):  # ascent
            u /= np.linalg.norm(u)
            assert np.sum((z @ u) ** 4) <= most
            u = z.T @ (z @ u) ** 3


@pytest.mark.parametrize("objective", ["lts", "r2"])
def test_outliers_among_ten_predictors_are_proved(objective):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 10))
    y = X @ np.arange(10.0) + rng.normal(size=300)
    X[:5] += 6
    y[:15] += 12
    result = qs.solve(X, y, drop=15, objective=objective, n_jobs=1)
    assert (result.status, result.method) == ("optimal", "bounded")
    assert result.outliers.tolist() == list(range(15))
    assert result.gap <= 1e-9 * max(1.0, result.value)


def test_outside_bounds_are_below_every_sum():
    rng, together = np.random.default_rng(12), 0
    for number in range(60):
        X, y, m, weights, intercept = small(rng)
        question = pose(X, y, objective="lts", weights=weights, fit_intercept=intercept)
        problem = question.keeping(None, m).problem
        kept = rng.permutation(problem.n)[: problem.n - m]
        rows = place_rows(problem, kept) if problem.p == X.shape[1] else None
        if rows is None:
            continue
        found = outside_bounds(rows)
        together += any(one.base > 0 for one in found)
        for _ in range(40):
            b = rng.normal(size=rows.z.shape[1]) * 10.0 ** rng.integers(-2, 3)
            b *= np.sqrt(rows.r @ rows.r / len(b))
            least = np.sort((rows.r - rows.z @ b) ** 2)[: problem.n - m].sum()
            length = float(np.linalg.norm(b))
            for one in found:
                assert one.least(length, length) <= least * (1 + 1e-9), number
    assert together > 20


def test_pairs_of_rows_take_at_least_what_any_rows_take():
    rng = np.random.default_rng(13)
    for n, m in ((6, 1), (7, 2), (9, 3), (8, 7)):
        own, slope, u = rng.normal(size=n), rng.random(n), rng.normal(size=n)
        pairs = rng.normal(size=(n, n))
        pairs = pairs + pairs.T
        bound = _core.PairBound(pairs, own, slope, u, m)
        for g in (0.0, 0.7, 0.3):
            whole = pairs - g * np.outer(u, u)
            np.fill_diagonal(whole, own - g * slope)
            most = max(whole[np.ix_(o, o)].sum() for o in map(list, combinations(range(n), m)))
            first = bound.improve(g, -np.inf, 1, 2, np.inf)
            best = bound.improve(g, -np.inf, 200, 2, np.inf)
            assert most <= best <= first
            assert m > 1 or best == pytest.approx(most)


def test_row_sums_are_those_of_sorted_rows():
    rng = np.random.default_rng(14)
    matrix, weight = rng.normal(size=(9, 9)), rng.normal(size=9)
    for k, sign in ((0, 1), (3, 1), (3, -1), (8, 0)):
        cost = np.abs(matrix) * weight if sign == 0 else sign * matrix * weight
        expected = [np.sort(np.delete(row, i))[::-1][:k].sum() for i, row in enumerate(cost)]
        np.testing.assert_allclose(_core.largest_row_sums(matrix, weight, k, sign), expected)


@pytest.mark.parametrize("objective", ["lts", "r2"])
def test_no_rows_take_more_than_the_bound_by_rows(objective):
    rng, useful = np.random.default_rng(15), 0
    for number in range(30):
        X, y, m, weights, intercept = small(rng)
        question = pose(X, y, objective=objective, weights=weights, fit_intercept=intercept)
        problem = question.keeping(None, m).problem
        subsets, values = listed(X, y, m, weights, intercept, objective)
        rows = place_rows(problem, subsets[0]) if problem.p == X.shape[1] else None
        bound = None if rows is None else RowBound(rows, 1)
        if bound is None or not bound.works:
            continue
        if objective == "lts":
            least = bound.least_sum(math.inf, Watch(problem))
            assert least <= values.min() * (1 + 1e-9), number
            useful += least > 0.5 * values.min()
        else:
            most = bound.most_r2(0.0, 1.0, 1e-9, Watch(problem))
            assert most >= values.max() - 1e-9, number
            useful += most < 0.5 + 0.5 * values.max()
    assert useful > 8


def test_noise_has_a_gap_that_the_message_gives(monkeypatch):
    monkeypatch.setattr(many_predictors, "SECONDS", 0.2)
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(120, 11)), rng.normal(size=120)
    result = qs.solve(X, y, drop=7, objective="lts", n_jobs=1)
    assert result.status == "heuristic"
    assert 0.5 * result.value < result.bound < result.value
    assert "Searches go up to 5 predictors" in result.message
    stopped = qs.solve(X, y, drop=8, objective="lts", n_jobs=1, time_limit=0.0)
    assert stopped.status == "time_limit"
    seen = []

    def stop(value, bound, nodes, seconds):
        seen.append(nodes)
        return len(seen) < 40

    assert qs.solve(X, y, drop=8, objective="lts", progress=stop).status == "interrupted"


@pytest.mark.slow
def test_certified_takes_the_bound_before_boxes_that_take_long(monkeypatch):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(1000, 10))
    y = X.sum(axis=1) + rng.normal(size=1000)
    y[:30] += 15
    proved = qs.solve(X, y, drop=30, objective="lts", method="certified", n_jobs=1, time_limit=60)
    assert proved.status == "optimal"
    assert proved.outliers.tolist() == list(range(30))
    X, y = rng.normal(size=(60, 6)), rng.normal(size=60)
    monkeypatch.setattr(certified, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(certified, "SECONDS", 0.0)
    monkeypatch.setattr(many_predictors, "SECONDS", 0.0)
    open_ = qs.solve(X, y, drop=6, objective="lts", n_jobs=1)
    searched = qs.solve(X, y, drop=6, objective="lts", method="certified", n_jobs=1)
    assert (open_.status, searched.status) == ("heuristic", "optimal")
    assert open_.bound <= searched.bound <= searched.value <= open_.value * (1 + 1e-14)


def test_time_that_is_given_or_left_is_searched_on(monkeypatch):
    monkeypatch.setattr(many_predictors, "SECONDS", 0.0)
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    asked = {"drop": 4, "objective": "lts", "n_jobs": 1}
    monkeypatch.setattr(certified, "FIRST_SECONDS", 0.0)
    assert qs.solve(X, y, **asked).status == "optimal"
    monkeypatch.setattr(certified, "SECONDS", 0.0)
    assert qs.solve(X, y, **asked).status == "heuristic"
    assert qs.solve(X, y, time_limit=100.0, **asked).status == "optimal"


@pytest.mark.parametrize("objective", ["lts", "r2"])
@pytest.mark.parametrize("seconds", [10.0, 0.0])
def test_many_predictors_are_searched_for_some_seconds_before_there_is_a_bound(
    objective, seconds, monkeypatch
):
    monkeypatch.setattr(certified, "FIRST_SECONDS", seconds)
    monkeypatch.setattr(certified, "SECONDS", 0.0)
    monkeypatch.setattr(many_predictors, "SECONDS", 0.0)
    proved, sense = 0, 1 if objective == "r2" else -1
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(16, 6 + seed % 3)), rng.normal(size=16)
        problem = pose(X, y, objective=objective, n_jobs=1).keeping(None, 2).problem
        found, truth = certified.quickly(problem), exhaustive(problem)
        proved += found.status == "optimal"
        if found.status == "optimal":
            assert found.value == pytest.approx(truth.value, rel=1e-9), seed
        assert sense * found.bound >= sense * truth.value * (1 - sense * 1e-9), seed
        assert sense * found.value <= sense * truth.value * (1 + sense * 1e-9), seed
    assert proved == 8 if seconds else proved < 8


def test_half_of_the_rows_and_dependent_predictors_have_no_bound():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(60, 6)), rng.normal(size=60)
    half = qs.solve(X, y, drop=30, objective="lts", n_jobs=1)
    assert (half.status, half.bound) == ("heuristic", 0.0)
    X = rng.normal(size=(60, 11))
    X[:, 10] = X[:, :10].sum(axis=1) + 1e-10 * rng.normal(size=60)
    assert qs.solve(X, y, drop=10, objective="r2", n_jobs=1).bound == 1.0

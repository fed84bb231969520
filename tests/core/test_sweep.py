"""The sweep against all subsets filtered by an exact test of separability."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import naive
import numpy as np
import pytest
from families import FAMILIES

from quadsweep import _core, datasets, lifts, solve

OBJECTIVES = tuple(naive.NATURAL_LIFT)
ROUNDING = Fraction(1, 10**9)


def run(x, y, k, objective, method="sweep", n_jobs=1):
    return _core.solve(x, y, k, objective, method, 1e-9, math.inf, n_jobs, 0, None)


def assert_no_worse(x, y, subset, objective, expected, where):
    """The subset's exact score reaches the expected one, up to the rounding of the kernel's."""
    found = naive.subset_score(naive.exact(x), naive.exact(y), subset, objective)
    best, best_subset = expected
    assert found is not None, where
    assert found >= best - ROUNDING * abs(best), (where, subset, float(found), best_subset)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_never_misses_a_strictly_separable_subset(family, objective):
    for seed in range(4):
        rng = np.random.default_rng([seed, 11])
        n = int(rng.integers(4, 11))
        x, y = FAMILIES[family](rng, n)
        for k in rng.permutation(np.arange(naive.MIN_K[objective], n + 1))[:2]:
            expected = naive.best_separable(x, y, int(k), objective)
            inliers, *_ = run(x, y, int(k), objective)
            if expected is not None:
                where = f"{family} {objective} seed={seed} n={n} k={k}"
                assert len(inliers) == k, where
                assert_no_worse(x, y, inliers.tolist(), objective, expected, where)


@pytest.mark.parametrize(("lift", "n"), [("L3t", 8), ("L4", 9), ("L5", 9)])
@pytest.mark.parametrize("family", ["normal", "lattice"])
def test_meets_each_strictly_separable_subset(family, lift, n):
    """Of values that are equal on one subset alone, only this one has no variance."""
    x, y = FAMILIES[family](np.random.default_rng(n), n)
    points, rows = naive.lifted(x, y, lift), lifts.get(lift)(x, y)
    met = 0
    for k in (3, n // 2):
        for subset in itertools.combinations(range(n), k):
            if naive.strictly_separable(points, subset):
                z = np.arange(n) + 1.0
                z[list(subset)] = 0.0
                inliers, *_ = _core.solve_lifted(
                    z, z, rows, k, "tv", "sweep", "both", math.inf, 1, None
                )
                assert tuple(inliers) == subset
                met += 1
    assert met > 20


@pytest.mark.slow
@pytest.mark.parametrize("family", ["uniform", "lattice", "duplicated", "on_a_conic"])
def test_every_k_of_twelve_points(family):
    rng = np.random.default_rng(12)
    x, y = FAMILIES[family](rng, 12)
    for k in range(3, 13):
        expected = naive.best_separable(x, y, k, "lts")
        inliers, *_ = run(x, y, k, "lts")
        if expected is not None:
            assert_no_worse(x, y, inliers.tolist(), "lts", expected, f"{family} k={k}")


@pytest.mark.parametrize("family", ["normal", "uniform"])
@pytest.mark.parametrize("objective", ["r2", "cov", "tv"])
def test_in_general_position_only_separable_subsets_are_returned(family, objective):
    for seed in range(3):
        rng = np.random.default_rng([seed, 5])
        x, y = FAMILIES[family](rng, 10)
        inliers, *_ = run(x, y, 5, objective)
        points = naive.lifted(x, y, naive.NATURAL_LIFT[objective])
        assert naive.strictly_separable(points, inliers.tolist()), seed


@pytest.mark.parametrize("objective", ["tv", "var", "lts"])
@pytest.mark.parametrize("family", FAMILIES)
def test_finds_the_optimum_where_the_theorem_promises_a_separable_one(family, objective):
    for seed in range(6):
        rng = np.random.default_rng([seed, 3])
        n = int(rng.integers(7, 15))
        x, y = FAMILIES[family](rng, n)
        k = int(rng.integers(3, n))
        _, value, *_ = run(x, y, k, objective)
        _, best, *_ = run(x, y, k, objective, "exhaustive")
        scale = max(abs(best), 1e-9 * float(np.var(x) + np.var(y)))
        assert value == pytest.approx(best, rel=1e-9, abs=1e-9 * scale), (seed, n, k)


def test_large_groups_of_tied_points_are_swept_in_turn():
    """Each group has far too many subsets to list; the answer is known from the counts."""
    x = np.repeat([0.0, 1.0, 2.0, 10.0], 60)
    y = np.repeat([0.0, 1.0, 2.0, -10.0], 60)
    inliers, value, _, status, _ = run(x, y, 180, "r2")
    assert status == "best_separable"
    assert value == 1.0
    assert set(inliers.tolist()) == set(range(180))
    inliers, value, *_ = run(x, y, 150, "tv")
    _, best, *_ = _core.solve(x, y, 150, "tv", "concentrate", 1e-9, math.inf, 1, 0, None)
    assert len(inliers) == 150
    assert value == pytest.approx(best)


def test_lattices_are_no_worse_than_exhaustive_for_lts():
    for seed in range(10):
        rng = np.random.default_rng([seed, 8])
        x, y = rng.integers(0, 4, (2, 20)).astype(float)
        assert run(x, y, 12, "lts")[1] == pytest.approx(
            run(x, y, 12, "lts", "exhaustive")[1], rel=1e-9, abs=1e-12
        ), seed


def test_stops_at_the_second_best_of_the_counterexample():
    """In exact arithmetic: the optimum is not separable, and the sweep finds the next."""
    data = datasets.load("nonseparable-r2")
    x, y = [float(v) for v in data.x], [float(v) for v in data.y]
    ranked = naive.ranked_subsets(x, y, 8, "r2")
    points = naive.lifted(x, y, "L5")
    assert ranked[0][1] == (0, 1, 2, 3, 4, 5, 7, 9)
    assert not naive.strictly_separable(points, ranked[0][1])
    result = solve(x, y, 8, method="sweep")
    expected = naive.best_separable(x, y, 8, "r2")
    assert tuple(result.inliers) == expected[1] == ranked[1][1]
    assert result.value == pytest.approx(float(expected[0]), rel=1e-12)
    assert result.value == pytest.approx(0.079033192, abs=1e-9)
    assert result.status == "best_separable"


@pytest.mark.parametrize(("objective", "lift"), [("cov", "L4"), ("dv", "L4"), ("r2", "L3t")])
def test_other_lifts_than_the_natural_one(objective, lift):
    for seed in range(4):
        rng = np.random.default_rng([seed, 21])
        x, y = rng.normal(size=(2, 9))
        k = int(rng.integers(3, 9))
        inliers, *_ = _core.solve_lifted(
            x, y, lifts.get(lift)(x, y), k, objective, "sweep", "both", math.inf, 1, None
        )
        expected = naive.best_separable(x, y, k, objective, lift)
        assert_no_worse(x, y, inliers.tolist(), objective, expected, (seed, k))


def test_copies_of_two_points_have_a_best_subset():
    """Every separable subset is three copies of one point and has no value; mixed ones have."""
    x = y = [0, 0, 0, 2, 2, 2]
    for method, status in (("sweep", "best_separable"), ("naive", "heuristic")):
        result = solve(x, y, 3, method=method)
        assert result.value == 1.0
        assert result.status == status
    x = np.repeat([0.0, 2.0], 500)
    assert solve(x, x, 500, method="sweep").value == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["r2", "r"])
def test_a_subset_with_a_value_is_found_wherever_there_is_one(objective):
    undefined = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, places = int(rng.integers(6, 11)), int(rng.integers(2, 8))
        chosen = rng.integers(0, places, n)
        x, y = rng.integers(0, 4, (2, places)).astype(float)[:, chosen]
        k = int(rng.integers(3, n))
        best = naive.exhaustive(x, y, k, objective)
        inliers, *_ = run(x, y, k, objective)
        where = f"{objective} seed={seed} n={n} k={k}"
        assert (len(inliers) == k) == (best is not None), where
        if best is None:
            continue
        separable = naive.best_separable(x, y, k, objective)
        undefined += separable is None
        # Where all points lie on one conic every subset is the limit of separable ones.
        flat = np.linalg.matrix_rank(np.column_stack([lifts.get("L5")(x, y), np.ones(n)])) < 6
        expected = best if separable is None or flat else separable
        assert_no_worse(x, y, inliers.tolist(), objective, expected, where)
    assert undefined > 2

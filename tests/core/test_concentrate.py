"""The heuristic: legal, repeatable, never better than the best, and seldom worse."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from families import FAMILIES

import quadsweep as qs
from quadsweep import _core

OBJECTIVES = tuple(naive.NATURAL_LIFT)


def run(x, y, k, objective, method="concentrate", seed=0, n_jobs=1):
    return _core.solve(x, y, k, objective, method, 1e-9, math.inf, n_jobs, seed, None)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", FAMILIES)
def test_returns_k_points_with_their_value_and_never_beats_the_best(family, objective):
    for seed in range(3):
        rng = np.random.default_rng([seed, 51])
        n = int(rng.integers(4, 15))
        x, y = FAMILIES[family](rng, n)
        k = int(rng.integers(naive.MIN_K[objective], n + 1))
        where = f"{family} {objective} seed={seed} n={n} k={k}"
        inliers, value, bound, status, _ = run(x, y, k, objective)
        best = run(x, y, k, objective, "exhaustive")
        if len(best[0]) == 0:
            assert len(inliers) == 0, where
            continue
        assert status == ("optimal" if k == n else "heuristic"), where
        assert len(inliers) == k, where
        assert value == _core.value(x, y, inliers, objective), where
        sign = 1 if objective in naive.MAXIMISED else -1
        assert sign * value <= sign * best[1] <= sign * bound, where


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_finds_most_optima_of_small_samples(objective):
    found = 0
    for seed in range(30):
        x, y = FAMILIES["heavy_tailed" if seed % 2 else "normal"](np.random.default_rng(seed), 16)
        value, best = run(x, y, 8, objective)[1], run(x, y, 8, objective, "exhaustive")[1]
        found += math.isclose(value, best, rel_tol=1e-9)
    assert found >= 27


def test_a_value_is_found_even_where_most_subsets_have_none():
    x = np.r_[np.zeros(30), 1.0]
    y = np.r_[np.zeros(29), 1.0, 0.0]
    inliers, value, *_ = run(x, y, 4, "r2")
    assert len(inliers) == 4
    assert {29, 30} <= set(inliers.tolist())
    assert 0 < value < 1


@pytest.mark.parametrize("n", [50, 5_000])
def test_the_seed_alone_decides(n):
    x, y = np.random.default_rng(3).normal(size=(2, n))
    first = run(x, y, n // 2, "r2", seed=5)
    for n_jobs in (1, 2, 3):
        again = run(x, y, n // 2, "r2", seed=5, n_jobs=n_jobs)
        assert again[0].tolist() == first[0].tolist()
        assert again[1:] == first[1:]


def test_a_line_among_many_points_is_found():
    """A tenth of the points is noise far from the line; the rest is what must come back."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=20_000)
    y = 2 * x + 0.01 * rng.normal(size=20_000)
    y[:2_000] = 10 * rng.normal(size=2_000)
    result = qs.solve(x, y, 18_000, method="concentrate")
    assert result.status == "heuristic"
    assert np.mean(result.inliers >= 2_000) > 0.99
    assert result.value > 0.999


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["cov", "dv"])
def test_steps_that_go_too_far_are_shortened(objective):
    """Points far from the mean on both sides: a whole step takes them all from one of them."""
    rng = np.random.default_rng(5)
    x = np.round(rng.uniform(1900, 2020, 2000))
    y = np.round(0.01 * (x - 1900) + rng.normal(size=2000), 2)
    best = run(x, y, 400, objective, "certified")
    assert best[3] == "optimal"
    assert run(x, y, 400, objective)[1] == pytest.approx(best[1], rel=1e-9)


@pytest.mark.parametrize("predictors", [1, 3])
def test_all_points_are_the_best_of_all(predictors):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, predictors)), rng.normal(size=30)
    result = qs.solve(X, y, 30, method="concentrate")
    assert (result.status, result.gap) == ("optimal", 0)

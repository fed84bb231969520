"""The exhaustive search against its twin, and what must not change its answer."""

from __future__ import annotations

import math
from itertools import combinations

import naive
import numpy as np
import pytest
from families import FAMILIES

from quadsweep import _core, datasets, solve

OBJECTIVES = tuple(naive.NATURAL_LIFT)


def run(x, y, k, objective, n_jobs=1):
    return _core.solve(x, y, k, objective, "exhaustive", 1e-9, math.inf, n_jobs, 0, None)


@pytest.fixture
def instruction_sets():
    """Those of this processor; the usual one is restored."""
    yield [s for s in ("baseline", "avx2", "avx512") if _core.choose_instruction_set(s)]
    assert _core.choose_instruction_set("auto")


def value_scale(x, y, objective):
    """What a value of the objective is to be compared with when it is next to nothing."""
    if objective in ("r2", "r"):
        return 1.0
    sx, sy = float(np.std(x)), float(np.std(y))
    return {"cov": sx * sy, "var": sx * sx, "lts": len(x) * sy * sy}.get(objective, sx**2 + sy**2)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", FAMILIES)
def test_finds_what_listing_in_exact_arithmetic_finds(family, objective):
    for seed in range(5):
        rng = np.random.default_rng([seed, 1])
        n = int(rng.integers(4, 11))
        x, y = FAMILIES[family](rng, n)
        for k in range(naive.MIN_K[objective], n + 1):
            where = f"{family} {objective} seed={seed} n={n} k={k}"
            expected = naive.exhaustive(x, y, k, objective)
            inliers, value, bound, status, nodes = run(x, y, k, objective)
            assert status == "optimal", where
            if expected is None:
                assert len(inliers) == 0, where
                continue
            assert nodes == math.comb(n, k), where
            assert bound == value, where
            tolerance = 1e-12 * value_scale(x, y, objective)
            best = naive.value_of_score(expected[0], objective)
            assert value == pytest.approx(best, rel=1e-9, abs=tolerance), where
            found = naive.value(x, y, inliers.tolist(), objective)
            assert found == pytest.approx(best, rel=1e-9, abs=tolerance), where


@pytest.mark.slow
@pytest.mark.parametrize("n", [11, 12, 13, 14])
def test_larger_samples(n):
    rng = np.random.default_rng(n)
    for family in ("normal", "lattice"):
        x, y = FAMILIES[family](rng, n)
        best, subset = naive.exhaustive(x, y, n // 2, "r2")
        inliers, value, *_ = run(x, y, n // 2, "r2")
        assert value == pytest.approx(float(best), rel=1e-12)
        if family == "normal":
            assert tuple(inliers) == subset


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_heavy_tails_do_not_hide_the_optimum(objective):
    """Half the points within 1e-3 of each other, the others up to 1e12 away."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 12)) * 1e-3
    x[6:], y[6:] = rng.normal(size=(2, 6)) * 1e12
    expected = naive.exhaustive(x, y, 5, objective)
    inliers, value, *_ = run(x, y, 5, objective)
    assert value == pytest.approx(naive.value_of_score(expected[0], objective), rel=1e-9)
    assert naive.value(x, y, inliers.tolist(), objective) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("drop", [1, 2, 3])
@pytest.mark.parametrize("family", ["normal", "heavy_tailed", "lattice", "badly_scaled"])
def test_listing_the_dropped_points_finds_the_same(family, drop, objective):
    """More than 26 points, most of them kept: the few dropped ones are listed instead."""
    rng = np.random.default_rng([drop, 6])
    n = 27 if drop == 3 else 40
    x, y = FAMILIES[family](rng, n)
    inliers, value, _, status, nodes = run(x, y, n - drop, objective)
    assert status == "optimal"
    assert nodes == math.comb(n, drop)
    kept = (np.delete(np.arange(n), gone) for gone in combinations(range(n), drop))
    values = [_core.value(x, y, subset, objective) for subset in kept]
    best = max(values) if objective in naive.MAXIMISED else min(values)
    assert value == pytest.approx(best, rel=1e-12, abs=1e-300)
    assert naive.value(x, y, inliers.tolist(), objective) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_neither_threads_nor_instruction_sets_change_the_answer(family, instruction_sets):
    rng = np.random.default_rng(9)
    for n, k in ((14, 7), (28, 25)):
        x, y = FAMILIES[family](rng, n)
        for objective in OBJECTIVES:
            answers = set()
            for name in instruction_sets:
                assert _core.choose_instruction_set(name)
                for n_jobs in (1, 2, 5):
                    inliers, *rest = run(x, y, k, objective, n_jobs)
                    answers.add((tuple(inliers), *map(str, rest)))
            assert len(answers) == 1, (objective, n, answers)


def test_ties_go_to_the_first_subset_in_dictionary_order():
    for n_jobs in (1, 2, 4):
        x = y = np.zeros(12)
        assert run(x, y, 5, "tv", n_jobs)[0].tolist() == [0, 1, 2, 3, 4]


def test_returns_the_nonseparable_optimum_of_the_counterexample():
    data = datasets.load("nonseparable-r2")
    x, y = [float(v) for v in data.x], [float(v) for v in data.y]
    best, subset = naive.exhaustive(x, y, 8, "r2")
    result = solve(x, y, 8, method="exhaustive")
    assert tuple(result.inliers) == subset == (0, 1, 2, 3, 4, 5, 7, 9)
    assert result.value == pytest.approx(float(best), rel=1e-12)
    assert result.status == "optimal"

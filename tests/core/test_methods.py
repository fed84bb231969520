"""Methods for one predictor: against their twins, against each other, whatever the threads."""

from __future__ import annotations

import math
from itertools import combinations

import naive
import numpy as np
import pytest
from families import FAMILIES

import quadsweep as qs
from quadsweep import _core

OBJECTIVES = tuple(naive.NATURAL_LIFT)


def run(x, y, k, objective, method="exhaustive", seed=0, n_jobs=1):
    return _core.solve(x, y, k, objective, method, 1e-9, math.inf, n_jobs, seed, None)


@pytest.fixture
def instruction_sets():
    """Those of this processor; the usual one is restored."""
    yield [s for s in ("baseline", "avx2", "avx512") if _core.choose_instruction_set(s)]
    assert _core.choose_instruction_set("auto")


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["naive", "concentrate"])
def test_returns_k_points_with_their_value_and_never_beats_the_best(method, family, objective):
    for seed in range(3):
        rng = np.random.default_rng([seed, 51])
        n = int(rng.integers(4, 15))
        x, y = FAMILIES[family](rng, n)
        k = int(rng.integers(naive.MIN_K[objective], n + 1))
        where = f"{method} {family} {objective} seed={seed} n={n} k={k}"
        inliers, value, bound, status, _ = run(x, y, k, objective, method)
        best = run(x, y, k, objective)
        if len(best[0]) == 0:
            assert len(inliers) == 0, where
            continue
        if method == "concentrate":
            assert status == ("optimal" if k == n else "heuristic"), where
        assert len(inliers) == k, where
        assert value == _core.value(x, y, inliers, objective), where
        sign = 1 if objective in naive.MAXIMISED else -1
        assert sign * value <= sign * best[1] <= sign * bound, where


@pytest.mark.parametrize("family", ["collinear", "lattice", "on_a_conic", "normal"])
@pytest.mark.parametrize("method", ["naive", "sweep", "concentrate"])
def test_the_answer_does_not_depend_on_the_number_of_threads(method, family):
    x, y = FAMILIES[family](np.random.default_rng(2), 13)
    for objective in OBJECTIVES:
        alone = run(x, y, 7, objective, method)
        for n_jobs in (2, 3):
            together = run(x, y, 7, objective, method, n_jobs=n_jobs)
            assert alone[0].tolist() == together[0].tolist()
            assert alone[1:4] == together[1:4]


@pytest.mark.parametrize("method", ["exhaustive", "naive"])
def test_finds_the_nonseparable_optimum_of_the_counterexample(method):
    data = qs.datasets.load("nonseparable-r2")
    result = qs.solve(data.x, data.y, 8, method=method)
    best, subset = naive.exhaustive([float(v) for v in data.x], [float(v) for v in data.y], 8, "r2")
    assert tuple(result.inliers) == subset == (0, 1, 2, 3, 4, 5, 7, 9)
    assert result.value == pytest.approx(float(best), rel=1e-12)
    assert result.status == ("optimal" if method == "exhaustive" else "heuristic")


# ---- exhaustive


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
                    inliers, *rest = run(x, y, k, objective, n_jobs=n_jobs)
                    answers.add((tuple(inliers), *map(str, rest)))
            assert len(answers) == 1, (objective, n, answers)


def test_ties_go_to_the_first_subset_in_dictionary_order():
    for n_jobs in (1, 2, 4):
        x = y = np.zeros(12)
        assert run(x, y, 5, "tv", n_jobs=n_jobs)[0].tolist() == [0, 1, 2, 3, 4]


# ---- concentrate


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_finds_most_optima_of_small_samples(objective):
    found = 0
    for seed in range(30):
        x, y = FAMILIES["heavy_tailed" if seed % 2 else "normal"](np.random.default_rng(seed), 16)
        value, best = (run(x, y, 8, objective, m)[1] for m in ("concentrate", "exhaustive"))
        found += math.isclose(value, best, rel_tol=1e-9)
    assert found >= 27


def test_a_value_is_found_even_where_most_subsets_have_none():
    x = np.r_[np.zeros(30), 1.0]
    y = np.r_[np.zeros(29), 1.0, 0.0]
    inliers, value, *_ = run(x, y, 4, "r2", "concentrate")
    assert len(inliers) == 4
    assert {29, 30} <= set(inliers.tolist())
    assert 0 < value < 1


@pytest.mark.parametrize("n", [50, 5_000])
def test_the_seed_alone_decides(n):
    x, y = np.random.default_rng(3).normal(size=(2, n))
    first = run(x, y, n // 2, "r2", "concentrate", seed=5)
    for n_jobs in (1, 2, 3):
        again = run(x, y, n // 2, "r2", "concentrate", seed=5, n_jobs=n_jobs)
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
    assert run(x, y, 400, objective, "concentrate")[1] == pytest.approx(best[1], rel=1e-9)


@pytest.mark.parametrize("predictors", [1, 3])
def test_all_points_are_the_best_of_all(predictors):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, predictors)), rng.normal(size=30)
    result = qs.solve(X, y, 30, method="concentrate")
    assert (result.status, result.gap) == ("optimal", 0)


# ---- univariate


@pytest.mark.parametrize("family", FAMILIES)
def test_finds_the_smallest_variance(family):
    for seed in range(4):
        rng = np.random.default_rng([seed, 41])
        n = int(rng.integers(4, 11))
        x, y = FAMILIES[family](rng, n)
        for k in range(2, n + 1):
            expected, _ = naive.exhaustive(x, y, k, "var")
            result = qs.solve(x, k=k, objective="var")
            assert result.method == "univariate"
            assert result.status == "optimal"
            where = f"{family} seed={seed} n={n} k={k}"
            assert result.value == pytest.approx(float(-expected), rel=1e-9), where
            assert result.gap <= 1e-9 * abs(result.value), where


def test_a_tight_group_between_enormous_outliers():
    x = np.array([-1e60, 3.0, -1e40, 3.0 + 1e-7, 1e12, 3.0 + 2e-7, 1e60, 5.0, -4e9])
    result = qs.solve(x, k=3, objective="var")
    assert result.inliers.tolist() == [1, 3, 5]


def test_a_regular_grid_of_many_points_where_every_window_ties():
    result = qs.solve(np.arange(20_000.0), k=9_999, objective="var")
    assert result.value == pytest.approx((9_999**2 - 1) / 12, rel=1e-12)
    assert result.gap <= 1e-9 * result.value


def test_many_points_agree_with_prefix_sums():
    x = np.random.default_rng(0).normal(size=5_000)
    k = 1_234
    order = np.sort(x)
    s1, s2 = (np.concatenate([[0], np.cumsum(order**p)]) for p in (1, 2))
    variances = (s2[k:] - s2[:-k]) / k - ((s1[k:] - s1[:-k]) / k) ** 2
    assert qs.solve(x, k=k, objective="var").value == pytest.approx(variances.min(), rel=1e-9)

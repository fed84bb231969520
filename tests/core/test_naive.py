"""The paper's naive sweep against its definition, with every lift, score and direction."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from families import FAMILIES

import quadsweep as qs
from quadsweep import _core

OBJECTIVES = tuple(naive.NATURAL_LIFT)
GENERAL = ("uniform", "normal", "heavy_tailed")


def run(x, y, k, objective, n_jobs=1):
    return _core.solve(x, y, k, objective, "naive", 1e-9, math.inf, n_jobs, 0, None)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", GENERAL)
def test_in_general_position_finds_what_its_definition_finds(family, objective):
    for seed in range(2):
        rng = np.random.default_rng([seed, 31])
        n = int(rng.integers(7, 10))
        x, y = FAMILIES[family](rng, n)
        for k in rng.permutation(np.arange(naive.MIN_K[objective], n + 1))[:3]:
            where = f"{family} {objective} seed={seed} n={n} k={k}"
            best, _ = naive.naive_sweep(x, y, int(k), objective)
            inliers, value, *_ = run(x, y, int(k), objective)
            expected = naive.value_of_score(best, objective)
            assert value == pytest.approx(expected, rel=1e-9, abs=1e-300), where
            found = naive.value(x, y, inliers.tolist(), objective)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-300), where


@pytest.mark.slow
def test_both_directions_miss_nothing_in_2000_samples():
    """The published code sorts in one direction and misses some of them."""
    rng = np.random.default_rng(2024)
    X, Y = rng.uniform(size=(2, 2000, 15))
    best = qs.solve_many(X, Y, 8, method="exhaustive")
    both = qs.solve_many(X, Y, 8, method="naive")
    missed = np.flatnonzero(both.values < best.values * (1 - 1e-12))
    assert len(missed) == 0, missed


def test_one_direction_alone_misses_some_optima():
    rng = np.random.default_rng(2024)
    X, Y = rng.uniform(size=(2, 2000, 15))
    missed = []
    for x, y in zip(X[:20], Y[:20], strict=True):
        best = qs.solve(x, y, 8, method="exhaustive").value
        one_way = [qs.naive_sweep(x, y, 8, order=o).value for o in ("ascending", "descending")]
        assert max(one_way) == best
        missed.append(min(one_way) < best * (1 - 1e-9))
    assert any(missed)


def test_all_subsets_are_scored_where_there_are_no_more_points_than_dimensions():
    x, y = np.random.default_rng(0).normal(size=(2, 5))
    result = qs.naive_sweep(x, y, 4)
    assert result.status == "optimal"
    assert result.value == qs.solve(x, y, 4, method="exhaustive").value
    custom = qs.naive_sweep(x, y, 4, score=lambda u, w: -abs(u.sum()))
    assert custom.status == "optimal"
    assert custom.nodes == 5


@pytest.mark.parametrize("lift", ["L2", "L3c", "L3d", "L3t", "L4", "L5"])
def test_a_function_and_a_name_give_the_same(lift):
    rng = np.random.default_rng(7)
    for _ in range(3):
        x, y = rng.normal(size=(2, 9))
        k = int(rng.integers(3, 9))

        def covariance(u, w):
            return float(np.mean((u - u.mean()) * (w - w.mean())))

        named = qs.naive_sweep(x, y, k, lift=lift, score="cov")
        given = qs.naive_sweep(x, y, k, lift=qs.lifts.get(lift), score=covariance)
        expected, _ = naive.naive_sweep(x, y, k, "cov", lift)
        assert named.value == pytest.approx(float(expected), rel=1e-9)
        assert given.value == pytest.approx(float(expected), rel=1e-9)
        assert given.objective == "covariance"
        assert "covariance" in given.summary()


@pytest.mark.parametrize("d", [1, 2, 6, 7])
def test_lifts_of_any_dimension(d):
    x, y = np.random.default_rng(d).normal(size=(2, 10))

    def powers(u, w):
        return np.column_stack([u**i * w ** (i % 2) for i in range(1, d + 1)])

    result = qs.naive_sweep(x, y, 6, lift=powers, score="r2")
    assert len(result.inliers) == 6
    assert result.value == pytest.approx(qs.objectives.get("r2").value(
        x[result.inliers], y[result.inliers]))  # fmt: skip


def test_one_direction_finds_no_more_than_both():
    rng = np.random.default_rng(5)
    for _ in range(20):
        x, y = rng.normal(size=(2, 12))
        values = {
            o: qs.naive_sweep(x, y, 6, order=o).value for o in ("both", "ascending", "descending")
        }
        assert values["both"] == max(values.values())


def test_ctrl_c_in_a_function_returns_the_incumbent():
    x, y = np.random.default_rng(1).normal(size=(2, 12))
    calls = []

    def impatient(u, w):
        calls.append(1)
        if len(calls) == 50:
            raise KeyboardInterrupt
        return float(u.sum())

    result = qs.naive_sweep(x, y, 6, score=impatient)
    assert result.status == "interrupted"
    assert len(result.inliers) == 6
    assert result.value == pytest.approx(x[result.inliers].sum())


BAD = [
    ({"lift": lambda x, y: x}, ValueError, r"shape \(9, d\) with d >= 1; got shape \(9,\)"),
    ({"lift": lambda x, y: np.zeros((8, 2))}, ValueError, r"got shape \(8, 2\)"),
    ({"lift": lambda x, y: np.full((9, 2), np.nan)}, ValueError, "finite numbers; got .* point 0"),
    ({"lift": lambda x, y: np.full((9, 2), 1j)}, TypeError, "real numbers; got dtype complex"),
    ({"lift": "L6"}, ValueError, "L2, L3c, L3d, L3t, L4, L5; got 'L6'"),
    ({"score": lambda x, y: math.nan}, ValueError, "score must return a number; got nan"),
    ({"score": lambda x, y: "high"}, ValueError, "score must return a number; got 'high'"),
    ({"score": lambda x, y: x}, ValueError, "score must return a number; got array"),
    ({"score": "R2"}, ValueError, "score must be a callable or one of r2, .*; got 'R2'"),
    ({"score": 2}, TypeError, "score must be a callable or one of r2, .*; got 2"),
    ({"order": "up"}, ValueError, "both, ascending, descending; got 'up'"),
]


@pytest.mark.parametrize(("arguments", "kind", "sentence"), BAD)
def test_bad_lifts_scores_and_orders_are_named(arguments, kind, sentence):
    x, y = np.random.default_rng(0).normal(size=(2, 9))
    with pytest.raises(kind, match=sentence):
        qs.naive_sweep(x, y, 5, **arguments)


def test_what_is_found_is_not_called_the_best_separable_subset():
    """A separable subset of points on a circle, with copies, is missed."""
    rng = np.random.default_rng(2413)
    d = int(rng.integers(2, 7))
    angle = 2 * np.pi * rng.integers(0, 12, d) / 12
    angle = angle[np.r_[np.arange(d), rng.integers(0, d, 9 - d)]]
    x, y = np.cos(angle), np.sin(angle)
    swept = qs.solve(x, y, 6, method="sweep")
    found = qs.solve(x, y, 6, method="naive")
    assert swept.status == "best_separable"
    assert found.value < swept.value - 0.01
    assert found.status == "heuristic"


@pytest.mark.parametrize("method", ["naive", "sweep"])
def test_a_time_limit_holds_for_very_many_points(method):
    """One step sorts all points: the clock is looked at in each, not after 64 of them."""
    x, y = np.random.default_rng(0).normal(size=(2, 300_000))
    result = qs.solve(x, y, drop=1000, method=method, time_limit=0.01)
    assert result.status == "time_limit"
    assert result.nodes <= 8

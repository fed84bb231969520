"""The sliding window against all subsets."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from families import FAMILIES

import quadsweep as qs


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

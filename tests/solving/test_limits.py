"""Time limits with a clock that jumps: how much is done after it has, not how long that takes."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from jumping import jumping

import quadsweep as qs


@pytest.mark.parametrize("looks", [4, 6, 10, 30])
@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("n", [100, 3000])
def test_concentration_ends_soon_after_the_clock_has_jumped(monkeypatch, looks, objective, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    y = X.sum(axis=1) + rng.normal(size=n)
    clock = jumping(monkeypatch, looks)
    result = qs.solve(
        X, y, drop=n // 10, objective=objective, method="concentrate", time_limit=1.0
    )  # fmt: skip
    assert result.status == "time_limit"
    assert len(result.inliers) == n - n // 10
    assert np.isfinite(result.value)
    assert clock.looks > -8  # each allows one more step; three are for the status and the seconds


@pytest.mark.parametrize("looks", [4, 8, 20])
def test_starts_are_no_longer_tried_when_the_clock_has_jumped(monkeypatch, looks):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 8))
    y = X.sum(axis=1) + rng.normal(size=2000)
    module = import_module("quadsweep.solving.methods.regression.concentrate")
    clock, tried = jumping(monkeypatch, looks), []
    judged = module._Walk._judged

    def counted(self, masks, *given, **more):
        tried.append(len(masks) if clock.over else 0)
        return judged(self, masks, *given, **more)

    monkeypatch.setattr(module._Walk, "_judged", counted)
    result = qs.solve(X, y, drop=200, method="concentrate", time_limit=1.0)
    assert result.status == "time_limit"
    assert sum(tried) < module.STARTS // 2


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_limit_that_strikes_in_set_up_leaves_rows_and_their_value(objective, weighted):
    rng = np.random.default_rng(2)
    n, k = 60_000, 50_000
    X = rng.normal(size=(n, 2))
    y = X.sum(axis=1) + rng.standard_t(3, size=n)
    w = rng.uniform(1, 3, size=n) if weighted else np.ones(n)
    for limit in (1e-9, 0.02, 0.04, 0.06, 0.1, 0.2, 0.3):  # of which some come in the middle
        found = qs.solve(
            X, y, k, objective=objective, weights=w if weighted else None, time_limit=limit,
            n_jobs=1,
        )  # fmt: skip
        assert found.status == "time_limit" or limit > 1e-9
        assert len(np.unique(found.inliers)) == k
        root, rows = np.sqrt(w[found.inliers]), found.inliers
        Z = root[:, None] * np.column_stack([np.ones(k), X[rows]])
        rss = np.linalg.lstsq(Z, root * y[rows], rcond=None)[1][0]
        tss = w[rows] @ (y[rows] - np.average(y[rows], weights=w[rows])) ** 2
        value = 1 - rss / tss if objective == "r2" else rss
        assert found.value == pytest.approx(value, rel=1e-9)
        assert found.bound >= found.value if objective == "r2" else found.bound <= found.value


def test_where_time_is_over_before_any_subset_the_first_rows_are_kept():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60_000, 2))
    found = qs.solve(X, X.sum(axis=1) + rng.normal(size=60_000), 50_000, time_limit=1e-9, n_jobs=1)
    assert found.inliers.tolist() == list(range(50_000))

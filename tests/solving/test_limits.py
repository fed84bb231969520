"""Time limits with a clock that jumps: how much is done after it has, not how long that takes."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import quadsweep as qs


class Jumping:
    """A clock on which all time is gone after some looks."""

    def __init__(self, looks):
        self.looks = looks

    def __call__(self, limit):
        self.limit = limit
        return self

    def gone(self):
        return 0.0 if self.looks > 0 else 1e9

    def left(self):
        self.looks -= 1
        return self.limit if self.looks > 0 else 0.0


@pytest.mark.parametrize("looks", [1, 2, 5, 20])
@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("n", [100, 3000])
def test_concentration_ends_soon_after_the_clock_has_jumped(monkeypatch, looks, objective, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    y = X.sum(axis=1) + rng.normal(size=n)
    clock = Jumping(looks)
    module = import_module("quadsweep.solving.methods.regression.concentrate")
    monkeypatch.setattr(module, "Clock", clock)
    result = qs.solve(X, y, drop=n // 10, objective=objective, method="concentrate")
    assert result.status == "time_limit"
    assert len(result.inliers) == n - n // 10
    assert np.isfinite(result.value)
    assert clock.looks > -5  # of which each allows one more step


@pytest.mark.parametrize("looks", [1, 4, 12])
def test_starts_are_no_longer_tried_when_the_clock_has_jumped(monkeypatch, looks):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 8))
    y = X.sum(axis=1) + rng.normal(size=2000)
    module = import_module("quadsweep.solving.methods.regression.concentrate")
    clock, tried = Jumping(looks), []
    monkeypatch.setattr(module, "Clock", clock)
    judged = module._Walk._judged

    def counted(self, masks, *given, **more):
        tried.append(len(masks) if clock.looks <= 0 else 0)
        return judged(self, masks, *given, **more)

    monkeypatch.setattr(module._Walk, "_judged", counted)
    result = qs.solve(X, y, drop=200, method="concentrate")
    assert result.status == "time_limit"
    assert sum(tried) < module.STARTS // 2

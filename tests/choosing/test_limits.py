"""Time limits of questions that ask more than one search, with a clock that jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jumping import jumping, searches_after

import quadsweep as qs


def points() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    return X, X.sum(axis=1) + rng.normal(size=400)


X, y = points()
x = X[:, 0]
LIMITS: dict[str, Any] = {"time_limit": 5, "n_jobs": 1}
ASKED: dict[str, Callable[[], Any]] = {
    "path": lambda: qs.path(x, y, **LIMITS),
    "path, 2 predictors": lambda: qs.path(X, y, **LIMITS),
    "significance": lambda: qs.significance(x, y, 0.8, permutations=999, **LIMITS),
    "significance, 2 predictors": lambda: qs.significance(X, y, 0.8, permutations=999, **LIMITS),
    "stability": lambda: qs.stability(x, y, 0.8, **LIMITS),
    "stability, 2 predictors": lambda: qs.stability(X, y, 0.8, **LIMITS),
}


@pytest.mark.parametrize("looks", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("question", ASKED)
def test_no_more_is_asked_than_what_was_begun_when_the_clock_jumped(monkeypatch, question, looks):
    after = searches_after(monkeypatch, jumping(monkeypatch, looks))
    found = ASKED[question]()
    assert np.ravel(found.status)[-1] == "time_limit"
    assert len(after) <= 3, after


@pytest.mark.parametrize("looks", [1, 2, 20, 60])
@pytest.mark.parametrize("predictors", [x, X], ids=["one", "two"])
def test_what_a_stopped_path_has_is_what_the_whole_path_has(monkeypatch, predictors, looks):
    sizes = [320, 340, 360, 380]
    whole = qs.path(predictors, y, ks=sizes, n_jobs=1)
    jumping(monkeypatch, looks)
    found = qs.path(predictors, y, ks=sizes, **LIMITS)
    reached = found.status == "optimal"
    assert np.array_equal(found.value[reached], whole.value[reached])
    stopped = ~reached & ~np.isnan(found.value)
    assert np.all(found.value[stopped] <= whole.value[stopped])
    assert np.all(found.bound[stopped] >= whole.value[stopped])
    assert set(found.status[~reached]) <= {"time_limit"}
    if looks <= 2:
        assert not reached.any()

"""Ctrl-C and time limits stop every method, and the best subset so far comes back."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

import quadsweep as qs

# Far more work than the time the tests give, so that coming back unfinished says that the
# limit was seen: method, objective, points. How late a method stops is a figure of
# benchmarks/paper_methods.py: a busy machine is late with everything.
LONG = [
    ("exhaustive", "r2", 60),
    ("naive", "r2", 90),
    ("sweep", "r2", 150),
    ("concentrate", "r2", 1_000_000),
    ("auto", "var", 1_000_000),
]


def data(n):
    return np.random.default_rng(0).normal(size=(2, n))


def assert_legal(result, n, status):
    assert result.status == status
    assert not result.success
    assert len(result.inliers) == n // 2
    assert len(np.union1d(result.inliers, result.outliers)) == n
    assert result.mask.sum() == n // 2
    assert result.gap >= 0
    kept = result.mask
    value = qs.objectives.get(result.objective).value(result.x[kept], result.y[kept])
    assert result.value == pytest.approx(value, rel=1e-9)
    sense = qs.objectives.get(result.objective).sense
    assert sense * result.value <= sense * result.bound


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("method", "objective", "n"), LONG)
def test_a_time_limit_returns_the_incumbent(method, objective, n, n_jobs):
    x, y = data(n)
    limit = 0.0 if objective == "var" else 0.1
    result = qs.solve(
        x, y, n // 2, objective=objective, method=method, time_limit=limit, n_jobs=n_jobs
    )
    assert_legal(result, n, "time_limit")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(("objective", "trivial"), [("r2", 1), ("tv", 0), ("lts", 0)])
def test_the_building_of_the_tree_ends_with_the_time(objective, trivial, rounded, n_jobs):
    n = 120_000
    x, y = np.round(data(n), 2) if rounded else data(n)
    asked = {"objective": objective, "method": "certified", "n_jobs": n_jobs}
    result = qs.solve(x, y, n // 2, time_limit=0, **asked)
    assert_legal(result, n, "time_limit")
    assert (result.nodes, result.bound) == (0, trivial)
    # What was found on a sample is carried over to all points: far better than any subset.
    best = qs.solve(x, y, n // 2, **asked)
    assert result.value == pytest.approx(best.value, rel=0.05)


@pytest.mark.slow
def test_a_callback_ends_the_building_of_the_tree():
    n = 2_000_000
    x, y = data(n)
    result = qs.solve(x, y, n // 2, method="certified", n_jobs=1, progress=lambda *_: False)
    assert_legal(result, n, "interrupted")
    assert (result.nodes, result.bound) == (0, 1)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("method", "objective", "n"), LONG[:-1])
def test_ctrl_c_returns_the_incumbent(method, objective, n, n_jobs):
    x, y = data(n)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))

    def press_once_it_runs(*_):
        if timer.ident is None:
            timer.start()

    result = qs.solve(
        x, y, n // 2, objective=objective, method=method, n_jobs=n_jobs,
        progress=press_once_it_runs,
    )  # fmt: skip
    timer.join()
    assert_legal(result, n, "interrupted")


def test_a_callback_that_has_seen_enough_stops_the_search():
    x, y = data(60)
    calls = []

    def enough(value, bound, nodes, seconds):
        calls.append((value, bound, nodes, seconds))
        return len(calls) < 3

    result = qs.solve(x, y, 30, method="exhaustive", progress=enough)
    assert_legal(result, 60, "interrupted")
    assert len(calls) == 3
    assert calls[-1][0] <= result.value


def test_a_callback_that_fails_ends_the_call_with_its_own_error():
    x, y = data(200)

    def broken(value, bound, nodes, seconds):
        raise RuntimeError("the display is gone")

    with pytest.raises(RuntimeError, match="the display is gone"):
        qs.solve(x, y, 100, method="sweep", progress=broken)


@pytest.mark.parametrize("method", ["exhaustive", "sweep", "naive", "concentrate"])
def test_no_time_at_all_still_gives_a_subset(method):
    x, y = data(40)
    result = qs.solve(x, y, 20, method=method, time_limit=0)
    assert_legal(result, 40, "time_limit")

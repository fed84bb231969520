"""Batches: every data set as if it were alone, whatever the number of threads."""

from functools import cache

import naive
import numpy as np
import pytest

import quadsweep as qs
from quadsweep.objectives import get
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.certified import search


@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
def test_agrees_with_solving_one_by_one(objective):
    X, Y = np.random.default_rng(1).normal(size=(2, 12, 10))
    batch = qs.solve_many(X, Y, 7, objective=objective, method="exhaustive")
    for t in range(12):
        alone = qs.solve(X[t], Y[t], 7, objective=objective, method="exhaustive")
        assert batch.values[t] == alone.value
        assert batch.bounds[t] == alone.bound
        assert batch.masks[t].tolist() == alone.mask.tolist()
        assert batch.status[t] == alone.status
        assert batch.nodes[t] == alone.nodes
    assert batch.success
    assert len(batch) == 12


def test_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(2)
    X, Y = rng.integers(0, 5, size=(2, 200, 9)).astype(float)
    one = qs.solve_many(X, Y, 6, n_jobs=1)
    for n_jobs in (2, 3, 7, -1):
        many = qs.solve_many(X, Y, 6, n_jobs=n_jobs)
        np.testing.assert_array_equal(one.values, many.values)
        np.testing.assert_array_equal(one.masks, many.masks)
        np.testing.assert_array_equal(one.status, many.status)
        np.testing.assert_array_equal(one.nodes, many.nodes)


def test_a_data_set_without_any_value_is_nan_and_the_others_are_not():
    X = np.array([[1.0, 2, 3, 4], [5, 5, 5, 5], [1, 2, 3, 4]])
    Y = np.array([[1.0, 2, 9, 4], [1, 2, 3, 4], [4, 3, 2, 9]])
    batch = qs.solve_many(X, Y, 3)
    assert np.isnan(batch.values).tolist() == [False, True, False]
    assert np.isnan(batch.bounds).tolist() == [False, True, False]
    assert batch.masks.sum(axis=1).tolist() == [3, 0, 3]
    assert np.isnan(batch.gaps).tolist() == [False, True, False]


def test_one_row_of_x_serves_all():
    rng = np.random.default_rng(3)
    x, Y = rng.normal(size=8), rng.normal(size=(5, 8))
    shared = qs.solve_many(x, Y, drop=2)
    repeated = qs.solve_many(np.tile(x, (5, 1)), Y, drop=2)
    np.testing.assert_array_equal(shared.masks, repeated.masks)


def test_no_time_gives_no_answers_and_says_so():
    X, Y = np.random.default_rng(4).normal(size=(2, 50, 20))
    batch = qs.solve_many(X, Y, 10, time_limit=0)
    assert set(batch.status) == {"time_limit"}
    assert not batch.success


@pytest.mark.parametrize(
    ("X", "Y", "options", "error", "says"),
    [
        ([[1, 2, 3]], [[1, 2]], {"k": 3}, ValueError, "same shape; got \\(1, 3\\) and \\(1, 2\\)"),
        ([[1, 2, 3]] * 2, [[1, 2, 3]] * 3, {"k": 3}, ValueError, "same shape"),
        ([1, 2, 3], [1, 2, 3], {"k": 3}, ValueError, "two dimensions"),
        ([[1, 2, 3]], [[1, 2, 3]], {"k": 2}, ValueError, "r2 needs between 3"),
        ([[1, 2, 3]], [[1, 2, 3]], {}, ValueError, "exactly one of k"),
        ([[1, 2, np.nan]], [[1, 2, 3]], {"k": 3}, ValueError, "data set 0 at index 2"),
        ([[1, 2], [3]], [[1, 2, 3]], {"k": 3}, ValueError, "rows of one length"),
        ([["a", "b", "c"]], [[1, 2, 3]], {"k": 3}, TypeError, "X must hold real numbers; got text"),
        (np.ones((2, 3, 4)), np.ones((2, 3, 4)), {"k": 3}, ValueError, "one or two dimensions"),
        (np.ones((0, 4)), np.ones((0, 4)), {"k": 3}, ValueError, "must hold points"),
        ([[1, 2, 3]], None, {"k": 3}, ValueError, "Y may be left out only"),
        ([[1, 2, 3]], [[1, 2, 3]], {"k": 3, "method": "best"}, ValueError, "method must be one of"),
    ],
)  # fmt: skip
def test_bad_batches_are_refused_in_one_sentence(X, Y, options, error, says):
    with pytest.raises(error, match=says):
        qs.solve_many(X, Y, **options)


def _two_columns(seed):
    x, y = np.random.default_rng(seed).normal(size=(2, 9))
    return (np.round(2 * x) if seed % 2 else x), y


@cache
def _least_variance(seed):
    x, _ = _two_columns(seed)
    return np.var(x[list(naive.exhaustive(x, x, 5, "var")[1])])


@pytest.mark.parametrize("method", ["auto", "certified", "exhaustive", "naive", "sweep"])
def test_var_is_a_matter_of_x_alone_whatever_y_holds(method):
    for seed in range(60):
        x, y = _two_columns(seed)
        batch = qs.solve_many(x[None], y[None], 5, objective="var", method=method)
        assert batch.values[0] == pytest.approx(_least_variance(seed), abs=1e-12), f"seed {seed}"
        alone = qs.solve(x, y, 5, objective="var", method=method)
        assert batch.values[0] == alone.value, f"seed {seed}"
        assert batch.status[0] == alone.status


def test_the_engine_itself_looks_at_x_alone_for_var():
    x, y = np.array([0.0, 1, 2, 10, 11]), np.array([0.0, 50, 100, 0, 0])
    problem = Problem(x, y, 3, get("var"))
    assert search(problem).inliers.tolist() == [0, 1, 2]
    assert search(problem, above=0.7).inliers.tolist() == [0, 1, 2]
    assert not len(search(problem, above=0.6).inliers)


def test_masked_numbers_in_a_batch_are_missing():
    X = np.ma.array([[1.0, 2, 3, 4]], mask=[[0, 0, 1, 0]])
    with pytest.raises(ValueError, match="1 points with NaN or infinity, the first in data set 0"):
        qs.solve_many(X, [[1, 2, 3, 5]], 3)
    hidden = np.ma.array([1, 2, 4], mask=[1, 0, 0])
    with pytest.raises(ValueError, match="data set 1 at index 0"):
        qs.solve_many([[1, 2, 3]] * 2, [np.ma.array([1, 2, 4]), hidden], 3)

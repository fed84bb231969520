"""Kept rows that are far off are named; ordinary data are left in peace."""

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.results.far import far_rows


def line(seed, n=40, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 5, n)
    return x, x + noise * rng.normal(size=n)


def test_a_gross_row_far_out_along_the_line_is_named():
    x, y = line(0)
    x[7], y[7] = 100, 130
    result = qs.solve(x, y, drop=1)
    assert 7 in result.inliers
    assert "row 7 with leverage up to" in far_rows(result)
    assert "objective='lts'" in dict(result.summary_items())["kept, but far"]
    assert far_rows(qs.solve(x, y, drop=1, objective="lts")) == ""


def test_a_row_far_off_the_line_is_named_where_a_nearer_one_was_dropped():
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 5, 40)
    y = x + 0.2 * rng.normal(size=40)
    for i in range(2):
        x[i] = rng.uniform(4, 7)
        y[i] = x[i] + rng.uniform(1, 3)
    x[2] = rng.uniform(0, 5)
    y[2] = x[2] - rng.uniform(0.8, 2)
    result = qs.solve(x, y, drop=1)
    residuals = np.abs(result.residuals)
    assert result.outliers[0] != 0
    assert residuals[0] > residuals[result.outliers[0]]
    assert "row 0 up to 5.6 standard deviations off the line" in far_rows(result)


@pytest.mark.parametrize("seed", range(20))
def test_ordinary_rows_are_not_named(seed):
    x, y = line(seed)
    assert far_rows(qs.solve(x, y, drop=3)) == ""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    assert far_rows(qs.solve(X, X.sum(axis=1) + rng.normal(size=40), drop=2)) == ""


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    from quadsweep.results.far import _leverage

    X = np.random.default_rng(0).normal(size=(15, 3))
    for intercept in (True, False):
        full = np.column_stack([np.ones(15), X]) if intercept else X
        hat = full @ np.linalg.solve(full.T @ full, full.T)
        np.testing.assert_allclose(_leverage(X, intercept), np.diag(hat))
    dependent = np.column_stack([X, X[:, 0]])
    np.testing.assert_allclose(_leverage(dependent, True).sum(), 4)

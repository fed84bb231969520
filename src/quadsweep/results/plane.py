"""The plane of a result: its coefficients before and after, what it predicts, what is left over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.inputs.frames import unpack
from quadsweep.least_squares import Plane, fit

if TYPE_CHECKING:
    from quadsweep.results.result import Result


def matrix(result: Result) -> Floats:
    """The predictors of all rows given, a column each."""
    return result.x if result.x.ndim == 2 else result.x[:, None]


def plane_of(result: Result, rows: Ints) -> Plane:
    """The least squares plane of some rows, by the result's rules."""
    weights = None if result.weights is None else result.weights[rows]
    X = matrix(result)[rows]
    searched = np.arange(X.shape[1]) if result.searched is None else result.searched
    found = fit(X[:, searched], result.y[rows], weights, result.fit_intercept)
    coef = np.zeros(X.shape[1])
    coef[searched] = found.coef
    exact = list(found.exact)
    if exact:
        for j in np.setdiff1d(np.arange(X.shape[1]), searched):
            exact.insert(int(j) + result.fit_intercept, Fraction(0))
    added = np.delete(searched, found.dependent)
    dependent = np.setdiff1d(np.arange(X.shape[1]), added)
    return replace(found, coef=coef, dependent=dependent, exact=exact)


def line_of(result: Result) -> Plane:
    """The least squares line of the rows kept, of one predictor."""
    found = plane_of(result, result.inliers)
    if len(found.dependent) == 0:
        return found
    none = np.array([], dtype=np.int64)
    return replace(found, coef=np.array([math.nan]), intercept=math.nan, dependent=none, exact=[])


def coefficients(result: Result) -> list[Sequence[str]]:
    """The coefficients of all rows and of the rows kept, a row each under a header."""
    before = plane_of(result, result.used)
    names = [*(["intercept"] if result.fit_intercept else []), *result.names[:-1]]
    old = [*([before.intercept] if result.fit_intercept else []), *before.coef]
    new = [*([result.intercept] if result.fit_intercept else []), *result.coef]
    header = ("coefficient", f"all {result.n:,} rows", f"{result.k:,} rows kept")
    rows = zip(names, old, new, strict=True)
    return [header, *((name, f"{u:.6g}", f"{v:.6g}") for name, u, v in rows)]


def dependence(result: Result) -> str:
    """Which predictors add nothing on the rows kept, in a sentence; empty if all do."""
    names = [result.names[j] for j in result.dependent]
    if not names:
        return ""
    which, verb = ", ".join(names), "are" if len(names) > 1 else "is"
    what = "constant or a combination" if result.fit_intercept else "a combination"
    return f"on the rows kept {which} {verb} {what} of the columns before: coefficient 0"


def predicted(result: Result, X: Any) -> Floats:
    """Heights of the plane at new points: an array, a frame with the predictors, or one column."""
    table = _new_points(result, X)
    p = len(result.coef)
    if table.ndim != 2 or table.shape[1] != p:
        raise ValueError(f"X must have {p} column{'s' * (p != 1)}; got shape {np.shape(X)}")
    return np.asarray(table @ result.coef + result.intercept)


def _new_points(result: Result, X: Any) -> Floats:
    if hasattr(X, "columns"):
        if result.formula is not None:
            return result.formula.predictors(X)
        given = unpack(list(result.names[:-1]), None, data=X)
        columns = given.x if isinstance(given.x, list) else [given.x]
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("X must hold real numbers, a row for each point") from None
    return table[:, None] if table.ndim == 1 and len(result.coef) == 1 else table

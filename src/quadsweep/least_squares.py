"""Least squares on many subsets at once, and the one rule for dependent predictors.

With C the predictors of the kept rows (less their weighted means where there is an intercept) and
rows times the root of their weights,

    RSS = |y - P y|^2      TSS = |y|^2      R2 = 1 - RSS / TSS,

P the projection on the span of the columns of C. It is defined whatever the rank of C. Columns are
taken in the order given; one that lies in the span of those before it (to 1e-12 of its own length)
adds nothing to the span and has coefficient 0. Where every row says so, each at its own size, it is
so on every subset, and the column takes no part in the search (``independent``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from quadsweep.arrays import Floats, Ints

_ULPS = 4 * 2.0**-52  # rounding of a value as given
WIDEST = 1e11  # of a column's usual deviation from its median: the farthest entry
DEPENDENT = 1e-12  # of a column's length: what is left of it after the columns before is rounding


@dataclass(frozen=True, eq=False)
class Plane:
    """A least squares fit.

    Attributes
    ----------
    coef : one coefficient for each predictor.
    intercept : 0 where the plane has none.
    rss, tss : sums of squares of the residuals and of y (about its mean, if there is an intercept).
    dependent : positions of predictors that depend on those before them; their coefficient is 0.
    """

    coef: Floats
    intercept: float
    rss: float
    tss: float
    dependent: Ints

    @property
    def r2(self) -> float:
        """Share of the variation of y explained, NaN where y does not vary."""
        return max(0.0, 1.0 - self.rss / self.tss) if self.tss > 0 else math.nan

    def value(self, objective: str) -> float:
        """R2 or the residual sum of squares."""
        return self.r2 if objective == "r2" else self.rss


def fit(X: Floats, y: Floats, weights: Floats | None = None, intercept: bool = True) -> Plane:
    """The plane through some rows.

    >>> plane = fit(np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]), np.array([1.0, 3, 4, 6]))
    >>> plane.coef.round(9), round(plane.intercept, 9)
    (array([2., 3.]), 1.0)
    """
    shift = np.median(X, axis=0) if intercept else np.zeros(X.shape[1])
    level = float(np.median(y)) if intercept else 0.0
    w = None if weights is None else weights[None]
    parts = _Projection((X - shift)[None], (y - level)[None], w, intercept)
    coef = _solved(parts.R[0], parts.c[0])
    middle = float(parts.y_mean[0] - parts.x_mean[0] @ coef) + level - float(shift @ coef)
    return Plane(
        coef,
        middle if intercept else 0.0,
        float(parts.rss[0]),
        float(parts.tss[0]),
        np.flatnonzero(np.diag(parts.R[0]) == 0),
    )


def independent(columns: Floats, intercept: bool = True) -> Ints:
    """Positions of the columns that are not combinations of those before them.

    A column is one if every row says so at its own size: with z the columns before it, about their
    medians where there is an intercept,

        |x_i - sum_j c_j z_ij|  <=  1e-12 (|x_i| + sum_j |c_j z_ij|)        for all i

    or a few units in the last place of the values as given. A total of rounded columns is one;
    columns that share a sentinel such as 1e20 in one row are not, since the other rows tell them
    apart, nor is a column far from zero. Rows are scaled for the coefficients, so that none hides
    the others; weights do not matter.

    >>> independent(np.array([[0.0, 1, 0], [1, 1, 2], [2, 1, 4], [3, 1, 6]]))
    array([0])
    """
    given = columns
    if intercept:
        ones = np.ones(len(columns))
        given = np.column_stack([ones, columns])
        columns = np.column_stack([ones, columns - np.median(columns, axis=0)])
    unit = _units(columns)
    scaled = columns / unit
    allowed = DEPENDENT * np.abs(scaled) + _ULPS * np.abs(given / unit)
    q = np.zeros(scaled.shape, order="F")
    into = np.zeros((scaled.shape[1], scaled.shape[1]))  # Q = the columns found times this
    found: list[int] = []
    for j, left in enumerate(scaled.T):
        r = len(found)
        along = np.zeros(r)
        for _ in range(2):
            more = q[:, :r].T @ left
            left, along = left - q[:, :r] @ more, along + more
        coefficients = into[:r, :r] @ along
        most = allowed[:, found] @ np.abs(coefficients) + allowed[:, j]
        rest = scaled[:, j] - scaled[:, found] @ coefficients
        if np.all(np.minimum(np.abs(rest), np.abs(left)) <= most):
            continue
        length = float(np.linalg.norm(left))
        into[:r, r], into[r, r] = -coefficients / length, 1 / length
        q[:, r] = left / length
        found.append(j)
    return np.array([j - intercept for j in found if j >= intercept], dtype=np.int64)


def too_wide(columns: Floats, rows: int) -> bool:
    """Whether some entries dwarf others of their column: 32 digits do not hold the squares of both.

    Either few entries lie far from most, or many do and some ``rows`` others lie close together.

    >>> [too_wide(np.array([[1.0], [2], [3], [far]]), 3) for far in (1e10, 1e15)]
    [False, True]
    >>> too_wide(np.array([[1.0], [2], [1e15], [2e15], [3e15]]), 2)
    True
    """
    away = np.abs(columns - np.median(columns, axis=0))
    if any(c.max() > WIDEST * np.median(c[c > 0]) for c in away.T if np.any(c > 0)):
        return True
    return any(has_close_rows(c, rows, WIDEST) for c in columns.T)


def has_close_rows(column: Floats, rows: int, widest: float) -> bool:
    """Whether so many entries, not all equal, lie ``widest`` times closer together than all."""
    ordered = np.sort(column)
    at = min(max(rows, 2), len(ordered)) - 1
    with np.errstate(over="ignore"):
        widths = ordered[at:] - ordered[: len(ordered) - at]
        least = np.min(widths, where=widths > 0, initial=np.inf)
        return bool(least * widest < ordered[-1] - ordered[0])


def _units(columns: Floats) -> Floats:
    """What to divide by for columns of like size and rows whose largest entry is one."""
    size = np.abs(columns)
    typical = np.array([float(np.median(c[c > 0])) if np.any(c > 0) else 1.0 for c in size.T])
    largest = (size / typical).max(axis=1, initial=0.0, keepdims=True)
    return np.asarray(typical * np.where(largest > 0, largest, 1.0))


def sums(
    X: Floats, y: Floats, weights: Floats | None, intercept: bool, strict: bool = False
) -> tuple[Floats, Floats, Floats]:
    """RSS, TSS and the least independent column's share of its length, for each of many subsets.

    ``X`` has shape (subsets, k, p), ``y`` and ``weights`` (subsets, k). With ``strict`` the share
    is 0 where a column was left out that exact arithmetic may not call dependent.
    """
    parts = _Projection(X, y, weights, intercept)
    return parts.rss, parts.tss, np.where(parts.dropped & strict, 0.0, parts.thin)


class _Projection:
    """Orthogonal columns Q with C = Q R, zero for columns in the span of those before them."""

    def __init__(self, X: Floats, y: Floats, weights: Floats | None, intercept: bool) -> None:
        subsets, k, p = X.shape
        self.x_mean, self.y_mean = np.zeros((subsets, p)), np.zeros(subsets)
        if intercept:
            X, self.x_mean = _centred(X, weights)
            columns, mean = _centred(y[..., None], weights)
            y, self.y_mean = columns[..., 0], mean[:, 0]
        if weights is not None:
            root = np.sqrt(weights)
            X, y = X * root[..., None], y * root
        Q = np.zeros((subsets, k, p))
        self.R = np.zeros((subsets, p, p))
        self.thin = np.ones(subsets)
        self.dropped = np.zeros(subsets, dtype=bool)  # a column that is not exactly dependent
        length = np.linalg.norm(X, axis=1)
        for j in range(p):
            left = X[:, :, j]
            for _ in range(2):  # twice is enough
                along = np.einsum("bki,bk->bi", Q[:, :, :j], left)
                left = left - np.einsum("bki,bi->bk", Q[:, :, :j], along)
                self.R[:, :j, j] += along
            rest = np.linalg.norm(left, axis=1)
            free = rest > DEPENDENT * length[:, j]
            safe = np.where(free, rest, 1.0)
            Q[:, :, j] = np.where(free, 1.0, 0.0)[:, None] * left / safe[:, None]
            self.R[:, j, j] = np.where(free, rest, 0.0)
            share = np.where(free, rest / np.where(free, length[:, j], 1.0), 1.0)
            self.thin = np.minimum(self.thin, share)
            self.dropped |= ~free & (rest > 0)
        self.c = np.zeros((subsets, p))
        left = y
        for _ in range(2):
            along = np.einsum("bki,bk->bi", Q, left)
            left = left - np.einsum("bki,bi->bk", Q, along)
            self.c += along
        self.rss = np.einsum("bk,bk->b", left, left)
        self.tss = np.einsum("bk,bk->b", y, y)


def _centred(columns: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Columns less their means, exactly zero where they do not vary, and the means."""
    mean = _mean(columns, weights)
    out = columns - mean[:, None, :]
    again = _mean(out, weights)
    out -= again[:, None, :]
    varies = np.any(columns != columns[:, :1, :], axis=1)
    return out * varies[:, None, :], np.where(varies, mean + again, columns[:, 0, :])


def _mean(columns: Floats, weights: Floats | None) -> Floats:
    if weights is None:
        return np.asarray(columns.mean(axis=1))
    total = weights.sum(axis=1)[:, None]
    return np.asarray(np.einsum("bkp,bk->bp", columns, weights) / total)


def _solved(R: Floats, c: Floats) -> Floats:
    """Back substitution, 0 where a column adds nothing."""
    coef = np.zeros(len(c))
    for j in range(len(c) - 1, -1, -1):
        if R[j, j] > 0:
            coef[j] = (c[j] - R[j, j + 1 :] @ coef[j + 1 :]) / R[j, j]
    return coef


def exact_value(
    X: Floats, y: Floats, weights: Floats | None, intercept: bool, objective: str
) -> Fraction | None:
    """R2 or RSS of some rows in rational arithmetic; None where R2 is undefined.

    >>> exact_value(np.array([[0.0], [1], [2]]), np.array([0.0, 1, 1]), None, True, "r2")
    Fraction(3, 4)
    """
    columns = [[Fraction(1)] * len(y)] if intercept else []
    columns += [[Fraction(v) for v in X[:, j]] for j in range(X.shape[1])]
    columns.append([Fraction(v) for v in y])
    w = [Fraction(1)] * len(y) if weights is None else [Fraction(v) for v in weights]
    weighted = [[a * b for a, b in zip(column, w, strict=True)] for column in columns]
    gram = [
        [sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in columns]
        for u in weighted
    ]
    last = len(columns) - 1
    total = gram[last][last]
    for j in range(last):
        pivot = gram[j][j]
        if pivot != 0:
            for i in range(j + 1, last + 1):
                factor = gram[i][j] / pivot
                gram[i] = [a - factor * b for a, b in zip(gram[i], gram[j], strict=True)]
        if j == 0 and intercept:
            total = gram[last][last]
    if objective == "lts":
        return gram[last][last]
    return None if total == 0 else 1 - gram[last][last] / total

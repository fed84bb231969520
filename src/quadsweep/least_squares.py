"""Least squares on some rows, and the one rule for dependent predictors.

With C the predictors of the kept rows (less their weighted means where there is an intercept) and
rows times the root of their weights,

    RSS = |y - P y|^2      TSS = |y|^2      R2 = 1 - RSS / TSS,

P the projection on the span of the columns of C. It is defined whatever the rank of C. Columns are
taken in the order given, and the rule has two halves:

on all rows   a column that every row shows to be a combination of those before it, to 1e-12 of that
              row's own values, is dropped as collinear (``independent``);
on a subset   a column depends on those before it if it is a combination of them exactly, in
              rational arithmetic. It adds nothing to the span and has coefficient 0.

The second half is what the compiled engine (``_core/regression/span.hpp``), `exhaustive` and every
fit decide by. Where doubles do not tell, 32 digits do, and where these do not, whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from quadsweep import rational
from quadsweep.arrays import Floats, Ints
from quadsweep.rational import ExactFit

_ULPS = 4 * 2.0**-52  # rounding of a value as given
WIDEST = 1e11  # of a column's usual deviation from its median: the farthest entry
LEFT = 1e16  # of what the columns before usually leave of a column: its largest entry
DEPENDENT = 1e-12  # of a row's values: what is left after the columns before is rounding
_VISIBLE = 1e-3  # of a row's values: what is left then is no rounding
_SOME_ROWS = 4096  # that mostly show that columns are independent
_CLEAR = 1e-3  # of a column's length: where less is left, doubles do not tell
_NEARLY_EXACT = 1e-6  # of TSS: of a smaller RSS doubles know few digits
_RESIDUALS = 1e-10  # of their length: what rounding of the coefficients may add to residuals
_MIDDLE = 10_000  # entries of a column that tell about where it lies
_WEIGHTS = 1e8  # of the least weight: the largest that doubles take
_MOST_EXACT = 5_000_000  # products of whole numbers, in about two seconds; doubles must do for more


@dataclass(frozen=True, eq=False)
class Plane:
    """A least squares fit.

    Attributes
    ----------
    coef : one coefficient for each predictor.
    intercept : 0 where the plane has none.
    rss, tss : sums of squares of the residuals and of y (about its mean, if there is an intercept).
    dependent : positions of predictors that depend on those before them; their coefficient is 0.
    exact : the coefficients as fractions, the intercept's first, where doubles were not enough.
    """

    coef: Floats
    intercept: float
    rss: float
    tss: float
    dependent: Ints
    exact: list[Fraction] = field(default_factory=list)

    @property
    def r2(self) -> float:
        """Share of the variation of y explained, NaN where y does not vary."""
        return max(0.0, 1.0 - self.rss / self.tss) if self.tss > 0 else math.nan

    def value(self, objective: str) -> float:
        """R2 or the residual sum of squares."""
        return self.r2 if objective == "r2" else self.rss

    def residuals(self, X: Floats, y: Floats) -> Floats:
        """What the plane leaves over of any rows."""
        if self.exact:
            return rational.residuals(self.exact, X, y)
        return np.asarray(y - X @ self.coef - self.intercept)


def fit(X: Floats, y: Floats, weights: Floats | None = None, intercept: bool = True) -> Plane:
    """The plane through some rows, exact where doubles do not tell.

    >>> plane = fit(np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]), np.array([1.0, 3, 4, 6]))
    >>> plane.coef, plane.intercept
    (array([2., 3.]), 1.0)
    """
    with np.errstate(all="ignore"):
        quick = _Projection(X, y, weights, intercept)
        plane = quick.plane()
        enough = quick.clear and _tells_residuals(plane, X, weights)
    if enough or len(y) * (X.shape[1] + 2) ** 2 > _MOST_EXACT:
        return plane
    exact = ExactFit(X, y, weights, intercept)
    coef = exact.coef
    numbers = np.array([rational.rounded(c) for c in coef])
    return Plane(
        numbers[int(intercept) :],
        float(numbers[0]) if intercept else 0.0,
        rational.rounded(exact.rss),
        rational.rounded(exact.tss),
        exact.dependent,
        coef,
    )


def _tells_residuals(plane: Plane, X: Floats, weights: Floats | None) -> bool:
    """Whether the coefficients, rounded as they are, leave the residual sum of squares."""
    total = len(X) if weights is None else float(weights.sum())
    largest = np.array([max(abs(c.max()), abs(c.min())) for c in X.T])
    size = abs(plane.intercept) + float(largest @ np.abs(plane.coef))
    return 2.0**-52 * size * math.sqrt(total) <= _RESIDUALS * math.sqrt(plane.rss)


def quick_fit(X: Floats, y: Floats, weights: Floats | None = None, intercept: bool = True) -> Plane:
    """The same in doubles alone, for a plane on the way to another."""
    with np.errstate(all="ignore"):
        return _Projection(X, y, weights, intercept).plane()


def independent(columns: Floats, intercept: bool = True, before: Floats | None = None) -> Ints:
    """Positions of the columns that are not combinations of those before them.

    A column is one if every row says so at its own size: with z the columns before it, about their
    medians where there is an intercept,

        |x_i - sum_j c_j z_ij|  <=  1e-12 (|x_i| + sum_j |c_j z_ij|)        for all i

    or a few units in the last place of the values as given. A total of rounded columns is one;
    columns that share a sentinel such as 1e20 in one row are not, since the other rows tell them
    apart, nor is a column far from zero, nor one of which a thousandth of a row's values is left,
    however large the coefficients of nearly dependent columns are. Rows are scaled for the
    coefficients, so that none hides the others; weights do not matter. Where something was taken
    off the columns (and there is no intercept), ``before`` are the values as given.

    >>> independent(np.array([[0.0, 1, 0], [1, 1, 2], [2, 1, 4], [3, 1, 6]]))
    array([0])
    """
    some = slice(None, None, max(len(columns) // _SOME_ROWS, 1))
    if _independent_on(_scaled(columns, intercept, some)[1]) or _plainly_independent(
        _scaled(columns, intercept)[1]
    ):
        return np.arange(columns.shape[1])
    found = [j for j, _ in _residuals(columns, intercept, before)]
    return np.array(found, dtype=np.int64)


def spans_constant(columns: Floats) -> bool:
    """Whether a combination of the columns is a constant, up to rounding.

    >>> spans_constant(np.array([[1.0, 0, 3], [0, 1, 4], [0, 1, 5], [1, 0, 5]]))
    True
    """
    every = np.column_stack([columns, np.ones(len(columns))])
    return columns.shape[1] not in independent(every, intercept=False)


def _plainly_independent(scaled: Floats) -> bool:
    """Whether more is left of every column than rounding leaves, in some row: seen in one go."""
    if len(scaled) < scaled.shape[1]:
        return False
    with np.errstate(all="ignore"):
        q, r = np.linalg.qr(scaled)
        left = np.abs(q).max(axis=0, initial=0.0) * np.abs(np.diag(r))
    return bool(np.all(left > 2 * _VISIBLE))


def _independent_on(scaled: Floats) -> bool:
    """Whether some of the rows show as much: in their mean square, and so in one of them, whatever
    the coefficients."""
    if len(scaled) < scaled.shape[1]:
        return False
    with np.errstate(all="ignore"):
        left = np.abs(np.diag(np.linalg.qr(scaled, mode="r"))) / math.sqrt(len(scaled))
    return bool(np.all(left > 2 * _VISIBLE))


def _scaled(
    columns: Floats, intercept: bool, rows: slice = slice(None)
) -> tuple[Floats, Floats, Floats]:
    """Some rows of the columns as given, with the intercept's; of those about their medians over
    their units; and of these units, which all rows say."""
    given = about = columns[rows]
    middle = np.median(columns, axis=0) if intercept else np.zeros(columns.shape[1])
    typical = np.array([_typical(c - m) for c, m in zip(columns.T, middle, strict=True)])
    if intercept:
        ones = np.ones(len(given))
        about = np.column_stack([ones, given - middle])
        given = np.column_stack([ones, given])
        typical = np.concatenate([[1.0], typical])
    largest = np.abs(about / typical).max(axis=1, initial=0.0, keepdims=True)
    unit = typical * np.where(largest > 0, largest, 1.0)
    return given, about / unit, unit


def _residuals(
    columns: Floats, intercept: bool, before: Floats | None = None
) -> Iterator[tuple[int, Floats]]:
    """Each independent column's position, and what those before it leave of it."""
    given, scaled, unit = _scaled(columns, intercept)
    given = given if before is None else before
    allowed = DEPENDENT * np.abs(scaled) + _ULPS * np.abs(given / unit)
    q = np.zeros(scaled.shape, order="F")
    into = np.zeros((scaled.shape[1], scaled.shape[1]))  # Q = the columns found times this
    found: list[int] = []
    for j in range(scaled.shape[1]):
        r = len(found)
        left, along = _project_out(scaled[:, j], q[:, :r])
        coefficients = into[:r, :r] @ along
        most = allowed[:, found] @ np.abs(coefficients) + allowed[:, j]
        most = np.minimum(most, _VISIBLE)
        rest = scaled[:, j] - scaled[:, found] @ coefficients
        nearest = np.minimum(np.abs(rest), np.abs(left))
        if np.all(nearest <= most):
            continue
        length = float(np.linalg.norm(left))
        into[:r, r], into[r, r] = -coefficients / length, 1 / length
        q[:, r] = left / length
        found.append(j)
        if j >= intercept:
            yield j - intercept, np.where(nearest <= most, 0.0, nearest) * unit[:, j]


def hides_rows(X: Floats, y: Floats, weights: Floats | None, intercept: bool, rows: int) -> bool:
    """Whether 32 digits prove nothing about some rows beside others.

    Sentinels dwarf a column, weights dwarf each other, or of a column so little is left by those
    before it that its largest entries, times the roots of the weights, hide it. ``rows`` others
    must lie close together for it to matter.

    >>> z = np.random.default_rng(0).normal(size=(9, 3))
    >>> X = np.column_stack([z[:, 0], z[:, 0] + 1e-11 * z[:, 1]])
    >>> hides_rows(X, z[:, 2], None, True, 5), hides_rows(X, z[:, 2], 10.0 ** np.arange(9), True, 5)
    (False, False)
    >>> X[:3] *= 1e10
    >>> hides_rows(X, z[:, 2], None, True, 5)
    True
    """
    columns, root = np.column_stack([X, y]), np.ones(len(y))
    if too_wide(columns, rows):
        return True
    if weights is not None:
        root = np.sqrt(weights)
        if root.max() > WIDEST * root.min() or too_wide(root[:, None] * columns, rows):
            return True
    for j, left in _residuals(X, intercept):
        weighted = (root * left)[left > 0]
        if len(weighted) and float((root * np.abs(X[:, j])).max()) / LEFT > np.median(weighted):
            return True
    return False


@np.errstate(over="ignore")  # a product beyond the largest number is larger than any entry
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


def _typical(column: Floats) -> float:
    """The median size of what is not zero."""
    size = np.abs(column[column != 0])
    return float(np.median(size)) if len(size) else 1.0


def middle(columns: Floats) -> Floats:
    """The median of each column, a row each; of some thousands of its entries where there are more,
    since any value among the data serves to keep sums of products small."""
    return np.asarray(np.median(columns[:, :: 1 + columns.shape[1] // _MIDDLE], axis=1))


class _Projection:
    """Orthogonal columns Q with C = Q R, zero for columns in the span of those before them."""

    def __init__(self, X: Floats, y: Floats, weights: Floats | None, intercept: bool) -> None:
        p = X.shape[1]
        columns = np.empty((p + 1, len(y)))  # a row each: many rows are read one after the other
        columns[:p], columns[p] = X.T, y
        self._intercept = intercept
        self._mean = self._shift = np.zeros(p + 1)
        if intercept:
            self._shift = middle(columns)
            columns -= self._shift[:, None]
            self._mean = _centre(columns, weights)
        if weights is not None:
            columns *= np.sqrt(weights)
        C, v = columns[:p].T, columns[p]
        Q, self._R = np.zeros((p, len(y))).T, np.zeros((p, p))
        length = np.linalg.norm(C, axis=0)
        thin = 1.0
        for j in range(p):
            left, self._R[:j, j] = _project_out(C[:, j], Q[:, :j])
            rest = float(np.linalg.norm(left))
            if rest > DEPENDENT * length[j]:
                Q[:, j], self._R[j, j] = left / rest, rest
            if length[j] > 0:
                thin = min(thin, rest / length[j])
        left, self._c = _project_out(v, Q)
        self._rss, self._tss = float(left @ left), float(v @ v)
        good = math.isfinite(self._tss) and _NEARLY_EXACT * self._tss < self._rss
        if weights is not None:
            good = good and float(weights.max()) <= _WEIGHTS * float(weights.min())
        self.clear = good and thin > _CLEAR and bool(np.all(np.isfinite(length)))

    def plane(self) -> Plane:
        coef = _solved(self._R, self._c)
        level = float(self._shift[-1] - self._shift[:-1] @ coef)
        middle = float(self._mean[-1] - self._mean[:-1] @ coef) + level
        lost = np.flatnonzero(np.diag(self._R) == 0)
        return Plane(coef, middle if self._intercept else 0.0, self._rss, self._tss, lost)


def _project_out(column: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """What is left of a column, and its part along each of Q."""
    total = np.zeros(Q.shape[1])
    for _ in range(2):  # twice is enough
        along = Q.T @ column
        column = column - Q @ along
        total += along
    return column, total


def _centre(columns: Floats, weights: Floats | None) -> Floats:
    """Takes the means off columns, a row each, so that what does not vary is zero; the means."""
    first, varies = columns[:, 0].copy(), columns.min(axis=1) != columns.max(axis=1)
    mean = np.zeros(len(columns))
    for _ in range(2):  # what rounding left the first time
        more = np.average(columns, axis=1, weights=weights)
        columns -= more[:, None]
        mean += more
    columns[~varies] = 0.0
    return np.where(varies, mean, first)


def _solved(R: Floats, c: Floats) -> Floats:
    """Back substitution, 0 where a column adds nothing."""
    coef = np.zeros(len(c))
    for j in range(len(c) - 1, -1, -1):
        if R[j, j] > 0:
            coef[j] = (c[j] - R[j, j + 1 :] @ coef[j + 1 :]) / R[j, j]
    return coef

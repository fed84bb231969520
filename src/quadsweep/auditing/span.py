"""The span of some columns: an orthonormal basis, given the dummies of a partition where there are
any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.classes import Classes
from quadsweep.least_squares import DEPENDENT

UNCLEAR = 1e-7  # up to here it is not clear whether a column depends on the others
_WELL = 1e-6  # of a column's length: where that much is left of every one, none depends on others


@dataclass(frozen=True, eq=False)
class Basis:
    """An orthonormal basis of some columns, and how far its rounding can be trusted.

    ``clear`` is False where it is not certain which columns depend on which; ``condition`` is that
    of the columns before anything was taken off them.
    """

    q: Floats
    condition: float
    clear: bool
    r: Floats  # Q times this are the columns ``used``, each over its length
    used: Ints
    length: Floats

    def coefficients(self, column: Floats) -> Floats:
        """Of the columns in the fit of another, 0 for those that the others explain."""
        out = np.zeros(len(self.length))
        if len(self.used):
            out[self.used] = np.linalg.solve(self.r, self.q.T @ column) / self.length[self.used]
        return out


def basis(columns: Floats, given: Floats | None = None) -> Basis:
    """Of the column space, by a QR decomposition of the columns at length one: with pivoting where
    some may depend on others, which takes several times as long.

    ``given`` are the columns before something was taken off them. Their lengths count: of a column
    that was explained only rounding is left, and that is not a column.
    """
    from scipy.linalg import qr

    length = lengths(columns if given is None else given)
    left = length if given is None else lengths(columns)
    used = np.flatnonzero(left > (0.0 if given is None else DEPENDENT) * length)
    units = columns[:, used] / length[used]
    if len(used) == 0:
        return Basis(np.zeros((len(columns), 0)), 1.0, True, np.zeros((0, 0)), used, length)
    if len(used) <= len(columns):
        q, r = np.linalg.qr(units)
        values = np.linalg.svd(r, compute_uv=False)
        if values[-1] > _WELL:
            return Basis(np.ascontiguousarray(q), _condition(values), True, r, used, length)
    q, r, order = qr(units, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int((pivots > DEPENDENT).sum())
    clear = not np.any((pivots > DEPENDENT) & (pivots < UNCLEAR))
    r = r[:rank, :rank]
    condition = _condition(np.linalg.svd(r, compute_uv=False)) if rank else 1.0
    q = np.ascontiguousarray(q[:, :rank])
    return Basis(q, condition, clear, r, used[order[:rank]], length)


def _condition(values: Floats) -> float:
    """Of columns whose singular values are these where their own lengths were one."""
    return max(float(values[0]), 1.0) / float(values[-1])


def lengths(columns: Floats) -> Floats:
    """Of each column, or of one; squares may be too large or too small for a double."""
    largest = np.abs(columns).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(unit * np.linalg.norm(columns / unit, axis=0))


def residual(q: Floats, column: Floats) -> Floats:
    """What the basis leaves of a column."""
    for _ in range(2):
        column = column - q @ (q.T @ column)
    return column


class Span:
    """Of the controls on some rows: classes, and a basis of the other columns given them.

    ``columns`` have the roots of the weights in them, ``of_row`` is each row's class, if any.
    """

    def __init__(self, columns: Floats, root: Floats, of_row: Ints | None = None) -> None:
        self.classes = None if of_row is None else Classes(of_row, root)
        found = basis(
            columns if self.classes is None else self.classes.subtract_means(columns), columns
        )
        self.q, self.condition, self.clear = found.q, found.condition, found.clear
        self.coefficients = found.coefficients

    @property
    def rank(self) -> int:
        return int(self.q.shape[1]) + (0 if self.classes is None else self.classes.count)

    def residual(self, column: Floats) -> Floats:
        """What all of it leaves of a column that has the roots of the weights in it."""
        if self.classes is None:
            return residual(self.q, column)
        return self.classes.subtract_means(residual(self.q, self.classes.subtract_means(column)))

    @cached_property
    def leverage(self) -> Floats:
        own = (self.q * self.q).sum(axis=1)
        return np.asarray(own if self.classes is None else own + self.classes.e**2)

    def is_certain(self, plain: Floats, exact: Callable[[], int]) -> bool:
        """Whether the columns that dropped out really depend on the others: constant in every
        class, or by a rank that is counted exactly."""
        present = np.flatnonzero(np.any(plain != 0, axis=0))
        lost = len(present) - int(self.q.shape[1])
        if lost and self.classes is not None:
            lost -= sum(self.classes.is_constant(plain[:, j]) for j in present)
        return lost == 0 or exact() == self.rank

"""a, b, c of a subset given the controls: sums of squares and products of what Z leaves of x and y.

In floating point, from what is removed. With Q an orthonormal basis of Z on all rows, x and y the
residuals on it, scaled to length one, and O the rows removed:

    G = I - sum_O z z',   S(v, w) = v.w - sum_O v w - (sum_O v z)' G^-1 (sum_O w z)

Where rounding could matter, exactly: every double is a whole number times a power of two, so the
Gram matrix of (Z, x, y) on the rows kept is one of whole numbers, and eliminating Z from it without
fractions leaves a, c, b. Where nothing of a control is left by those before it, it drops out, and
the rank falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.design import Design
from quadsweep.clock import Stopped
from quadsweep.least_squares import DEPENDENT
from quadsweep.rational import whole_numbers

Number = TypeVar("Number", float, Fraction)

_UNCLEAR = 1e-7  # up to here it is not clear whether a column depends on the others
_SQUARED = 1e140  # lengths up to here, and down to one over it, have squares
_MOST_COLUMNS = 30  # up to which a rank is counted exactly now and then
_EXACT_PRODUCTS = 500_000  # of whole numbers, for the sums of all rows: a fifth of a second
WORST = 1e-8  # relative error up to which floating point is used


@dataclass(frozen=True)
class Sums(Generic[Number]):
    """Of a subset.

    Attributes
    ----------
    k : rows. rank : of the controls on them.
    a, b, c : sums of squares of x and of y, and of products, given the controls.
    total : the sum of squares of y about its mean, or about 0 without an intercept.
    error : about what rounding may have added to c / sqrt(ab), and to R2; 0 where exact.
    """

    k: int
    rank: int
    a: Number
    b: Number
    c: Number
    total: Number
    error: float = 0.0

    @property
    def freedom(self) -> int:
        return self.k - self.rank - 1


@dataclass(frozen=True, eq=False)
class Basis:
    """An orthonormal basis of some columns, and how far its rounding can be trusted.

    ``clear`` is False where it is not certain which columns depend on which.
    """

    q: Floats
    condition: float
    clear: bool


def basis(columns: Floats, given: Floats | None = None) -> Basis:
    """Of the column space, by a QR decomposition with pivoting of the columns at length one.

    ``given`` are the columns before something was taken off them; their lengths count.
    """
    from scipy.linalg import qr

    length = lengths(columns if given is None else given)
    used = columns[:, length > 0] / length[length > 0]
    if used.shape[1] == 0:
        return Basis(np.zeros((len(columns), 0)), 1.0, True)
    q, r, _ = qr(used, mode="economic", pivoting=True)
    left = np.abs(np.diag(r))
    rank = int((left > DEPENDENT).sum())
    clear = not np.any((left > DEPENDENT) & (left < _UNCLEAR))
    condition = float(np.linalg.cond(r[:rank, :rank])) if rank else 1.0
    return Basis(np.ascontiguousarray(q[:, :rank]), condition, clear)


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


class Moments:
    """The sums of any subset of a design."""

    def __init__(self, design: Design, check: Callable[[], object] = lambda: None) -> None:
        self.design, self._check = design, check
        x, y, z = design.scaled
        self._exact: _Exact | None = None
        self.basis = self._confirmed(basis(z))
        self.q = self.basis.q
        self.rank = int(self.q.shape[1])
        u, w = residual(self.q, x), residual(self.q, y)
        self.scale = (float(lengths(u)), float(lengths(w)))
        part = [s / (float(lengths(v)) or 1.0) for s, v in zip(self.scale, (x, y), strict=True)]
        fits = all(1 / _SQUARED < s < _SQUARED for s in self.scale)
        self.degenerate = min(part) < _UNCLEAR or not fits
        self.x = u / self.scale[0] if self.scale[0] > 0 else u
        self.y = w / self.scale[1] if self.scale[1] > 0 else w
        self.error = 4e-16 * np.sqrt(design.n) * self.basis.condition / max(min(part), 1e-300)

    def _confirmed(self, found: Basis) -> Basis:
        """The basis, not clear where a control that it leaves out is not exactly dependent."""
        design = self.design
        present = int(np.any(design.controls != 0, axis=0).sum())
        if not found.clear or found.q.shape[1] == present or design.q > _MOST_COLUMNS:
            return found
        nothing = np.zeros(0, dtype=np.int64)
        return replace(found, clear=self.exact(nothing).rank - design.fixed == found.q.shape[1])

    # ---- floating point, x and y of length one --------------------------------------------------

    def without(self, gone: Ints) -> Sums[float] | None:
        """Sums without these rows, a, b, c of scaled x and y; None where rounding may matter."""
        if not self.basis.clear or self.degenerate:
            return None
        z, u, w = self.q[gone], self.x[gone], self.y[gone]
        g = np.eye(self.rank) - z.T @ z
        least = float(np.linalg.eigvalsh(g)[0]) if self.rank else 1.0
        if least < 1e-6:
            return None
        sides = np.column_stack([z.T @ u, z.T @ w])
        left = sides.T @ np.linalg.solve(g, sides) if self.rank else np.zeros((2, 2))
        a = 1 - float(u @ u) - float(left[0, 0])
        b = 1 - float(w @ w) - float(left[1, 1])
        c = float(self.x @ self.y) - float(u @ w) - float(left[0, 1])
        kept = np.delete(np.arange(self.design.n), gone)
        total = self.total(kept) / self.scale[1] ** 2
        if not (a > 0 and b > 0 and total > 0):
            return None
        error = float(self.rounding(least, a, b, total))
        if error > WORST:
            return None
        return Sums(len(kept), self.rank + self.design.fixed, a, b, c, total, error)

    def rounding(self, least: Any, a: Any, b: Any, total: Any) -> Any:
        """About what it may add to c / sqrt(ab) and to R2, where G has this least eigenvalue."""
        return (self.error + 1e-14) / least / np.minimum(np.minimum(a, b), total)

    def total(self, kept: Ints) -> float:
        """The sum of squares of y about its mean, in the units of the data."""
        design = self.design
        y = design.y[kept]
        w = np.ones(len(kept)) if design.weights is None else design.weights[kept]
        if design.intercept is not None:
            for _ in range(2):
                y = y - (w @ y) / w.sum()
        return float(w @ (y * y))

    # ---- exactly --------------------------------------------------------------------------------

    def rank_without(self, gone: Ints) -> int:
        """How many controls are left without these rows, exactly; -1 where that takes too long."""
        if self.design.q > _MOST_COLUMNS:
            return -1
        return self.exact(gone).rank - self.design.fixed

    def all_rows(self) -> Sums[Fraction]:
        """Sums of all rows: exactly, or where that takes long, from floating point."""
        nothing = np.zeros(0, dtype=np.int64)
        sums = self.without(nothing)
        if sums is None or self.design.n * (self.design.q + 2) ** 2 <= _EXACT_PRODUCTS:
            try:
                return self.exact(nothing)
            except Stopped:  # no time for it
                sums = sums or self._about()
        x, y = Fraction(self.scale[0]), Fraction(self.scale[1])
        return Sums(
            sums.k,
            sums.rank,
            Fraction(sums.a) * x * x,
            Fraction(sums.b) * y * y,
            Fraction(sums.c) * x * y,
            Fraction(sums.total) * y * y,
            sums.error,
        )

    def _about(self) -> Sums[float]:
        """Sums of all rows, whatever rounding has done to them."""
        n, rank = self.design.n, self.rank + self.design.fixed
        total = self.total(np.arange(n)) / max(self.scale[1], 1e-300) ** 2
        return Sums(n, rank, 1.0, 1.0, float(self.x @ self.y), total, 1.0)

    def exact(self, gone: Ints) -> Sums[Fraction]:
        """Sums without these rows, in the units of the data."""
        if self._exact is None:
            self._exact = _Exact(self.design, self._check)
        return self._exact.without(gone)


class _Exact:
    """Gram matrices of whole numbers; what is removed is taken from the full one."""

    def __init__(self, design: Design, check: Callable[[], object]) -> None:
        self._design = design
        # Looks at the clock where it takes long: for many columns, or many rows.
        long = design.n * (design.q + 2) ** 2 > _EXACT_PRODUCTS or design.q > _MOST_COLUMNS
        self._check = check if long else lambda: None
        columns = [*design.controls.T, design.x, design.y]
        pairs = [whole_numbers(np.ascontiguousarray(v)) for v in columns]
        self._columns = [values for values, _ in pairs]
        self._shift = [shift for _, shift in pairs]
        self._weights, self._weight_shift = (
            ([1] * design.n, 0) if design.weights is None else whole_numbers(design.weights)
        )

    @cached_property
    def _full(self) -> list[list[int]]:
        return self._gram(range(self._design.n))

    def _gram(self, rows: range | list[int]) -> list[list[int]]:
        size = len(self._columns)
        gram = [[0] * size for _ in range(size)]
        picked = [[column[i] for i in rows] for column in self._columns]
        weights = [self._weights[i] for i in rows]
        for i in range(size):
            self._check()
            weighted = [w * v for w, v in zip(weights, picked[i], strict=True)]
            for j in range(i, size):
                gram[i][j] = gram[j][i] = sum(
                    u * v for u, v in zip(weighted, picked[j], strict=True)
                )
        return gram

    def without(self, gone: Ints) -> Sums[Fraction]:
        less = self._gram(gone.tolist())
        size = len(less)
        g = [[self._full[i][j] - less[i][j] for j in range(size)] for i in range(size)]
        total = self._total(g)
        pivot, rank = 1, 0
        for j in range(size - 2):
            here = g[j][j]
            if here == 0:
                continue
            rank += 1
            for i in range(j + 1, size):
                self._check()
                if g[i][j] == 0 and here == pivot:
                    continue
                for k in range(max(i, j + 1), size):
                    g[i][k] = (g[i][k] * here - g[i][j] * g[j][k]) // pivot
                    g[k][i] = g[i][k]
            pivot = here
        ex, ey = self._shift[-2], self._shift[-1]
        return Sums(
            self._design.n - len(gone),
            rank + self._design.fixed,
            self._back(g[-2][-2], pivot, 2 * ex),
            self._back(g[-1][-1], pivot, 2 * ey),
            self._back(g[-2][-1], pivot, ex + ey),
            total,
        )

    def _back(self, value: int, pivot: int, shift: int) -> Fraction:
        return Fraction(value, pivot) * Fraction(2) ** (shift + self._weight_shift)

    def _total(self, g: list[list[int]]) -> Fraction:
        at = self._design.intercept
        total = Fraction(g[-1][-1])
        if at is not None and g[at][at]:
            total -= Fraction(g[at][-1] ** 2, g[at][at])
        return total * Fraction(2) ** (2 * self._shift[-1] + self._weight_shift)

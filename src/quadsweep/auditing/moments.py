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

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.classes import partition
from quadsweep.auditing.design import Design
from quadsweep.auditing.span import UNCLEAR, Span, lengths
from quadsweep.clock import Stopped
from quadsweep.rational import eliminate, gram_matrix, whole_numbers

Number = TypeVar("Number", float, Fraction)

_SQUARED = 1e140  # lengths up to here, and down to one over it, have squares
_MOST_COLUMNS = 30  # up to which a rank is counted exactly now and then
_CANCELLED = 1e-3  # of a sum of squares: where less is left, it is added up anew
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


class Moments:
    """The sums of any subset of a design."""

    def __init__(self, design: Design, check: Callable[[], object] = lambda: None) -> None:
        self.design, self._check = design, check
        x, y, z = design.scaled
        self._exact: _Exact | None = None
        self._of_row, self._others = _divided(design)
        if len(self._others) == design.q and self._of_row is design.classes:
            self.basis = design.span
        else:
            self.basis = Span(z[:, self._others], design.root_weights, self._of_row)
        self._confirm()
        self.q, self.classes = self.basis.q, self.basis.classes
        self.rank = self.basis.rank
        u, w = self.basis.residual(x), self.basis.residual(y)
        self.scale = (float(lengths(u)), float(lengths(w)))
        part = [s / (float(lengths(v)) or 1.0) for s, v in zip(self.scale, (x, y), strict=True)]
        fits = all(1 / _SQUARED < s < _SQUARED for s in self.scale)
        self.degenerate = min(part) < UNCLEAR or not fits
        self.x = u / self.scale[0] if self.scale[0] > 0 else u
        self.y = w / self.scale[1] if self.scale[1] > 0 else w
        self.error = 4e-16 * np.sqrt(design.n) * self.basis.condition / max(min(part), 1e-300)

    def _confirm(self) -> None:
        """The basis is not clear where a control that it leaves out is not exactly dependent."""
        plain = self.design.controls[:, self._others]
        if not self.basis.clear or plain.shape[1] > _MOST_COLUMNS:
            return
        nothing = np.zeros(0, dtype=np.int64)
        try:
            self.basis.clear = self.basis.is_certain(plain, lambda: self.rank_without(nothing))
        except Stopped:  # no time to find out
            self.basis.clear = False

    # ---- floating point, x and y of length one --------------------------------------------------

    def without(self, gone: Ints) -> Sums[float] | None:
        """Sums without these rows, a, b, c of scaled x and y; None where rounding may matter."""
        if not self.basis.clear or self.degenerate:
            return None
        z, u, w, rank, share = self.removed(gone)
        both = np.column_stack([u, w])
        sides, own = z.T @ both, both.T @ both
        k, rank, total = self.design.n - len(gone), rank + self.design.fixed, self.total(gone)
        if len(z) >= z.shape[1]:
            return self._residual_sums(
                k, rank, np.eye(z.shape[1]) - z.T @ z, sides, own, total, share
            )
        # Then G^-1 = I + z' (I - z z')^-1 z.
        g, own = np.eye(len(z)) - z @ z.T, own + sides.T @ sides
        return self._residual_sums(k, rank, g, z @ sides, own, total, share)

    def without_products(self, count: int, products: Floats) -> Sums[float] | None:
        """The same by the sums of products of (Q, x, y) of so many rows that go, where there are no
        classes; b in the place of the total, which is never less."""
        if not self.basis.clear or self.degenerate:
            return None
        q = self.q.shape[1]
        g, k = np.eye(q) - products[:q, :q], self.design.n - count
        rank = self.rank + self.design.fixed
        return self._residual_sums(k, rank, g, products[:q, q:], products[q:, q:])

    def _residual_sums(
        self, k: int, rank: int, g: Floats, sides: Floats, own: Floats,
        total: float | None = None, share: float = 1.0,
    ) -> Sums[float] | None:  # fmt: skip
        least = share * (float(np.linalg.eigvalsh(g)[0]) if len(g) else 1.0)
        if least < 1e-6:
            return None
        gone = own + sides.T @ np.linalg.solve(g, sides)
        a, b, c = 1 - float(gone[0, 0]), 1 - float(gone[1, 1]), self.squares.c - float(gone[0, 1])
        total = b if total is None else total
        if not (a > 0 and b > 0 and total > 0):
            return None
        error = float(self.rounding(least, a, b, total))
        return Sums(k, rank, a, b, c, total, error) if error <= WORST else None

    def removed(self, gone: Ints) -> tuple[Floats, Floats, Floats, int, float]:
        """Rows of Q, x and y that go with these, the rank that is left, and the least share that
        is left of a class."""
        columns = self.q, self.x, self.y
        z, u, w = (v[gone] for v in columns)
        if self.classes is None:
            return z, u, w, self.rank, 1.0
        short = self.classes.without(gone)
        more = [short.more(v) for v in columns]
        z, u, w = (np.concatenate([v, m]) for v, m in zip((z, u, w), more, strict=True))
        return z, u, w, self.rank - int(short.emptied.sum()), short.least

    def rounding(self, least: Any, a: Any, b: Any, total: Any) -> Any:
        """About what it may add to c / sqrt(ab) and to R2, where G has this least eigenvalue."""
        return (self.error + 1e-14) / least / np.minimum(np.minimum(a, b), total)

    @cached_property
    def squares(self) -> Sums[float]:
        """Of all rows, x and y scaled: 1, 1 and their product, or 0 where nothing is left."""
        a, b, c = float(self.x @ self.x), float(self.y @ self.y), float(self.x @ self.y)
        return Sums(self.design.n, self.rank, a, b, c, self.total(np.zeros(0, dtype=np.int64)))

    def kept(self, gone: Ints) -> Mask:
        """The other rows."""
        inside = np.ones(self.design.n, dtype=bool)
        inside[gone] = False
        return inside

    @cached_property
    def _centred_outcome(self) -> tuple[Floats, float, float]:
        """y about its mean on all rows, scaled, times the roots of the weights; its sum of squares,
        and that of the roots."""
        root, y = self.design.root_weights, self.design.y
        if self.design.intercept is not None:
            w = root * root
            for _ in range(2):
                y = y - float(w @ y) / float(w.sum())
        y = np.asarray(root * y / max(self.scale[1], 1e-300))
        return y, float(y @ y), float(root @ root)

    def total(self, gone: Ints) -> float:
        """The sum of squares of y about its mean without some rows, scaled."""
        root, (y, every, weight) = self.design.root_weights, self._centred_outcome
        weight -= float(root[gone] @ root[gone])
        total = every - float(y[gone] @ y[gone])
        if self.design.intercept is not None and weight > 0:
            total -= float(root[gone] @ y[gone]) ** 2 / weight
        if total > _CANCELLED * every:
            return total
        kept = self.kept(gone)
        left, root = y[kept], root[kept]
        if self.design.intercept is not None and len(left):
            left = left - root * float(root @ left) / float(root @ root)
        return float(left @ left)

    # ---- exactly --------------------------------------------------------------------------------

    def rank_without(self, gone: Ints) -> int:
        """How many controls are left without these rows, exactly; -1 where that takes too long."""
        if len(self._others) > _MOST_COLUMNS:
            return -1
        return self.exact(gone).rank - self.design.fixed

    def all_rows(self) -> Sums[Fraction]:
        """Sums of all rows: exactly, or where that takes long, from floating point."""
        nothing = np.zeros(0, dtype=np.int64)
        sums = self.without(nothing)
        if sums is None or self.design.n * (len(self._others) + 2) ** 2 <= _EXACT_PRODUCTS:
            try:
                return self.exact(nothing)
            except Stopped:  # no time for it
                sums = sums or self._rounded()
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

    def _rounded(self) -> Sums[float]:
        """Sums of all rows, whatever rounding has done to them."""
        n, rank = self.design.n, self.rank + self.design.fixed
        total = self.total(np.zeros(0, dtype=np.int64))
        return Sums(n, rank, 1.0, 1.0, self.squares.c, total, 1.0)

    def exact(self, gone: Ints) -> Sums[Fraction]:
        """Sums without these rows, in the units of the data."""
        if self._exact is None:
            self._exact = _Exact(self.design, self._others, self._of_row, self._check)
        return self._exact.without(gone)


def _divided(design: Design) -> tuple[Ints | None, Ints]:
    """The class of each row, if some dummies are not columns of their own, and the other controls.

    Where units are groups, dummies of classes inside of them: those go with their rows, and what is
    left of the others does not change.
    """
    every = np.arange(design.controls.shape[1])
    if design.classes is not None:
        return design.classes, every
    if design.units is None:
        return None, every
    of_row, others = partition(design.controls, design.unit)
    return (of_row, others) if np.any(of_row >= 0) else (None, every)


class _Exact:
    """Gram matrices of whole numbers; what is removed is taken from the full one.

    Classes are taken off first: a class with sum of weights W and of products s takes s s' / W, and
    L, a common multiple of all W, makes that whole.
    """

    def __init__(
        self, design: Design, others: Ints, of_row: Ints | None, check: Callable[[], object]
    ) -> None:
        self._design = design
        self._of_row = None if of_row is None else of_row.tolist()
        # Looks at the clock where it takes long: for many columns, or many rows.
        long = design.n * (len(others) + 2) ** 2 > _EXACT_PRODUCTS or len(others) > _MOST_COLUMNS
        self._check = check if long else lambda: None
        columns = [*design.controls[:, others].T, design.x, design.y]
        pairs = [whole_numbers(np.ascontiguousarray(v)) for v in columns]
        self._columns = [values for values, _ in pairs]
        self._shift = [shift for _, shift in pairs]
        self._weights, self._weight_shift = (
            ([1] * design.n, 0) if design.weights is None else whole_numbers(design.weights)
        )

    @cached_property
    def _full(self) -> list[list[int]]:
        return self._gram(range(self._design.n))

    @cached_property
    def _of_classes(self) -> dict[int, list[int]]:
        return self._class_sums(range(self._design.n))

    def _class_sums(self, rows: range | list[int]) -> dict[int, list[int]]:
        """Of each class with any of these rows: their number, their weights, and those times each
        column."""
        assert self._of_row is not None
        out: dict[int, list[int]] = {}
        for i in rows:
            if self._of_row[i] >= 0:
                sums = out.setdefault(self._of_row[i], [0] * (len(self._columns) + 2))
                w = self._weights[i]
                sums[0] += 1
                sums[1] += w
                for j, column in enumerate(self._columns):
                    sums[j + 2] += w * column[i]
        return out

    def _gram(self, rows: range | list[int]) -> list[list[int]]:
        picked = [[column[i] for i in rows] for column in self._columns]
        return gram_matrix(picked, [self._weights[i] for i in rows], self._check)

    def _given_classes(self, g: list[list[int]], gone: list[int]) -> tuple[int, int]:
        """Takes the classes off a Gram matrix: how many there are, and what it is multiplied by."""
        if self._of_row is None:
            return 0, 1
        less = self._class_sums(gone)
        left = [
            [a - b for a, b in zip(sums, less[c], strict=True)] if c in less else sums
            for c, sums in self._of_classes.items()
        ]
        left = [sums for sums in left if sums[0]]
        multiple = math.lcm(*(sums[1] for sums in left))
        size = len(g)
        for i in range(size):
            for j in range(size):
                g[i][j] *= multiple
        for _, weight, *sums in left:
            self._check()
            share = multiple // weight
            for i in range(size):
                times = sums[i] * share
                for j in range(size):
                    g[i][j] -= times * sums[j]
        return len(left), multiple

    def without(self, gone: Ints) -> Sums[Fraction]:
        less = self._gram(gone.tolist())
        size = len(less)
        g = [[self._full[i][j] - less[i][j] for j in range(size)] for i in range(size)]
        total = self._total(gone, g)
        classes, multiple = self._given_classes(g, gone.tolist())
        pivots, factor = eliminate(g, size - 2, self._check)
        ex, ey = self._shift[-2], self._shift[-1]
        scale = factor * multiple
        return Sums(
            self._design.n - len(gone),
            classes + len(pivots) + self._design.fixed,
            self._back(g[-2][-2], scale, 2 * ex),
            self._back(g[-1][-1], scale, 2 * ey),
            self._back(g[-2][-1], scale, ex + ey),
            total,
        )

    def _back(self, value: int, scale: int, shift: int) -> Fraction:
        return Fraction(value, scale) * Fraction(2) ** (shift + self._weight_shift)

    def _total(self, gone: Ints, g: list[list[int]]) -> Fraction:
        """Of y about its mean, or about 0 without an intercept."""
        total, y = Fraction(g[-1][-1]), self._columns[-1]
        if self._design.intercept is not None:
            kept = np.delete(np.arange(self._design.n), gone).tolist()
            weight = sum(self._weights[i] for i in kept)
            first = sum(self._weights[i] * y[i] for i in kept)
            total -= Fraction(first * first, weight) if weight else 0
        return total * Fraction(2) ** (2 * self._shift[-1] + self._weight_shift)

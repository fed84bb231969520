"""The twins' sums once more, in whole numbers: as exact as naive.py's fractions, and much faster.

A column of doubles is a column of whole numbers divided by a power of two. Sums of products of
such columns are whole; what fitted columns leave of them comes by elimination without fractions
(Bareiss: every entry is a minor of the matrix of products, and every division leaves no rest).
A quotient of whole numbers becomes a double by one correct rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

Numbers = Sequence[float]
Sums = tuple[int, int, int]
Quotient = tuple[int, int]
Matrix = list[list[int]]


def whole(column: Numbers) -> tuple[list[int], int]:
    """Whole numbers and the power of two by which they are divided."""
    quotients = [float(v).as_integer_ratio() for v in column]
    unit = max(d for _, d in quotients)
    return [v * (unit // d) for v, d in quotients], unit


def rounded(numerator: int, denominator: int) -> float:
    """A quotient as a double, infinite where there is none so large."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if (numerator > 0) == (denominator > 0) else -math.inf


class Plane:
    """Two columns of points; sums and values of their subsets."""

    def __init__(self, x: Numbers, y: Numbers) -> None:
        self.x, self.x_unit = whole(x)
        self.y, self.y_unit = whole(y)

    @cached_property
    def _products(self) -> tuple[list[int], ...]:
        """x, y, x x, y y and x y of every point."""
        pairs = (self.x, self.x), (self.y, self.y), (self.x, self.y)
        return self.x, self.y, *([*map(int.__mul__, u, v)] for u, v in pairs)

    def raw(self, subset: Iterable[int]) -> tuple[int, ...]:
        """Sums of x, y, x x, y y and x y."""
        subset = list(subset)
        return tuple(sum(map(column.__getitem__, subset)) for column in self._products)

    @cached_property
    def raw_of_all(self) -> tuple[int, ...]:
        return self.raw(range(len(self.x)))

    def sums(self, subset: Sequence[int], without: bool = False) -> Sums:
        """k a, k b and k c of DESIGN, in units of their columns; of all others if ``without``."""
        k, raw = len(subset), self.raw(subset)
        if without:
            k = len(self.x) - k
            raw = tuple(u - v for u, v in zip(self.raw_of_all, raw, strict=True))
        sx, sy, xx, yy, xy = raw
        return k * xx - sx * sx, k * yy - sy * sy, k * xy - sx * sy

    def value(self, sums: Sums, k: int, objective: str) -> Quotient | None:
        """The objective's value, None where undefined; for r it is r |r|."""
        a, b, c = sums
        u, v = self.x_unit, self.y_unit
        if objective in ("r2", "r"):
            squared = c * c if objective == "r2" else c * abs(c)
            return (squared, a * b) if a and b else None
        if objective == "lts":
            return (a * b - c * c, k * v * v * a) if a else (b, k * v * v)
        if objective == "cov":
            return c, k * k * u * v
        if objective == "mcd":
            return a * b - c * c, (k * k * u * v) ** 2
        a, b = a * v * v, b * u * u
        return {"dv": a - b, "tv": a + b, "var": a}[objective], (k * u * v) ** 2

    def rounded_value(self, subset: Sequence[int], objective: str, without: bool = False) -> float:
        """The value of a subset, or of all others, as a double; NaN where undefined."""
        k = len(self.x) - len(subset) if without else len(subset)
        found = self.value(self.sums(subset, without), k, objective)
        if found is None:
            return math.nan
        value = rounded(*found)
        return math.copysign(math.sqrt(abs(value)), value) if objective == "r" else value

    def squares(self, subset: Sequence[int]) -> tuple[float, float]:
        """a and b as doubles."""
        a, b, _ = self.sums(subset)
        k, u, v = len(subset), self.x_unit, self.y_unit
        return rounded(a, k * u * u), rounded(b, k * v * v)


class Table:
    """Several columns; their sums of (weighted) products on subsets of the rows.

    Units are left out: they cancel in every quotient of what is squared in the same columns.
    """

    def __init__(self, columns: Sequence[Numbers], weights: Numbers | None = None) -> None:
        both = [whole(column) for column in columns]
        self.columns, self.units = [c for c, _ in both], [u for _, u in both]
        n, size = len(columns[0]), len(columns)
        w = [1] * n if weights is None else whole(weights)[0]
        self.weight_unit = 1 if weights is None else whole(weights)[1]
        self.size = size
        self._products = [
            [w[i] * u[i] * v[i] for j, u in enumerate(self.columns) for v in self.columns[j:]]
            for i in range(n)
        ]

    def products(self, rows: Sequence[int]) -> Matrix:
        flat = [sum(column) for column in zip(*(self._products[i] for i in rows), strict=True)]
        out: Matrix = [[0] * self.size for _ in range(self.size)]
        at = 0
        for i in range(self.size):
            for j in range(i, self.size):
                out[i][j] = out[j][i] = flat[at]
                at += 1
        return out


def eliminated(products: Matrix, fitted: int) -> tuple[Matrix, int, int]:
    """What the first ``fitted`` columns leave of the others, times a number; it; their rank.

    A column of whose square nothing is left depends on those before it and is passed over.
    """
    m = [row[:] for row in products]
    size, before, rank = len(m), 1, 0
    for j in range(fitted):
        pivot = m[j][j]
        if pivot == 0:
            continue
        for i in range(j + 1, size):
            row, factor = m[i], m[i][j]
            for k in range(i, size):
                row[k] = m[k][i] = (row[k] * pivot - factor * m[j][k]) // before
        before, rank = pivot, rank + 1
    return [row[fitted:] for row in m[fitted:]], before, rank

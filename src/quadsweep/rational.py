"""Least squares without rounding.

A double is a whole number times a power of two, so sums of products of columns are whole numbers
up to such powers. Eliminating the predictors from their matrix without fractions (Bareiss: every
entry is a minor, every division leaves no rest) gives the sums of squares that are left; a pivot of
zero is a column that depends on those before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from quadsweep.arrays import Floats, Ints

Whole = list[int]


def whole_numbers(column: Floats) -> tuple[Whole, int]:
    """Integers v and an exponent e with column = v * 2^e.

    >>> whole_numbers(np.array([0.5, 3.0, 0.0]))[1] <= -1
    True
    """
    mantissa, exponent = np.frexp(column)
    whole = (mantissa * 2.0**53).astype(np.int64)
    shift = exponent.astype(np.int64) - 53
    used = shift[whole != 0]
    least = int(used.min()) if len(used) else 0
    values = [
        v << s if v else 0 for v, s in zip(whole.tolist(), (shift - least).tolist(), strict=True)
    ]
    return values, least


def gram_matrix(
    columns: Sequence[Sequence[int]],
    weights: Sequence[int],
    check: Callable[[], object] = lambda: None,
) -> list[Whole]:
    """Weighted sums of products of the columns; ``check`` is called now and then.

    >>> gram_matrix([[1, 1], [2, 3]], [1, 2])
    [[3, 8], [8, 22]]
    """
    out = [[0] * len(columns) for _ in columns]
    for i, u in enumerate(columns):
        check()
        weighted = list(map(mul, weights, u))
        for j in range(i, len(columns)):
            out[i][j] = out[j][i] = sum(map(mul, weighted, columns[j]))
    return out


def eliminate(
    gram: list[Whole], columns: int, check: Callable[[], object] = lambda: None
) -> tuple[list[int], int]:
    """Takes what the first columns explain off a Gram matrix, in place.

    Returns those of them that do not depend on the ones before, and the factor by which what is
    left of the others is multiplied.

    >>> gram = [[3, 8], [8, 22]]
    >>> eliminate(gram, 1), gram[1][1]
    (([0], 3), 2)
    """
    pivots, scale, size = [], 1, len(gram)
    for j in range(columns):
        here = gram[j][j]
        if here == 0:
            continue
        pivots.append(j)
        for i in range(j + 1, size):
            check()
            row, factor = gram[i], gram[i][j]
            if factor == 0 and here == scale:
                continue
            for k in range(i, size):
                row[k] = gram[k][i] = (row[k] * here - factor * gram[j][k]) // scale
        scale = here
    return pivots, scale


def solved(system: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """Solutions of a square system of integers, a row for each unknown and a column for each right
    side, which stand after the matrix. ZeroDivisionError if the system is singular.

    >>> solved([[2, 1, 5], [1, -1, 1]])
    [[Fraction(2, 1)], [Fraction(1, 1)]]
    """
    rows, m, last = [list(r) for r in system], len(system), 1
    for c in range(m):
        pivot = next((r for r in range(c, m) if rows[r][c]), None)
        if pivot is None:
            raise ZeroDivisionError("the system is singular")
        rows[c], rows[pivot] = rows[pivot], rows[c]
        head, p = rows[c], rows[c][c]
        for r in range(m):
            if r != c:
                q = rows[r][c]
                rows[r] = [(p * a - q * b) // last for a, b in zip(rows[r], head, strict=True)]
        last = p
    return [[Fraction(v, row[r]) for v in row[m:]] for r, row in enumerate(rows)]


class ExactFit:
    """The least squares plane of some rows: y on the intercept, if there is one, and X.

    Attributes
    ----------
    coef : Fractions, the intercept's first; 0 for a column that depends on those before it.
    dependent : positions of such columns of X.
    rss, tss : sums of squares of the residuals and of y (about its mean with an intercept).
    """

    def __init__(self, X: Floats, y: Floats, weights: Floats | None, intercept: bool) -> None:
        columns = [np.ones(len(y))] if intercept else []
        columns += [*X.T, y]
        self._given = [whole_numbers(np.ascontiguousarray(c)) for c in columns]
        w, self._unit = ([1] * len(y), 0) if weights is None else whole_numbers(weights)
        gram = gram_matrix([values for values, _ in self._given], w)
        last = len(columns) - 1
        total = Fraction(gram[last][last])
        if intercept:
            total -= Fraction(gram[0][last] ** 2, gram[0][0])
        pivots, scale = eliminate(gram, last)
        self._rows, self._pivots, self.intercept = gram, pivots, intercept
        self.rss = self._squared(Fraction(gram[last][last], scale))
        self.tss = self._squared(total)
        lost = [j - intercept for j in range(last) if j not in pivots]
        self.dependent: Ints = np.array(lost, dtype=np.int64)

    def _squared(self, value: Fraction) -> Fraction:
        """In the units of y and of the weights."""
        return value * Fraction(2) ** (2 * self._given[-1][1] + self._unit)

    @property
    def coef(self) -> list[Fraction]:
        last = len(self._rows) - 1
        out = [Fraction(0)] * last
        for j in reversed(self._pivots):
            row = self._rows[j]
            known = sum((row[i] * out[i] for i in range(j + 1, last)), Fraction(0))
            out[j] = (row[last] - known) / row[j]
        shift = self._given[-1][1]
        return [
            c * Fraction(2) ** (shift - e) for c, (_, e) in zip(out, self._given[:-1], strict=True)
        ]

    def value(self, objective: str) -> Fraction | None:
        """R2 or RSS; None where R2 is undefined."""
        if objective == "lts":
            return self.rss
        return None if self.tss == 0 else 1 - self.rss / self.tss


def exact_value(
    X: Floats, y: Floats, weights: Floats | None, intercept: bool, objective: str
) -> float:
    """R2 or RSS of some rows, rounded once; NaN where R2 is undefined.

    >>> exact_value(np.array([[0.0], [1], [2]]), np.array([0.0, 1, 1]), None, True, "r2")
    0.75
    """
    return rounded(ExactFit(X, y, weights, intercept).value(objective))


def of_sums(
    objective: str, k: int, sx: int, sy: int, sxx: int, sxy: int, syy: int
) -> Fraction | None:
    """The objective of k points by their sums, for r its sign times its square; None if undefined.

    >>> of_sums("r2", 3, 3, 3, 5, 4, 5)
    Fraction(1, 4)
    """
    a, b, c = k * sxx - sx * sx, k * syy - sy * sy, k * sxy - sx * sy
    if objective in ("r2", "r"):
        if a == 0 or b == 0:
            return None
        return Fraction(c * c if objective == "r2" else c * abs(c), a * b)
    if objective == "lts":
        return Fraction(b, k) if a == 0 else Fraction(a * b - c * c, a * k)
    if objective == "mcd":
        return Fraction(a * b - c * c, k**4)
    return Fraction({"cov": c, "dv": a - b, "tv": a + b, "var": a}[objective], k * k)


def rounded(value: Fraction | None) -> float:
    """As a double: NaN for None, infinite where there is none so large.

    >>> rounded(Fraction(1, 4)), rounded(None), rounded(-Fraction(10) ** 400)
    (0.25, nan, -inf)
    """
    if value is None:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def residuals(coef: Sequence[Fraction], X: Floats, y: Floats) -> Floats:
    """What a plane leaves over of any rows, each rounded once; NaN where a row has NaN.

    ``coef`` has the intercept first where it is one longer than X has columns.
    """
    out = np.full(len(y), np.nan)
    slopes = coef[len(coef) - X.shape[1] :]
    start = coef[0] if len(coef) > len(slopes) else Fraction(0)
    common = math.lcm(start.denominator, *(c.denominator for c in slopes))
    numbers = [int(c * common) for c in slopes]
    for i in np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(y)):
        height = sum((n * Fraction(v) for n, v in zip(numbers, X[i], strict=True)), Fraction(0))
        out[i] = rounded(Fraction(y[i]) - start - height / common)
    return out

"""What fitted columns leave of others on many subsets at once, with a bound on the error.

The columns are replaced by exact linear combinations of them that are nearly orthonormal over all
rows (coefficients are rounded, the combinations are not), then rounded to whole multiples of 2^-62
and summed and eliminated in long double, u = 2^-64. With n <= 16 rows and at most twelve columns of
norm at most 1 the products are off by less than 2^-59 each and the elimination is that of a matrix
as near, so all in all the matrix of products G is off by less than e = 2^-55 in norm. What the
fitted columns leave, H - B' A^-1 B, is then off by at most e (1 + |A^-1 B|)^2 <= 4 e / l with l the
least eigenvalue of A, because B' A^-1 B <= 1. And l is at least the product of A's pivots
divided by 2.72: the other eigenvalues have a sum of at most their number plus one. `off` is twice
that; subsets whose pivots have a product below 1e-9 are `unclear`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import naive_whole
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Column = list[int]

DIGITS = 62
PRECISE = 80  # binary digits of a coefficient
CLEAR = 1e-9
OFF = 2.0**-50  # more than 8 * 2.72 * 2^-55


def dot(u: Column, v: Column) -> int:
    return sum(map(int.__mul__, u, v))


def less(column: Column, scale: int, other: Column) -> tuple[Column, int]:
    """Nearly without its part along another, times a power of two; the power."""
    along, length = dot(column, other), dot(other, other)
    if along == 0:
        return column, scale
    shift = max(0, PRECISE + length.bit_length() - abs(along).bit_length())
    factor = (along << shift) // length
    return [(u << shift) - factor * v for u, v in zip(column, other, strict=True)], scale + shift


class UnitTable(NamedTuple):
    columns: NDArray[np.longdouble]
    fitted: int
    units: list[float]


def unit_table(design: Floats, targets: Floats) -> UnitTable:
    """Nearly orthonormal columns, how many of them are fitted, and the units of the targets.

    A fitted column that depends on those before it on all rows does so on every subset and is left
    out. A target is its column times 1 / unit, less what the fitted columns explain of it.
    """
    fitted = design.shape[1]
    table = naive_whole.Table(np.hstack([design, targets]).T.tolist())
    first = independent(table, fitted)
    basis: list[Column] = []
    out, units = [], []
    for j in (*first, *range(fitted, table.size)):
        left, scale = table.columns[j], 0
        for other in 2 * basis:
            left, scale = less(left, scale, other)
        entries, power = in_units(left)
        out.append(entries)
        if j < fitted:
            basis.append(left)
        else:
            units.append(math.ldexp(1.0 / table.units[j], power - scale))
    return UnitTable(np.array(out, dtype=np.longdouble).T, len(first), units)


def independent(table: naive_whole.Table, fitted: int) -> list[int]:
    """The fitted columns that are no combination of those before them."""
    products = table.products(range(len(table.columns[0])))
    kept: list[int] = []
    for j in range(fitted):
        some = [*kept, j]
        ((left,),), _, _ = naive_whole.eliminated(
            [[products[u][v] for v in some] for u in some], len(kept)
        )
        if left:
            kept.append(j)
    return kept


def in_units(column: Column) -> tuple[NDArray[np.longdouble], int]:
    """Rounded to multiples of 2^-62, with a norm of at most 1; the power of two divided by."""
    square = dot(column, column)
    power = (square.bit_length() + 1) // 2
    shift = DIGITS - power
    rounded = [v << shift if shift >= 0 else (v >> (-shift - 1)) + 1 >> 1 for v in column]
    return np.array(rounded, dtype=np.int64).astype(np.longdouble) * 2.0**-DIGITS, power


class Intervals:
    """For every subset, what is left of the targets' products (in units), and how far it is off.

    A subset is a row of zeros and ones, or of the weights of its rows: exact ones of at most 1.
    """

    def __init__(self, given: UnitTable, masks: Floats) -> None:
        table, self.fitted, self.units = given
        self.masks = masks
        size = table.shape[1]
        i, j = np.triu_indices(size)
        flat = masks.astype(np.longdouble) @ (table[:, i] * table[:, j])
        g = np.empty((size, size, len(masks)), dtype=np.longdouble)
        g[i, j] = g[j, i] = flat.T
        pivots = np.ones(len(masks), dtype=np.longdouble)
        for p in range(self.fitted):
            pivots = pivots * np.maximum(g[p, p], 0)
            factor = g[p, p + 1 :] / np.where(g[p, p] > 0, g[p, p], 1)
            g[p + 1 :, p + 1 :] -= g[p, p + 1 :, None] * factor[None]
        self.left = g[self.fitted :, self.fitted :]
        self.unclear = ~(pivots > CLEAR)
        self.off = OFF / np.where(self.unclear, 1, pivots)

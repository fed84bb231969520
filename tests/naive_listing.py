"""The best subset by listing all, exactly and fast: most are told from the best by intervals.

Every subset's a, b and c are computed in floating point with a bound on their error, and with them
an interval that holds its value; those whose interval reaches above the best lower end are valued
again in whole numbers (naive_whole.py), and the best of these is the best of all.

The error: columns are centred at a median, x' = x - m, and divided by a power of two so that
|x'| < 1. With u = 2^-53 every x' is off by u |x'|, every product by u more, and a sum of n terms by
n u of the sum of their absolute values. By Cauchy and Schwarz (sum x')^2 / k <= Q = sum x'^2, so a
is off by less than (3 n + 14) u Q, b likewise, and c by as much of sqrt(Qx Qy). The margin is four
times that, which covers the few roundings of the intervals too; what underflows is less than TINY.
Where the sums are those of all points less those removed, Q is that of all points.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import chain, combinations

import numpy as np
from naive_whole import Plane
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 2.0**-1000
SMALL = 16  # points up to which all subsets are one matrix of zeros and ones
SHARED_SCALE = ("dv", "tv")
PERFECT = {"r2": 1.0, "r": 1.0, "lts": 0.0, "tv": 0.0, "mcd": 0.0}
_DIGITS = 4 * np.arange(SMALL, dtype=np.uint64)
SENSE = {"r2": 1, "r": 1, "cov": 1, "dv": 1, "tv": -1, "lts": -1, "mcd": -1}


@lru_cache(maxsize=256)
def all_subsets(n: int, k: int) -> Ints:
    """Row by row; those of more than half of many points by what they leave out."""
    chosen = n - k if left_out(n, k) else k
    flat = chain.from_iterable(combinations(range(n), chosen))
    return np.fromiter(flat, np.int64, chosen * math.comb(n, chosen)).reshape(-1, chosen)


@lru_cache(maxsize=256)
def zeros_and_ones(n: int, k: int) -> Floats:
    """A row for each point, a column for each subset."""
    subsets = all_subsets(n, k)
    out = np.zeros((n, len(subsets)))
    np.put_along_axis(out, subsets.T, 1.0, axis=0)
    return out


def left_out(n: int, k: int) -> bool:
    return n > SMALL and k > n // 2


def members(n: int, k: int, row: Ints) -> list[int]:
    if not left_out(n, k):
        return [int(i) for i in row]
    without = set(row.tolist())
    return [i for i in range(n) if i not in without]


def best_subset(
    x: Floats, y: Floats, k: int, objective: str, exact: Plane | None = None
) -> tuple[list[int], float]:
    """The best subset of k points and its value, rounded once; empty and NaN if none has one."""
    if objective in ("r2", "r") and (np.all(x == x[0]) or np.all(y == y[0])):
        return [], math.nan
    exact = exact or Plane(x.tolist(), y.tolist())
    n, sense = len(x), SENSE[objective]
    best: tuple[Ints, float] = (np.zeros(0, dtype=np.int64), math.nan)
    for row in distinct(x, y, k, in_question(x, y, k, objective)):
        value = exact.rounded_value(row.tolist(), objective, left_out(n, k))
        if math.isnan(best[1]) or sense * value > sense * best[1]:
            best = row, value
            if value == PERFECT.get(objective):
                break
    return ([] if math.isnan(best[1]) else members(n, k, best[0])), best[1]


def in_question(x: Floats, y: Floats, k: int, objective: str) -> Ints:
    """The subsets that may be the best, as far as floating point can tell; the likeliest first."""
    subsets = all_subsets(len(x), k)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        low, high = intervals(x, y, k, objective)
        if not (np.all(np.isfinite(high)) and low.max() > -math.inf):
            return subsets
        kept = np.flatnonzero(high >= low.max())
    return subsets[kept[np.argsort(-high[kept], kind="stable")]]


def distinct(x: Floats, y: Floats, k: int, subsets: Ints) -> Ints:
    """One of those that hold copies of the same points."""
    n = len(x)
    if n > SMALL or len(subsets) < 8:
        return subsets
    _, which = np.unique(np.stack([x, y]), axis=1, return_inverse=True)
    which = which.reshape(-1)
    if which.max() == n - 1:
        return subsets
    digits = np.sort(which[subsets], axis=1).astype(np.uint64) << _DIGITS[: subsets.shape[1]]
    _, first = np.unique(np.bitwise_or.reduce(digits, axis=1), return_index=True)
    return subsets[np.sort(first)]


def scaled(column: Floats) -> tuple[Floats, int]:
    """About a median, and the power of two next above its largest entry."""
    centred = column - np.sort(column)[len(column) // 2]
    return centred, math.frexp(float(np.max(np.abs(centred))))[1]


def sums(x: Floats, y: Floats, k: int, objective: str) -> tuple[Floats, ...]:
    """a, b, c of every subset and the bounds of their errors."""
    (u, eu), (v, ev) = scaled(x), scaled(y)
    if objective in SHARED_SCALE:
        eu = ev = max(eu, ev)
    u, v, n = np.ldexp(u, -eu), np.ldexp(v, -ev), len(x)
    terms = np.stack([u, v, u * u, u * v, v * v])
    if n <= SMALL:
        added = terms @ zeros_and_ones(n, k)
        qx, qy = added[2], added[4]
    else:
        added = terms[:, all_subsets(n, k)].sum(axis=2)
        qx, qy = added[2], added[4]
        if left_out(n, k):
            added = terms.sum(axis=1, keepdims=True) - added
            qx, qy = np.full(added.shape[1], (u * u).sum()), np.full(added.shape[1], (v * v).sum())
    margin = 4 * (3 * n + 14) * 2.0**-53
    sx, sy, xx, xy, yy = added
    return (
        xx - sx * sx / k, yy - sy * sy / k, xy - sx * sy / k,
        margin * qx + TINY, margin * qy + TINY, margin * np.sqrt(qx * qy) + TINY,
    )  # fmt: skip


def intervals(x: Floats, y: Floats, k: int, objective: str) -> tuple[Floats, Floats]:
    """Ends between which the value of every subset lies, larger being better.

    The lower end is minus infinity where the subset may have no value.
    """
    a, b, c, ea, eb, ec = sums(x, y, k, objective)
    if objective == "cov":
        return c - ec, c + ec
    if objective in SHARED_SCALE:
        value, off = (a - b if objective == "dv" else -(a + b)), ea + eb
        return value - off, value + off
    least_a, most_a = np.maximum(a - ea, 0), a + ea
    least_b, most_b = np.maximum(b - eb, 0), b + eb
    defined = (least_a > 0) & (least_b > 0)
    if objective == "r":
        low = quotient(c - ec, least_a, most_a, least_b, most_b, up=False)
        high = quotient(c + ec, least_a, most_a, least_b, most_b, up=True)
        return np.where(defined, low, -math.inf), high
    least_c, most_c = np.maximum(np.abs(c) - ec, 0), np.abs(c) + ec
    if objective == "r2":
        low = quotient(least_c, least_a, most_a, least_b, most_b, up=False)
        high = quotient(most_c, least_a, most_a, least_b, most_b, up=True)
        return np.where(defined, low * low, -math.inf), high * high
    if objective == "mcd":
        return (
            -(most_a * most_b - least_c * least_c) * (1 + 2.0**-50) - TINY,
            -np.maximum(least_a * least_b * (1 - 2.0**-50) - most_c * most_c - TINY, 0),
        )
    if np.all(x == x[0]):  # no rounding: a and c are 0
        return -(b + eb), -(b - eb)
    # Not c^2 / a: the square might underflow.
    fitted = np.where(least_a > 0, most_c / np.where(least_a > 0, least_a, 1) * most_c, math.inf)
    return -(most_b - least_c / most_a * least_c), -np.maximum(least_b - fitted, 0)


def quotient(
    c: Floats, least_a: Floats, most_a: Floats, least_b: Floats, most_b: Floats, up: bool
) -> Floats:
    """c / sqrt(a b) within [-1, 1], at the end of a and b that makes it largest or smallest."""
    outwards = (c > 0) == up
    size = np.sqrt(np.where(outwards, least_a, most_a)) * np.sqrt(
        np.where(outwards, least_b, most_b)
    )
    return np.where(size > 0, np.clip(c / np.where(size > 0, size, 1), -1, 1), np.sign(c))

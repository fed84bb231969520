"""What an audit with controls means, by refitting every subset in rational arithmetic.

Rows are given as lists: controls (the intercept included, wherever it stands), x, y, a weight. On
the rows kept the controls are eliminated from x and y by Gram and Schmidt in fractions: a, b, c are
the sums of squares and products of what they leave, and the rank is the number of controls that
were not already spanned, up to the rounding of their values. A coefficient exists where a > 0, and
a test where a degree of freedom is left; elsewhere no claim breaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from naive_audit import critical_r

Column = list[Fraction]


@dataclass(frozen=True)
class Regression:
    x: Sequence[float]
    y: Sequence[float]
    controls: Sequence[Sequence[float]]  # one sequence a control
    intercept: bool
    weights: Sequence[float] | None
    groups: Sequence[int]  # of every row, 0, 1, ...


@dataclass(frozen=True)
class Subset:
    k: int
    rank: int
    a: Fraction
    b: Fraction
    c: Fraction
    total: Fraction


def dot(u: Column, v: Column, w: Column) -> Fraction:
    return sum((p * q * r for p, q, r in zip(u, v, w, strict=True)), Fraction(0))


def leave(column: Column, basis: list[Column], w: Column) -> Column:
    """What mutually orthogonal columns leave of this one."""
    for other in basis:
        factor = dot(column, other, w) / dot(other, other, w)
        column = [u - factor * v for u, v in zip(column, other, strict=True)]
    return column


def refit(data: Regression, kept: Sequence[int]) -> Subset:
    w = [Fraction(1 if data.weights is None else data.weights[i]) for i in kept]

    def column(values: Sequence[float]) -> Column:
        return [Fraction(values[i]) for i in kept]

    basis: list[Column] = []
    for control in data.controls:
        left = leave(column(control), basis, w)
        if any(left):
            basis.append(left)
    y = column(data.y)
    x, left = (leave(v, basis, w) for v in (column(data.x), y))
    about = leave(y, [[Fraction(1)] * len(y)] if data.intercept and y else [], w)
    return Subset(
        len(kept), len(basis), dot(x, x, w), dot(left, left, w), dot(x, left, w),
        dot(about, about, w),
    )  # fmt: skip


def critical(s: Subset, level: float) -> float:
    return critical_r(s.k - s.rank + 1, level)


def r_above(t: float, s: Subset, c: Fraction) -> bool:
    return s.b > 0 and c > 0 and c * c > Fraction(t) ** 2 * s.a * s.b


def r2(s: Subset) -> Fraction:
    return 1 - (s.b - s.c**2 / s.a) / s.total


def breaks(s: Subset, full: Subset, claim: str, level: float, threshold: Any, tol: float) -> bool:
    """Whether the claim that holds on all rows breaks on a subset."""
    if s.k - s.rank - 1 < 1 or s.a == 0:
        return False
    way = 1 if full.c > 0 else -1
    if claim == "sign":
        return r_above(tol, s, -way * s.c)
    if claim == "reverse":
        return r_above(critical(s, level) + tol, s, -way * s.c)
    if claim == "significance":
        if full.c**2 >= Fraction(critical(full, level)) ** 2 * full.a * full.b:
            return s.b > 0 and s.c**2 < Fraction(critical(s, level) - tol) ** 2 * s.a * s.b
        return r_above(critical(s, level) + tol, s, abs(s.c))
    if claim == "r2":
        if s.total == 0:
            return False
        lifted = r2(full) < Fraction(threshold)
        return r2(s) > Fraction(threshold - tol) if lifted else r2(s) < Fraction(threshold + tol)
    low, high = threshold
    return (math.isfinite(high) and r_above(tol, s, s.c - Fraction(high) * s.a)) or (
        math.isfinite(low) and r_above(tol, s, Fraction(low) * s.a - s.c)
    )


def audit(
    data: Regression, claim: str, level: float, threshold: Any, tol: float, most: int
) -> int | None:
    """The fewest groups whose removal breaks it, None if no more than ``most`` do."""
    names = sorted(set(data.groups))
    everyone = range(len(data.x))
    full = refit(data, everyone)
    for m in range(most + 1):
        for gone in combinations(names, m):
            kept = [i for i in everyone if data.groups[i] not in gone]
            if breaks(refit(data, kept), full, claim, level, threshold, tol):
                return m
    return None

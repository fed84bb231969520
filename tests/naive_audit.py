"""What an audit means, by trying every subset in rational arithmetic.

A claim is a function from the exact sums (k, a, b, c) of the kept points to whether it is broken on
them. ``tol`` is the margin by which a statistic must differ from a threshold to differ at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

from naive import Numbers, centred_sums, exact
from scipy.stats import t as student

Broken = Callable[[int, Fraction, Fraction, Fraction], bool]


@cache
def critical_r(k: int, level: float) -> float:
    t = float(student.isf(level / 2, k - 2))
    return t / (k - 2 + t * t) ** 0.5


def r_above(t: float, a: Fraction, b: Fraction, c: Fraction) -> bool:
    """c / sqrt(ab) > t >= 0; False where undefined."""
    return a * b > 0 and c > 0 and c * c > Fraction(t) ** 2 * a * b


def r2_below(t2: float, a: Fraction, b: Fraction, c: Fraction) -> bool:
    return a * b > 0 and c * c < Fraction(t2) * a * b


def broken(
    claim: str, x: Numbers, y: Numbers, level: float, threshold: object, tol: float
) -> Broken:
    """The claim that holds on all points, as the condition that breaks it."""
    n = len(x)
    a, b, c = centred_sums(exact(x), exact(y))
    way = 1 if c > 0 else -1
    if claim == "sign":
        return lambda k, a, b, c: r_above(tol, a, b, -way * c)
    if claim == "reverse":
        return lambda k, a, b, c: r_above(critical_r(k, level) + tol, a, b, -way * c)
    if claim == "significance":
        if c * c >= Fraction(critical_r(n, level)) ** 2 * a * b:
            return lambda k, a, b, c: r2_below((critical_r(k, level) - tol) ** 2, a, b, c)
        return lambda k, a, b, c: r_above(critical_r(k, level) + tol, a, b, abs(c))
    if claim == "r2":
        assert isinstance(threshold, float)
        if c * c < Fraction(threshold) * a * b:
            return lambda k, a, b, c: a * b > 0 and c * c > Fraction(threshold - tol) * a * b
        return lambda k, a, b, c: r2_below(threshold + tol, a, b, c)
    assert isinstance(threshold, tuple)
    low, high = threshold
    return lambda k, a, b, c: (
        (math.isfinite(high) and r_above(tol, a, b, c - Fraction(high) * a))
        or (math.isfinite(low) and r_above(tol, a, b, Fraction(low) * a - c))
    )


def breaks(x: Numbers, y: Numbers, kept: Sequence[int], condition: Broken) -> bool:
    xs, ys = exact([x[i] for i in kept]), exact([y[i] for i in kept])
    return condition(len(kept), *centred_sums(xs, ys))


def audit(x: Numbers, y: Numbers, max_drop: int, condition: Broken) -> int | None:
    """The fewest removals that break it, None if no more than max_drop do."""
    n = len(x)
    for m in range(max_drop + 1):
        if any(breaks(x, y, kept, condition) for kept in combinations(range(n), n - m)):
            return m
    return None

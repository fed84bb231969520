"""Conditions on a subset under which a claim breaks.

    SlopeBeyond       the coefficient lies beyond beta               (sign, slope)
    CorrelationAbove  the partial r, or -r, lies above a threshold   (reverse, significance gained)
    CorrelationBelow  the partial |r| lies below a threshold         (significance lost)
    R2Beyond          the multiple R2 is past a threshold            (r2)

With an intercept alone the partial r is the correlation, R2 is its square, and the claim ``r2`` is
one about the correlation. The t test of a coefficient is a test of the partial r with k - rank(Z) -
1 degrees of freedom. Thresholds of significance fall as these grow, so that a proof for the easiest
threshold among several numbers of removals serves them all. The coefficient is defined where Z does
not explain x on the rows kept (a > 0); elsewhere, and where no degree of freedom is left, no claim
breaks. Comparisons are strict and have a margin ``tol``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.moments import Sums

Threshold = Callable[[int], float]

_CLEAR = 1e-10


def rounding_margin(error: float) -> float:
    """Return the distance beyond which rounding cannot change the comparison with a threshold.

    ``error`` is about what rounding adds; a hundred times that is also more than the most that a
    sum of a million products can be off.
    """
    return max(100 * error, _CLEAR)


class Condition(ABC):
    """One way in which a claim breaks."""

    @abstractmethod
    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        """How far past its threshold a subset is, about, in units of a correlation or of R2.

        ``sums`` are of x and y divided by ``scale``: numbers of one subset, or arrays of many.
        """

    @abstractmethod
    def holds(self, sums: Sums[Fraction]) -> bool:
        """Whether the claim breaks on a subset, from exact sums."""

    @abstractmethod
    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        """What the condition wants large."""


@dataclass(frozen=True)
class SlopeBeyond(Condition):
    """sign * (c - beta a) > margin sqrt(ab)."""

    beta: float
    margin: float
    sign: int

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        lean = self.beta * scale[0] / scale[1]
        past = self.sign * (sums.c - lean * sums.a) / np.sqrt(sums.a * sums.b) - self.margin
        return past / (1 + abs(lean) * np.sqrt(sums.a / sums.b))

    def holds(self, sums: Sums[Fraction]) -> bool:
        past = self.sign * (sums.c - Fraction(self.beta) * sums.a)
        beyond = past > 0 and past * past > Fraction(self.margin) ** 2 * sums.a * sums.b
        return beyond and sums.b > 0

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(self.sign * c / a)


@dataclass(frozen=True)
class OfCorrelation(Condition):
    """A condition on the partial r, with a threshold that depends on the degrees of freedom.

    ``sign`` is that of the r in question: of the one reached, or of the one on all rows.
    """

    threshold: Threshold
    sign: int

    def limit(self, freedom: Any) -> Any:
        """The threshold for a number of degrees of freedom, or for many."""
        if np.ndim(freedom) == 0:
            return self.threshold(int(freedom))
        numbers, which = np.unique(freedom, return_inverse=True)
        return np.array([self.threshold(int(f)) if f >= 1 else np.inf for f in numbers])[which]


@dataclass(frozen=True)
class CorrelationAbove(OfCorrelation):
    """sign * r > threshold."""

    def fewest_above(self, r: float, freedom: int, fewest: int, most: int) -> int:
        """The first of these numbers of removals whose threshold lies above r, or the last of them;
        of so many degrees of freedom each takes one."""
        while fewest < most:
            middle = (fewest + most) // 2
            if self.threshold(freedom - middle) > r:
                most = middle
            else:
                fewest = middle + 1
        return most

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        return self.sign * sums.c / np.sqrt(sums.a * sums.b) - self.limit(sums.freedom)

    def holds(self, sums: Sums[Fraction]) -> bool:
        past, t = self.sign * sums.c, Fraction(self.threshold(sums.freedom))
        return past > 0 and past * past > t * t * sums.a * sums.b

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(self.sign * c / np.sqrt(a * b))


@dataclass(frozen=True)
class CorrelationBelow(OfCorrelation):
    """|r| < threshold."""

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        return self.limit(sums.freedom) - abs(sums.c) / np.sqrt(sums.a * sums.b)

    def holds(self, sums: Sums[Fraction]) -> bool:
        t = Fraction(self.threshold(sums.freedom))
        return t > 0 and sums.c * sums.c < t * t * sums.a * sums.b

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(-np.abs(c) / np.sqrt(a * b))


@dataclass(frozen=True)
class R2Beyond(Condition):
    """sign * (R2 - threshold) > 0, the margin included in the threshold."""

    threshold: float
    sign: int

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        left = (sums.b - sums.c * sums.c / sums.a) / sums.total
        return self.sign * (1 - left - self.threshold)

    def holds(self, sums: Sums[Fraction]) -> bool:
        if sums.a == 0 or sums.total == 0:
            return False
        left = sums.b - sums.c * sums.c / sums.a
        return self.sign * (sums.total - left - Fraction(self.threshold) * sums.total) > 0

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(-self.sign * (b - c * c / a) / total)

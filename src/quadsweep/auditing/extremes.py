"""How far up to m removals can move the slope, r and R2.

The largest value of a statistic is found by asking for a better one: a subset above the best known
by more than a step, again and again, until the engine proves that there is none. The best known
value is attained; the bound is the best known plus the last step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.decisions import UNKNOWN, Answer, Asker, Impatient
from quadsweep.auditing.exact import ExactPoints
from quadsweep.auditing.sides import Side, Strong, Tilt

STEP = 1e-6  # of a correlation, or of a slope in units of sd(y)/sd(x) of all rows
_WIDENINGS = 12
_LISTED = 5_000  # removals that are tried one by one where the engine cannot decide


@dataclass(frozen=True)
class Extreme:
    """A largest value: attained on a subset, and proved not to be exceeded."""

    value: float
    bound: float
    kept: Ints
    proved: bool = True  # False where the bound is only what no value can exceed anyway


class Climber:
    """The largest slope or r with up to m removed, for m = 0, 1, ..."""

    def __init__(
        self,
        points: ExactPoints,
        value: Callable[[Ints], float],
        better: Callable[[int, float, float], Answer],
        side: Callable[[float], Side],
        step: float,
        limit: float,
    ) -> None:
        self._points, self._value, self._better, self._side = points, value, better, side
        self._step, self._limit = step, limit
        everyone = np.arange(points.n)
        self.best = Extreme(value(everyone), value(everyone), everyone)

    def climb(self, m: int) -> Extreme:
        """The largest with at most m removed, starting from the last one found."""
        value, kept, wider, proved = self.best.value, self.best.kept, 0, True
        offer = self._side(value).propose(m)
        if self._value(offer) > value:
            value, kept = self._value(offer), offer
        while True:
            step = self._step * 8**wider
            try:
                answer = self._better(m, value, step)
            except Impatient:
                answer = UNKNOWN
            if answer.kept is not None and self._value(answer.kept) > value:
                value, kept = self._value(answer.kept), answer.kept
            elif answer.refuted:
                bound = value + step
                break
            elif wider == 0 and comb(self._points.n, m) <= _LISTED:
                value, kept = self._best_listed(m, value, kept)
                bound = max(value + step, self.best.bound)
                break
            elif wider == _WIDENINGS:
                bound, proved = self._limit, False
                break
            else:
                wider += 1
        self.best = Extreme(value, min(bound, self._limit), kept, proved and self.best.proved)
        return self.best

    def _best_listed(self, m: int, value: float, kept: Ints) -> tuple[float, Ints]:
        """The largest with exactly m removed by trying them all, or the one known if larger."""
        everyone, ways = np.arange(self._points.n), combinations(range(self._points.n), m)
        for gone in ways:
            subset = np.delete(everyone, gone)
            if (found := self._value(subset)) > value:
                value, kept = found, subset
        return value, kept


def largest_slope(asker: Asker, sign: int) -> Climber:
    """Of sign * slope."""
    points = asker.points
    a, b, _ = points.floating(np.arange(points.n))

    def value(kept: Ints) -> float:
        a, _, c = points.floating(kept)
        return sign * c / a if a > 0 else -math.inf

    return Climber(
        points,
        value,
        lambda m, t, step: asker.steeper(m, t, step, sign),
        lambda t: Tilt(points, sign * t, 0.0, sign),
        STEP * math.sqrt(b / a),
        math.inf,
    )


def largest_r(asker: Asker, turned: Asker, sign: int) -> Climber:
    """Of sign * r; ``turned`` asks about the points with y turned over."""
    points = asker.points

    def value(kept: Ints) -> float:
        a, b, c = points.floating(kept)
        return sign * c / math.sqrt(a) / math.sqrt(b) if a > 0 and b > 0 else -math.inf

    def better(m: int, known: float, step: float) -> Answer:
        t = known + step
        if t >= 1:
            return Answer(refuted=True)
        if t > STEP:
            return asker.above(m, t, sign)
        if t < -STEP:
            return (turned if sign > 0 else asker).below(m, -t)
        return UNKNOWN

    return Climber(
        points, value, better, lambda t: Strong(points, lambda k: max(t, 0.0), sign), STEP, 1.0
    )


def least_r2_on_the_way(points: ExactPoints, *ends: Ints) -> float:
    """The smallest R2 met when removing the rows of each end one by one."""
    least = math.inf
    for kept in ends:
        inside = np.ones(points.n, dtype=bool)
        for row in [None, *np.setdiff1d(np.arange(points.n), kept)]:
            if row is not None:
                inside[row] = False
            a, b, c = points.floating(np.flatnonzero(inside))
            if a > 0 and b > 0:
                least = min(least, (c / a) * (c / b))
    return least

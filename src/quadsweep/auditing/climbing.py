"""How far up to m removals can move a statistic.

The largest value is found by asking for a better one: a removal that takes the statistic above the
best known value by more than a step, again and again, until it is proved that there is none. The
best known value is attained; the bound is the best known plus the last step. Where a question stays
undecided, the step is widened.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import Condition, CorrelationAbove, SlopeBeyond
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.proposals import lowest
from quadsweep.auditing.controls.remaining import Unclear
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision
from quadsweep.auditing.oracles.plane import Plane
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.resources import OutOfPatience, Resources

STEP = 1e-6  # of a correlation, or of a slope in units of sd(y)/sd(x) given the controls
_CLOSE = 2  # widenings of the step up to which a bound is close
_WIDENINGS = 12
_LISTED = 5_000  # removals that are tried one by one where a question stays undecided
_STEPS = 30
_NODES = 50
_MARGIN = 1e-9  # of a correlation: what the engine's thresholds are loosened by


@dataclass(frozen=True)
class Extreme:
    """A largest value: attained by a removal, and proved not to be exceeded."""

    value: float
    bound: float
    removal: Ints
    is_close: bool = True  # whether the bound is proved, and a small step away


class Climber(ABC):
    """The largest value with up to m units removed, for m = 0, 1, ..."""

    limit = math.inf

    def __init__(self, moments: Moments, resources: Resources, sign: int) -> None:
        self.moments, self.resources, self.sign = moments, resources, sign
        nothing = np.zeros(0, dtype=np.int64)
        start = self.value(nothing)
        self.best = Extreme(start, start, nothing)

    @abstractmethod
    def value(self, removal: Ints) -> float:
        """The statistic times ``sign`` without these units, minus infinity where undefined."""

    @abstractmethod
    def condition(self, value: float) -> Condition:
        """That the statistic is beyond a value."""

    @abstractmethod
    def better(self, m: int, value: float, step: float) -> Decision:
        """Whether up to m removals take it beyond the value by a step; a removal is not checked."""

    @property
    def step(self) -> float:
        return STEP

    def climb(self, m: int) -> Extreme:
        """The largest with at most m removed, starting from the last one found."""
        value, removal = self._concentrated(m)
        wider, is_close = 0, True
        while True:
            step = self.step * 8**wider
            try:
                found = self.better(m, value, step)
            except OutOfPatience:
                found = UNDECIDED
            if found.removal is not None and self.value(found.removal) > value:
                value, removal = self.value(found.removal), found.removal
            elif found.refuted:
                bound, is_close = value + step, wider <= _CLOSE
                break
            elif wider == 0 and comb(self.moments.design.size, m) <= _LISTED:
                value, removal = self._best_listed(m, value, removal)
                bound = max(value + step, self.best.bound)
                break
            elif wider == _WIDENINGS:
                bound, is_close = self.limit, False
                break
            else:
                wider += 1
        close = is_close and self.best.is_close
        self.best = Extreme(value, min(bound, self.limit), removal, close)
        return self.best

    def _concentrated(self, m: int) -> tuple[float, Ints]:
        """Remove the m units most in the way, refit, repeat, from the best removal so far."""
        value, best = self.best.value, self.best.removal
        removal = best
        for _ in range(_STEPS):
            self.resources.check()
            removal = lowest(Case(self.moments, self.condition(value)).gain(removal), m)
            if not self.value(removal) > value:
                break
            value, best = self.value(removal), removal
        return value, best

    def _best_listed(self, m: int, value: float, removal: Ints) -> tuple[float, Ints]:
        """The largest with exactly m removed by trying them all, or the one known if larger."""
        for units in combinations(range(self.moments.design.size), m):
            self.resources.check()
            other = np.array(units, dtype=np.int64)
            if (found := self.value(other)) > value:
                value, removal = found, other
        return value, removal


class SlopeClimber(Climber):
    """Of the coefficient."""

    def __init__(self, moments: Moments, resources: Resources, sign: int) -> None:
        self._unit = moments.scale[1] / moments.scale[0]
        super().__init__(moments, resources, sign)
        case = Case(moments, self.condition(0.0))
        self._plane = Plane(case, resources) if Plane.handles(case) else None

    @property
    def step(self) -> float:
        return STEP * self._unit

    def value(self, removal: Ints) -> float:
        gone = self.moments.design.rows(removal)
        sums = self.moments.without(gone)
        if sums is not None:
            return self.sign * sums.c / sums.a * self._unit if sums.freedom >= 1 else -math.inf
        exact = self.moments.exact(gone)
        defined = exact.a > 0 and exact.freedom >= 1
        return self.sign * float(exact.c / exact.a) if defined else -math.inf

    def condition(self, value: float) -> Condition:
        return SlopeBeyond(self.sign * value, 0.0, self.sign)

    def better(self, m: int, value: float, step: float) -> Decision:
        if self._plane is not None:
            return self._plane.steeper(m, value, step, self.sign)
        margin, more = self._margin(m)
        beyond = value + max(step - more, step / 2)
        if more > step / 2:
            margin = 0.0
        case = Case(self.moments, SlopeBeyond(self.sign * beyond, margin, self.sign))
        prover = Prover(case, self.resources, most_nodes=_NODES)
        if prover.refute(1, m, branch=False).proved:
            return REFUTED
        if RegressionBoxes.handles(case):
            return RegressionBoxes(case, self.resources).decide(1, m)
        return Decision(refuted=prover.refute(1, m).proved)

    def _margin(self, m: int) -> tuple[float, float]:
        """A margin that makes questions quick, and what it may hide of a coefficient: as much of
        sqrt(b / a). None where a may be small."""
        x = self.moments.x
        try:
            least = Prover(Case(self.moments, self.condition(0.0))).left(x, x).least(m)
        except Unclear:
            least = 0.0
        return (_MARGIN, _MARGIN * self._unit / math.sqrt(least)) if least > 1e-4 else (0.0, 0.0)


class CorrelationClimber(Climber):
    """Of the correlation of two columns."""

    limit = 1.0

    def __init__(self, moments: Moments, resources: Resources, sign: int) -> None:
        super().__init__(moments, resources, sign)
        self._plane = Plane(Case(moments, self.condition(0.0)), resources)

    def value(self, removal: Ints) -> float:
        r = correlation(self.moments, removal)
        return -math.inf if math.isnan(r) else self.sign * r

    def condition(self, value: float) -> Condition:
        return CorrelationAbove(lambda freedom: max(value, 0.0), self.sign)

    def better(self, m: int, value: float, step: float) -> Decision:
        t = value + step
        if t >= 1:
            return REFUTED
        if t > STEP:
            return self._plane.above(m, t, self.sign)
        if t < -STEP:
            return self._plane.below(m, -t, -self.sign)
        return UNDECIDED


def correlation(moments: Moments, removal: Ints) -> float:
    """r without these rows, NaN where undefined."""
    sums = moments.without(removal)
    if sums is not None:
        return sums.c / math.sqrt(sums.a * sums.b)
    exact = moments.exact(removal)
    if exact.a == 0 or exact.b == 0:
        return math.nan
    return math.copysign(math.sqrt(exact.c**2 / (exact.a * exact.b)), exact.c)


def least_r2_on_the_way(moments: Moments, *ends: Ints) -> float:
    """The smallest R2 met when removing the rows of each end one by one."""
    met = [correlation(moments, end[:m]) ** 2 for end in ends for m in range(len(end) + 1)]
    return float(np.nanmin(met))

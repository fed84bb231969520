"""The usual approximations, to compare with: neither proves anything.

``one-step (AMIP)``  orders the units by their influence on all rows together: to first order the
                     effect of a set is the sum of its units' effects. One pass, no refit.
``greedy``           removes the unit that moves the statistic most, refits, and goes on.

With robust and one-way clustered errors the first is about the end of the confidence interval.
Where no effect on the statistic itself is known (two-way clusters, logit), it says nothing about
numbers: it is then called ``order of influence``, and only followed.

Both fail where rows mask one another: two outliers together may hide what neither does alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import CorrelationAbove, OfCorrelation
from quadsweep.auditing.controls.heuristics import greedy_path, may_break, promising_sizes
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.screening import Screen
from quadsweep.clock import Clock, Stopped

_AT_ONCE = 1_000  # units
ONE_STEP, IN_ORDER, GREEDY = "one-step (AMIP)", "order of influence", "greedy"


@dataclass(frozen=True)
class Approximation:
    """What an approximation makes of a claim.

    Attributes
    ----------
    method : str
    predicted : int or None
        How many rows or groups the one-step method says are needed; the others say nothing.
    needed : int or None
        How many, in its order, really break the claim; None if it never gets there.
    tried, allowed : int
        How many it may have removed; fewer than allowed where it stopped to save time.
    """

    unit: ClassVar[str] = "row"

    method: str
    predicted: int | None
    needed: int | None
    tried: int
    allowed: int

    def verdict(self, lower: int, upper: int | None) -> str:
        """What it says, whether that is so, and how far it is from the least number known."""
        ended = "still fails after" if self.tried == self.allowed else "was stopped after"
        fails = f"removing {self.unit}s in its order {ended} {self._counted(self.tried)}"
        more = self._excess(lower, upper)
        if self.method != ONE_STEP:
            return fails if self.needed is None else f"needs {self._counted(self.needed)}{more}"
        if self.predicted is None:
            said = "predicts that no removal suffices"
            if self.needed is None:
                return f"{said}; {fails}"
            return f"{said}, but {self._sufficient(self.needed, ' in its order')}{more}"
        says = f"predicts that {self._sufficient(self.predicted)}"
        if self.needed is None and self.tried < self.predicted:
            return f"{says}; {fails}"
        if self.needed is None:
            return f"{says}, which is wrong: {fails}"
        if self.predicted == self.needed:
            return f"{says}, which is right{more}"
        if self.predicted < self.needed:
            return f"{says}, which is wrong: in its order {self._counted(self.needed)} do{more}"
        says = f"predicts that {self._counted(self.predicted)} are needed"
        return f"{says}, but {self._sufficient(self.needed, ' in its order')}{more}"

    def _counted(self, count: int) -> str:
        return f"{count:,} {self.unit}{'s' * (count != 1)}"

    def _sufficient(self, count: int, which: str = "") -> str:
        return f"{self._counted(count)}{which} suffice{'s' * (count == 1)}"

    def _excess(self, lower: int, upper: int | None) -> str:
        if self.needed is None:
            return ""
        assert upper is not None
        if self.needed > upper:
            least = "needed" if lower == upper else f"the {upper:,} found here"
            return f", {self.needed - upper:,} more than {least}"
        return ", the fewest possible" if lower == upper == self.needed else ""


@dataclass(frozen=True)
class GroupApproximation(Approximation):
    """The same, of groups."""

    unit: ClassVar[str] = "group"


def approximations(
    problems: Sequence[BreakProblem], most: int, followed: Sequence[tuple[float, float]] = (),
    seconds: float = math.inf,
) -> tuple[Approximation, ...]:  # fmt: skip
    """Both, each by the condition of the claim that it finds easier, in so many seconds.

    ``followed`` says of each problem how far the search itself followed both; they are followed no
    further here, since what they find is never fewer than what it found.
    """
    check = Clock(seconds).check
    every = list(zip(problems, followed or [(math.inf, math.inf)] * len(problems), strict=True))
    return (
        _easier([one_step(problem, most, far, check) for problem, (far, _) in every]),
        _easier([greedy(problem, most, far, check) for problem, (_, far) in every]),
    )


def _easier(tried: list[Approximation]) -> Approximation:
    return min(tried, key=lambda a: (a.needed or math.inf, a.predicted or math.inf))


def one_step(
    problem: BreakProblem, most: int, far: float, check: Callable[[], object]
) -> Approximation:
    """Influences at all rows, added up; up to ``far`` removals are tried in its order."""
    effect, start = problem.influence()
    order = np.argsort(-effect, kind="stable")[:most]
    method, predicted = IN_ORDER, None
    if problem.first_order:
        method, predicted = ONE_STEP, _predicted(problem, order, effect, start)
    elif isinstance(problem, RobustProblem) and (of_test := problem.influence_on_test()):
        effect, start = of_test
        order = np.argsort(-effect, kind="stable")[:most]
        reached = np.flatnonzero(start + np.cumsum(effect[order]) > 0)
        method, predicted = ONE_STEP, int(reached[0]) + 1 if len(reached) else None
    tried, order = 0, order[: int(min(most, far))]
    try:
        for tried in promising_sizes(problem, order):
            check()
            if _breaks(problem, order[:tried]):
                return _kind(problem)(method, predicted, tried, tried, most)
        tried = len(order) if Screen.fits(problem) else tried
    except Stopped:
        pass
    return _kind(problem)(method, predicted, None, tried, most)


def _predicted(problem: BreakProblem, order: Ints, effect: Floats, start: float) -> int | None:
    """How many of the first units should do to first order; some at a time, for a threshold of
    each number of degrees of freedom takes long."""
    design, condition = problem.moments.design, problem.condition
    rows, freedom = np.bincount(design.unit, minlength=design.size), design.n
    freedom -= problem.moments.rank + design.fixed + 1
    for first in range(0, len(order), _AT_ONCE):
        part = order[first : first + _AT_ONCE]
        moved, left = start + np.cumsum(effect[part]), freedom - np.cumsum(rows[part])
        reached = np.flatnonzero(moved > 0)
        if isinstance(condition, OfCorrelation):
            # Thresholds rise or fall throughout, so that those at both ends may tell.
            ends = _past(condition, left[[0, -1]])
            reached = np.flatnonzero(moved > ends.min())
            if len(reached):
                reached = reached[moved[reached] > _past(condition, left[reached])]
        if len(reached):
            return first + int(reached[0]) + 1
        start, freedom = float(moved[-1]), int(left[-1])
    return None


def _past(condition: OfCorrelation, freedom: Ints) -> Floats:
    """What r, or minus the size of r, must exceed at these degrees of freedom."""
    limits: Floats = condition.limit(np.maximum(freedom, 1))
    return limits if isinstance(condition, CorrelationAbove) else -limits


def greedy(
    problem: BreakProblem, most: int, far: float, check: Callable[[], object]
) -> Approximation:
    """One unit at a time, with refit; up to ``far`` units."""
    gone: list[int] = []
    try:
        for unit in greedy_path(problem, int(min(most, far)), check):
            gone.append(unit)
            if _breaks(problem, np.array(gone)):
                return _kind(problem)(GREEDY, None, len(gone), len(gone), most)
    except Stopped:
        pass
    return _kind(problem)(GREEDY, None, None, len(gone), most)


def _breaks(problem: BreakProblem, removal: Ints) -> bool:
    return may_break(problem, removal) and problem.broken(np.sort(removal))


def _kind(problem: BreakProblem) -> type[Approximation]:
    return Approximation if problem.moments.design.units is None else GroupApproximation

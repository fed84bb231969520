"""A term of two values, a treatment and nothing else: its coefficient is a difference of means.

Removing a rows of one value and b of the other moves the coefficient most if they are the first
of their group in the order of the outcome. So it is enough to try the m + 1 ways to divide m
removals between the two groups.
"""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import SlopeBeyond
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.plane import is_plane
from quadsweep.auditing.resources import Resources

_ROUNDED = 2.0**-50  # of the largest outcome and for every row: what rounding may make of a mean
_FEW = 1_000  # rows that tell as a rule that there are more values than two


class TwoValues(Oracle):
    """Decides every question about a coefficient, by sorting."""

    is_fast = True

    @np.errstate(over="ignore", invalid="ignore")
    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        condition, design = problem.condition, problem.moments.design
        assert isinstance(condition, SlopeBeyond)
        low, high = np.unique(design.x)
        y = condition.sign * (design.y - np.median(design.y))
        self._wanted = condition.sign * condition.beta * (high - low)
        self._unclear = _ROUNDED * design.n * (float(np.abs(y).max()) + abs(self._wanted))
        # Those that go first: low outcomes of the high value, high outcomes of the low one.
        above, below = (np.flatnonzero(design.x == value) for value in (high, low))
        self._above = above[np.argsort(y[above], kind="stable")]
        self._below = below[np.argsort(-y[below], kind="stable")]
        self._means = _means_without(y[self._above]), _means_without(y[self._below])

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        known = (
            type(problem) is BreakProblem
            and isinstance(problem.condition, SlopeBeyond)
            and is_plane(problem)
        )
        x = problem.moments.design.x
        return known and len(np.unique(x[:_FEW])) <= 2 and len(np.unique(x)) == 2

    @np.errstate(over="ignore", invalid="ignore")
    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        self.resources.check()
        above, below = self._means
        gone = np.arange(max(0, most + 1 - len(below)), min(most, len(above) - 1) + 1)
        if len(gone) == 0:
            return UNDECIDED
        past = above[gone] - below[most - gone] - self._wanted
        best = int(gone[np.argmax(past)])
        if float(past.max()) < -self._unclear:
            return REFUTED
        removal: Ints = np.sort(np.concatenate([self._above[:best], self._below[: most - best]]))
        return Decision(removal) if self.problem.broken(removal) else UNDECIDED


def _means_without(values: Floats) -> Floats:
    """The means without the first 0, 1, ... of some values, at least one left."""
    left = np.arange(len(values), 0, -1)
    return np.asarray(np.cumsum(values[::-1])[::-1] / left)

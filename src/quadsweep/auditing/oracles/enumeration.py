"""Every removal of m units: in floating point, and exactly where that is near a threshold.

Tests whose factors for small samples the compiled half does not know (fixed effects that are nested
in clusters, singletons that drop out) are refitted one by one, in floating point alone: a number of
removals stays undecided where one of them comes too near to its threshold.

Without a limit on time as many removals are tried as take some seconds (``MOST``); with one, as
many as can be tried in the time left. Where they are few, they are tried before anything else is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, islice
from math import comb, inf

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.robust import CLEAR, RobustProblem
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.auditing.screening import Screen

MOST = 50.0  # seconds without a limit on time; fewer where nothing else runs
_AT_ONCE = 0.5  # seconds, and with a limit a share of what is left, for bounds that cost little
_SHARE = 0.05
_EACH, _EACH_NUMBER = 1e-5, 4e-9  # seconds for a removal, and for the cube of its columns
_CHUNK, _FEW = 4_096, 16
_COUNTED = 40  # units of which the removals are too many, of twice as many or more


class Enumeration(Oracle):
    """Tries every removal of m units, where they are few. It goes on where it left off."""

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._size = problem.moments.design.size
        self._left: dict[int, Iterator[Ints]] = {}
        self._known: dict[int, Decision] = {}

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        return Screen.fits(problem) or cls._refits(problem)

    @staticmethod
    def _refits(problem: BreakProblem) -> bool:
        if problem.is_refitted:
            return True
        return isinstance(problem, RobustProblem) and not problem.test.plain

    def seconds(self, m: int) -> float:
        """How long it takes to try every removal of m units, about."""
        columns = int(self.problem.moments.q.shape[1]) + 2
        fewer = min(m, self._size - m)
        if fewer > _COUNTED and self._size > 2 * _COUNTED:  # comb(2 c, c) at least
            return inf
        each = _EACH + _EACH_NUMBER * columns**3
        return comb(self._size, fewer) * (self._refit if self._refits(self.problem) else each)

    @cached_property
    def _refit(self) -> float:
        """Seconds for the test without one unit, about."""
        start = time.perf_counter()
        self.problem.excess(np.zeros(1, dtype=np.int64))
        return time.perf_counter() - start

    def is_feasible(self, m: int) -> bool:
        """Whether every removal of m units can be tried in time."""
        allowed = self.resources.time_left() if self.resources.is_limited else MOST
        few = 0.0 if self._refits(self.problem) else _CHUNK * self.seconds(0)
        return self.seconds(m) <= max(allowed, few)

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        left = _SHARE * self.resources.time_left() if self.resources.is_limited else _AT_ONCE
        sizes = range(fewest, most + 1)
        if len(sizes) > self._size or sum(map(self.seconds, sizes)) > max(left, _AT_ONCE):
            return False
        return all(self.is_feasible(m) and self._tried(m, inf).refuted for m in sizes)

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        """Of one number of removals only."""
        if fewest != most or not (most in self._left or self.is_feasible(most)):
            return UNDECIDED
        return self._tried(most, self.resources.within(patience))

    def _tried(self, m: int, seconds: float) -> Decision:
        if m in self._known:
            return self._known[m]
        left = self._left.setdefault(m, self._chunks(m))
        end = time.perf_counter() + seconds
        for chunk in left:
            self.resources.check()
            found = self._first(chunk)
            if found.removal is not None or not found.refuted:
                return self._known.setdefault(m, found)
            if time.perf_counter() > end:
                raise OutOfPatience
        if self._refits(self.problem):
            self.resources.refitted[m] = comb(self._size, m)
        return self._known.setdefault(m, REFUTED)

    def _first(self, chunk: Ints) -> Decision:
        """The first of these removals that breaks the claim; undecided where one is too near."""
        refits, near = self._refits(self.problem), False
        removal: Ints
        for removal in chunk if refits else chunk[self._screen.removals(chunk)]:
            if self.problem.broken(removal):
                return Decision(removal)
            if refits:
                self.resources.check()
                self.resources.nodes += 1
                near = near or abs(self.problem.excess(removal)) <= CLEAR
        return UNDECIDED if near else REFUTED

    @cached_property
    def _screen(self) -> Screen:
        return Screen(self.problem)

    def _chunks(self, m: int) -> Iterator[Ints]:
        ways = combinations(range(self._size), m)
        at_once = _FEW if self._refits(self.problem) else _CHUNK
        while chunk := list(islice(ways, at_once)):
            yield np.array(chunk, dtype=np.int64).reshape(len(chunk), m)

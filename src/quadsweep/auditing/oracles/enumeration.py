"""Every removal of m units: in floating point, and exactly where that is near a threshold.

Without a limit on time as many removals are tried as take some seconds (``MOST``); with one, as
many as can be tried in the time left.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, islice
from math import comb

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.case import Case
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.auditing.screening import MOST_COLUMNS, Screen

MOST = 5_000_000  # removals tried without a limit on time: some 20 seconds
_SPEED = 100_000  # removals a second, about; twice as many where nothing else runs
_CHUNK = 4_096


class Enumeration(Oracle):
    """Tries every removal of m units, where they are few. It goes on where it left off."""

    def __init__(self, case: Case, resources: Resources) -> None:
        super().__init__(case, resources)
        self._size = case.moments.design.size
        self._left: dict[int, Iterator[Ints]] = {}

    @classmethod
    def handles(cls, case: Case) -> bool:
        return case.moments.rank <= MOST_COLUMNS and not isinstance(case, RobustCase)

    def is_feasible(self, m: int) -> bool:
        """Whether every removal of m units can be tried in time."""
        ways, seconds = comb(self._size, m), self.resources.left()
        return ways <= (max(seconds * _SPEED, _CHUNK) if self.resources.is_limited else MOST)

    def decide(self, fewest: int, most: int) -> Decision:
        """Of one number of removals only."""
        if fewest != most or not (most in self._left or self.is_feasible(most)):
            return UNDECIDED
        left = self._left.setdefault(most, self._chunks(most))
        end = time.perf_counter() + self.resources.for_a_question()
        for chunk in left:
            self.resources.check()
            found = self._first(chunk)
            if found is not None:
                del self._left[most]
                return Decision(found)
            if time.perf_counter() > end:
                raise OutOfPatience
        return REFUTED

    def _first(self, chunk: Ints) -> Ints | None:
        """The first of these removals that breaks the claim."""
        removal: Ints
        for removal in chunk[self._screen.removals(chunk)]:
            if self.case.broken(removal):
                return removal
        return None

    @cached_property
    def _screen(self) -> Screen:
        return Screen(self.case)

    def _chunks(self, m: int) -> Iterator[Ints]:
        ways = combinations(range(self._size), m)
        while chunk := list(islice(ways, _CHUNK)):
            yield np.array(chunk, dtype=np.int64).reshape(len(chunk), m)

"""Removals of rows found by the test itself: greedily, and by exchanges of one row for another.

Other heuristics follow the classical statistic of the same coefficient, which says little about
scores that add up within clusters. Here every step knows the test without each candidate
(``row_tests``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.controls.row_tests import SingleRowTests

_CANDIDATES = 400  # rows that are tried at each step: the best of the first one
_FIRST = 40_000_000  # entries of the hat matrix for the first step, above which it is not made
_WORK = 400_000_000  # and for all steps
_BETTER = 1e-12


class RowExchange:
    """Steps of one row, by the statistic without each of the candidates."""

    def __init__(self, problem: RobustProblem, check: Callable[[], object]) -> None:
        self._problem, self._check = problem, check
        self._n = problem.moments.design.n
        self._left = float(_WORK)
        self._candidates = np.arange(self._n)

    @staticmethod
    def handles(problem: object) -> bool:
        """Rows, and columns of which floating point tells what depends on what."""
        return (
            isinstance(problem, RobustProblem)
            and problem.moments.design.units is None
            and problem.moments.design.n**2 <= _FIRST
            and problem.moments.basis.clear
            and not problem.moments.degenerate
        )

    def greedy(self, most: int) -> Ints | None:
        """Remove the best row again and again; None where the claim does not break."""
        gone = np.zeros(0, dtype=np.int64)
        while len(gone) < most and self._left > 0:
            past = self._past(gone)
            if len(gone) == 0:
                self._candidates = np.sort(np.argsort(-past, kind="stable")[:_CANDIDATES])
            best = int(np.argmax(past))
            if past[best] == -np.inf:
                return None
            gone = np.sort(np.append(gone, best))
            if past[best] > 0 and self._problem.broken(gone):
                return gone
        return None

    def exchange(self, removal: Ints) -> Ints | None:
        """Exchange rows for better ones; None where the claim does not break before none is."""
        value, better = self._problem.excess(removal), True
        while better:
            better = False
            for row in removal.tolist():
                if self._left <= 0:
                    return None
                others = removal[removal != row]
                past = self._past(others)
                best = int(np.argmax(past))
                if best == row or not past[best] > value + _BETTER:
                    continue
                removal, value, better = np.sort(np.append(others, best)), float(past[best]), True
                if value > 0 and self._problem.broken(removal):
                    return removal
        return None

    def _past(self, gone: Ints) -> Floats:
        """How far past its threshold the statistic is without these rows and each candidate."""
        self._check()
        out = np.full(self._n, -np.inf)
        kept = np.delete(np.arange(self._n), gone)
        problem = self._problem.on_rows(kept)
        if problem.moments.degenerate or not problem.moments.basis.clear:
            return out
        test = SingleRowTests(problem)
        among = np.flatnonzero(np.isin(kept, self._candidates, assume_unique=True) & test.regular)
        self._left -= len(among) * len(kept)
        past = test.past(among)
        out[kept[among]] = np.where(np.isnan(past), -np.inf, past)
        return out

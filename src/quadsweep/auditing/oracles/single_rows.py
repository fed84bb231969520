"""The test without each single row, for any number of controls and fixed effects.

A test is followed by updates (``controls.row_tests``): norms decide most rows.

The classical test, and every other claim of least squares, is one about u.u, w.w and u.w, of which
row i takes v_i v_i / (1 - h_i), with h the leverage in the controls.

A row is refitted by itself where its removal changes what the factors count (the last one of a
cluster, one of two of a fixed effect), where little is left, or where t is near its threshold.
"""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.robust import CLEAR, RobustProblem
from quadsweep.auditing.controls.row_tests import SingleRowTests
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.resources import Resources

_NEAR = 1e-6  # of a correlation: what is nearer to its threshold is refitted by itself
_LEFT = 1e-6  # of a row, of the term or of a leverage: with less left it is too
_TRUSTED = 1e-9  # rounding of the residuals beyond which nothing is said
_NUMBERS = 2_000_000  # of K at a time
_SECONDS, _SPEED = 20.0, 5e7  # without a limit on time; entries of K a second, about


class SingleRows(Oracle):
    """Decides whether one row suffices; about more rows it says nothing."""

    is_about_one = True

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._known: Decision | None = None

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        """Rows, and no search that decides about them anyway."""
        if isinstance(problem, RobustProblem):
            used = [m for m in (problem.moments, problem.stage) if m is not None]
        else:
            used = [part.moments for part in problem.parts if not RegressionBoxes.handles(part)]
        return (
            problem.moments.design.units is None
            and bool(used)
            and all(m.basis.clear and not m.degenerate and m.error < _TRUSTED for m in used)
        )

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        if fewest != 1 or most != 1:
            return UNDECIDED
        if self._known is None:
            self._known = self._decide()
        return self._known

    def _decide(self) -> Decision:
        rows = (
            self._unclear_tests()
            if isinstance(self.problem, RobustProblem)
            else _unclear(self.problem)
        )
        return UNDECIDED if rows is None else self._refit(rows)

    def _unclear_tests(self) -> Ints | None:
        """Rows whose tests need a fit of their own; None where finding them takes too long."""
        assert isinstance(self.problem, RobustProblem)
        test = SingleRowTests(self.problem)
        unclear = np.flatnonzero(~(test.farthest() < -_NEAR) | ~test.regular)
        each = test.regular[unclear]
        wide, alone = unclear[each], unclear[~each]
        if not self.resources.is_limited and len(wide) * test.n > _SECONDS * _SPEED:
            return None
        step = max(1, _NUMBERS // test.n)
        for start in range(0, len(wide), step):
            self.resources.check()
            rows = wide[start : start + step]
            alone = np.append(alone, rows[~(test.past(rows) < -_NEAR)])
        return alone

    def _refit(self, rows: Ints) -> Decision:
        """Decide about each of these rows by a fit of its own."""
        near = False
        for row in rows[:, None]:
            self.resources.check()
            if self.problem.broken(row):
                return Decision(row)
            if isinstance(self.problem, RobustProblem) and not self.problem.test.plain:
                near = near or abs(self.problem.excess(row)) <= CLEAR
        return UNDECIDED if near else REFUTED


def _unclear(problem: BreakProblem) -> Ints:
    """Rows without which a claim of least squares may break, as far as rounding tells."""
    unclear = np.ones(problem.moments.design.n, dtype=bool)
    for part in problem.parts:
        r = part.residuals(np.zeros(0, dtype=np.int64))
        sums, fine = part.sums_without_each(r)
        with np.errstate(divide="ignore", invalid="ignore"):
            past = part.condition.excess(sums, part.moments.scale)
        enough = fine & (1 - r.leverage > _LEFT) & (sums.a > _LEFT) & (sums.b > _LEFT)
        unclear &= ~((enough & (past < -_NEAR)) | (sums.freedom < 1))
    return np.flatnonzero(unclear)

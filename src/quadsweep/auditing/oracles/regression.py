"""Does any removal break the claim? Asked of the engine's boxes, for a few controls.

    SlopeBeyond       partial r of x and sign (y - beta x) above 0
    CorrelationAbove  partial r above t, the threshold of the most degrees of freedom in question
    CorrelationBelow  partial r below t, that of the fewest
    R2Beyond          R2 of y on the controls and x above t (R2 that falls is left to other proofs)

The engine is given the columns and weights as they are and combines them to 32 digits. A weight's
root and the coefficients of a combination are rounded, which moves a correlation by a few ulps
whatever the controls; thresholds are loosened by ``SLACK`` of one, and what is found is checked
exactly, so that it can only be a removal that does break the claim. Where columns depend on each
other so nearly that 32 digits do not tell, the engine names the subset, and the check decides. It
is not asked at all about columns whose squares 32 digits do not hold (``_beyond``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import CorrelationAbove, CorrelationBelow, R2Beyond, SlopeBeyond
from quadsweep.auditing.controls.many_controls_form import FormProof
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.design import Design
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.threshold_schedule import Pair, correlation_below
from quadsweep.auditing.repair_overshoot import repair_overshoot
from quadsweep.auditing.resources import Resources
from quadsweep.least_squares import has_close_rows

MOST_CONTROLS = 5  # columns besides the term, the intercept included
MOST_FOR_A_SIGN = 6  # the same where tau is not searched
SLACK = 1e-9
_WIDEST = 1e15  # of what a row usually adds to a column: the largest entry. 32 digits hold squares


def _beyond(design: Design) -> bool:
    """Whether offsets, sentinels and weights hide what some rows say from 32 digits."""
    heavy, light = design.root_weights.max(), design.root_weights.min()
    for column in (design.x, design.y, *design.controls.T):
        away = np.abs(column - np.median(column))
        if np.any(away > 0):
            usual = float(np.median(away[away > 0])) * light
            if float(np.abs(column).max()) / _WIDEST * heavy > usual:
                return True
        if has_close_rows(column, len(column) // 4, _WIDEST):
            return True
    return False


class RegressionBoxes(Oracle):
    """Asks the engine about boxes of coefficients; kept units become removed ones here."""

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        design = problem.moments.design
        self._prover = Prover(problem, resources)  # for the thresholds of a range
        self._groups = None if design.units is None else design.unit

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        """Few controls, least squares, and columns that 32 digits hold."""
        most = MOST_FOR_A_SIGN if isinstance(problem.condition, SlopeBeyond) else MOST_CONTROLS
        design = problem.moments.design
        if isinstance(problem, RobustProblem) or not (
            problem.moments.rank >= 1 and design.q <= most
        ):
            return False
        if design.classes is not None:  # they are not among the columns
            return False
        falls = isinstance(problem.condition, R2Beyond) and problem.condition.sign < 0
        return not falls and not _beyond(design)

    is_search = True

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        for at_least in (True, False) if fewest == most else (True,):
            found = self._ask(fewest, most, at_least, patience)
            if found.refuted:
                return found
            usable = None if found.removal is None else self._usable(found.removal, most)
            if usable is not None:
                return Decision(usable)
        return UNDECIDED

    def _usable(self, removal: Ints, most: int) -> Ints | None:
        """The removal, or one near it, if it breaks the claim."""
        if isinstance(self.problem.condition, CorrelationBelow):
            return repair_overshoot(self.problem, removal, most)
        return removal if self.problem.broken(removal) else None

    def _ask(self, fewest: int, most: int, at_least: bool, patience: float) -> Decision:
        condition, design = self.problem.condition, self.problem.moments.design
        k = design.size - most
        settings: dict[str, Any] = {
            "k_or_more": at_least, "groups": self._groups, "weights": design.weights,
            "patience": patience,
        }  # fmt: skip
        if isinstance(condition, R2Beyond):
            return self._ask_r2(condition, k, settings)
        assert isinstance(condition, (SlopeBeyond, CorrelationAbove, CorrelationBelow))
        mix = (1.0, 0.0, 0.0, float(condition.sign))
        if isinstance(condition, SlopeBeyond):
            mix = (1.0, 0.0, -condition.sign * condition.beta, float(condition.sign))
            settings |= {"side": "above", "t": min(condition.margin - SLACK, 0.0)}
        elif isinstance(condition, CorrelationAbove):
            settings |= {"side": "above", "mix": mix}
            return self._ask_above(condition, fewest, most, settings)
        else:
            t = self._prover.threshold_below(condition, most) + SLACK
            if t >= 1:
                return UNDECIDED
            answer = self._by_products(t, k, settings)
            if answer is not None:
                return answer
            settings |= {"side": "below", "t": t}
        return self._ask_partial(k, mix=mix, **settings)

    def _ask_above(
        self, condition: CorrelationAbove, fewest: int, most: int, settings: dict[str, Any]
    ) -> Decision:
        """With the lowest threshold, and where that is too low, with the rank that is left."""

        def ask(t: float) -> Decision:
            k = self.problem.moments.design.size - most
            return REFUTED if t >= 1 else self._ask_partial(k, t=max(t, 0.0), **settings)

        least = self._prover.least_threshold_above(condition, fewest) - SLACK
        found = ask(least)
        if found.removal is None or self.problem.broken(found.removal):
            return found
        t = self._prover.threshold_above(condition, fewest, most) - SLACK
        return ask(t) if t > least else found

    def _ask_partial(self, k: int, **settings: Any) -> Decision:
        """About the partial correlation of two combinations of x and y."""
        design = self.problem.moments.design
        z = np.ascontiguousarray(design.controls)
        return self._engine(_core.regression_partial, design.x, design.y, z, k, **settings)

    def _by_products(self, t: float, k: int, settings: dict[str, Any]) -> Decision | None:
        """r below t, one tau at a time, as a sign; None where no tau is left."""
        condition, (x, y) = self.problem.condition, self.problem.moments.scale
        assert isinstance(condition, CorrelationBelow)
        if not min(x, y) > 0:
            return None

        def ask(p: Pair, q: Pair) -> Decision:
            mix = (p[0] / x, p[1] / y, q[0] / x, q[1] / y)
            return self._ask_partial(k, side="above", t=0.0, mix=mix, **settings)

        def place(removal: Ints) -> tuple[float, float] | None:
            own = self.problem.residuals(removal)
            if not (own.a > 1e-12 and own.b > 1e-12):
                return None
            return condition.sign * own.c / math.sqrt(own.a * own.b), math.sqrt(own.b / own.a)

        return correlation_below(t, condition.sign, 1.0, ask, place, enough=t)

    def _ask_r2(self, condition: R2Beyond, k: int, settings: dict[str, Any]) -> Decision:
        design = self.problem.moments.design
        at = design.intercept
        others = [i for i in range(design.q) if i != at]
        columns = np.column_stack([design.controls[:, others], design.x])
        return self._engine(
            _core.regression_fit, columns, design.y, k, objective="r2", intercept=at is not None,
            above=max(condition.threshold - SLACK, 0.0), **settings,
        )  # fmt: skip

    def _engine(self, question: Any, *columns: Any, patience: float, **settings: Any) -> Decision:
        """A removal that the engine names, that there is none, or OutOfPatience."""
        resources = self.resources
        resources.check()
        found = question(
            *columns, **settings, seed=resources.seed, n_jobs=resources.n_jobs,
            progress=resources.report, time_limit=resources.within(patience),
            memory_limit=resources.memory_limit,
        )  # fmt: skip
        resources.nodes += int(found["nodes"])
        if len(found["inliers"]):
            kept = np.zeros(self.problem.moments.design.size, dtype=bool)
            kept[found["inliers"]] = True
            return Decision(np.flatnonzero(~kept))
        if found["decided"]:
            return REFUTED
        raise resources.stopped(str(found["status"]))


# Up to which all pairs are worth their time where boxes may decide: 6,000 rows with 4 controls are
# closed in 4 s of processor time, and not in 6 without; 12,000 with 2 take 6 s instead of 2.
_UNITS_BESIDE_BOXES = 8_000


class ManyControls(Oracle):
    """The bound at the root, and a search from it."""

    finds = False

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._prover = Prover(problem, resources)
        large = problem.moments.design.size > _UNITS_BESIDE_BOXES
        self._large = large and RegressionBoxes.handles(problem)

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        return not isinstance(problem, RobustProblem)

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        return self._prove(fewest, most, math.inf, branch=False).proved

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        verdict = self._prove(fewest, most, patience, branch=True)
        if verdict.removal is not None and self.problem.broken(verdict.removal):
            return Decision(removal=verdict.removal)
        return Decision(refuted=verdict.proved)

    def _prove(self, fewest: int, most: int, patience: float, branch: bool) -> FormProof:
        self.resources.check()
        if self._large:
            return FormProof(False)
        return self._prover.refute(fewest, most, patience, branch)

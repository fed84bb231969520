"""A bound for any number of controls, by branching on units: it refutes, and finds a removal only
where it fails for one."""

from __future__ import annotations

import math

from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.many_controls_form import FormProof
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.oracles import Decision, Oracle
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.resources import Resources

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

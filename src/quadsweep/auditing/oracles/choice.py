"""The oracles there are, best first; and what must happen first."""

from __future__ import annotations

import math

import numpy as np

from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle, first_decision
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.estimating import LinkBoxes, RobustBoxes
from quadsweep.auditing.oracles.likelihood_bound import LikelihoodBound
from quadsweep.auditing.oracles.many_controls import ManyControls
from quadsweep.auditing.oracles.plane import Plane
from quadsweep.auditing.oracles.refits import Refits
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.oracles.two_values import TwoValues
from quadsweep.auditing.resources import OutOfPatience, Resources


class NecessaryCondition(Oracle):
    """No removal that leaves the sign as it is makes the other sign significant.

    It refutes and finds nothing; trying every removal is left to the problem itself.
    """

    finds = False
    is_necessary = True

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._oracles = [
            [o for o in oracles_for(sign, resources) if not isinstance(o, (Refits, Enumeration))]
            for sign in problem.necessary
        ]
        self._beside = RobustBoxes.handles(problem)  # which have a bound of their own
        self._fewest = [math.inf] * len(self._oracles)  # units that are known to change it

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        nothing = np.zeros(0, dtype=np.int64)
        return bool(problem.necessary) and not any(
            sign.broken(nothing) for sign in problem.necessary
        )

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        refuted = (any(o.refutes_at_once(fewest, most) for o in each) for each in self._oracles)
        return not self._beside and all(refuted)

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        for i, oracles in enumerate(self._oracles):
            if most >= self._fewest[i]:
                return UNDECIDED
            found, impatient = first_decision(oracles, fewest, most, patience)
            if found.removal is not None:
                self._fewest[i] = len(found.removal)
            if impatient:
                raise OutOfPatience
            if not found.refuted:
                return UNDECIDED
        return REFUTED


ORACLES: tuple[type[Oracle], ...] = (
    RegressionBoxes,
    Refits,
    RobustBoxes,
    NecessaryCondition,
    ManyControls,
    Enumeration,
)


def oracles_for(problem: BreakProblem, resources: Resources) -> list[Oracle]:
    """The oracles that have something to say about a problem. The engine of the plane is so much
    faster than other searches that only the sign and enumeration are left to ask after it."""
    if not problem.linear:
        kinds: tuple[type[Oracle], ...] = (Refits, LinkBoxes, LikelihoodBound, NecessaryCondition)
    else:
        kinds = (
            (TwoValues, Plane, NecessaryCondition, Enumeration)
            if Plane.handles(problem)
            else ORACLES
        )
    return [oracle(problem, resources) for oracle in kinds if oracle.handles(problem)]

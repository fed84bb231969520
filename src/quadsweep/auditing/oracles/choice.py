"""The oracles there are, best first; and what must happen first."""

from __future__ import annotations

import math

import numpy as np

from quadsweep.auditing.case import Case
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle, asked
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.estimating import LinkBoxes, RobustBoxes
from quadsweep.auditing.oracles.likelihood_bound import LikelihoodBound
from quadsweep.auditing.oracles.many_controls import ManyControls
from quadsweep.auditing.oracles.plane import Plane
from quadsweep.auditing.oracles.refits import Refits
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.oracles.two_values import TwoValues
from quadsweep.auditing.resources import OutOfPatience, Resources


class First(Oracle):
    """No removal that leaves the sign as it is makes the other sign significant.

    It refutes and finds nothing; trying every removal is left to the case itself.
    """

    finds = False
    is_first = True

    def __init__(self, case: Case, resources: Resources) -> None:
        super().__init__(case, resources)
        self._ways = [
            [o for o in oracles_for(sign, resources) if not isinstance(o, (Refits, Enumeration))]
            for sign in case.first
        ]
        self._beside = RobustBoxes.handles(case)  # which have a bound of their own
        self._fewest = [math.inf] * len(self._ways)  # units that are known to change it

    @classmethod
    def handles(cls, case: Case) -> bool:
        nothing = np.zeros(0, dtype=np.int64)
        return bool(case.first) and not any(sign.broken(nothing) for sign in case.first)

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        refuted = (any(o.refutes_at_once(fewest, most) for o in way) for way in self._ways)
        return not self._beside and all(refuted)

    def decide(self, fewest: int, most: int) -> Decision:
        for i, way in enumerate(self._ways):
            if most >= self._fewest[i]:
                return UNDECIDED
            found, impatient = asked(way, fewest, most)
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
    First,
    ManyControls,
    Enumeration,
)


def oracles_for(case: Case, resources: Resources) -> list[Oracle]:
    """Those that have something to say about a case. The engine of the plane is so much faster than
    other searches that only the sign and enumeration are left to ask after it."""
    if not case.linear:
        kinds: tuple[type[Oracle], ...] = (Refits, LinkBoxes, LikelihoodBound, First)
    else:
        kinds = (TwoValues, Plane, First, Enumeration) if Plane.handles(case) else ORACLES
    return [oracle(case, resources) for oracle in kinds if oracle.handles(case)]

"""The oracles there are, best first; and what must happen first."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import SlopeBeyond
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.instruments import InstrumentProblem
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle, first_decision
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.estimating import LinkBoxes, RobustBoxes
from quadsweep.auditing.oracles.known_variances import KnownVariances
from quadsweep.auditing.oracles.likelihood_bound import LikelihoodBound
from quadsweep.auditing.oracles.plane import PlaneSearch
from quadsweep.auditing.oracles.refits import Refits
from quadsweep.auditing.oracles.regression import ManyControls, RegressionBoxes
from quadsweep.auditing.oracles.scores import ScoreSearch
from quadsweep.auditing.oracles.single_rows import SingleRows
from quadsweep.auditing.oracles.two_values import TwoValues
from quadsweep.auditing.resources import OutOfPatience, Resources

_WEIGHTS = 12  # tried for one question about two forms
_SLACK = 1e-9  # of a correlation: rounding of the mean of two outcomes


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


class BothSigns(Oracle):
    """Decides whether the two forms of an instrumented coefficient have given signs at once.

    Both are covariances c1 and c2 with the instrument given the same controls, and are to be
    positive, so their mean by any weights is too: that of the instrument and one outcome,
    w y1 + (1 - w) y2. If no removal makes it positive for one w, none makes both. A removal that
    makes the mean positive and one of the two not excludes all w on one side, and the next w lies
    in the middle of those left.
    """

    is_search = True

    problem: InstrumentProblem

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._oracles: dict[float, list[Oracle]] = {}
        self._one_sided: list[tuple[int, float, bool]] = []  # size, w, and whether w is the highest
        self._weight = 1.0  # the last one that decided anything
        self._exclude(np.zeros(0, dtype=np.int64))

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        return isinstance(problem, InstrumentProblem)

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        for _ in range(_WEIGHTS):
            weight = self._next_weight(most)
            if weight is None:
                return UNDECIDED
            found, impatient = first_decision(self._oracles_at(weight), fewest, most, patience)
            if impatient:
                raise OutOfPatience
            if found.removal is None:
                self._weight = weight
                return found
            if self.problem.broken(found.removal):
                return found
            if not self._exclude(found.removal):
                return UNDECIDED
        return UNDECIDED

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        weight = self._next_weight(most)
        return weight is not None and any(
            oracle.refutes_at_once(fewest, most) for oracle in self._oracles_at(weight)
        )

    def _next_weight(self, most: int) -> float | None:
        """The last weight where it is not excluded, or the middle of those that are not."""
        highest = min([1.0, *(w for size, w, top in self._one_sided if top and size <= most)])
        lowest = max([0.0, *(w for size, w, top in self._one_sided if not top and size <= most)])
        if lowest < self._weight <= highest:
            return self._weight
        return (lowest + highest) / 2 if lowest < highest else None

    def _exclude(self, removal: Ints) -> bool:
        """Exclude the weights that one removal speaks against; False where there are none."""
        one, two = self._covariances(removal)
        if (one > 0) == (two > 0):
            return False
        self._one_sided.append((len(removal), two / (two - one), one > 0))
        return True

    def _covariances(self, removal: Ints) -> list[float]:
        """Those of both forms, each in its own scale, positive where they have the sign wanted."""
        forms = self.problem.without_units(removal)
        return [s * form.c for s, form in zip(self.problem.signs, forms, strict=True)]

    def _oracles_at(self, weight: float) -> list[Oracle]:
        """Those about the outcome that is the mean of both, by some weights."""
        if weight not in self._oracles:
            design, mean = self.problem.moments.design, np.zeros(self.problem.moments.design.n)
            signed = zip((weight, 1 - weight), self.problem.signs, self.problem.parts, strict=True)
            for share, sign, part in signed:
                y, scale = part.moments.design.y, part.moments.scale[1]
                mean += share * sign / scale * design.centred(y)
            moments = Moments(replace(design, y=mean), self.resources.check)
            problem = BreakProblem(moments, SlopeBeyond(0.0, -_SLACK, 1))
            oracles = oracles_for(problem, self.resources)
            self._oracles[weight] = [o for o in oracles if not isinstance(o, Enumeration)]
        return self._oracles[weight]


OF_TESTS: tuple[type[Oracle], ...] = (
    KnownVariances, SingleRows, Refits, RobustBoxes, ScoreSearch, NecessaryCondition, Enumeration,
)  # fmt: skip
OF_LEAST_SQUARES: tuple[type[Oracle], ...] = (
    SingleRows, RegressionBoxes, NecessaryCondition, ManyControls, Enumeration,
)  # fmt: skip


def oracles_for(problem: BreakProblem, resources: Resources) -> list[Oracle]:
    """The oracles that have something to say about a problem. The engine of the plane is so much
    faster than other searches that only the sign and enumeration are left to ask after it."""
    if isinstance(problem, InstrumentProblem):
        kinds: tuple[type[Oracle], ...] = (BothSigns, Enumeration)
    elif problem.is_refitted:
        kinds = (NecessaryCondition, Enumeration)
    elif not problem.linear:
        kinds = (Refits, LinkBoxes, LikelihoodBound, NecessaryCondition)
    elif isinstance(problem, RobustProblem):
        kinds = OF_TESTS
    elif PlaneSearch.handles(problem):
        kinds = (TwoValues, PlaneSearch, NecessaryCondition, Enumeration)
    else:
        kinds = OF_LEAST_SQUARES
    return [oracle(problem, resources) for oracle in kinds if oracle.handles(problem)]

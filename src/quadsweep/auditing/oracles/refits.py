"""Every removal of a few units, refitted: a proof for any standard errors and controls.

The compiled half updates the fit from removal to removal (``_core/estimating/removals.hpp``); what
rounding leaves open is decided in rational arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.likelihood import LikelihoodProblem
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.clock import Stopped

_SECONDS = 20.0  # what is tried without a limit on time takes no longer, about
_AT_ONCE = 0.5  # and no longer than this for a bound that costs little
_SPEED = 1e9  # numbers touched a second, about, until it is measured
_MEASURED = 0.1  # seconds that tell the speed
_ENDLESS = 10**200  # removals, or more
_UNCLEAR = 2_000  # removals that are decided in rational arithmetic


class Refits(Oracle):
    """Tries all removals of 1, 2, ... units, as long as they are few."""

    problem: RobustProblem | LikelihoodProblem

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        self._order = np.argsort(-problem.influence()[0], kind="stable").tolist()
        self._refuted: set[int] = set()
        self._speed = _SPEED * resources.n_jobs

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        return isinstance(problem, (RobustProblem, LikelihoodProblem)) and problem.test.usable

    def seconds(self, m: int) -> float:
        """How long all removals of m units take, about."""
        design, rank = self.problem.moments.design, self.problem.moments.rank
        each = design.n * (rank + 10)
        if isinstance(self.problem, LikelihoodProblem):
            each = 5 * design.n * ((rank + 3) ** 2 + 20)
        elif self.problem.errors.kind in ("HC2", "HC3"):
            each += design.n * rank * (rank + 2)
        ways = min(math.comb(design.size, m), _ENDLESS)
        return ways * each / self._speed

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        quick = most - fewest < 64 and self._needed(fewest, most) < _AT_ONCE
        return quick and self.decide(fewest, most, math.inf).refuted

    def _needed(self, fewest: int, most: int) -> float:
        sizes = (m for m in range(fewest, most + 1) if m not in self._refuted)
        return math.fsum(self.seconds(m) for m in sizes)

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        allowed = self.resources.time_left() if self.resources.is_limited else _SECONDS
        if most - fewest >= 64 or (needed := self._needed(fewest, most)) > allowed:
            return UNDECIDED
        if needed > max(self.resources.within(patience), _AT_ONCE):
            raise OutOfPatience
        for m in range(fewest, most + 1):
            decision = REFUTED if m in self._refuted else self._all(m)
            if not decision.refuted:
                return decision
            self._refuted.add(m)
        return REFUTED

    def _all(self, m: int) -> Decision:
        resources = self.resources
        resources.check()
        expected, start = self.seconds(m), resources.gone()
        found = _core.try_all(
            self.problem.test.core, self._order, m, most_unclear=_UNCLEAR, n_jobs=resources.n_jobs,
            time_limit=resources.time_left(), progress=resources.count,
        )  # fmt: skip
        resources.nodes += int(found["count"])
        decision = settled(self.problem, found)
        if decision.refuted:
            took = resources.gone() - start
            self._speed *= expected / took if took > _MEASURED else 1.0
            resources.refitted[m] = int(found["count"])
        return decision


def settled(problem: BreakProblem, found: dict[str, Any]) -> Decision:
    """What a search of the compiled half has found, the removals it leaves open decided exactly."""
    for units in [found["breaking"], *found["unclear"]]:
        removal: Ints = np.sort(np.array(units, dtype=np.int64))
        if units and problem.broken(removal):
            return Decision(removal)
    if found["complete"]:
        return REFUTED
    if found["status"] not in ("optimal",):
        raise Stopped(str(found["status"]))
    return UNDECIDED

"""A bound for any number of controls, by branching on units: it refutes and finds nothing.

Where no proof covers a test, what must happen first is refuted: a coefficient that is significant
with one sign has that sign, whatever its standard error.
"""

from __future__ import annotations

import math
import sys
import time

from quadsweep.auditing.case import Case
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.remaining import MOST_PAIRS
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.resources import OutOfPatience, Resources

MOST_NODES = 2_000  # of one question, without a limit on time
_PAIRS_BESIDE_BOXES = 1_000  # units up to which a bound by pairs is worth its time


class ManyControls(Oracle):
    """The bound at the root, and a search from it."""

    finds = False

    def __init__(self, case: Case, resources: Resources) -> None:
        super().__init__(case, resources)
        first = case.first if isinstance(case, RobustCase) else case
        assert first is not None
        pairs = _PAIRS_BESIDE_BOXES if RegressionBoxes.handles(first) else MOST_PAIRS
        nodes = sys.maxsize if resources.is_limited else MOST_NODES
        self._end = math.inf
        self._prover = Prover(first, self._check, most_nodes=nodes, most_pairs=pairs)

    @classmethod
    def handles(cls, case: Case) -> bool:
        return not isinstance(case, RobustCase) or case.first is not None

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        return self._refutes(fewest, most, branch=False)

    def decide(self, fewest: int, most: int) -> Decision:
        return REFUTED if self._refutes(fewest, most, branch=True) else UNDECIDED

    def _refutes(self, fewest: int, most: int, branch: bool) -> bool:
        self._end = time.perf_counter() + (self.resources.for_a_question() if branch else math.inf)
        before = self._prover.nodes
        verdict = self._prover.refute(fewest, most, branch)
        self.resources.nodes += self._prover.nodes - before
        return verdict.proved

    def _check(self) -> None:
        self.resources.check()
        if time.perf_counter() > self._end:
            raise OutOfPatience

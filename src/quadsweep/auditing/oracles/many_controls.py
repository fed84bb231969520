"""A bound for any number of controls, by branching on units: it refutes and finds nothing.

Where no proof covers a test, what must happen first is refuted: a coefficient that is significant
with one sign has that sign, whatever its standard error.
"""

from __future__ import annotations

from quadsweep.auditing.case import Case
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.resources import Resources

_UNITS_BESIDE_BOXES = 2_000  # up to which all pairs are worth their time where boxes decide anyway


class ManyControls(Oracle):
    """The bound at the root, and a search from it."""

    finds = False

    def __init__(self, case: Case, resources: Resources) -> None:
        super().__init__(case, resources)
        first = case.first if isinstance(case, RobustCase) else case
        assert first is not None
        self._prover = Prover(first, resources)
        self._large = first.moments.design.size > _UNITS_BESIDE_BOXES
        self._large &= RegressionBoxes.handles(first)

    @classmethod
    def handles(cls, case: Case) -> bool:
        return not isinstance(case, RobustCase) or case.first is not None

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        return self._refutes(fewest, most, branch=False)

    def decide(self, fewest: int, most: int) -> Decision:
        return REFUTED if self._refutes(fewest, most, branch=True) else UNDECIDED

    def _refutes(self, fewest: int, most: int, branch: bool) -> bool:
        self.resources.check()
        if self._large:
            return False
        return self._prover.refute(fewest, most, branch).proved

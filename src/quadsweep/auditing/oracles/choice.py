"""The oracles there are, best first."""

from __future__ import annotations

from quadsweep.auditing.case import Case
from quadsweep.auditing.oracles import Oracle
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.estimating import LinkBoxes, RobustBoxes
from quadsweep.auditing.oracles.many_controls import ManyControls
from quadsweep.auditing.oracles.plane import Plane
from quadsweep.auditing.oracles.refits import Refits
from quadsweep.auditing.oracles.regression import RegressionBoxes, SignBoxes
from quadsweep.auditing.resources import Resources

ORACLES: tuple[type[Oracle], ...] = (
    RegressionBoxes,
    Refits,
    RobustBoxes,
    SignBoxes,
    ManyControls,
    Enumeration,
)


def oracles_for(case: Case, resources: Resources) -> list[Oracle]:
    """Those that have something to say about a case. The engine of the plane is so much faster than
    other searches that only enumeration is left to ask after it."""
    if not case.linear:
        kinds: tuple[type[Oracle], ...] = (Refits, LinkBoxes)
    else:
        kinds = (Plane, Enumeration) if Plane.handles(case) else ORACLES
    return [oracle(case, resources) for oracle in kinds if oracle.handles(case)]

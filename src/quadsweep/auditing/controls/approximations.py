"""What the usual approximations make of a claim about a coefficient: neither proves anything.

``one-step (AMIP)``  influences at all rows, added up: what zaminfluence computes
``greedy``           one unit at a time, with refit
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing.baselines import GREEDY, ONE_STEP, Approximation
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import CorrelationAbove, CorrelationBelow
from quadsweep.auditing.controls.proposals import greedy_path

_MOST = 2_000  # removals tried one after the other


@dataclass(frozen=True)
class GroupApproximation(Approximation):
    """The same, of groups."""

    unit: ClassVar[str] = "group"


def approximations(cases: Sequence[Case], most: int) -> tuple[Approximation, ...]:
    """Both, each by the way of breaking the claim that it finds easier."""
    return (
        _easier([one_step(case, most) for case in cases]),
        _easier([greedy(case, most) for case in cases]),
    )


def _easier(tried: list[Approximation]) -> Approximation:
    return min(tried, key=lambda a: (a.needed or math.inf, a.predicted or math.inf))


def one_step(case: Case, most: int) -> Approximation:
    """Influences at all rows, added up."""
    design = case.moments.design
    effect, start = case.influence()
    order = np.argsort(-effect, kind="stable")[:most]
    rows = np.cumsum(np.bincount(design.unit, minlength=design.size)[order])
    past = np.zeros(len(order))
    if isinstance(case.condition, (CorrelationAbove, CorrelationBelow)):
        used = case.moments.rank + design.fixed + 1
        way = 1 if isinstance(case.condition, CorrelationAbove) else -1
        past = np.array([way * case.condition.threshold(max(1, design.n - int(r) - used))
                         for r in rows])  # fmt: skip
    reached = np.flatnonzero(start + np.cumsum(effect[order]) > past)
    predicted = int(reached[0]) + 1 if len(reached) else None
    tried = min(len(order), _MOST)
    needed = next((m for m in range(1, tried + 1) if _breaks(case, order[:m])), None)
    return _kind(case)(ONE_STEP, predicted, needed, tried, most)


def greedy(case: Case, most: int) -> Approximation:
    """One unit at a time, with refit."""
    gone: list[int] = []
    for unit in greedy_path(case, most, lambda: None):
        gone.append(unit)
        if _breaks(case, np.array(gone)):
            return _kind(case)(GREEDY, None, len(gone), len(gone), most)
    return _kind(case)(GREEDY, None, None, len(gone), most)


def _breaks(case: Case, removal: Ints) -> bool:
    ordered = np.sort(removal)
    return case.excess(ordered) > -1e-6 and case.broken(ordered)


def _kind(case: Case) -> type[Approximation]:
    return Approximation if case.moments.design.units is None else GroupApproximation

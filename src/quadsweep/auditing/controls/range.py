"""How far m removals can move a coefficient, with all controls refitted.

From above by concentration: remove the m units that are most in the way of a coefficient beyond the
best known one, refit, repeat. Then the engine, or with many controls the bound of ``remaining``,
is asked for a removal that takes it a step further, with ever larger steps, until there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import SlopeBeyond
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.proposals import lowest
from quadsweep.auditing.controls.reading import read
from quadsweep.auditing.controls.remaining import Unclear
from quadsweep.auditing.controls.report import units_limit
from quadsweep.auditing.controls.robust import TermFit, fit_term
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.clock import Stopped
from quadsweep.inputs import validation
from quadsweep.progress import Removals, watching
from quadsweep.results.formatting import ResultMixin, aligned, known

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEP = 1e-6  # in units of sd(y) / sd(x), given the controls
_WIDENINGS = 10
_STEPS = 30
_PATIENCE = 5.0  # seconds for one question, after which a wider bound is asked for
_NODES = 50
_MARGIN = 1e-9  # of a correlation: what the engine's thresholds are loosened by


@dataclass(frozen=True, eq=False)
class Reach:
    """Of the coefficient, for each m: values that some removal attains, and that none exceeds."""

    low: Floats
    high: Floats
    low_bound: Floats
    high_bound: Floats


@dataclass(frozen=True, eq=False)
class CoefficientCurve(ResultMixin):
    """How far up to m removals can move a coefficient.

    Attributes
    ----------
    m : array
        Numbers of rows or groups removed, from 0.
    slope : Reach
        Of the coefficient.
    full : TermFit
        Of all rows.
    status : str
        ``optimal`` when all bounds are proved to a step of the values; ``undecided``,
        ``time_limit`` or ``interrupted`` otherwise.
    n : int
        Rows or groups.
    seconds : float
    term : str
    """

    m: Ints
    slope: Reach
    full: TermFit
    status: str
    n: int
    seconds: float
    term: str

    def _columns(self) -> dict[str, Any]:
        return {
            "share": self.m / self.n,
            **{
                f"slope_{end}": getattr(self.slope, end)
                for end in ("low", "high", "low_bound", "high_bound")
            },
        }

    def grid(self) -> list[Sequence[str]]:
        """The values attained, and the bounds."""
        s = self.slope
        return [
            ("removed", f"coefficient of {self.term}", "nothing outside"),
            *(
                (f"{m}", f"{low:.4g} to {high:.4g}", f"{below:.4g} to {above:.4g}")
                for m, low, high, below, above in zip(
                    self.m.tolist(), s.low, s.high, s.low_bound, s.high_bound, strict=True
                )
            ),
        ]

    def table(self) -> str:
        """The grid as text."""
        return aligned(self.grid())

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked, and how much of it is proved."""
        return [
            ("all rows", str(self.full)),
            ("removed", f"up to {len(self.m) - 1:,} of {self.n:,}"),
            ("status", self.status),
            ("search", f"{self.seconds:.3g} s"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "term": self.term,
            "n": self.n,
            "full": self.full.to_dict(),
            "m": self.m.tolist(),
            **{name: known(column) for name, column in self._columns().items()},
            "status": self.status,
            "seconds": self.seconds,
        }

    def to_frame(self) -> Any:
        """One row for every m, in pandas (or polars where that is what there is)."""
        from quadsweep.inputs.frames import table

        return table({"m": self.m, **self._columns()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """A funnel around the coefficient of all rows."""
        from quadsweep.plotting.audit import plot_funnel

        return plot_funnel(self, "slope", ax=ax)  # type: ignore[arg-type]


def coefficient_curve(
    x: Any, y: Any, *, max_drop: Any, time_limit: Any, n_jobs: Any, seed: int, nan_policy: str,
    progress: Any, **regression: Any,
) -> CoefficientCurve:  # fmt: skip
    """The smallest and largest coefficient that removing up to m rows or groups can reach."""
    given = read(x, y, nan_policy=nan_policy, **regression)
    design = given.design
    most = min(max(1, design.size // 20), 20, units_limit(None, design))
    if max_drop is not None:
        most = units_limit(max_drop, design)
    moments = Moments(design)
    full = fit_term(design, np.arange(design.n), given.errors)
    ends: list[list[tuple[float, float]]] = []
    status = "optimal"
    with watching(progress, Removals()) as callback:

        def report(nodes: int, seconds: float) -> object:
            return callback(len(ends) - 1, most, nodes, seconds) if callback else None

        resources = Resources(
            validation.seconds(time_limit), n_jobs=validation.jobs(n_jobs), seed=seed,
            callback=report, patience=_PATIENCE,
        )  # fmt: skip
        climbers = [Climber(moments, resources, sign, full.slope) for sign in (-1, +1)]
        ends.append([(full.slope, full.slope)] * 2)
        try:
            for m in range(1, most + 1):
                ends.append([climber.climb(m) for climber in climbers])
        except Stopped as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
    if status == "optimal" and not all(climber.close for climber in climbers):
        status = "undecided"
    table = np.array(ends)
    return CoefficientCurve(
        np.arange(len(ends)),
        Reach(table[:, 0, 0], table[:, 1, 0], table[:, 0, 1], table[:, 1, 1]),
        full,
        status,
        design.size,
        resources.gone(),
        design.term,
    )


class Climber:
    """The largest coefficient times ``sign`` with up to m units removed, for m = 1, 2, ..."""

    def __init__(self, moments: Moments, resources: Resources, sign: int, start: float) -> None:
        self._moments, self._resources, self._sign = moments, resources, sign
        self._best, self._value = np.zeros(0, dtype=np.int64), start
        self._unit = moments.scale[1] / moments.scale[0]
        self.close = True  # whether every bound so far is a small step away

    def climb(self, m: int) -> tuple[float, float]:
        """The value attained, and one that no removal of up to m units exceeds."""
        self._concentrate(m)
        wider, margin, more = 0, *self._margin(m)
        while wider <= _WIDENINGS:
            beyond = self._value + self._sign * _STEP * 8**wider * self._unit
            answer = self._ask(m, beyond, margin)
            if answer.refuted:
                self.close &= wider <= 1
                return self._value, beyond + self._sign * more
            if answer.removal is None or not self._offer(answer.removal):
                wider += 1
        self.close = False
        return self._value, self._sign * math.inf

    def _margin(self, m: int) -> tuple[float, float]:
        """A margin that makes questions quick, and what it may hide of a coefficient: as much of
        sqrt(b / a). None where a may be small."""
        x = self._moments.x
        try:
            least = Prover(self._case(0.0)).root(x, x).least(m)
        except Unclear:
            least = 0.0
        return (_MARGIN, _MARGIN * self._unit / math.sqrt(least)) if least > 1e-4 else (0.0, 0.0)

    def _concentrate(self, m: int) -> None:
        removal = self._best
        for _ in range(_STEPS):
            self._resources.check()
            removal = lowest(self._case(self._value).gain(removal), m)
            if not self._offer(removal):
                return

    def _offer(self, removal: Ints) -> bool:
        gone = self._moments.design.rows(removal)
        sums = self._moments.without(gone)
        if sums is not None:
            value = sums.c / sums.a * self._unit if sums.freedom >= 1 else math.nan
        else:
            exact = self._moments.exact(gone)
            value = float(exact.c / exact.a) if exact.a > 0 and exact.freedom >= 1 else math.nan
        if math.isnan(value):
            return False
        if self._sign * (value - self._value) <= 1e-12 * self._unit:
            return False
        self._best, self._value = removal, value
        return True

    def _case(self, beta: float) -> Case:
        return Case(self._moments, SlopeBeyond(beta, 0.0, self._sign))

    def _ask(self, m: int, beta: float, margin: float) -> Decision:
        """A removal of up to m units that takes the coefficient beyond beta, or that none does."""
        case = Case(self._moments, SlopeBeyond(beta, margin, self._sign))
        prover = Prover(case, self._resources.check, most_nodes=_NODES)
        if prover.refute(1, m, branch=False).proved:
            return REFUTED
        if not RegressionBoxes.handles(case):
            return Decision(refuted=prover.refute(1, m).proved)
        try:
            return RegressionBoxes(case, self._resources).decide(1, m)
        except OutOfPatience:
            return UNDECIDED

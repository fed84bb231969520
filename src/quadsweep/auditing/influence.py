"""The influence curve: how far can m removals move the result?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.controls.range import CoefficientCurve, coefficient_curve
from quadsweep.auditing.controls.reading import is_regression
from quadsweep.auditing.decisions import Asker
from quadsweep.auditing.exact import ExactPoints
from quadsweep.auditing.extremes import (
    Climber,
    Extreme,
    largest_r,
    largest_slope,
    least_r2_on_the_way,
)
from quadsweep.auditing.fit import Fit, fit
from quadsweep.auditing.rows import drop_limit, pose_audit
from quadsweep.clock import Stopped
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import arranged
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import Removals, SearchProgress, watching
from quadsweep.results.formatting import ResultMixin, aligned, known

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PATIENCE = 5.0  # seconds for one question, after which a wider bound is asked for
STATISTICS = ("slope", "r", "r2")
_PROVED = {
    "optimal": "proved: no removal of as many rows goes beyond the bounds",
    "time_limit": "the time limit ended the curve; what is shown is proved",
    "interrupted": "interrupted; what is shown is proved",
}


@dataclass(frozen=True, eq=False)
class Range:
    """The range of a statistic over all removals of up to m rows, for each m.

    Attributes
    ----------
    low, high : values that some removal attains.
    low_bound, high_bound : values that no removal exceeds.
    """

    low: Floats
    high: Floats
    low_bound: Floats
    high_bound: Floats


@dataclass(frozen=True, eq=False)
class InfluenceCurve(ResultMixin):
    """How far up to m removals can move slope, r and R2.

    Attributes
    ----------
    m : array
        Numbers of rows removed, from 0.
    slope, r, r2 : Range
    full : Fit
        Of all rows.
    status : str
        ``optimal`` when all bounds are proved for every m asked for; ``undecided`` where a bound
        is only what no value can exceed (infinity for a slope, 1 for r); ``time_limit`` or
        ``interrupted`` when the curve ends early.
    n : int
    seconds : float
    names : tuple of two strings
    """

    m: Ints
    slope: Range
    r: Range
    r2: Range
    full: Fit
    status: str
    n: int
    seconds: float
    names: tuple[str, ...] = field(default=("x", "y"))

    def rows(self) -> list[dict[str, float]]:
        """One dictionary for each m: the values attained and the bounds."""
        columns = self._columns()
        return [
            {"m": m, **{name: float(column[i]) for name, column in columns.items()}}
            for i, m in enumerate(self.m.tolist())
        ]

    def _columns(self) -> dict[str, Floats]:
        columns = {"share": self.m / self.n}
        for name in STATISTICS:
            ranges: Range = getattr(self, name)
            for end in ("low", "high", "low_bound", "high_bound"):
                columns[f"{name}_{end}"] = getattr(ranges, end)
        return columns

    def grid(self) -> list[Sequence[str]]:
        """The values attained; bounds agree to the digits shown unless marked with ``~``."""
        cells = [
            (f"{row['m']:.0f}", *(_cell(row, name) for name in STATISTICS)) for row in self.rows()
        ]
        return [("removed", "slope", "r", "R²"), *cells]

    def table(self) -> str:
        """The grid as text."""
        return aligned(self.grid())

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked, and how much of it is proved."""
        lines = [
            ("all rows", str(self.full)),
            ("removed", f"up to {len(self.m) - 1:,} of {self.n:,} rows"),
            ("certificate", _PROVED[self.status]),
        ]
        if "~" in self.table():
            lines.append(("~", "its bound is beyond the values shown, which were attained"))
        return [*lines, ("search", f"{self.seconds:.3g} s")]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
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

    def plot(self, ax: Axes | None = None, statistic: str = "slope") -> Axes:
        """A funnel around the value of all rows."""
        from quadsweep.plotting.audit import plot_funnel

        return plot_funnel(self, statistic, ax=ax)


def _cell(row: dict[str, float], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    apart = max(low - row[f"{name}_low_bound"], row[f"{name}_high_bound"] - high)
    mark = "~" if apart > 1e-4 * max(abs(low), abs(high), high - low) else ""
    return f"{low:.4g} to {high:.4g}{mark}"


def influence_curve(
    points: Any = None,
    /,
    y: Any = None,
    *,
    x: Any = None,
    controls: Any = None,
    groups: Any = None,
    weights: Any = None,
    data: Any = None,
    term: str | None = None,
    max_drop: int | float | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: SearchProgress = False,
) -> InfluenceCurve | CoefficientCurve:
    """The largest and smallest slope, r and R2 that removing up to m rows can reach, with bounds.

    Parameters
    ----------
    points, x, y : as in :func:`quadsweep.audit`.
    controls, groups, weights, data, term : as in :func:`quadsweep.audit`.
        With any of them but ``data``, or a formula or a fitted model, the curve is that of the
        term's coefficient.
    max_drop : int or float, optional
        The largest m, a number or a share of n; 5 % of n but at most 20 if left out.
    time_limit, n_jobs, seed, nan_policy, progress : as in :func:`quadsweep.solve`.
        A limit keeps the part of the curve that is finished. A callable is given (m, largest m,
        nodes, seconds).

    Returns
    -------
    InfluenceCurve, or CoefficientCurve where there is more than one predictor

    Notes
    -----
    Values and bounds of slope and r differ by 1e-6 at most (of a correlation; slopes in units of
    sd(y)/sd(x)) unless the engine could not decide, and then by what it could. The smallest R2 is
    0 or more as soon as r can take either sign: its bound is 0, the value the smallest one seen.

    Examples
    --------
    >>> import quadsweep as qs
    >>> curve = qs.influence_curve([1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20], max_drop=1)
    >>> [f"{v:.3f}" for v in curve.slope.low]
    ['0.860', '-1.000']
    """
    x, y, data = arranged("influence_curve", points, x, y, data, models=True)
    regression = {"controls": controls, "groups": groups, "weights": weights, "term": term}
    if is_regression(x, **regression):
        return coefficient_curve(
            x, y, data=data, **regression, vcov=None, max_drop=max_drop, time_limit=time_limit,
            n_jobs=n_jobs, seed=seed, nan_policy=nan_policy, progress=progress,
        )  # fmt: skip
    x, y, data = loaded("influence_curve", x, y, data)
    question = pose_audit(x, y, data, n_jobs=n_jobs, seed=seed, nan_policy=nan_policy)
    sample, n = question.points, question.points.n
    default = min(max(1, n // 20), 20, n - 3)
    most = default if max_drop is None else drop_limit(max_drop, n)
    settings: dict[str, Any] = {
        "n_jobs": question.problem.n_jobs,
        "seed": question.problem.seed,
        "time_limit": validation.seconds(time_limit),
    }
    found: list[dict[str, Extreme]] = []
    status = "optimal"
    with watching(progress, Removals()) as callback:

        def report(nodes: int, seconds: float) -> object:
            return callback(len(found) - 1, most, nodes, seconds) if callback else None

        asker = Asker(ExactPoints(sample.x, sample.y), callback=report, **settings)
        turned = Asker(ExactPoints(sample.x, -sample.y), callback=report, **settings)
        asker.patience = turned.patience = _PATIENCE
        climbers = _climbers(asker, turned)
        try:
            found.append({name: climber.best for name, climber in climbers.items()})
            for m in range(1, most + 1):
                found.append({name: climber.climb(m) for name, climber in climbers.items()})
        except Stopped as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
    if status == "optimal" and not all(e.proved for f in found for e in f.values()):
        status = "undecided"
    slope = _range([f["slope+"] for f in found], [f["slope-"] for f in found])
    r = _range([f["r+"] for f in found], [f["r-"] for f in found])
    seen = [least_r2_on_the_way(asker.points, f["r+"].kept, f["r-"].kept) for f in found]
    return InfluenceCurve(
        np.arange(len(found)),
        slope,
        r,
        _squared(r, np.minimum.accumulate(np.array(seen))),
        fit(sample.x, sample.y),
        status,
        n,
        asker.seconds,
        question.given.names,
    )


def _climbers(asker: Asker, turned: Asker) -> dict[str, Climber]:
    return {
        "slope+": largest_slope(asker, +1),
        "slope-": largest_slope(asker, -1),
        "r+": largest_r(asker, turned, +1),
        "r-": largest_r(asker, turned, -1),
    }


def _range(highest: list[Extreme], lowest: list[Extreme]) -> Range:
    return Range(
        np.array([-e.value for e in lowest]),
        np.array([e.value for e in highest]),
        np.array([-e.bound for e in lowest]),
        np.array([e.bound for e in highest]),
    )


def _squared(r: Range, seen: Floats) -> Range:
    """The range of r^2 from that of r, and the smallest values seen."""
    either = (r.low_bound < 0) & (r.high_bound > 0)
    nearest = np.minimum(r.low_bound**2, r.high_bound**2)
    return Range(
        seen,
        np.maximum(r.low**2, r.high**2),
        np.where(either, 0.0, nearest),
        np.maximum(r.low_bound**2, r.high_bound**2),
    )

"""How far can m removals move the result?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.auditing.climbing import (
    Climber,
    CorrelationClimber,
    Extreme,
    SlopeClimber,
    least_r2_on_the_way,
)
from quadsweep.auditing.controls.reading import is_regression, read
from quadsweep.auditing.controls.robust import fit_term
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import Fit, fit
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.rows import two_columns, units_limit
from quadsweep.clock import Stopped
from quadsweep.inputs.arguments import arranged
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, counting
from quadsweep.results.formatting import ResultMixin, aligned, as_frame, attributes, plain

_ENDS = ("low", "high", "low_bound", "high_bound")
_PROVED = {
    "optimal": "proved: no removal of as many rows goes beyond the bounds",
    "undecided": "some bounds are wide: no better ones could be proved",
    "time_limit": "the time limit ended the curve; what is shown is proved",
    "memory_limit": "the memory limit ended the curve; what is shown is proved",
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

    @classmethod
    def between(cls, lowest: list[Extreme], highest: list[Extreme]) -> Range:
        """From the largest values of the statistic and of its negative."""
        return cls(
            np.array([-e.value for e in lowest]),
            np.array([e.value for e in highest]),
            np.array([-e.bound for e in lowest]),
            np.array([e.bound for e in highest]),
        )

    def squared(self, seen: Floats) -> Range:
        """The range of the square, given the smallest values seen."""
        either = (self.low_bound < 0) & (self.high_bound > 0)
        nearest = np.minimum(self.low_bound**2, self.high_bound**2)
        return Range(
            seen,
            np.maximum(self.low**2, self.high**2),
            np.where(either, 0.0, nearest),
            np.maximum(self.low_bound**2, self.high_bound**2),
        )


@dataclass(frozen=True, eq=False)
class Curve(ResultMixin):
    """What both curves share; see :class:`quadsweep.InfluenceCurve`."""

    statistics: ClassVar[tuple[str, ...]] = ("slope",)

    m: Ints
    slope: Range
    full: Fit
    status: str
    n: int
    seconds: float

    def rows(self) -> list[dict[str, float]]:
        """One dictionary for each m: the values attained and the bounds."""
        columns = self._columns()
        return [
            {"m": m, **{name: float(column[i]) for name, column in columns.items()}}
            for i, m in enumerate(self.m.tolist())
        ]

    def _columns(self) -> dict[str, Floats]:
        columns = {"share": self.m / self.n}
        for name in self.statistics:
            columns |= {f"{name}_{end}": getattr(getattr(self, name), end) for end in _ENDS}
        return columns

    def table(self) -> str:
        """The grid as text."""
        return aligned(self.grid())

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked, and how much of it is proved."""
        return [
            ("all rows", str(self.full)),
            ("removed", f"up to {len(self.m) - 1:,} of {self.n:,} rows"),
            ("certificate", _PROVED[self.status]),
            ("search", f"{self.seconds:.3g} s"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            **attributes(self, "n full m"),
            **plain(self._columns()),
            **attributes(self, "status seconds"),
        }

    def to_frame(self) -> Any:
        """One row for every m, in pandas (or polars where that is what there is)."""
        return as_frame({"m": self.m, **self._columns()})

    def plot(self, ax: Axes | None = None, statistic: str = "slope") -> Axes:
        """A funnel around the value of all rows."""
        from quadsweep.plotting.audit import plot_funnel

        return plot_funnel(self, statistic, ax=ax)


@dataclass(frozen=True, eq=False, kw_only=True)
class InfluenceCurve(Curve):
    """How far up to m removals can move slope, r and R2.

    Attributes
    ----------
    m : array
        Numbers of rows removed, from 0.
    slope, r, r2 : Range
    full : Fit
        Of all rows.
    status : str
        ``optimal`` when for every m the bounds are proved and near the values; ``undecided`` where
        a bound is wide, or only what no value can exceed (infinity for a slope, 1 for r);
        ``time_limit``, ``memory_limit`` or ``interrupted`` when the curve ends early.
    n : int
    seconds : float
    names : tuple of two strings
    """

    statistics: ClassVar[tuple[str, ...]] = ("slope", "r", "r2")

    r: Range
    r2: Range
    names: tuple[str, ...] = field(default=("x", "y"))

    def grid(self) -> list[Sequence[str]]:
        """The values attained; bounds agree to the digits shown unless marked with ``~``."""
        cells = [
            (f"{row['m']:.0f}", *(_cell(row, name) for name in self.statistics))
            for row in self.rows()
        ]
        return [("removed", "slope", "r", "R²"), *cells]

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked, and how much of it is proved."""
        items = super().summary_items()
        if "~" in self.table():
            remark = ("~", "its bound is beyond the values shown, which were attained")
            items.insert(-1, remark)
        return items


def _cell(row: dict[str, float], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    apart = max(low - row[f"{name}_low_bound"], row[f"{name}_high_bound"] - high)
    mark = "~" if apart > 1e-4 * max(abs(low), abs(high), high - low) else ""
    return f"{low:.4g} to {high:.4g}{mark}"


@dataclass(frozen=True, eq=False, kw_only=True)
class CoefficientCurve(Curve):
    """How far up to m removals can move a coefficient.

    Attributes
    ----------
    m : array
        Numbers of rows or groups removed, from 0.
    slope : Range
        Of the coefficient.
    full : TermFit
        Of all rows.
    status : str
        As in :class:`quadsweep.InfluenceCurve`.
    n : int
        Rows or groups.
    seconds : float
    term : str
    """

    term: str

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"term": self.term, **super().to_dict()}


_PATIENCE = 5.0  # seconds for one question, after which a wider bound is asked for


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
    progress: CountProgress = None,
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
    time_limit, n_jobs, seed, nan_policy, progress : as in :func:`quadsweep.solve`; a callable is
        given (done, total, seconds).
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
    resources = Resources.given(time_limit, n_jobs, seed, patience=_PATIENCE)
    x, y, data = arranged("influence_curve", points, x, y, data, models=True)
    regression = {"controls": controls, "groups": groups, "weights": weights, "term": term}
    of_term = is_regression(x, **regression)
    if of_term:
        given = read(x, y, data=data, **regression, vcov=None, nan_policy=nan_policy)
        given.least_squares("influence_curve")
    else:
        given = two_columns(*loaded("influence_curve", x, y, data), nan_policy=nan_policy)
    design, moments = given.design, Moments(given.design, resources.check)
    kinds: dict[str, type[Climber]] = {"slope": SlopeClimber}
    if not of_term:
        kinds["r"] = CorrelationClimber
    climbers = {
        f"{way}{name}": climber(moments, resources, -1 if way else +1)
        for name, climber in kinds.items()
        for way in ("-", "")
    }
    found, status = _climb(climbers, _most(max_drop, design), resources, progress)
    m, slope = np.arange(len(found["slope"])), Range.between(found["-slope"], found["slope"])
    if of_term:
        of_all = fit_term(design, np.arange(design.n), given.errors)
        took = resources.gone()
        return CoefficientCurve(m, slope, of_all, status, design.size, took, term=design.term)
    r = Range.between(found["-r"], found["r"])
    ends = zip(found["r"], found["-r"], strict=True)
    seen = [least_r2_on_the_way(moments, high.removal, low.removal) for high, low in ends]
    r2, names = r.squared(np.minimum.accumulate(np.array(seen))), (design.term, design.outcome)
    full = fit(design.x, design.y)
    took = resources.gone()
    return InfluenceCurve(m, slope, full, status, design.n, took, r=r, r2=r2, names=names)


def _most(max_drop: Any, design: Design) -> int:
    """The largest m: as given, or 5 % of what there is but at most 20."""
    most = units_limit(max_drop, design)
    return min(max(1, design.size // 20), 20, most) if max_drop is None else most


def _climb(
    climbers: dict[str, Climber], most: int, resources: Resources, progress: Any
) -> tuple[dict[str, list[Extreme]], str]:
    """The extremes of each climber for m = 0, 1, ..., as far as the limits allow; the status."""
    found = [{name: climber.best for name, climber in climbers.items()}]
    status = "optimal"
    with counting(progress, "numbers of removals") as tick:
        resources.callback = lambda nodes, seconds: tick(len(found) - 1, most, seconds)
        try:
            for m in range(1, most + 1):
                found.append({name: climber.climb(m) for name, climber in climbers.items()})
        except Stopped as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
    if status == "optimal" and not all(e.is_close for e in found[-1].values()):
        status = "undecided"
    return {name: [each[name] for each in found] for name in climbers}, status

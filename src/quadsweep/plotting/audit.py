"""An audit on the data, and the funnel of the influence curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.plotting.canvas import (
    INLIER,
    LINE,
    OUTLIER,
    PALE,
    REGION,
    both_sides,
    frame,
    legend_below,
    literal,
    name_axes,
    tidy_axes,
    titled,
    whole_ticks,
)
from quadsweep.plotting.labels import name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.auditing.curves import Curve
    from quadsweep.auditing.fit import Fit
    from quadsweep.auditing.result import Audit

_TITLES = {"slope": "slope", "r": "correlation r", "r2": "R²"}


def plot_audit(audit: Audit, ax: Axes | None = None) -> Axes:
    """The rows removed, and the line with and without them."""
    ax = tidy_axes(ax)
    kept, gone = audit.mask, audit.outliers
    used = np.isfinite(audit.x) & np.isfinite(audit.y)
    frame(ax, audit.x[used], audit.y[used])
    both_sides(ax, audit.x, audit.y, np.flatnonzero(kept), gone, audit.n, "removed")
    _line(ax, audit.before, "line of all rows", color=PALE, linestyle=(0, (5, 3)))
    if audit.after is not None and len(gone):
        _line(ax, audit.after, "line without the removed", color=LINE)
    called = gone if audit.labels is None else [audit.labels[i] for i in gone]
    name_points(ax, audit.x, audit.y, gone, called)
    name_axes(ax, audit.names)
    titled(ax, literal(audit.message.replace(". ", ".\n", 1)))
    legend_below(ax)
    return ax


def _line(ax: Axes, line: Fit, label: str, **style: Any) -> None:
    if np.isfinite(line.slope):
        ax.axline(
            (0.0, line.intercept), slope=line.slope, label=label, zorder=2, linewidth=1.3, **style
        )


def plot_funnel(curve: Curve, statistic: str = "slope", ax: Axes | None = None) -> Axes:
    """What up to m removals can reach, around the value of all rows.

    Parameters
    ----------
    curve : InfluenceCurve or CoefficientCurve
    statistic : {"slope", "r", "r2"}
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    if statistic not in _TITLES:
        raise ValueError(f"statistic must be one of {', '.join(_TITLES)}; got {statistic!r}")
    ax = tidy_axes(ax)
    reach = getattr(curve, statistic)
    low, high = (np.where(np.isfinite(b), b, v) for b, v in (
        (reach.low_bound, reach.low), (reach.high_bound, reach.high)
    ))  # fmt: skip
    ax.fill_between(
        curve.m, low, high, color=REGION, linewidth=0, label="nothing outside: proved", zorder=1
    )
    ax.plot(
        curve.m, reach.high, "o-", color=INLIER, markersize=3, linewidth=1, label="attained",
        zorder=3,
    )  # fmt: skip
    ax.plot(curve.m, reach.low, "o-", color=INLIER, markersize=3, linewidth=1, zorder=3)
    ax.axhline(
        getattr(curve.full, statistic), color=PALE, linestyle=(0, (5, 3)), linewidth=1.3,
        label="all rows", zorder=2,
    )  # fmt: skip
    if low.min() < 0 < high.max():
        ax.axhline(0, color=OUTLIER, linewidth=0.8, zorder=2)
    whole_ticks(ax, "x")
    ax.set_xlabel(f"rows removed, of {curve.n:,}")
    ax.set_ylabel(_TITLES[statistic])
    titled(ax, f"How far can removals move the {_TITLES[statistic]}?")
    legend_below(ax)
    return ax

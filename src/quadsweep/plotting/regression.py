"""An audit with controls: the added-variable plot of the term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.plotting.canvas import (
    LINE,
    PALE,
    both_sides,
    frame,
    legend_below,
    literal,
    tidy_axes,
    titled,
)
from quadsweep.plotting.labels import name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.auditing.result import RegressionAudit


def plot_regression(audit: RegressionAudit, ax: Axes | None = None) -> Axes:
    """What the controls leave of the term and of the outcome, on all rows.

    The coefficient of all rows is the slope of the dashed line; that without the removed rows, with
    the controls refitted, is the slope of the solid one, drawn through the middle of the rows kept.
    """
    from quadsweep.auditing.moments import Moments

    assert audit.design is not None
    design = audit.design
    moments = Moments(design)
    x = moments.x * moments.scale[0] / design.root_weights
    y = moments.y * moments.scale[1] / design.root_weights
    ax = tidy_axes(ax)
    frame(ax, x, y)
    used = np.flatnonzero(np.isfinite(audit.x))
    gone = np.isin(used, audit.outliers)
    away = np.flatnonzero(gone)
    both_sides(ax, x, y, np.flatnonzero(~gone), away, audit.n, "removed")
    _line(ax, (0.0, 0.0), audit.before.slope, "line of all rows", color=PALE, linestyle=(0, (5, 3)))
    if audit.after is not None and gone.any():
        middle = (float(x[~gone].mean()), float(y[~gone].mean()))
        _line(ax, middle, audit.after.slope, "line without the removed", color=LINE)
    called = used[away] if audit.labels is None else [audit.labels[i] for i in used[away]]
    name_points(ax, x, y, away, called)
    given = "" if len(audit.controls) < 2 else ", given the controls"
    ax.set_xlabel(f"{literal(audit.names[0])}{given}")
    ax.set_ylabel(f"{literal(audit.names[1])}{given}")
    titled(ax, literal(audit.message), 10)
    legend_below(ax)
    return ax


def _line(ax: Axes, at: tuple[float, float], slope: float, label: str, **style: Any) -> None:
    if np.isfinite(slope):
        ax.axline(at, slope=slope, label=label, zorder=2, linewidth=1.3, **style)

"""The line of the kept points with its bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, LINE, REGION
from quadsweep.plotting.labels import name_outliers

if TYPE_CHECKING:
    from quadsweep.choosing.intervals import Bootstrap


def plot_bootstrap(answer: Bootstrap, ax: Axes | None = None) -> Axes:
    """Draw the points, the line, where the line may be and where rows like those kept may be."""
    ax = canvas.tidy_axes(ax)
    result = answer.result
    canvas.frame(ax, result.x[result.used], result.y[result.used])
    at = np.linspace(*ax.get_xlim(), 80)
    wide, narrow = answer.prediction_band(at), answer.confidence_band(at)
    ax.fill_between(
        at, wide.low, wide.high, color=REGION, alpha=0.6, linewidth=0, zorder=1,
        label="95%, rows like those kept",
    )  # fmt: skip
    ax.fill_between(
        at, narrow.low, narrow.high, color=INLIER, alpha=0.35, linewidth=0, zorder=1.5,
        label="95%, the line",
    )  # fmt: skip
    ax.plot(at, narrow.line, color=LINE, linewidth=1.3, zorder=2, label="line of kept")
    canvas.both_sides(ax, result.x, result.y, result.inliers, result.outliers, result.n)
    canvas.name_axes(ax, result.names)
    low, high = answer.interval("slope")
    canvas.titled(
        ax,
        f"slope {result.slope:.4g}, 95% interval {low:.4g} to {high:.4g}\n"
        f"{result.k:,} of {result.n:,} points chosen again in {answer.resamples:,} draws",
    )
    canvas.legend_below(ax)
    name_outliers(ax, result)
    return ax

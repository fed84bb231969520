"""The line of the kept points with its bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.plotting.canvas import (
    INLIER,
    LINE,
    OUTLIER,
    REGION,
    axes_or_new,
    dropped_size,
    frame,
    kept_size,
    literal,
    tidy,
)
from quadsweep.plotting.labels import name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.choosing.intervals import Bootstrap


def plot_bootstrap(answer: Bootstrap, ax: Axes | None = None) -> Axes:
    """Draw the points, the line, where the line may be and where rows like those kept may be.

    Parameters
    ----------
    answer : Bootstrap
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    ax = axes_or_new(ax)
    tidy(ax)
    result = answer.result
    frame(ax, result.x[result.used], result.y[result.used])
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
    for rows, marker, colour, size, label in (
        (result.inliers, "o", INLIER, kept_size(result.n), "kept"),
        (result.outliers, "X", OUTLIER, dropped_size(len(result.outliers)), "dropped"),
    ):
        if len(rows):
            ax.scatter(
                result.x[rows], result.y[rows], s=size, marker=marker, color=colour,
                edgecolors="white", linewidths=0.5, zorder=3, label=f"{label} ({len(rows):,})",
                rasterized=result.n > 5_000,
            )  # fmt: skip
    ax.set_xlabel(literal(result.names[0]))
    ax.set_ylabel(literal(result.names[1]))
    low, high = answer.interval("slope")
    ax.set_title(
        f"slope {result.slope:.4g}, 95% interval {low:.4g} to {high:.4g}\n"
        f"{result.k:,} of {result.n:,} points chosen again in {answer.resamples:,} draws",
        loc="left", fontsize=11, color=LINE,
    )  # fmt: skip
    ax.legend(fontsize=8, framealpha=0.7, edgecolor="none", loc="best").set_zorder(2.5)
    called = [result.label(i) for i in result.outliers]
    name_points(ax, result.x, result.y, result.outliers, called)
    return ax

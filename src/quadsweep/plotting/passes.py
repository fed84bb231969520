"""An answer about rows that are not in memory: those of its first part, and the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.plotting.canvas import (
    INLIER,
    LINE,
    OUTLIER,
    axes_or_new,
    dropped_size,
    frame,
    kept_size,
    literal,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.passes.result import StreamedResult

_MOST = 5_000


def plot_streamed(result: StreamedResult, ax: Axes | None = None) -> Axes:
    """Draw some rows of the first part: kept, left out, and the line of all rows kept."""
    ax = axes_or_new(ax)
    tidy(ax)
    kept, whole = result.decision.flags(result.source, 0, None)
    x, y = result.source.read(0)
    some = np.flatnonzero(whole)
    some = some[:: -(-len(some) // _MOST)]
    x, y, kept = x[some], y[some], kept[some]
    frame(ax, x, y)
    ax.scatter(x[kept], y[kept], s=kept_size(len(x)), color=INLIER, label="kept", rasterized=True)
    size = dropped_size(int((~kept).sum()))
    ax.scatter(x[~kept], y[~kept], s=size, color=OUTLIER, marker="X", label="dropped")
    if np.isfinite(result.slope):
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, result.slope * ends + result.intercept, color=LINE, label="line of kept")
    ax.set_xlabel(literal(result.names[0]))
    ax.set_ylabel(literal(result.names[1]))
    ax.set_title(f"{len(x):,} of {result.n:,} rows; {result.title} {result.value:.4g} of all kept")
    ax.legend(frameon=False)
    return ax

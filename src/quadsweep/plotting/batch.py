"""The optima of many data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.objectives import get
from quadsweep.plotting.canvas import INLIER, tidy_axes, titled, whole_ticks

if TYPE_CHECKING:
    from quadsweep.solving.many import BatchResult


def plot_batch(batch: BatchResult, ax: Axes | None = None) -> Axes:
    """Histogram of the values."""
    ax = tidy_axes(ax)
    values = batch.values[np.isfinite(batch.values)]
    bins = int(np.clip(2 * len(values) ** 0.4, 5, 40))
    ax.hist(values, bins, color=INLIER, edgecolor="white", linewidth=0.6)
    title, n = get(batch.objective).title, batch.masks.shape[1]
    ax.set_xlabel(f"best {title} of {batch.k:,} of {n:,} points")
    ax.set_ylabel("data sets")
    whole_ticks(ax, "y")
    proved = int((batch.status == "optimal").sum())
    titled(ax, f"{len(batch):,} data sets, {proved:,} proved")
    return ax

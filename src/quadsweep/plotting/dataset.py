"""A data set as it comes, before anything is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.plotting.canvas import INLIER, LINE, axes_or_new, frame, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.datasets import Dataset


def plot_dataset(data: Dataset, ax: Axes | None = None) -> Axes:
    """The points.

    Parameters
    ----------
    data : Dataset
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    ax = axes_or_new(ax)
    tidy(ax)
    frame(ax, data.x, data.y)
    size = float(np.clip(3000 / len(data.x), 2, 34))
    ax.scatter(data.x, data.y, s=size, color=INLIER, edgecolors="white", linewidths=0.6, zorder=3)
    ax.set_xlabel(data.names[0])
    ax.set_ylabel(data.names[1])
    ax.set_title(f"{len(data.x):,} points", loc="left", fontsize=11, color=LINE)
    return ax

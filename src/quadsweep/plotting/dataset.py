"""A data set as it comes, before anything is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.least_squares import fit
from quadsweep.plotting.canvas import INLIER, frame, tidy_axes, titled

if TYPE_CHECKING:
    from quadsweep.datasets import Dataset


def plot_dataset(data: Dataset, ax: Axes | None = None) -> Axes:
    """The points."""
    ax = tidy_axes(ax)
    across, name = data.x, data.names[0]
    if data.x.ndim == 2:
        plane = fit(data.x, data.y)
        across, name = data.x @ plane.coef + plane.intercept, "fitted to all rows"
    frame(ax, across, data.y)
    size = float(np.clip(3000 / len(data.x), 2, 34))
    ax.scatter(across, data.y, s=size, color=INLIER, edgecolors="white", linewidths=0.6, zorder=3)
    ax.set_xlabel(name)
    ax.set_ylabel(data.names[-1])
    titled(ax, f"{len(data.x):,} points")
    return ax

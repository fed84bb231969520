"""The points, coloured by how often they are dropped when the data change a little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, MANY, OUTLIER, PALE
from quadsweep.plotting.labels import name_outliers

if TYPE_CHECKING:
    from quadsweep.choosing.stability import Stability

_EDGED = 0.02  # points dropped less often than this have no edge


def plot_stability(answer: Stability, ax: Axes | None = None) -> Axes:
    """Draw the points of a stability study.

    Parameters
    ----------
    answer : Stability
        Circles are the optimum's inliers, crosses its outliers; the more often a point was dropped,
        the larger.
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    from matplotlib.colors import LinearSegmentedColormap

    ax = canvas.tidy_axes(ax)
    result = answer.result
    share = np.nan_to_num(answer.dropped, nan=0.5)
    colours = LinearSegmentedColormap.from_list("dropped", [INLIER, "#d9d9d9", OUTLIER])
    small, large = canvas.kept_size(result.n), canvas.dropped_size(len(result.outliers))
    size = small + (max(large, small) - small) * np.minimum(2 * share, 1.0)
    image = None
    for rows, marker, label in (
        (result.inliers, "o", f"kept ({len(result.inliers):,})"),
        (result.outliers, "X", f"dropped ({len(result.outliers):,})"),
    ):
        if len(rows):
            rows = rows[np.argsort(share[rows], kind="stable")]  # those in doubt on top
            image = ax.scatter(
                result.x[rows], result.y[rows], c=share[rows], marker=marker, cmap=colours,
                s=size[rows] if marker == "o" else large, vmin=0, vmax=1,
                edgecolors=np.where(share[rows] < _EDGED, "none", PALE).tolist(), linewidths=0.4,
                label=label, zorder=3 if marker == "o" else 3.1, rasterized=result.n > MANY,
            )  # fmt: skip
    if image is not None:
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
        bar.set_label("how often dropped (bootstrap)", fontsize=9)
        bar.outline.set_visible(False)
    canvas.name_axes(ax, result.names)
    canvas.titled(ax, _title(answer))
    canvas.legend_below(ax)
    name_outliers(ax, result)
    return ax


def _title(answer: Stability) -> str:
    result = answer.result
    return f"k = {result.k:,} of {result.n:,} points, {answer.resamples:,} resamples"

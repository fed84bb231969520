"""The points, coloured by how often they are dropped when the data change a little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE, axes_or_new, literal, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.choosing.stability import Stability


def plot_stability(answer: Stability, ax: Axes | None = None) -> Axes:
    """Draw the points of a stability study.

    Parameters
    ----------
    answer : Stability
        Circles are the optimum's inliers, crosses its outliers; rings mark points on which
        near-optimal subsets disagree.
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    from matplotlib.colors import LinearSegmentedColormap

    ax = axes_or_new(ax)
    tidy(ax)
    result = answer.result
    colours = LinearSegmentedColormap.from_list("dropped", [INLIER, "#d9d9d9", OUTLIER])
    size = float(np.clip(4000 / result.n, 4, 44))
    image = None
    for rows, marker, label in (
        (result.inliers, "o", f"kept ({len(result.inliers):,})"),
        (result.outliers, "X", f"dropped ({len(result.outliers):,})"),
    ):
        if len(rows):
            image = ax.scatter(
                result.x[rows], result.y[rows], c=np.nan_to_num(answer.dropped[rows], nan=0.5),
                s=size, marker=marker, cmap=colours, vmin=0, vmax=1, edgecolors=PALE,
                linewidths=0.4, label=label, zorder=3,
            )  # fmt: skip
    disputed = np.flatnonzero(answer.disputed)
    if len(disputed):
        ax.scatter(
            result.x[disputed], result.y[disputed], s=3.2 * size, facecolors="none",
            edgecolors=LINE, linewidths=0.8, zorder=2.8, label=f"disputed ({len(disputed):,})",
        )  # fmt: skip
    if image is not None:
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
        bar.set_label(f"how often dropped ({answer.resample})", fontsize=9)
        bar.outline.set_visible(False)
    ax.set_xlabel(literal(result.names[0]))
    ax.set_ylabel(literal(result.names[1]))
    ax.set_title(_title(answer), loc="left", fontsize=11, color=LINE)
    ax.legend(fontsize=8, framealpha=0.7, edgecolor="none", loc="best").set_zorder(2.5)
    return ax


def _title(answer: Stability) -> str:
    result = answer.result
    many = "" if answer.complete else "at least "
    return (
        f"k = {result.k:,} of {result.n:,} points, {answer.resamples:,} resamples\n"
        f"{many}{len(answer.near):,} subset(s) within {answer.margin:.3g} of the best value"
    )

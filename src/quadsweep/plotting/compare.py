"""The points and every method's line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import LINE

if TYPE_CHECKING:
    from quadsweep.paper.compare import Comparison

# Colour, dashes and shape all differ, so that any one of them tells two lines apart.
_STYLES = (
    ("#009e73", (0, (6, 2)), "s"),
    ("#cc79a7", (0, (6, 2, 1, 2)), "^"),
    ("#e69f00", (0, (1, 1.5)), "D"),
    ("#56b4e9", (0, (12, 3)), "v"),
    ("#7a7a7a", (0, (3, 3)), "P"),
    ("#9467bd", (0, (3, 1, 1, 1, 1, 1)), "<"),
    ("#8c564b", (0, (10, 2, 2, 2)), ">"),
    ("#117733", (0, (2, 4)), "h"),
)
_SHAPES = 4  # along each line


def plot_comparison(table: Comparison, ax: Axes | None = None) -> Axes:
    """Draw kept and dropped points of the optimum, and the lines in the table's order."""
    ax = canvas.tidy_axes(ax)
    result = table.result
    canvas.both_sides(ax, result.x, result.y, result.inliers, result.outliers, table.n)
    canvas.frame(ax, result.x[result.used], result.y[result.used])
    _lines(ax, table)
    canvas.name_axes(ax, result.names)
    canvas.titled(
        ax,
        f"lines of {table.k:,} of {table.n:,} points\nR² is that of the k points each would keep",
    )
    canvas.legend_below(ax, 7.5)
    return ax


def _lines(ax: Axes, table: Comparison) -> None:
    """The optimum's line broad and underneath: one that coincides with it is seen on top."""
    drawn = [row for row in table.rows if row.slope is not None and row.intercept is not None]
    for i, row in enumerate(drawn):
        assert row.slope is not None
        assert row.intercept is not None
        r2 = "" if row.r2 is None else f", R² {row.r2:.3g}"
        label = row.method.replace("_", " ") + r2
        xs = _visible(ax, row.slope, row.intercept, i / len(drawn))
        if i == 0:
            style: dict[str, Any] = {"color": LINE, "linewidth": 4.5, "alpha": 0.4, "zorder": 2}
        else:
            colour, dashes, shape = _STYLES[(i - 1) % len(_STYLES)]
            style = {
                "color": colour, "linestyle": dashes, "linewidth": 1.5, "zorder": 2.2,
                "marker": shape, "markersize": 5, "markeredgecolor": "white",
                "markeredgewidth": 0.5, "markevery": slice(1, -1),
            }  # fmt: skip
        ax.plot(xs, row.slope * xs + row.intercept, label=label, **style)


def _visible(ax: Axes, slope: float, intercept: float, phase: float) -> Floats:
    """Places along the part of a line that is seen; other lines' places are between them."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    if slope:
        ends = sorted(((low - intercept) / slope, (high - intercept) / slope))
        left, right = max(left, ends[0]), min(right, ends[1])
    if left >= right:
        return np.array(ax.get_xlim())
    share = (np.arange(_SHAPES) + phase) / (_SHAPES)
    return np.concatenate([[left], left + share * (right - left), [right]])

"""The points and every method's line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, axes_or_new, literal, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.comparators.compare import Comparison

_COLOURS = ("#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a7a", "#9467bd", "#8c564b")
_DASHES = ("--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)))


def plot_comparison(table: Comparison, ax: Axes | None = None) -> Axes:
    """Draw kept and dropped points of the optimum, and the lines in the table's order.

    Parameters
    ----------
    table : Comparison
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    ax = axes_or_new(ax)
    tidy(ax)
    result = table.result
    if result.several:
        return _bars(ax, table)
    for rows, marker, colour, label in (
        (result.inliers, "o", INLIER, f"kept ({len(result.inliers):,})"),
        (result.outliers, "X", OUTLIER, f"dropped ({len(result.outliers):,})"),
    ):
        if len(rows):
            ax.scatter(
                result.x[rows], result.y[rows], s=float(np.clip(3000 / table.n, 3, 30)),
                marker=marker, color=colour, edgecolors="white", linewidths=0.5, label=label,
                zorder=3, rasterized=table.n > 5_000,
            )  # fmt: skip
    xlim, ylim = _limits(result.x), _limits(result.y)
    _lines(ax, table)
    ax.set_xlim(xlim)
    ax.set_ylim(ylim)
    ax.set_xlabel(literal(result.names[0]))
    ax.set_ylabel(literal(result.names[1]))
    ax.set_title(
        f"lines of {table.k:,} of {table.n:,} points\nR² is that of the k points each would keep",
        loc="left", fontsize=11, color=LINE,
    )  # fmt: skip
    ax.legend(fontsize=7.5, framealpha=0.7, edgecolor="none", loc="best").set_zorder(2.5)
    return ax


def _bars(ax: Axes, table: Comparison) -> Axes:
    """Of several predictors: what is left to the optimum, a bar for each method."""
    rows = [row for row in table.rows if row.r2 is not None][::-1]
    names = [row.method.replace("_", " ") for row in rows]
    values = [float(row.r2 or 0.0) for row in rows]
    colours = [LINE if row is table.rows[0] else INLIER for row in rows]
    ax.barh(names, values, color=colours, height=0.6)
    for at, value in enumerate(values):
        ax.annotate(f"{value:.4g}", (value, at), xytext=(4, 0), textcoords="offset points",
                    va="center", fontsize=8)  # fmt: skip
    ax.set_xlim(0.0, 1.1 * max([*values, 1e-9]))
    ax.set_xlabel("R²")
    ax.set_title(
        f"R² of the {table.k:,} of {table.n:,} rows each would keep", loc="left", fontsize=11,
        color=LINE,
    )  # fmt: skip
    return ax


def _lines(ax: Axes, table: Comparison) -> None:
    drawn = [row for row in table.rows if row.slope is not None and row.intercept is not None]
    for i, row in enumerate(drawn):
        assert row.slope is not None
        assert row.intercept is not None
        first = i == 0
        x0 = float(table.result.x[table.result.inliers].mean())
        r2 = "" if row.r2 is None else f", R² {row.r2:.3g}"
        ax.axline(
            (x0, row.slope * x0 + row.intercept), slope=row.slope, zorder=2.2 if first else 2,
            color=LINE if first else _COLOURS[(i - 1) % len(_COLOURS)],
            linewidth=2.2 if first else 1.3,
            linestyle="-" if first else _DASHES[(i - 1) % len(_DASHES)],
            label=row.method.replace("_", " ") + r2,
        )  # fmt: skip


def _limits(values: Floats) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.07 * (high - low) or 0.5
    return low - margin, high + margin

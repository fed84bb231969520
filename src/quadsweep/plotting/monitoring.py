"""Monitoring plots: what a fit does as more rows are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats, Mask
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE
from quadsweep.plotting.labels import name_points

if TYPE_CHECKING:
    from quadsweep.choosing.path import Path

_MOST_NAMED = 12  # rows with a name: those with the largest residuals at the last size


def plot_monitoring(path: Path, ax: Axes | None = None, view: str = "residuals") -> Axes:
    """Draw residuals or coefficients against the number of rows dropped.

    Parameters
    ----------
    path : Path
        Of one or several predictors, by an objective of both columns.
    ax : matplotlib axes, optional
        A new figure if left out.
    view : {"residuals", "coefficients"}
        A line for every row, its residual from the fit of the rows kept, in standard deviations of
        theirs; or a line for every coefficient.
    """
    if path.objective == "var":
        raise ValueError("a monitoring plot is of a fit; 'var' uses x alone")
    if not path.masks.any():
        raise ValueError("the path has no answer to draw")
    ax = canvas.tidy_axes(ax)
    (_draw_residuals if view == "residuals" else _draw_coefficients)(path, ax)
    ax.set_xlabel("points dropped")
    canvas.whole_ticks(ax, "x")
    canvas.legend_below(ax)
    return ax


def _draw_residuals(path: Path, ax: Axes) -> None:
    scaled = _scale(path)
    answered: Mask = np.asarray(path.masks.any(axis=1))
    dropped: Mask = np.asarray(answered[:, None] & ~path.masks)
    end = np.flatnonzero(answered)[-1]  # the last size with an answer
    last: Mask = np.asarray(dropped[end] & np.isfinite(scaled[end]))
    for rows, color, width, label in (
        (~last, PALE, 0.6, "kept at the last size"),
        (last, OUTLIER, 1.1, "dropped at the last size"),
    ):
        lines = ax.plot(path.drop, scaled[:, rows], color=color, linewidth=width, zorder=2 + width)
        if lines:
            lines[0].set_label(f"{label} ({len(lines):,})")
    at = np.where(dropped, scaled, np.nan)
    ax.plot(path.drop, at, "x", color=OUTLIER, markersize=3.5, zorder=4)
    ax.axhline(0.0, color=LINE, linewidth=0.8, zorder=1)
    far = np.argsort(-np.abs(np.nan_to_num(scaled[end])), kind="stable")[:_MOST_NAMED]
    named = far[last[far]]
    labels = path.question.given.labels
    texts = named if labels is None else [labels[i] for i in named]
    name_points(ax, np.full(scaled.shape[1], path.drop[end]), scaled[end], named, texts)
    ax.set_ylabel("residual / standard deviation of the rows kept")
    canvas.titled(ax, "Residuals from the fit of the rows kept; crosses: rows dropped at that size")


def _scale(path: Path) -> Floats:
    """Return residuals in standard deviations of the rows kept, a row for every size."""
    residuals = path.residuals
    squares = np.where(path.masks, residuals, 0.0) ** 2
    free = np.maximum(path.k - path.coef.shape[1] - 1, 1)
    scale = np.sqrt(squares.sum(axis=1) / free)
    return np.asarray(residuals / np.where(scale > 0, scale, np.nan)[:, None])


def _draw_coefficients(path: Path, ax: Axes) -> None:
    names = path.question.given.names
    points = path.question.points
    spread = points.x.reshape(points.n, -1).std(axis=0) / points.y.std()
    one = path.coef.shape[1] == 1
    for j, name in enumerate(names[:-1]):
        values = path.coef[:, j] if one else path.coef[:, j] * spread[j]
        few = len(path) <= 60
        ax.plot(
            path.drop, values, color=INLIER if one else None, marker="o" if few else None,
            markersize=3, linewidth=1.5, label=canvas.literal(name), zorder=3,
        )  # fmt: skip
    ax.axhline(0.0, color=PALE, linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
    outcome = canvas.literal(names[-1])
    unit = "" if one else ", in standard deviations of both columns"
    ax.set_ylabel("slope" if one else "coefficient, standardized")
    canvas.titled(ax, f"Coefficients for {outcome} on the rows kept{unit}")

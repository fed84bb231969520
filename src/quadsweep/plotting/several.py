"""Several predictors in the plane: fitted against observed, residuals, one predictor's own part.

The added-variable plot of a predictor shows y and the predictor, each less what the other
predictors explain. Both are fitted on the rows kept; the least squares line of the kept points in
it is the predictor's coefficient, and a dropped row stands where the plane of the kept puts it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.least_squares import fit
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import LINE
from quadsweep.plotting.labels import name_points
from quadsweep.plotting.result import _title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quadsweep.results.result import Result

KINDS = ("fitted", "residuals", "added")


def plot_several(
    result: Result, ax: Axes | None = None, kind: str | None = None, predictor: str | None = None
) -> Axes:
    """Draw one of the pictures.

    Parameters
    ----------
    result : Result
    ax : matplotlib axes, optional
        A new figure if left out.
    kind : {"fitted", "residuals", "added"}, optional
    predictor : str, optional
        For ``added``.
    """
    if kind is None:
        kind = "fitted" if predictor is None else "added"
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    if kind == "added":
        return _added(result, canvas.axes_or_new(ax), _position(result, predictor))
    if predictor is not None:
        raise ValueError(f"predictor is for kind 'added'; got kind {kind!r}")
    return (_fitted if kind == "fitted" else _residuals)(result, canvas.axes_or_new(ax))


def plot_panels(result: Result) -> Figure:
    """Fitted against observed, residuals, and the added-variable plot of every predictor."""
    import matplotlib.pyplot as plt

    return panels(result, plt.figure(layout="constrained"))


def panels(result: Result, figure: Figure) -> Figure:
    """The panels on a figure of the caller's, sized for them."""
    count = 1 + len(result.names)
    across = 2 if count <= 4 else 3
    down = math.ceil(count / across)
    figure.set_size_inches(4.6 * across, 3.7 * down)
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    _fitted(result, axes[0])
    _residuals(result, axes[1])
    for j, ax in enumerate(axes[2:count]):
        _added(result, ax, j)
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure


def _position(result: Result, predictor: str | None) -> int:
    names = result.names[:-1]
    if predictor is None and len(names) == 1:
        return 0
    if predictor not in names:
        raise ValueError(f"predictor must be one of {', '.join(names)}; got {predictor!r}")
    return names.index(predictor)


def _fitted(result: Result, ax: Axes) -> Axes:
    heights = result.y - result.residuals
    _points(result, ax, heights, result.y)
    ax.axline((0.0, 0.0), slope=1.0, color=LINE, linewidth=1.3, zorder=2, label="fitted = observed")
    ax.set_xlabel("fitted")
    ax.set_ylabel(canvas.literal(result.names[-1]))
    canvas.titled(ax, _title(result))
    canvas.legend_below(ax)
    return ax


def _residuals(result: Result, ax: Axes) -> Axes:
    _points(result, ax, result.y - result.residuals, result.residuals)
    ax.axhline(0.0, color=LINE, linewidth=1.3, zorder=2)
    ax.set_xlabel("fitted")
    ax.set_ylabel("residual")
    canvas.titled(ax, "residuals from the plane of the rows kept")
    return ax


def _added(result: Result, ax: Axes, j: int) -> Axes:
    across, up = added_variable(result, j)
    _points(result, ax, across, up)
    ax.axline((0.0, 0.0), slope=float(result.coef[j]), color=LINE, linewidth=1.3, zorder=2)
    others = " given the others" if len(result.coef) > 1 else ""
    name = canvas.literal(result.names[j])
    ax.set_xlabel(f"{name}{others}")
    ax.set_ylabel(f"{canvas.literal(result.names[-1])}{others}")
    canvas.titled(ax, f"{name}: {result.coef[j]:.4g} on the rows kept")
    return ax


def added_variable(result: Result, j: int) -> tuple[Floats, Floats]:
    """Predictor j and y of all rows, less what the other predictors explain on the rows kept."""
    X = result.x if result.x.ndim == 2 else result.x[:, None]
    kept, others = result.inliers, np.delete(X, j, axis=1)
    weights = None if result.weights is None else result.weights[kept]
    plane = fit(others[kept], X[kept, j], weights, result.fit_intercept)
    left = X[:, j] - others @ plane.coef - plane.intercept
    return left, result.residuals + result.coef[j] * left


def _points(result: Result, ax: Axes, across: Floats, up: Floats) -> None:
    canvas.tidy(ax)
    used = result.used
    canvas.frame(ax, across[used], up[used])
    canvas.both_sides(ax, across, up, result.inliers, result.outliers, result.n)
    rows = np.searchsorted(used, result.outliers)
    name_points(ax, across[used], up[used], rows, [result.label(i) for i in result.outliers])

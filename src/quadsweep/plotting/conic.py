"""A conic: its inner side as a shaded region, its curve as a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.plotting.canvas import INLIER, REGION, axes_or_new, tidy
from quadsweep.results.conic import Conic

_CELLS = 400


def plot_conic(conic: Conic, ax: Axes | None = None, **style: Any) -> Axes:
    """Shade the inliers' side and draw the curve, within the present limits of ``ax``.

    Parameters
    ----------
    conic : Conic
    ax : matplotlib axes, optional
        A new figure if left out, with limits around the centre.
    **style
        Passed on to the curve (color, linewidth, linestyle, ...).
    """
    fresh = ax is None
    ax = axes_or_new(ax)
    from contourpy import contour_generator  # comes with matplotlib

    if fresh:
        _frame(conic, ax)
        tidy(ax)
    xlim, ylim = ax.get_xlim(), ax.get_ylim()
    xs, ys = np.linspace(*xlim, _CELLS), np.linspace(*ylim, _CELLS)
    side = conic(xs[None, :], ys[:, None])
    if side.max() > 0:
        ax.contourf(xs, ys, side, levels=[0.0, float(side.max())], colors=[REGION], zorder=0)
    style = {"color": INLIER, "linewidth": 1.2, "alpha": 0.8, "zorder": 1, **style}
    for piece in contour_generator(xs, ys, side).lines(0.0):
        ax.plot(*np.asarray(piece).T, **style)
    ax.set_xlim(xlim)
    ax.set_ylim(ylim)
    return ax


def _frame(conic: Conic, ax: Axes) -> None:
    """Limits that show the shape of a conic that comes without points."""
    (x0, y0), (sx, sy) = conic.center or conic.origin, conic.scale
    reach = 4.0
    ax.set_xlim(x0 - reach * sx, x0 + reach * sx)
    ax.set_ylim(y0 - reach * sy, y0 + reach * sy)

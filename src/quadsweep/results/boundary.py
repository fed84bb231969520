"""The conic between inliers and outliers, or the reason why there is none.

First the gradient of the objective at the optimum: its level set is the boundary the paper draws,
and it separates all but about one optimum in ten thousand. Where it does not, the plane with the
widest margin under L5, by a linear program. What is returned has been checked on every point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.objectives import Objective
from quadsweep.results.conic import Conic

NO_BOUNDARY = "Nothing is dropped, so there is no boundary."
TWINS = "No conic separates them: an inlier and an outlier are the same point."
TOO_LARGE = "No conic was looked for: the gradient's does not separate, and n is large."
_LARGEST_PROGRAM = 5000


def boundary(
    x: Floats, y: Floats, mask: Mask, objective: Objective | None
) -> tuple[Conic | None, str]:
    """A conic with the points of ``mask`` on its positive side and all others on its negative one.

    A score of the user's own has no gradient: None as the objective.

    Returns
    -------
    conic : Conic or None
    reason : str
        Empty if there is a conic, otherwise a sentence.
    """
    if mask.all():
        return None, NO_BOUNDARY
    if objective is not None and objective.name == "var":
        y = np.zeros_like(x)
    conic = None if objective is None else gradient_conic(x, y, mask, objective)
    if conic is not None and conic.separates(x, y, mask):
        return conic, ""
    if _twins(x, y, mask):
        return None, TWINS
    if len(x) > _LARGEST_PROGRAM:
        return None, TOO_LARGE
    conic = widest_conic(x, y, mask)
    if conic is not None and conic.separates(x, y, mask):
        return conic, ""
    return None, "No conic that separates the inliers from the outliers was found."


def _twins(x: Floats, y: Floats, mask: Mask) -> bool:
    """True if an inlier and an outlier coincide."""
    order = np.lexsort((mask, y, x))
    x, y, mask = x[order], y[order], mask[order]
    return bool(np.any((np.diff(x) == 0) & (np.diff(y) == 0) & (mask[1:] != mask[:-1])))


def gradient_conic(x: Floats, y: Floats, mask: Mask, objective: Objective) -> Conic | None:
    """Level set of the first-order gain, half way between the two sides; None if undefined."""
    xi, yi = x[mask], y[mask]
    sx, sy = float(np.std(xi)) or 1.0, float(np.std(yi)) or 1.0
    if objective.name in ("tv", "dv"):
        sx = sy = max(sx, sy)
    origin = float(np.mean(xi)), float(np.mean(yi))
    u, w = (x - origin[0]) / sx, (y - origin[1]) / sy
    try:
        g = objective.gradient(u[mask], w[mask])
    except ZeroDivisionError:
        return None
    gain = g[0] * u * u + g[1] * u * w + g[2] * w * w
    level = (float(gain[mask].min()) + float(gain[~mask].max())) / 2
    return Conic((*g, 0.0, 0.0, -level), origin, (sx, sy))


def widest_margin(rows: Floats) -> Any:
    """The largest margin in [0, 1] by which all rows are on one side of a plane through the origin
    whose normal is in [-1, 1]^m: scipy's answer, the normal before the margin."""
    from scipy.optimize import linprog

    n, m = rows.shape
    return linprog(
        [0.0] * m + [-1.0],
        A_ub=np.hstack([-rows, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * m + [(0, 1)],
        method="highs",
    )


def widest_conic(x: Floats, y: Floats, mask: Mask) -> Conic | None:
    """The conic with the largest margin under L5, coefficients in [-1, 1], or None."""
    origin = float(np.mean(x)), float(np.mean(y))
    scale = float(np.std(x)) or 1.0, float(np.std(y)) or 1.0
    u, w = (x - origin[0]) / scale[0], (y - origin[1]) / scale[1]
    features = np.column_stack([u * u, u * w, w * w, u, w, np.ones_like(u)])
    features /= np.linalg.norm(features, axis=1)[:, None]
    if not np.isfinite(features).all():
        return None
    program = widest_margin(np.where(mask, 1.0, -1.0)[:, None] * features)
    if program.status != 0 or program.x[6] <= 0:
        return None
    a, b, c, d, e, f = (float(v) for v in program.x[:6])
    return Conic((a, b, c, d, e, f), origin, scale)

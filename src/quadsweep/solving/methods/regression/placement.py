"""All rows in coordinates of the coefficients around the fit of a good subset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.solving.methods.problem import Problem

UNIT = 2.3e-16  # more than the rounding of an operation
_WORST_CONDITION = 1e8


@dataclass(frozen=True)
class Rows:
    """All rows in coordinates of the coefficients in which the fit of those kept is at zero: a
    row's residual at b is r - z.b, and ``kept`` rows have the sum of z z' of a unit matrix.

    The least sum over k rows of squares of residuals, less ``credit``, is asked for.
    """

    z: Floats
    r: Floats
    length: Floats  # of z
    error: tuple[Floats, Floats]  # of r, and of the length of z
    kept: Mask
    credit: Floats
    credit_size: float  # of what it is computed from
    root: Floats  # of the weight, 0 without an intercept
    y: Floats  # less the mean of those kept, times the root of the weight
    y_size: float  # of what its sum of squares is computed from

    @property
    def gone(self) -> int:
        return int(len(self.r) - self.kept.sum())

    def with_credit(self, t: float) -> tuple[Rows, float]:
        """R2 > t needs a sum of squares below (1 - t) times that of y about its mean, and so about
        any number, such as the mean of the rows kept; and the most that k rows are credited."""
        credit, size = (1 - t) * self.y**2, (1 - t) * self.y_size
        most = float(np.sort(credit)[::-1][: len(credit) - self.gone].sum())
        return replace(self, credit=credit, credit_size=size), most + len(credit) * UNIT * size


def place_rows(problem: Problem, inliers: Ints) -> Rows | None:
    """The rows around the fit of some; None where their predictors nearly depend."""
    n, root = problem.n, np.ones(problem.n)
    x, y = problem.x, problem.y
    if problem.weights is not None:
        root = np.sqrt(problem.weights)
    if problem.intercept:
        x, y = x - np.median(x, axis=0), y - np.median(y)
        x = np.column_stack([np.ones(n), x])
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    x, y = x * root[:, None], y * root
    kept = np.zeros(n, dtype=bool)
    kept[inliers] = True
    q, triangle = np.linalg.qr(x[kept])
    scale = np.abs(np.diag(triangle))
    if not scale.min() > 0 or not np.linalg.cond(triangle / scale) < _WORST_CONDITION:
        return None
    basis = np.linalg.inv(triangle)
    coef = basis @ (q.T @ y[kept])
    z, r = x @ basis, y - x @ coef
    unit = (x.shape[1] + 8) * UNIT
    off_r = unit * (np.abs(y) + np.abs(x) @ np.abs(coef))
    off_z = unit * np.linalg.norm(np.abs(x) @ np.abs(basis), axis=1)
    mean = float(root[kept] @ y[kept] / (root[kept] @ root[kept])) if problem.intercept else 0.0
    length = np.linalg.norm(z, axis=1) * (1 + 1e-12) + off_z
    return Rows(
        z, r, length, (off_r, off_z), kept, np.zeros(n), 0.0,
        root * problem.intercept, y - mean * root,
        float(np.sum((np.abs(y) + abs(mean) * root) ** 2)),
    )  # fmt: skip

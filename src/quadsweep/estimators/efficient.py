"""The MM estimate: efficient for normal errors, with the breakdown point of its start.

From the plane of least trimmed squares, with residuals r and Tukey's bisquare rho_c,

    S step    s with  sum rho_1.548(r / s) / (n - p) = 1/2,  and the plane that makes s smallest
              (reweighted least squares from the start): half of the rows may be anything;
    M step    with that s fixed, the plane that makes  sum rho_5.18(r / s)  smallest: 97% of the
              precision of least squares for normal errors (Yohai 1987).

With w the weights of the last step, h the leverages of weighted least squares, psi = rho',

    V = (mean w / mean psi')^2  (X'WX)^-1  X' diag(w r / (1 - h))^2 X  (X'WX)^-1

estimates the variance of the coefficients, whether or not errors have one size (as HC3 does).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.least_squares import Plane, quick_fit

BREAKDOWN = 1.5476450  # tuning constant of the scale: a breakdown point of one half
EFFICIENCY = 5.18  # tuning constant of the weights
CUT_OFF = 2.2414027  # residuals beyond it, in units of the scale, are outliers: 2.5% of normal ones
EXACT = 1e-12  # relative to a row's terms: a residual that is rounding
_STEPS = 200  # of reweighted least squares
_SAME = 1e-7  # change of fitted values, in units of the scale, at which steps end


@dataclass(frozen=True, eq=False)
class Estimate:
    """The MM estimate.

    Attributes
    ----------
    plane : coefficients and intercept.
    scale : standard deviation of the errors; 0 where more than half of the rows lie on a plane.
    weights : of the rows in the last step, in [0, 1].
    inliers : rows within the cut-off of the plane.
    covariance : of the coefficients, then of the intercept; NaN for a dependent column.
    """

    plane: Plane
    scale: float
    weights: Floats
    inliers: Mask
    covariance: Floats


def estimate(
    X: Floats, y: Floats, start: Plane, sample_weight: Floats | None = None, intercept: bool = True
) -> Estimate:
    """Return the MM estimate that begins at a plane of high breakdown point.

    >>> x = np.arange(10.0)
    >>> y = np.where(x == 9, 50.0, 2 * x + np.array([0, 1] * 5))
    >>> start = Plane(np.array([2.0]), 0.5, 0.0, 0.0, np.zeros(0, int))
    >>> found = estimate(x[:, None], y, start)
    >>> int(found.inliers.sum()), round(float(found.plane.coef[0]), 1)
    (9, 2.0)
    """
    given = np.ones(len(y)) if sample_weight is None else sample_weight
    given = given / given.mean()
    columns = X.shape[1] - len(start.dependent) + intercept
    rounding = EXACT * (np.abs(y) + np.abs(X) @ np.abs(start.coef) + abs(start.intercept))
    root = np.sqrt(given)
    scale = _scale(root * start.residuals(X, y), columns)
    if not scale > float(np.median(rounding)):
        on_it = np.abs(start.residuals(X, y)) <= np.maximum(rounding, np.median(rounding))
        zero = np.zeros((X.shape[1] + 1, X.shape[1] + 1))
        return Estimate(start, 0.0, on_it * 1.0, on_it, zero)
    plane = start
    for _ in range(_STEPS):  # the S step: every step lowers the scale
        weights = given * _bisquare(root * plane.residuals(X, y) / (BREAKDOWN * scale))
        step = quick_fit(X, y, weights, intercept)
        lower = _scale(root * step.residuals(X, y), columns)
        if not lower < scale * (1 - _SAME):
            break
        plane, scale = step, lower
    for _ in range(_STEPS):  # the M step
        before = plane.residuals(X, y)
        weights = given * _bisquare(root * before / (EFFICIENCY * scale))
        plane = quick_fit(X, y, weights, intercept)
        if np.abs(plane.residuals(X, y) - before).max() <= _SAME * scale:
            break
    residuals = root * plane.residuals(X, y)
    weights = _bisquare(residuals / (EFFICIENCY * scale))
    covariance = _covariance(X, plane, residuals, weights, root, scale, intercept)
    return Estimate(plane, scale, weights, np.abs(residuals) <= CUT_OFF * scale, covariance)


def _loss(u: Floats) -> float:
    """Sum Tukey's rho, which is 1 for a row beyond the tuning constant."""
    return float(np.sum(1 - np.maximum(1 - u * u, 0.0) ** 3))


def _bisquare(u: Floats) -> Floats:
    """Return Tukey's weights: 1 at zero, 0 beyond one."""
    inside: Floats = np.maximum(1 - u * u, 0.0)
    return inside * inside


def _scale(residuals: Floats, columns: int) -> float:
    """Return the M scale s: sum rho(r / s) = (n - columns) / 2, by fixed-point steps."""
    aim = max(len(residuals) - columns, 1) / 2
    size = np.abs(residuals)
    scale = float(np.median(size)) / 0.6745
    if not scale > 0:
        scale = float(size[size > 0].min(initial=0.0))
    for _ in range(_STEPS):
        if not scale > 0 or np.count_nonzero(size) <= aim:
            return 0.0
        factor = math.sqrt(_loss(size / (BREAKDOWN * scale)) / aim)
        scale *= factor
        if abs(factor - 1) < _SAME:
            break
    return scale


def _covariance(
    X: Floats, plane: Plane, residuals: Floats, weights: Floats, root: Floats, scale: float,
    intercept: bool,
) -> Floats:  # fmt: skip
    """Return V, defined at the top of the file."""
    p = X.shape[1]
    out = np.full((p + 1, p + 1), math.nan)
    free = np.setdiff1d(np.arange(p), plane.dependent)
    columns = X[:, free] * root[:, None]
    if intercept:
        columns = np.column_stack([columns, root])
    size = np.sqrt(np.mean(columns**2, axis=0))
    design = columns / size
    weighted = np.sqrt(weights)[:, None] * design
    inverse = np.linalg.pinv(weighted.T @ weighted, hermitian=True)
    leverage = np.clip(np.einsum("ij,jk,ik->i", weighted, inverse, weighted), 0.0, 0.99)
    u = (residuals / (EFFICIENCY * scale)) ** 2
    slope = float(np.mean(np.where(u < 1, (1 - u) * (1 - 5 * u), 0.0)))
    scores = design * (weights * residuals / (1 - leverage))[:, None]
    turned = scores @ inverse
    found = (float(weights.mean()) / max(slope, 0.1)) ** 2 * (turned.T @ turned)
    found /= size[:, None] * size
    where = [*free, p] if intercept else list(free)
    out[np.ix_(where, where)] = found
    if not intercept:
        out[p] = out[:, p] = 0.0
    return out

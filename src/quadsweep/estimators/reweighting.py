"""Least trimmed squares as an estimator: its scale, the reweighting step, standard errors.

The h rows with the least residual sum of squares give the raw line. With e its residuals, n rows,
and q the (1 + h/n)/2 point of the normal distribution (density f),

    s0 = sqrt(sum of the h smallest e^2 / h) / sqrt(1 - 2 q f(q) n / h) * (finite-sample factor)

is consistent where errors are normal. Rows with |e| <= 2.24 s0 are then fitted again by least
squares, which gives back most of the precision that trimming half of the rows costs: the procedure
of Rousseeuw and Van Driessen (2006) with the factors of Pison, Van Aelst and Willems (2002), as in
``ltsReg`` of R's robustbase.

The reweighted coefficients are to first order a b-th part of the raw ones and an average over the
rows kept; their variance is that of least squares on those rows, times ``_variance_factor``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from quadsweep.arrays import Floats, Mask
from quadsweep.least_squares import Plane, fit

CUT_OFF = float(norm.ppf(0.9875))  # residuals beyond it, in units of the scale, are outliers
EXACT = 1e-12  # of the size of a row's terms: a residual that is rounding

# 1 - exp(a) / n^b for one predictor, at shares 0.5 and 0.875; (with intercept, stage) -> (a, b)
_ONE = {
    (True, "raw"): ((0.630869217886906, 0.650789250442946), (0.565065391014791, 1.03044199012509)),
    (False, "raw"): (
        (-0.0181777452315321, 0.697629772271099),
        (-0.310122738776431, 1.06241615923172),
    ),
    (True, "reweighted"): (
        (1.58609654199605, 1.46340162526468),
        (0.391653958727332, 1.03167487483316),
    ),
    (False, "reweighted"): (
        (0.6329852387657, 1.40361879788014),
        (-0.642240988645469, 0.926325452943084),
    ),
}
# g(q) = alpha / p^beta at n = q p^2 for q = 3 and 5, from which a and b follow; shares 0.5, 0.875
_MORE = {
    (True, "raw"): (
        ((0.746945886714663, 0.56264937192689), (0.535478048924724, 0.543323462033445)),
        ((0.458580153984614, 1.12236071104403), (0.267178168108996, 1.1022478781154)),
    ),
    (False, "raw"): (
        ((0.487338281979106, 0.405511279418594), (0.340762058011, 0.37972360544988)),
        ((0.251778730491252, 0.883966931611758), (0.146660023184295, 0.86292940340761)),
    ),
    (True, "reweighted"): (
        ((0.773365715932083, 2.02013996406346), (0.337571678986723, 2.02037467454833)),
        ((0.474174840843602, 1.39681715704956), (0.276640353112907, 1.42543242287677)),
    ),
    (False, "reweighted"): (
        ((0.417574780492848, 1.83958876341367), (0.175753709374146, 1.8313809497999)),
        ((0.267522855927958, 1.17559984533974), (0.161200683014406, 1.21675019853961)),
    ),
}


@dataclass(frozen=True, eq=False)
class Reweighted:
    """The least squares fit of the rows that lie within the cut-off of the raw plane.

    Attributes
    ----------
    plane : the fit.
    inliers : which rows it is of.
    raw_scale, scale : standard deviation of the errors by the raw and by the reweighted fit.
    standard_errors : of the coefficients, then of the intercept; NaN for a dependent column.
    """

    plane: Plane
    inliers: Mask
    raw_scale: float
    scale: float
    standard_errors: Floats


def default_rows(n: int, p: int, intercept: bool = True) -> int:
    """How many rows to keep for the highest breakdown point: half, and a few for the fit.

    >>> default_rows(100, 1), default_rows(100, 5)
    (51, 53)
    """
    return min(n, (n + p + intercept + 1) // 2)


def reweight(X: Floats, y: Floats, raw: Plane, h: int, intercept: bool = True) -> Reweighted:
    """The reweighting step from the plane of the best h rows.

    >>> x = np.arange(10.0)
    >>> y = np.where(x == 9, 50.0, 2 * x + np.array([0, 1] * 5))
    >>> raw = fit(x[:6, None], y[:6])
    >>> found = reweight(x[:, None], y, raw, 6)
    >>> found.inliers.sum(), round(float(found.plane.coef[0]), 2)
    (np.int64(9), 2.0)
    """
    n, p = X.shape
    residuals = y - X @ raw.coef - raw.intercept
    rounding = EXACT * (np.abs(y) + np.abs(X) @ np.abs(raw.coef) + abs(raw.intercept))
    raw_scale = _raw_scale(residuals, h, p, intercept)
    if raw_scale <= float(np.max(rounding)):
        on_it = np.abs(residuals) <= rounding
        kept = on_it if on_it.sum() > p + intercept else np.abs(residuals) <= rounding.max()
        return Reweighted(raw, kept, 0.0, 0.0, np.zeros(p + 1))
    kept = np.abs(residuals) <= CUT_OFF * raw_scale
    plane = fit(X[kept], y[kept], None, intercept)
    scale = _reweighted_scale(plane.rss, int(kept.sum()), h, n, p, intercept)
    errors = scale * math.sqrt(_variance_factor(h / n)) * _unit_errors(X[kept], plane, intercept)
    return Reweighted(plane, kept, raw_scale, scale, errors)


def _raw_scale(residuals: Floats, h: int, p: int, intercept: bool) -> float:
    n = len(residuals)
    least = np.partition(residuals**2, h - 1)[:h]
    if h == n:
        return math.sqrt(float(least.sum()) / max(n - p - intercept, 1))
    factor = _consistency(h, n) * _finite_sample("raw", h, n, p, intercept)
    return math.sqrt(float(least.mean())) * factor


def _reweighted_scale(rss: float, m: int, h: int, n: int, p: int, intercept: bool) -> float:
    if h == n or m == n:  # no rows chosen: the usual standard deviation
        return math.sqrt(rss / max(m - p - intercept, 1)) * _consistency(m, n)
    factor = _consistency(m, n) * _finite_sample("reweighted", h, n, p, intercept)
    return math.sqrt(rss / (m - 1)) * factor


def _consistency(m: int, n: int) -> float:
    """By what the root mean square of the m smallest of n normal errors is too small."""
    if m == n:
        return 1.0
    q = float(norm.ppf((m + n) / (2 * n)))
    return 1 / math.sqrt(1 - 2 * q * float(norm.pdf(q)) * n / m)


def _finite_sample(stage: str, h: int, n: int, p: int, intercept: bool) -> float:
    """What is left to correct at small n, between the shares it was simulated for."""
    half = (n + p + intercept + 1) // 2
    share = min(max((h - 2 * half + n) / (2 * (n - half)), 0.5), 1.0) if half < n else 1.0
    at_half, at_most = (_simulated(stage, i, n, p, intercept) for i in (0, 1))
    if share <= 0.875:
        return 1 / (at_half + (at_most - at_half) * (share - 0.5) / 0.375)
    return 1 / (at_most + (1 - at_most) * (share - 0.875) / 0.125)


def _simulated(stage: str, which: int, n: int, p: int, intercept: bool) -> float:
    if p == 1:
        a, b = _ONE[intercept, stage][which]
    else:
        points = zip((3, 5), _MORE[intercept, stage][which], strict=True)
        (u, v), (s, t) = (
            (math.log(q * p**2), math.log(alpha / p**beta)) for q, (alpha, beta) in points
        )
        b = (v - t) / (s - u)
        a = v + b * u
    return 1 - math.exp(a - b * math.log(n))


def _variance_factor(share: float) -> float:
    """The variance of reweighted coefficients over that of least squares on the rows kept.

    With c the cut-off, a = P(|e| <= c) and b = 2 c f(c) / a: coefficients move by b for one that
    the raw ones move, whose own variance is 1 / d with d = share - 2 q f(q).

    >>> round(_variance_factor(0.5), 2), round(_variance_factor(0.75), 2)
    (1.45, 1.23)
    """
    a = 2 * float(norm.cdf(CUT_OFF)) - 1
    within = a - 2 * CUT_OFF * float(norm.pdf(CUT_OFF))
    b = 1 - within / a
    if share >= 1:
        raw, both = 1.0, within / a
    else:
        q = float(norm.ppf((1 + share) / 2))
        raw = 1 / (share - 2 * q * float(norm.pdf(q)))
        both = min(1.0, within * raw) / a
    return a * (within / a**2 + 2 * b * both + b**2 * raw)


def _unit_errors(X: Floats, plane: Plane, intercept: bool) -> Floats:
    """Standard errors of least squares coefficients and intercept where errors have scale one."""
    p = X.shape[1]
    out = np.full(p + 1, math.nan)
    free = np.setdiff1d(np.arange(p), plane.dependent)
    mean = X[:, free].mean(axis=0) if intercept else np.zeros(len(free))
    centred = X[:, free] - mean
    size = np.sqrt(np.mean(centred**2, axis=0))
    r = np.linalg.qr(centred / size, mode="r")
    inverse = np.linalg.inv(r) / size[:, None]
    out[free] = np.sqrt(np.sum(inverse**2, axis=1))
    along = mean @ inverse
    out[p] = math.sqrt(1 / len(X) + float(along @ along)) if intercept else 0.0
    return out

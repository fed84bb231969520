"""Where the points of a result lie: their mean, covariance, correlation, and the ellipse of both.

The divisor of a covariance is the number of points, as it is for the objectives ``var``, ``cov``
and ``mcd``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats
from quadsweep.objectives import centred_sums
from quadsweep.results.formatting import equation, figure

EXACT = 2.0**-100  # of the squares of both columns: a determinant that is the rounding of the data


def chi_square(level: float) -> float:
    """The quantile for two degrees of freedom.

    >>> round(chi_square(0.975), 4)
    7.3778
    """
    return -2 * math.log1p(-level)


@dataclass(frozen=True, eq=False)
class Scatter:
    """Mean and covariance of some points in the plane."""

    location: Floats
    covariance: Floats

    @property
    def correlation(self) -> float:
        """Pearson's r, NaN where a column does not vary."""
        (a, c), (_, b) = self.covariance
        if not (a > 0 and b > 0):
            return math.nan
        return float(max(-1.0, min(c / math.sqrt(a) / math.sqrt(b), 1.0)))

    def distances(self, x: Floats, y: Floats) -> Floats:
        """Squared Mahalanobis distances; infinite off the line of a singular covariance."""
        (a, c), (_, b) = self.covariance
        u, w = x - self.location[0], y - self.location[1]
        if a < b:  # the regression on the column that varies more
            a, b, u, w = b, a, w, u
        if a == 0:
            return np.where((u == 0) & (w == 0), 0.0, np.inf)
        rest, residual = b - c * (c / a), w - c / a * u
        with np.errstate(divide="ignore", invalid="ignore"):
            across = np.where(residual == 0, 0.0, residual**2 / max(rest, 0.0))
        return np.asarray(u * u / a + across)

    def widened(self, kept: int, of: int) -> Scatter:
        """The covariance of all points, where these are the `kept` innermost of a normal sample.

        With q the chi-square quantile (two degrees) of alpha = kept / of, the innermost have
        F4(q) / alpha of the covariance, F4 being chi-square with four degrees.

        >>> Scatter(np.zeros(2), np.eye(2)).widened(50, 100).covariance.round(3).tolist()
        [[3.259, 0.0], [0.0, 3.259]]
        """
        alpha, left = kept / of, 1 - kept / of
        inner = 1.0 if left == 0 else 1 - left * (1 - math.log(left))
        return Scatter(self.location, self.covariance * (alpha / inner))

    def ellipse(self, level: float = 0.975, corners: int = 181) -> Floats:
        """Points of the ellipse that holds this share of a normal distribution, one a row."""
        radius = math.sqrt(chi_square(level))
        values, vectors = np.linalg.eigh(self.covariance)
        turn = np.linspace(0, 2 * np.pi, corners)
        circle = np.column_stack([np.cos(turn), np.sin(turn)])
        return np.asarray(
            self.location + radius * (circle * np.sqrt(np.maximum(values, 0))) @ vectors.T
        )


def scatter_of(x: Floats, y: Floats) -> Scatter:
    """Of all the given points.

    >>> found = scatter_of(np.array([0.0, 2, 2, 0]), np.array([0.0, 0, 4, 4]))
    >>> found.location, found.covariance.tolist(), found.correlation
    (array([1., 2.]), [[1.0, 0.0], [0.0, 4.0]], 0.0)
    """
    a, b, c = centred_sums(x, y)
    k = len(x)
    location = np.array([float(x.mean()), float(y.mean())])
    return Scatter(location, np.array([[a / k, c / k], [c / k, b / k]]))


def collinear(x: Floats, y: Floats) -> bool:
    """Whether all points lie on a line, at the level of the rounding of the numbers given.

    Both columns are scaled by powers of two first: a determinant may be zero only because it is
    less than the least floating-point number.

    >>> tiny = 1e-120 * np.array([0.0, 1, 2, 4])
    >>> collinear(tiny, 3 * tiny), collinear(tiny, tiny[::-1] ** 2)
    (True, False)
    """
    u, w = scaled(x), scaled(y)
    rows = list(range(len(x)))
    size = _core.value(u, w, rows, "var") * _core.value(w, u, rows, "var")
    return _core.value(u, w, rows, "mcd") <= EXACT * size


def scaled(column: Floats) -> Floats:
    """In units of a power of two about as large as the column's extent, which rounds nothing."""
    with np.errstate(under="ignore"):
        return np.ldexp(column, -math.frexp(float(np.ptp(column)))[1])


def line_through(x: Floats, y: Floats, names: Sequence[str] = ("x", "y")) -> str:
    """The line of points that are known to lie on one, in words.

    >>> line_through(np.array([0.0, 1, 2]), np.array([1.0, 3, 5]))
    'y = 2 · x + 1'
    >>> line_through(np.array([3.0, 3, 3]), np.array([1.0, 3, 5]))
    'x = 3'
    """
    for name, column in zip(names, (x, y), strict=True):
        if np.all(column == column[0]):
            return f"{name} = {figure(float(column[0]))}"
    low, high = int(np.argmin(x)), int(np.argmax(x))
    slope = float((y[high] - y[low]) / (x[high] - x[low]))
    return equation(names, slope, float(y[low] - slope * x[low]))

"""Where no fit is better: a radius around the fit of a good subset, by fourth moments.

At most m rows D of a set R are removed. Two bounds of the sum over the rest at coefficients b:

    apart      sum over R of (r - z.b)^2 - sum over D of r^2 + 2 g_D.b - b' K_D b, and g_D and K_D
               by Cauchy and Schwarz;
    together   with e the residuals of the fit of R and Z an orthonormal basis of the columns and e,
               residuals are Z v, and D takes at most the share A of |v|^2:
               A^2 / m + (1 - A)^2 / (|R| - m) <= the largest sum of (Z_i.u)^4, |u| = 1.

The second is finite as soon as A < 1 (docs/theory/many-predictors.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.solving.methods.regression.placement import UNIT, Rows

_PRODUCTS = 1500  # of two columns, up to which fourth moments are formed


@dataclass(frozen=True)
class Outside:
    """The least sum of k rows at b is at least base - 2 slope |b| + square |b|^2."""

    base: float
    slope: float
    square: float

    def radius(self, goal: float) -> float:
        """Beyond which it passes the goal."""
        under = self.slope**2 + self.square * (goal - self.base)
        return max(self.slope + math.sqrt(max(under, 0.0)), 0.0) / self.square * (1 + 1e-9)

    def least(self, inner: float, outer: float) -> float:
        """Its least value where |b| is between two numbers."""
        at = min(max(self.slope / self.square, inner), outer)
        return self.base - 2 * self.slope * at + self.square * at * at

    def less(self, credit: float) -> Outside:
        """The same where that much is taken off the sum."""
        return Outside(self.base - credit, self.slope, self.square)


def outside_bounds(rows: Rows) -> list[Outside]:
    """By sums over the rows kept, these and rows like them, or all; credits do not count."""
    costs = np.sort(rows.r**2)
    near = rows.r**2 <= 2.5 * costs[len(costs) - rows.gone - 1]
    near &= rows.length <= 2 * np.quantile(rows.length[rows.kept], 0.99)
    sets = [rows.kept, rows.kept | near, np.ones(len(rows.r), dtype=bool)]
    found = []
    for i, those in enumerate(sets):
        if not any(np.array_equal(those, other) for other in sets[:i]):
            found += [_apart(rows, those), _together(rows, those)]
    return [one for one in found if one is not None]


def _apart(rows: Rows, those: Mask) -> Outside | None:
    """For any D of m rows |g_D.u| <= sqrt(m max sum r^2 (z.u)^2), u' K_D u <= sqrt(m max sum
    (z.u)^4), |u| = 1."""
    z, r, m = rows.z[those], rows.r[those], rows.gone
    unit = (len(r) + 100 * z.shape[1]) * UNIT
    square = np.sort(r**2)[::-1]
    gram, tilt = z.T @ z, z.T @ r
    steep = float(np.linalg.eigvalsh((z * (r**2)[:, None]).T @ z)[-1])
    lost = min(math.sqrt(m * fourth_moment(z)), float(np.sort(np.sum(z**2, 1))[::-1][:m].sum()))
    left = float(np.linalg.eigvalsh(gram)[0]) - lost - unit * float(np.trace(gram))
    if not left > 1e-3:
        return None
    off = math.sqrt(float(np.sum((rows.error[0][those]) ** 2)))
    off_z = math.sqrt(float(np.sum((rows.error[1][those]) ** 2)))
    steep += unit * float(np.sum(r**2 * np.sum(z**2, axis=1)))
    slope = float(np.linalg.norm(tilt)) + math.sqrt(m * steep)
    slope += (unit + off_z) * math.sqrt(float(square.sum() * max(np.trace(gram), 1.0)))
    slope += off * math.sqrt(float(np.trace(gram)))
    base = float(square.sum() - square[:m].sum())
    base -= unit * float(square.sum()) + 2 * off * math.sqrt(float(square.sum()))
    square_left = left - 3 * off_z * math.sqrt(float(np.trace(gram)))
    return Outside(base, slope, square_left) if square_left > 1e-3 else None


def _together(rows: Rows, those: Mask) -> Outside | None:
    """With G = L L' the sums of z z', b at a distance d from the fit of R is v = (-L'd, |e|).

    Z v is the residuals but for a share ``off`` of |v|: Z is not quite orthonormal either.
    """
    z, r, m = rows.z[those], rows.r[those], rows.gone
    n, unit = len(r), (len(r) + 100 * z.shape[1]) * UNIT
    q, triangle = np.linalg.qr(z)
    fit = np.linalg.solve(triangle, q.T @ r)
    e = r - z @ fit
    size = float(np.linalg.norm(e))
    if not size > 1e-6 * float(np.linalg.norm(r)) or n <= m:
        return None
    columns = np.column_stack([q, e / size])
    spread = np.linalg.svd(triangle, compute_uv=False)
    least = float(spread[-1]) * (1 - 1e-9)
    tilted = float(np.linalg.norm(columns.T @ columns - np.eye(columns.shape[1]))) + unit
    off = float(np.linalg.norm(rows.error[0][those])) + unit * float(np.linalg.norm(np.abs(r)))
    off += float(np.linalg.norm(fit)) * (
        float(np.linalg.norm(rows.error[1][those])) + unit * float(spread[0])
    )
    off /= size
    off += (float(np.linalg.norm(rows.error[1][those])) + unit * float(spread[0])) / least
    share = min(
        _largest_share(fourth_moment(columns), n, m, tilted),
        float(np.sort(np.sum(columns**2, axis=1))[::-1][:m].sum()),
    )
    left = 1 - share - 2 * tilted
    if not left > 1e-3:
        return None
    left = (math.sqrt(left) - off) ** 2 * (1 - 1e-9) if off < 0.01 else 0.0
    if not left > 1e-3:
        return None
    at, square = float(np.linalg.norm(fit)) * (1 + 1e-9), left * least**2
    return Outside(left * size**2 + square * at**2, square * at, square)


def _largest_share(fourth: float, n: int, m: int, tilted: float) -> float:
    """The largest A with A^2 / m + (1 - A)^2 / (n - m) <= the fourth moment, n rows in all."""
    one = 1 - tilted
    a, b, c = 1 / m + 1 / (n - m), one / (n - m), one**2 / (n - m) - fourth * (1 + 1e-12)
    return (b + math.sqrt(max(b * b - a * c, 0.0))) / a * (1 + 1e-12)


def fourth_moment(z: Floats) -> float:
    """At least the largest sum of (z.u)^4 over unit vectors u.

    It is v' F v with v the products of two entries of u and F the sum of products of those of z;
    the square of the sum of squares among them less |v|^2 is zero, so that any multiple of that
    may be taken off.
    """
    i, j = np.triu_indices(z.shape[1])
    if len(i) > _PRODUCTS:
        return math.inf
    pairs = z[:, i] * z[:, j] * np.where(i == j, 1.0, math.sqrt(2.0))
    sums = pairs.T @ pairs
    square = (i == j).astype(float)
    zero = np.outer(square, square) - np.eye(len(i))
    size = float(np.trace(sums))

    def largest(times: float) -> float:
        return float(np.linalg.eigvalsh(sums - times * zero)[-1])

    tried = [largest(c / len(z)) for c in (0.0, 0.4, 0.7, 1.0, 1.4)]
    return min(tried) + (len(z) + 100 * len(i)) * UNIT * size

"""A bound by rows: removing m rows lowers the sum of squares by at most costs of rows and of pairs.

With e the residuals and H the hat matrix of all rows, removing O takes

    e_O' P e_O,   P = (I - H_OO)^-1 = I + H_OO + H_OO P H_OO,   P <= diag(1 / (1 - l)),

l_i the sum of h_i and the m - 1 largest |H_ij| d_j / d_i, any d > 0 (scaled dominance). (H e)_i is
at most A_i in absolute value, with the m - 1 largest of either sign: pairs e_i H_ij e_j and own
costs e_i^2 + A_i^2 / (1 - l_i) are left. R2 > t needs that to pass rss - (1 - t) tss + (1 - t) of
what O takes of tss, with the mean exact. The compiled half bounds such sums
(docs/theory/many-predictors.md; ``_core/many_predictors/pairs.hpp``). Best if few rows are removed
and predictors are many.
"""

from __future__ import annotations

import math

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats
from quadsweep.clock import Clock
from quadsweep.solving.methods.problem import Watch
from quadsweep.solving.methods.regression.placement import UNIT, Rows

SECONDS = 10.0  # or a quarter of the time that is left
_STEPS = 150  # of the multipliers, at each threshold
_MOST_STEPS = 400
_BYTES = 24  # for each two rows
MOST_BYTES = 4e8
_MOST_L = 0.99
_POWER, _CAP, _SCALINGS = 0.6, 0.6, 12  # d = |e|^0.6, raised while l is above the cap


def least_memory(rows: int) -> float:
    """Bytes that the bound takes."""
    return _BYTES * float(rows) ** 2


class RowBound:
    """The bound for all rows; ``works`` is False where some m rows could take everything."""

    def __init__(self, rows: Rows, n_jobs: int) -> None:
        self._n_jobs, m = n_jobs, rows.gone
        z, r = rows.z, rows.r
        q, triangle = np.linalg.qr(z)
        fit = np.linalg.solve(triangle, q.T @ r)
        e = r - z @ fit
        hat = q @ q.T
        self.rss = float(e @ e)
        # How far the projection, and e, may be off.
        spread = np.linalg.svd(triangle, compute_uv=False)
        unit = (len(r) + 100 * z.shape[1]) * UNIT
        off_z = float(np.linalg.norm(rows.error[1])) + unit * float(spread[0])
        tilted = 2 * off_z / float(spread[-1]) + unit
        tilted += float(np.linalg.norm(q.T @ q - np.eye(q.shape[1])))
        off_e = float(np.linalg.norm(rows.error[0])) + unit * float(np.linalg.norm(r))
        off_e += off_z * float(np.linalg.norm(fit)) + float(np.linalg.norm(q.T @ e))
        off_e += tilted * math.sqrt(self.rss)
        l_i = _dominance(hat, e, m) + tilted
        most = float(l_i.max())
        self.works = most <= _MOST_L and tilted < 1e-3
        if not self.works:
            return
        loose = 1 / (1 - most)
        self._error = self.rss * 6 * tilted * loose + loose * off_e**2
        self._error += 3 * off_e * loose * math.sqrt(self.rss)
        up = _core.largest_row_sums(hat, e, m - 1, 1)
        down = _core.largest_row_sums(hat, e, m - 1, -1)
        own = np.diag(hat) * e
        reach = np.maximum(np.abs(own + up), np.abs(own - down))
        self._own = e * e + own * e + reach**2 / (1 - l_i)
        self._error += unit * float(np.sort(np.abs(self._own))[::-1][:m].sum()) * (m + 1)
        hat *= e[:, None]
        hat *= e
        self._pairs, self._m = hat, m
        self._total_of(rows)

    def _total_of(self, rows: Rows) -> None:
        """The total sum of squares and what rows take of it: squares, and for the mean the square
        of a sum over the largest total weight that is kept."""
        y, root, m = rows.y, rows.root, self._m
        weight = float(root @ root)
        if weight > 0:
            y = y - float(root @ y) / weight * root
        self.tss = float(y @ y)
        kept = weight - float(np.sort(root**2)[:m].sum())
        self._u = root * y / math.sqrt(kept * (1 + 1e-12)) if kept > 0 else np.zeros_like(y)
        self._square = y * y
        left = abs(float(self._u.sum())) * float(np.sort(np.abs(self._u))[::-1][:m].sum())
        unit = (2 * len(y) + 100 + 4 * m) * UNIT
        self._total_error = 2 * left + unit * (rows.y_size + self.tss)

    def least_sum(self, enough: float, watch: Watch) -> float:
        """At most the least residual sum of squares of k rows; steps end when it is enough."""
        seconds = min(SECONDS, watch.clock.time_left() / 4)
        none = np.zeros(len(self._own))
        bound = _core.PairBound(self._pairs, self._own, none, none, self._m)
        most = bound.improve(0.0, self.rss - enough, _MOST_STEPS, self._n_jobs, seconds)
        return float(self.rss - most - self._error)

    def most_r2(self, value: float, high: float, tol: float, watch: Watch) -> float:
        """What no R2 passes, if that is less than ``high``; by halves."""
        bound = _core.PairBound(self._pairs, self._own, self._square + self._u**2, self._u, self._m)
        low, clock = value, Clock(min(SECONDS, watch.clock.time_left() / 4))
        while (
            high - low > max(tol, 0.01 * (high - value)) and clock.time_left() and watch.goes_on()
        ):
            watch.nodes += 1
            t = low + 0.5 * (high - low) if high < 0.9 else low + 0.3 * (high - low)
            g = 1 - t
            enough = self.rss - g * self.tss - self._error - g * self._total_error
            most = bound.improve(g, enough, _STEPS, self._n_jobs, clock.time_left())
            if most <= enough:
                high = t
            else:
                low = t
        return high


def _dominance(hat: Floats, e: Floats, m: int) -> Floats:
    """The l of the d whose largest is least."""
    size = np.abs(e)
    d = np.maximum(np.maximum(size, np.quantile(size, 0.3)), 1e-12 * size.max()) ** _POWER
    best = np.full(len(e), math.inf)
    for _ in range(_SCALINGS):
        share = np.diag(hat) + _core.largest_row_sums(hat, d, m - 1, 0) / d
        share = share * (1 + (m + 20) * UNIT)
        if share.max() < best.max():
            best = share
        if (share <= _CAP).all():
            break
        d = np.where(share > _CAP, d * (np.maximum(share, 1e-300) / _CAP) ** 0.7, d)
    return best

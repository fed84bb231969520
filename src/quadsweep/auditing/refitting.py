"""What the controls leave of x and y on all rows, where they are fitted to those that are kept.

With Q an orthonormal basis of the controls on all rows, O the rows removed, M = (I - Q_O' Q_O)^-1
and K = Q M Q', row b changes everything by the column K_b as it goes, or returns:

    v += s K_b v_b for v = x, y,   K += s K_b K_b',   c -= s x_b y_b,   s = 1 / (1 - K_bb)
    v -= s K_b v_b,                K -= s K_b K_b',   c += s x_b y_b,   s = 1 / (1 + K_bb)

so that a row costs n q numbers instead of n q^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.moments import Moments


@dataclass(frozen=True, eq=False)
class Residuals:
    """x and y are scaled as in Moments; a, b, c are their sums of squares and products on the rows
    that are kept, ``inside``."""

    q: Floats
    inverse: Floats
    x: Floats
    y: Floats
    a: float
    b: float
    c: float
    inside: Mask

    @cached_property
    def leverage(self) -> Floats:
        """Of each row in the controls' fit."""
        return np.asarray(((self.q @ self.inverse) * self.q).sum(axis=1))

    def without(self, row: int) -> Residuals:
        """A row that was kept goes."""
        return self._changed(row, -1.0)

    def again_with(self, row: int) -> Residuals:
        """A row that was removed returns."""
        return self._changed(row, 1.0)

    def _changed(self, row: int, way: float) -> Residuals:
        side = self.inverse @ self.q[row]
        column = self.q @ side
        share = way / max(1 + way * float(column[row]), 1e-12)
        u, w = float(self.x[row]), float(self.y[row])
        inside = self.inside.copy()
        inside[row] = way > 0
        out = Residuals(
            self.q,
            self.inverse - share * np.outer(side, side),
            self.x - share * u * column,
            self.y - share * w * column,
            self.a + share * u * u,
            self.b + share * w * w,
            self.c + share * u * w,
            inside,
        )
        out.__dict__["leverage"] = self.leverage - share * column * column
        return out


def residuals(moments: Moments, gone: Ints) -> Residuals:
    """Without these rows."""
    inside = np.ones(moments.design.n, dtype=bool)
    inside[gone] = False
    q, (z, u, w) = moments.q, (v[gone] for v in (moments.q, moments.x, moments.y))
    inverse = np.linalg.pinv(np.eye(moments.rank) - z.T @ z, rcond=1e-9, hermitian=True)
    u = moments.x + q @ (inverse @ (z.T @ u))
    w = moments.y + q @ (inverse @ (z.T @ w))
    ku, kw = u[inside], w[inside]
    return Residuals(q, inverse, u, w, float(ku @ ku), float(kw @ kw), float(ku @ kw), inside)

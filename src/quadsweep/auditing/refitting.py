"""What the controls leave of x and y on all rows, where they are fitted to those that are kept.

With Q an orthonormal basis of the controls on all rows, O the rows removed, M = (I - Q_O' Q_O)^-1
and K = Q M Q', row b changes everything by the column K_b as it goes, or returns:

    v += s K_b v_b for v = x, y,   K += s K_b K_b',   c -= s x_b y_b,   s = 1 / (1 - K_bb)
    v -= s K_b v_b,                K -= s K_b K_b',   c += s x_b y_b,   s = 1 / (1 + K_bb)

so that a row costs n q numbers instead of n q^2. The classes of a partition add e_a e_b / kappa to
K inside of a class, and Q is about the means of the rows kept there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.classes import Classes
from quadsweep.auditing.moments import Moments

_NOTHING_LEFT = 1e-9  # of a direction of the controls, on the rows kept


@dataclass(frozen=True, eq=False)
class Residuals:
    """x and y are scaled as in Moments; a, b, c are their sums of squares and products on the rows
    that are kept, ``inside``. Q and x, y have the means of the rows kept of each class taken off;
    of its length a class keeps ``kappa``, infinite where it is emptied.
    """

    q: Floats
    inverse: Floats
    x: Floats
    y: Floats
    a: float
    b: float
    c: float
    inside: Mask
    classes: Classes | None
    kappa: Floats

    @cached_property
    def leverage(self) -> Floats:
        """Of each row in the controls' fit."""
        own = ((self.q @ self.inverse) * self.q).sum(axis=1)
        if self.classes is not None:
            own = own + self.classes.e**2 / self.kappa[self.classes.of_row]
        return np.asarray(own)

    def without(self, row: int) -> Residuals:
        """A row that was kept goes."""
        return self._changed(row, -1.0)

    def return_row(self, row: int) -> Residuals:
        """A row that was removed returns."""
        return self._changed(row, 1.0)

    def _changed(self, row: int, way: float) -> Residuals:
        side = self.inverse @ self.q[row]
        column = self.q @ side
        q, kappa, mates = self.q, self.kappa, self._mates(row)
        if self.classes is not None and len(mates):
            at, e = self.classes.of_row[row], self.classes.e
            column[mates] += e[mates] * e[row] / kappa[at]
            kappa = kappa.copy()
            kappa[at] = _left_of(kappa[at], way * e[row] ** 2)
            q = q.copy()
            q[mates] -= way * np.outer(e[mates] * e[row] / kappa[at], self.q[row])
        share = way / max(1 + way * float(column[row]), 1e-12)
        u, w = float(self.x[row]), float(self.y[row])
        inside = self.inside.copy()
        inside[row] = way > 0
        out = Residuals(
            q,
            self.inverse - share * np.outer(side, side),
            self.x - share * u * column,
            self.y - share * w * column,
            self.a + share * u * u,
            self.b + share * w * w,
            self.c + share * u * w,
            inside,
            self.classes,
            kappa,
        )
        out.__dict__["leverage"] = self.leverage - share * column * column
        return out

    def _mates(self, row: int) -> Ints:
        """The rows of its class."""
        if self.classes is None or self.classes.of_row[row] < 0:
            return np.zeros(0, dtype=np.int64)
        return self.classes.members[int(self.classes.of_row[row])]


def _left_of(kappa: float, more: float) -> float:
    """Of a class after a row returned or went; the last row of one that has gone makes it new."""
    left = more if np.isinf(kappa) else kappa + more
    return left if left > 1e-12 else np.inf


def inverse_without(z: Floats) -> Floats:
    """The pseudo-inverse of I - z'z, by the smaller of that and I - z z'."""
    if len(z) >= z.shape[1]:
        return np.asarray(
            np.linalg.pinv(np.eye(z.shape[1]) - z.T @ z, rcond=_NOTHING_LEFT, hermitian=True)
        )
    value, vectors = np.linalg.eigh(np.eye(len(z)) - z @ z.T)
    lost = value < _NOTHING_LEFT
    gain = np.where(lost, -1 / (1 - np.where(lost, value, 0.0)), 1 / np.where(lost, 1.0, value))
    across = vectors.T @ z
    return np.asarray(np.eye(z.shape[1]) + across.T @ (gain[:, None] * across))


def residuals_among(moments: Moments, gone: Ints, rows: Ints) -> Residuals:
    """Without some rows, looked at on others alone: in as many steps as there are of both. There
    are no classes."""
    z, u, w = (v[gone] for v in (moments.q, moments.x, moments.y))
    inverse = inverse_without(z)
    zu, zw, full = z.T @ u, z.T @ w, moments.squares
    x, y = inverse @ zu, inverse @ zw  # the changes of the controls' coefficients
    a, b, c = full.a - u @ u - zu @ x, full.b - w @ w - zw @ y, full.c - u @ w - zu @ y
    q = moments.q[rows]
    u, w = moments.x[rows] + q @ x, moments.y[rows] + q @ y
    inside = moments.kept(gone)[rows]
    return Residuals(q, inverse, u, w, float(a), float(b), float(c), inside, None, np.ones(1))


def residuals(moments: Moments, gone: Ints) -> Residuals:
    """Without these rows."""
    inside = moments.kept(gone)
    z, u, w, _, _ = moments.removed(gone)
    columns, kappa = [moments.q, moments.x, moments.y], np.ones(1)
    if moments.classes is not None:
        short = moments.classes.without(gone)
        columns = [short.subtract_kept_means(v) for v in columns]
        kappa = np.append(short.kappa, np.inf)  # the last is for rows of no class
    inverse = inverse_without(z)
    q = columns[0]
    x, y = (v + q @ (inverse @ (z.T @ o)) for v, o in zip(columns[1:], (u, w), strict=True))
    kx, ky = x[inside], y[inside]
    sums = float(kx @ kx), float(ky @ ky), float(kx @ ky)
    return Residuals(q, inverse, x, y, *sums, inside, moments.classes, kappa)

"""One way for a claim to break, on one design: whether it breaks, and how each unit affects it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.claims import (
    Condition,
    CorrelationAbove,
    CorrelationBelow,
    R2Beyond,
    SlopeBeyond,
    rounding_margin,
)
from quadsweep.auditing.classes import Classes
from quadsweep.auditing.moments import Moments, Sums

_MARGIN = 1e-9  # a correlation nearer to 0 than this has no sign
_LEAST = 1e-300  # replaces a sum of squares that rounding has made 0


@dataclass(frozen=True, eq=False)
class BreakProblem:
    """A condition on the subsets of a design; removals are arrays of units."""

    linear: ClassVar[bool] = True  # whether it is about least squares
    is_refitted: ClassVar[bool] = False  # whether a library fits each removal again
    first_order: ClassVar[bool] = True  # whether ``influence`` is on the statistic in question

    moments: Moments
    condition: Condition

    @property
    def parts(self) -> tuple[BreakProblem, ...]:
        """Least squares problems; this problem breaks exactly if all of them break."""
        return (self,) if type(self) is BreakProblem else ()

    @property
    def necessary(self) -> tuple[BreakProblem, ...]:
        """Necessary problems: if this one breaks, at least one of them does."""
        condition = self.condition
        if not isinstance(condition, CorrelationAbove):
            return ()
        least = condition.threshold(
            self.moments.design.n
        )  # thresholds fall with degrees of freedom
        return (BreakProblem(self.moments, SlopeBeyond(0.0, min(least, _MARGIN), condition.sign)),)

    def broken(self, removal: Ints) -> bool:
        """Whether the claim breaks without these units; close cases are decided exactly."""
        gone = self.moments.design.rows(removal)
        sums = self.moments.without(gone)
        if sums is not None:
            if sums.freedom < 1:
                return False
            past = float(self.condition.excess(sums, self.moments.scale))
            if abs(past) > rounding_margin(sums.error):
                return past > 0
        exact = self.moments.exact(gone)
        return exact.freedom >= 1 and exact.a > 0 and self.condition.holds(exact)

    def excess(self, removal: Ints) -> float:
        """Return how far the statistic passes its threshold, approximately; -inf if undefined."""
        sums = self.moments.without(self.moments.design.rows(removal))
        if sums is None or sums.freedom < 1:
            return -np.inf
        return float(self.condition.excess(sums, self.moments.scale))

    def residuals(self, removal: Ints) -> Residuals:
        """Return the residuals on the controls, fitted without the removal."""
        return residuals(self.moments, self.moments.design.rows(removal))

    def gain(self, removal: Ints) -> Floats:
        """Return the gain from keeping each unit, given the fit without the removal."""
        r = self.residuals(removal)
        return self.moments.design.sums(self._gain_of_rows(r))

    def gain_among(self, removal: Ints, rows: Ints) -> Floats:
        """Return the gain of some rows only; units are rows and the condition is not on R2."""
        return self._gain_of_rows(residuals_among(self.moments, removal, rows))

    def _gain_of_rows(self, r: Residuals) -> Floats:
        condition = self.condition
        if isinstance(condition, SlopeBeyond):
            return np.asarray(condition.sign * r.x * (r.y - self._lean(condition) * r.x))
        if isinstance(condition, R2Beyond):
            rest = r.y - r.c / max(r.a, _LEAST) * r.x
            about = self.about_the_mean(r.inside)
            share = float((rest[r.inside] ** 2).sum() / max((about[r.inside] ** 2).sum(), _LEAST))
            return np.asarray(condition.sign * (share * about * about - rest * rest))
        assert isinstance(condition, (CorrelationAbove, CorrelationBelow))
        way = condition.sign if isinstance(condition, CorrelationAbove) else -condition.sign
        u, w = r.x / np.sqrt(max(r.a, _LEAST)), r.y / np.sqrt(max(r.b, _LEAST))
        partial = r.c / np.sqrt(max(r.a * r.b, _LEAST))
        return np.asarray(way * (u * w - partial / 2 * (u * u + w * w)))

    def _lean(self, condition: SlopeBeyond) -> float:
        """The coefficient in question, for scaled x and y."""
        x, y = self.moments.scale
        return condition.beta * x / y if condition.beta != 0 else 0.0

    def without_units(self, removal: Ints) -> Any:
        """Return the fit without some units, for updates by single rows."""
        return self.residuals(removal)

    def statistic_without_each(self, r: Any) -> Floats:
        """Return the statistic without each further row, the controls refitted."""
        sums, fine = self.sums_without_each(r)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = self.condition.statistic(sums.a, sums.b, sums.c, sums.total)
        return np.where(fine & np.isfinite(score), score, -np.inf)

    def sums_without_each(self, r: Residuals) -> tuple[Sums[Any], Mask]:
        """Return the sums without each further row, and a mask of the well-conditioned ones."""
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 1 - r.leverage
            a, b = r.a - r.x * r.x / left, r.b - r.y * r.y / left
            c = r.c - r.x * r.y / left
        fine = r.inside & (left > 1e-9) & (a > 1e-12) & (b > 1e-12)
        total = np.ones(1)
        if isinstance(self.condition, R2Beyond):  # no other condition uses the total
            total = self._total_without_each(r.inside)
            fine &= total > 1e-12 * total.max()
        rows = int(r.inside.sum()) - 1
        return Sums(rows, self.moments.rank + self.moments.design.fixed, a, b, c, total), fine

    def _total_without_each(self, inside: Mask) -> Floats:
        """Return the sum of squares of y about its mean, without each further row."""
        about, design = self.about_the_mean(inside), self.moments.design
        taken = about * about
        if design.intercept is not None:  # the mean moves too
            weights = design.root_weights**2
            taken = taken / np.maximum(1 - weights / float(weights[inside].sum()), 1e-300)
        return np.asarray(float((about[inside] ** 2).sum()) - taken)

    def about_the_mean(self, inside: Mask) -> Floats:
        """y about its mean on some rows, scaled as in Moments."""
        d = self.moments.design
        y, root = d.y, d.root_weights
        if d.intercept is not None:
            y = y - float((root[inside] ** 2) @ y[inside]) / float((root[inside] ** 2).sum())
        return np.asarray(root * y / self.moments.scale[1])

    def influence(self) -> tuple[Floats, float]:
        """Return the first-order effect of removing each unit, and the statistic on all rows.

        This is the derivative with respect to the rows' weights (AMIP). It is that of the
        coefficient (scaled x and y) for a sign or an interval, else that of the partial r or R2.
        """
        r = self.residuals(np.zeros(0, dtype=np.int64))
        condition, a = self.condition, max(r.a, _LEAST)
        if isinstance(condition, SlopeBeyond):
            effect = -condition.sign * r.x * (r.y - r.c / a * r.x) / a
            return self.moments.design.sums(effect), condition.sign * (
                r.c / a - self._lean(condition)
            )
        if isinstance(condition, R2Beyond):
            rest, about = r.y - r.c / a * r.x, self.about_the_mean(r.inside)
            total = max(float((about**2).sum()), _LEAST)
            share = float((rest**2).sum()) / total
            effect = -self._gain_of_rows(r) / total
            return self.moments.design.sums(effect), condition.sign * (
                1 - share - condition.threshold
            )
        assert isinstance(condition, (CorrelationAbove, CorrelationBelow))
        way = condition.sign if isinstance(condition, CorrelationAbove) else -condition.sign
        start = way * r.c / np.sqrt(max(r.a * r.b, _LEAST))
        return self.moments.design.sums(-self._gain_of_rows(r)), start

    def passed(self, removal: Ints) -> bool:
        """Whether the statistic has reached or jumped past the range in which the claim breaks."""
        if isinstance(self.condition, CorrelationBelow):
            sums = self.moments.without(self.moments.design.rows(removal))
            c = self.residuals(removal).c if sums is None else sums.c
            return c * self.condition.sign < 0 or self.broken(removal)
        return self.broken(removal)

    def passed_by(self, sums: Sums[float] | None) -> bool:
        """Like ``passed``, approximately, from floating-point sums; True if there are none."""
        if sums is None:
            return True
        condition = self.condition
        if isinstance(condition, CorrelationBelow) and sums.c * condition.sign < 0:
            return True
        return sums.freedom >= 1 and float(condition.excess(sums, self.moments.scale)) > 0


_NOTHING_LEFT = 1e-9  # a smaller share of a control direction on the rows kept counts as 0


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals on the controls, fitted to the rows kept (``inside``).

    x and y are scaled as in Moments; a, b, c are their sums of squares and products over the rows
    kept. The means of each class over its rows kept are subtracted from Q, x and y. ``kappa`` is
    the share of a class's squared length that is kept, infinite for an empty class.
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
        """Leverage of each row in the fit of the controls."""
        own = ((self.q @ self.inverse) * self.q).sum(axis=1)
        if self.classes is not None:
            own = own + self.classes.e**2 / self.kappa[self.classes.of_row]
        return np.asarray(own)

    def without(self, row: int) -> Residuals:
        """Return the residuals after removing a kept row."""
        return self._changed(row, -1.0)

    def return_row(self, row: int) -> Residuals:
        """Return the residuals after restoring a removed row."""
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
        """Return the rows of the same class as ``row``."""
        if self.classes is None or self.classes.of_row[row] < 0:
            return np.zeros(0, dtype=np.int64)
        return self.classes.members[int(self.classes.of_row[row])]


def _left_of(kappa: float, more: float) -> float:
    """Return a class's kappa after a row is removed or restored; infinite for an empty class."""
    left = more if np.isinf(kappa) else kappa + more
    return left if left > 1e-12 else np.inf


def inverse_without(z: Floats) -> Floats:
    """Return the pseudo-inverse of I - z'z, from the smaller of I - z'z and I - z z'."""
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
    """Return the residuals of ``rows`` after removing ``gone``, for a design without classes.

    The work grows with the number of rows in both, except for one mask of all rows.
    """
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
    """Return the residuals after removing these rows."""
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

"""One way for a claim to break, on one design: is it broken, and which units are in its way?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.conditions import (
    Condition,
    CorrelationAbove,
    CorrelationBelow,
    R2Beyond,
    SlopeBeyond,
    rounding_margin,
)
from quadsweep.auditing.moments import Moments, Sums
from quadsweep.auditing.refitting import Residuals, residuals, residuals_among

_MARGIN = 1e-9  # of a correlation: what is nearer to 0 is no sign
_LEAST = 1e-300  # instead of a sum of squares that rounding left nothing of


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
        """Problems of least squares that all break where this one does, and only there."""
        return (self,) if type(self) is BreakProblem else ()

    @property
    def necessary(self) -> tuple[BreakProblem, ...]:
        """Problems one of which is broken wherever this is: significance with a sign needs it."""
        condition = self.condition
        if not isinstance(condition, CorrelationAbove):
            return ()
        least = condition.threshold(
            self.moments.design.n
        )  # thresholds fall with degrees of freedom
        return (BreakProblem(self.moments, SlopeBeyond(0.0, min(least, _MARGIN), condition.sign)),)

    def broken(self, removal: Ints) -> bool:
        """Whether the claim breaks without these units: exactly, wherever it is not clear."""
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
        """How far past its threshold the statistic is, about; minus infinity where undefined."""
        sums = self.moments.without(self.moments.design.rows(removal))
        if sums is None or sums.freedom < 1:
            return -np.inf
        return float(self.condition.excess(sums, self.moments.scale))

    def residuals(self, removal: Ints) -> Residuals:
        """What the controls leave, fitted without the removal."""
        return residuals(self.moments, self.moments.design.rows(removal))

    def gain(self, removal: Ints) -> Floats:
        """For every unit, the larger the better it is to keep it, seen without the removal."""
        r = self.residuals(removal)
        return self.moments.design.sums(self._gain_of_rows(r))

    def gain_among(self, removal: Ints, rows: Ints) -> Floats:
        """The same of some rows alone, where a unit is a row and the condition is not of R2."""
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
        """The coefficient that is asked about, of scaled x and y."""
        x, y = self.moments.scale
        return condition.beta * x / y if condition.beta != 0 else 0.0

    def without_units(self, removal: Ints) -> Any:
        """Return the fit without some units, which single rows then leave or rejoin."""
        return self.residuals(removal)

    def statistic_without_each(self, r: Any) -> Floats:
        """Return the statistic without each further row, the controls refitted."""
        sums, fine = self.sums_without_each(r)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = self.condition.statistic(sums.a, sums.b, sums.c, sums.total)
        return np.where(fine & np.isfinite(score), score, -np.inf)

    def sums_without_each(self, r: Residuals) -> tuple[Sums[Any], Mask]:
        """Return the sums without each further row, and where enough is left of everything."""
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 1 - r.leverage
            a, b = r.a - r.x * r.x / left, r.b - r.y * r.y / left
            c = r.c - r.x * r.y / left
        fine = r.inside & (left > 1e-9) & (a > 1e-12) & (b > 1e-12)
        total = np.ones(1)
        if isinstance(self.condition, R2Beyond):  # the only one that asks for it
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
        """To first order, what the removal of each unit adds to the statistic; where it starts.

        The derivative with respect to the rows' weights (AMIP): of the coefficient for a sign or an
        interval, in the units of scaled x and y, of the partial r or R2 otherwise.
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
        """The same, about, by sums in floating point; where too little is left for those, yes."""
        if sums is None:
            return True
        condition = self.condition
        if isinstance(condition, CorrelationBelow) and sums.c * condition.sign < 0:
            return True
        return sums.freedom >= 1 and float(condition.excess(sums, self.moments.scale)) > 0

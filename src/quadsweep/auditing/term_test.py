"""The t test of a coefficient on any rows, for the compiled half, and exactly.

A condition on the partial r of a classical test says which p-value breaks the claim; of any other
test it is the t, or z, of the same p-value.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.conditions import CorrelationAbove, CorrelationBelow
from quadsweep.auditing.exact_tests import ExactTests
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.span import basis
from quadsweep.inputs.standard_errors import StandardErrors


class TermTest:
    """One condition on the t statistics of subsets.

    Attributes
    ----------
    critical : the t, or z, that is compared with, by degrees of freedom.
    rows : the rows in the order of their units, and of their clusters within.
    first : where among them each unit begins, and the end of the last.
    """

    def __init__(
        self,
        moments: Moments,
        condition: CorrelationAbove | CorrelationBelow,
        errors: StandardErrors,
        stage: Moments | None = None,
    ) -> None:
        self._moments, self._condition, self.errors = moments, condition, errors
        self._stage = stage  # the moments are then of the reduced form
        self._design = moments.design
        labels = self.errors.clusters[:1]
        self.rows = np.lexsort((*labels, self._design.unit))
        self.first = np.concatenate([[0], np.cumsum(np.bincount(self._design.unit))])

    @property
    def side(self) -> int:
        """0 where |t| must be below, or the sign with which it must be above."""
        return self._condition.sign if isinstance(self._condition, CorrelationAbove) else 0

    @cached_property
    def critical(self) -> Floats:
        from scipy.special import ndtri, stdtr

        freedom = np.arange(1, self._design.n + 1)
        r = np.clip([self._condition.threshold(int(f)) for f in freedom], 0.0, 1.0)
        with np.errstate(divide="ignore"):
            t = r * np.sqrt(freedom) / np.sqrt((1 - r) * (1 + r))
        if self.errors.normal:
            t = -ndtri(stdtr(freedom, -t))
        return np.concatenate([[np.nan], t])

    @property
    def plain(self) -> bool:
        return self.errors.plain(bool(self._design.absorbed))

    @property
    def usable(self) -> bool:
        """Whether floating point tells what the columns are, and the factors are the plain ones."""
        used = [m for m in (self._moments, self._stage) if m is not None]
        return self.plain and all(m.basis.clear and not m.degenerate for m in used)

    @property
    def _q(self) -> Floats:
        """A basis of all controls, those included that the moments fit by means."""
        if self._moments.classes is None:
            return self._moments.q
        return basis(self._design.expanded().scaled[2]).q

    @cached_property
    def core(self) -> _core.LinearTest:
        """The test as the compiled half wants it."""
        m, errors = self._moments, self.errors
        s, y = m.x[self.rows], m.y[self.rows]
        x = s if self._stage is None else self._stage.y[self.rows]
        clusters = [labels[self.rows] for labels in errors.clusters]
        if len(clusters) == 2:
            clusters.append(clusters[0] * (clusters[1].max() + 1) + clusters[1])
        return _core.LinearTest(
            np.ascontiguousarray(self._q[self.rows]), s, x, y, self.first.tolist(),
            kind=errors.kind,
            clusters=[np.unique(c, return_inverse=True)[1].tolist() for c in clusters],
            k_adj=errors.k_adj, g_adj=errors.g_adj, g_min=errors.g_min,
            cluster_freedom=errors.cluster_freedom, critical=self.critical, side=self.side,
            instrument=self._stage is not None, fixed=self._design.fixed, variance=m.scale[1] ** -2,
            error=float(max(m.error, 0.0 if self._stage is None else self._stage.error)),
        )  # fmt: skip

    @cached_property
    def _exact(self) -> ExactTests:
        d = self._design.expanded()
        if self._stage is None:
            return ExactTests(d.controls, d.x, d.y, weights=d.weights, fixed=d.fixed)
        term = self._stage.design.y
        return ExactTests(d.controls, term, d.y, instrument=d.x, weights=d.weights, fixed=d.fixed)

    def broken(self, removal: Ints) -> bool:
        """Whether the claim breaks without these units, in rational arithmetic."""
        found = self._exact.test(self._design.kept(removal), self.errors)
        if found is None or not np.isfinite(limit := float(self.critical[found.freedom])):
            return False
        if self.side == 0:
            return found.square < Fraction(limit) ** 2
        return found.sign == self.side and found.square > Fraction(limit) ** 2

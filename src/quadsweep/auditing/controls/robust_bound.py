"""No removal of m units makes a robust t statistic small: for any number of controls, by norms.

With u what the controls leave of the term and e the residuals, t^2 = C^2 / (f Q): C = u.y, Q the
sum over rows of (u e)^2, or over clusters of (sum u e)^2, and f the factor for small samples.
Without the rows O, u and e move on the rows that are kept by delta and epsilon, and Q is the square
of a norm, so

    sqrt(Q(O)) <= |u o e| + |delta o e| + |u o epsilon| + |delta o epsilon|

where |delta|^2 on the rows kept is exactly x_O' (P - I) x_O, P = (I - K_OO)^-1, and |epsilon|^2 the
same of e with the term among the controls: ``many_controls_form`` bounds both. With M = sum e_i^2
z_i z_i' over all rows, |delta o e|^2 is at most max e^2 |delta|^2, and at most |M| |delta|^2 / (1 -
kappa) where no m rows have a K_OO of more than kappa.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.conditions import CorrelationBelow
from quadsweep.auditing.controls.many_controls_form import Controls, Form, Unclear
from quadsweep.auditing.controls.proofs import Prover
from quadsweep.auditing.controls.robust import RobustProblem, nested
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.span import basis

_SLACK = 1 + 1e-6  # for rounding
_STRIPE = 512


class RobustBound:
    """Of one test that is significant on all rows, with HC0, HC1 or one-way clustered errors."""

    @staticmethod
    def handles(problem: BreakProblem) -> bool:
        """Rows one by one or whole clusters, and the plain factors."""
        if not isinstance(problem, RobustProblem) or not isinstance(
            problem.condition, CorrelationBelow
        ):
            return False
        m, errors = problem.moments, problem.errors
        plain = (
            problem.regression is None and problem.test.plain and m.basis.clear and not m.degenerate
        )
        if not plain or m.error > 1e-10:
            return False
        if errors.kind == "cluster":
            units = m.design.units is not None and nested(errors.clusters[0], m.design.unit)
            return len(errors.clusters) == 1 and units
        return errors.kind in ("HC0", "HC1") and m.design.units is None

    def __init__(self, problem: RobustProblem, resources: Resources) -> None:
        self._problem, self._design, self._resources = problem, problem.moments.design, resources
        self._prover, m = Prover(problem, resources), problem.moments
        self._x, self._y = m.x, problem.condition.sign * m.y  # type: ignore[attr-defined]
        self._e = self._y - float(self._x @ self._y) * self._x

    def refutes(self, most: int) -> bool:
        """That no removal of up to ``most`` units makes the test insignificant."""
        try:
            c = self._product.least(most, self._resources.left())
            delta = self._moved(self._of_term, most)
            epsilon = self._moved(self._of_residual, most)
        except Unclear:
            return False
        if not (c > 0 and delta < math.inf and epsilon < math.inf):
            return False
        allowed = c / (self._critical(most) * _SLACK) - self._start - delta * epsilon
        of_e, of_u = self._largest(self._e), self._largest(self._x)
        if of_e * delta + of_u * epsilon < allowed:
            return True
        of_e = min(of_e, self._spread(self._z, self._e, most))
        of_u = min(of_u, self._spread(self._z_and_x, self._x, most))
        return of_e * delta + of_u * epsilon < allowed

    # ---- forms ----------------------------------------------------------------------------------

    @cached_property
    def _with_term(self) -> Controls:
        d = self._prover.design
        x = np.column_stack([d.controls, self._x / d.root_weights])
        return Controls(d, x, lambda: -1, d.classes)

    @cached_property
    def _product(self) -> Form:
        return self._prover.left(self._x, self._y)

    @cached_property
    def _of_term(self) -> Form:
        return self._prover.left(self._x, self._x, self._x**2)

    @cached_property
    def _of_residual(self) -> Form:
        return Form(self._with_term, self._prover.design, self._e, self._e, self._e**2)

    def _moved(self, form: Form, m: int) -> float:
        """At most so long is delta, or epsilon, on the rows kept."""
        return math.sqrt(max(-form.least(m, self._resources.left()), 0.0))

    # ---- norms ----------------------------------------------------------------------------------

    def _sums(self, values: Floats) -> Floats:
        """Of each row, or of each cluster."""
        clusters = self._problem.errors.clusters
        return np.bincount(clusters[0], values).astype(np.float64) if clusters else values

    @cached_property
    def _start(self) -> float:
        return float(np.linalg.norm(self._sums(self._x * self._e)))

    def _largest(self, column: Floats) -> float:
        return math.sqrt(float(self._sums(column * column).max()))

    @cached_property
    def _z(self) -> Floats:
        return basis(self._design.expanded().scaled[2]).q

    @cached_property
    def _z_and_x(self) -> Floats:
        return np.column_stack([self._z, self._x])

    def _spread(self, z: Floats, column: Floats, m: int) -> float:
        """|sum c_i z_i v_i| for v with |v|^2 summing to one on the rows kept; rows only."""
        if self._problem.errors.clusters:
            return math.inf
        kappa = self._row_sum(z, m)
        if kappa >= 1:
            return math.inf
        weighted = column[:, None] * z
        return float(np.linalg.norm(weighted, 2)) / math.sqrt(1 - kappa)

    def _critical(self, most: int) -> float:
        """The largest t that may be needed, times the root of the largest factor."""
        errors, d = self._problem.errors, self._design
        sizes = np.sort(np.bincount(d.unit, minlength=d.size))[::-1]
        k = d.n - int(sizes[:most].sum())
        used = self._problem.moments.rank + 1 + d.fixed
        freedom, factor = k - used, 1.0
        if freedom < 1:
            return math.inf
        if errors.k_adj:
            factor = k / freedom
        if errors.kind == "cluster":
            pairs = np.unique(np.column_stack([d.unit, errors.clusters[0]]), axis=0)
            each = np.sort(np.bincount(pairs[:, 0], minlength=d.size))[::-1]
            g = len(pairs) - int(each[:most].sum())
            if g < 2:
                return math.inf
            factor *= g / (g - 1) if errors.g_adj else 1.0
            freedom = min(g - 1, freedom) if errors.cluster_freedom else freedom
        return float(self._problem.test.critical[freedom]) * math.sqrt(factor)

    def _row_sum(self, z: Floats, m: int) -> float:
        """The largest sum of m entries of a row of |z z'|, the diagonal among them."""
        largest = 0.0
        for start in range(0, len(z), _STRIPE):
            self._resources.check()
            k = np.abs(z[start : start + _STRIPE] @ z.T)
            own = np.arange(len(k))
            sums = k[own, start + own].copy()
            k[own, start + own] = 0.0
            if m > 1:
                others = min(m - 1, k.shape[1])
                sums += np.partition(k, -others, axis=1)[:, -others:].sum(axis=1)
            largest = max(largest, float(sums.max()))
            if largest >= 1:
                break
        return largest

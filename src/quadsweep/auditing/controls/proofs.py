"""From a condition to forms that must stay positive, for any number of controls.

Each condition breaks on a subset only if a form in what Z leaves of x and y is zero or negative:

    SlopeBeyond       sign (beta a - c)
    CorrelationBelow  2 c - t (tau a + b / tau): r > t is implied by it, for any tau; 1 first, since
                      x and y have length one on all rows, then that of a removal for which it fails
    CorrelationAbove  t (tau' a + b / tau'') - 2 sign c, for an interval of tau = sqrt(b / a); it is
                      halved where the form fails for a removal that does not break the claim
    R2Beyond          (1 - t) TSS - RSS or its negative; RSS on the rows kept is at most that of all
                      rows less the squares removed, and TSS likewise

A form s x^2 - x y + v y^2 with 4 s v < 1 is a product of two linear ones, p and q; so all of them
are sums of products, and ``many_controls_form`` bounds those.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import CorrelationAbove, CorrelationBelow, R2Beyond, SlopeBeyond
from quadsweep.auditing.classes import broken_by
from quadsweep.auditing.controls.many_controls_form import Controls, Form, FormProof, Unclear
from quadsweep.auditing.design import Design
from quadsweep.auditing.resources import Resources

_TAUS = 6  # intervals of tau to begin with
_FAR = 10.0  # tau and its inverse up to which it is divided, where no more is known
_NARROW = 1e-6  # an interval of tau beyond which halving tells no more
_TRIES = 8  # values of tau for one that is implied
_NOT = FormProof(False)
_TRUSTED = 1e-10  # rounding of the residuals beyond which nothing is proved


class Prover:
    """Proves that no removal of some sizes breaks a claim."""

    def __init__(self, problem: BreakProblem, resources: Resources | None = None) -> None:
        self._problem = problem
        self._resources = Resources(math.inf) if resources is None else resources
        m = problem.moments
        self._trusted = m.basis.clear and not m.degenerate and m.error < _TRUSTED
        self._fixed: Form | None = None
        sizes = np.sort(np.bincount(m.design.unit, minlength=m.design.size))
        self._fewest_rows = np.concatenate([[0], np.cumsum(sizes)])
        self._most_rows = np.concatenate([[0], np.cumsum(sizes[::-1])])

    def refute(
        self, fewest: int, most: int, patience: float = math.inf, branch: bool = True
    ) -> FormProof:
        """That no removal of ``fewest`` to ``most`` units breaks the claim."""
        if not self._trusted:
            return _NOT
        try:
            return self._refute(fewest, most, patience, branch)
        except Unclear:
            return _NOT

    def _refute(self, fewest: int, most: int, patience: float, branch: bool) -> FormProof:
        condition = self._problem.condition
        if isinstance(condition, (SlopeBeyond, R2Beyond)):
            if self._fixed is None:
                self._fixed = (
                    self._slope_form(condition)
                    if isinstance(condition, SlopeBeyond)
                    else self._r2_form(condition)
                )
            return self._run(self._fixed, most, patience, branch)
        if isinstance(condition, CorrelationBelow):
            return self._below(condition, most, patience, branch)
        assert isinstance(condition, CorrelationAbove)
        return self._above(condition, fewest, most, patience, branch)

    @cached_property
    def _controls(self) -> Controls:
        d = self.design
        return Controls(d, d.controls, self._rank, d.classes)

    @cached_property
    def design(self) -> Design:
        """With columns for classes of which a group takes a part."""
        d = self._problem.moments.design
        if d.classes is None or d.units is None or not len(broken_by(d.classes, d.unit)):
            return d
        return d.expanded()

    def _rank(self) -> int:
        return self._problem.moments.rank_without(np.zeros(0, dtype=np.int64))

    @cached_property
    def _product(self) -> Form:
        m = self._problem.moments
        return self.residual_form(m.x, m.y)

    def residual_form(self, p: Floats, q: Floats, extra: Floats | None = None) -> Form:
        """What the controls leave of p.q, less the sum of ``extra``."""
        return Form(self._controls, self.design, p, q, extra)

    def _run(self, form: Form, m: int, patience: float, branch: bool) -> FormProof:
        return form.refute(m, self._resources, patience, branch=branch)

    def _slope_form(self, condition: SlopeBeyond) -> Form:
        m = self._problem.moments
        q = -condition.sign * (m.y - condition.beta * m.scale[0] / m.scale[1] * m.x)
        return self.residual_form(m.x, q / max(float(np.linalg.norm(q)), 1e-300))

    def freedom(self, rows_gone: int, rank_lost: int = 0) -> int:
        """Degrees of freedom without so many rows, and with so many controls fewer."""
        m = self._problem.moments
        return m.design.n - rows_gone - (m.rank + m.design.fixed - rank_lost) - 1

    def threshold_below(self, condition: CorrelationBelow, most: int) -> float:
        """The highest threshold, that of the fewest degrees of freedom, is the easiest."""
        m = self._problem.moments
        gained = 0 if m.basis.clear else m.design.q - m.rank
        return condition.threshold(max(1, self.freedom(int(self._most_rows[most]), -gained)))

    def least_threshold_above(self, condition: CorrelationAbove, fewest: int) -> float:
        """The threshold where all controls drop out: no higher than the lowest, and at once."""
        lost = self._problem.moments.rank
        return condition.threshold(max(1, self.freedom(int(self._fewest_rows[fewest]), lost)))

    def threshold_above(self, condition: CorrelationAbove, fewest: int, most: int) -> float:
        """The lowest threshold, that of the most degrees of freedom, is the easiest."""
        m = self._problem.moments
        try:
            seconds = self._resources.time_left()
            lost = self._product.rank_lost(most, seconds) if m.basis.clear else m.rank
        except Unclear:
            lost = m.rank
        return condition.threshold(max(1, self.freedom(int(self._fewest_rows[fewest]), lost)))

    def _below(
        self, condition: CorrelationBelow, most: int, patience: float, branch: bool
    ) -> FormProof:
        m, t = self._problem.moments, self.threshold_below(condition, most)
        if not 0 < t < 1:
            return _NOT
        root, tau = math.sqrt((1 - t) / (1 + t)), 1.0
        verdict = _NOT
        for _ in range(_TRIES):
            x, y = math.sqrt(tau) * m.x, condition.sign / math.sqrt(tau) * m.y
            p = (1 + root) * y - (1 - root) * x
            q = (1 - root) * y - (1 + root) * x
            verdict = self._run(self.residual_form(p, -q), most, patience, branch)
            if self._is_final(verdict):
                break
            tau = self._ratio(verdict.removal)
        return verdict

    def _is_final(self, verdict: FormProof) -> bool:
        """Whether it is proved, or fails for a removal that breaks the claim, or nobody knows."""
        gone = verdict.removal
        return verdict.proved or gone is None or self._problem.broken(gone)

    def _ratio(self, removal: Any) -> float:
        """tau without some units."""
        m = self._problem.moments
        at = m.without(m.design.rows(removal))
        return math.sqrt(at.b / at.a) if at is not None and at.a > 0 and at.b > 0 else 1.0

    def _above(
        self, condition: CorrelationAbove, fewest: int, most: int, patience: float, branch: bool
    ) -> FormProof:
        m = self._problem.moments
        t = self.threshold_above(condition, fewest, most)
        if t >= 1:
            return FormProof(True)
        y = condition.sign * m.y
        a, b = (self.residual_form(v, v).least(most, self._resources.time_left()) for v in (m.x, y))
        if not t > 0:
            return self._run(self.residual_form(m.x, -y), most, patience, branch)  # r > 0 at least
        pending = _intervals(a, b)
        while pending:
            low, high = pending.pop()
            verdict = self._run(self._between(low, high, t, y), most, patience, branch)
            if verdict.proved:
                continue
            if not branch or self._is_final(verdict) or high < (1 + _NARROW) * low:
                return verdict
            middle = _middle(low, high)
            pending += [(middle, high), (low, middle)]
        return FormProof(True)

    def _between(self, low: float, high: float, t: float, y: Floats) -> Form:
        """t (low a + b / high) / 2 - c."""
        x, s, v = self._problem.moments.x, t * low / 2, t / (2 * high)
        if s == 0:
            return self.residual_form(y, v * y - x)
        disc = math.sqrt(1 - 4 * s * v)
        p, q = x - (1 + disc) / (2 * s) * y, s * x - (1 - disc) / 2 * y
        length = float(np.linalg.norm(p))
        return self.residual_form(p / length, q * length)

    def _r2_form(self, condition: R2Beyond) -> Form:
        m, d = self._problem.moments, self.design
        inside = np.ones(d.n, dtype=bool)
        about = self._problem.about_the_mean(inside)
        rest = m.y - float(m.x @ m.y) / float(m.x @ m.x) * m.x
        if condition.sign > 0:  # R2 rises: RSS > (1 - t) TSS as long as it does not
            x = np.column_stack([d.controls, m.x / d.root_weights])
            spread = max(1 - condition.threshold, 0.0) * about * about
            return Form(Controls(d, x, _unknown, d.classes), d, rest, rest, spread)
        root = math.sqrt(max(1 - condition.threshold, 0.0))
        ones = np.ones((d.n, int(d.intercept is not None)))
        return Form(Controls(d, ones, _unknown), d, root * about, root * about, rest * rest)


def _intervals(a: float, b: float) -> list[tuple[float, float]]:
    """Of tau, the first one last, where at least a and b are left of x and y."""
    least = math.sqrt(b) * (1 - 1e-9) if b > 0 else 0.0
    most = (1 + 1e-9) / math.sqrt(a) if a > 0 else math.inf
    inner = np.geomspace(max(least, 1 / _FAR), min(most, _FAR), _TAUS + 1)
    edges = [*([least] if least < inner[0] else []), *inner.tolist()]
    edges += [most] if most > inner[-1] else []
    return list(itertools.pairwise(edges))[::-1]


def _middle(low: float, high: float) -> float:
    """Where an interval of tau is divided."""
    if low > 0 and high < math.inf:
        return math.sqrt(low * high)
    return high / 4 if high < math.inf else 4 * low


def _unknown() -> int:
    return -1

"""From a condition to forms that must stay positive, for any number of controls.

Each condition breaks on a subset only if a form in what Z leaves of x and y is zero or negative:

    SlopeBeyond       sign (beta a - c)
    CorrelationBelow  2 c - t (a + b): r > t is implied by it, for x and y of length one on all rows
    CorrelationAbove  t (tau' a + b / tau'') - 2 sign c, for an interval of tau = sqrt(b / a)
    R2Beyond          (1 - t) TSS - RSS or its negative; RSS on the rows kept is at most that of all
                      rows less the squares removed, and TSS likewise

A form s x^2 - x y + v y^2 with 4 s v < 1 is a product of two linear ones, p and q; so all of them
are sums of products, and ``remaining`` bounds those.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import CorrelationAbove, CorrelationBelow, R2Beyond, SlopeBeyond
from quadsweep.auditing.controls.remaining import MOST_PAIRS, Form, Search, State, Unclear, Verdict

_TAUS = 6  # intervals of tau
_NOT = Verdict(False)
_TRUSTED = 1e-10  # rounding of the residuals beyond which nothing is proved


class Prover:
    """Proves that no removal of some sizes breaks a claim."""

    def __init__(
        self,
        case: Case,
        check: Callable[[], object] = lambda: None,
        most_nodes: int = 2_000,
        most_pairs: int = MOST_PAIRS,
    ) -> None:
        self._case, self._check, self._most_nodes = case, check, most_nodes
        self._most_pairs = most_pairs
        self.nodes = 0
        m = case.moments
        self._trusted = m.basis.clear and not m.degenerate and m.error < _TRUSTED
        self._fixed: Search | None = None
        sizes = np.sort(np.bincount(m.design.unit, minlength=m.design.size))
        self._fewest_rows = np.concatenate([[0], np.cumsum(sizes)])
        self._most_rows = np.concatenate([[0], np.cumsum(sizes[::-1])])

    def refute(self, fewest: int, most: int, branch: bool = True) -> Verdict:
        """That no removal of ``fewest`` to ``most`` units breaks the claim."""
        if not self._trusted:
            return _NOT
        how = self._case.condition
        if isinstance(how, (SlopeBeyond, R2Beyond)):
            if self._fixed is None:
                self._fixed = self._search(self._tilt(how) if isinstance(how, SlopeBeyond)
                                           else self._determined(how))  # fmt: skip
            return self._run(self._fixed, most, branch)
        if isinstance(how, CorrelationBelow):
            form = self._weak(how, most)
            return _NOT if form is None else self._run(self._search(form), most, branch)
        assert isinstance(how, CorrelationAbove)
        return self._strong(how, fewest, most, branch)

    def _form(self, p: Floats, q: Floats) -> Form:
        moments = self._case.moments
        return Form(
            moments.design.controls,
            p,
            q,
            rank_without=moments.rank_without,
            most_pairs=self._most_pairs,
        )

    def _search(self, form: Form) -> Search:
        return Search(form, self._case.moments.design, self._most_nodes, self._check)

    def _run(self, search: Search, m: int, branch: bool) -> Verdict:
        verdict = search.refute(m, branch)
        self.nodes += verdict.nodes
        return verdict

    def _tilt(self, how: SlopeBeyond) -> Form:
        m = self._case.moments
        q = -how.sign * (m.y - how.beta * m.scale[0] / m.scale[1] * m.x)
        return self._form(m.x, q / max(float(np.linalg.norm(q)), 1e-300))

    def freedom(self, rows_gone: int, rank_lost: int = 0) -> int:
        """Degrees of freedom without so many rows, and with so many controls fewer."""
        m = self._case.moments
        return m.design.n - rows_gone - (m.rank + m.design.fixed - rank_lost) - 1

    def weak_threshold(self, how: CorrelationBelow, most: int) -> float:
        """The highest threshold, that of the fewest degrees of freedom, is the easiest."""
        m = self._case.moments
        gained = 0 if m.basis.clear else m.design.q - m.rank
        return how.threshold(max(1, self.freedom(int(self._most_rows[most]), -gained)))

    def strong_threshold(self, how: CorrelationAbove, fewest: int, most: int) -> float:
        """The lowest threshold, that of the most degrees of freedom, is the easiest."""
        m = self._case.moments
        try:
            lost = self.root(m.x, m.y).rank_lost(most) if m.basis.clear else m.rank
        except Unclear:
            lost = m.rank
        return how.threshold(max(1, self.freedom(int(self._fewest_rows[fewest]), lost)))

    def _weak(self, how: CorrelationBelow, most: int) -> Form | None:
        m, t = self._case.moments, self.weak_threshold(how, most)
        if not 0 < t < 1:
            return None
        root, y = math.sqrt((1 - t) / (1 + t)), how.sign * m.y
        p = (1 + root) * y - (1 - root) * m.x
        q = (1 - root) * y - (1 + root) * m.x
        return self._form(p, -q)

    def root(self, p: Floats, q: Floats) -> State:
        """What is left of p.q, all rows present."""
        m = self._case.moments
        return State(self._form(p, q), m.design, np.zeros(0, dtype=np.int64))

    def _strong(self, how: CorrelationAbove, fewest: int, most: int, branch: bool) -> Verdict:
        m = self._case.moments
        try:
            t = self.strong_threshold(how, fewest, most)
            if t >= 1:
                return Verdict(True)
            y = how.sign * m.y
            a, b = self.root(m.x, m.x).least(most), self.root(y, y).least(most)
        except Unclear:
            return _NOT
        if not (a > 0 and b > 0 and t > 0):
            form = self._form(m.x, -y)  # r > 0 at least
            return self._run(self._search(form), most, branch)
        edges = np.geomspace(math.sqrt(b) * (1 - 1e-9), (1 + 1e-9) / math.sqrt(a), _TAUS + 1)
        for low, high in itertools.pairwise(edges.tolist()):
            s, v = t * low / 2, t / (2 * high)
            disc = math.sqrt(1 - 4 * s * v)
            p, q = m.x - (1 + disc) / (2 * s) * y, s * m.x - (1 - disc) / 2 * y
            length = float(np.linalg.norm(p))
            verdict = self._run(self._search(self._form(p / length, q * length)), most, branch)
            if not verdict.proved:
                return verdict
        return Verdict(True)

    def _determined(self, how: R2Beyond) -> Form:
        m = self._case.moments
        inside = np.ones(m.design.n, dtype=bool)
        about = self._case.about_the_mean(inside)
        rest = m.y - float(m.x @ m.y) / float(m.x @ m.x) * m.x
        if how.sign > 0:  # R2 rises: RSS > (1 - t) TSS as long as it does not
            x = np.column_stack([m.design.controls, m.x / m.design.root_weights])
            return Form(x, rest, rest, (1 - how.threshold) * about * about)
        root = math.sqrt(max(1 - how.threshold, 0.0))
        at = m.design.intercept
        ones = np.ones((m.design.n, int(at is not None)))
        return Form(ones, root * about, root * about, rest * rest)

"""Every removal of m units: in floating point, and exactly where that is near a threshold.

The Gram matrix of (Q, x, y) without some units is that of all rows less the units' own, so many
removals are looked at in one go. Without a limit on time as many removals are tried as take some
seconds (``MOST``); with one, as many as can be tried in the time left.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, islice
from math import comb

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import CorrelationAbove, CorrelationBelow, R2Beyond, SlopeBeyond
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.moments import WORST
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.resources import OutOfPatience, Resources

MOST = 2_000_000  # removals tried without a limit on time
_SPEED = 50_000  # removals a second, about
_CHUNK = 4_096
_NEAR = 1e-6
_MOST_COLUMNS = 40


class Enumeration(Oracle):
    """Tries every removal of m units, where they are few. It goes on where it left off."""

    def __init__(self, case: Case, resources: Resources) -> None:
        super().__init__(case, resources)
        self._moments, self._design = case.moments, case.moments.design
        self._left: dict[int, Iterator[Ints]] = {}

    @classmethod
    def handles(cls, case: Case) -> bool:
        return case.moments.rank <= _MOST_COLUMNS and not isinstance(case, RobustCase)

    def is_feasible(self, m: int) -> bool:
        """Whether every removal of m units can be tried in time."""
        ways, seconds = comb(self._design.size, m), self.resources.left()
        return ways <= (max(seconds * _SPEED, _CHUNK) if self.resources.is_limited else MOST)

    def decide(self, fewest: int, most: int) -> Decision:
        """Of one number of removals only."""
        if fewest != most or not (most in self._left or self.is_feasible(most)):
            return UNDECIDED
        left = self._left.setdefault(most, self._chunks(most))
        end = time.perf_counter() + self.resources.for_a_question()
        for chunk in left:
            self.resources.check()
            found = self._first(chunk)
            if found is not None:
                del self._left[most]
                return Decision(found)
            if time.perf_counter() > end:
                raise OutOfPatience
        self._left[most] = iter(())
        return REFUTED

    def _first(self, chunk: Ints) -> Ints | None:
        """The first of these removals that breaks the claim."""
        removal: Ints
        for removal in chunk[self._may_break(chunk)]:
            if self.case.broken(removal):
                return removal
        return None

    def _chunks(self, m: int) -> Iterator[Ints]:
        ways = combinations(range(self._design.size), m)
        while chunk := list(islice(ways, _CHUNK)):
            yield np.array(chunk, dtype=np.int64).reshape(len(chunk), m)

    @cached_property
    def _grams(self) -> Floats:
        """Of each unit: products of (Q, x, y); then rows, sum of weights, of y and of y^2."""
        m, d = self._moments, self._design
        columns = np.column_stack([m.q, m.x, m.y])
        products = (columns[:, :, None] * columns[:, None, :]).reshape(d.n, -1)
        root = d.root_weights
        y = d.scaled[1] / m.scale[1]
        plain = np.column_stack([np.ones(d.n), root * root, root * y, y * y])
        return d.sums(np.column_stack([products, plain]))

    def _may_break(self, removals: Ints) -> Mask:
        m, d = self._moments, self._design
        if not m.basis.clear or m.degenerate:
            return np.ones(len(removals), dtype=bool)
        left = self._grams.sum(axis=0) - self._grams[removals].sum(axis=1)
        r = m.rank
        g = left[:, : (r + 2) ** 2].reshape(-1, r + 2, r + 2)
        k, weight, first, second = left[:, (r + 2) ** 2 :].T
        may = np.ones(len(removals), dtype=bool)
        fine, least = np.ones(len(removals), dtype=bool), np.ones(len(removals))
        if r:
            least = np.linalg.eigvalsh(g[:, :r, :r])[:, 0]
            fine = least > 1e-6
        inner = g[fine]
        if r:
            inner = inner[:, r:, r:] - inner[:, r:, :r] @ np.linalg.solve(
                inner[:, :r, :r], inner[:, :r, r:]
            )
        a, b, c = inner[:, 0, 0], inner[:, 1, 1], inner[:, 0, 1]
        freedom = np.rint(k[fine]).astype(int) - r - d.fixed - 1
        total = second[fine]
        if d.intercept is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                total = total - first[fine] ** 2 / weight[fine]
        good = (a > 0) & (b > 0) & (total > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            good &= m.rounding(least[fine], a, b, total) < WORST
            past = self._excess(a, b, c, total, freedom)
        may[fine] = ~good | ~(past < -_NEAR)
        return may

    def _excess(self, a: Floats, b: Floats, c: Floats, total: Floats, freedom: Ints) -> Floats:
        how, scale = self.case.condition, self._moments.scale
        if isinstance(how, SlopeBeyond):
            lean = how.beta * scale[0] / scale[1]
            past = how.sign * (c - lean * a) / np.sqrt(a * b) - how.margin
            return np.asarray(past / (1 + abs(lean) * np.sqrt(a / b)))
        if isinstance(how, R2Beyond):
            return np.asarray(how.sign * (1 - (b - c * c / a) / total - how.threshold))
        assert isinstance(how, (CorrelationAbove, CorrelationBelow))
        limits = {f: how.threshold(int(f)) if f >= 1 else np.inf for f in np.unique(freedom)}
        limit = np.array([limits[f] for f in freedom])
        r = c / np.sqrt(a * b)
        past = how.sign * r - limit if isinstance(how, CorrelationAbove) else limit - np.abs(r)
        return np.where(freedom >= 1, past, -np.inf)

"""All removals of m units, where they are few: in floating point, and exactly where that is near.

The Gram matrix of (Q, x, y) without some units is that of all rows less the units' own, so many
removals are looked at in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations, islice
from math import comb

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.controls.case import Case
from quadsweep.auditing.controls.conditions import Determined, Strong, Tilt, Weak
from quadsweep.auditing.controls.moments import WORST
from quadsweep.auditing.controls.robust import RobustCase
from quadsweep.auditing.decisions import FOUND_NONE, UNKNOWN, Answer

_LISTED = 200_000
_CHUNK = 4_096
_REFITTED = 200_000  # rows refitted in all, for tests that no sums tell
_NEAR = 1e-6
_MOST_COLUMNS = 40


class Listing:
    """Tries every removal of m units."""

    def __init__(self, case: Case, check: Callable[[], object]) -> None:
        self._case, self._check = case, check
        self._moments = case.moments
        self._design = case.moments.design

    def few(self, m: int) -> bool:
        columns = self._moments.rank
        return columns <= _MOST_COLUMNS and comb(self._design.size, m) <= _LISTED

    def listed(self, m: int) -> Answer:
        """A removal that breaks the claim, that there is none, or that they are too many."""
        if not self.few(m):
            return UNKNOWN
        if isinstance(self._case, RobustCase):
            return self._refitted(self._case, m)
        for chunk in self._chunks(m):
            self._check()
            for removal in chunk[self._may_break(chunk)]:
                if self._case.broken(removal):
                    return Answer(removal)
        return FOUND_NONE

    def _refitted(self, case: RobustCase, m: int) -> Answer:
        """One by one, where no sums tell the test."""
        if comb(self._design.size, m) * self._design.n > _REFITTED:
            return UNKNOWN
        unclear = False
        for removal in combinations(range(self._design.size), m):
            self._check()
            gone = np.array(removal, dtype=np.int64)
            past = case.excess(gone)
            if case.broken(gone):
                return Answer(gone)
            unclear |= past > -_NEAR
        return UNKNOWN if unclear else FOUND_NONE

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
        how, scale = self._case.condition, self._moments.scale
        if isinstance(how, Tilt):
            lean = how.beta * scale[0] / scale[1]
            past = how.sign * (c - lean * a) / np.sqrt(a * b) - how.margin
            return np.asarray(past / (1 + abs(lean) * np.sqrt(a / b)))
        if isinstance(how, Determined):
            return np.asarray(how.sign * (1 - (b - c * c / a) / total - how.threshold))
        assert isinstance(how, (Strong, Weak))
        limits = {f: how.threshold(int(f)) if f >= 1 else np.inf for f in np.unique(freedom)}
        limit = np.array([limits[f] for f in freedom])
        r = c / np.sqrt(a * b)
        past = how.sign * r - limit if isinstance(how, Strong) else limit - np.abs(r)
        return np.where(freedom >= 1, past, -np.inf)

"""Which of many removals may break a claim, as far as floating point tells.

The Gram matrix of (Q, x, y) without some units is that of all rows less the units' own, so many
removals are looked at in one go.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.case import Case
from quadsweep.auditing.moments import WORST, Sums

NEAR = 1e-6
MOST_COLUMNS = 40
_NUMBERS = 5_000_000  # at a time


class Screen:
    """The units' own products, and what is left without some of them."""

    def __init__(self, case: Case) -> None:
        self._case, self._rank = case, case.moments.rank
        m, d = case.moments, case.moments.design
        columns = np.column_stack([m.q, m.x, m.y])
        products = (columns[:, :, None] * columns[:, None, :]).reshape(d.n, -1)
        root = d.root_weights
        y = d.scaled[1] / m.scale[1] if m.scale[1] > 0 else d.scaled[1]
        plain = np.column_stack([np.ones(d.n), root * root, root * y, y * y])
        # Of each unit: products of (Q, x, y); then rows, sum of weights, of y and of y^2.
        self._grams = d.sums(np.column_stack([products, plain]))
        self._total = self._grams.sum(axis=0)

    def removals(self, removals: Ints) -> Mask:
        """Which of these, a removal in each row, may break the claim."""
        return self._may_break(self._total - self._grams[removals].sum(axis=1))

    def first(self, order: Ints) -> Iterator[int]:
        """The numbers m for which removing the first m units of an order may break the claim."""
        step = max(1, _NUMBERS // self._grams.shape[1])
        left = self._total
        for start in range(0, len(order), step):
            chunk = left - np.cumsum(self._grams[order[start : start + step]], axis=0)
            yield from (int(i) + start + 1 for i in np.flatnonzero(self._may_break(chunk)))
            left = chunk[-1]

    def _may_break(self, left: Floats) -> Mask:
        m, d, r = self._case.moments, self._case.moments.design, self._rank
        may = np.ones(len(left), dtype=bool)
        if not m.basis.clear or m.degenerate:
            return may
        g = left[:, : (r + 2) ** 2].reshape(-1, r + 2, r + 2)
        k, weight, first, second = left[:, (r + 2) ** 2 :].T
        fine: Mask = may.copy()
        least: Floats = np.ones(len(left))
        if r:
            least = np.asarray(np.linalg.eigvalsh(g[:, :r, :r])[:, 0], dtype=np.float64)
            fine = least > 1e-6
        inner = g[fine]
        if r:
            inner = inner[:, r:, r:] - inner[:, r:, :r] @ np.linalg.solve(
                inner[:, :r, :r], inner[:, :r, r:]
            )
        a, b, c = inner[:, 0, 0], inner[:, 1, 1], inner[:, 0, 1]
        total = second[fine]
        with np.errstate(divide="ignore", invalid="ignore"):
            if d.intercept is not None:
                total = total - first[fine] ** 2 / weight[fine]
            good = (a > 0) & (b > 0) & (total > 0)
            good &= m.rounding(least[fine], a, b, total) < WORST
            sums = Sums(np.rint(k[fine]).astype(int), r + d.fixed, a, b, c, total)
            past = np.where(sums.freedom < 1, -np.inf, self._case.condition.excess(sums, m.scale))
        may[fine] = ~good | ~(past < -NEAR)
        return may

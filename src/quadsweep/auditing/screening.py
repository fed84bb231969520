"""Which of many removals may break a claim, as far as floating point tells.

The Gram matrix of (Q, x, y) without some units is that of all rows less the units' own, so many
removals are screened together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.classes import broken_by
from quadsweep.auditing.moments import WORST, Moments, Sums

NEAR = 1e-6
_NUMBERS = 5_000_000  # most numbers in a chunk, and in the units' products


class Screen:
    """Tells which removals may break every part of a problem."""

    @staticmethod
    def fits(problem: BreakProblem) -> bool:
        """Whether the problem has parts, and the products of their units are few enough."""
        return bool(problem.parts) and all(map(_has_few_products, problem.parts))

    def __init__(self, problem: BreakProblem) -> None:
        self._parts = [_UnitProducts(part) for part in problem.parts]

    def removals(self, removals: Ints) -> Mask:
        """Which of these, a removal in each row, may break the claim."""
        return _all(part.removals(removals) for part in self._parts)

    def first(self, order: Ints) -> Iterator[int]:
        """Yield the numbers m for which removing the first m units may break the claim."""
        step = max(1, min(part.most_at_once for part in self._parts))
        for start in range(0, len(order), step):
            chunk = order[start : start + step]
            may = _all([part.prefixes(order[:start], chunk) for part in self._parts])
            yield from (int(i) + start + 1 for i in np.flatnonzero(may))


def _all(masks: Iterable[Mask]) -> Mask:
    return reduce(np.logical_and, masks)


def _has_few_products(problem: BreakProblem) -> bool:
    """Whether no class spans units and the products are few enough."""
    m = problem.moments
    d, whole = m.design, m.classes is None
    if m.classes is not None and d.units is not None:
        whole = not len(broken_by(m.classes.of_row, d.unit))
    return whole and d.size * (m.q.shape[1] + 2) ** 2 <= _NUMBERS


class _UnitProducts:
    """Gram matrices of the units, and of all rows without some units."""

    def __init__(self, problem: BreakProblem) -> None:
        self._problem, self._rank = problem, int(problem.moments.q.shape[1])
        m, d = problem.moments, problem.moments.design
        columns = np.column_stack([m.q, m.x, m.y])
        products = d.products(columns).reshape(d.size, -1)
        root = d.root_weights
        y = d.scaled[1] / m.scale[1] if m.scale[1] > 0 else d.scaled[1]
        plain = np.column_stack([np.ones(d.n), root * root, root * y, y * y, _first_of_class(m)])
        # Of each unit: products of (Q, x, y); then rows, sum of weights, of y and of y^2, classes.
        self._grams = np.column_stack([products, d.sums(plain)])
        self._total = self._grams.sum(axis=0)

    def removals(self, removals: Ints) -> Mask:
        """Which of these, a removal in each row, may break the claim."""
        return self._may_break(self._total - self._grams[removals].sum(axis=1))

    @property
    def most_at_once(self) -> int:
        """How many removals may be screened together."""
        return int(_NUMBERS // self._grams.shape[1])

    def prefixes(self, gone: Ints, order: Ints) -> Mask:
        """Return which removals may break the claim: those gone and the first 1, 2, ... units."""
        left = self._total - self._grams[gone].sum(axis=0)
        return self._may_break(left - np.cumsum(self._grams[order], axis=0))

    def _may_break(self, left: Floats) -> Mask:
        m, d, r = self._problem.moments, self._problem.moments.design, self._rank
        may = np.ones(len(left), dtype=bool)
        if not m.basis.clear or m.degenerate:
            return may
        g = left[:, : (r + 2) ** 2].reshape(-1, r + 2, r + 2)
        k, weight, first, second, classes = left[:, (r + 2) ** 2 :].T
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
            rows, rank = (np.rint(v[fine]).astype(int) for v in (k, classes + r + d.fixed))
            sums: Sums[Any] = Sums(rows, rank, a, b, c, total)
            past = np.where(
                sums.freedom < 1, -np.inf, self._problem.condition.excess(sums, m.scale)
            )
        may[fine] = ~good | ~(past < -NEAR)
        return may


def _first_of_class(m: Moments) -> Floats:
    """1 for one row of each class."""
    first = np.zeros(m.design.n)
    if m.classes is not None:
        first[[rows[0] for rows in m.classes.members if len(rows)]] = 1.0
    return first

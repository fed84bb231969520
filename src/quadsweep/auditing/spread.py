"""How little a column can vary on k of its points, and how far their mean can lie from the centre.

Among k sorted values the j-th from below and the j-th from above differ by a gap g, and add at
least g^2 / 2 to the sum of squares about any mean. The least sum of squares belongs to neighbours
in sorted order, so the least of these bounds over all windows of k neighbours holds for every k
points, and for every larger set too.
"""

from __future__ import annotations

import itertools
import math
import sys
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats

_RINGS = 12
_SOME = 1_000  # values among which a gap is looked for first


class Column:
    """A column, sorted once.

    Examples
    --------
    >>> import numpy as np
    >>> round(Column(np.array([0.0, 1, 5, 6])).least_squares(2), 6)
    0.5
    """

    def __init__(self, values: Floats) -> None:
        self.sorted = np.sort(values)
        self.n = len(values)

    @cached_property
    def _some_gap(self) -> float:
        """One that is no smaller, 0 where some values do not tell."""
        return _least_gap(self.sorted[:_SOME])

    @np.errstate(over="ignore")  # squares beyond the largest number are bounded by it
    def least_squares(self, k: int) -> float:
        """A positive number that the sum of squares about the mean of no k or more points is below,
        unless they are all equal."""
        v, pairs = self.sorted, k // 2
        edges = np.unique(np.linspace(0, pairs, min(pairs, _RINGS) + 1).astype(int))
        starts = self.n - k + 1
        total = np.zeros(starts)
        for lo, hi in itertools.pairwise(edges):
            inner = hi - 1  # the narrowest pair of the ring
            gap = v[k - 1 - inner : k - 1 - inner + starts] - v[inner : inner + starts]
            total += (hi - lo) * gap * gap / 2
        least = min(float(total.min()) * (1 - 1e-9), sys.float_info.max)
        if self._some_gap > 0 and least >= 0.499 * self._some_gap * self._some_gap:
            return least
        closest = _least_gap(self.sorted)
        return min(max(least, 0.499 * closest * closest), sys.float_info.max)

    def distance(self, k: int, centre: float) -> float:
        """How far the mean of k or more points can lie from a centre, in their own spread."""
        v = self.sorted
        reach = max(abs(float(v[:k].mean()) - centre), abs(float(v[-k:].mean()) - centre))
        spread = math.sqrt(self.least_squares(k) / k)
        return reach / spread if spread > 0 else math.inf


def _least_gap(ordered: Floats) -> float:
    gaps = np.diff(ordered)
    gaps = gaps[gaps > 0]
    return float(gaps.min()) if len(gaps) else 0.0

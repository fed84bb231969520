"""Rows that the pass for sums prefetches: those of leaves that the search will probably open.

Leaves are ranked by the sample, the likeliest first, and rows are prefetched in this order as far
as memory allows. If there are more rows than expected, the last ranks are dropped. Either
all rows of a leaf are held or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep.arrays import Floats, Ints

HELD_BYTES = 28  # of a row: number, leaf, x and y
_BAND = 10  # width in leaves: the search seldom needs rows outside of this band
_EXPECTED = 0.8  # share of the allowed rows that the sample plans for: leaves may have more

_NAMES = ("held_row", "held_leaf", "held_x", "held_y")
Rows = tuple[Ints, NDArray[np.int32], Floats, Floats]  # number, leaf, x and y as placed


def flags_of(leaves: Any, size: int) -> NDArray[np.uint8]:
    """Return a flag for every leaf, True for the given ones."""
    flags = np.zeros(size, dtype=np.uint8)
    flags[leaves] = 1
    return flags


@dataclass(frozen=True, eq=False)
class Likely:
    """The rows to prefetch: those of leaves ranked below ``until``, up to a limit."""

    rank: NDArray[np.int32]
    until: int
    most: int

    @classmethod
    def by_sample(cls, partition: Any, x: Floats, y: Floats, rows: int, most: float) -> Likely:
        """Plan to prefetch the leaves next to the boundary of good subsets of a sample."""
        order = partition.nearest
        count = np.bincount(partition.locate(x, y), minlength=partition.leaves)
        expected = np.cumsum(count[order]) * (rows / len(x))
        band = min(1.0, _BAND / math.sqrt(partition.leaves)) * rows
        until = np.searchsorted(expected, min(_EXPECTED * most, band), "right")
        rank = np.full(partition.leaves, partition.leaves, dtype=np.int32)
        rank[order] = np.arange(len(order))
        return cls(rank, int(until), int(most))

    def then(self, leaves: NDArray[Any]) -> Likely:
        """Return a plan that adds these leaves after those already planned."""
        order = np.argsort(self.rank, kind="stable")
        more = order[self.until :][np.isin(order[self.until :], leaves)]
        rest = order[self.until :][~np.isin(order[self.until :], leaves)]
        rank = np.empty_like(self.rank)
        rank[np.concatenate([order[: self.until], more, rest])] = np.arange(len(rank))
        return Likely(rank, self.until + len(more), self.most)

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The plan as a list of arrays."""
        return [self.rank, np.array([self.until, self.most])]

    def share(self, pieces: int) -> Likely:
        """Return the plan for one of ``pieces`` parts; its limit is twice an even share."""
        return Likely(self.rank, self.until, min(self.most, 2 * self.most // pieces + 1))


@dataclass
class Held:
    """Rows of likely leaves, run by run in the order of the source."""

    likely: Likely
    runs: list[Rows] = field(default_factory=list)
    size: int = 0

    @property
    def flags(self) -> NDArray[np.uint8]:
        """Return, for every leaf, whether its rows are prefetched."""
        return (self.likely.rank < self.likely.until).astype(np.uint8)

    def add(self, rows: Rows, until: int) -> None:
        """Add rows of leaves ranked below ``until``."""
        if until < self.likely.until:
            self._drop_from(until)
        elif until > self.likely.until:
            rows = self._some(rows, self.flags)
        self.runs.append(rows)
        self.size += len(rows[0])
        if self.size <= self.likely.most:
            return
        ranks = sum(
            np.bincount(self.likely.rank[leaf], minlength=self.likely.until)
            for _, leaf, _, _ in self.runs
        )
        self._drop_from(int(np.searchsorted(np.cumsum(ranks), self.likely.most, "right")))

    def _drop_from(self, until: int) -> None:
        """Drop all leaves from this rank on."""
        self.likely = Likely(self.likely.rank, until, self.likely.most)
        self.runs = [self._some(run, self.flags) for run in self.runs]
        self.size = sum(len(run[0]) for run in self.runs)

    @staticmethod
    def _some(run: Rows, flags: NDArray[np.uint8]) -> Rows:
        chosen = np.flatnonzero(flags[run[1]])
        row, leaf, x, y = run
        return row[chosen], leaf[chosen], x[chosen], y[chosen]

    def select_rows(self, flags: NDArray[np.uint8]) -> list[Rows]:
        """Return the rows of flagged leaves."""
        return [self._some(run, flags) for run in self.runs]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the rows as named arrays, with their rank limit; see :meth:`add_arrays`."""
        columns = (np.concatenate(parts) for parts in zip(*self.runs, strict=True))
        return {**dict(zip(_NAMES, columns, strict=True)), "until": np.array([self.likely.until])}

    def add_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Add the rows of a run of parts, as returned by :meth:`arrays`."""
        row, leaf, x, y = (arrays[name] for name in _NAMES)
        self.add((row, leaf, x, y), int(arrays["until"][0]))

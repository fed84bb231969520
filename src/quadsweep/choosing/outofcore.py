"""The path of rows that are not in memory: one partition and its sums serve every size.

Sizes are taken from the largest down, and each search starts from its neighbour's subset as well.
Neighbours need nearly the same rows, so that most sizes need no pass of their own; where the rows
of earlier sizes leave no memory_plan for those of the next, they are forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.choosing.curve import MOST_SIZES, Curve, sizes_meant
from quadsweep.outofcore.search import Leaves, Query, Search
from quadsweep.outofcore.solve import Resources, check_objective, line_of, values_of
from quadsweep.outofcore.sources import Source
from quadsweep.progress import CountProgress, Tick, counting
from quadsweep.results.formatting import attributes


@dataclass(frozen=True, eq=False)
class OutOfCorePath(Curve):
    """Optima for many k of rows that are not in memory.

    It holds no rows: for those of one size ask :func:`quadsweep.solve`.

    Attributes
    ----------
    k, drop, value, bound, status, slope, intercept, nodes, objective, n, seconds
        As in :class:`quadsweep.Path`.
    passes, rows_read, missing : int
        As in :class:`quadsweep.outofcore.result.OutOfCoreResult`.
    """

    passes: int
    rows_read: int
    missing: int

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        cost = f"{self.passes} passes, {self.nodes.sum():,} nodes, {self.seconds:.3g} s"
        return [*self._lines_of_curve(), ("search", cost)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return super().to_dict() | attributes(self, "passes rows_read missing")


def path_out_of_core(
    source: Source,
    query: Query,
    resources: Resources,
    ks: Sequence[int | float] | None,
    drop: int | float | Sequence[int | float] | None,
    progress: CountProgress,
) -> OutOfCorePath:
    """The best subset of every size in a range, of rows that stay where they are."""
    check_objective(query.objective)
    goal = query.objective
    expected = sizes_meant(source.given, ks, drop, goal, MOST_SIZES)
    middle = replace(query, k=expected[len(expected) // 2])
    with counting(progress, "sizes") as tick, resources.search(source, middle, None) as search:
        leaves = search.begin()
        sizes = sizes_meant(leaves.n, ks, drop, goal, MOST_SIZES)
        found = _walk(search, leaves, sizes, tick)
        numbers, status = np.full((4, len(sizes)), np.nan), [search.clock.ended()] * len(sizes)
        nodes = np.zeros(len(sizes), dtype=np.int64)
        for i, (k, one) in enumerate(zip(sizes, found, strict=False)):
            status[i], nodes[i] = one["status"], one["nodes"]
            if one["real"]:
                placing = leaves.partition.placing
                numbers[:2, i] = values_of(goal, one, k, placing)
                numbers[2:, i] = line_of(one["moments"], k, placing)
        return OutOfCorePath(
            k=np.array(sizes),
            value=numbers[0],
            bound=numbers[1],
            status=np.array(status),
            slope=numbers[2],
            intercept=numbers[3],
            nodes=nodes,
            objective=goal.name,
            n=leaves.n,
            seconds=search.clock.gone(),
            passes=search.passes.count,
            rows_read=search.passes.rows_read,
            missing=int(leaves.missing.sum()),
        )


def _walk(search: Search, leaves: Leaves, sizes: list[int], tick: Tick) -> list[dict[str, Any]]:
    """What was found for every size, as far as time allows."""
    found: list[dict[str, Any]] = []
    starts = leaves.starts
    for k in sizes:
        if search.clock.left() == 0:
            break
        found.append(search.answer(leaves, k, starts))
        if found[-1]["real"]:
            starts = [*leaves.starts, [m / k for m in found[-1]["moments"]]]
        if tick(len(found), len(sizes), search.clock.gone()) is False:
            break
    return found

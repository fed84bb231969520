"""The paper's two sweeps with several predictors: conics become quadrics.

Under the general quadratic lift of the m = p + 1 columns (all products and the columns themselves,
d = m (m + 3) / 2 coordinates) a quadric is a hyperplane. Every subset that one cuts off is an open
side of some plane through d of the lifted points, with some of the points on it. ``sweep`` takes
from every such plane the sides that can be filled up to k; ``naive`` sorts the other points by
their distance and takes the first of them with every part of the d. Points that tie with a plane
count as on it. Where the points do not span the lift, d is the dimension that they do span.

There are C(n, d) planes, so this is for very few rows; :func:`check` says where it ends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from quadsweep import lifts
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.solving.methods.problem import Outcome, Problem
from quadsweep.solving.methods.several.exhaustive import Best, exhaustive

MOST_CANDIDATES = 2_000_000
_ON = 1e-9  # of the largest distance: nearer points are on the plane
_BLOCK = 2000


def sweep(problem: Problem) -> Outcome:
    """The best subset that a quadric cuts off."""
    return _swept(problem, "sweep")


def naive(problem: Problem) -> Outcome:
    """The best candidate of the naive sweep."""
    return _swept(problem, "naive")


def check(method: str, problem: Problem) -> None:
    """A ValueError where the sweep is out of reach, with what to do instead."""
    if problem.weights is not None:
        raise ValueError(f"{method} takes no weights; certified and concentrate do")
    d = lifts.dimension(lifts.general(problem.p), problem.p)
    if problem.n <= d + 1:
        return
    parts = math.comb(d, d // 2) if method == "sweep" else 2 ** (d + 1)
    if math.comb(problem.n, d) * parts > MOST_CANDIDATES:
        raise ValueError(
            f"{method} under the quadratic lift of {problem.p + 1} columns ({d} coordinates) would "
            f"look at {math.comb(problem.n, d):,} planes, which is out of reach; use certified"
        )


def _swept(problem: Problem, method: str) -> Outcome:
    points = _lifted(problem)
    if problem.n <= points.shape[1]:  # with the column of ones: any subset can be cut off
        return exhaustive(problem)
    best, start, status = Best(problem), time.perf_counter(), "best_separable"
    try:
        for rows in _blocks(_candidates(points, problem.k, method)):
            best.look(rows)
            gone = time.perf_counter() - start
            bound = 1.0 if problem.objective.sense > 0 else 0.0
            if problem.callback is not None and (
                problem.callback(best.best, bound, best.nodes, gone) is False
            ):
                status = "interrupted"
                break
            if gone >= problem.time_limit:
                status = "time_limit"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    return best.outcome(status)


def _lifted(problem: Problem) -> Floats:
    """Lifted points in coordinates of the space they span, and a column of ones."""
    columns = np.column_stack([problem.x, problem.y])
    columns = columns - np.median(columns, axis=0)
    size = np.abs(columns).max(axis=0)
    columns = columns / np.where(size > 0, size, 1.0)
    lifted = lifts.get(lifts.general(problem.p), problem.p)(columns[:, :-1], columns[:, -1])
    lifted = lifted - lifted.mean(axis=0)
    u, s, _ = np.linalg.svd(lifted, full_matrices=False)
    rank = int((s > 1e-10 * s[0]).sum()) if s[0] > 0 else 0
    return np.column_stack([u[:, :rank] * s[:rank], np.ones(problem.n)])


def _candidates(points: Floats, k: int, method: str) -> Iterator[tuple[int, ...]]:
    """Sorted subsets of k positions, each once."""
    n, seen = len(points), set()
    for through in combinations(range(n), points.shape[1] - 1):
        normal = np.linalg.svd(points[list(through)])[2][-1]
        far = points @ normal
        on = np.abs(far) <= _ON * max(float(np.abs(far).max()), 1e-300)
        on[list(through)] = True
        found = _sides(far, on, k) if method == "sweep" else _sorted(far, on, k)
        for subset in found:
            if subset not in seen:
                seen.add(subset)
                yield subset


def _sides(far: Floats, on: Mask, k: int) -> Iterator[tuple[int, ...]]:
    """Each open side with as many of the points on the plane as are missing."""
    plane = np.flatnonzero(on).tolist()
    for side in ((far > 0) & ~on, (far < 0) & ~on):
        inside = np.flatnonzero(side).tolist()
        if 0 <= k - len(inside) <= len(plane):
            for part in combinations(plane, k - len(inside)):
                yield tuple(sorted([*inside, *part]))


def _sorted(far: Floats, on: Mask, k: int) -> Iterator[tuple[int, ...]]:
    """Every part of the points on the plane with the first of the others, from either end."""
    plane = np.flatnonzero(on).tolist()
    others: Ints = np.flatnonzero(~on)
    ascending = others[np.argsort(far[others], kind="stable")].tolist()
    for ordered in (ascending, ascending[::-1]):
        for size in range(max(0, k - len(ordered)), min(len(plane), k) + 1):
            for part in combinations(plane, size):
                yield tuple(sorted([*ordered[: k - size], *part]))


def _blocks(subsets: Iterator[tuple[int, ...]]) -> Iterator[Ints]:
    block: list[tuple[int, ...]] = []
    for subset in subsets:
        block.append(subset)
        if len(block) == _BLOCK:
            yield np.array(block)
            block = []
    if block:
        yield np.array(block)

"""The solves behind `pairwise`: pairs of columns in chunks, each on its own.

Pairs are numbered row by row of the upper triangle; a chunk is a range of numbers. What it gives
depends on the columns and the question alone, not on how pairs are cut into chunks or who does
them, so the files are the same bytes for any number of workers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.clock import Clock
from quadsweep.distributed.store import Chunk, Columns, digest_of
from quadsweep.inputs import validation
from quadsweep.objectives import Objective
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, correlations, lowered, varied

FEWEST_ROWS = 4
_BLOCK_NUMBERS = 1 << 19  # numbers of a column solved at a time
_ENOUGH = 3  # shuffles that reach a pair's value settle it
_FIRST_ROUND = 8


@dataclass(frozen=True)
class Task:
    """What is asked of every pair."""

    goal: Objective
    k: int | float | None
    drop: int | float | None
    null: str | None
    permutations: int
    tol: float
    seed: int

    def size(self, rows: int) -> int | None:
        """How many of so many rows to keep; None if there are too few."""
        try:
            if rows < FEWEST_ROWS:
                return None
            return validation.keep_count(rows, self.k, self.drop, self.goal)
        except ValueError:
            return None  # fewer rows than are to be kept

    def batch(self, x: Floats, y: Floats, k: int, jobs: int, seconds: float = math.inf) -> Batch:
        return Batch(x, y, k, self.goal, self.tol, seconds, jobs, self.seed)


@dataclass(frozen=True)
class Table:
    """The columns, one a row, and what every worker has to know.

    ``until`` is a time of day: the limit, wherever a chunk is done.
    """

    columns: Floats
    task: Task
    threads: int = 1
    until: float = math.inf
    pools: dict[int, Floats] = field(default_factory=dict)  # sorted scores of shuffled pairs
    names: list[str] = field(default_factory=list)

    @property
    def usable(self) -> Mask:
        return np.isfinite(self.columns)

    @property
    def pairs(self) -> int:
        return len(self.columns) * (len(self.columns) - 1) // 2

    def seconds(self) -> float:
        return max(self.until - time.time(), 0.0)

    def columns_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        """The two columns of pairs given by number."""
        starts = np.arange(len(self.columns))
        starts = starts * len(self.columns) - starts * (starts + 1) // 2
        i = np.searchsorted(starts, numbers, side="right") - 1
        return i, numbers - starts[i] + i + 1

    def chunks(self, size: int, work: Callable[..., Columns | None]) -> list[Chunk]:
        """Every pair, so many at a time."""
        t = self.task
        asked = {
            "columns": digest_of(self.columns), "objective": t.goal.name, "k": t.k, "drop": t.drop,
            "null": t.null, "permutations": t.permutations, "tol": t.tol, "seed": t.seed,
            "names": digest_of(np.array(self.names, dtype=np.str_)),
        }  # fmt: skip
        return [
            Chunk(
                f"pairs-{first // size:06d}",
                work,
                {"first": first, "last": min(first + size, self.pairs), **asked},
                min(size, self.pairs - first),
                self,
            )
            for first in range(0, self.pairs, size)
        ]


def usable_rows(usable: Mask, first: int) -> Ints:
    """How many rows each later column shares with one."""
    return np.asarray(usable[first + 1 :].astype(np.int32) @ usable[first].astype(np.int32))


def row_counts(usable: Mask) -> dict[int, int]:
    """How many pairs have how many usable rows."""
    found: dict[int, int] = {}
    for i in range(len(usable) - 1):
        for rows, count in zip(*np.unique(usable_rows(usable, i), return_counts=True), strict=True):
            found[int(rows)] = found.get(int(rows), 0) + int(count)
    return dict(sorted(found.items()))


def solve_pairs(table: Table, first: int, last: int, **_: Any) -> Columns | None:
    """Value, p-value and correlations of the pairs from one number to another.

    None if a limit came first. What else is in the arguments names the question.
    """
    i, j = table.columns_of(np.arange(first, last))
    usable = table.usable
    rows = np.array([np.count_nonzero(usable[a] & usable[b]) for a, b in zip(i, j, strict=True)])
    found: Columns = {
        name: np.full(len(i), np.nan) for name in ("value", "r", "pearson", "p_value")
    }
    found.update(rows=rows, kept=np.zeros(len(i), dtype=np.int64))
    for count in np.unique(rows).tolist():
        same = np.flatnonzero(rows == count)
        step = max(1, _BLOCK_NUMBERS // max(count, 1))
        for start in range(0, len(same), step):
            at = same[start : start + step]
            answer = _solve_block(table, i[at], j[at], count)
            if answer is None:
                return None
            for name, values in answer.items():
                found[name][at] = values
    return found


def pair_rows(table: Table, **asked: Any) -> Columns | None:
    """The same as rows of a file, one a pair."""
    found = solve_pairs(table, **asked)
    if found is None:
        return None
    names = np.array(table.names, dtype=object)
    i, j = table.columns_of(np.arange(asked["first"], asked["last"]))
    if table.task.null is None:
        del found["p_value"]
    return {"x": names[i], "y": names[j], **found}


def signed_pair_rows(table: Table, **asked: Any) -> Columns | None:
    """The same where the value is the correlation with its sign."""
    found = pair_rows(table, **asked)
    return None if found is None else {**found, "value": found["r"]}


@dataclass(frozen=True)
class _Block:
    """Pairs with the same number of usable rows; one data set a row of x and y."""

    pairs: list[tuple[int, int]]
    x: Floats
    y: Floats
    k: int


def _solve_block(table: Table, i: Ints, j: Ints, rows: int) -> Columns | None:
    x, y = _both(table, i, j, rows)
    found: Columns = {"pearson": correlations(x, y)}
    k = table.task.size(rows)
    good = np.flatnonzero(varied(x, y)) if k is not None else np.empty(0, dtype=int)
    if k is None or len(good) == 0:
        return found
    pairs = list(zip(i[good].tolist(), j[good].tolist(), strict=True))
    block = _Block(pairs, np.ascontiguousarray(x[good]), np.ascontiguousarray(y[good]), k)
    clock = Clock(table.seconds())
    batch = table.task.batch(block.x, block.y, k, table.threads, clock.left())
    answer = batch.solve()
    if not answer.proved.all():
        return None
    p = _p_values(table, block, answer.values, clock)
    if p is None:
        return None
    r = correlations(block.x, block.y, answer.masks)
    for name, values in (("value", answer.values), ("p_value", p), ("r", r), ("kept", k)):
        column = np.zeros(len(i), dtype=int) if name == "kept" else np.full(len(i), np.nan)
        column[good] = values
        found[name] = column
    return found


def _both(table: Table, i: Ints, j: Ints, rows: int) -> tuple[Floats, Floats]:
    """The usable rows of pairs that all have so many."""
    x, y = table.columns[i], table.columns[j]
    if rows < x.shape[1]:
        both = np.isfinite(x) & np.isfinite(y)
        x, y = x[both].reshape(-1, rows), y[both].reshape(-1, rows)
    return x, y


def _p_values(table: Table, block: _Block, values: Floats, clock: Clock) -> Floats | None:
    task = table.task
    if task.null is None:
        return np.full(len(values), np.nan)
    if task.null == "own":
        return _own_p_values(block, values, task, table.threads, clock)
    pool = table.pools[block.x.shape[1]]
    reached = len(pool) - np.searchsorted(
        pool, task.goal.sense * values - 2 * task.tol, side="left"
    )
    return np.where(np.isfinite(values), (1 + reached) / (1 + len(pool)), np.nan)


def _own_p_values(
    block: _Block, values: Floats, task: Task, jobs: int, clock: Clock
) -> Floats | None:
    """Shuffles of every pair, in rounds, for those not settled yet."""
    rngs = [np.random.default_rng([task.seed, i, j]) for i, j in block.pairs]
    hits, made = np.zeros(len(values), dtype=int), np.zeros(len(values), dtype=int)
    p = np.full(len(values), np.nan)
    least = np.array(
        [
            lowered(Problem(x, y, block.k, task.goal, task.tol), v)
            for x, y, v in zip(block.x, block.y, values.tolist(), strict=True)
        ]
    )
    active, size, done = np.flatnonzero(np.isfinite(values)), _FIRST_ROUND, 0
    while len(active) and done < task.permutations:
        size = min(size, task.permutations - done)
        ys = np.concatenate([_shuffles(block.y[t], rngs[t], size) for t in active])
        xs = np.repeat(block.x[active], size, axis=0)
        shuffles = task.batch(xs, ys, block.k, jobs, clock.left())
        answers = shuffles.reach(np.repeat(least[active], size))
        if (answers < 0).any():
            return None
        for t, reached in zip(active, (answers == 1).reshape(-1, size), strict=True):
            total = hits[t] + np.cumsum(reached)
            end = int(np.argmax(total >= _ENOUGH)) if total[-1] >= _ENOUGH else size - 1
            hits[t], made[t] = total[end], made[t] + end + 1
        settled = hits >= _ENOUGH
        active, done, size = active[~settled[active]], done + size, 2 * size
    answered = np.isfinite(values)
    p[answered] = np.where(
        hits[answered] >= _ENOUGH,
        _ENOUGH / np.maximum(made[answered], 1),
        (1 + hits[answered]) / (1 + made[answered]),
    )
    return p


def _shuffles(y: Floats, rng: np.random.Generator, count: int) -> Floats:
    return rng.permuted(np.broadcast_to(y, (count, len(y))), axis=1)


def pools(table: Table, counts: dict[int, int], jobs: int) -> dict[int, Floats]:
    """For every number of usable rows, sorted scores of pairs that have it, drawn at random.

    One of the two columns is shuffled. Pairs are drawn by rank among those with so many rows.
    """
    usable, task = table.usable, table.task
    drawn, rngs = {}, {}
    for rows, count in counts.items():
        if task.size(rows) is not None:
            rngs[rows] = np.random.default_rng([task.seed, rows])
            drawn[rows] = rngs[rows].integers(0, count, task.permutations)
    chosen = _by_rank(usable, drawn)
    found = {}
    for rows, (i, j) in chosen.items():
        k = task.size(rows)
        assert k is not None
        xs, ys = _both(table, i, j, rows)
        ys = rngs[rows].permuted(ys, axis=1)
        good = varied(xs, ys)
        values = task.batch(xs[good], ys[good], k, jobs).solve().values
        found[rows] = np.sort(task.goal.sense * values)
    return found


def _by_rank(usable: Mask, ranks: dict[int, Ints]) -> dict[int, tuple[Ints, Ints]]:
    """The pairs with given ranks among those of each number of rows, the table gone over once."""
    found = {rows: (np.zeros_like(r), np.zeros_like(r)) for rows, r in ranks.items()}
    seen = dict.fromkeys(ranks, 0)
    for i in range(len(usable) - 1):
        shared = usable_rows(usable, i)
        for rows in set(shared.tolist()) & set(ranks):
            partners = np.flatnonzero(shared == rows) + i + 1
            here = (ranks[rows] >= seen[rows]) & (ranks[rows] < seen[rows] + len(partners))
            found[rows][0][here] = i
            found[rows][1][here] = partners[ranks[rows][here] - seen[rows]]
            seen[rows] += len(partners)
    return found

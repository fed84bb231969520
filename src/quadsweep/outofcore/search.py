"""The best subset of rows that do not fit in memory, with its proof, in a few passes.

1. Read some rows of some parts. Good subsets of them determine the placement of the points, and a
   kd-tree over them has the leaves, smallest along the boundary of these subsets.
2. Read count, extent and sums of every leaf, and prefetch the rows of leaves along that boundary.
   The search runs on leaves alone and lists the leaves whose rows it needs. If those are
   prefetched, it runs again on leaves and rows.
3. Load the rows of the other leaves that the search needs; the search runs again.

Step 3 is repeated while leaves that are not loaded leave boxes open. If the requested rows exceed
the memory budget, their leaves are split in an extra pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep import _core, objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.objectives import Objective
from quadsweep.outofcore.boundary import gradient_of_sums
from quadsweep.outofcore.flags import FEW
from quadsweep.outofcore.held import HELD_BYTES, Held, Likely, flags_of
from quadsweep.outofcore.running import Passes, runs
from quadsweep.outofcore.sources import Source
from quadsweep.outofcore.work import (
    DISTINCT,
    Task,
    empty_table,
    joined,
    pick_parts,
    sample_part,
    tally_parts,
)

ROW_BYTES = 200  # of a row in memory, while it is searched
_LEAF_BYTES = 700  # of a leaf: in the table of every thread, or as nodes and cells of a search
_LOADED_BYTES = 100  # of a row of an opened leaf: as it is read, or in cells of a search
# If the leaves exceed the cache, every row costs more than finer leaves save in loaded rows.
_FEWEST_LEAVES, _MOST_LEAVES = 16, 1 << 15
# Not counted in the budget: they take less memory than the interpreter.
_FREE_LEAVES, _FREE_BOXES = 4096, 16e6
_SAMPLED_PARTS = 16
_SAMPLE_A_LEAF = 32  # rows: the leaves along a boundary are far smaller than the others
_STARTING_ROWS = 20_000  # of the sample, for the first good subsets
_ENOUGH = 0.9  # if this share of the requested rows is prefetched, only these are loaded
_LEVELS = 3  # most halvings of a leaf with too many rows, in one pass
_MOST_PASSES = 60
_WIDEST = 1e9  # times the usual distance from the middle: beyond it sums lose their digits


Placing = tuple[float, float, int, int, float]  # x0, y0, ex, ey and the slope of the line


@dataclass(frozen=True)
class MemoryPlan:
    """The memory budget for leaves and rows; the rest is for boxes."""

    memory: float
    leaves: int

    @classmethod
    def within(cls, memory: float, rows: int) -> MemoryPlan:
        """Return a plan whose first leaves leave most of the memory for rows."""
        leaves = min(max(memory / 4 / _LEAF_BYTES, _FREE_LEAVES), _MOST_LEAVES, rows / 16)
        return cls(memory, max(_FEWEST_LEAVES, 1 << int(math.log2(max(leaves, 2)))))

    @property
    def boxes(self) -> float:
        """Bytes for open boxes."""
        return max(0.15 * self.memory, _FREE_BOXES)

    @property
    def prefetch_rows(self) -> float:
        """Number of rows that the pass for sums may load ahead."""
        return self.memory / 6 / HELD_BYTES

    def rows(self, leaves: int) -> float:
        """Return how many rows can be loaded beside this number of leaves."""
        taken = max(leaves - _FREE_LEAVES, 0) * _LEAF_BYTES
        return max(0.85 * self.memory - taken, 0.0) / _LOADED_BYTES

    def levels(self, leaves: int, wanted: int) -> int:
        """Return how often ``wanted`` leaves can each be halved within memory."""
        most = max(0.5 * self.memory / _LEAF_BYTES, _FREE_LEAVES)
        return min(int(math.log2(1 + max(most - leaves, 0) / max(wanted, 1))), _LEVELS)


@dataclass(frozen=True)
class Query:
    """The validated question."""

    objective: Objective
    k: Any
    drop: Any
    tol: float
    seed: int
    nan_policy: str

    @classmethod
    def checked(
        cls, objective: str, k: Any, drop: Any, tol: Any, seed: Any, nan_policy: str
    ) -> Query:
        """Make a query from the user's arguments."""
        goal = objectives.get(objective)
        validation.check_nan_policy(nan_policy)
        exact, number = validation.tolerance(tol), validation.whole(seed, "seed", 0)
        return cls(goal, k, drop, exact, number, nan_policy)

    def keep(self, n: int) -> int:
        return validation.keep_count(n, self.k, self.drop, self.objective)


@dataclass
class Leaves:
    """The partition, and sums and extents of its leaves."""

    partition: Any
    table: Floats
    starts: list[list[float]]
    missing: Ints
    gaps: tuple[float, float]
    loaded: NDArray[np.uint8]
    jobs: int = 1
    held: Held | None = None
    row: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    leaf: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    x: Floats = field(default_factory=lambda: np.zeros(0))
    y: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def n(self) -> int:
        return int(self.table[:, 0].sum())

    @cached_property
    def loaded_partition(self) -> Any:
        """The partition as the engine takes it, prepared once for many queries."""
        return _core.LoadedPartition(
            self.partition, self.table, self.leaf, self.x, self.y, self.jobs
        )

    def changes(self) -> None:
        """Discard the prepared partition after a change of leaves or rows."""
        self.__dict__.pop("loaded_partition", None)

    def forget(self) -> None:
        """Evict the loaded rows; prefetched rows stay."""
        self.changes()
        self.loaded = np.zeros_like(self.loaded)
        self.row, self.leaf = self.row[:0].copy(), self.leaf[:0].copy()
        self.x, self.y = self.x[:0].copy(), self.y[:0].copy()

    def at_hand(self, wanted: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the leaves whose rows are prefetched."""
        return wanted[:0] if self.held is None else wanted[self.held.flags[wanted] == 1]

    def add_likely(self, wanted: NDArray[np.int32]) -> NDArray[np.int32]:
        """Add prefetched leaves not yet loaded among the ``len(wanted)`` likeliest."""
        if self.held is None:
            return wanted
        first = self.held.likely.rank < len(wanted)
        more = np.flatnonzero(first & (self.held.flags == 1) & (self.loaded == 0))
        return np.union1d(wanted, more).astype(np.int32)

    def rows_of(self, leaves: NDArray[np.int32]) -> float:
        """Return the number of rows of some leaves."""
        return float(self.table[leaves, 0].sum())

    def total(self) -> Floats:
        """Return placed sums of x, y, xx, xy, yy over all rows."""
        both: Floats = self.table[:, 5:10].sum(axis=0) + self.table[:, 10:15].sum(axis=0)
        return both


@dataclass(frozen=True)
class Search:
    """A source, a question about it, and the resources to answer it."""

    source: Source
    query: Query
    passes: Passes
    memory_plan: MemoryPlan
    clock: Clock
    callback: Any = None

    def run(self) -> tuple[dict[str, Any], Leaves, int]:
        """Return what the last search found, its leaves, and k."""
        leaves = self.begin()
        k = self.query.keep(leaves.n)
        return self.answer(leaves, k, leaves.starts), leaves, k

    def begin(self) -> Leaves:
        """Prepare leaves and their sums, for any k."""
        leaves = self.tally(*self.plan())
        self._check(leaves)
        return leaves

    def answer(self, leaves: Leaves, k: int, starts: list[list[float]]) -> dict[str, Any]:
        """Search and load leaves until the best k rows are known or a limit is reached.

        Evict rows that earlier queries loaded, once, if memory is short.
        """
        if k == leaves.n:
            return _everything(leaves)
        nodes, earlier, since = 0, len(leaves.row) > 0, self.passes.count
        while True:
            found = self.ask(leaves, k, self.query.objective.name, starts=starts)
            nodes += found["nodes"]
            if found["status"] != "heuristic" or not len(found["wanted"]):
                break
            if self.clock.time_left() == 0:
                found["status"] = "time_limit"
                break
            if earlier and not self._fits(leaves, found["wanted"]):
                leaves.forget()
                earlier = False
            elif not self.open(leaves, found["wanted"], since):
                found["status"] = "memory_limit"
                break
        found["nodes"] = nodes
        return found

    def survey(self) -> Leaves:
        """Return leaves for any kind of query, with the medians as the origin."""
        x, y = self.sample()
        x0, y0 = (float(np.median(v)) for v in (x, y))
        placing = (x0, y0, _exponent(x), _exponent(y), 0.0)
        partition = _core.Partition(placing, x, y, self.memory_plan.leaves)
        leaves = self.tally(partition, [], _discrete(x, y))
        self._check(leaves)
        return leaves

    def plan(self) -> tuple[Any, list[list[float]], tuple[bool, bool], Likely]:
        """The partition, moments of good subsets, which columns look discrete, and which leaves
        will probably be opened."""
        x, y = self.sample()
        few = np.random.default_rng(self.query.seed).permutation(len(x))[:_STARTING_ROWS]
        kept = self.query.keep(self.source.given) / self.source.given
        objective = self.query.objective.name
        placing, starts = _core.plan_sample(
            x[few], y[few], objective, kept, self.query.seed, self.passes.jobs
        )
        partition = _core.Partition(placing, x, y, self.memory_plan.leaves, objective, kept, starts)
        likely = Likely.by_sample(
            partition, x, y, self.source.given, self.memory_plan.prefetch_rows
        )
        if (1 - kept) * self.source.given <= FEW:
            likely = likely.then(self._outside(partition, x, y, kept, starts))
        return partition, starts, _discrete(x, y), likely

    def _outside(
        self, partition: Any, x: Floats, y: Floats, kept: float, starts: list[list[float]]
    ) -> Ints:
        """Leaves with sampled rows that good subsets leave out; there are few."""
        out = np.zeros(len(x), dtype=bool)
        for moments in starts:
            gain = gradient_of_sums(self.query.objective, moments, 1, partition.placing)
            if gain is not None:
                gains = gain(x, y)
                out |= gains <= np.quantile(gains, 1 - kept)
        return np.unique(partition.locate(x[out], y[out])).astype(np.int64)

    def sample(self) -> tuple[Floats, Floats]:
        """Sample rows of some parts, a few for every leaf."""
        source, wanted = self.source, self.memory_plan.leaves * _SAMPLE_A_LEAF
        count = min(source.parts, _SAMPLED_PARTS)
        parts = np.linspace(0, source.parts - 1, count).round().astype(int)
        rows = source.rows[parts]
        share = min(1.0, wanted / max(int(rows.sum()), 1))
        query = [
            {
                "part": int(p),
                "rows": math.ceil(share * r),
                "seed": self.query.seed,
                "parts": source.identity(p, p + 1),
            }
            for p, r in zip(parts, rows, strict=True)
        ]
        drawn = list(self.passes.some("a sample", sample_part, Task(source), query))
        x, y = (np.concatenate([one[name] for one in drawn]) for name in ("x", "y"))
        if not len(x):
            raise ValueError("x and y must hold finite points; every row looked at has NaN")
        some = np.random.default_rng(self.query.seed).integers(len(x), size=_STARTING_ROWS)
        ends = (np.concatenate([[v.min(), v.max()], v[some]]) for v in (x, y))
        self._check_width(*(np.stack([v, v], axis=1) for v in ends))
        return x, y

    def tally(
        self,
        partition: Any,
        starts: list[list[float]],
        discrete: tuple[bool, bool],
        likely: Likely | None = None,
    ) -> Leaves:
        """Read count, extent and sums of every leaf, and the rows of likely leaves."""
        table, missing = empty_table(partition.leaves), []
        values: list[Floats | None] = [np.zeros(0), np.zeros(0)]
        held = None if likely is None else Held(likely)
        share = None if likely is None else likely.share(len(runs(self.source.parts)))
        task = Task(self.source, partition, None, discrete, share)
        for one in self.passes.over("sums", tally_parts, task):
            _merge(table, one)
            if held is not None:
                held.add_arrays(one)
            missing.append(one["missing"])
            for axis, name in enumerate(("x_values", "y_values")):
                values[axis] = joined(values[axis], one.get(name))
        every = np.concatenate(missing)
        self._check_missing(every)
        gaps = _gaps(partition.placing, values)
        loaded = np.zeros(partition.leaves, dtype=np.uint8)
        return Leaves(partition, table, starts, every, gaps, loaded, self.passes.jobs, held)

    def ask(
        self, leaves: Leaves, k: int, objective: str, *, starts: list[list[float]], **more: Any
    ) -> dict[str, Any]:
        """Run the engine on leaves and on the rows of some of them."""
        ex, ey, slope = leaves.partition.placing[2:]
        settings: dict[str, Any] = {
            "tol": self.query.tol,
            "gap_x": leaves.gaps[0],
            "gap_y": leaves.gaps[1],
            "tilt": math.ldexp(slope, ex - ey),
            "most_rows": max(self.memory_plan.rows(len(leaves.table)) - len(leaves.row), 0.0),
            "memory": self.memory_plan.boxes,
            "time_limit": self.clock.time_left(),
            "n_jobs": self.passes.jobs,
            "callback": self.callback,
        }
        found: dict[str, Any] = leaves.loaded_partition.search(
            objective, k, starts=starts, **{**settings, **more}
        )
        return found

    def load(self, leaves: Leaves, wanted: NDArray[np.int32]) -> None:
        """Load the rows of more leaves: prefetched ones, and others by a pass."""
        leaves.changes()
        more = flags_of(wanted, leaves.partition.leaves)
        drawn = [(leaves.row, leaves.leaf, leaves.x, leaves.y)]
        rest = more
        if leaves.held is not None:
            drawn += leaves.held.select_rows(more)
            rest = np.where(leaves.held.flags, np.uint8(0), more)
        if rest.any():
            task = Task(self.source, leaves.partition, rest)
            drawn += (
                (one["row"], one["leaf"], one["x"], one["y"])
                for one in self.passes.over("rows", pick_parts, task)
            )
        row, leaf, x, y = (np.concatenate(columns) for columns in zip(*drawn, strict=True))
        if (np.diff(row) < 0).any():  # prefetched and newly read rows interleave
            order = np.argsort(row, kind="stable")
            row, leaf, x, y = row[order], leaf[order], x[order], y[order]
        leaves.row, leaves.leaf, leaves.x, leaves.y = row, leaf, x, y
        leaves.loaded |= more
        left = (self.memory_plan.rows(len(leaves.table)) - len(row)) * _LOADED_BYTES
        if leaves.held is not None and leaves.held.size * HELD_BYTES > left:
            leaves.held = None

    def refine(self, leaves: Leaves, wanted: NDArray[np.int32]) -> None:
        """Split leaves into finer ones, with a pass for their sums."""
        leaves.changes()
        leaves.held = None  # its rows are grouped by leaves that no longer exist
        before = leaves.partition.leaves
        levels = self.memory_plan.levels(before, len(wanted))
        partition = leaves.partition.refined(wanted, leaves.table, levels)
        finer = np.zeros(partition.leaves, dtype=np.uint8)
        finer[wanted] = 1
        finer[before:] = 1
        table = empty_table(partition.leaves)
        table[:before] = leaves.table
        table[finer == 1] = empty_table(1)
        task = Task(self.source, partition, finer)
        for one in self.passes.over("finer sums", tally_parts, task):
            _merge(table, one)
        if table[:, 0].sum() != leaves.n:
            raise OSError("the rows have changed between two passes")
        leaves.loaded = np.concatenate(
            [leaves.loaded, np.zeros(partition.leaves - before, np.uint8)]
        )
        leaves.partition, leaves.table = partition, table

    def _fits(self, leaves: Leaves, wanted: NDArray[np.int32]) -> bool:
        rows = leaves.rows_of(wanted) + len(leaves.row)
        return rows <= self.memory_plan.rows(len(leaves.table))

    def open(self, leaves: Leaves, wanted: NDArray[np.int32], since: int = 0) -> bool:
        """Load the rows of these leaves, or split the leaves if memory cannot hold the rows.

        Return False if memory holds neither, or after too many passes for one query.
        """
        if self.passes.count - since >= _MOST_PASSES:
            return False
        if self._fits(leaves, wanted):
            at_hand = leaves.at_hand(wanted)
            enough = leaves.rows_of(at_hand) >= _ENOUGH * leaves.rows_of(wanted)
            wanted = at_hand if len(at_hand) and enough else wanted
            both = leaves.add_likely(wanted)
            self.load(leaves, both if self._fits(leaves, both) else wanted)
        elif self.memory_plan.levels(leaves.partition.leaves, len(wanted)) > 0:
            self.refine(leaves, wanted)
        else:
            return False
        return True

    def _check_missing(self, missing: Ints) -> None:
        if self.query.nan_policy != "raise" or not missing.sum():
            return
        part = int(np.argmax(missing > 0))
        raise ValueError(
            f"{int(missing.sum()):,} of {self.source.given:,} rows have NaN or infinity, the first "
            f"in {self.source.part_name(part)} (nan_policy='omit' leaves them out)"
        )

    def _check_width(self, *columns: Floats, count: Floats | None = None) -> None:
        for name, ends in zip(self.source.names, columns, strict=True):
            each = np.ones(len(ends)) if count is None else count
            if (ratio := _farthest(each, ends)) > _WIDEST:
                raise ValueError(
                    f"column {name!r} has values {ratio:.0e} times as far from its middle, or "
                    "from a line, as most, which cannot be searched out of core: leave out rows "
                    "with such sentinels, or give a memory_limit that holds all rows"
                )

    def _check(self, leaves: Leaves) -> None:
        used = leaves.table[leaves.table[:, 0] > 0]
        self._check_width(used[:, 1:3], used[:, 3:5], count=used[:, 0])
        goal = self.query.objective
        for name, needs, gap in zip(
            ("x", "y"), (goal.needs_x, goal.needs_y), leaves.gaps, strict=True
        ):
            if needs and gap == math.inf:
                raise ValueError(
                    f"{name} is constant in all {leaves.n:,} rows, so {goal.name} is undefined on "
                    "every subset"
                )


def _exponent(values: Floats) -> int:
    """Return the exponent of a power of two near the spread of the values."""
    return math.frexp(float(np.std(values)))[1]


def _discrete(x: Floats, y: Floats) -> tuple[bool, bool]:
    x_few, y_few = (_core.distinct(v, DISTINCT) is not None for v in (x, y))
    return x_few, y_few


def _merge(table: Floats, one: dict[str, NDArray[Any]]) -> None:
    rows = np.ascontiguousarray(one["table"]).reshape(-1, 16).copy()
    _core.merge_leaves(table, np.ascontiguousarray(one["leaf"]), rows)


def _gaps(placing: Placing, values: list[Floats | None]) -> tuple[float, float]:
    """The least difference of two placed values of each column; 0 if unknown."""
    gaps = []
    for found, exponent in zip(values, placing[2:4], strict=True):
        if found is None:
            gaps.append(0.0)
        elif len(found) < 2:
            gaps.append(math.inf)
        else:
            gaps.append(math.ldexp(float(np.diff(np.sort(found)).min()), -exponent))
    return gaps[0], (gaps[1] if placing[4] == 0 else 0.0)


def _everything(leaves: Leaves) -> dict[str, Any]:
    """Return the answer that keeps every leaf."""
    none = np.zeros(0, dtype=np.int64)
    used = np.flatnonzero(leaves.table[:, 0]).astype(np.int32)
    moments = leaves.total().tolist()
    return {
        "real": True,
        "leaves": used,
        "rows": none,
        "copied": none,
        "copies": none,
        "moments": moments,
        "score": None,
        "bound": None,
        "status": "optimal",
        "nodes": 0,
        "wanted": none,
    }


def _farthest(count: Floats, ends: Floats) -> float:
    """Return the farthest row's distance from the middle, divided by the usual distance.

    >>> _farthest(np.array([9.0, 1.0]), np.array([[-1.0, 1.0], [999.0, 1000.0]]))
    1000.0
    """
    middle = _weighted_median(count, ends[:, 0] / 2 + ends[:, 1] / 2)
    away = np.abs(ends - middle).max(axis=1)
    if not away.max() > 0:
        return 1.0
    return float(away.max() / _weighted_median(count[away > 0], away[away > 0]))


def _weighted_median(count: Floats, values: Floats) -> float:
    order = np.argsort(values)
    half = np.searchsorted(np.cumsum(count[order]), count.sum() / 2)
    return float(values[order[half]])

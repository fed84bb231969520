"""Which rows are kept, without a list of them.

A decision for every leaf of the partition: kept, left out, row by row for leaves that the boundary
cuts, or the first so many copies of its only point. Which copy is the last one kept is found by a
pass of its own at first use; after that a row's flag depends on its x, y and number alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.distributed.store import Columns, digest_of
from quadsweep.extras import needed
from quadsweep.inputs.frames import KEPT
from quadsweep.messages import free
from quadsweep.outofcore.running import Passes
from quadsweep.outofcore.sources import LazySource, Source, open_source
from quadsweep.outofcore.work import PartReader, Task

FEW = 10_000  # rows that are listed one by one
_OUT, _IN, _BY_ROW, _COPIES = range(4)
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class RowSelection:
    """Which rows are kept, by leaf.

    Attributes
    ----------
    partition : the leaves.
    state : of every leaf: out, in, row by row, or the first so many copies.
    rows : sorted numbers of the kept rows of leaves that are decided row by row.
    copies : of every leaf, how many rows are kept, the first ones in the source.
    until : of every leaf of copies, the last row kept; see :func:`settled`.
    """

    partition: Any
    state: NDArray[np.uint8]
    rows: Ints
    copies: Ints
    until: Ints | None = None

    def flags(self, x: Floats, y: Floats, numbers: Ints) -> tuple[Mask, Mask]:
        """Of rows with these numbers: which are kept, and which have a value at all."""
        leaf = self.partition.locate(x, y)
        whole = leaf >= 0
        state = np.where(whole, self.state[leaf], _OUT)
        kept = state == _IN
        by_row = np.flatnonzero(state == _BY_ROW)
        places = np.searchsorted(self.rows, numbers[by_row])
        places[places == len(self.rows)] = 0
        kept[by_row] = self.rows[places] == numbers[by_row] if len(self.rows) else False
        copies = np.flatnonzero(state == _COPIES)
        if len(copies):
            assert self.until is not None
            kept[copies] = numbers[copies] <= self.until[leaf[copies]]
        return kept, whole

    @property
    def divided(self) -> Ints:
        """Leaves of copies of one point, some of which are kept and some dropped."""
        return np.flatnonzero(self.state == _COPIES)


def decide(found: dict[str, Any], leaves: Any) -> RowSelection:
    """Return the decision that a search found."""
    size = leaves.partition.leaves
    state = np.where(leaves.loaded == 1, _BY_ROW, _OUT).astype(np.uint8)
    state[found["leaves"]] = _IN
    copies = np.zeros(size, dtype=np.int64)
    np.add.at(copies, found["copied"], found["copies"])
    chosen = copies > 0
    state[chosen] = np.where(copies[chosen] == leaves.table[chosen, 0], _IN, _COPIES)
    return RowSelection(leaves.partition, state, np.sort(leaves.row[found["rows"]]), copies)


def whole(leaves: Any) -> RowSelection:
    """Return the decision that keeps all rows."""
    size = leaves.partition.leaves
    none = np.zeros(0, dtype=np.int64)
    return RowSelection(
        leaves.partition, np.full(size, _IN, dtype=np.uint8), none, np.zeros(size, np.int64)
    )


@dataclass(frozen=True)
class Decided(Task):
    """A pass over rows whose flags are known."""

    decision: Any = None

    def digest(self) -> str:
        known = self.decision
        arrays = [known.state, known.rows, known.copies]
        return (
            digest_of(*arrays, *([] if known.until is None else [known.until])) + super().digest()
        )

    def read(
        self, part: int, reader: PartReader | None = None
    ) -> tuple[Floats, Floats, Mask, Mask]:
        """x and y of a part, which rows are kept, and which have a value at all."""
        x, y = (reader or self.source).read(part)
        numbers = np.arange(len(x)) + self.source.first[part]
        return x, y, *self.decision.flags(x, y, numbers)


def settled(decision: RowSelection, source: Source, passes: Passes) -> RowSelection:
    """The same decision with the last copy kept of every point that is divided, by a pass."""
    divided = decision.divided
    if not len(divided) or decision.until is not None:
        return decision
    wanted = np.zeros(len(decision.state), dtype=np.uint8)
    wanted[divided] = 1
    task = Decided(source, decision.partition, wanted, decision=decision)
    found = [one["counts"] for one in passes.over("copies", _count_copies, task)]
    counts = np.concatenate(found).reshape(-1, len(divided))
    until = np.full(len(decision.state), _NEVER)
    for leaf, count in zip(divided, counts.T, strict=True):
        before = np.cumsum(count) - count
        part = int(np.searchsorted(before + count, decision.copies[leaf]))
        if part < source.parts:
            only = (np.arange(len(wanted)) == leaf).astype(np.uint8)
            position = decision.partition.pick(*source.read(part), only)[0]
            until[leaf] = source.first[part] + position[decision.copies[leaf] - before[part] - 1]
    return replace(decision, until=until)


def _count_copies(task: Decided, first: int, last: int, plan: str) -> Columns:
    """Count the rows of divided leaves, by part."""
    divided, leaves = task.decision.divided, task.partition.leaves
    reader = PartReader(task.source)
    counts = [
        np.bincount(task.partition.pick(*reader.read(part), task.wanted)[1], minlength=leaves)
        for part in range(first, last)
    ]
    return reader.packed(counts=np.stack(counts)[:, divided].ravel())


@dataclass(frozen=True)
class Flags:
    """A decision about the rows of a source, and the threads that may read it again."""

    source: Source
    decision: RowSelection
    jobs: int = 1

    def flag(self, source: Any = None, column: str = KEPT) -> Any:
        """Which rows are kept.

        Parameters
        ----------
        source : optional
            The same data again, where the source itself is no longer at hand.
        column : str
            What to call the column of a lazy frame; ``_`` is added to a name that is taken.

        Returns
        -------
        polars LazyFrame or dask DataFrame
            The source, if it is one of these, with one more column, to be computed when it is
            asked for: true, false, and null where a value is missing.
        iterator of pyarrow.BooleanArray
            Of other sources: for every part in turn, an array as long as the part.
        """
        read = self._reopen(source)
        if not isinstance(read, LazySource):
            return self.arrays(read)
        return read.with_flags(settled(self.decision, read, Passes(self.jobs)).flags, column)

    def arrays(self, source: Any = None) -> Iterator[Any]:
        """The flags of every part in turn."""
        import pyarrow as pa

        for kept, known in self.masks(source):
            yield pa.array(kept, mask=~known)

    def masks(self, source: Any = None) -> Iterator[tuple[Mask, Mask]]:
        """Which rows are kept, and which have a value at all, by part."""
        read = self._reopen(source)
        task = Decided(read, decision=settled(self.decision, read, Passes(self.jobs)))
        for part in range(read.parts):
            yield task.read(part)[2:]

    def first(self) -> tuple[Floats, Floats, Mask, Mask]:
        """x and y of the first part, which rows are kept, and which have a value at all."""
        start = replace(self.source, rows=self.source.rows[:1])
        return Decided(start, decision=settled(self.decision, start, Passes(1))).read(0)

    def _reopen(self, source: Any) -> Source:
        return self.source if source is None else open_source(source, *self.source.names)

    def write(self, path: str | os.PathLike[str], column: str = KEPT) -> None:
        """The source with a column of flags, one part at a time."""
        write_flags(self.source, self.arrays(), path, column)

    def left_out(self, outliers: Ints | None, dropped: int) -> Any:
        """The rows left out, where they are listed, as a data frame: number, x and y."""
        if outliers is None:
            raise ValueError(f"{dropped:,} rows are too many to list; flag() yields them by part")
        with needed("a data frame"):
            import pandas as pd
        first = self.source.first
        parts = np.searchsorted(first, outliers, side="right") - 1
        found = [(np.zeros(0), np.zeros(0))]
        for part in np.unique(parts):
            x, y = self.source.read(int(part))
            rows = outliers[parts == part] - first[part]
            found.append((x[rows], y[rows]))
        x, y = (np.concatenate(columns) for columns in zip(*found, strict=True))
        index = pd.Index(outliers, name="row")
        return pd.DataFrame(dict(zip(self.source.names, (x, y), strict=True)), index=index)


def write_flags(
    source: Source, flags: Iterable[Any], path: str | os.PathLike[str], column: str = KEPT
) -> None:
    """All columns of a source and one of flags, part by part."""
    with needed("writing Parquet"):
        import pyarrow.parquet as pq
    writer = None
    try:
        for part, one in enumerate(flags):
            table = source.table(part)
            table = table.append_column(free(column, table.column_names), one)
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def listed(flags: Flags, passes: Passes, dropped: int, leaves: Any) -> Ints | None:
    """The rows left out, in order, by one more pass where not all of them are at hand; None where
    they are many."""
    if dropped > FEW:
        return None
    if not dropped:
        return np.zeros(0, dtype=np.int64)
    at_hand = _left_out_at_hand(flags.decision, leaves)
    if len(at_hand) == dropped:
        return at_hand
    source, decision = flags.source, settled(flags.decision, flags.source, passes)
    wanted = (decision.state != _IN).astype(np.uint8)
    task = Decided(source, decision.partition, wanted, decision=decision)
    return np.concatenate([one["row"] for one in passes.over("rows left out", _dropped, task)])


def _left_out_at_hand(decision: RowSelection, leaves: Any) -> Ints:
    """Rows left out that are loaded or held; of other leaves than the decision's none."""
    if decision.partition is not leaves.partition:
        return np.zeros(0, dtype=np.int64)
    state = decision.state[leaves.leaf]
    by_row = (state == _BY_ROW) & ~np.isin(leaves.row, decision.rows)
    found = [leaves.row[by_row | (state == _OUT)]]
    if leaves.held is not None:
        out = (decision.state == _OUT) & (leaves.loaded == 0)
        found += [numbers for numbers, *_ in leaves.held.select_rows(out.astype(np.uint8))]
    return np.sort(np.concatenate(found))


def _dropped(task: Decided, first: int, last: int, plan: str) -> Columns:
    """Return the numbers of the rows dropped."""
    rows, reader = [], PartReader(task.source)
    for part in range(first, last):
        x, y = reader.read(part)
        near = task.partition.pick(x, y, task.wanted)[0]
        numbers = near + task.source.first[part]
        rows.append(numbers[~task.decision.flags(x[near], y[near], numbers)[0]])
    return reader.packed(row=np.concatenate(rows))

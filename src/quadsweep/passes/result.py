"""The answer about rows that are not in memory: what is proved, and which rows it is about.

It does not hold its rows. What it holds is a decision for every leaf of the partition: kept, left
out, so many copies of its only point, or row by row for leaves that the boundary cuts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quadsweep.answers.introduction import SelfDescribing, equation, finite, some
from quadsweep.answers.result import CERTIFICATE, MEMORY, caution
from quadsweep.arrays import Ints, Mask
from quadsweep.border.frames import KEPT
from quadsweep.extras import needed
from quadsweep.objectives import OBJECTIVES
from quadsweep.passes.running import Passes
from quadsweep.passes.sources import Source, open_source
from quadsweep.passes.work import Task, pick_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 10_000  # rows that are listed one by one
_OUT, _IN, _BY_ROW, _COPIES = range(4)


@dataclass(frozen=True, eq=False)
class Decision:
    """Which rows are kept, by leaf.

    Attributes
    ----------
    partition : the leaves.
    state : of every leaf: out, in, row by row, or the first so many copies.
    rows : sorted numbers of the kept rows of leaves that are decided row by row.
    copies : of every leaf, how many rows are kept, the first ones in the source.
    """

    partition: Any
    state: NDArray[np.uint8]
    rows: Ints
    copies: Ints

    def flags(self, source: Source, part: int, before: Ints | None) -> tuple[Mask, Mask]:
        """Of a part's rows: which are kept, and which have a value at all."""
        x, y = source.read(part)
        leaf = self.partition.locate(x, y)
        whole = leaf >= 0
        state = np.where(whole, self.state[leaf], _OUT)
        kept = state == _IN
        by_row = np.flatnonzero(state == _BY_ROW)
        numbers = by_row + source.first[part]
        places = np.searchsorted(self.rows, numbers)
        places[places == len(self.rows)] = 0
        kept[by_row] = self.rows[places] == numbers if len(self.rows) else False
        for one in np.flatnonzero(self.state == _COPIES):
            copies = np.flatnonzero(leaf == one)
            room = int(self.copies[one]) - (0 if before is None else int(before[one]))
            kept[copies[: max(room, 0)]] = True
        return kept, whole

    @property
    def counts_copies(self) -> bool:
        return bool((self.state == _COPIES).any())


def decide(found: dict[str, Any], leaves: Any) -> Decision:
    """The decision that a search found."""
    size = leaves.partition.leaves
    state = np.where(leaves.loaded == 1, _BY_ROW, _OUT).astype(np.uint8)
    state[found["leaves"]] = _IN
    copies = np.zeros(size, dtype=np.int64)
    np.add.at(copies, found["copied"], found["copies"])
    chosen = copies > 0
    state[chosen] = np.where(copies[chosen] == leaves.table[chosen, 0], _IN, _COPIES)
    return Decision(leaves.partition, state, np.sort(leaves.row[found["rows"]]), copies)


def whole(leaves: Any) -> Decision:
    """All rows are kept."""
    size = leaves.partition.leaves
    none = np.zeros(0, dtype=np.int64)
    return Decision(
        leaves.partition, np.full(size, _IN, dtype=np.uint8), none, np.zeros(size, np.int64)
    )


@dataclass(frozen=True)
class Flags:
    """A decision about the rows of a source."""

    source: Source
    decision: Decision

    def flag(self, source: Any = None) -> Iterator[Any]:
        """For every part of the source in turn, which of its rows are kept.

        Parameters
        ----------
        source : optional
            The same data again, where the source itself is no longer at hand.

        Yields
        ------
        pyarrow.BooleanArray
            As long as the part; null where a value is missing.
        """
        import pyarrow as pa

        for kept, known in self.masks(source):
            yield pa.array(kept, mask=~known)

    def masks(self, source: Any = None) -> Iterator[tuple[Mask, Mask]]:
        """Which rows are kept, and which have a value at all, by part."""
        read = self.source if source is None else open_source(source, *self.source.names)
        before = np.zeros(self.decision.partition.leaves, dtype=np.int64)
        for part in range(read.parts):
            yield self.decision.flags(read, part, before)
            if self.decision.counts_copies:
                leaf = self.decision.partition.locate(*read.read(part))
                before += np.bincount(leaf[leaf >= 0], minlength=len(before))

    def write(self, path: str | os.PathLike[str], column: str = KEPT) -> None:
        """The source with a column of flags, one part at a time."""
        write_flags(self.source, self.flag(), path, column)

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


def cost(answer: Any) -> str:
    """What an answer of passes took."""
    return (
        f"{answer.passes} passes, {answer.loaded:,} rows one by one, {answer.nodes:,} nodes, "
        f"{answer.seconds:.3g} s"
    )


@dataclass(frozen=True, eq=False)
class StreamedResult(SelfDescribing):
    """The best subset of rows that are not in memory, and what is known about it.

    Attributes
    ----------
    value, bound, gap, status, objective, n, k, nodes, seconds, names, limit
        As in :class:`quadsweep.answers.result.Result`; ``heuristic`` is for data in which so many
        rows share an x or a y that passes alone cannot prove the answer.
    before : float
        The objective on all rows.
    slope, intercept : float
        Least squares of the inliers.
    missing : int
        Rows left out for a missing value.
    outliers : array of row numbers, or None if there are more than 10,000.
    passes : int
        How often the source was read, the sample included.
    reading : float
        Seconds of ``seconds`` that passes took.
    rows_read : int
        Rows read in all passes together.
    loaded : int
        Rows that were looked at one by one.
    """

    value: float
    bound: float
    gap: float
    status: str
    objective: str
    n: int
    k: int
    nodes: int
    seconds: float
    names: tuple[str, str]
    before: float
    slope: float
    intercept: float
    missing: int
    passes: int
    reading: float
    rows_read: int
    loaded: int
    outliers: Ints | None
    source: Source = field(repr=False)
    decision: Decision = field(repr=False)
    limit: str = field(default="time", repr=False)
    method: str = "certified, in passes"

    @property
    def success(self) -> bool:
        """True if the answer is proved to be the best."""
        return self.status == "optimal"

    @property
    def certificate(self) -> str:
        """What is proved, in words."""
        if self.status == "time_limit" and self.limit == "memory":
            return MEMORY
        if self.success and self.k == self.n:
            return f"nothing to choose: all {self.n:,} points are kept"
        return CERTIFICATE[self.status].format(k=self.k, n=self.n)

    @property
    def message(self) -> str:
        """The status in words."""
        return self.certificate[0].upper() + self.certificate[1:] + "."

    @property
    def flags(self) -> Flags:
        """Which rows are kept, part by part."""
        return Flags(self.source, self.decision)

    def flag(self, source: Any = None) -> Any:
        """Which rows are kept: see :meth:`Flags.flag`."""
        return self.flags.flag(source)

    def write(self, path: str | os.PathLike[str], column: str = KEPT) -> None:
        """Write the source to a Parquet file with a column that says which rows are kept.

        One part at a time, a row group each.
        """
        self.flags.write(path, column)

    @property
    def title(self) -> str:
        """How people write the objective."""
        return OBJECTIVES[self.objective].title

    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        every = "" if self.k == self.n else f"   (all {self.n:,} points: {self.before:.6g})"
        lines = [
            ("kept", f"{self.k:,} of {self.n:,} points"),
            (self.title, f"{self.value:.6g}{every}"),
            ("certificate", self.certificate),
        ]
        if self.status != "optimal" and math.isfinite(self.bound):
            lines.append(("bound", f"{self.bound:.6g}   (gap {self.gap:.3g})"))
        if not math.isnan(self.slope):
            lines.append(("line", equation(self.names, self.slope, self.intercept)))
        dropped = f"{self.n - self.k:,} points" if self.outliers is None else some(self.outliers)
        lines.append(("dropped", dropped))
        if self.missing:
            lines.append(("left out", f"{self.missing:,} rows (missing values)"))
        if beware := caution(self.objective, self.k, self.n):
            lines.append(("beware", beware))
        lines.append(("search", cost(self)))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; rows by their number from 0."""
        return {
            "objective": self.objective,
            "method": self.method,
            "n": self.n,
            "k": self.k,
            "value": finite(self.value),
            "bound": finite(self.bound),
            "gap": finite(self.gap),
            "status": self.status,
            "success": self.success,
            "message": self.message,
            "outliers": None if self.outliers is None else self.outliers.tolist(),
            "missing": self.missing,
            "slope": finite(self.slope),
            "intercept": finite(self.intercept),
            "names": list(self.names),
            "passes": self.passes,
            "reading": self.reading,
            "rows_read": self.rows_read,
            "loaded": self.loaded,
            "nodes": self.nodes,
            "seconds": self.seconds,
        }

    def to_frame(self) -> Any:
        """The rows left out, where they are few, as a data frame: number, x and y."""
        return self.flags.left_out(self.outliers, self.n - self.k)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Rows of the first part, kept and left out, and the line."""
        from quadsweep.plotting.passes import plot_streamed

        lines = [("line of kept", self.slope, self.intercept)]
        title = f"of {self.n:,} rows; {self.title} {self.value:.4g} of all kept"
        return plot_streamed(self.flags, lines, title, ax=ax)


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
            while column in table.column_names:
                column += "_"
            table = table.append_column(column, one)
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def listed(source: Source, decision: Decision, passes: Passes, dropped: int) -> Ints | None:
    """The rows left out, in order, by one more pass; None where they are many."""
    if dropped > FEW:
        return None
    if decision.counts_copies or not dropped:
        return _dropped_in_turn(source, decision) if dropped else np.zeros(0, dtype=np.int64)
    wanted = (decision.state != _IN).astype(np.uint8)
    task = Task(source, decision.partition, wanted)
    rows = [one["row"] for one in passes.over("rows left out", pick_parts, task)]
    found = np.concatenate(rows)
    return found[~np.isin(found, decision.rows)]


def _dropped_in_turn(source: Source, decision: Decision) -> Ints:
    before = np.zeros(decision.partition.leaves, dtype=np.int64)
    rows = []
    for part in range(source.parts):
        kept, whole = decision.flags(source, part, before)
        leaf = decision.partition.locate(*source.read(part))
        before += np.bincount(leaf[leaf >= 0], minlength=len(before))
        rows.append(np.flatnonzero(whole & ~kept) + source.first[part])
    return np.concatenate(rows)

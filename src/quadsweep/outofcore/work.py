"""What a pass does with some parts, one after the other. Every function here can be sent elsewhere.

Their answers are columns of bytes (see ``packed``), so that finished ones can be kept on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep import _core
from quadsweep.arrays import Floats
from quadsweep.distributed.store import Columns, digest_of
from quadsweep.outofcore.held import Held, Likely
from quadsweep.outofcore.sources import Source

DISTINCT = 4096  # values of a column; beyond, it counts as continuous
FINGERPRINTS = "fingerprints"  # of a chunk's answer: part, fingerprint, part, ...
_EVERY = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Task:
    """What a pass reads, and how it sorts what it reads.

    ``wanted`` are flags of leaves, none for all of them; ``discrete`` says for x and y whether
    their different values are worth collecting; ``likely``, which rows a run of parts brings along.
    """

    source: Source
    partition: Any = None
    wanted: NDArray[np.uint8] | None = None
    discrete: tuple[bool, bool] = (False, False)
    likely: Likely | None = None

    def digest(self) -> str:
        """Digest all that a run of parts depends on, except the parts themselves."""
        if self.partition is None:
            return ""
        placing, *arrays = self.partition.__getstate__()
        wanted = np.zeros(0) if self.wanted is None else self.wanted
        held = [] if self.likely is None else self.likely.arrays
        return digest_of(np.array(placing), *arrays, wanted, np.array(self.discrete), *held)


class PartReader:
    """Reads parts of a source for a chunk, and remembers a fingerprint of the rows of each."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.seen: list[tuple[int, int]] = []

    def read(self, part: int) -> tuple[Floats, Floats]:
        """x and y of a part."""
        x, y = self.source.read(part)
        self.seen.append((part, _core.fingerprint(x, y)))
        return x, y

    def packed(self, **arrays: NDArray[Any]) -> Columns:
        """The chunk's answer, with the fingerprints of what it read."""
        return packed(**arrays, **{FINGERPRINTS: np.array(self.seen, dtype=np.uint64).ravel()})


def packed(**arrays: NDArray[Any]) -> Columns:
    """Arrays of any lengths as columns of one length.

    >>> unpacked(packed(a=np.arange(3), b=np.zeros(1)))["a"]
    array([0, 1, 2])
    """
    return {
        "name": np.array(list(arrays), dtype=object),
        "kind": np.array([array.dtype.str for array in arrays.values()], dtype=object),
        "content": np.array([array.tobytes() for array in arrays.values()], dtype=object),
    }


def unpacked(columns: Columns) -> dict[str, NDArray[Any]]:
    """Unpack the arrays."""
    rows = zip(columns["name"], columns["kind"], columns["content"], strict=True)
    return {name: np.frombuffer(content, dtype=kind) for name, kind, content in rows}


def sample_part(task: Task, part: int, rows: int, seed: int, parts: str) -> Columns:
    """Rows drawn from a part, one of every so many; those with a missing value left out. ``parts``
    names the source."""
    reader = PartReader(task.source)
    x, y = reader.read(part)
    draw = np.random.default_rng([seed, part])
    rows = min(rows, len(x))
    places = (np.arange(rows) + (draw.random(rows) if rows < len(x) else 0.0)) * (len(x) / rows)
    chosen = places.astype(np.int64)  # they rise
    x, y = (v[chosen[np.diff(chosen, prepend=-1) > 0]] for v in (x, y))
    known = np.isfinite(x) & np.isfinite(y)
    return reader.packed(x=x[known], y=y[known])


def fingerprint_parts(task: Task, first: int, last: int) -> Columns:
    """Return the fingerprints of some parts."""
    reader = PartReader(task.source)
    for part in range(first, last):
        reader.read(part)
    return reader.packed()


def empty_table(leaves: int) -> Floats:
    """The table of leaves that nothing has been added to: see ``_core/outofcore/partition.hpp``.

    A leaf is two lines of the cache, from where a line begins.
    """
    memory = np.zeros(16 * leaves + 8)
    begin = -(memory.ctypes.data // 8) % 8
    table: Floats = memory[begin : begin + 16 * leaves].reshape(leaves, 16)
    table[:, [1, 3]] = np.inf
    table[:, [2, 4]] = -np.inf
    return table


def tally_parts(task: Task, first: int, last: int, plan: str) -> Columns:
    """Count, extent and sums of every leaf; missing rows by part; values of discrete columns; rows
    of likely leaves."""
    table = empty_table(task.partition.leaves)
    missing = np.zeros(last - first, dtype=np.int64)
    values: list[Floats | None] = [np.zeros(0) if known else None for known in task.discrete]
    held = None if task.likely is None else Held(task.likely)
    reader = PartReader(task.source)
    for part in range(first, last):
        x, y = reader.read(part)
        if held is None:
            wanted = _EVERY if task.wanted is None else task.wanted
            missing[part - first] = task.partition.add(x, y, wanted, table)
        else:
            flags = held.flags
            missing[part - first], rows = task.partition.add_and_pick(x, y, flags, table)
            held.add((rows[0] + task.source.first[part], *rows[1:]), held.likely.until)
        for axis, column in enumerate((x, y)):
            values[axis] = joined(values[axis], _core.distinct(column, DISTINCT))
    used = np.flatnonzero(table[:, 0]).astype(np.int32)
    few = {
        name: found
        for name, found in zip(("x_values", "y_values"), values, strict=True)
        if found is not None
    }
    along = {} if held is None else held.arrays()
    return reader.packed(leaf=used, table=table[used].ravel(), missing=missing, **few, **along)


def joined(known: Floats | None, more: Floats | None) -> Floats | None:
    """Return the different values of both; None if there are too many."""
    if known is None or more is None:
        return None
    both = np.union1d(known, more)
    return both if len(both) <= DISTINCT else None


def pick_parts(task: Task, first: int, last: int, plan: str) -> Columns:
    """The rows of wanted leaves: number, leaf, x and y as placed."""
    found, reader = [], PartReader(task.source)
    for part in range(first, last):
        x, y = reader.read(part)
        position, leaf, px, py = task.partition.pick(x, y, task.wanted)
        found.append((position + task.source.first[part], leaf, px, py))
    row, leaf, px, py = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return reader.packed(row=row, leaf=leaf, x=px, y=py)

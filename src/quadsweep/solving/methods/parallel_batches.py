"""Batches in parts that processes or a cluster solve; finished parts may be kept.

How a batch is cut depends on its number of points alone, and each data set is solved by one thread,
so the answers are the same whoever gives them. A kept part is found again by a digest of its data
and its question: a run that was killed goes on by asking the same batches again.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.clock import Clock
from quadsweep.distributed.runner import missing, results
from quadsweep.distributed.store import Chunk, ChunkStore, Columns, digest_of
from quadsweep.distributed.workers import Workers, one_by_one, team
from quadsweep.solving.methods.batch import Batch, BatchOutcome, RegressionBatch

_PART_NUMBERS = 1 << 15  # points of a part, over its data sets
_LARGEST_PART = 512  # data sets of a part
_PARTS = 16  # parts of a block


@dataclass(frozen=True)
class Executor:
    """Who solves batches, and where finished parts are kept.

    ``workers`` None: threads of this process.
    """

    workers: Workers | None = None
    store: ChunkStore | None = None

    @property
    def here(self) -> bool:
        """Whether batches are solved whole, by threads of this process."""
        return self.workers is None and self.store is None

    def block(self, n: int) -> int | None:
        """How many data sets of n points to ask at a time; None leaves it to the caller."""
        return None if self.here else _PARTS * part_size(n)

    def solve(self, batch: Batch, method: str = "auto") -> BatchOutcome:
        """The best subset of each data set."""
        if self.here:
            return batch.solve(method)
        until = Clock(batch.time_limit).until()
        chunks = [
            Chunk(
                f"part-{part.digest}",
                solve_part,
                {"digest": part.digest, "method": method},
                part.batch.count,
                part,
            )
            for part in _split_parts(batch, until, 1 if self.workers else batch.n_jobs)
        ]
        unique = {chunk.name: chunk for chunk in chunks}
        found = dict(self.perform(list(unique.values())))
        parts = [found[chunk.name] for chunk in chunks]
        return unpack({name: np.concatenate([p[name] for p in parts]) for name in parts[0]})

    def perform(self, chunks: Sequence[Chunk]) -> Iterator[tuple[str, Columns]]:
        """Name and columns of every chunk, as they are finished; those kept earlier come first."""
        return results(chunks, self.workers or one_by_one, self.store, is_finished)


HERE = Executor()


@contextmanager
def executor(
    workers: Any,
    client: Any,
    jobs: int,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Iterator[Executor]:
    """What the arguments ``workers``, ``client``, ``out`` and ``resume`` mean."""
    store = None if out is None else ChunkStore(out)
    if store is not None:
        missing([], store, resume=resume)
    elif resume:
        raise ValueError("resume=True goes on with the parts in out; give out, a directory")
    with team(workers, client, jobs) as others:
        yield Executor(others, store)


def part_size(n: int) -> int:
    """How many data sets of n points make a part.

    >>> part_size(10), part_size(1000), part_size(10**6)
    (512, 32, 1)
    """
    return max(1, min(_LARGEST_PART, _PART_NUMBERS // n))


@dataclass(frozen=True)
class BatchPart:
    """Some data sets of a batch; ``until`` is a time of day."""

    batch: Batch
    until: float

    def limited(self) -> Batch:
        return replace(self.batch, time_limit=max(self.until - time.time(), 0.0))

    @property
    def digest(self) -> str:
        b = self.batch
        arrays = [b.x, b.y]
        question = [b.k, b.objective.name, b.tol, b.seed]
        if isinstance(b, RegressionBatch):
            arrays = []
            for p in b.problems:
                arrays += p.arrays
                question.append(p.intercept)
        return digest_of(np.array([repr(question)]), *arrays)


def _split_parts(batch: Batch, until: float, jobs: int) -> list[BatchPart]:
    size = part_size(batch.n)
    cuts = [slice(at, at + size) for at in range(0, batch.count, size)]
    return [
        BatchPart(
            replace(batch.part(cut), n_jobs=jobs, time_limit=math.inf),
            until,
        )
        for cut in cuts
    ]


def solve_part(part: BatchPart, method: str, **_: Any) -> Columns:
    """The best subsets, one row a data set."""
    return pack(part.limited().solve(method))


def pack(found: BatchOutcome) -> Columns:
    """Outcomes as columns for the disk, masks as bytes."""
    return {
        "values": found.values,
        "bounds": found.bounds,
        "masks": np.array([mask.tobytes() for mask in found.masks], dtype=object),
        "status": found.status.astype(object),
        "nodes": found.nodes,
    }


def unpack(columns: Columns) -> BatchOutcome:
    """The outcomes again."""
    masks = np.array([np.frombuffer(mask, dtype=bool) for mask in columns["masks"]])
    status = columns["status"].astype(np.str_)
    return BatchOutcome(columns["values"], columns["bounds"], masks, status, columns["nodes"])


def is_finished(columns: Columns | None) -> bool:
    """Whether no limit cut a part short."""
    stopped = ("time_limit", "memory_limit", "interrupted")
    return columns is not None and not np.isin(columns["status"], stopped).any()

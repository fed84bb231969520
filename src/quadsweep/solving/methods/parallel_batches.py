"""Batches in parts that processes or a cluster solve; finished parts may be kept.

How a batch is cut depends on its number of points alone, and each data set is solved by one thread,
so the answers are the same whoever gives them. A kept part is found again by a digest of its data
and its question: a run that was killed goes on by asking the same batches again.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep.arrays import Floats
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
        parts = self._done(solve_part, batch, {"method": method})
        found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        masks = np.frombuffer(b"".join(found["masks"]), dtype=bool).reshape(-1, batch.n)
        status = found["status"].astype(np.str_)
        return BatchOutcome(found["values"], found["bounds"], masks, status, found["nodes"])

    def reach(self, batch: Batch, least: float | Floats) -> NDArray[np.int8]:
        """Whether some subset of each passes a value: 1 yes, 0 no, -1 if a limit came first."""
        if self.here:
            return batch.reach(least)
        goals = np.ascontiguousarray(np.broadcast_to(least, batch.count), dtype=np.float64)
        parts = self._done(reach_part, batch, {}, goals)
        return np.concatenate([part["answers"] for part in parts]).astype(np.int8)

    def _done(
        self,
        work: Callable[..., Columns],
        batch: Batch,
        asked: dict[str, Any],
        goals: Floats | None = None,
    ) -> list[Columns]:
        """The columns of every part, in order."""
        until = Clock(batch.time_limit).until()
        chunks = [
            Chunk(
                f"part-{part.digest}",
                work,
                {"digest": part.digest, **asked},
                part.batch.count,
                part,
            )
            for part in _parts(batch, until, goals, 1 if self.workers else batch.n_jobs)
        ]
        unique = list({chunk.name: chunk for chunk in chunks}.values())
        found = dict(results(unique, self.workers or one_by_one, self.store, finished))
        return [found[chunk.name] for chunk in chunks]


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
    goals: Floats | None

    def limited(self) -> Batch:
        return replace(self.batch, time_limit=max(self.until - time.time(), 0.0))

    @property
    def digest(self) -> str:
        b = self.batch
        arrays = [b.x, b.y] if self.goals is None else [b.x, b.y, self.goals]
        question = [b.k, b.objective.name, b.tol, b.seed]
        if isinstance(b, RegressionBatch):
            arrays = [] if self.goals is None else [self.goals]
            for p in b.problems:
                arrays += p.arrays
                question.append(p.intercept)
        return digest_of(np.array([repr(question)]), *arrays)


def _parts(batch: Batch, until: float, goals: Floats | None, jobs: int) -> list[BatchPart]:
    size = part_size(batch.n)
    cuts = [slice(at, at + size) for at in range(0, batch.count, size)]
    return [
        BatchPart(
            replace(batch.part(cut), n_jobs=jobs, time_limit=math.inf),
            until,
            None if goals is None else goals[cut],
        )
        for cut in cuts
    ]


def solve_part(part: BatchPart, method: str, **_: Any) -> Columns:
    """The best subsets, one row a data set; masks as bytes."""
    found = part.limited().solve(method)
    return {
        "values": found.values,
        "bounds": found.bounds,
        "masks": np.array([mask.tobytes() for mask in found.masks], dtype=object),
        "status": found.status.astype(object),
        "nodes": found.nodes,
    }


def reach_part(part: BatchPart, **_: Any) -> Columns:
    assert part.goals is not None
    return {"answers": part.limited().reach(part.goals)}


def finished(columns: Columns | None) -> bool:
    """Whether no limit cut a part short."""
    if columns is None:
        return False
    if "answers" in columns:
        return bool((columns["answers"] >= 0).all())
    return not np.isin(columns["status"], ("time_limit", "memory_limit", "interrupted")).any()

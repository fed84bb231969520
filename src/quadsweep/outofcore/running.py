"""A pass over all parts: by threads of this process or on a cluster, finished parts on disk.

Parts are cut into runs by their number alone, and what comes back is put together in order, so that
the answer is the same to the last bit whoever did the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep.distributed.runner import results
from quadsweep.distributed.store import Chunk, ChunkStore, Columns
from quadsweep.distributed.workers import Finished, Workers, perform
from quadsweep.outofcore.sources import PartFailed, Source
from quadsweep.outofcore.work import FINGERPRINTS, Task, fingerprint_parts, unpacked

_RUNS = 64  # pieces that the parts are cut into, at most


@dataclass
class Passes:
    """Who reads the source, and how often it has been read.

    ``workers`` None: threads of this process. ``store``: where finished runs of parts are kept.
    ``fingerprints``: of the rows of each part, as first read; other rows later are an error.
    """

    jobs: int
    workers: Workers | None = None
    store: ChunkStore | None = None
    tick: Callable[[str, int, int, float], object] = field(default=lambda *_: None)
    start: float = field(default_factory=time.perf_counter)
    fingerprints: dict[int, int] = field(default_factory=dict)
    count: int = 0
    rows_read: int = 0
    seconds: float = 0.0

    def over(
        self, name: str, work: Callable[..., Columns], task: Task
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the arrays of every run of parts, in order."""
        self.count += 1
        self.rows_read += task.source.given
        edges = runs(task.source.parts)
        plan = task.digest()
        chunks = [
            Chunk(
                f"{self.count:02d}-{name}-{i:03d}",
                work,
                {"first": first, "last": last, "plan": plan + task.source.identity(first, last)},
                data=task,
            )
            for i, (first, last) in enumerate(edges)
        ]
        return self._in_order(f"pass {self.count}: {name}", chunks, task.source)

    def read_fingerprints(self, source: Source) -> None:
        """Read every part once, so that what is resumed is compared with the rows as they are."""
        self.rows_read += source.given
        chunks = [
            Chunk(f"fingerprints-{first}", fingerprint_parts, {"first": first, "last": last},
                  data=Task(source))
            for first, last in runs(source.parts)
        ]  # fmt: skip
        for _ in self._in_order("comparing rows", chunks, source, keep=False):
            pass

    def some(
        self, name: str, work: Callable[..., Columns], task: Task, asked: list[dict[str, Any]]
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the arrays of some parts, each with its own arguments."""
        self.count += 1
        self.rows_read += int(task.source.rows[[one["part"] for one in asked]].sum())
        chunks = [
            Chunk(f"{self.count:02d}-{name}-{i:03d}", work, one, data=task)
            for i, one in enumerate(asked)
        ]
        return self._in_order(f"pass {self.count}: {name}", chunks, task.source)

    def _in_order(
        self, what: str, chunks: list[Chunk], source: Source, *, keep: bool = True
    ) -> Iterator[dict[str, NDArray[Any]]]:
        states = source.file_states()
        workers = threads(self.jobs) if self.workers is None else self.workers
        store = self.store if keep else None
        waiting: dict[str, Columns] = {}
        since = time.perf_counter()
        names = iter([chunk.name for chunk in chunks])
        name = next(names, None)
        for done, (finished, columns) in enumerate(results(chunks, workers, store), 1):
            waiting[finished] = columns
            self.tick(what, done, len(chunks), time.perf_counter() - self.start)
            while name in waiting:
                arrays = unpacked(waiting.pop(name))
                self._compare(arrays.pop(FINGERPRINTS), source)
                yield arrays
                name = next(names, None)
        for path, state in source.file_states().items():
            if states.get(path, state) != state:
                raise PartFailed(f"{path} was written during {what}; ask again")
        self.seconds += time.perf_counter() - since

    def _compare(self, seen: NDArray[Any], source: Source) -> None:
        """Raise an error if rows differ from those of an earlier pass or of the resumed run."""
        for part, fingerprint in seen.reshape(-1, 2).tolist():
            if self.fingerprints.setdefault(part, fingerprint) != fingerprint:
                where = f" and give another out than {self.store.directory}" if self.store else ""
                raise PartFailed(
                    f"the rows of {source.part_name(part)} have changed since they were first "
                    f"read: ask again{where}"
                )


def runs(parts: int) -> list[tuple[int, int]]:
    """Runs of neighbouring parts, of about one length.

    >>> runs(3)
    [(0, 1), (1, 2), (2, 3)]
    """
    edges = np.linspace(0, parts, min(parts, _RUNS) + 1).round().astype(int).tolist()
    return [(a, b) for a, b in pairwise(edges) if b > a]


def threads(jobs: int) -> Workers:
    """Run chunks on threads of this process, only a few ahead, to save memory."""

    def run(chunks: Any) -> Iterator[Finished]:
        left = iter(chunks)
        with ThreadPoolExecutor(jobs) as pool:
            asked = {pool.submit(perform, chunk) for chunk in islice(left, jobs)}
            try:
                while asked:
                    ready, asked = wait(asked, return_when=FIRST_COMPLETED)
                    asked |= {pool.submit(perform, chunk) for chunk in islice(left, len(ready))}
                    yield from (one.result() for one in _sorted(ready))
            finally:
                pool.shutdown(cancel_futures=True)

    return run


def _sorted(ready: set[Future[Finished]]) -> list[Future[Finished]]:
    failed = [one for one in ready if one.exception() is not None]
    return failed or sorted(ready, key=lambda one: one.result()[0].name)

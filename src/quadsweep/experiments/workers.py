"""Who does the chunks: threads or processes of this machine, or a dask cluster.

Each is a function from chunks to (chunk, columns, seconds of a processor), in whatever order they
are finished. The caller writes them to disk, so workers need no common file system.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from quadsweep.experiments.store import Chunk, Columns

Finished = tuple[Chunk, Columns, float]
Workers = Callable[[Sequence[Chunk]], Iterator[Finished]]

RETRIES = 3  # of a chunk whose worker was lost


def _perform(chunk: Chunk) -> Finished:
    start = time.thread_time()
    columns = chunk.perform()
    return chunk, columns, time.thread_time() - start


def one_by_one(chunks: Sequence[Chunk]) -> Iterator[Finished]:
    """In this process, in order: for timings, which nothing else may disturb."""
    return map(_perform, chunks)


def local(jobs: int, kind: str = "processes") -> Workers:
    """``jobs`` threads or processes of this machine, through joblib.

    Examples
    --------
    >>> import numpy as np
    >>> chunks = [Chunk(f"c{i}", lambda i: {"i": np.array([i])}, {"i": i}) for i in range(3)]
    >>> sorted(chunk.name for chunk, *_ in local(2, "threads")(chunks))
    ['c0', 'c1', 'c2']
    """
    if kind not in ("threads", "processes"):
        raise ValueError(f"workers must be 'threads' or 'processes'; got {kind!r}")

    def run(chunks: Sequence[Chunk]) -> Iterator[Finished]:
        from joblib import Parallel, delayed

        parallel = Parallel(
            n_jobs=jobs,
            prefer=kind,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2 * n_jobs",
        )
        finished: Iterator[Finished] = parallel(delayed(_perform)(chunk) for chunk in chunks)
        return finished

    return one_by_one if jobs == 1 else run


def cluster(address: str, jobs: int) -> Workers:
    """A dask cluster: the scheduler at ``address``, or ``local``: ``jobs`` processes here.

    A chunk whose worker dies is given to another one. The workers' environment must have the same
    version of this package.
    """

    def run(chunks: Sequence[Chunk]) -> Iterator[Finished]:
        from distributed import Client, as_completed

        with ExitStack() as stack:
            where = _local_cluster(stack, jobs) if address == "local" else address
            client = stack.enter_context(Client(where))  # type: ignore[no-untyped-call]
            futures = [
                client.submit(_perform, chunk, key=f"quadsweep-{chunk.key}", retries=RETRIES)
                for chunk in chunks
            ]
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                finished: Finished = future.result()
                future.release()
                yield finished

    return run


def _local_cluster(stack: ExitStack, jobs: int) -> Any:
    from distributed import LocalCluster

    here: Any = LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=jobs, threads_per_worker=1, dashboard_address=None
    )
    return stack.enter_context(here)

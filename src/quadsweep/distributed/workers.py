"""Who does the chunks: this process, threads or processes of this machine, or a dask cluster.

Each is a function from chunks to (chunk, columns, seconds of a processor), in whatever order they
are finished. The caller writes them to disk, so workers need no common file system.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from quadsweep.distributed.store import Chunk, Columns
from quadsweep.extras import needed

Finished = tuple[Chunk, Columns | None, float]
Workers = Callable[[Sequence[Chunk]], Iterator[Finished]]

RETRIES = 3  # of a chunk whose worker was lost
KINDS = ("threads", "joblib")


def perform(chunk: Chunk) -> Finished:
    """A chunk's columns and the processor's seconds for them; its data stay where they are."""
    start = time.thread_time()
    columns = chunk.perform()
    return replace(chunk, data=None), columns, time.thread_time() - start


def _perform_on(chunk: Chunk, data: Any) -> Finished:
    return perform(replace(chunk, data=data))


def one_by_one(chunks: Sequence[Chunk]) -> Iterator[Finished]:
    """In this process, in order: for timings, which nothing else may disturb."""
    return map(perform, chunks)


@contextmanager
def team(workers: Any, client: Any, jobs: int) -> Iterator[Workers | None]:
    """What the arguments ``workers`` and ``client`` mean; None is threads inside the engine.

    A cluster named by its address is left, and one started here ended, with the block.

    >>> with team("threads", None, 2) as helpers:
    ...     helpers is None
    True
    """
    if workers not in KINDS:
        raise ValueError(f"workers must be 'threads' or 'joblib'; got {workers!r}")
    if client is None:
        yield as_configured(jobs) if workers == "joblib" else None
        return
    _check_client(client)
    with ExitStack() as stack:
        yield cluster(_client(client, jobs, stack), jobs)


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
    return one_by_one if jobs == 1 else _joblib(n_jobs=jobs, prefer=kind)


def as_configured(jobs: int) -> Workers:
    """Whatever joblib is set to use: processes, or what ``joblib.parallel_config`` names."""
    return _joblib(n_jobs=jobs)


def _joblib(**options: Any) -> Workers:
    def run(chunks: Sequence[Chunk]) -> Iterator[Finished]:
        with needed("workers='joblib'"):
            from joblib import Parallel, delayed

        parallel = Parallel(
            return_as="generator_unordered", batch_size=1, pre_dispatch="2 * n_jobs", **options
        )
        finished: Iterator[Finished] = parallel(delayed(perform)(chunk) for chunk in chunks)
        return finished

    return run


def cluster(where: Any, jobs: int) -> Workers:
    """A dask cluster: a client, a scheduler's address, or ``local``: ``jobs`` processes here.

    A chunk whose worker dies is given to another one. The workers' environment must have the same
    version of this package.
    """

    def run(chunks: Sequence[Chunk]) -> Iterator[Finished]:
        with ExitStack() as stack:
            yield from _on_cluster(_client(where, jobs, stack), chunks)

    return run


def _check_client(client: Any) -> None:
    if not isinstance(client, str) and not all(
        hasattr(client, name) for name in ("submit", "cancel")
    ):
        raise TypeError(
            f"client must be a dask Client, a scheduler's address or 'local'; got {client!r}"
        )


def _client(where: Any, jobs: int, stack: ExitStack) -> Any:
    if not isinstance(where, str):
        return where
    with needed("a dask cluster"):
        from distributed import Client, LocalCluster
    if where == "local":
        where = stack.enter_context(
            LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=":0")  # type: ignore[no-untyped-call]
        )
    return stack.enter_context(Client(where))  # type: ignore[no-untyped-call]


def _on_cluster(client: Any, chunks: Sequence[Chunk]) -> Iterator[Finished]:
    from distributed import as_completed

    uses = Counter(id(chunk.data) for chunk in chunks if chunk.data is not None)
    shared: dict[int, Any] = {}
    futures: list[Any] = []
    for chunk in chunks:
        key, data = f"quadsweep-{chunk.key}", chunk.data
        if uses[id(data)] > 1:  # a task of its own: made again where a worker that had it is lost
            if id(data) not in shared:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "Sending large graph")
                    shared[id(data)] = client.submit(_same, data, pure=False, retries=RETRIES)
            data = shared[id(data)]
        futures.append(
            client.submit(_perform_on, replace(chunk, data=None), data, key=key, retries=RETRIES)
        )
    try:
        for future in as_completed(list(futures)):  # type: ignore[no-untyped-call]
            futures.remove(future)
            yield future.result()
            future.release()
    finally:
        client.cancel([*futures, *shared.values()])


def _same(data: Any) -> Any:
    return data

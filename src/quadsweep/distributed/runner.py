"""Chunks not finished yet go to the workers; what comes back is on disk before it counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence

from quadsweep.distributed.store import Chunk, ChunkStore, Columns
from quadsweep.distributed.workers import Workers


class AlreadyStarted(ValueError):
    """There are finished chunks and nobody asked to go on with them."""


def missing(chunks: Sequence[Chunk], store: ChunkStore, *, resume: bool) -> list[Chunk]:
    """The chunks still to do.

    With ``resume``, chunks found whole in the store are kept; damaged ones are done again. Without,
    the store must be empty: finished work is never thrown away.
    """
    if not resume and not store.is_empty():
        raise AlreadyStarted(
            f"{store.directory} already holds finished chunks; go on with --resume (resume=True), "
            "or choose another directory"
        )
    store.clean()
    return [chunk for chunk in chunks if not _is_whole(chunk, store)]


def finish(chunks: Sequence[Chunk], store: ChunkStore, workers: Workers) -> Iterator[Chunk]:
    """Do the chunks; each is given back when it is on disk."""
    start = time.monotonic()
    for chunk, columns, seconds in workers(chunks):
        if columns is None:  # a limit came first
            return
        store.save(chunk, columns)
        store.log_time(chunk, seconds, time.monotonic() - start)
        yield chunk


def results(
    chunks: Sequence[Chunk],
    workers: Workers,
    store: ChunkStore | None,
    whole: Callable[[Columns | None], bool] = lambda columns: columns is not None,
) -> Iterator[tuple[str, Columns]]:
    """Name and columns of every chunk, as they are finished; none where a limit came first.

    With a store, those that are ``whole`` are kept, and those kept earlier come first.
    """
    todo = chunks if store is None else missing(chunks, store, resume=True)
    if store is not None:
        left = {chunk.name for chunk in todo}
        yield from ((c.name, stored(c, store)) for c in chunks if c.name not in left)
    start = time.monotonic()
    for chunk, columns, seconds in workers(todo):
        if store is not None and columns is not None and whole(columns):
            store.save(chunk, columns)
            store.log_time(chunk, seconds, time.monotonic() - start)
        yield chunk.name, columns or {}


def stored(chunk: Chunk, store: ChunkStore) -> Columns:
    """The columns of a finished chunk."""
    columns = store.load(chunk)
    if columns is None:
        raise OSError(f"chunk {chunk.name} cannot be read back; go on with --resume (resume=True)")
    return columns


def _is_whole(chunk: Chunk, store: ChunkStore) -> bool:
    if store.load(chunk) is not None:
        return True
    for path in store.files(chunk):
        print(f"{path.name} is damaged or of another run: done again", file=sys.stderr)
    return False

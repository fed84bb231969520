"""Chunks not finished yet go to the workers; what comes back is on disk before it counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from quadsweep.experiments.store import Chunk, ChunkStore, Columns
from quadsweep.experiments.workers import Workers

Results = Mapping[str, Columns]


class AlreadyStarted(ValueError):
    """There are finished chunks and nobody asked to go on with them."""


def run(
    label: str, chunks: Sequence[Chunk], store: ChunkStore, workers: Workers, *, resume: bool
) -> Results:
    """Columns of every chunk by its name, read back from the store.

    With ``resume``, chunks found whole in the store are kept; damaged ones are done again. Without,
    the store must be empty: finished work is never thrown away.
    """
    if not resume and not store.is_empty():
        raise AlreadyStarted(
            f"{store.directory} already holds finished chunks; go on with --resume, or choose "
            "another --out"
        )
    store.clean()
    kept = {chunk.name for chunk in chunks if _is_whole(chunk, store)}
    with _bar(label, chunks, kept) as bar:
        start, done = time.monotonic(), 0
        for chunk, columns, seconds in workers([c for c in chunks if c.name not in kept]):
            store.save(chunk, columns)
            elapsed = time.monotonic() - start
            store.log_time(chunk, seconds, elapsed)
            done += chunk.trials
            rate = done / max(elapsed, 1e-9)
            bar.set_postfix_str(f"{done:,} trials, {rate:,.0f} a second", refresh=False)
            bar.update()
    return {chunk.name: _load(chunk, store) for chunk in chunks}


def _is_whole(chunk: Chunk, store: ChunkStore) -> bool:
    if store.load(chunk) is not None:
        return True
    for path in store.files(chunk):
        print(f"{path.name} is damaged or of another run: done again", file=sys.stderr)
    return False


def _load(chunk: Chunk, store: ChunkStore) -> Columns:
    columns = store.load(chunk)
    if columns is None:
        raise OSError(f"chunk {chunk.name} cannot be read back; go on with --resume")
    return columns


@contextmanager
def _bar(label: str, chunks: Sequence[Chunk], kept: set[str]) -> Iterator[Any]:
    from tqdm import tqdm

    # Chunks take about as long as each other, trials of different methods do not.
    with tqdm(
        desc=label,
        total=len(chunks),
        initial=len(kept),
        unit=" chunks",
        mininterval=0.2 if sys.stderr.isatty() else 30,
        dynamic_ncols=True,
        smoothing=0.05,
    ) as bar:
        yield bar

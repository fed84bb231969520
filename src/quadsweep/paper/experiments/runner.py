"""The chunks of an experiment, with a bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from quadsweep.distributed.runner import finish, missing, stored
from quadsweep.distributed.store import Chunk, ChunkStore, Columns
from quadsweep.distributed.workers import Workers

Results = Mapping[str, Columns]


def run(
    label: str, chunks: Sequence[Chunk], store: ChunkStore, workers: Workers, *, resume: bool
) -> Results:
    """Columns of every chunk by its name, read back from the store."""
    todo = missing(chunks, store, resume=resume)
    with _bar(label, len(chunks), len(chunks) - len(todo)) as bar:
        start, done = time.monotonic(), 0
        for chunk in finish(todo, store, workers):
            done += chunk.trials
            rate = done / max(time.monotonic() - start, 1e-9)
            bar.set_postfix_str(f"{done:,} trials, {rate:,.0f} a second", refresh=False)
            bar.update()
    return {chunk.name: stored(chunk, store) for chunk in chunks}


@contextmanager
def _bar(label: str, total: int, kept: int) -> Iterator[Any]:
    from tqdm import tqdm

    # Chunks take about as long as each other, trials of different methods do not.
    with tqdm(
        desc=label,
        total=total,
        initial=kept,
        unit=" chunks",
        mininterval=0.2 if sys.stderr.isatty() else 30,
        dynamic_ncols=True,
        smoothing=0.05,
    ) as bar:
        yield bar

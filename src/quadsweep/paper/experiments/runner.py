"""The chunks of an experiment, and its tables."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.distributed.runner import finish, missing, stored
from quadsweep.distributed.store import Chunk, ChunkStore, Columns
from quadsweep.distributed.workers import Workers
from quadsweep.progress import counting


@dataclass(frozen=True)
class TextTable:
    """Rows under a title, with notes below.

    Examples
    --------
    >>> print(TextTable("Squares", ["n", "square"], [["2", "4"]], ["n is whole."]).markdown())
    ## Squares
    <BLANKLINE>
    | n | square |
    |---|--------|
    | 2 | 4      |
    <BLANKLINE>
    n is whole.
    <BLANKLINE>
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)

    def markdown(self) -> str:
        widths = [
            max(len(cell) for cell in column)
            for column in zip(self.columns, *self.rows, strict=True)
        ]

        def line(cells: Sequence[str]) -> str:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            return f"| {' | '.join(padded)} |"

        rule = "|".join("-" * (width + 2) for width in widths)
        lines = [f"## {self.title}", "", line(self.columns), f"|{rule}|"]
        lines += [line(row) for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        rows = [["" if cell == "-" else cell for cell in row] for row in self.rows]
        writer.writerows([self.columns, *rows])
        return text.getvalue()


def write(tables: Sequence[TextTable], directory: Path, name: str, title: str) -> str:
    """``name.md`` with all tables and one CSV each; the Markdown is returned."""
    directory.mkdir(parents=True, exist_ok=True)
    text = "\n".join([f"# {title}\n", *(table.markdown() for table in tables)])
    (directory / f"{name}.md").write_text(text, encoding="utf-8")
    for i, table in enumerate(tables):
        suffix = "" if i == 0 else f"-{i + 1}"
        (directory / f"{name}{suffix}.csv").write_text(table.csv(), encoding="utf-8")
    return text


Results = Mapping[str, Columns]


def run(
    label: str, chunks: Sequence[Chunk], store: ChunkStore, workers: Workers, *, resume: bool
) -> Results:
    """Columns of every chunk by its name, read back from the store."""
    todo = missing(chunks, store, resume=resume)
    with counting(None, f"chunks of {label}") as tick:
        start = time.monotonic()
        for done, _ in enumerate(finish(todo, store, workers), 1):
            tick(done, len(todo), time.monotonic() - start)
    return {chunk.name: stored(chunk, store) for chunk in chunks}


def split(
    prefix: str, work: Callable[..., Columns], trials: int, size: int, **asked: Any
) -> Iterator[Chunk]:
    """Chunks of consecutive trials, so many each."""
    for first in range(0, trials, size):
        count = min(size, trials - first)
        asked |= {"first": first, "count": count}
        yield Chunk(f"{prefix}-{first:07d}", work, dict(asked), count)


def gather(results: Results, prefix: str, name: str) -> Floats:
    """One column over all chunks of ``split``, in the order of the trials."""
    chunks = sorted(chunk for chunk in results if chunk.startswith(f"{prefix}-"))
    return np.concatenate([results[chunk][name] for chunk in chunks])

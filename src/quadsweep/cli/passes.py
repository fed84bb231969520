"""``quadsweep solve``, ``path`` and ``audit`` of files that may be larger than memory."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import typer

from quadsweep.cli.ending import BadInput, code_of_all, note
from quadsweep.cli.presenting import show
from quadsweep.inputs import validation
from quadsweep.outofcore.flags import write_flags
from quadsweep.outofcore.result import StreamedResult
from quadsweep.outofcore.solve import fits
from quadsweep.outofcore.sources import Source, is_source, open_source


def source_of(file: str, x: list[str] | None, y: str | None, memory: float | None) -> Source | None:
    """The source meant by a pattern, a folder, or a Parquet file that does not fit in memory."""
    if not is_source(file):
        return None
    several = glob.has_magic(file) or Path(file).is_dir()
    if not several and not Path(file).is_file():
        return None  # said by whoever reads tables
    if x is None or len(x) != 1 or y is None:
        if glob.has_magic(file):
            raise BadInput(f"{file} is read in parts: give one --x and --y, by name")
        return None
    try:
        source = open_source(file, x[0], y)
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    except ValueError:
        if several:
            raise
        return None  # columns by number
    return source if several or not fits(source, validation.memory(memory)) else None


def answer_source(
    function: Callable[..., Any],
    source: Source,
    file: str,
    *,
    plot: str | None,
    json: bool,
    output: str | None = None,
    **asked: Any,
) -> NoReturn:
    """Ask, write, show, and end with the code the answer deserves."""
    if output is not None and not output.endswith(".parquet"):
        raise BadInput(f"--output of data in parts must end in .parquet; got {output!r}")
    x, y = source.names
    try:
        answer: Any = function(
            source, x=x, y=y, nan_policy="omit", progress=sys.stderr.isatty(), **asked
        )
        if output is not None:
            write_flags(source, _flags(answer, source), output)
            note(f"wrote {output}")
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    names = f"{y} against {x}, {file}"
    content = {"source": file, **answer.to_dict()} if json else {"data": names}
    show(answer, plot, json, content)
    raise typer.Exit(code_of_all(np.atleast_1d(answer.status).tolist()))


def _flags(answer: Any, source: Source) -> Iterator[Any]:
    if isinstance(answer, StreamedResult):
        yield from answer.flags.arrays()
        return
    import pyarrow as pa

    missing = np.ones(source.given, dtype=bool)
    missing[answer.used] = False
    for first, rows in zip(source.first, source.rows, strict=True):
        yield pa.array(answer.mask[first : first + rows], mask=missing[first : first + rows])

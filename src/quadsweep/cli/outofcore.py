"""``quadsweep solve``, ``path`` and ``audit`` of files that may be larger than memory."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import typer

from quadsweep.cli.answering import asked_once, statuses
from quadsweep.cli.ending import BadInput, code_of_all, note
from quadsweep.cli.options import Given
from quadsweep.cli.presenting import show
from quadsweep.inputs import validation
from quadsweep.outofcore.sources import Source, is_source, open_source


def source_of(given: Given) -> Source | None:
    """The source meant by a pattern, a folder, or a Parquet file that does not fit in memory."""
    file = given.file
    if given.formula or given.by or given.label or not is_source(file):
        return None
    several = glob.has_magic(file) or Path(file).is_dir()
    if not several and not Path(file).is_file():
        return None  # said by whoever reads tables
    x = given.xs or ([] if given.x is None else [given.x])
    if len(x) != 1 or given.y is None:
        if glob.has_magic(file):
            raise BadInput(f"{file} is read out of core: give one --x and --y, by name")
        return None
    from quadsweep.outofcore.solve import fits

    try:
        source = open_source(file, x[0], given.y)
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    except ValueError:
        if several:
            raise
        return None  # columns by number
    return source if several or not fits(source, validation.memory(given.memory_limit)) else None


def answer_source(given: Given, source: Source) -> NoReturn:
    """Ask, write, show, and end with the code the answer deserves."""
    from quadsweep.outofcore.flags import write_flags

    output = given.output
    if output is not None and not output.endswith(".parquet"):
        raise BadInput(f"--output of data out of core must end in .parquet; got {output!r}")
    x, y = source.names
    try:
        found = asked_once(given, source, x=x, y=y, nan_policy="omit", **given.arguments())
        if output is not None:
            write_flags(source, _flags(found, source), output)
            note(f"wrote {output}")
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    names = f"{y} against {x}, {given.file}"
    content = {"source": given.file, **found.to_dict()} if given.json else {"data": names}
    show(found, given.plot, given.json, content)
    raise typer.Exit(code_of_all(statuses(found)))


def _flags(answer: Any, source: Source) -> Iterator[Any]:
    from quadsweep.outofcore.result import OutOfCoreResult

    if isinstance(answer, OutOfCoreResult):
        yield from answer.flags.arrays()
        return
    import pyarrow as pa

    missing = np.ones(source.given, dtype=bool)
    missing[answer.used] = False
    for first, rows in zip(source.first, source.rows, strict=True):
        yield pa.array(answer.mask[first : first + rows], mask=missing[first : first + rows])

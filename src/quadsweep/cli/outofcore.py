"""``quadsweep solve`` and ``audit`` of files that may be larger than memory."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from quadsweep.cli.answering import Outputs, ask, show
from quadsweep.cli.ending import BadInput, note
from quadsweep.inputs import validation
from quadsweep.outofcore.sources import Source, is_source, open_source


def find_source(
    file: str, x: Sequence[str] | None, y: str | None, memory_limit: float | None
) -> Source | None:
    """The source meant by a pattern, a folder, or a Parquet file that does not fit in memory."""
    if not is_source(file):
        return None
    several = glob.has_magic(file) or Path(file).is_dir()
    if not several and not Path(file).is_file():
        return None  # said by whoever reads tables
    x = x or []
    if len(x) != 1 or y is None:
        if glob.has_magic(file):
            raise BadInput(f"{file} is read out of core: give one --x and --y, by name")
        return None
    from quadsweep.outofcore.solve import fits

    try:
        source = open_source(file, x[0], y)
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    except ValueError:
        if several:
            raise
        return None  # columns by number
    return source if several or not fits(source, validation.memory(memory_limit)) else None


def answer_source(
    question: Callable[..., Any],
    source: Source,
    file: str,
    outputs: Outputs,
    asked: dict[str, Any],
    output: str | None = None,
) -> NoReturn:
    """Ask a question about a source, write flags where --output says, and show the answer."""
    if output is not None and not output.endswith(".parquet"):
        raise BadInput(f"--output of data out of core must end in .parquet; got {output!r}")
    x, y = source.names
    try:
        found = ask(question, source, outputs=outputs, x=x, y=y, nan_policy="omit", **asked)
        if output is not None:
            from quadsweep.outofcore.flags import write_flags

            write_flags(source, _flags(found, source), output)
            note(f"wrote {output}")
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    names = f"{y} against {x}, {file}"
    show(
        found, outputs, {"source": file, **found.to_dict()} if outputs.as_json else {"data": names}
    )


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

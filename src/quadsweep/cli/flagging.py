"""``solve FILE -o flagged.csv``: the table as it was read, and a column that says which rows stay.

Nothing of the file is changed: text stays as it was written. Rows that were left out for a missing
value are neither in nor out: the new column is empty there.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from quadsweep.cli.ending import BadInput
from quadsweep.cli.places import writing
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.tables import SourceTable, built_in_table
from quadsweep.cli.tables.values import is_missing, number
from quadsweep.inputs.frames import KEPT
from quadsweep.messages import free
from quadsweep.results.result import Result

_WORDS = {True: "true", False: "false", None: ""}


def write_flagged(answer: Result, points: NamedPoints, output: str | None) -> None:
    """The table with its new column."""
    if output is None:
        return
    table = points.table or built_in_table(points.source)
    twice = sorted({name for name in table.names if table.names.count(name) > 1})
    if twice:
        count = table.names.count(twice[0])
        raise BadInput(
            f"{table.source} has {count} columns called {twice[0]!r}, so --output cannot"
        )
    flags = {free(KEPT, table.names): _flags(answer, len(points.y))}
    write_table(output, table, flags)


def write_table(output: str, table: SourceTable, flags: dict[str, list[bool | None]]) -> None:
    """Columns as they were read, and columns of flags after them."""
    path = Path(output)
    with writing(output):
        if path.suffix.lower() == ".parquet":
            columns = table.read(table.names)
            _write_parquet(path, dict(zip(table.names, columns, strict=True)), table.decimal, flags)
            return
        tabs = path.suffix.lower() == ".tsv"
        delimiter = "\t" if tabs else ";" if table.decimal == "," else ","
        words = [[_WORDS[flag] for flag in column] for column in flags.values()]
        rows = list(table.stream()) if path.exists() else table.stream()  # it may be the same file
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            writer.writerow([*table.names, *flags])
            more = zip(*words, strict=True) if words else itertools.repeat(())
            writer.writerows((*row, *last) for row, last in zip(rows, more, strict=False))


def _flags(answer: Result, rows: int) -> list[bool | None]:
    flags = np.full(rows, None, dtype=object)
    flags[answer.used] = answer.mask[answer.used]
    listed: list[bool | None] = flags.tolist()
    return listed


def _write_parquet(
    path: Path, columns: dict[str, list[Any]], decimal: str, flags: dict[str, list[bool | None]]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    content = {title: pa.array(_typed(v, decimal)) for title, v in columns.items()}
    content |= {title: pa.array(v, type=pa.bool_()) for title, v in flags.items()}
    parquet.write_table(pa.table(content), path)


def _typed(values: list[Any], decimal: str) -> list[Any]:
    """Text as numbers where all of it is, whole ones as such; other values as they are."""
    known = [value for value in values if not is_missing(value)]
    if not known or not all(isinstance(value, str) for value in known):
        return values
    read = [number(value, decimal) for value in known]
    if any(value is None for value in read):
        return [None if value is None else str(value) for value in values]
    whole = all(value.isascii() and value.strip().lstrip("+-").isdigit() for value in known)
    make: Any = (lambda v: int(v.strip())) if whole else (lambda v: number(v, decimal))
    return [None if is_missing(value) else make(value) for value in values]

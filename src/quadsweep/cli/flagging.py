"""``solve FILE -o flagged.csv``: the table as it was read, and a column that says which rows stay.

Nothing of the file is changed: text stays as it was written. Rows that were left out for a missing
value are neither in nor out: the new column is empty there.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from quadsweep.cli.ending import BadInput
from quadsweep.cli.places import writing
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.tables import SourceTable, built_in_table
from quadsweep.cli.tables.values import is_missing, number
from quadsweep.inputs.frames import KEPT
from quadsweep.messages import free
from quadsweep.results.result import Result


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
    path, columns = Path(output), table.read(table.names)
    with writing(output):
        if path.suffix.lower() == ".parquet":
            _write_parquet(path, dict(zip(table.names, columns, strict=True)), table.decimal, flags)
        else:
            tabs = path.suffix.lower() == ".tsv"
            delimiter = "\t" if tabs else ";" if table.decimal == "," else ","
            words = [_words(values) for values in flags.values()]
            _write_text(path, [*table.names, *flags], [*columns, *words], delimiter)


def _flags(answer: Result, rows: int) -> list[bool | None]:
    flags: list[bool | None] = [None] * rows
    for i in answer.used.tolist():
        flags[i] = bool(answer.mask[i])
    return flags


def _words(flags: list[bool | None]) -> list[str]:
    return [{True: "true", False: "false", None: ""}[flag] for flag in flags]


def _write_text(path: Path, names: list[str], columns: list[Any], delimiter: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(names)
        for row in zip(*columns, strict=True):
            writer.writerow(["" if value is None else value for value in row])


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

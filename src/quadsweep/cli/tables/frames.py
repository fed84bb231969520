"""Files that a library reads: Parquet by Arrow; Excel, Stata, SPSS and Feather by pandas; JSON."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

from quadsweep.cli.ending import BadInput
from quadsweep.cli.options import FileOptions
from quadsweep.cli.tables.opening import SAMPLE, SourceTable, distinct
from quadsweep.cli.tables.text import TextSource
from quadsweep.extras import needed

_WORKBOOK, _FEATHER = "an Excel workbook", "a Feather file"
KINDS = {
    ".xlsx": _WORKBOOK,
    ".xls": _WORKBOOK,
    ".dta": "a Stata file",
    ".sav": "an SPSS file",
    ".feather": _FEATHER,
    ".arrow": _FEATHER,
}


def open_frame(file: Path | io.BytesIO, suffix: str, source: str, said: FileOptions) -> SourceTable:
    """Read the whole table; these kinds are not read by the column."""
    kind = KINDS.get(suffix, _FEATHER)
    sheets: tuple[str, ...] = ()
    try:
        import pandas as pd

        if kind == _WORKBOOK:
            frame, sheets = _read_workbook(file, source, said)
        elif kind == _FEATHER:
            frame = pd.read_feather(file)
        elif suffix == ".dta":
            frame = pd.read_stata(file, convert_categoricals=False)
        else:
            frame = pd.read_spss(str(file), convert_categoricals=False)
    except ImportError as wrong:
        missing = wrong.name or "pandas"
        raise BadInput(f"reading {kind} needs {missing}; pip install {missing}") from None
    except BadInput:
        raise
    except Exception as wrong:
        raise BadInput(f"{source} cannot be read as {kind}: {wrong}") from None
    if len(frame) == 0:
        which = f"sheet {sheets[0]!r} of {source}" if sheets else source
        raise BadInput(f"{which} has no rows{other_sheets(sheets)}")
    names = [str(name) for name in frame.columns]

    def load(wanted: list[str]) -> list[Any]:
        return [frame.iloc[:, names.index(name)] for name in wanted]

    head = frame.head(SAMPLE).astype(object)
    sample = head.where(head.notna(), None).to_numpy().tolist()
    return SourceTable(source, names, sample, load, sheets=sheets)


def _read_workbook(
    file: Path | io.BytesIO, source: str, said: FileOptions
) -> tuple[Any, tuple[str, ...]]:
    """The table of a sheet; and all sheets, where nobody said which of several."""
    import pandas as pd

    with pd.ExcelFile(file) as book:
        sheets = tuple(str(name) for name in book.sheet_names)
        which, rows = _find_sheet(said.sheet, sheets, source), range(said.skip_rows)
        header = None if said.header is False else 0
        frame = pd.read_excel(book, sheet_name=which, header=header, skiprows=rows)
        top = pd.read_excel(book, sheet_name=which, header=None, nrows=1, skiprows=rows)
    if header is None:
        frame.columns = [str(i) for i in range(1, len(frame.columns) + 1)]
    elif len(top) and len(top.columns) == len(frame.columns):
        headers = ["" if pd.isna(h) else str(h) for h in top.iloc[0]]
        if distinct(headers) != headers:
            frame.columns = distinct(headers)
    return frame, sheets if said.sheet is None and len(sheets) > 1 else ()


def _find_sheet(asked: str | None, sheets: tuple[str, ...], source: str) -> Any:
    """By name, by number from 1, the first one if nobody says which."""
    if asked is None:
        return 0
    if asked in sheets:
        return asked
    if asked.isdigit() and 1 <= int(asked) <= len(sheets):
        return int(asked) - 1
    raise BadInput(f"{source} has no sheet {asked!r}; its sheets are {', '.join(sheets)}")


def other_sheets(sheets: tuple[str, ...]) -> str:
    """What else a workbook has, for somebody who did not say which sheet.

    >>> other_sheets(("Cover", "Data 2020"))
    "; the sheets are Cover, Data 2020: --sheet 'Data 2020'"
    """
    if not sheets:
        return ""
    return f"; the sheets are {', '.join(sheets)}: --sheet {shlex.quote(sheets[1])}"


def open_parquet(file: Path | io.BytesIO, source: str) -> SourceTable:
    """Only the columns asked for are read."""
    with needed("reading Parquet"):
        import pyarrow.parquet as parquet
    try:
        opened = parquet.ParquetFile(file)
        names = list(opened.schema_arrow.names)
        head = next(opened.iter_batches(batch_size=SAMPLE), None)
    except Exception as wrong:
        raise BadInput(f"{source} is not a Parquet file: {wrong}") from None
    if head is None:
        raise BadInput(f"{source} has no rows")

    def load(wanted: list[str]) -> list[Any]:
        table = opened.read(columns=wanted)
        return [table.column(name) for name in wanted]

    sample = [list(row.values()) for row in head.to_pylist()]
    return SourceTable(source, names, sample, load)


def open_json(text: TextSource, source: str) -> SourceTable:
    """JSON: one object a line, or one list of objects; every name that occurs is a column."""
    content = "".join(text.lines())
    try:
        if content.lstrip()[:1] == "[":
            records = json.loads(content)
        else:
            records = [json.loads(line) for line in content.splitlines() if line.strip()]
    except RecursionError:
        raise BadInput(f"{source} is not JSON lines: it is nested too deeply") from None
    except ValueError as wrong:  # a JSONDecodeError, or a number of thousands of digits
        raise BadInput(f"{source} is not JSON lines: {wrong}") from None
    if not records:
        raise BadInput(f"{source} has no rows")
    for count, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadInput(f"{source}: row {count} is not an object")
    names = list(dict.fromkeys(name for record in records for name in record))

    def load(wanted: list[str]) -> list[Any]:
        return [[record.get(name) for record in records] for name in wanted]

    sample = [[record.get(name) for name in names] for record in records[:SAMPLE]]
    return SourceTable(source, names, sample, load)

"""Files that a library reads: Parquet by Arrow; Excel, Stata, SPSS and Feather by pandas."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from quadsweep.cli.ending import BadInput
from quadsweep.cli.tables.opening import SAMPLE, SourceTable, distinct
from quadsweep.extras import needed

_KINDS = {
    ".xlsx": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".dta": "a Stata file",
    ".sav": "an SPSS file",
    ".feather": "a Feather file",
    ".arrow": "a Feather file",
}


def reads(suffix: str, head: bytes) -> bool:
    """Whether pandas is the one to ask."""
    return suffix in _KINDS or head.startswith(b"ARROW1")


def by_pandas(file: Path | io.BytesIO, suffix: str, source: str, sheet: str | None) -> SourceTable:
    """The whole table; these kinds are not read by the column."""
    kind = _KINDS.get(suffix, "a Feather file")
    sheets: tuple[str, ...] = ()
    try:
        import pandas as pd

        if kind == "an Excel workbook":
            frame, sheets = _of_workbook(file, sheet, source)
        elif kind == "a Stata file":
            frame = pd.read_stata(file, convert_categoricals=False)
        elif kind == "an SPSS file":
            frame = pd.read_spss(str(file), convert_categoricals=False)
        else:
            frame = pd.read_feather(file)
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
    plain = frame.astype(object).where(frame.notna(), None)

    def read(wanted: list[str]) -> list[list[Any]]:
        return [plain.iloc[:, names.index(name)].tolist() for name in wanted]

    sample = plain.head(SAMPLE).to_numpy().tolist()
    return SourceTable(source, names, sample, read, sheets=sheets)


def _of_workbook(
    file: Path | io.BytesIO, asked: str | None, source: str
) -> tuple[Any, tuple[str, ...]]:
    """The table of a sheet; and all sheets, where nobody said which of several."""
    import pandas as pd

    with pd.ExcelFile(file) as book:
        sheets = tuple(str(name) for name in book.sheet_names)
        which = _sheet(asked, sheets, source)
        frame = pd.read_excel(book, sheet_name=which)
        top = pd.read_excel(book, sheet_name=which, header=None, nrows=1)
    headers = ["" if pd.isna(h) else str(h) for h in top.iloc[0]] if len(top) else []
    if distinct(headers) != headers and len(headers) == len(frame.columns):
        frame.columns = distinct(headers)
    return frame, sheets if asked is None and len(sheets) > 1 else ()


def _sheet(asked: str | None, sheets: tuple[str, ...], source: str) -> Any:
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
    import shlex

    if not sheets:
        return ""
    return f"; the sheets are {', '.join(sheets)}: --sheet {shlex.quote(sheets[1])}"


def parquet(file: Path | io.BytesIO, source: str) -> SourceTable:
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

    def read(wanted: list[str]) -> list[list[Any]]:
        table = opened.read(columns=wanted)
        return [_plain(table.column(name)) for name in wanted]

    sample = [list(row.values()) for row in head.to_pylist()]
    return SourceTable(source, names, sample, read)


def _plain(column: Any) -> list[Any]:
    """Plain values; a column of floats or integers by way of NumPy, which is faster."""
    if str(column.type) in ("double", "float", "int64", "int32") and not column.null_count:
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]

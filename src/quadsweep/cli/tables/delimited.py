"""Delimited text: which mark cuts the lines, which one is the decimal mark, and reading again.

Text is UTF-8 (or UTF-16 by its mark), and where it is not, Windows' Latin alphabet with a remark,
unless the user says which. Lines before the header that begin with # are remarks.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO

from quadsweep.cli.ending import BadInput, note
from quadsweep.cli.tables.opening import SAMPLE, FileOptions, SourceTable, distinct
from quadsweep.cli.tables.values import is_missing, number, reader_of

_LARGE = 4_000_000  # bytes, from which on reading shows its progress
_POLARS = 64_000_000  # bytes, from which on polars reads the columns where it is installed
_CHUNK = 1 << 22
_EITHER = re.compile(r"[+-]?\d{1,3},\d{3}")  # by either decimal mark a number


class HeldText:
    """Text that is in memory already."""

    path: Path | None = None

    def __init__(self, text: str) -> None:
        self._text = text

    def lines(self) -> Iterator[str]:
        """From the start, as often as needed."""
        return iter(self._text.splitlines(keepends=True))


class FileText:
    """Text of a file, read as often as needed."""

    def __init__(self, path: Path, said: FileOptions) -> None:
        self.encoding = said.encoding or _encoding_of(path)
        self.path: Path | None = path if self.encoding == "utf-8-sig" else None
        self._file = path

    def lines(self) -> Iterator[str]:
        try:
            with (
                _opened(self._file) as raw,
                io.TextIOWrapper(raw, encoding=self.encoding, newline="") as stream,
            ):
                yield from stream
        except (UnicodeDecodeError, LookupError) as wrong:
            raise BadInput(_not_text(str(self._file), self.encoding, wrong)) from None


def text_of(content: bytes, source: str, said: FileOptions) -> str:
    """Bytes as text."""
    encoding = said.encoding or _by_mark(content[:2]) or "utf-8-sig"
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as wrong:
        if said.encoding is not None:
            raise BadInput(_not_text(source, encoding, wrong)) from None
    _remark(source)
    return content.decode("cp1252", errors="replace")


def _by_mark(head: bytes) -> str | None:
    return "utf-16" if head in (b"\xff\xfe", b"\xfe\xff") else None


def _encoding_of(path: Path) -> str:
    """UTF-8 if all of it is, else Windows' Latin alphabet."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as stream:
        if marked := _by_mark(stream.read(2)):
            return marked
        stream.seek(0)
        try:
            while chunk := stream.read(_CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            _remark(str(path))
            return "cp1252"
    return "utf-8-sig"


def _remark(source: str) -> None:
    note(f"{source} is not UTF-8; read as cp1252 (Western European); --encoding says otherwise")


def _not_text(source: str, encoding: str, wrong: UnicodeDecodeError | LookupError) -> str:
    if isinstance(wrong, UnicodeDecodeError):
        return f"{source} is not {encoding} text (byte {wrong.start:,})"
    return f"there is no encoding {encoding!r}; try utf-8, cp1252, latin-1 or utf-16"


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    size = path.stat().st_size
    if size < _LARGE or not sys.stderr.isatty():
        return path.open("rb")
    from rich.console import Console
    from rich.progress import open as open_with_progress

    return open_with_progress(
        path, "rb", description=f"reading {path.name}", console=Console(stderr=True), transient=True
    )


def table(text: HeldText | FileText, suffix: str, source: str, said: FileOptions) -> SourceTable:
    """The names and the first rows; whole columns by reading the lines again."""
    start = list(itertools.islice(text.lines(), SAMPLE))
    remarks = len(list(itertools.takewhile(lambda line: line.startswith("#"), start)))
    delimiter = "\t" if suffix in (".tsv", ".tab") else _delimiter(start[remarks:])

    def rows() -> Iterator[list[str]]:
        return _rows(itertools.islice(text.lines(), remarks, None), delimiter, source)

    head = list(itertools.islice(rows(), SAMPLE))
    if not head:
        raise BadInput(f"{source} is empty")
    decimal = said.decimal or find_decimal(head[1:], delimiter, source)
    titled = _has_header(head, decimal, source) if said.header is None else said.header
    names = distinct([title.strip() for title in head[0]]) if titled else []
    names = names or [str(i) for i in range(1, len(head[0]) + 1)]
    sample = head[1:] if titled else head
    if not sample:
        raise BadInput(f"{source} has a header and no rows")

    def read(wanted: list[str]) -> list[list[Any]]:
        if fast := _by_polars(text.path, delimiter, remarks, titled, names, wanted):
            return fast
        return _columns(itertools.islice(rows(), int(titled), None), names, wanted, source)

    return SourceTable(source, names, sample, read, decimal, "" if remarks else delimiter, titled)


def _columns(
    rows: Iterator[list[str]], names: list[str], wanted: list[str], source: str
) -> list[list[Any]]:
    indices = [names.index(name) for name in wanted]
    columns: list[list[Any]] = [[] for _ in indices]
    for count, row in enumerate(rows, start=1):
        if len(row) > len(names):
            raise BadInput(
                f"{source}: row {count} has {len(row)} fields where there are {len(names)} columns"
            )
        for values, index in zip(columns, indices, strict=True):
            values.append(row[index] if index < len(row) else None)
    return columns


def _by_polars(
    path: Path | None,
    delimiter: str,
    remarks: int,
    titled: bool,
    names: list[str],
    wanted: list[str],
) -> list[list[Any]] | None:
    """A very large file by polars' lazy reader, only the columns needed; None where it cannot."""
    if path is None or path.stat().st_size < _POLARS or len(set(names)) < len(names):
        return None
    try:
        import polars as pl
    except ModuleNotFoundError:
        return None
    try:
        scan = pl.scan_csv(
            path, separator=delimiter, has_header=titled, skip_lines=remarks,
            new_columns=names, infer_schema=False,
        )  # fmt: skip
        frame = scan.select(wanted).collect()
    except Exception:  # ragged rows, odd quotes: the slow reader says what is wrong, and where
        return None
    return [frame[name].to_list() for name in wanted]


def _rows(lines: Iterator[str], delimiter: str, source: str) -> Iterator[list[str]]:
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            if any(row):
                yield row
    except csv.Error as wrong:
        raise BadInput(f"{source} is not a table: {_about(wrong)}") from None


def _about(wrong: csv.Error) -> str:
    most = csv.field_size_limit()
    if "field limit" in str(wrong):
        return f"a field has more than {most:,} characters; is a quotation mark not closed?"
    return str(wrong)


def _delimiter(lines: list[str]) -> str:
    """The candidate that cuts the first lines into the same number of fields, most of them."""
    best, most = ",", 1
    some = [line for line in lines if line.strip()][:20]
    for candidate in (";", ",", "\t", "|"):  # with decimal commas both may cut: semicolons first
        try:
            counts = {len(row) for row in csv.reader(some, delimiter=candidate)}
        except csv.Error:  # a field too long: whoever reads the rows says so
            continue
        if len(counts) == 1 and (fields := counts.pop()) > most:
            best, most = candidate, fields
    if most > 1 or any("," in line for line in some):
        return best
    return " " if all(len(line.split()) > 1 for line in some) else ","


def find_decimal(rows: list[list[str]], delimiter: str, source: str) -> str:
    """The mark by which more fields are numbers.

    ``1,000`` is one by both: a thousand in English, and one in most files whose fields are cut by
    semicolons because the comma is taken.
    """
    fields = [v for row in rows for v in row if not is_missing(v) and ("," in v or "." in v)]
    point = sum(number(v, ".") is not None for v in fields)
    comma = sum(number(v, ",") is not None for v in fields)
    either = [v for v in fields if _EITHER.fullmatch(v.strip())]
    if point == comma and either and delimiter != ",":
        decimal = "," if delimiter == ";" else "."
        read, other = number(either[0], decimal), "." if decimal == "," else ","
        note(
            f"{source}: {either[0].strip()} is read as {read:g} (--decimal {other} says otherwise)"
        )
        return decimal
    return "," if comma > point else "."


def _has_header(rows: list[list[str]], decimal: str, source: str) -> bool:
    """Whether the first row names the columns.

    A text above numbers is a name. Numbers beside texts that stand above texts are names if they
    look like years or count.
    """
    columns = list(itertools.zip_longest(*rows))[: len(rows[0])]
    first = [[cell] for cell in rows[0]]
    values = [number(cell, decimal) for (cell,) in first if reader_of([cell], decimal)]
    if not values:
        return True
    texts = [j for j, cell in enumerate(first) if reader_of(cell, decimal) is None]
    texts = [j for j in texts if rows[0][j].strip() and not is_missing(rows[0][j])]
    if not texts:
        return False
    if len(rows) < 2 or any(reader_of(list(columns[j][1:]), decimal) for j in texts):
        return True
    whole = [int(v) for v in values if v is not None and v == int(v)]
    steps = {later - earlier for earlier, later in itertools.pairwise(whole)}
    is_counted = all(1000 <= v < 3000 for v in whole) or (len(whole) > 2 and steps == {1})
    titled = len(whole) == len(values) and is_counted
    what, option = ("names", "--no-header") if titled else ("data", "--header")
    note(f"{source}: the first row is read as {what} ({option} says otherwise)")
    return titled

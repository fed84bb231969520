"""Tables from files: CSV, TSV, Parquet, JSON lines, standard input.

A table is opened first, which reads its names and some rows; only the columns chosen from those are
then read in full, so that a long file costs the memory of what is asked of it.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from quadsweep.cli.ending import BadInput
from quadsweep.extras import needed

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "."})
_SAMPLE = 1000
_LARGE = 4_000_000  # bytes, from which on reading shows its progress


@dataclass(frozen=True)
class SourceTable:
    """Names, the first rows, and a way to read whole columns.

    ``read(["a", "b"])`` gives one list of raw values a name: text from text files, numbers or text
    from the others, None where there is nothing.
    """

    source: str
    names: list[str]
    sample: list[list[Any]]
    read: Callable[[list[str]], list[list[Any]]]

    def sample_of(self, name: str) -> list[Any]:
        index = self.names.index(name)
        return [row[index] if index < len(row) else None for row in self.sample]


def open_table(file: str) -> SourceTable:
    """The table in a file, or on standard input for ``-``."""
    if file == "-":
        return _from_bytes(sys.stdin.buffer.read(), "standard input")
    path = Path(file)
    if path.is_dir():
        raise BadInput(f"{file} is a directory; give a file")
    if not path.exists():
        raise BadInput(_no_such(file))
    try:
        if not path.is_file():  # a pipe: it is read once, and its size means nothing
            return _from_bytes(path.read_bytes(), file)
        if path.stat().st_size == 0:
            raise BadInput(f"{file} is empty")
        with path.open("rb") as stream:
            head = stream.read(4096)
        if head.startswith(b"PAR1"):
            return _parquet(path)
        if path.suffix.lower() in (".json", ".jsonl", ".ndjson") or head.lstrip()[:1] == b"{":
            return _json(_text(path.read_bytes(), file), file)
        _refuse_binary(head, file)
        return _delimited(_lines(path, _encoding(head)), path.suffix.lower(), file)
    except OSError as wrong:
        raise BadInput(f"{file} cannot be read: {wrong.strerror}") from None


def _no_such(file: str) -> str:
    import difflib

    from quadsweep import datasets

    near = difflib.get_close_matches(file, datasets.names(), 1)
    hint = f"; did you mean the built-in data set {near[0]}?" if near else ""
    return f"{file} does not exist{hint}"


def _from_bytes(content: bytes, source: str) -> SourceTable:
    if not content.strip():
        raise BadInput(f"{source} is empty")
    if content.startswith(b"PAR1"):
        return _parquet(io.BytesIO(content))
    if content.lstrip()[:1] == b"{":
        return _json(_text(content, source), source)
    _refuse_binary(content[:4096], source)
    text = _text(content, source)
    return _delimited(iter(text.splitlines(keepends=True)), "", source)


def _refuse_binary(head: bytes, source: str) -> None:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    if head.startswith(b"PK\x03\x04"):
        raise BadInput(f"{source} is a workbook or an archive; save the sheet as CSV")
    if b"\0" in head or head.startswith((b"\x1f\x8b", b"%PDF", b"\x89PNG")):
        raise BadInput(f"{source} is a binary file; CSV, TSV, Parquet and JSON lines are read")


def _encoding(head: bytes) -> str:
    return "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def _text(content: bytes, source: str) -> str:
    try:
        return content.decode(_encoding(content[:2]))
    except UnicodeDecodeError as wrong:
        raise BadInput(_not_text(source, wrong)) from None


def _not_text(source: str, wrong: UnicodeDecodeError) -> str:
    return f"{source} is not UTF-8 text (byte {wrong.start:,}); save it as UTF-8"


def _lines(path: Path, encoding: str) -> Iterator[str]:
    try:
        with _opened(path) as raw, io.TextIOWrapper(raw, encoding=encoding, newline="") as stream:
            yield from stream
    except UnicodeDecodeError as wrong:
        raise BadInput(_not_text(str(path), wrong)) from None


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    size = path.stat().st_size
    if size < _LARGE or not sys.stderr.isatty():
        return path.open("rb")
    from rich.console import Console
    from rich.progress import open as open_with_progress

    return open_with_progress(
        path, "rb", description=f"reading {path.name}", console=Console(stderr=True), transient=True
    )


def _delimited(lines: Iterator[str], suffix: str, source: str) -> SourceTable:
    start = list(itertools.islice(lines, _SAMPLE))
    delimiter = "\t" if suffix in (".tsv", ".tab") else _delimiter(start)
    rows = _rows(itertools.chain(start, lines), delimiter, source)
    head = list(itertools.islice(rows, _SAMPLE))
    if not head:
        raise BadInput(f"{source} is empty")
    titled = not all(is_number(value) for value in head[0])
    names = [title.strip() for title in head[0]] if titled else []
    names = names or [str(i) for i in range(1, len(head[0]) + 1)]
    sample = head[1:] if titled else head
    if not sample:
        raise BadInput(f"{source} has a header and no rows")

    def read(wanted: list[str]) -> list[list[Any]]:
        indices = [names.index(name) for name in wanted]
        columns: list[list[Any]] = [[] for _ in indices]
        for number, row in enumerate(itertools.chain(sample, rows), start=1):
            if len(row) > len(names):
                raise BadInput(
                    f"{source}: row {number} has {len(row)} fields where there are "
                    f"{len(names)} columns"
                )
            for column, index in zip(columns, indices, strict=True):
                column.append(row[index] if index < len(row) else None)
        return columns

    return SourceTable(source, names, sample, read)


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
    for candidate in (",", "\t", ";", "|"):
        try:
            counts = {len(row) for row in csv.reader(some, delimiter=candidate)}
        except csv.Error:  # a field too long: whoever reads the rows says so
            continue
        if len(counts) == 1 and (fields := counts.pop()) > most:
            best, most = candidate, fields
    if most > 1 or any("," in line for line in some):
        return best
    return " " if all(len(line.split()) > 1 for line in some) else ","


def _json(text: str, source: str) -> SourceTable:
    try:
        if text.lstrip()[:1] == "[":
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
    except RecursionError:
        raise BadInput(f"{source} is not JSON lines: it is nested too deeply") from None
    except ValueError as wrong:  # a JSONDecodeError, or a number of thousands of digits
        raise BadInput(f"{source} is not JSON lines: {wrong}") from None
    if not records:
        raise BadInput(f"{source} has no rows")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadInput(f"{source}: row {number} is not an object")
    names = list(dict.fromkeys(name for record in records for name in record))

    def read(wanted: list[str]) -> list[list[Any]]:
        return [[record.get(name) for record in records] for name in wanted]

    sample = [[record.get(name) for name in names] for record in records[:_SAMPLE]]
    return SourceTable(source, names, sample, read)


def _parquet(file: Path | io.BytesIO) -> SourceTable:
    with needed("reading Parquet"):
        import pyarrow.parquet as parquet
    source = str(file) if isinstance(file, Path) else "standard input"
    try:
        opened = parquet.ParquetFile(file)
        names = list(opened.schema_arrow.names)
        head = next(opened.iter_batches(batch_size=_SAMPLE), None)
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


def is_missing(value: Any) -> bool:
    """True for what stands for nothing."""
    return value is None or (isinstance(value, str) and value.strip().lower() in MISSING)


def is_number(value: Any) -> bool:
    """True for a number, or text that is one."""
    if isinstance(value, (bool, int, float)):
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True

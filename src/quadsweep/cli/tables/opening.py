"""Which kind of file it is, by its first bytes and its name, and who reads it."""

from __future__ import annotations

import difflib
import gzip
import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quadsweep.cli.ending import BadInput
from quadsweep.cli.tables.values import MORE_MISSING

SAMPLE = 1000  # rows looked at before columns are chosen


@dataclass(frozen=True)
class SourceTable:
    """Names, the first rows, and a way to read whole columns.

    ``read(["a", "b"])`` gives one list of raw values a name: text from text files, numbers or text
    from the others, None where there is nothing. It may be called again. The delimiter is that of
    text, empty for other kinds and where remarks stand before the header.
    """

    source: str
    names: list[str]
    sample: list[list[Any]]
    read: Callable[[list[str]], list[list[Any]]]
    decimal: str = "."
    delimiter: str = ""
    titled: bool = True
    sheets: tuple[str, ...] = ()  # of a workbook, where nobody said which

    def sample_of(self, name: str) -> list[Any]:
        index = self.names.index(name)
        return [row[index] if index < len(row) else None for row in self.sample]


def distinct(names: list[str]) -> list[str]:
    """Headers as given; those that occur again and again by their number as well.

    >>> distinct(["a", "b", "a"])
    ['a (column 1)', 'b', 'a (column 3)']
    """
    twice = {name for name in names if name and names.count(name) > 1}
    return [f"{n} (column {i})" if n in twice else n for i, n in enumerate(names, 1)]


@dataclass(frozen=True)
class FileOptions:
    """Which file, and what the user says about it.

    Its encoding, its decimal mark, the sheet of a workbook, and texts that stand for nothing.
    """

    file: str
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    missing: Sequence[str] | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise BadInput(f"--decimal must be '.' or ','; got {self.decimal!r}")


def open_table(options: FileOptions) -> SourceTable:
    """The table in a file, on standard input for ``-``, or of a built-in data set."""
    file = options.file
    MORE_MISSING.set(frozenset(text.strip().lower() for text in options.missing or ()))
    if file == "-":
        return _of_bytes(sys.stdin.buffer.read(), "standard input", "", options)
    path = Path(file)
    if path.is_dir():
        raise BadInput(f"{file} is a directory; give a file")
    if not path.exists():
        return built_in_table(file)
    try:
        if not path.is_file():  # a pipe: it is read once, and its size means nothing
            return _of_bytes(path.read_bytes(), file, "", options)
        if path.stat().st_size == 0:
            raise BadInput(f"{file} is empty")
        with path.open("rb") as stream:
            head = stream.read(4096)
        if head.startswith(b"\x1f\x8b"):
            return _of_bytes(_unpacked(path), file, Path(path.stem).suffix.lower(), options)
        return _of(path, head, file, path.suffix.lower(), options)
    except OSError as wrong:
        raise BadInput(f"{file} cannot be read: {wrong.strerror}") from None


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (EOFError, OSError) as wrong:
        raise BadInput(f"{path} is not a whole gzip file: {wrong}") from None


def _of(
    file: Path | bytes, head: bytes, source: str, suffix: str, said: FileOptions
) -> SourceTable:
    """The table in a file, or in bytes that were read already."""
    from quadsweep.cli.tables import delimited, frames, records

    if head.startswith(b"PAR1") or frames.reads(suffix, head):
        given = io.BytesIO(file) if isinstance(file, bytes) else file
        if head.startswith(b"PAR1"):
            return frames.parquet(given, source)
        return frames.by_pandas(given, suffix, source, said.sheet)
    if suffix in (".json", ".jsonl", ".ndjson") or head.lstrip()[:1] == b"{":
        content = file if isinstance(file, bytes) else file.read_bytes()
        return records.table(delimited.text_of(content, source, said), source)
    _refuse_binary(head, source)
    text: delimited.HeldText | delimited.FileText
    if isinstance(file, bytes):
        text = delimited.HeldText(delimited.text_of(file, source, said))
    else:
        text = delimited.FileText(file, said)
    return delimited.table(text, suffix, source, said)


def _of_bytes(content: bytes, source: str, suffix: str, said: FileOptions) -> SourceTable:
    if not content.strip():
        raise BadInput(f"{source} is empty")
    return _of(content, content[:4096], source, suffix, said)


def _refuse_binary(head: bytes, source: str) -> None:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    if b"\0" in head or head.startswith((b"PK\x03\x04", b"%PDF", b"\x89PNG")):
        raise BadInput(
            f"{source} is a binary file of no kind known here; CSV, TSV, JSON lines, Parquet, "
            "Excel, Stata, SPSS and Feather are read"
        )


def built_in_table(name: str) -> SourceTable:
    """The table of a built-in data set."""
    from quadsweep import datasets

    if name not in datasets.names():
        near = difflib.get_close_matches(name, datasets.names(), 1)
        hint = f"; did you mean the built-in data set {near[0]}?" if near else ""
        raise BadInput(f"{name} does not exist{hint}")
    columns = {title: list(values) for title, values in datasets.load(name).columns.items()}
    sample = [list(row) for row in zip(*columns.values(), strict=True)][:SAMPLE]
    return SourceTable(name, list(columns), sample, lambda wanted: [columns[t] for t in wanted])

"""Which kind of file it is, by its first bytes and its name, and who reads it."""

from __future__ import annotations

import bz2
import difflib
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.cli.ending import BadInput
from quadsweep.cli.options import FileOptions
from quadsweep.cli.tables.values import EXACT, MORE_MISSING, is_plain

SAMPLE = 1000  # rows looked at before columns are chosen
_PACKED = {  # first bytes -> what they are called, and who unpacks them
    b"\x1f\x8b": ("gzip", gzip.decompress),
    b"BZh": ("bzip2", bz2.decompress),
    b"\xfd7zXZ\x00": ("xz", lzma.decompress),
}
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class SourceTable:
    """Names, the first rows, and a way to read whole columns.

    ``load`` returns a column for each name: a list, an array of Arrow or a series of pandas.
    """

    source: str
    names: list[str]
    sample: list[list[Any]]
    load: Callable[[list[str]], list[Any]]
    decimal: str = "."
    guess_by: str = ""  # the delimiter that helps to guess a decimal mark nobody said
    sheets: tuple[str, ...] = ()  # of a workbook, where nobody said which
    stream_text: Callable[[], Iterator[list[str]]] | None = None
    _columns: dict[str, Any] = field(default_factory=dict)

    def fetch(self, names: list[str]) -> list[Any]:
        """Load columns, each once."""
        new = [name for name in dict.fromkeys(names) if name not in self._columns]
        if new:
            self._columns.update(zip(new, self.load(new), strict=True))
        return [self._columns[name] for name in names]

    def read(self, names: list[str]) -> list[list[Any]]:
        """Read columns as lists of raw values: text from text files, None for an empty cell."""
        return [_as_list(column) for column in self.fetch(names)]

    def read_floats(self, name: str) -> Floats | None:
        """Read a column of plain numbers as an array, where a library does that at once."""
        (column,) = self.fetch([name])
        if hasattr(column, "to_numpy") and not hasattr(column, "to_pylist"):  # pandas
            return column.to_numpy() if column.dtype == np.float64 else None
        if isinstance(column, list) or not is_plain(self.sample_of(name)):
            return None
        import pyarrow as pa

        text = pa.types.is_string(column.type)
        if MORE_MISSING.get() or not (text or pa.types.is_floating(column.type)):
            return None
        if text and self.decimal != ".":
            return None
        try:
            floats = column.cast(pa.float64())
            parts = (floats.fill_null(np.nan) if floats.null_count else floats).chunks
        except pa.ArrowInvalid:
            return None
        places = [np.frombuffer(part.buffers()[1])[part.offset :][: len(part)] for part in parts]
        whole = np.concatenate(places)  # to_numpy would import pandas
        return None if text and bool((np.abs(whole) > EXACT).any()) else whole

    def stream(self) -> Iterator[Sequence[Any]]:
        """Iterate over the rows as they were read."""
        if self.stream_text is not None:
            return self.stream_text()
        return zip(*self.read(self.names), strict=True)

    def sample_of(self, name: str) -> list[Any]:
        index = self.names.index(name)
        return [row[index] if index < len(row) else None for row in self.sample]


def _as_list(column: Any) -> list[Any]:
    if isinstance(column, list):
        return column
    if hasattr(column, "to_pylist"):
        found: list[Any] = column.to_pylist()
    else:
        found = column.astype(object).where(column.notna(), None).tolist()
    return found


def distinct(names: list[str]) -> list[str]:
    """Headers as given; those that occur again and again by their number as well.

    >>> distinct(["a", "b", "a"])
    ['a (column 1)', 'b', 'a (column 3)']
    """
    twice = {name for name in names if name and names.count(name) > 1}
    return [f"{n} (column {i})" if n in twice else n for i, n in enumerate(names, 1)]


def open_table(options: FileOptions) -> SourceTable:
    """Open the table in a file, on standard input for ``-``, or of a built-in data set."""
    file = options.file
    MORE_MISSING.set(frozenset(text.strip().lower() for text in options.missing or ()))
    if file == "-":
        return _open_bytes(sys.stdin.buffer.read(), "standard input", "", options)
    path = Path(file)
    if path.is_dir():
        raise BadInput(f"{file} is a directory; give a file")
    if not path.exists():
        return built_in_table(file)
    try:
        if not path.is_file():  # a pipe: it is read once, and its size means nothing
            return _open_bytes(path.read_bytes(), file, "", options)
        if path.stat().st_size == 0:
            raise BadInput(f"{file} is empty")
        with path.open("rb") as stream:
            head = stream.read(4096)
        if head.startswith((*_PACKED, _ZIP)):
            return _open_bytes(path.read_bytes(), file, path.suffix.lower(), options)
        return _open_unpacked(path, head, file, path.suffix.lower(), options)
    except OSError as wrong:
        raise BadInput(f"{file} cannot be read: {wrong.strerror}") from None


def _open_bytes(content: bytes, source: str, suffix: str, said: FileOptions) -> SourceTable:
    if not content.strip():
        raise BadInput(f"{source} is empty")
    content, inner = _unpack(content, source)
    return _open_unpacked(content, content[:4096], source, inner or suffix, said)


def _unpack(content: bytes, source: str) -> tuple[bytes, str]:
    """Unpack what is packed; also the suffix of the file inside, where it says one."""
    for mark, (kind, unpack) in _PACKED.items():
        if content.startswith(mark):
            try:
                return unpack(content), Path(Path(source).stem).suffix.lower()
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as wrong:
                raise BadInput(f"{source} is not a whole {kind} file: {wrong}") from None
    if not content.startswith(_ZIP):
        return content, ""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if "[Content_Types].xml" in names:
                return content, ".xlsx"
            if len(names) != 1:
                raise BadInput(f"{source} has {len(names)} files; one table is read from a zip")
            return archive.read(names[0]), Path(names[0]).suffix.lower()
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError):
        return content, ""  # refused as binary


def _open_unpacked(
    file: Path | bytes, head: bytes, source: str, suffix: str, said: FileOptions
) -> SourceTable:
    from quadsweep.cli.tables import frames, text

    given = io.BytesIO(file) if isinstance(file, bytes) else file
    if head.startswith(b"PAR1"):
        return frames.open_parquet(given, source)
    if suffix in frames.KINDS or head.startswith(b"ARROW1"):
        return frames.open_frame(given, suffix, source, said)
    if suffix in (".json", ".jsonl", ".ndjson") or head.lstrip()[:1] == b"{":
        return frames.open_json(text.TextSource(file, source, said), source)
    if head[:2] not in (b"\xff\xfe", b"\xfe\xff") and (
        b"\0" in head or head.startswith((_ZIP, b"%PDF", b"\x89PNG"))
    ):
        raise BadInput(
            f"{source} is a binary file of no kind known here; CSV, TSV, JSON lines, Parquet, "
            "Excel, Stata, SPSS and Feather are read"
        )
    return text.open_text(text.TextSource(file, source, said), suffix, said)


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

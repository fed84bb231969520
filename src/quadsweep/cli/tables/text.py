"""Delimited text: which mark cuts the lines, which one is the decimal mark, where the names are.

The ``csv`` module reads the rows. Large files are read by Arrow where it is installed.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from quadsweep.cli.ending import BadInput, note
from quadsweep.cli.options import FileOptions
from quadsweep.cli.tables.opening import SAMPLE, SourceTable, distinct
from quadsweep.cli.tables.values import is_missing, number, reader_of

_BY_ARROW = 4_000_000  # bytes of a file from which on loading Arrow pays
_CHUNK = 1 << 22
_EITHER = re.compile(r"[+-]?\d{1,3},\d{3}")  # by either decimal mark a number


class TextSource:
    """A file or bytes as text, read as often as needed.

    UTF-8, or UTF-16 by its mark; what is neither is Windows' Latin alphabet, with a remark, unless
    the user says which.
    """

    def __init__(self, file: Path | bytes, source: str, said: FileOptions) -> None:
        self.file = file
        self.source = source
        self.encoding = said.encoding or self._find_encoding()

    def open_bytes(self) -> BinaryIO:
        return io.BytesIO(self.file) if isinstance(self.file, bytes) else self.file.open("rb")

    def lines(self) -> Iterator[str]:
        try:
            with (
                self.open_bytes() as raw,
                io.TextIOWrapper(raw, self.encoding, newline="") as stream,
            ):
                yield from stream
        except UnicodeDecodeError as wrong:
            where = f"(byte {wrong.start:,})"
            raise BadInput(f"{self.source} is not {self.encoding} text {where}") from None
        except LookupError:
            known = "try utf-8, cp1252, latin-1 or utf-16"
            raise BadInput(f"there is no encoding {self.encoding!r}; {known}") from None

    def _find_encoding(self) -> str:
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.open_bytes() as stream:
            if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                return "utf-16"
            stream.seek(0)
            try:
                while chunk := stream.read(_CHUNK):
                    decoder.decode(chunk)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                said = "read as cp1252 (Western European); --encoding says otherwise"
                note(f"{self.source} is not UTF-8; {said}")
                return "cp1252"
        return "utf-8-sig"


def open_text(text: TextSource, suffix: str, said: FileOptions) -> SourceTable:
    """Find the names and read the first rows; whole columns by reading again."""
    source, skipped = text.source, said.skip_rows
    start = list(itertools.islice(text.lines(), skipped, skipped + SAMPLE))
    remarks = len(list(itertools.takewhile(lambda line: line.startswith("#"), start)))
    delimiter = "\t" if suffix in (".tsv", ".tab") else _find_delimiter(start[remarks:])
    above = skipped + remarks

    def all_rows() -> Iterator[list[str]]:
        return _read_rows(itertools.islice(text.lines(), above, None), delimiter, source)

    head = list(itertools.islice(all_rows(), SAMPLE))
    if not head:
        raise BadInput(f"{source} is empty")
    decimal = said.decimal or find_decimal(head[1:], delimiter, source)
    titled = _has_header(head, decimal, source) if said.header is None else said.header
    names = distinct([title.strip() for title in head[0]]) if titled else []
    names = names or [str(i) for i in range(1, len(head[0]) + 1)]
    sample = head[1:] if titled else head
    if not sample:
        raise BadInput(f"{source} has a header and no rows")

    def rows() -> Iterator[list[str]]:
        for count, row in enumerate(itertools.islice(all_rows(), int(titled), None), start=1):
            if len(row) > len(names):
                fields = f"{len(row)} fields where there are {len(names)} columns"
                raise BadInput(f"{source}: row {count} has {fields}")
            yield row if len(row) == len(names) else row + [""] * (len(names) - len(row))

    def load(wanted: list[str]) -> list[Any]:
        found = _load_by_arrow(text, delimiter, above + titled, names, wanted)
        if found is not None:
            return found
        indices = [names.index(name) for name in wanted]
        columns: list[list[str]] = [[] for _ in wanted]
        for row in rows():
            for values, index in zip(columns, indices, strict=True):
                values.append(row[index])
        return columns

    guess_by = "" if said.decimal else delimiter
    return SourceTable(source, names, sample, load, decimal, guess_by, stream_text=rows)


def _load_by_arrow(
    text: TextSource, delimiter: str, above: int, names: list[str], wanted: list[str]
) -> list[Any] | None:
    """Columns of text of a large file by Arrow; None where ``csv`` might read something else."""
    if isinstance(text.file, bytes) or text.file.stat().st_size < _BY_ARROW:
        return None
    if text.encoding != "utf-8-sig" or len(set(names)) < len(names):
        return None
    try:
        import pyarrow as pa
        import pyarrow.compute as compute
        import pyarrow.csv as arrow
    except ModuleNotFoundError:
        return None
    places = [str(i) for i in range(len(names))]
    chosen = [str(names.index(name)) for name in wanted]
    try:
        table = arrow.read_csv(
            text.file,
            arrow.ReadOptions(column_names=places, skip_rows=above),
            arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow.ConvertOptions(
                include_columns=chosen, column_types=dict.fromkeys(chosen, pa.string()),
                strings_can_be_null=False,
            ),
        )  # fmt: skip
        columns = [table[place] for place in chosen]
        longest = compute.max_element_wise(*map(compute.binary_length, columns))
        has_empty_rows = not compute.min(longest).as_py()  # left out by `csv`
        if has_empty_rows or any(compute.any(compute.match_like(c, " %")).as_py() for c in columns):
            return None  # behind a space quotation marks may follow
    except (pa.ArrowInvalid, pa.ArrowKeyError):  # ragged rows, odd quotes: `csv` says where
        return None
    return columns


def _read_rows(lines: Iterator[str], delimiter: str, source: str) -> Iterator[list[str]]:
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            if any(row):
                yield row
    except csv.Error as wrong:
        said = str(wrong)
        if "field limit" in said:
            most = f"a field has more than {csv.field_size_limit():,} characters"
            said = f"{most}; is a quotation mark not closed?"
        raise BadInput(f"{source} is not a table: {said}") from None


def _find_delimiter(lines: list[str]) -> str:
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
    whole = [int(v) for v in values if v is not None and v.is_integer()]
    steps = {later - earlier for earlier, later in itertools.pairwise(whole)}
    is_counted = all(1000 <= v < 3000 for v in whole) or (len(whole) > 2 and steps == {1})
    titled = len(whole) == len(values) and is_counted
    what, option = ("names", "--no-header") if titled else ("data", "--header")
    note(f"{source}: the first row is read as {what} ({option} says otherwise)")
    return titled

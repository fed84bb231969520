"""From FILE, --x, --y, --formula and --label to columns of numbers with a name for every row."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep import datasets
from quadsweep.arrays import Floats, Mask
from quadsweep.cli.ending import BadInput, note
from quadsweep.cli.options import FileOptions, PointOptions
from quadsweep.cli.tables import SourceTable, open_table
from quadsweep.cli.tables.frames import other_sheets
from quadsweep.cli.tables.text import find_decimal
from quadsweep.cli.tables.values import (
    Reader,
    column,
    either_way,
    is_missing,
    missing_option,
    number,
    number_reader,
    odd_cells,
    reader_of,
    typed,
)
from quadsweep.inputs.formulas import Formula
from quadsweep.inputs.frames import Columns, unpack
from quadsweep.inputs.frames import table as frame_of
from quadsweep.inputs.validation import brief

if TYPE_CHECKING:
    from quadsweep.report.live.page import Table

_MOST_LISTED = 20  # columns named in an error
_MOST_NEARLY = 3  # columns of which it says why they are not numeric


@dataclass(frozen=True)
class NamedPoints:
    """Two columns, or several predictors and y, NaN where a value is missing.

    Attributes
    ----------
    names : tuple of the columns' names, y's last.
    labels : a name for every row: a text column, or row numbers from 1.
    source : where they come from.
    k, objective : what a built-in data set suggests; None for files.
    formula : what made the predictors, if a formula did.
    table : the file they come from, for whoever wants its other columns.
    dates : the names of columns that are days since 1970-01-01.
    """

    x: Floats
    y: Floats
    names: tuple[str, ...]
    labels: Sequence[Any]
    source: str
    k: int | None = None
    objective: str | None = None
    formula: Formula | None = None
    table: SourceTable | None = None
    dates: tuple[str, ...] = ()

    @property
    def label_kind(self) -> str:
        """What the labels are: names, or numbers that count from 1."""
        return "number from 1" if isinstance(self.labels, range) else "label"

    @property
    def columns(self) -> Columns:
        """As every function of the package takes them, names and labels included."""
        return Columns(
            self.x, self.y, self.names, self.labels, formula=self.formula, dates=self.dates
        )

    def suggest(self, *names: str, unless: dict[str, Any]) -> dict[str, Any]:
        """Of k and the objective, what a built-in data set suggests and nobody asked otherwise."""
        found = {"k": None if "drop" in unless else self.k, "objective": self.objective}
        return {n: found[n] for n in names if found[n] is not None and n not in unless}

    @property
    def whole(self) -> Mask:
        """Rows in which nothing is missing."""
        x = self.x if self.x.ndim == 2 else self.x[:, None]
        return np.asarray(np.isfinite(x).all(axis=1) & np.isfinite(self.y))


def read_points(
    options: FileOptions, x: str | None = None, y: str | None = None, label: str | None = None
) -> NamedPoints:
    """The two columns of a file or of a built-in data set."""
    if x is None and y is None and is_built_in(options.file):
        return _built_in(options.file)
    table = open_table(options)
    readers = readers_of(table)
    return named_points(table, readers, _choose(table, readers, x, y), label)


def read_predictors(options: FileOptions, columns: PointOptions) -> NamedPoints:
    """The columns asked for of a file or of a built-in data set."""
    x, y, formula, label = columns.x or [], columns.y, columns.formula, columns.label
    if formula is not None and (x or y is not None):
        raise BadInput("give --formula or --x and --y, not both")
    if formula is None and len(x) < 2:
        return read_points(options, x[0] if x else None, y, label)
    table = open_table(options)
    if formula is not None:
        return _by_formula(table, formula, label)
    if y is None:
        raise BadInput("several --x need a --y; got none")
    chosen = [column_of(table, name) for name in [*x, y]]
    twice = sorted({name for name in chosen if chosen.count(name) > 1})
    if twice:
        raise BadInput(f"column {twice[0]!r} is given twice")
    return named_points(table, readers_of(table), chosen, label)


def _by_formula(table: SourceTable, formula: str, label: str | None) -> NamedPoints:
    """What a formula makes of the file, numbers as numbers and text as categories."""
    content = typed_columns(table)
    for name, sentence in nearly(table, readers_of(table)).items():
        if re.search(rf"\b{re.escape(name)}\b", formula):
            note(f"read as text: {sentence}")
    given = unpack(formula, None, data=frame_of(content))
    x = np.column_stack(given.x) if isinstance(given.x, list) else given.x
    labels = labels_of(table, label, len(given.y))
    return NamedPoints(
        x, given.y, given.names, labels, table.source, formula=given.formula, table=table
    )


def named_points(
    table: SourceTable, readers: dict[str, Reader], chosen: Sequence[str], label: str | None
) -> NamedPoints:
    """Columns of a table, the last of them y, and what its rows are called."""
    named = column_of(table, label) if label is not None else _label_column(table, readers)
    wanted = list(dict.fromkeys([*chosen, *([] if named is None else [named])]))
    table.fetch(wanted)
    *columns, y = (read_numbers(name, table, readers) for name in chosen)
    labels = None
    if named is not None:
        labels = _labels(table.read([named])[0], required=label is not None)
    if len(y) == 0:
        raise BadInput(f"{table.source} has no rows")
    return NamedPoints(
        columns[0] if len(columns) == 1 else np.column_stack(columns),
        y,
        tuple(chosen),
        labels if labels is not None else range(1, len(y) + 1),
        table.source,
        table=table,
        dates=tuple(n for n in chosen if n in readers and readers[n].name == "date"),
    )


def read_columns(options: FileOptions, wanted: list[str] | None = None) -> dict[str, Floats]:
    """The numeric columns of a file, or those asked for; not what only counts the rows."""
    table = open_table(options)
    readers = readers_of(table)
    if wanted:
        names = [column_of(table, name) for name in wanted]
    else:
        names = [name for name in readers if not _numbers_rows(table, name)]
        note_unused(table, readers)
    if len(set(names)) < 2:
        raise BadInput(f"two columns are needed; {_listed(table, readers)}")
    names = list(dict.fromkeys(names))
    table.fetch(names)
    return {name: read_numbers(name, table, readers) for name in names}


def typed_columns(table: SourceTable) -> dict[str, Any]:
    """All columns for a formula: numbers where every value is one, text otherwise."""
    names = list(dict.fromkeys(table.names))
    raw = table.read(names)
    if not raw or not raw[0]:
        raise BadInput(f"{table.source} has no rows")
    return {name: typed(values, table.decimal) for name, values in zip(names, raw, strict=True)}


def readers_of(table: SourceTable) -> dict[str, Reader]:
    """How each column that is not text is read: by its first rows, or all where those are empty."""
    found, empty = {}, []
    for name in dict.fromkeys(table.names):
        sample = table.sample_of(name)
        if all(is_missing(value) for value in sample):
            empty.append(name)
        elif reader := reader_of(sample, table.decimal):
            found[name] = reader
    whole = table.read(empty) if empty else []
    for name, values in zip(empty, whole, strict=True):
        if reader := reader_of(values, table.decimal):
            found[name] = reader
    return {name: found[name] for name in dict.fromkeys(table.names) if name in found}


def read_numbers(name: str, table: SourceTable, readers: dict[str, Reader]) -> Floats:
    """A column as numbers; dates become days."""
    if (floats := table.read_floats(name)) is not None:
        return floats
    (values,) = table.read([name])
    reader = readers.get(name) or number_reader(table.decimal)
    if reader == number_reader(table.decimal) and table.guess_by:
        known = [v for v in table.sample_of(name) if "," in str(v)]
        late = [] if known else [[v] for v in values if "," in str(v)]
        if late:  # the mark was guessed without them
            reader = number_reader(find_decimal(late, table.guess_by, table.source))
    if reader.name == "date":
        note(f"{name!r} is read as dates: days since 1970-01-01")
    elif reader.unit:
        note(f"{name!r} is read in {reader.unit}")
    elif any(str(value).rstrip().endswith("%") for value in table.sample_of(name)):
        note(f"{name!r} has percentages: 10% is read as 0.1")
    return column(values, reader, name, table.source)


def read_page_table(
    options: FileOptions, x: str | None = None, y: str | None = None, label: str | None = None
) -> Table:
    """Every numeric column, and the one that names the rows, for a page that can change columns."""
    from quadsweep.exploring import dataset_table
    from quadsweep.report.live.page import Table

    file = options.file
    if is_built_in(file):
        return dataset_table(file)
    table = open_table(options)
    readers = readers_of(table)
    chosen = [column_of(table, wanted) for wanted in (x, y) if wanted is not None]
    named = column_of(table, label) if label is not None else _label_column(table, readers)
    names = list(dict.fromkeys([*([] if named is None else [named]), *readers, *chosen]))
    free = [name for name in readers if name not in (*chosen, named)]
    free.sort(key=lambda name: _numbers_rows(table, name))
    if len(free) + len(chosen) < 2:
        listed = ", ".join(name or "(no name)" for name in readers)
        raise BadInput(
            f"two numeric columns are needed; {table.source} has "
            + (f"only {listed}" if listed else "no numeric columns")
        )
    note_unused(table, readers)
    raw = dict(zip(names, table.read(names), strict=True))
    columns = [
        raw[name] if name == named else read_numbers(name, table, readers).tolist()
        for name in names
    ]
    first = column_of(table, x) if x is not None else free.pop(0)
    second = column_of(table, y) if y is not None else free.pop(0)
    return Table(
        table.source,
        names,
        columns,
        names.index(first),
        names.index(second),
        path=file,
        label=None if named is None else names.index(named),
    )


def is_built_in(file: str) -> bool:
    """Whether it is the name of a built-in data set, and no file of that name is there."""
    return file in datasets.names() and not os.path.exists(file)


def _built_in(name: str) -> NamedPoints:
    data = datasets.load(name)
    labels = data.labels or range(1, len(data.x) + 1)
    return NamedPoints(data.x, data.y, data.names, labels, name, data.k, data.objective)


def _choose(
    table: SourceTable, readers: dict[str, Reader], x: str | None, y: str | None
) -> tuple[str, str]:
    """The columns asked for; where one or both are not, the only ones they can be."""
    first = None if x is None else column_of(table, x)
    second = None if y is None else column_of(table, y)
    if first is not None and first == second:
        raise BadInput(f"--x and --y are the same column, {first!r}")
    if first is not None and second is not None:
        return first, second
    free = [name for name in readers if name not in (first, second)]
    free = [name for name in free if not _numbers_rows(table, name)]
    if len(free) != (first is None) + (second is None):
        raise BadInput(f"give --x and --y; {_listed(table, readers)}")
    chosen = (first or free.pop(0), second or free.pop(0))
    note(f"x is {chosen[0]!r} and y is {chosen[1]!r}")
    note_unused(table, readers)
    return chosen


def _numbers_rows(table: SourceTable, name: str) -> bool:
    """A column without a name, or one that only counts the rows: never what is meant."""
    if not name or name.startswith("Unnamed:"):
        return True
    for start in (0, 1):
        wanted = range(start, start + len(table.sample))
        values = [number(value, table.decimal) for value in table.sample_of(name)]
        if len(values) > 2 and values == list(wanted):
            (whole,) = table.read([name])
            return [number(v, table.decimal) for v in whole] == list(
                range(start, start + len(whole))
            )
    return False


def _listed(table: SourceTable, readers: dict[str, Reader]) -> str:
    """The numeric columns with their ranges, for somebody who must choose."""
    if not readers:
        reasons = "".join(f"; {sentence}" for sentence in nearly(table, readers).values())
        return f"{table.source} has no numeric columns{reasons}{other_sheets(table.sheets)}"
    shown = list(readers)[:_MOST_LISTED]
    ranges = []
    for name, values in zip(shown, table.read(shown), strict=True):
        found = [readers[name].read(v) for v in values if not is_missing(v)]
        known = [value for value in found if value is not None]
        ranges.append(f"{name or '(no name)'} ({min(known):.4g} to {max(known):.4g})")
    more = len(readers) - len(shown)
    rest = f" and {more:,} more" if more else ""
    listed = f"the numeric columns of {table.source} are: {', '.join(ranges)}{rest}"
    return listed + "".join(f"; {sentence}" for sentence in nearly(table, readers).values())


def note_unused(table: SourceTable, readers: dict[str, Reader]) -> None:
    """On standard error: columns that look numeric and are not used, and the cells that stop it."""
    for sentence in nearly(table, readers).values():
        note(f"not used: {sentence}")


def nearly(table: SourceTable, readers: dict[str, Reader]) -> dict[str, str]:
    """The columns of numbers or dates that something else is in the way of, and what that is."""
    found = {}
    for name in dict.fromkeys(table.names):
        values = table.sample_of(name)
        if name in readers or all(is_missing(value) for value in values):
            continue
        odd = odd_cells(values, number_reader(table.decimal))
        if 2 * len(odd) < len(values):
            cells = ", ".join(f"{brief(repr(value))} in row {row:,}" for row, value in odd[:3])
            more = f" and {len(odd) - 3:,} more" if len(odd) > 3 else ""
            found[name] = f"{name} has {cells}{more}, not a number ({missing_option(odd)})"
        elif either_way(values):
            found[name] = f"in {name} day and month could change places; write 2020-01-31"
        if len(found) == _MOST_NEARLY:
            break
    return found


def column_of(table: SourceTable, wanted: str) -> str:
    """A column by name, by number from 1, or the error that suggests the nearest name."""
    twins = [i for i, name in enumerate(table.names, 1) if name == f"{wanted} (column {i})"]
    if twins:
        numbers_ = " and ".join(map(str, twins))
        raise BadInput(
            f"{table.source} has duplicate headers: columns {numbers_} are called {wanted!r}; "
            "give the number of one"
        )
    exact = [name for name in table.names if name == wanted]
    loose = [name for name in table.names if name.lower() == wanted.strip().lower()]
    for matches in (exact, loose):
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise BadInput(f"{table.source} has {len(matches)} columns called {wanted!r}")
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 10:
        if 1 <= int(wanted) <= len(table.names):
            return table.names[int(wanted) - 1]
        raise BadInput(
            f"{table.source} has no column {wanted}; its columns are 1 to {len(table.names)}"
        )
    parts = [part.strip() for part in wanted.split(",")]
    if len(parts) > 1 and set(parts) <= set(table.names):
        several = " ".join(f"--x {part}" for part in parts)
        raise BadInput(f"{table.source} has no column {wanted!r}; for several give {several}")
    lower = {name.lower(): name for name in table.names}
    near = [name for name in lower if wanted.strip().lower() in name]
    near = near or difflib.get_close_matches(wanted.lower(), lower, 1, cutoff=0.5)
    hint = f"did you mean {lower[near[0]]!r}?" if near else "there are: " + ", ".join(table.names)
    raise BadInput(f"{table.source} has no column {wanted!r}; {hint}")


def labels_of(table: SourceTable, label: str | None, rows: int) -> Sequence[Any]:
    """What the rows are called: by the column asked for, one that names them, or numbers."""
    readers = readers_of(table)
    named = column_of(table, label) if label is not None else _label_column(table, readers)
    found = None
    if named is not None:
        found = _labels(table.read([named])[0], required=label is not None)
    return found if found is not None else range(1, rows + 1)


def _label_column(table: SourceTable, readers: dict[str, Reader]) -> str | None:
    """The first text column whose values, as far as seen, name the rows."""
    for name in table.names:
        once = name not in readers and table.names.count(name) == 1
        if once and _names_rows(table.sample_of(name)):
            return name
    return None


def _names_rows(values: list[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str) and not is_missing(value)]
    return len(texts) == len(values) == len(set(texts))


def _labels(values: list[Any], required: bool) -> list[str] | None:
    if not required and not _names_rows(values):
        return None
    return [str(value) for value in values]

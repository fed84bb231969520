"""From FILE, --x, --y and --label to two columns of numbers with a name for every row."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep import datasets
from quadsweep.arrays import Floats, Mask
from quadsweep.border.formulas import Formula
from quadsweep.border.frames import Columns
from quadsweep.border.validation import brief
from quadsweep.cli.ending import BadInput, note
from quadsweep.cli.tables import SourceTable, is_missing, is_number, open_table


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
    """

    x: Floats
    y: Floats
    names: tuple[str, ...]
    labels: Sequence[Any]
    source: str
    k: int | None = None
    objective: str | None = None
    formula: Formula | None = None

    @property
    def columns(self) -> Columns:
        """As every function of the package takes them, names and labels included."""
        return Columns(self.x, self.y, self.names, self.labels, formula=self.formula)

    @property
    def whole(self) -> Mask:
        """Rows in which nothing is missing."""
        x = self.x if self.x.ndim == 2 else self.x[:, None]
        return np.asarray(np.isfinite(x).all(axis=1) & np.isfinite(self.y))


def read_points(
    file: str, x: str | None = None, y: str | None = None, label: str | None = None
) -> NamedPoints:
    """The two columns of a file or of a built-in data set."""
    if file in datasets.names() and not os.path.exists(file):
        return _built_in(file)
    table = open_table(file)
    numeric = [name for name in table.names if _looks_numeric(table.sample_of(name))]
    chosen = _choose(table, numeric, x, y)
    named = _column(table, label) if label is not None else _label_column(table, numeric)
    wanted = [*chosen, *([] if named is None else [named])]
    columns = table.read(list(dict.fromkeys(wanted)))
    raw = dict(zip(dict.fromkeys(wanted), columns, strict=True))
    xs, ys = (numbers(raw[name], name, table.source) for name in chosen)
    labels = _labels(raw[named], required=label is not None) if named is not None else None
    if len(xs) == 0:
        raise BadInput(f"{table.source} has no rows")
    return NamedPoints(
        xs, ys, chosen, labels if labels is not None else range(1, len(xs) + 1), table.source
    )


def _built_in(name: str) -> NamedPoints:
    data = datasets.load(name)
    labels = data.labels or range(1, len(data.x) + 1)
    return NamedPoints(data.x, data.y, data.names, labels, name, data.k, data.objective)


def _looks_numeric(sample: list[Any]) -> bool:
    present = [value for value in sample if not is_missing(value)]
    return bool(present) and all(is_number(v) and not isinstance(v, bool) for v in present)


def _choose(
    table: SourceTable, numeric: list[str], x: str | None, y: str | None
) -> tuple[str, str]:
    """The columns asked for; where one or both are not, the only ones they can be."""
    first = None if x is None else _column(table, x)
    second = None if y is None else _column(table, y)
    if first is not None and second is not None:
        return first, second
    free = [name for name in numeric if name not in (first, second)]
    if len(free) != (first is None) + (second is None):
        listed = ", ".join(numeric) if numeric else "none"
        raise BadInput(f"give --x and --y; the numeric columns of {table.source} are: {listed}")
    chosen = (first or free.pop(0), second or free.pop(0))
    note(f"x is {chosen[0]!r} and y is {chosen[1]!r}")
    return chosen


def _column(table: SourceTable, wanted: str) -> str:
    """A column by name, by number from 1, or the error that suggests the nearest name."""
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
    lower = {name.lower(): name for name in table.names}
    near = [name for name in lower if wanted.strip().lower() in name]
    near = near or difflib.get_close_matches(wanted.lower(), lower, 1, cutoff=0.5)
    hint = f"did you mean {lower[near[0]]!r}?" if near else "there are: " + ", ".join(table.names)
    raise BadInput(f"{table.source} has no column {wanted!r}; {hint}")


def _label_column(table: SourceTable, numeric: list[str]) -> str | None:
    """The first text column whose values, as far as seen, name the rows."""
    for name in table.names:
        values = table.sample_of(name)
        if name not in numeric and table.names.count(name) == 1 and _names_rows(values):
            return name
    return None


def _names_rows(values: list[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str) and not is_missing(value)]
    return len(texts) == len(values) == len(set(texts))


def _labels(values: list[Any], required: bool) -> list[str] | None:
    if not required and not _names_rows(values):
        return None
    return [str(value) for value in values]


def numbers(values: list[Any], name: str, source: str) -> Floats:
    """A column of floats, NaN where missing; text is an error that says where."""
    try:
        return np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except (TypeError, ValueError, OverflowError):
        pass
    column = np.empty(len(values))
    for i, value in enumerate(values):
        if is_missing(value):
            column[i] = math.nan
            continue
        where = f"{source}: column {name!r} has {brief(repr(value))} in row {i + 1}"
        if not is_number(value):
            raise BadInput(f"{where}, not a number")
        try:
            column[i] = float(value)
        except OverflowError:
            raise BadInput(f"{where}, beyond the largest number 1.8e308") from None
    return column

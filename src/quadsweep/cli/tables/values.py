"""What stands in a field: nothing, a number in one of the ways people write them, a date, text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.border.validation import brief
from quadsweep.cli.ending import BadInput

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "."})
_DAY = 86_400.0
_GROUPS = {  # decimal mark -> numbers with it and with marks between thousands
    ".": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"),
    ",": re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d*)?(?:[eE][+-]?\d+)?"),
}


def is_missing(value: Any) -> bool:
    """True for what stands for nothing."""
    return value is None or (isinstance(value, str) and value.strip().lower() in MISSING)


def number(value: Any, decimal: str = ".") -> float | None:
    """The number a field says, or None if it says none.

    >>> number("1,234.5"), number("3,5", decimal=","), number("10%"), number("ten")
    (1234.5, 3.5, 0.1, None)
    """
    if isinstance(value, (bool, int, float)):
        return float(value)
    if not isinstance(value, str):
        return _of_another_kind(value)
    text = value.strip()
    share = text.endswith("%")
    text = text[:-1].rstrip() if share else text
    if _GROUPS[decimal].fullmatch(text):
        text = text.replace("." if decimal == "," else ",", "").replace(",", ".")
    elif decimal == "," and "." in text:
        return None
    try:
        found = float(text)
    except ValueError:
        return None
    return found / 100 if share else found


def _of_another_kind(value: Any) -> float | None:
    """Decimals, NumPy scalars: whatever float takes and is no text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def day(value: Any) -> float | None:
    """Days since 1970 of a date or a time, in ISO 8601 where it is text.

    >>> day("1970-01-03"), day("1970-01-01T12:00"), day("soon")
    (2.0, 0.5, None)
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, date):
        return None
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    moment = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return float(moment.timestamp() / _DAY)


@dataclass(frozen=True)
class Reader:
    """How a column is read: as numbers with a decimal mark, or as days."""

    name: str
    read: Callable[[Any], float | None]


def reader_of(values: list[Any], decimal: str) -> Reader | None:
    """How all values there are can be read; None for text, or where there are none."""
    present = [value for value in values if not is_missing(value)]
    if not present or all(isinstance(value, bool) for value in present):
        return None
    for reader in (Reader("number", lambda v: number(v, decimal)), Reader("date", day)):
        if all(_says(reader, value) for value in present):
            return reader
    return None


def _says(reader: Reader, value: Any) -> bool:
    """Whether a value is of the reader's kind; a number too large for a double is one."""
    try:
        return reader.read(value) is not None
    except OverflowError:
        return True


def column(values: list[Any], reader: Reader, name: str, source: str) -> Floats:
    """A column of floats, NaN where missing; anything else is an error that says where."""
    out = np.empty(len(values))
    for i, value in enumerate(values):
        if is_missing(value):
            out[i] = math.nan
            continue
        where = f"{source}: column {name!r} has {brief(repr(value))} in row {i + 1}"
        try:
            found = reader.read(value)
        except OverflowError:
            raise BadInput(f"{where}, beyond the largest number 1.8e308") from None
        if found is None:
            raise BadInput(f"{where}, not a {reader.name}")
        out[i] = found
    return out


def typed(values: list[Any], decimal: str) -> Floats | list[str | None]:
    """A column for a formula: numbers where every value is one, otherwise text."""
    reader = reader_of(values, decimal)
    if reader is not None and reader.name == "number":
        return column(values, reader, "", "")
    return [None if is_missing(value) else str(value) for value in values]

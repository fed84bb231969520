"""What stands in a field: nothing, a number in one of the ways people write them, a date, text."""

from __future__ import annotations

import functools
import math
import re
import shlex
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.cli.ending import BadInput
from quadsweep.inputs.validation import brief

MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "<na>", "nan", "nat", "null", "none", ".", "..", "-", "?"}
    | {"#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"}  # of workbooks
)
MORE_MISSING: ContextVar[frozenset[str]] = ContextVar("missing", default=frozenset())
_DAY = 86_400.0
EXACT = 2**53  # whole numbers beyond are not all doubles
_SPACES = "[ \u00a0\u2009\u202f'\u2019]"  # what stands between thousands beside point and comma
_GROUPS = {  # decimal mark -> numbers with it and with marks between thousands
    ".": re.compile(rf"\d{{1,3}}(?:(?:,\d{{3}})+|(?:{_SPACES}\d{{3}})+)(?:\.\d*)?"),
    ",": re.compile(
        rf"(?:\d{{1,3}}(?:(?:\.\d{{3}})+|(?:{_SPACES}\d{{3}})+)|\d+)(?:,\d*)?(?:[eE][+-]?\d+)?"
    ),
}
_CURRENCY = r"(?:[$£¥€₩₹₺₽]|(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|AUD|CAD)\b|kr\b|zł\b)"
_MONEY = re.compile(rf"([+-]?)\s*{_CURRENCY}\s*(.+)|(.+?)\s*{_CURRENCY}\.?")
_UNIT = re.compile(r"(.*[\d.,])\s+([A-Za-z°µμΩ%][\w°µμΩ/²³^*·-]*)")
_TRUTH = {"true": 1.0, "false": 0.0}
_FORMS = ("%d.%m.%Y", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y")  # of dates that are not in ISO 8601


def is_missing(value: Any) -> bool:
    """True for what stands for nothing, --missing included."""
    if not isinstance(value, str):
        return value is None
    text = value.strip().lower()
    return text in MISSING or text in MORE_MISSING.get()


def number(value: Any, decimal: str = ".") -> float | None:
    """The number a field says, or None if it says none.

    >>> number("1,234.5"), number("3,5", decimal=","), number("10%"), number("ten")
    (1234.5, 3.5, 0.1, None)
    >>> number("2.768,52 €", decimal=","), number("1 234"), number("(1,200)"), number("TRUE")
    (2768.52, 1234.0, -1200.0, 1.0)
    """
    if isinstance(value, str) and decimal != ".":
        return _read_written(value.strip().replace("\u2212", "-"), decimal)
    try:
        return float(value)
    except ValueError:
        return _read_written(value.strip().replace("\u2212", "-"), decimal)
    except TypeError:
        return None


def _read_written(text: str, decimal: str) -> float | None:
    """A number with a currency, a percentage, in brackets for a loss, or with grouped digits."""
    if text.startswith("(") and text.endswith(")") and text[1:2].isalnum() | (text[1:2] in "$€£"):
        loss = _read_written(text[1:-1].strip(), decimal)
        return None if loss is None or loss < 0 else -loss
    if text.endswith("%"):
        share = _read_written(text[:-1].rstrip(), decimal)
        return None if share is None else share / 100
    if money := _MONEY.fullmatch(text):
        text = (money[1] or "") + (money[2] or money[3])
    sign = -1.0 if text.startswith("-") else 1.0
    digits = text[1:].lstrip() if text[:1] in ("+", "-") else text
    if _GROUPS[decimal].fullmatch(digits):
        digits = re.sub(_SPACES, "", digits)
        digits = digits.replace("." if decimal == "," else ",", "").replace(",", ".")
    elif decimal == "," and "." in digits:
        return None
    try:
        return sign * float(digits) if digits[:1] not in ("+", "-") else None
    except ValueError:
        return _TRUTH.get(text.lower())


def day(value: Any, form: str = "") -> float | None:
    """Days since 1970 of a date or a time, in ISO 8601 or a form; a month is its first day.

    >>> day("1970-01-03"), day("1970-01-01T12:00"), day("1970-02"), day("soon")
    (2.0, 0.5, 31.0, None)
    >>> day("3.1.1970", "%d.%m.%Y"), day("1/3/1970 12:00", "%m/%d/%Y")
    (2.0, 2.5)
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            if form:
                date_, _, time = text.replace("T", " ").partition(" ")
                value = datetime.strptime(date_, form)
                text = f"{value:%Y-%m-%d}" + (f"T{time.strip()}" if time else "")
            value = datetime.fromisoformat(f"{text}-01" if len(text) == len("1970-01") else text)
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
    """How a column is read: as numbers with a decimal mark, perhaps in a unit, or as days."""

    name: str
    read: Callable[[Any], float | None]
    unit: str = ""


@functools.cache
def number_reader(decimal: str) -> Reader:
    """Numbers with a decimal mark."""
    return Reader("number", functools.partial(number, decimal=decimal))


def reader_of(values: list[Any], decimal: str) -> Reader | None:
    """How all values there are can be read; None for text, or where there are none.

    Where the file's decimal mark reads them not and the other one does, by that. Nor is it known
    where day and month could change places in every one of them.

    >>> reader_of(["1.234,50 €", "12,00 €"], ".").read("3,5")
    3.5
    >>> reader_of(["12 kg", "7.5 kg"], ".").unit
    'kg'
    """
    present = [value for value in values if not is_missing(value)]
    if not present or all(_is_truth(value) for value in present):
        return None
    other = "." if decimal == "," else ","
    for reader in (number_reader(decimal), Reader("date", day), number_reader(other)):
        if all(_says(reader, value) for value in present):
            return reader
    fit = _date_readers(present)
    return fit[0] if len(fit) == 1 else _unit_reader(present, decimal)


def _is_truth(value: Any) -> bool:
    """TRUE or FALSE: a number where its column is asked for, never guessed to be meant."""
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in _TRUTH)


def either_way(values: list[Any]) -> bool:
    """Whether all are dates in which day and month could change places.

    >>> either_way(["01/02/1970", "11/12/1970"]), either_way(["01/02/1970", "12/31/1970"])
    (True, False)
    """
    present = [value for value in values if not is_missing(value)]
    return bool(present) and len(_date_readers(present)) > 1


def _date_readers(values: list[Any]) -> list[Reader]:
    """How dates that are not in ISO 8601 can be read: every form that fits all."""
    readers = [Reader("date", functools.partial(day, form=form)) for form in _FORMS]
    return [reader for reader in readers if all(_says(reader, value) for value in values)]


def _unit_reader(values: list[Any], decimal: str) -> Reader | None:
    """Numbers that all have the same unit behind a space."""
    found = _UNIT.fullmatch(values[0].strip()) if isinstance(values[0], str) else None
    if found is None:
        return None

    def read(value: Any) -> float | None:
        written = _UNIT.fullmatch(str(value).strip())
        same = written is not None and written[2] == unit
        return number(written[1], decimal) if written is not None and same else None

    unit = found[2]
    reader = Reader("number", read, unit)
    return reader if all(_says(reader, value) for value in values) else None


def _says(reader: Reader, value: Any) -> bool:
    """Whether a value is of the reader's kind; a number too large for a double is one."""
    try:
        return reader.read(value) is not None
    except OverflowError:
        return True


def is_plain(sample: list[Any]) -> bool:
    """Whether Python reads all values of a sample as numbers."""
    try:
        np.array(sample, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def column(values: list[Any], reader: Reader, name: str, source: str) -> Floats:
    """A column of floats, NaN where missing; anything else is an error that says where."""
    try:
        if reader == number_reader("."):
            present = [math.nan if is_missing(value) else value for value in values]
            return _check_exact(np.array(present, dtype=np.float64), values, name, source)
    except (ValueError, TypeError, OverflowError):
        pass  # cell by cell, to read what is written otherwise, or to say which is wrong
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            found = math.nan if is_missing(value) else reader.read(value)
        except OverflowError:
            where = _where(source, name, i, value)
            raise BadInput(f"{where}, beyond the largest number 1.8e308") from None
        if found is None:
            advice = _advise(values, reader, name)
            raise BadInput(f"{_where(source, name, i, value)}, not a {reader.name}{advice}")
        out[i] = found
    return _check_exact(out, values, name, source)


def _check_exact(numbers: Floats, values: list[Any], name: str, source: str) -> Floats:
    """Refuse whole numbers that a double does not hold, such as times in nanoseconds."""
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(numbers) > EXACT)
    for i in large[np.isfinite(numbers[large])]:
        text = str(values[i]).strip()
        if text.lstrip("+-").isdecimal() and int(text) != int(numbers[i]):
            where = _where(source, name, int(i), values[i])
            raise BadInput(f"{where}, which a double rounds; subtract a constant first")
    return numbers


def _where(source: str, name: str, i: int, value: Any) -> str:
    return f"{source}: column {name!r} has {brief(repr(value))} in row {i + 1}"


def _advise(values: list[Any], reader: Reader, name: str) -> str:
    """What to do about a column in which something is not a number: few cells, or all of it."""
    odd = odd_cells(values, reader)
    if 2 * len(odd) < len(values):
        return f"; if it means that the value is missing: {missing_option(odd)}"
    return f"; a column of text is for --formula, as C({name})" if reader.name == "number" else ""


def odd_cells(values: list[Any], reader: Reader) -> list[tuple[int, Any]]:
    """Rows from 1, and what stands there, of cells that a reader cannot read."""
    rows = enumerate(values, start=1)
    return [(row, v) for row, v in rows if not is_missing(v) and not _says(reader, v)]


def missing_option(odd: list[tuple[int, Any]]) -> str:
    """The option that makes odd cells missing, where few texts are in the way.

    >>> missing_option([(3, "unknown"), (9, "unknown"), (12, "not asked")])
    "--missing unknown --missing 'not asked'"
    """
    texts = list(dict.fromkeys(str(value).strip() for _, value in odd))
    more = " ..." if len(texts) > 3 else ""
    return " ".join(f"--missing {shlex.quote(text)}" for text in texts[:3]) + more


def typed(values: list[Any], decimal: str) -> Floats | list[str | None]:
    """A column for a formula: numbers where every value is one, otherwise text."""
    reader = reader_of(values, decimal)
    if reader is None and any(_is_truth(value) for value in values):
        reader = number_reader(decimal)  # TRUE and FALSE, and what is missing
    if reader is not None and reader.name == "number":
        return column(values, reader, "", "")
    return [None if is_missing(value) else str(value) for value in values]

"""Data frames: columns in with their names and labels, a frame out with the answer.

pandas, polars and whatever else narwhals knows. Nothing is imported unless a frame was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.datasets import Dataset
from quadsweep.extras import needed
from quadsweep.inputs.validation import WHOLE, table_shape, unmasked
from quadsweep.messages import free, hint

if TYPE_CHECKING:
    from quadsweep.inputs.formulas import Formula

_PLAIN = (list, tuple, range, np.ndarray, type(None), int, float, str)
KEPT = "inlier"
_DAY = 86_400e6  # in microseconds


@dataclass(frozen=True)
class Columns:
    """What was given, taken apart.

    Attributes
    ----------
    x, y : what validation is to look at; of several predictors x is a list of columns or a table.
    names : the columns' names, the predictors' first and y's last.
    labels : the index, where it says more than the position; otherwise None.
    frame : a data frame with these columns, in the caller's library, or None.
    k : how many rows a data set of ours suggests to keep; otherwise None.
    formula : how to make the same predictors of new data, where a formula made these.
    dates : the names of columns that are days since 1970-01-01.
    """

    x: Any
    y: Any
    names: tuple[str, ...] = ("x", "y")
    labels: Sequence[Any] | None = None
    frame: Any = None
    k: int | None = None
    formula: Formula | None = None
    dates: tuple[str, ...] = ()


def in_memory(data: Any) -> Any:
    """A relation of DuckDB as a table of Arrow, decimals as floats; everything else as it is."""
    if type(data).__module__.split(".")[0] not in ("duckdb", "_duckdb"):
        return data
    with needed("a relation of DuckDB"):
        import narwhals as nw
        import pyarrow  # noqa: F401

    frame = nw.from_native(data).collect("pyarrow")
    decimals = [name for name, kind in frame.schema.items() if kind == nw.Decimal]
    return nw.to_native(
        frame.with_columns(nw.col(*decimals).cast(nw.Float64)) if decimals else frame
    )


def unpack(x: Any = None, y: Any = None, data: Any = None) -> Columns:
    """Columns from sequences, tables, series, a frame of two columns, names of columns, a formula.

    Columns taken apart already pass as they are.
    """
    if data is not None:
        return _of_data(x, y, data)
    if isinstance(x, Columns):
        return x
    if isinstance(x, Dataset):
        if y is not None:
            raise ValueError("y must be left out beside a data set, which has its own")
        return Columns(x.x, x.y, x.names, x.labels or None, k=x.k)
    if isinstance(x, str) or isinstance(y, str):
        text = x if isinstance(x, str) else y
        raise ValueError(f"{text!r} names columns; give the frame they are in as data=")
    if x is None:
        raise TypeError("give x and y, or data= and the names of its columns; got neither")
    if isinstance(x, _PLAIN) and isinstance(y, _PLAIN):
        return Columns(x, y, _numbered(x))
    try:
        import narwhals.stable.v1 as nw
    except ModuleNotFoundError:
        return Columns(x, y, _numbered(x))
    x, y = (nw.from_native(in_memory(v), allow_series=True, pass_through=True) for v in (x, y))
    for name, value in (("x", x), ("y", y)):
        if isinstance(value, nw.LazyFrame):
            raise TypeError(f"{name} must be in memory; got a lazy frame, collect it first")
    if isinstance(x, nw.DataFrame) and y is None and len(x.columns) == 2:
        return _together([x[x.columns[0]]], x[x.columns[1]], nw, x)
    y = _only_column(y, "y", nw)
    if isinstance(x, nw.DataFrame) and y is not None and len(x.columns) != 1:
        if not x.columns:
            raise ValueError("x must have at least one column; got a frame without any")
        return _together([x[name] for name in x.columns], y, nw, x)
    x = _only_column(x, "x", nw)
    if not isinstance(x, nw.Series) and not isinstance(y, nw.Series):
        return Columns(x, y, _numbered(x))
    if not isinstance(x, nw.Series) and table_shape(x) is not None:  # an array beside a series
        *names, label = (*_numbered(x)[:-1], _name(y, "y", nw))
        label = label if label not in names else "y"
        return Columns(x, _values(y, nw), (*names, label), _labels(y))
    return _together([x], y, nw)


def _numbered(x: Any) -> tuple[str, ...]:
    """Names for the columns of a table without any: x1, x2, ..., y."""
    shape = table_shape(x)
    if shape is None or shape[1] < 2:
        return ("x", "y")
    return (*(f"x{j}" for j in range(1, shape[1] + 1)), "y")


def _of_data(x: Any, y: Any, data: Any) -> Columns:
    """The columns of a frame that x and y name, or that a formula makes of it."""
    if x is None and y is None:
        return unpack(data)
    if isinstance(data, Dataset) and not (isinstance(x, str) and "~" in x):
        raise ValueError("a data set has its own x and y; leave out the names beside it")
    data = table(dict(data)) if isinstance(data, Mapping) else in_memory(data)
    if isinstance(x, str) and "~" in x:
        from quadsweep.inputs import formulas

        return formulas.columns(x, data)
    try:
        import narwhals.stable.v1 as nw
    except ModuleNotFoundError:
        raise ModuleNotFoundError("data= needs narwhals; pip install 'quadsweep[frames]'") from None
    frame = nw.from_native(data, pass_through=True)
    wanted = [x] if isinstance(x, str) else list(x) if isinstance(x, (list, tuple)) else []
    if isinstance(frame, nw.LazyFrame):  # only the columns needed are read
        names = frame.collect_schema().names()
        needs = [found(name, names) for name in (*wanted, *([] if y is None else [y]))]
        frame = frame.select(dict.fromkeys(needs)).collect()
        data = nw.to_native(frame)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"data must be a data frame; got {type(data).__name__}")
    if not wanted:
        raise TypeError(f"x must be the name of a column of data, or a list of names; got {x!r}")
    chosen = [found(name, frame.columns) for name in wanted]
    second = None if y is None else found(y, frame.columns)
    columns = [_values(frame[name], nw) for name in chosen]
    return Columns(
        columns if len(columns) > 1 else columns[0],
        None if second is None else _values(frame[second], nw),
        (*chosen, "y" if second is None else second),
        _labels(frame[chosen[0]]),
        data,
    )


def found(name: Any, columns: list[str]) -> str:
    """A column by name, or the error that suggests the nearest one."""
    if name in columns:
        return str(name)
    raise ValueError(f"data has no column {name!r}{hint(name, columns)}")


def columns_by_name(data: Any, **names: Any) -> dict[str, Any]:
    """Columns of a frame in place of their names: a list of names becomes a frame.

    What is no name is left as it is, and so is text that names no column, except for x and y.
    """
    with needed("a data frame"):
        import narwhals.stable.v1 as nw
    data = table(dict(data)) if isinstance(data, Mapping) else in_memory(data)
    frame = nw.from_native(data, eager_only=True)

    def column(which: str, name: Any) -> Any:
        if isinstance(name, (list, tuple)) and name and all(isinstance(one, str) for one in name):
            return nw.to_native(frame.select([found(one, frame.columns) for one in name]))
        if isinstance(name, str) and (which in ("x", "y") or name in frame.columns):
            return nw.to_native(frame[found(name, frame.columns)])
        return name

    return {which: column(which, name) for which, name in names.items()}


def every_column(frame: Any) -> tuple[list[Any], list[Any]]:
    """Names and columns of a frame, or of an array with columns numbered from 0."""
    if isinstance(frame, (list, tuple, np.ndarray)):
        array = unmasked(frame)
        if array.ndim != 2:
            raise ValueError(f"frame must have two dimensions; got shape {array.shape}")
        return list(range(array.shape[1])), list(array.T)
    with needed("a data frame"):
        import narwhals.stable.v1 as nw
    wrapped = nw.from_native(in_memory(frame), eager_only=True, pass_through=True)
    if not isinstance(wrapped, nw.DataFrame):
        raise TypeError(f"frame must be a data frame or an array; got {type(frame).__name__}")
    return list(wrapped.columns), [_values(wrapped[name], nw) for name in wrapped.columns]


def with_mask(frame: Any, mask: Any, missing: Any = None) -> Any:
    """Return the frame with one more column: True for the rows kept, null for the missing ones."""
    with needed("to_frame"):
        import narwhals.stable.v1 as nw

    wrapped = nw.from_native(frame, eager_only=True)
    name = free(KEPT, wrapped.columns)
    some = missing is not None and bool(np.any(missing))
    marks = [None if m else bool(v) for m, v in zip(missing, mask, strict=True)] if some else mask
    library = nw.get_native_namespace(frame)
    if hasattr(frame, "index"):  # pandas
        native = library.Series(marks, frame.index, dtype="boolean" if some else bool)
    else:
        native = nw.to_native(nw.new_series(name, marks, nw.Boolean, native_namespace=library))
    # pyarrow's columns have no name of their own.
    return nw.to_native(wrapped.with_columns(nw.from_native(native, series_only=True).alias(name)))


def marked(
    frame: Any, x: Any, y: Any, names: tuple[str, ...], mask: Any, missing: Any = None
) -> Any:
    """Return the data with the rows kept marked, in the frame they came in or in one of our own."""
    if frame is None:
        columns = [x] if np.ndim(x) == 1 else list(x.T)
        frame = table(dict(zip(names, [*columns, y], strict=True)))
    return with_mask(frame, mask, missing)


def table(columns: dict[str, Any]) -> Any:
    """A frame of our own: pandas, or polars where that is what there is."""
    try:
        import pandas as pd

        return pd.DataFrame(columns)
    except ModuleNotFoundError as missing:
        if missing.name != "pandas":
            raise
    try:
        import polars as pl

        return pl.DataFrame(columns)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_frame needs pandas or polars: pip install pandas (extra: quadsweep[frames])"
        ) from None


def _only_column(value: Any, name: str, nw: Any) -> Any:
    if not isinstance(value, nw.DataFrame):
        return value
    if len(value.columns) != 1:
        raise ValueError(
            f"{name} must be one column; got a frame with {len(value.columns)} columns"
            + (
                " (two are taken as x and y; of more, write solve(data=frame, x='a', y='c'))"
                if name == "x"
                else ""
            )
        )
    return value[value.columns[0]]


def _together(xs: list[Any], y: Any, nw: Any, frame: Any = None) -> Columns:
    """Predictors and y, some of them series; and one frame of all, if they are of one length.

    ``frame`` is one that has the first of them already.
    """
    lead = next(v for v in (*xs, y) if isinstance(v, nw.Series))
    library = nw.get_native_namespace(lead)
    indices = [_index(nw.to_native(v)) for v in (xs[0], y) if isinstance(v, nw.Series)]
    known = [index for index in indices if index is not None]
    if len(known) == 2 and len(xs[0]) == len(y) and not known[0].equals(known[1]):
        raise ValueError("x and y must have the same index; theirs differ, align them first")
    names, label = [_name(v, "x", nw) for v in xs], _name(y, "y", nw)
    label = label if label not in names else f"{label}_y"
    columns = list(zip([*xs, *([] if y is None else [y])], [*names, label], strict=False))
    native = None
    if len({len(v) for v, _ in columns}) == 1:
        series = [
            v.alias(name)
            if isinstance(v, nw.Series) and nw.get_native_namespace(v) is library
            else _series(v, name, lead, library, nw)
            for v, name in columns[0 if frame is None else len(frame.columns) :]
        ]
        frame = series.pop(0).to_frame() if frame is None else frame
        native = nw.to_native(frame.with_columns(*series) if series else frame)
    values = [_values(v, nw) for v in xs]
    return Columns(
        values[0] if len(values) == 1 else values,
        _values(y, nw),
        (*names, label),
        _labels(lead),
        native,
    )


def _name(value: Any, default: str, nw: Any) -> str:
    named = isinstance(value, nw.Series) and value.name not in (None, "")
    return str(value.name) if named else default


def _series(value: Any, name: str, like: Any, library: Any, nw: Any) -> Any:
    native = nw.to_native(nw.new_series(name, np.asarray(value).tolist(), native_namespace=library))
    index = _index(nw.to_native(like))
    if index is not None:
        native.index = index
    return nw.from_native(native, series_only=True).alias(name)


def _values(value: Any, nw: Any) -> Any:
    if not isinstance(value, nw.Series):
        return value
    if value.dtype.is_integer() and len(value) and _rounds(value):
        return np.array(value.to_list(), dtype=object)  # refused where floats do not hold them
    if value.dtype.is_numeric():
        return value.cast(nw.Float64).to_numpy()
    if value.dtype in (nw.Date, nw.Datetime):  # with a time zone too: days in UTC
        return value.dt.timestamp("us").cast(nw.Float64).to_numpy() / _DAY
    return np.asarray(nw.to_native(value))


def _rounds(whole: Any) -> bool:
    """Whether some of these whole numbers are beyond those that floating point holds."""
    least, most = whole.min(), whole.max()
    return most is not None and max(-int(least), int(most)) > WHOLE


def date_columns(given: Columns) -> tuple[str, ...]:
    """The names of columns that are days since 1970-01-01: dates of a frame, or those said so."""
    if given.dates or given.frame is None:
        return given.dates
    import narwhals.stable.v1 as nw

    kinds = nw.from_native(given.frame).collect_schema()
    return tuple(name for name in given.names if kinds.get(name) in (nw.Date, nw.Datetime))


def _labels(series: Any) -> Sequence[Any] | None:
    """The index of a pandas column, unless it only counts."""
    index = _index(series.to_native())
    if index is None or not hasattr(index, "tolist"):
        return None
    labels = index.tolist()
    return None if labels == list(range(len(labels))) else labels


def _index(native: Any) -> Any:
    """The index of a column that has one; pyarrow's `index` looks for a value."""
    index = getattr(native, "index", None)
    return None if callable(index) else index

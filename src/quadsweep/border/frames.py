"""Data frames at the border: columns in with their names and labels, a frame out with the answer.

pandas, polars and whatever else narwhals knows. Nothing is imported unless a frame was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep.border.validation import unmasked
from quadsweep.extras import needed

_PLAIN = (list, tuple, range, np.ndarray, type(None), int, float, str)
KEPT = "inlier"


@dataclass(frozen=True)
class Columns:
    """What was given, taken apart.

    Attributes
    ----------
    x, y : what validation is to look at.
    names : the columns' names.
    labels : the index, where it says more than the position; otherwise None.
    frame : a data frame with these columns, in the caller's library, or None.
    """

    x: Any
    y: Any
    names: tuple[str, str] = ("x", "y")
    labels: Sequence[Any] | None = None
    frame: Any = None


def unpack(x: Any, y: Any = None) -> Columns:
    """Columns from two sequences, two series, or one frame of two columns (one for ``var``).

    Columns taken apart already pass as they are.
    """
    if isinstance(x, Columns):
        return x
    if isinstance(x, _PLAIN) and isinstance(y, _PLAIN):
        return Columns(x, y)
    try:
        import narwhals.stable.v1 as nw
    except ModuleNotFoundError:
        return Columns(x, y)
    x, y = (nw.from_native(v, allow_series=True, pass_through=True) for v in (x, y))
    for name, value in (("x", x), ("y", y)):
        if isinstance(value, nw.LazyFrame):
            raise TypeError(f"{name} must be in memory; got a lazy frame, collect it first")
    frame = x if isinstance(x, nw.DataFrame) and y is None else None
    x, y = _split(x, y, nw)
    if not isinstance(x, nw.Series) and not isinstance(y, nw.Series):
        return Columns(x, y)
    _check_same_index(x, y, nw)
    names = _names(x, y, nw)
    if frame is None:
        frame = _joined(x, y, names, nw)
    labels = _labels(x if isinstance(x, nw.Series) else y)
    native = None if frame is None else nw.to_native(frame)
    return Columns(_values(x, nw), _values(y, nw), names, labels, native)


def every_column(frame: Any) -> tuple[list[Any], list[Any]]:
    """Names and columns of a frame, or of an array with columns numbered from 0."""
    if isinstance(frame, (list, tuple, np.ndarray)):
        array = unmasked(frame)
        if array.ndim != 2:
            raise ValueError(f"frame must have two dimensions; got shape {array.shape}")
        return list(range(array.shape[1])), list(array.T)
    with needed("a data frame"):
        import narwhals.stable.v1 as nw
    wrapped = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(wrapped, nw.DataFrame):
        raise TypeError(f"frame must be a data frame or an array; got {type(frame).__name__}")
    return list(wrapped.columns), [_values(wrapped[name], nw) for name in wrapped.columns]


def with_mask(frame: Any, mask: Any) -> Any:
    """The frame with one more column, True for the rows kept."""
    with needed("to_frame"):
        import narwhals.stable.v1 as nw

    wrapped = nw.from_native(frame, eager_only=True)
    name = KEPT
    while name in wrapped.columns:
        name += "_"
    column = nw.new_series(name, mask, nw.Boolean, native_namespace=nw.get_native_namespace(frame))
    native = nw.to_native(column)
    if hasattr(frame, "index"):
        native.index = frame.index
    return nw.to_native(wrapped.with_columns(nw.from_native(native, series_only=True)))


def marked(frame: Any, x: Any, y: Any, names: tuple[str, str], mask: Any) -> Any:
    """The data with the rows kept marked, in the frame they came in or in one of our own."""
    return with_mask(table({names[0]: x, names[1]: y}) if frame is None else frame, mask)


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


def _split(x: Any, y: Any, nw: Any) -> tuple[Any, Any]:
    if isinstance(x, nw.DataFrame) and y is None and len(x.columns) == 2:
        return x[x.columns[0]], x[x.columns[1]]
    return _only_column(x, "x", nw), _only_column(y, "y", nw)


def _only_column(value: Any, name: str, nw: Any) -> Any:
    if not isinstance(value, nw.DataFrame):
        return value
    if len(value.columns) != 1:
        raise ValueError(
            f"{name} must be one column; got a frame with {len(value.columns)} columns"
            + (" (two are taken as x and y)" if name == "x" else "")
        )
    return value[value.columns[0]]


def _check_same_index(x: Any, y: Any, nw: Any) -> None:
    if isinstance(x, nw.Series) and isinstance(y, nw.Series):
        first, second = (getattr(nw.to_native(v), "index", None) for v in (x, y))
        if first is None or second is None or len(x) != len(y):
            return
        if not first.equals(second):
            raise ValueError("x and y must have the same index; theirs differ, align them first")


def _names(x: Any, y: Any, nw: Any) -> tuple[str, str]:
    first, second = (
        str(v.name) if isinstance(v, nw.Series) and v.name not in (None, "") else default
        for v, default in ((x, "x"), (y, "y"))
    )
    return first, second if second != first else f"{second}_y"


def _joined(x: Any, y: Any, names: tuple[str, str], nw: Any) -> Any:
    """One frame of both, if they are of one length."""
    lead = x if isinstance(x, nw.Series) else y
    library = nw.get_native_namespace(lead)
    pair = []
    for value, name in ((x, names[0]), (y, names[1])):
        if value is None:
            continue
        if isinstance(value, nw.Series) and nw.get_native_namespace(value) is library:
            pair.append(value.alias(name))
        elif len(value) == len(lead):
            pair.append(_series(value, name, lead, library, nw))
        else:
            return None
    return pair[0].to_frame().with_columns(*pair[1:]) if len({len(p) for p in pair}) == 1 else None


def _series(value: Any, name: str, like: Any, library: Any, nw: Any) -> Any:
    native = nw.to_native(nw.new_series(name, np.asarray(value).tolist(), native_namespace=library))
    index = getattr(nw.to_native(like), "index", None)
    if index is not None:
        native.index = index
    return nw.from_native(native, series_only=True)


def _values(value: Any, nw: Any) -> Any:
    if not isinstance(value, nw.Series):
        return value
    if value.dtype.is_numeric():
        return value.cast(nw.Float64).to_numpy()
    return np.asarray(nw.to_native(value))


def _labels(series: Any) -> Sequence[Any] | None:
    """The index of a pandas column, unless it only counts."""
    index = getattr(series.to_native(), "index", None)
    if index is None or not hasattr(index, "tolist"):
        return None
    labels = index.tolist()
    return None if labels == list(range(len(labels))) else labels

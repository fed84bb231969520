"""Data on disk or on a cluster as a list of parts, each of which is read by itself.

A part is a row group of a Parquet file, a fragment of an Arrow dataset, a slice of a polars
LazyFrame or a partition of a dask DataFrame. Sources can be pickled: whoever has one can read any
part of it.
"""

from __future__ import annotations

import glob
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.extras import needed
from quadsweep.inputs.validation import days
from quadsweep.messages import free, hint

_SLICE = 1 << 20  # rows of a polars part
_BUFFER = 1 << 20  # bytes of a local file at a time: columns need no memory before they are decoded
_TABLES = (".parquet", ".pq")

# Of x, y and numbers of rows: which are kept, and which have a value at all.
Decide = Callable[[Floats, Floats, Ints], tuple[Mask, Mask]]


class PartFailed(OSError):
    """A part cannot be read; the message says which."""


@dataclass(frozen=True)
class Source(ABC):
    """Two columns of a table in parts.

    Attributes
    ----------
    names : the columns of x and y.
    rows : how many rows each part has, missing values included.
    """

    names: tuple[str, str]
    rows: Ints = field(repr=False)

    @abstractmethod
    def part_name(self, part: int) -> str:
        """Return the name of a part for messages."""

    @abstractmethod
    def _table(self, part: int, columns: list[str] | None) -> Any:
        """Some columns of a part (None: all) as an Arrow table."""

    @property
    def parts(self) -> int:
        return len(self.rows)

    @property
    def given(self) -> int:
        """Number of rows, with missing values."""
        return int(self.rows.sum())

    @property
    def first(self) -> Ints:
        """The number of the first row of each part."""
        return np.concatenate([[0], np.cumsum(self.rows)[:-1]]).astype(np.int64)

    def identity(self, first: int, last: int) -> str:
        """A text that identifies the parts: their names and numbers of rows."""
        parts = [(self.part_name(part), int(self.rows[part])) for part in range(first, last)]
        return hashlib.sha256(repr((self.names, parts)).encode()).hexdigest()[:32]

    def file_states(self) -> dict[str, tuple[int, int]]:
        """Size and time of the local files, as far as there are any."""
        return {}

    def table(self, part: int) -> Any:
        """Read all columns of a part."""
        return self._named(part, None)

    def read(self, part: int) -> tuple[Floats, Floats]:
        """x and y of a part, NaN where a value is missing."""
        table = self._named(part, list(dict.fromkeys(self.names)))
        x, y = _columns(table, self.names)
        if len(x) != self.rows[part]:
            raise PartFailed(
                f"{self.part_name(part)} has {len(x):,} rows now; it had {self.rows[part]:,}"
            )
        return x, y

    def _named(self, part: int, columns: list[str] | None) -> Any:
        try:
            return self._table(part, columns)
        except (OSError, ValueError, RuntimeError) as wrong:
            reason = str(wrong).splitlines()[0] if str(wrong) else type(wrong).__name__
            raise PartFailed(f"{self.part_name(part)} cannot be read: {reason}") from wrong


@dataclass(frozen=True)
class ArrowSource(Source):
    """Fragments of an Arrow dataset; Parquet files by row group."""

    schema: Any = field(default=None, repr=False)
    fragments: Sequence[Any] = field(default=(), repr=False)
    called: Sequence[str] = field(default=(), repr=False)

    def part_name(self, part: int) -> str:
        return self.called[part]

    def file_states(self) -> dict[str, tuple[int, int]]:
        states = {}
        for path in dict.fromkeys(getattr(fragment, "path", "") for fragment in self.fragments):
            with suppress(OSError, ValueError):
                seen = os.stat(path)
                states[path] = seen.st_size, seen.st_mtime_ns
        return states

    def _table(self, part: int, columns: list[str] | None) -> Any:
        names = self.schema.names if columns is None else columns
        fragment = self.fragments[part]
        if columns is not None and self._plain(fragment, columns):
            return _row_group(fragment, columns)
        whole = max(int(self.rows[part]), 1)  # one batch, so that nothing is copied together
        return fragment.to_table(
            schema=self.schema, columns=names, use_threads=False, batch_size=whole
        )

    def _plain(self, fragment: Any, columns: list[str]) -> bool:
        """Whether a file has these columns as they are, to be read without a scan."""
        if not hasattr(fragment, "row_groups"):
            return False
        has = fragment.physical_schema
        return all(
            "." not in name
            and name in has.names
            and has.field(name).type == self.schema.field(name).type
            for name in columns
        )


class LazySource(Source):
    """One that can be given a column that is computed when it is asked for."""

    @abstractmethod
    def with_flags(self, decide: Decide, column: str) -> Any:
        """The source with such a column: which rows are kept, null where a value is missing."""


@dataclass(frozen=True)
class PolarsSource(LazySource):
    """Slices of a LazyFrame; each is collected by itself."""

    frame: Any = field(default=None, repr=False)

    def part_name(self, part: int) -> str:
        first = int(self.first[part])
        return f"rows {first:,} to {first + int(self.rows[part]) - 1:,} of the lazy frame"

    def _table(self, part: int, columns: list[str] | None) -> Any:
        chosen = self.frame if columns is None else self.frame.select(columns)
        return chosen.slice(int(self.first[part]), int(self.rows[part])).collect().to_arrow()

    def with_flags(self, decide: Decide, column: str) -> Any:
        import polars as pl

        taken = self.frame.collect_schema().names()
        number, column = free("number", taken), free(column, taken)

        def flags(rows: Any) -> Any:
            table = rows.struct.unnest().to_arrow()
            numbers = table[number].to_numpy().astype(np.int64)
            kept, known = decide(*_columns(table, self.names), numbers)
            return pl.select(pl.when(pl.Series(known)).then(pl.Series(kept))).to_series()

        rows = pl.struct(*dict.fromkeys(self.names), number)
        flag = rows.map_batches(flags, return_dtype=pl.Boolean, is_elementwise=True)
        return self.frame.with_row_index(number).with_columns(flag.alias(column)).drop(number)


@dataclass(frozen=True)
class DaskSource(LazySource):
    """Partitions of a dask DataFrame, each computed where it is asked for."""

    frame: Any = field(default=None, repr=False)

    def part_name(self, part: int) -> str:
        return f"partition {part} of the dask DataFrame"

    def _table(self, part: int, columns: list[str] | None) -> Any:
        return _arrow(self.frame.partitions[part].compute(scheduler="synchronous"), columns)

    def with_flags(self, decide: Decide, column: str) -> Any:
        import pandas as pd
        from dask.dataframe import from_delayed
        from dask.delayed import delayed

        column = free(column, map(str, self.frame.columns))
        empty = self.frame._meta.assign(**{column: pd.array([], dtype="boolean")})
        # Each partition with its first row: a number asked of dask changes under `partitions[1:]`.
        asked = delayed(_Flagging(self.names, decide, column))
        parts = zip(self.frame.to_delayed(), self.first.tolist(), strict=True)
        flagged = [asked(part, first) for part, first in parts]
        return from_delayed(flagged, meta=empty, divisions=self.frame.divisions)


@dataclass(frozen=True)
class _Flagging:
    """Gives a partition its flags."""

    names: tuple[str, str]
    decide: Decide
    column: str

    def __call__(self, frame: Any, first: int) -> Any:
        import pandas as pd

        x, y = _columns(_arrow(frame, list(dict.fromkeys(self.names))), self.names)
        kept, known = self.decide(x, y, np.arange(len(x)) + first)
        return frame.assign(**{self.column: pd.arrays.BooleanArray(kept, ~known)})


def is_source(given: Any) -> bool:
    """Whether this is data to be read part by part: a path of Parquet, a dataset, a lazy frame.

    >>> is_source("logs/*.parquet"), is_source([1, 2, 3])
    (True, False)
    """
    if given is None:
        return False
    if isinstance(given, Source):
        return True
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        return text.lower().endswith(_TABLES) or Path(text).is_dir() or glob.has_magic(text)
    module, kind = type(given).__module__, type(given).__name__
    return (
        (module.startswith("polars") and kind == "LazyFrame")
        or (module.startswith("pyarrow") and kind.endswith("Dataset"))
        or (module.split(".")[0] in ("dask", "dask_expr") and kind == "DataFrame")
    )


def collects_itself(given: Any) -> bool:
    """Whether this is a LazyFrame, which ``inputs`` takes like any frame where it fits."""
    return type(given).__module__.startswith("polars") and type(given).__name__ == "LazyFrame"


def open_source(given: Any, x: Any, y: Any) -> Source:
    """The source meant by a path, a pattern, a dataset or a lazy frame, and two of its columns."""
    if isinstance(given, Source):
        return given
    if isinstance(given, (str, os.PathLike)):
        return _of_arrow(_dataset(os.fspath(given)), x, y)
    if type(given).__module__.startswith("polars"):
        return _of_polars(given, x, y)
    if type(given).__module__.startswith("pyarrow"):
        return _of_arrow(given, x, y)
    return _of_dask(given, x, y)


def _dataset(path: str) -> Any:
    with needed("reading Parquet part by part"):
        import pyarrow.dataset as ds
    files: Any = path
    if glob.has_magic(path):
        files = sorted(glob.glob(path, recursive=True))
        if not files:
            raise FileNotFoundError(f"no file matches {path!r}")
    elif not os.path.exists(path):
        raise FileNotFoundError(f"there is no file or folder {path!r}")
    return ds.dataset(files, format="parquet")


def _of_arrow(dataset: Any, x: Any, y: Any) -> ArrowSource:
    names = _checked(x, y, dataset.schema.names)
    pieces = list(_pieces(dataset))
    rows = np.array([rows for _, rows, _ in pieces], dtype=np.int64)
    whole = [piece for piece, _, _ in pieces]
    return ArrowSource(names, rows, dataset.schema, whole, [called for _, _, called in pieces])


def _pieces(dataset: Any) -> Iterator[tuple[Any, int, str]]:
    """Fragments to be read by themselves, their rows, and what to call them."""
    for number, fragment in enumerate(dataset.get_fragments()):
        path = getattr(fragment, "path", None) or f"fragment {number}"
        if not hasattr(fragment, "row_groups"):
            yield fragment, fragment.count_rows(), path
            continue
        for group in _row_groups(fragment, path):
            info = group.row_groups[0]
            if info.num_rows:
                yield group, info.num_rows, f"row group {info.id} of {path}"


def _row_groups(fragment: Any, path: str) -> list[Any]:
    try:
        return list(fragment.split_by_row_group())
    except (OSError, ValueError) as wrong:
        raise PartFailed(f"{path} cannot be read: {str(wrong).splitlines()[0]}") from wrong


def _row_group(fragment: Any, columns: list[str]) -> Any:
    import pyarrow.parquet as pq
    from pyarrow.fs import LocalFileSystem

    buffered = _BUFFER if isinstance(fragment.filesystem, LocalFileSystem) else 0
    with pq.ParquetFile(fragment.open(), metadata=fragment.metadata, buffer_size=buffered) as file:
        group = fragment.row_groups[0].id
        return file.read_row_group(group, columns=columns, use_threads=False)


def _of_polars(frame: Any, x: Any, y: Any) -> PolarsSource:
    import polars as pl

    names = _checked(x, y, frame.collect_schema().names())
    total = int(frame.select(pl.len()).collect().item())
    full, rest = divmod(total, _SLICE)
    rows = np.array([_SLICE] * full + ([rest] if rest else []), dtype=np.int64)
    return PolarsSource(names, rows, frame)


def _of_dask(frame: Any, x: Any, y: Any) -> DaskSource:
    names = _checked(x, y, [str(name) for name in frame.columns])
    rows = np.asarray(frame.map_partitions(len).compute(), dtype=np.int64)
    return DaskSource(names, rows, frame)


def _checked(x: Any, y: Any, columns: Sequence[str]) -> tuple[str, str]:
    for axis, name in (("x", x), ("y", y)):
        if not isinstance(name, str):
            raise TypeError(f"{axis} must be the name of a column of the source; got {name!r}")
        if name not in columns:
            raise ValueError(f"no column {name!r}{hint(name, columns)}")
    return x, y


def _arrow(frame: Any, columns: list[str] | None) -> Any:
    """Some columns of a pandas frame (None: all) as an Arrow table."""
    import pyarrow as pa

    return pa.Table.from_pandas(frame if columns is None else frame[columns], preserve_index=False)


def _columns(table: Any, names: tuple[str, str]) -> tuple[Floats, Floats]:
    x, y = (_numbers(table[name], name) for name in names)
    return x, y


def _numbers(column: Any, name: str) -> Floats:
    """A column of numbers as float64, dates as days since 1970-01-01; missing ones as NaN."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type) and not pa.types.is_duration(column.type):
        return _days(column, name)
    if not (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_boolean(column.type)
        or pa.types.is_decimal(column.type)
    ):
        raise TypeError(f"column {name!r} must hold numbers; it holds {column.type}")
    try:
        column = column.cast(pa.float64(), safe=pa.types.is_integer(column.type))
    except pa.ArrowInvalid:
        raise ValueError(
            f"column {name!r} holds whole numbers that floating point rounds: subtract one from "
            "the column first, so that none is beyond 2**53"
        ) from None
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return np.ascontiguousarray(whole.to_numpy(zero_copy_only=False), dtype=np.float64)


def _days(column: Any, name: str) -> Floats:
    """Dates, and times with a zone or without, as ``inputs`` has them."""
    import pyarrow as pa

    if pa.types.is_time(column.type) or pa.types.is_interval(column.type):
        raise TypeError(f"column {name!r} must hold numbers or dates; it holds {column.type}")
    times = column.cast(pa.timestamp("us"), safe=False)
    whole = times.chunk(0) if times.num_chunks == 1 else times.combine_chunks()
    return days(whole.to_numpy(zero_copy_only=False))

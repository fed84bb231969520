"""Validation: what the user gives becomes clean arrays, or an error in one sentence.

Nothing behind this module checks its input again.
"""

from __future__ import annotations

import math
import numbers
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quadsweep.arrays import Floats, Ints
from quadsweep.least_squares import independent, spans_constant
from quadsweep.messages import argument
from quadsweep.objectives import Objective, Score

if TYPE_CHECKING:
    from quadsweep.inputs.frames import Columns

SEVERAL = ("r2", "lts")  # objectives of several predictors
_FLOAT = np.dtype(np.float64)
WHOLE = 2**53  # doubles hold every whole number up to this one


class Points:
    """What everything with rows x has: their number, and that of the predictors."""

    x: Floats

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def several(self) -> bool:
        """Whether x is a matrix."""
        return self.x.ndim == 2

    @property
    def p(self) -> int:
        """Predictors given."""
        return self.x.shape[1] if self.several else 1


@dataclass(frozen=True)
class Sample(Points):
    """Validated points.

    Attributes
    ----------
    x, y : float64 arrays without NaN or infinity; y is all zeros where it was left out. x has two
        dimensions where there are several predictors, weights, or no intercept.
    rows : for each point its position in what the user gave.
    given : how many rows the user gave.
    weights : positive weights of the rows, or None.
    intercept : whether the plane may have one.
    searched : columns of x that are not combinations of those before them; None where x is one.
    """

    x: Floats
    y: Floats
    rows: Ints
    given: int
    weights: Floats | None = None
    intercept: bool = True
    searched: Ints | None = None

    @property
    def searched_x(self) -> Floats:
        """The predictors that matter to the search."""
        if self.searched is None or len(self.searched) == self.x.shape[1]:
            return self.x
        return np.ascontiguousarray(self.x[:, self.searched])


def column(values: Any, name: str) -> Floats:
    """A one-dimensional float64 array, or a TypeError or ValueError naming the argument.

    Dates and times become days since 1970-01-01.
    """
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype is _FLOAT:  # as mostly
        return np.ascontiguousarray(values)
    try:
        array = unmasked(values)
    except ValueError:
        raise ValueError(f"{name} must be a flat sequence of numbers; got nested ones") from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got an array of shape {array.shape}")
    if array.dtype.kind == "O":
        array = _numbers(array, name)
    if array.dtype.kind == "M":
        array = days(array)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {kind(array)}")
    out = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and np.any(np.abs(out) > WHOLE):
        return _numbers(array.astype(object), name)
    return out


def days(dates: NDArray[Any]) -> Floats:
    """Days since 1970-01-01 of dates and times.

    >>> days(np.array(["1970-01-02T12"], dtype="datetime64[h]"))
    array([1.5])
    """
    return np.asarray((dates - np.datetime64(0, "D")) / np.timedelta64(1, "D"))


def unmasked(values: Any) -> NDArray[Any]:
    """An array of what was given, with NaN where a masked array hides a number.

    >>> unmasked(np.ma.array([1.0, 2, 3], mask=[0, 1, 0])).tolist()
    [1.0, nan, 3.0]
    """
    if not _has_masks(values):
        return np.asarray(values)
    if isinstance(values, (list, tuple)):
        values = [math.nan if value is np.ma.masked else value for value in values]
    array: Any = np.ma.asarray(values)
    if array.dtype.kind in "bf" or (array.dtype.kind in "iu" and array.dtype.itemsize < 8):
        return np.asarray(array.astype(np.float64).filled(np.nan))
    if array.dtype.kind in "iuO":
        objects: NDArray[Any] = np.array(array.data, dtype=object)
        objects[np.ma.getmaskarray(array)] = None
        return objects
    return np.asarray(array)  # refused for what it holds


def _has_masks(values: Any) -> bool:
    """Also of rows that are masked arrays, or a list with ``np.ma.masked`` in it."""
    if type(values) is np.ndarray or "numpy.ma" not in sys.modules:  # which takes long to import
        return False
    if isinstance(values, (list, tuple)):
        return any(isinstance(row, np.ma.MaskedArray) for row in values)
    return isinstance(values, np.ma.MaskedArray)


def _numbers(array: NDArray[Any], name: str) -> Floats:
    """Convert an object array: numbers and None pass (None as NaN), anything else is named."""
    out = np.empty(len(array))
    for i, value in enumerate(array):
        if value is None:
            out[i] = math.nan
        elif isinstance(value, (numbers.Real, np.number)) or _is_missing(value):
            try:
                out[i] = float(value)
            except TypeError:
                out[i] = math.nan
            except OverflowError:
                raise ValueError(
                    f"{name} must hold numbers up to 1.8e308; got {brief(value)} at index {i}"
                ) from None
            if isinstance(value, (int, np.integer)) and int(out[i]) != value:
                raise ValueError(
                    f"{name} holds {value} at index {i}, which floating point rounds to "
                    f"{int(out[i])}: subtract a whole number from the column first, so that none "
                    "is beyond 2**53"
                )
        else:
            raise TypeError(
                f"{name} must hold real numbers; got {value!r} at index {i} (where it stands for a "
                f"missing value, frame.replace({value!r}, None) and nan_policy='omit' leave its "
                "row out)"
            )
    return out


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in {"NAType", "NaTType", "Decimal"}


def kind(array: NDArray[Any]) -> str:
    names = {"U": "text", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations"}
    return names.get(array.dtype.kind, f"dtype {array.dtype}")


def check_nan_policy(nan_policy: Any) -> None:
    if nan_policy not in ("raise", "omit"):
        raise ValueError(f"nan_policy must be 'raise' or 'omit'; got {nan_policy!r}")


def read_sample(
    given: Columns,
    objective: Objective,
    nan_policy: str = "raise",
    *,
    weights: Any = None,
    intercept: bool = True,
) -> Sample:
    """Check the columns against each other and the objective, and find the rows in use.

    One predictor without weights and with an intercept is a column of the sample, all else a matrix
    with a row for each point.
    """
    if not isinstance(intercept, (bool, np.bool_)):
        raise TypeError(f"fit_intercept must be True or False; got {intercept!r}")
    columns = columns_of(given.x) or [given.x]
    if len(columns) > 1 or weights is not None or not intercept:
        return _read_several(given, columns, objective, nan_policy, weights, bool(intercept))
    x = column(columns[0], "x")
    if given.y is None and objective.name != "var":
        raise ValueError(f"y may be left out only for objective 'var'; got {objective.name!r}")
    y = np.zeros_like(x) if given.y is None else column(given.y, "y")
    rows = usable([x], y, nan_policy)
    if len(rows) == len(x):
        return Sample(x, y, rows, len(x))
    return Sample(x[rows], y[rows], rows, len(x))


def columns_of(x: Any) -> list[Any] | None:
    """The columns of a table, None if there is but one sequence of numbers."""
    if type(x) is np.ndarray and x.ndim == 1:
        return None
    if isinstance(x, list) and x and all(isinstance(v, np.ndarray) and v.ndim == 1 for v in x):
        return x  # as `frames.unpack` leaves a frame's columns
    shape = table_shape(x)
    if shape is None:
        return None
    if shape[1] == 0:
        raise ValueError(f"x must have at least one column; got an array of shape {shape}")
    return list(np.asarray(unmasked(x)).T)


def table_shape(x: Any) -> tuple[int, int] | None:
    """Rows and columns of an array of two dimensions or of rows of one length; otherwise None.

    >>> table_shape([[1, 2], [3, 4], [5, 6]])
    (3, 2)
    """
    if isinstance(x, (list, tuple)):
        rows = bool(x) and all(isinstance(row, (list, tuple, np.ndarray)) for row in x)
        flat = rows and all(np.ndim(v) == 0 for row in x[:1] for v in row)
        same = flat and len({len(row) for row in x}) == 1
        return (len(x), len(x[0])) if same else None
    shape = getattr(x, "shape", None)
    return (int(shape[0]), int(shape[1])) if isinstance(shape, tuple) and len(shape) == 2 else None


def _read_several(
    given: Columns,
    columns: Sequence[Any],
    objective: Objective,
    nan_policy: str,
    weights: Any,
    intercept: bool,
) -> Sample:
    """Read several predictors, weights, or a plane through the origin."""
    if objective.name not in SEVERAL:
        what = "several predictors, weights and fits without intercept"
        raise ValueError(f"{what} take objective 'r2' or 'lts'; got {objective.name!r}")
    if given.y is None:
        raise ValueError(f"y may be left out only for objective 'var'; got {objective.name!r}")
    names = [f"column {name!r}" for name in given.names[:-1]]
    names = ["x"] if len(names) == 1 else names + [f"column {j}" for j in range(len(columns))]
    xs = [column(values, name) for values, name in zip(columns, names, strict=False)]
    X, y = np.column_stack(xs), column(given.y, "y")
    w = None if weights is None else _read_weights(weights, len(y))
    rows = usable([X] if w is None else [X, w], y, nan_policy)
    X = X if len(rows) == len(X) else np.ascontiguousarray(X[rows])
    w = None if w is None else w[rows]
    if not intercept and spans_constant(X):  # the same fits, and R2 about the mean
        beside = len(independent(X))
        intercept = 0 < beside == len(independent(X, intercept=False)) - 1
    searched = independent(X, intercept)
    if len(searched) == 0:
        searched = np.array([0])
    return Sample(X, y[rows], rows, len(y), w, intercept, searched)


def _read_weights(weights: Any, n: int) -> Floats:
    w = column(weights, "weights")
    if len(w) != n:
        raise ValueError(f"weights must be as many as there are rows, {n}; got {len(w)}")
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(w > 0) & ~np.isnan(w))
    if len(bad):
        raise ValueError(
            f"weights must be positive; got {w[bad[0]]:g} at index {bad[0]} (leave such rows out)"
        )
    return w


def usable(xs: Sequence[Floats], y: Floats, nan_policy: str) -> Ints:
    """The rows without NaN or infinity, or a ValueError where none may be left out, or all are."""
    if nan_policy != "raise":
        check_nan_policy(nan_policy)
    if len(xs[0]) != len(y):
        raise ValueError(f"x and y must have the same length; got {len(xs[0])} and {len(y)}")
    if len(y) == 0:
        raise ValueError("x and y must hold at least two points; got none")
    good = np.isfinite(y)
    for x in xs:
        good &= np.isfinite(x) if x.ndim == 1 else np.isfinite(x).all(axis=1)
    if np.count_nonzero(good) == len(good):
        return np.arange(len(good), dtype=np.intp)
    rows = np.flatnonzero(good)
    if len(rows) < len(good) and nan_policy == "raise":
        raise ValueError(
            f"x and y must be finite; got {len(good) - len(rows)} rows with NaN or infinity, the "
            f"first at index {int(np.argmin(good))} (nan_policy='omit' leaves them out)"
        )
    if len(rows) == 0:
        raise ValueError("x and y must hold finite points; every row has NaN or infinity")
    return rows


def keep_count(n: int, k: Any, drop: Any, objective: Score, points: Sample | None = None) -> int:
    """How many points to keep, from exactly one of ``k`` and ``drop``.

    A share keeps ``ceil(k * n)`` points, or removes ``floor(drop * n)``. ``points`` tell how many
    coefficients there are; without them, those of a line.
    """
    if (k is None) == (drop is None):
        which = "neither" if k is None else "both"
        raise ValueError(
            f"give exactly one of {argument('k')} (points to keep) and {argument('drop')}; "
            f"got {which}"
        )
    name, amount = ("k", k) if drop is None else ("drop", drop)
    given = count(amount, name, n)
    keep = given if drop is None else n - given
    least, needs = objective.min_k, f"{objective.name} needs"
    if points is not None and points.searched is not None:
        least, p = least_kept(points, objective), len(points.searched)
        needs = f"{objective.name} of {p} predictor{'s' * (p != 1)} needs"
    if n < least:
        few = "1 point is" if n == 1 else f"{n} points are"
        raise ValueError(f"{few} too few: {needs} at least {least}")
    if not least <= keep <= n:
        allowed = f"{needs} between {least} and n = {n}"
        if drop is not None:
            most = n - least
            allowed = f"{needs} at least {least}, so 0 to {most} may be dropped"
        kept = "none" if keep < 0 else keep
        raise ValueError(f"{argument(name, amount)} keeps {kept} of {n} points; {allowed}")
    return keep


def least_kept(points: Sample, objective: Score) -> int:
    """The fewest rows that do not fit any data exactly: one more than there are coefficients.

    >>> from quadsweep.objectives import get
    >>> rows = np.arange(9)
    >>> least_kept(Sample(np.ones((9, 3)), np.ones(9), rows, 9, searched=np.arange(3)), get("r2"))
    5
    """
    if points.searched is None:
        return objective.min_k
    return len(points.searched) + points.intercept + 1


def count(amount: Any, name: str, n: int) -> int:
    """A number of points: as given, or from a share of n."""
    if isinstance(amount, (bool, np.bool_)) or not isinstance(
        amount, (float, int, numbers.Real, np.number)
    ):
        raise TypeError(
            f"{argument(name)} must be a whole number or a share in (0, 1); got {amount!r}"
        )
    if isinstance(amount, (int, numbers.Integral, np.integer)):
        return int(amount)
    share = float(amount)
    if not 0 < share < 1:
        raise ValueError(
            f"{argument(name)} must be a whole number or a share in (0, 1); got {amount!r}"
        )
    slack = 1e-9
    return math.ceil(share * n - slack) if name == "k" else math.floor(share * n + slack)


def check_varies(points: Sample, objective: Objective) -> None:
    """Some subset must have a value: a column the objective divides by may not be constant.

    Of several predictors those that do not vary explain nothing, which is an answer as long as one
    of them does.
    """
    if not points.several:
        for name, values, needed in (
            ("x", points.x, objective.needs_x),
            ("y", points.y, objective.needs_y),
        ):
            if needed and values[0] == values[-1] and np.all(values == values[0]):
                raise ValueError(
                    f"{name} is constant ({values[0]:g} in all {points.n} rows), so "
                    f"{objective.name} is undefined on every subset"
                )
        return
    if objective.name != "r2":
        return
    y = points.y if points.intercept else points.y[np.abs(points.y) > 0]
    if len(y) == 0 or (points.intercept and np.all(y == y[0])):
        value = points.y[0]
        raise ValueError(
            f"y is constant ({value:g} in all {points.n} rows), so r2 is undefined on every subset"
        )
    flat = np.ptp(points.x, axis=0) == 0 if points.intercept else ~points.x.any(axis=0)
    if flat.all():
        raise ValueError(
            f"every column of x is constant in all {points.n} rows, so there is nothing to explain "
            "y by"
        )


def tolerance(tol: Any, name: str = "tol") -> float:
    if not 0 <= _float(tol) < 1:
        raise ValueError(f"{argument(name)} must be a number in [0, 1); got {tol!r}")
    return float(tol)


def _float(value: Any) -> float:
    """A number as a float: infinite if it is too large for one, NaN if it is not a number."""
    if not isinstance(value, (float, int, numbers.Real, np.number)):  # the usual ones first
        return math.nan
    number: Any = value
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def seconds(time_limit: Any) -> float:
    """A time limit, infinite for None."""
    if time_limit is None:
        return math.inf
    limit = _float(time_limit)
    if not limit >= 0:
        raise ValueError(
            f"{argument('time_limit')} must be None or seconds >= 0; got {time_limit!r}"
        )
    return limit


def memory(memory_limit: Any) -> float:
    """A limit in gigabytes, as bytes; None is a quarter of the machine's memory."""
    if memory_limit is None:
        return _machine_memory() / 4
    number = isinstance(memory_limit, (numbers.Real, np.number))
    if not number or isinstance(memory_limit, bool) or not float(memory_limit) > 0:
        raise ValueError(
            f"{argument('memory_limit')} must be None or gigabytes > 0; got {memory_limit!r}"
        )
    return float(memory_limit) * 1e9


@cache
def _machine_memory() -> float:
    """Bytes this process may hope for: of the machine or, in a container, of the container."""
    try:
        bytes_ = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        bytes_ = 8e9
    try:
        given = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        return min(bytes_, float(given))
    except (OSError, ValueError):
        return bytes_


def whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, numbers.Integral, np.integer)):
        raise TypeError(f"{argument(name)} must be a whole number; got {value!r}")
    if int(value) < least:
        raise ValueError(f"{argument(name)} must be at least {least}; got {brief(value)}")
    if int(value) >= 2**64:
        raise ValueError(f"{argument(name)} must be below 2**64; got {brief(value)}")
    return int(value)


def brief(value: Any) -> str:
    """A number as text, the middle left out where it is long."""
    if isinstance(value, int) and value.bit_length() > 10_000:
        return f"a number of about {round(value.bit_length() * 0.30103):,} digits"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:20]}...{text[-5:]}"


def jobs(n_jobs: Any) -> int:
    """Threads, at most the cores: None is all of them, negative counts back."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, numbers.Integral, np.integer)):
        raise TypeError(f"{argument('n_jobs')} must be None or a whole number; got {n_jobs!r}")
    count = int(n_jobs)
    if count == 0:
        raise ValueError(
            f"{argument('n_jobs')} must be None, positive, or negative to count back from all; "
            "got 0"
        )
    return min(count, cores) if count > 0 else max(1, cores + 1 + count)

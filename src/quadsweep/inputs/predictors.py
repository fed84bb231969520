"""Several predictors as given: a table of numbers, weights, and which rows can be used.

One predictor without weights and with an intercept stays the pair of columns it always was; all
else becomes a matrix with a row for each point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.inputs import validation
from quadsweep.inputs.frames import Columns, table_shape
from quadsweep.inputs.validation import Sample
from quadsweep.least_squares import independent, spans_constant
from quadsweep.objectives import Objective

SEVERAL = ("r2", "lts")  # objectives of several predictors


def sample(
    given: Columns,
    objective: Objective,
    nan_policy: str = "raise",
    *,
    weights: Any = None,
    intercept: bool = True,
) -> Sample:
    """Rows checked against each other and against the objective.

    ``x`` of the sample has one dimension where the question is one of two columns, otherwise two.
    """
    if not isinstance(intercept, (bool, np.bool_)):
        raise TypeError(f"fit_intercept must be True or False; got {intercept!r}")
    columns = columns_of(given.x)
    if columns is None and weights is None and intercept:
        return validation.sample(given.x, given.y, objective, nan_policy)
    if columns is None:
        columns = [given.x]
    if len(columns) == 1 and weights is None and intercept:
        return validation.sample(columns[0], given.y, objective, nan_policy)
    return _several(given, columns, objective, nan_policy, weights, bool(intercept))


def columns_of(x: Any) -> list[Any] | None:
    """The columns of a table, None if there is but one sequence of numbers."""
    if isinstance(x, list) and x and all(isinstance(v, np.ndarray) and v.ndim == 1 for v in x):
        return x  # as `frames.unpack` leaves a frame's columns
    shape = table_shape(x)
    if shape is None:
        return None
    if shape[1] == 0:
        raise ValueError(f"x must have at least one column; got an array of shape {shape}")
    return list(np.asarray(validation.unmasked(x)).T)


def _several(
    given: Columns,
    columns: Sequence[Any],
    objective: Objective,
    nan_policy: str,
    weights: Any,
    intercept: bool,
) -> Sample:
    if objective.name not in SEVERAL:
        what = "several predictors, weights and fits without intercept"
        raise ValueError(f"{what} take objective 'r2' or 'lts'; got {objective.name!r}")
    if given.y is None:
        raise ValueError(f"y may be left out only for objective 'var'; got {objective.name!r}")
    validation.check_nan_policy(nan_policy)
    X = np.column_stack([validation.column(c, _called(given, j)) for j, c in enumerate(columns)])
    y = validation.column(given.y, "y")
    validation.check_lengths(X, y)
    w = None if weights is None else _weights(weights, len(y))
    good = np.isfinite(X).all(axis=1) & np.isfinite(y)
    rows = validation.usable(good if w is None else good & np.isfinite(w), nan_policy)
    X = X if len(rows) == len(X) else np.ascontiguousarray(X[rows])
    w = None if w is None else w[rows]
    if not intercept and spans_constant(X) and len(independent(X)):
        intercept = True  # the same fits, and R2 about the mean
    searched = independent(X, intercept)
    if len(searched) == 0:
        searched = np.array([0])
    return Sample(X, y[rows], rows, len(y), w, intercept, searched)


def _called(given: Columns, j: int) -> str:
    names = given.names[:-1]
    return "x" if len(names) == 1 else f"column {names[j]!r}" if j < len(names) else f"column {j}"


def _weights(weights: Any, n: int) -> Floats:
    w = validation.column(weights, "weights")
    if len(w) != n:
        raise ValueError(f"weights must be as many as there are rows, {n}; got {len(w)}")
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(w > 0) & ~np.isnan(w))
    if len(bad):
        raise ValueError(
            f"weights must be positive; got {w[bad[0]]:g} at index {bad[0]} (leave such rows out)"
        )
    return w


def least_kept(points: Sample, objective: Objective) -> int:
    """The fewest rows that do not fit any data exactly: one more than there are coefficients.

    >>> import numpy as np
    >>> from quadsweep.objectives import get
    >>> rows = np.arange(9)
    >>> least_kept(Sample(np.ones((9, 3)), np.ones(9), rows, 9, searched=np.arange(3)), get("r2"))
    5
    """
    if points.searched is None:
        return objective.min_k
    return len(points.searched) + points.intercept + 1


def keep_count(points: Sample, k: Any, drop: Any, objective: Objective) -> int:
    """How many rows to keep, from exactly one of ``k`` and ``drop``."""
    if not points.several:
        return validation.keep_count(points.n, k, drop, objective)
    asked = replace(objective, min_k=least_kept(points, objective))
    try:
        return validation.keep_count(points.n, k, drop, asked)
    except ValueError as wrong:
        p = asked.min_k - 1 - points.intercept
        many = f"{objective.name} of {p} predictor{'s' * (p != 1)}"
        raise ValueError(str(wrong).replace(f"{objective.name} needs", f"{many} needs")) from None


def check_varies(points: Sample, objective: Objective) -> None:
    """Some subset must have a value: R2 divides by the variation of y.

    Predictors that do not vary explain nothing, which is an answer as long as one of them does.
    """
    if not points.several:
        validation.check_varies(points, objective)
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

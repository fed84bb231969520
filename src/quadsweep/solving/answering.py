"""From a method's outcome to a `Result` in the user's rows and names."""

from __future__ import annotations

import math

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.inputs.frames import Columns, date_columns
from quadsweep.inputs.validation import Sample
from quadsweep.least_squares import fit
from quadsweep.objectives import Score
from quadsweep.results.result import Result
from quadsweep.solving.methods import Outcome


def make_result(
    given: Columns,
    points: Sample,
    k: int,
    score: Score,
    outcome: Outcome,
    method: str,
    seconds: float,
) -> Result:
    """Positions among the clean points become rows of the data as given."""
    n, several = points.n, points.several
    inside = np.zeros(n, dtype=bool)
    inside[_positions(outcome, k, score, "y" if several else "x or y")] = True
    mask = inside
    if n < points.given:
        mask = np.zeros(points.given, dtype=bool)
        mask[points.rows] = inside
    value = outcome.value
    if not len(outcome.inliers):
        with np.errstate(over="ignore", invalid="ignore"):
            value = _value(points, score, inside)
    if math.isinf(value):
        raise ValueError(
            f"{score.name} of the best {k} points is beyond the largest floating-point number "
            "(1.8e308): divide the columns by a constant"
        )
    return Result(
        inliers=points.rows[inside],
        outliers=points.rows[~inside],
        mask=mask,
        value=value,
        bound=outcome.bound,
        gap=max(0.0, score.sense * (outcome.bound - value)) if value == value else math.inf,
        status=outcome.status,
        objective=score.name,
        method=method,
        n=n,
        k=k,
        nodes=outcome.nodes,
        seconds=seconds,
        x=_spread(points.x.reshape(-1) if several and points.p == 1 else points.x, points),
        y=_spread(points.y, points),
        names=given.names,
        labels=given.labels,
        frame=given.frame,
        fit_intercept=points.intercept,
        weights=None if points.weights is None else _spread(points.weights, points),
        searched=points.searched,
        formula=given.formula,
        dates=date_columns(given),
    )


def _value(points: Sample, score: Score, inside: Mask) -> float:
    x, y = points.searched_x[inside], points.y[inside]
    if not points.several:
        return score.value(x, y)
    weights = None if points.weights is None else points.weights[inside]
    return fit(x, y, weights, points.intercept).value(score.name)


def _spread(values: Floats, points: Sample) -> Floats:
    """Clean values at their places among all rows given, NaN elsewhere."""
    # Copies: the user may change the columns before the line or the conic is asked for.
    if points.n == points.given:
        copy: Floats = values.copy()
        return copy
    full = np.full((points.given, *values.shape[1:]), np.nan)
    full[points.rows] = values
    return full


def _positions(outcome: Outcome, k: int, score: Score, which: str) -> Ints:
    if len(outcome.inliers):
        return outcome.inliers
    if outcome.status in ("time_limit", "memory_limit", "interrupted"):
        return np.arange(k)  # stopped before the first subset was scored
    raise ValueError(
        f"{score.name} is undefined on every subset of {k} points: in each of them {which} is "
        "constant"
    )

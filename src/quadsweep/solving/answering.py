"""From a method's outcome to a `Result` in the user's rows and names."""

from __future__ import annotations

import math

import numpy as np

from quadsweep import objectives
from quadsweep.answers.boundary import boundary
from quadsweep.answers.result import CERTIFICATE, MEMORY, Result
from quadsweep.arrays import Ints
from quadsweep.border.frames import Columns
from quadsweep.border.validation import Sample
from quadsweep.methods import Outcome
from quadsweep.objectives import Objective, Score


@np.errstate(over="ignore", invalid="ignore")
def make_result(
    given: Columns,
    points: Sample,
    k: int,
    score: Score,
    outcome: Outcome,
    method: str,
    seconds: float,
) -> Result:
    """Positions among the clean points become rows; the line, the conic and the words are added."""
    inside = np.zeros(points.n, dtype=bool)
    inside[_positions(outcome, k, score)] = True
    xi, yi = points.x[inside], points.y[inside]
    a, _, c = objectives.centred_sums(xi, yi)
    slope = c / a if a > 0 else math.nan
    objective = score if isinstance(score, Objective) else None
    conic, reason = boundary(points.x, points.y, inside, objective)
    mask = np.zeros(points.given, dtype=bool)
    mask[points.rows] = inside
    full = np.full((2, points.given), np.nan)
    full[:, points.rows] = points.x, points.y
    value = outcome.value if len(outcome.inliers) else score.value(xi, yi)
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
        status="time_limit" if outcome.status == "memory_limit" else outcome.status,
        message=_message(outcome.status, k, points.n, reason),
        objective=score.name,
        method=method,
        n=points.n,
        k=k,
        slope=slope,
        intercept=float(yi.mean() - slope * xi.mean()),
        conic=conic,
        nodes=outcome.nodes,
        seconds=seconds,
        x=full[0],
        y=full[1],
        names=given.names,
        labels=given.labels,
        frame=given.frame,
    )


def _positions(outcome: Outcome, k: int, score: Score) -> Ints:
    if len(outcome.inliers):
        return outcome.inliers
    if outcome.status in ("time_limit", "memory_limit", "interrupted"):
        return np.arange(k)  # stopped before the first subset was scored
    raise ValueError(
        f"{score.name} is undefined on every subset of {k} points: in each of them x or y is "
        "constant"
    )


def _message(status: str, k: int, n: int, reason: str) -> str:
    text = MEMORY if status == "memory_limit" else CERTIFICATE[status].format(k=k, n=n)
    return " ".join(filter(None, [text[0].upper() + text[1:] + ".", reason]))

"""The front door: one call from columns to a Result."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.answers.boundary import boundary
from quadsweep.answers.result import Result
from quadsweep.border import frames, validation
from quadsweep.border.validation import Sample
from quadsweep.methods import METHODS, Outcome, Problem
from quadsweep.methods.choice import choose
from quadsweep.progress import SearchProgress, watching


def solve(
    x: Any,
    y: Any = None,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    method: str = "auto",
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: SearchProgress = False,
) -> Result:
    """The k points with the best value of an objective.

    Parameters
    ----------
    x, y : one-dimensional sequences of numbers
        Lists, arrays, pandas or polars columns, or one data frame of two columns as ``x``. ``y``
        may be left out for ``objective="var"``.
    k : int or float, optional
        Points to keep: a number, or a share of n in (0, 1).
    drop : int or float, optional
        Points to remove, instead of ``k``.
    objective : str
        ``r2``, ``r``, ``cov``, ``dv`` (largest is best), ``tv``, ``var``, ``lts`` (smallest).
    method : str
        ``auto`` (always with a proof, unless a limit stops it), ``certified``, ``sweep``,
        ``naive``, ``exhaustive`` or ``concentrate``.
    tol : float
        How close to the best value the proof must come.
    time_limit : float, optional
        Seconds after which the best subset so far is returned.
    n_jobs : int, optional
        Threads; None is as many as there are cores.
    seed : int
        For methods that draw starting points.
    nan_policy : {"raise", "omit"}
        What to do with rows that have NaN or infinity.
    progress : bool or callable
        True shows the search on standard error; a callable is given (value, bound, nodes, seconds)
        about twenty times a second and may return False to stop.

    Returns
    -------
    Result

    Examples
    --------
    >>> import quadsweep as qs
    >>> result = qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1)
    >>> result.outliers
    array([2])
    >>> result.value, result.status
    (1.0, 'optimal')
    """
    goal = objectives.get(objective)
    given = frames.unpack(x, y)
    points = validation.sample(given.x, given.y, goal, nan_policy)
    keep = validation.keep_count(points.n, k, drop, goal)
    chosen = choose(method, goal, points.n, keep)
    validation.check_varies(points, goal)
    problem = Problem(
        points.x,
        points.y,
        keep,
        goal,
        tol=validation.tolerance(tol),
        time_limit=validation.seconds(time_limit),
        n_jobs=validation.jobs(n_jobs),
        seed=validation.whole(seed, "seed", 0),
    )
    start = time.perf_counter()
    with watching(progress, goal) as callback:
        outcome = METHODS[chosen](replace(problem, callback=callback))
    result = make_result(points, problem, outcome, chosen, time.perf_counter() - start)
    return replace(result, names=given.names, labels=given.labels, frame=given.frame)


def make_result(
    points: Sample, problem: Problem, outcome: Outcome, method: str, seconds: float
) -> Result:
    """From positions among the clean points to a Result in the user's rows."""
    inside = np.zeros(points.n, dtype=bool)
    inside[_positions(outcome, problem)] = True
    xi, yi = points.x[inside], points.y[inside]
    a, _, c = objectives.centred_sums(xi, yi)
    slope = c / a if a > 0 else math.nan
    conic, reason = boundary(points.x, points.y, inside, problem.objective)
    mask = np.zeros(points.given, dtype=bool)
    mask[points.rows] = inside
    full = np.full((2, points.given), np.nan)
    full[:, points.rows] = points.x, points.y
    value = outcome.value if len(outcome.inliers) else problem.objective.value(xi, yi)
    return Result(
        inliers=points.rows[inside],
        outliers=points.rows[~inside],
        mask=mask,
        value=value,
        bound=outcome.bound,
        gap=max(0.0, problem.objective.sense * (outcome.bound - value))
        if value == value
        else math.inf,
        status=outcome.status,
        message=_message(outcome, problem, reason),
        objective=problem.objective.name,
        method=method,
        n=points.n,
        k=problem.k,
        slope=slope,
        intercept=float(yi.mean() - slope * xi.mean()),
        conic=conic,
        nodes=outcome.nodes,
        seconds=seconds,
        x=full[0],
        y=full[1],
    )


def _positions(outcome: Outcome, problem: Problem) -> Any:
    if len(outcome.inliers):
        return outcome.inliers
    if outcome.status in ("time_limit", "interrupted"):
        return np.arange(problem.k)  # stopped before the first subset was scored
    raise ValueError(
        f"{problem.objective.name} is undefined on every subset of {problem.k} points: in each of "
        "them x or y is constant"
    )


def _message(outcome: Outcome, problem: Problem, reason: str) -> str:
    from quadsweep.answers.result import CERTIFICATE

    text = CERTIFICATE[outcome.status].format(k=problem.k, n=problem.n)
    return " ".join(filter(None, [text[0].upper() + text[1:] + ".", reason]))

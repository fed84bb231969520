"""Many data sets with several predictors: one a thread, each by the method that `auto` takes.

Where there are more predictors than the engine takes, answers are those of concentration. For a
test by shuffling that is enough: the same procedure is applied to the data and to every shuffle.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from quadsweep.arrays import Floats
from quadsweep.clock import Clock
from quadsweep.solving.methods.problem import Outcome, Problem
from quadsweep.solving.methods.regression.certified import provable, search
from quadsweep.solving.methods.regression.choice import best


def problems(
    problem: Problem, x: Floats, y: Floats, weights: Floats | None, k: int
) -> list[Problem]:
    """The problem's question about other data: x of shape (T, n, p) or (n, p), y (T, n)."""
    xs = np.broadcast_to(x, (*y.shape, x.shape[-1]))
    ws = [None] * len(y) if weights is None else np.broadcast_to(weights, y.shape)
    return [
        replace(problem, x=np.ascontiguousarray(u), y=np.ascontiguousarray(v), weights=w, k=k)
        for u, v, w in zip(xs, y, ws, strict=True)
    ]


def solve_each(asked: list[Problem], jobs: int, seconds: float) -> list[Outcome]:
    """The best subset of each; none where the time came first."""
    clock = Clock(seconds)
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda problem: _solved(problem, clock), asked))


def reach_each(asked: list[Problem], least: Floats, jobs: int, seconds: float) -> NDArray[np.int8]:
    """Whether some subset of each passes a value: 1 yes, 0 no, -1 if a limit came first."""
    clock = Clock(seconds)
    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(_reaches, asked, least.tolist(), [clock] * len(asked)))
    return np.array(answers, dtype=np.int8)


def _solved(problem: Problem, clock: Clock) -> Outcome:
    if clock.left() == 0:
        none = np.array([], dtype=np.int64)
        return Outcome(none, math.nan, math.nan, "time_limit", 0)
    return best(replace(problem, n_jobs=1, time_limit=clock.left()))


def _reaches(problem: Problem, goal: float, clock: Clock) -> int:
    if clock.left() == 0:
        return -1
    limited = replace(problem, n_jobs=1, time_limit=clock.left())
    if provable(problem.p):
        answer = search(limited, above=goal)
        return int(len(answer.inliers) > 0) if answer.decided else -1
    found, sense = best(limited), problem.objective.sense
    if found.status in ("time_limit", "memory_limit", "interrupted"):
        return -1
    return int(len(found.inliers) > 0 and sense * found.value > sense * goal)

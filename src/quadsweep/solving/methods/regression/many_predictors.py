"""The best subset that concentration steps find, and what no subset passes: any number of
predictors, every bound there is, the best of them counts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from quadsweep.solving.methods.problem import Outcome, Problem, Watch
from quadsweep.solving.methods.regression.ball_bound import BallBound
from quadsweep.solving.methods.regression.concentrate import concentrate
from quadsweep.solving.methods.regression.outside import outside_bounds
from quadsweep.solving.methods.regression.placement import Rows, place_rows
from quadsweep.solving.methods.regression.row_bound import MOST_BYTES, RowBound, least_memory

_TRIED = 12  # bounds of R2, from above,
_SHRINK = 0.05  # each at least this share of the last one that holds,
_NEAR = 1.05  # until the last that does not is as near as this


def bounded(problem: Problem) -> Outcome:
    """The best subset that concentration steps find, and what no subset passes."""
    watch = Watch(problem)
    found = concentrate(problem)
    if found.status != "heuristic" or not len(found.inliers):
        return found
    sense = problem.objective.sense
    try:
        bound = _bound(problem, found, watch)
    except KeyboardInterrupt:
        return replace(found, status="interrupted")
    bound = sense * max(sense * bound, sense * found.value)
    near = problem.tol * (1.0 if sense > 0 else abs(found.value))
    status = "optimal" if sense * (bound - found.value) <= near else watch.status
    return replace(found, bound=bound, status=status, nodes=found.nodes + watch.nodes)


def _bound(problem: Problem, found: Outcome, watch: Watch) -> float:
    trivial, watch.value = problem.trivial_bound, found.value
    if found.value == trivial:
        return trivial
    with np.errstate(all="ignore"):
        try:
            rows = place_rows(problem, found.inliers)
            if rows is None:
                return trivial
            if problem.objective.name == "lts":
                return _least_sum(problem, rows, watch)
            return _most_r2(problem, rows, watch)
        except np.linalg.LinAlgError:  # not finite
            return trivial


def _least_sum(problem: Problem, rows: Rows, watch: Watch) -> float:
    """What no residual sum of squares is less than."""
    bound = max(BallBound(rows, watch.value, outside_bounds(rows)).least(watch), 0.0)
    if bound < watch.value and (by_rows := _row_bound(problem, rows)) is not None:
        bound = max(bound, by_rows.least_sum(watch.value, watch))
    return bound


def _most_r2(problem: Problem, rows: Rows, watch: Watch) -> float:
    """What no R2 passes: the least bound above the value that the ball proves, from above, if that
    is less than the one by rows."""
    value, tol, outside = watch.value, problem.tol, outside_bounds(rows)
    low, high = 0.0, 1 - value  # above the value: what is not proved, what is
    if (by_rows := _row_bound(problem, rows)) is not None:
        high = by_rows.most_r2(value, 1.0, tol, watch) - value
    above = 0.5 * max(tol, 1e-12)
    for _ in range(_TRIED):
        if above >= high or not watch.goes_on():
            break
        less, credit = rows.with_credit(value + above)
        ball = BallBound(less, 0.0, [one.less(credit) for one in outside])
        if ball.least(watch) >= 0:
            high = above
        else:
            low = above
        if high <= tol or high <= _NEAR * low:
            break
        above = max(high * _SHRINK, math.sqrt(low * high))
    return value + high


def _row_bound(problem: Problem, rows: Rows) -> RowBound | None:
    """None where it is no bound, or takes too much memory."""
    if not least_memory(problem.n) <= min(MOST_BYTES, problem.memory_limit / 2):
        return None
    bound = RowBound(rows, problem.n_jobs)
    return bound if bound.works else None

"""The best subset that concentration steps find, and what no subset passes: any number of
predictors, every bound there is, the best of them counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.clock import Clock
from quadsweep.solving.methods.problem import Outcome, Problem, Watch
from quadsweep.solving.methods.regression.ball_bound import BallBound
from quadsweep.solving.methods.regression.concentrate import concentrate
from quadsweep.solving.methods.regression.outside import Outside, outside_bounds
from quadsweep.solving.methods.regression.placement import UNIT, Rows, place_rows
from quadsweep.solving.methods.regression.row_bound import MOST_BYTES, RowBound, least_memory
from quadsweep.solving.methods.regression.sweep import MOST_BYTES as MOST_SWEPT
from quadsweep.solving.methods.regression.sweep import PATIENCE, Sweep, SweepGoal
from quadsweep.solving.methods.regression.sweep import least_memory as least_sweep_memory

_TRIED = 12  # bounds of R2, from above,
_SHRINK = 0.05  # each at least this share of the last one that holds,
_NEAR = 1.05  # until the last that does not is as near as this

SECONDS = 20.0  # of spheres where no time is given
_SHARES = (0.9, 0.97, 0.99, 0.999, 1.0)  # of the value, to which spheres raise the bound
_FIRST = 0.3  # of the gap of R2, which spheres try to prove first
_LEAST_INNER = 1e-4  # of the outer radius, that the ball must reach


def bounded(problem: Problem, spheres: bool = True) -> Outcome:
    """The best subset that concentration steps find, and what no subset passes."""
    clock = Clock(problem.time_limit)
    found = concentrate(problem)
    if found.status != "heuristic" or not len(found.inliers):
        return found
    problem = problem.changed(time_limit=clock.time_left())
    return _bounded(problem, found, [_bound_by_balls, *[_bound_by_spheres] * spheres])


def bounded_by_spheres(problem: Problem, found: Outcome) -> Outcome:
    """A subset with a closer bound."""
    return _bounded(problem, found, [_bound_by_spheres])


Step = Callable[[Problem, Rows, Watch], None]


def _bounded(problem: Problem, found: Outcome, steps: list[Step]) -> Outcome:
    watch = Watch(problem)
    watch.value, watch.bound = found.value, found.bound
    sense = problem.objective.sense
    near = problem.tol * (1.0 if sense > 0 else abs(found.value))
    try:
        improve_bound(problem, found.inliers, steps, watch)
    except KeyboardInterrupt:
        watch.status = "interrupted"
    bound = sense * max(sense * watch.bound, sense * found.value)
    status = "optimal" if sense * (bound - found.value) <= near else watch.status
    return replace(found, bound=bound, status=status, nodes=found.nodes + watch.nodes)


def improve_bound(problem: Problem, inliers: Ints, steps: list[Step], watch: Watch) -> None:
    """Improve the bound of the watch, which is valid at any time, until it is near the value."""
    with np.errstate(all="ignore"):
        try:
            rows = place_rows(problem, inliers)
            for step in steps:
                unit = 1.0 if problem.objective.sense > 0 else abs(watch.value)
                if rows is None or not watch.goes_on():
                    return
                if abs(watch.bound - watch.value) > problem.tol * unit:
                    step(problem, rows, watch)
        except np.linalg.LinAlgError:  # not finite
            return


def _bound_by_balls(problem: Problem, rows: Rows, watch: Watch) -> None:
    """By rows, and by quadratics in the ball, which need no search."""
    outside = outside_bounds(rows)
    if problem.objective.name == "r2":
        if (by_rows := _row_bound(problem, rows)) is not None:
            watch.bound = by_rows.most_r2(watch.value, 1.0, problem.tol, watch)
        _lower_by_balls(rows, outside, problem.tol, watch)
        return
    watch.bound = max(BallBound(rows, watch.value, outside).least(watch), watch.bound)
    if watch.bound < watch.value and (by_rows := _row_bound(problem, rows)) is not None:
        watch.bound = max(watch.bound, by_rows.least_sum(watch.value, watch))


def _bound_by_spheres(problem: Problem, rows: Rows, watch: Watch) -> None:
    """By quartics on spheres, as long as there is time."""
    columns = problem.p + problem.intercept
    if least_sweep_memory(problem.n, columns, problem.n_jobs) > min(
        MOST_SWEPT, problem.memory_limit / 2
    ):
        return
    if math.isinf(problem.time_limit):
        watch.allow(SECONDS)
    if problem.objective.name == "r2":
        _lower_by_spheres(problem, rows, outside_bounds(rows), watch)
    else:
        _raise_by_spheres(problem, rows, outside_bounds(rows), watch)


def _raise_by_spheres(problem: Problem, rows: Rows, outside: list[Outside], watch: Watch) -> None:
    """Raise the bound to one share of the value after the other, then with more patience."""
    sweep = Sweep(rows, problem.n_jobs)
    shares, patience = list(_SHARES), PATIENCE
    while shares and watch.goes_on():
        goal = shares[0] * watch.value
        ball = BallBound(rows, goal, outside)
        if ball.enough > watch.bound:
            found = _sweep(sweep, ball, patience, watch.bound, watch)
            watch.bound = max(watch.bound, found)
        if watch.bound >= ball.enough:
            shares.pop(0)
        elif not math.isfinite(ball.radius):
            break
        else:
            patience *= 2


def _sweep(sweep: Sweep, ball: BallBound, patience: int, floor: float, watch: Watch) -> float:
    """The goal of the ball, or a smaller sum above the floor that is reached; else -inf."""
    inner = ball.reach(watch, ball.radius) if math.isfinite(ball.radius) else 0.0
    if not inner > _LEAST_INNER * ball.radius:
        return -math.inf
    goal = SweepGoal(ball.goal, floor, inner, ball.radius, patience)
    return min(sweep.least(goal, watch), ball.enough)


def _lower_by_balls(rows: Rows, outside: list[Outside], tol: float, watch: Watch) -> None:
    """Lower the bound to the least that the ball proves, from above."""
    value = watch.value
    low, high = 0.0, watch.bound - value  # above the value: what is not proved, what is
    above = 0.5 * max(tol, 1e-12)
    for _ in range(_TRIED):
        if above >= high or not watch.goes_on():
            break
        if _ball_without(rows, outside, value + above).least(watch) >= 0:
            high = above
        else:
            low = above
        if high <= tol or high <= _NEAR * low:
            break
        above = max(high * _SHRINK, math.sqrt(low * high))
    watch.bound = min(watch.bound, value + high)


def _ball_without(rows: Rows, outside: list[Outside], r2: float) -> BallBound:
    """The ball for the sum of squares less credits, negative where R2 is larger than that."""
    less, credit = rows.with_credit(r2)
    return BallBound(less, 0.0, [one.less(credit) for one in outside])


def _lower_by_spheres(problem: Problem, rows: Rows, outside: list[Outside], watch: Watch) -> None:
    """Lower the bound by sweeps: a share of the gap, then between what is proved and what is not.

    Where sums S = RSS - (1 - t) Q, Q the sum of y^2 about a fixed mean, are at least -D, they are
    at least 0 for t + D / Q instead of t.
    """
    value = watch.value
    k = len(rows.r) - rows.gone
    least = float(np.sort(rows.y**2)[:k].sum()) - 4 * len(rows.r) * UNIT * rows.y_size
    low, patience = 0.0, PATIENCE
    while watch.goes_on() and watch.bound - value > problem.tol:
        high = watch.bound - value
        above = math.sqrt(low * high) if low > 0 else _FIRST * high
        ball = _ball_without(rows, outside, value + above)
        if not math.isfinite(ball.radius):
            break
        floor = -(high - above) * max(least, 0.0)
        found = _sweep(Sweep(ball.rows, problem.n_jobs), ball, patience, floor, watch)
        if found >= 0:
            watch.bound = value + above
            continue
        if found > floor:
            watch.bound = min(watch.bound, value + above - found / least * (1 + 1e-9))
        low = above
        if watch.bound - value <= _NEAR * low:
            low, patience = low / 2, 4 * patience


def _row_bound(problem: Problem, rows: Rows) -> RowBound | None:
    """None where it is no bound, or takes too much memory."""
    if not least_memory(problem.n) <= min(MOST_BYTES, problem.memory_limit / 2):
        return None
    bound = RowBound(rows, problem.n_jobs)
    return bound if bound.works else None

"""The certified engine for several predictors: the best subset, with a proof.

Boxes of the p + 1 coefficients of a hyperplane, one frame for each column so that no slope is too
steep; the bound of a box is at one of its 2^(p+1) corners. The code is in ``_core``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Ints
from quadsweep.clock import Clock
from quadsweep.least_squares import hides_rows
from quadsweep.solving.methods.problem import Outcome, Problem, SearchOutcome
from quadsweep.solving.methods.regression.exhaustive import score
from quadsweep.solving.methods.regression.many_predictors import bounded, bounded_by_spheres

MOST = 5  # predictors that are proved without being asked, whatever it takes
MOST_ASKED = 10  # predictors that are compiled
FIRST_SECONDS = 2.0  # of boxes for more than MOST, before the bound that needs none
SECONDS = 60.0  # of boxes after it where no time is given and at most a quarter of the rows goes
_MOST_CORNERS = 1 << 24  # times rows, in one box: 128 MB


def provable(p: int) -> bool:
    """Whether a proof is tried of itself with so many predictors."""
    return p <= MOST


def beyond(problem: Problem) -> bool:
    """Whether 32 digits prove nothing about some rows beside others.

    A fit passes through as many sentinels as it has coefficients; the rest of the k rows count.
    """
    rows = problem.k - problem.p - 1
    return hides_rows(problem.x, problem.y, problem.weights, problem.intercept, rows)


def certified(problem: Problem) -> Outcome:
    """The best subset of exactly k rows; with many predictors by boxes only where what is quicker
    proves nothing."""
    if provable(problem.p):
        return search(problem)
    return _in_turns(problem, math.inf)


def quickly(problem: Problem) -> Outcome:
    """What `auto` takes with many predictors: boxes as long as there is time, or for a minute, and
    the bound that needs none."""
    corners = problem.n << min(problem.p + 1, MOST_ASKED + 1)
    if math.isfinite(problem.most_boxes):  # what seconds reach differs between machines
        return bounded(problem, spheres=False)
    if problem.p > MOST_ASKED or corners > _MOST_CORNERS or beyond(problem):
        return bounded(problem)
    few_dropped = 4 * (problem.n - problem.k) <= problem.n
    return _in_turns(problem, SECONDS if few_dropped else 0.0)


def _in_turns(problem: Problem, seconds: float) -> Outcome:
    """Some boxes, which prove what is easy sooner than anything, bounds that need no search, boxes
    for half of the time that is left, and spheres. Where no time is given boxes
    go on for so many seconds."""
    clock = Clock(problem.time_limit)
    given = math.isfinite(problem.time_limit)
    limit = min(problem.time_limit / 4, FIRST_SECONDS)
    found: Outcome = search(problem.changed(time_limit=limit))
    boxes = found.status == "time_limit"
    turns = [(_by_balls, 0.5 if given else math.inf)]
    if boxes and (given or seconds > 0):
        turns += [(_by_boxes, 0.5 if given else seconds)]
    turns += [(bounded_by_spheres, 1.0 if given else math.inf)]
    if boxes and given:
        turns += [(_by_boxes, 1.0)]
    for method, share in turns:
        if found.status in ("optimal", "interrupted") or clock.time_left() == 0:
            break
        limit = clock.time_left() * share if given else share
        found = _both(problem, found, method(problem.changed(time_limit=limit), found))
    if not given and found.status == "time_limit":
        return replace(found, status="heuristic")
    return found


def _by_balls(problem: Problem, found: Outcome) -> Outcome:
    return bounded(problem, spheres=False)


def _by_boxes(problem: Problem, found: Outcome) -> Outcome:
    return search(problem, starts=[found.inliers])


def _both(problem: Problem, first: Outcome, then: Outcome) -> Outcome:
    """The better subset of two outcomes and the better bound; how it ended, by the second."""
    if then.status == "optimal":
        return then
    sense = problem.objective.sense
    best = first if not sense * then.value >= sense * first.value else then
    bound = sense * min(sense * first.bound, sense * then.bound)
    near = problem.tol * (1.0 if sense > 0 else abs(best.value))
    status = "optimal" if sense * (bound - best.value) <= near else then.status
    return Outcome(best.inliers, best.value, bound, status, first.nodes + then.nodes)


def search(
    problem: Problem,
    *,
    k_or_more: bool = False,
    above: float | None = None,
    starts: Sequence[Ints] = (),
) -> SearchOutcome:
    """The engine's other forms, as :func:`quadsweep.solving.methods.certified.search` has them."""
    clock = Clock(problem.time_limit)
    found = _core.regression_fit(
        problem.x,
        problem.y,
        problem.k,
        objective=problem.objective.name,
        intercept=problem.intercept,
        tol=problem.tol,
        k_or_more=k_or_more,
        above=above,
        starts=[np.asarray(s).tolist() for s in starts],
        seed=problem.seed,
        n_jobs=problem.n_jobs,
        time_limit=problem.time_limit,
        progress=problem.callback,
        weights=problem.weights,
        groups=None,
        memory_limit=problem.memory_limit,
        most_boxes=problem.most_boxes,
    )
    outcome = SearchOutcome(
        np.asarray(found["inliers"], dtype=np.int64),
        float(found["value"]),
        float(found["bound"]) + 0.0,
        str(found["status"]),
        int(found["nodes"]),
        float(found["n_evaluations"]),
        bool(found["decided"]),
    )
    if len(outcome.inliers) and not math.isfinite(outcome.value):  # time was over before that
        outcome = replace(outcome, value=problem.fitted(outcome.inliers))
    unclear = [np.asarray(rows, dtype=np.int64) for rows in found["unclear"]]
    if above is not None and outcome.value == above:  # 32 digits do not tell whether it is passed
        unclear = [outcome.inliers]
    if unclear:
        outcome = _settled(problem, outcome, unclear, above, clock)
    if outcome.status == "optimal" and outcome.decided and beyond(problem):
        return replace(outcome, bound=problem.trivial_bound, status="heuristic", decided=False)
    return outcome


def _settled(
    problem: Problem,
    outcome: SearchOutcome,
    unclear: Sequence[Ints],
    above: float | None,
    clock: Clock,
) -> SearchOutcome:
    """The outcome with those subsets scored exactly that 32 digits do not tell.

    ``bound`` holds for all others, so that it and the best of these hold for all.
    """
    sense = problem.objective.sense
    if above is not None:
        passes = sense * score(problem, unclear[0]) > sense * above
        none = np.array([], dtype=np.int64)
        return outcome if passes else replace(outcome, inliers=none, decided=False)
    best, value, bound = outcome.inliers, outcome.value, outcome.bound
    if any(np.array_equal(best, rows) for rows in unclear):
        value = score(problem, best)
    for rows in unclear:
        if clock.time_left() == 0:
            limit = problem.trivial_bound
            return replace(outcome, inliers=best, value=value, bound=limit, status="time_limit")
        exact = score(problem, rows)
        if exact == exact and not sense * exact < sense * value:
            best, value = rows, exact
    if len(best):
        bound = sense * max(sense * bound, sense * value)
    return replace(outcome, inliers=best, value=value, bound=bound)

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
from quadsweep.solving.methods.regression.truncated import bounded

MOST = 5  # predictors that are proved without being asked
MOST_ASKED = 8  # predictors that are compiled


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
    """The best subset of exactly k rows; with many predictors by boxes only where the bound that
    needs none is not reached."""
    if provable(problem.p):
        return search(problem)
    clock, sense = Clock(problem.time_limit), problem.objective.sense
    quick = bounded(problem)
    if quick.status != "heuristic":
        return quick
    found = search(problem.changed(time_limit=clock.left()), starts=[quick.inliers])
    bound = sense * min(sense * found.bound, sense * quick.bound)
    return found if found.status == "optimal" else replace(found, bound=bound)


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
        if clock.left() == 0:
            limit = problem.trivial_bound
            return replace(outcome, inliers=best, value=value, bound=limit, status="time_limit")
        exact = score(problem, rows)
        if exact == exact and not sense * exact < sense * value:
            best, value = rows, exact
    if len(best):
        bound = sense * max(sense * bound, sense * value)
    return replace(outcome, inliers=best, value=value, bound=bound)

"""The certified engine for several predictors: the best subset, with a proof.

Boxes of the p + 1 coefficients of a hyperplane, one frame for each column so that no slope is too
steep; the bound of a box is at one of its 2^(p+1) corners. The code is in ``_core``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Ints
from quadsweep.least_squares import too_wide
from quadsweep.solving.methods.problem import Outcome, Problem, SearchOutcome

MOST = 5  # predictors that are compiled
_ENGINE: Any = getattr(_core, "several_fit", None)


def provable(p: int) -> bool:
    """Whether the engine takes so many predictors."""
    return p <= MOST and _ENGINE is not None


def beyond(problem: Problem) -> bool:
    """Whether sentinels dwarf a column so that 32 digits prove nothing about the other rows.

    A fit passes through as many sentinels as it has coefficients; the rest of the k rows count.
    """
    rows = problem.k - problem.p - 1
    return too_wide(problem.x, rows) or too_wide(problem.y[:, None], rows)


def certified(problem: Problem) -> Outcome:
    """The best subset of exactly k rows."""
    return search(problem)


def search(
    problem: Problem,
    *,
    at_most: bool = False,
    above: float | None = None,
    starts: Sequence[Ints] = (),
) -> SearchOutcome:
    """The engine's other forms, as :func:`quadsweep.solving.methods.certified.search` has them."""
    found = _ENGINE(
        problem.x,
        problem.y,
        problem.k,
        objective=problem.objective.name,
        intercept=problem.intercept,
        tol=problem.tol,
        at_least=at_most,
        above=above,
        starts=[np.asarray(s).tolist() for s in starts],
        seed=problem.seed,
        n_jobs=problem.n_jobs,
        time_limit=problem.time_limit,
        progress=problem.callback,
        weights=problem.weights,
        groups=None,
    )
    bound, status, decided = float(found["bound"]), str(found["status"]), bool(found["decided"])
    if status == "optimal" and beyond(problem):
        bound, status, decided = 1.0 if problem.objective.sense > 0 else 0.0, "heuristic", False
    return SearchOutcome(
        np.asarray(found["inliers"], dtype=np.int64),
        float(found["value"]),
        bound,
        status,
        int(found["nodes"]),
        float(found["nodes"]),
        decided,
    )

"""Which method answers a question of several predictors, and up to where proofs go."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quadsweep.arrays import Ints
from quadsweep.messages import argument
from quadsweep.solving.methods.problem import CHOICES, Outcome, Problem
from quadsweep.solving.methods.regression.certified import (
    MOST,
    MOST_ASKED,
    SECONDS,
    beyond,
    provable,
    search,
)

EXHAUSTIVE_LIMIT = 20_000  # subsets listed in about a quarter of a second
MOST_LISTED = 3_000_000  # subsets that `exhaustive` takes when asked for


def choose(method: str, problem: Problem) -> str:
    """The method to run, or a ValueError that says what can be done instead."""
    if method not in CHOICES:
        raise ValueError(
            f"{argument('method')} must be one of {', '.join(CHOICES)}; got {method!r}"
        )
    if method == "auto":
        if provable(problem.p) and not beyond(problem):
            return "certified"
        if _subsets(problem) <= EXHAUSTIVE_LIMIT:
            return "exhaustive"
        return "concentrate" if provable(problem.p) else "bounded"
    if method in ("sweep", "naive"):
        raise ValueError(
            f"{method} takes one predictor with an intercept and no weights; exhaustive lists all "
            "subsets in less time than a sweep of several columns"
        )
    if method == "certified" and problem.p > MOST_ASKED:
        raise ValueError(
            f"certified takes up to {MOST_ASKED} predictors; got {problem.p} (auto takes any "
            "number, with a bound)"
        )
    return method


def best(problem: Problem, starts: Sequence[Ints] = ()) -> Outcome:
    """What `auto` finds, from some subsets to start from; no bound where there is no search."""
    from quadsweep.solving.methods.regression import METHODS

    method = choose("auto", problem)
    if method == "certified":
        return search(problem, starts=starts)
    return METHODS["concentrate" if method == "bounded" else method](problem)


def remark(method: str, problem: Problem) -> str:
    """Up to where proofs go, where that is why `auto` has none."""
    if method == "concentrate":
        return (
            "Sentinels, weights far apart or columns that nearly depend on each other are beyond "
            f"32 digits; then proofs go up to {EXHAUSTIVE_LIMIT:,} subsets."
        )
    if method != "bounded":
        return ""
    return (
        f"Searches go up to {MOST} predictors and, for {SECONDS:.0f} seconds or as long as "
        f"{argument('time_limit')} says, to {MOST_ASKED}; with {problem.p} there is a bound, and "
        "a proof where it is reached."
    )


def _subsets(problem: Problem) -> float:
    """C(n, k), infinite where it is out of all reach."""
    few = min(problem.k, problem.n - problem.k)
    return math.comb(problem.n, problem.k) if few <= 40 and problem.n <= 2000 else math.inf

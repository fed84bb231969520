"""All C(n, k) subsets, about two nanoseconds each: the ground truth for small n."""

from __future__ import annotations

from quadsweep.solving.methods.problem import Outcome, Problem, compiled


def exhaustive(problem: Problem) -> Outcome:
    """Score every subset; see ``_core/plane/exhaustive.cpp``."""
    return compiled("exhaustive", problem)

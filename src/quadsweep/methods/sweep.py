"""TODO"""

from __future__ import annotations

from quadsweep.methods.problem import Outcome, Problem, compiled


def sweep(problem: Problem) -> Outcome:
    """See ``_core/sweep.cpp``."""
    return compiled("sweep", problem)

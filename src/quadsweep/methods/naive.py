"""TODO"""

from __future__ import annotations

from quadsweep.methods.problem import Outcome, Problem, compiled


def naive(problem: Problem) -> Outcome:
    """See ``_core/naive.cpp``."""
    return compiled("naive", problem)

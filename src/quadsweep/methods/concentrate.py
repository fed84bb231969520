"""TODO"""

from __future__ import annotations

from quadsweep.methods.problem import Outcome, Problem, compiled


def concentrate(problem: Problem) -> Outcome:
    """See ``_core/concentrate.cpp``."""
    return compiled("concentrate", problem)

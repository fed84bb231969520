"""TODO"""

from __future__ import annotations

from quadsweep.methods.problem import Outcome, Problem, compiled


def univariate(problem: Problem) -> Outcome:
    """See ``_core/univariate.cpp``."""
    return compiled("univariate", problem)

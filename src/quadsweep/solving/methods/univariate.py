"""The k numbers of smallest variance in O(n log n): sort, slide a window.

Some best subset is k neighbours in sorted order, because the variance is a concave function of the
subset's sums of x and x^2.
"""

from __future__ import annotations

from quadsweep.solving.methods.problem import Outcome, Problem, compiled


def univariate(problem: Problem) -> Outcome:
    """The best window of the sorted x; see ``_core/plane/univariate.cpp``."""
    return compiled("univariate", problem)

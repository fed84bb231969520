"""Concentration steps: a good subset in a time linear in n, for those who want no proof.

From a subset take its means and centred sums; to first order a point at (u, w) from the mean is
worth 2uw/c - u^2/a - w^2/b (for r2; every objective has such a form). Keep the k points worth most
and repeat while the score rises. Starts are lines through random pairs of points, tried on a
subsample where n is large; the best few are polished on all points.
"""

from __future__ import annotations

from quadsweep.solving.methods.problem import Outcome, Problem, compiled


def concentrate(problem: Problem) -> Outcome:
    """Steps from 500 random starts; see ``_core/plane/concentrate.cpp``."""
    return compiled("concentrate", problem)

"""The best separable subset in n^d log n, by turning pencils of hyperplanes.

Under a lift to d dimensions a conic is a hyperplane. Every subset that a hyperplane cuts off is met
at some plane through d of the lifted points: it is one side of the plane with some of those d. The
planes through d - 1 points form a pencil with one angle; sort the other points by the angle at
which the plane meets them, turn once, and keep the moments of the two sides up to date. Points that
tie are taken together, so that nothing is lost on lattices, duplicates or points on one conic.

For ``tv``, ``var``, ``lts`` and ``mcd`` some best subset is separable. For the other objectives
that is the paper's conjecture, which fails on rare data; and planes turned in floating point prove
nothing about points that nearly coincide: the status is ``best_separable``, not ``optimal``.
"""

from __future__ import annotations

from quadsweep.solving.methods.problem import Outcome, Problem, compiled


def sweep(problem: Problem) -> Outcome:
    """Under the objective's natural lift; see ``_core/paper/sweep.cpp``."""
    return compiled("sweep", problem)

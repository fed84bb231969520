"""The paper's naive quadratic sweep, n^(d+1) log n.

For every d lifted points P, the plane through them; the other points sorted by their distance from
it; as candidates every part of P with the first of the others, from either end. Three things the
paper's text or code gets wrong are right here: parts of every size from 0 to d, both directions,
and the senses of the objectives.

:func:`quadsweep.naive_sweep` is the same for any lift and any score.
"""

from __future__ import annotations

from quadsweep.solving.methods.problem import Outcome, Problem, compiled


def naive(problem: Problem) -> Outcome:
    """Under the objective's natural lift; see ``_core/paper/naive.cpp``."""
    return compiled("naive", problem)

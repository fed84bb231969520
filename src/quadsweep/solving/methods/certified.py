"""The certified engine: the best subset, with a proof and no conjecture.

Branch and bound over the slope and intercept of a line (for ``tv``, the centre of a circle). A box
of parameters is closed when a lower bound shows that no subset with its own parameters in the box
beats the best one known; points that no such subset can contain, or do without, are decided for the
whole box. The theory is in ``docs/theory/plane.md``, the code in ``_core/plane/``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Ints
from quadsweep.solving.methods.problem import Problem, SearchOutcome
from quadsweep.solving.methods.regression.certified import search as regression_search


def search(
    problem: Problem,
    *,
    k_or_more: bool = False,
    above: float | None = None,
    starts: Sequence[Ints] = (),
    starting_lines: int = 0,
    enumerate_up_to: int = 200,
    cells: bool = True,
) -> SearchOutcome:
    """The engine's other forms, for the layers above.

    Parameters
    ----------
    k_or_more : bool
        Keep k or more points, that is, remove at most n - k.
    above : float, optional
        Only ask whether some subset has a better value than this: stops at the first one.
    starts : sequence of index arrays
        Subsets to start from.
    starting_lines : int
        Random starts; 0 for the default number.
    enumerate_up_to : int
        A box with no more subsets than this is closed by listing them.
    cells : bool
        False looks at points one by one, for checks.

    Examples
    --------
    >>> import numpy as np
    >>> from quadsweep.objectives import get
    >>> x, y = np.arange(5.0), np.array([0.0, 1, 7, 3, 4])
    >>> search(Problem(x, y, 4, get("r2")), above=0.99).inliers.tolist()
    [0, 1, 3, 4]
    >>> answer = search(Problem(x, y, 5, get("r2")), above=0.99)
    >>> answer.inliers.tolist(), answer.decided
    ([], True)
    """
    if problem.several:
        return regression_search(problem, k_or_more=k_or_more, above=above, starts=starts)
    found, n_evaluations, decided = _core.certified(
        problem.x,
        problem.y,
        problem.k,
        problem.objective.name,
        problem.tol,
        problem.time_limit,
        problem.n_jobs,
        problem.seed,
        problem.callback,
        k_or_more,
        math.nan if above is None else above,
        [np.asarray(s).tolist() for s in starts],
        starting_lines,
        enumerate_up_to,
        cells,
        problem.memory_limit,
    )
    return SearchOutcome(*found, n_evaluations, decided)

"""What every method is given and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.objectives import Objective

Callback = Callable[[float, float, int, float], object]


@dataclass(frozen=True)
class Problem:
    """Clean points and the question asked of them.

    ``callback(value, bound, nodes, seconds)`` is called about twenty times a second; returning
    False stops the method, which then answers ``interrupted``. ``memory_limit``, in bytes, is for
    what a search has still to look at.
    """

    x: Floats
    y: Floats
    k: int
    objective: Objective
    tol: float = 1e-9
    time_limit: float = math.inf
    n_jobs: int = 1
    seed: int = 0
    callback: Callback | None = None
    memory_limit: float = math.inf

    @property
    def n(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class Outcome:
    """A method's answer: positions of the kept points (empty if no subset has a value).

    ``status`` is one of a Result's, or ``memory_limit``.
    """

    inliers: Ints
    value: float
    bound: float
    status: str
    nodes: int


Method = Callable[[Problem], Outcome]


def compiled(method: str, problem: Problem) -> Outcome:
    """Run a method of the compiled core."""
    return Outcome(
        *_core.solve(
            problem.x,
            problem.y,
            problem.k,
            problem.objective.name,
            method,
            problem.tol,
            problem.time_limit,
            problem.n_jobs,
            problem.seed,
            problem.callback,
            problem.memory_limit,
        )
    )

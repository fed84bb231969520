"""Many data sets of one shape, and one question asked of all of them: threads inside.

Shuffles, resamples, pairs of columns and users' own batches all come down to this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quadsweep import _core
from quadsweep.arrays import Floats, Mask
from quadsweep.methods.choice import choose
from quadsweep.methods.problem import Problem
from quadsweep.objectives import Objective

_FEW_LINES = 2  # random starts of a decision: most are settled by the first


@dataclass(frozen=True)
class BatchOutcome:
    """What a method gives back for each of T data sets; NaN where no subset has a value."""

    values: Floats
    bounds: Floats
    masks: Mask
    status: NDArray[np.str_]
    nodes: NDArray[np.uint64]

    @property
    def proved(self) -> Mask:
        """Where the answer is the best, and known to be."""
        return np.asarray(self.status == "optimal")


@dataclass(frozen=True)
class Batch:
    """T data sets of n points, one a row of x and y, and the question asked of each."""

    x: Floats
    y: Floats
    k: int
    objective: Objective
    tol: float = 1e-9
    time_limit: float = math.inf
    n_jobs: int = 1
    seed: int = 0

    @classmethod
    def like(
        cls, problem: Problem, x: Floats, y: Floats, time_limit: float, k: int | None = None
    ) -> Batch:
        """The problem's question about other data; one row for x serves every row of y."""
        if x.ndim < y.ndim:
            x = np.broadcast_to(x, y.shape)
        return cls(
            np.ascontiguousarray(x),
            np.ascontiguousarray(y),
            problem.k if k is None else k,
            problem.objective,
            problem.tol,
            time_limit,
            problem.n_jobs,
            problem.seed,
        )

    def solve(self, method: str = "auto") -> BatchOutcome:
        """The best subset of each."""
        chosen = choose(method, self.objective, self.x.shape[1], self.k)
        values, bounds, masks, codes, nodes = _core.solve_many(
            self.x, self.y, self.k, self.objective.name, chosen, self.tol, self.time_limit,
            self.n_jobs, self.seed,
        )  # fmt: skip
        inside = masks.astype(bool)
        empty = ~inside.any(axis=1)
        values[empty] = bounds[empty] = np.nan
        return BatchOutcome(values, bounds, inside, np.array(_core.STATUSES)[codes], nodes)

    def reach(self, least: float | Floats) -> NDArray[np.int8]:
        """Whether some subset of each passes a value: 1 yes, 0 no, -1 if a limit came first."""
        return _core.decide_many(
            self.x, self.y, self.k, self.objective.name,
            np.ascontiguousarray(np.broadcast_to(least, len(self.x)), dtype=np.float64),
            self.tol, self.time_limit, self.n_jobs, self.seed, _FEW_LINES,
        )  # fmt: skip


def varied(x: Floats, y: Floats, objective: Objective | None = None) -> Mask:
    """The data sets in which neither column is constant, or none the objective divides by.

    >>> x, y = np.array([[1.0, 2.0], [1.0, 1.0]]), np.array([[0.0, 3.0], [0.0, 3.0]])
    >>> varied(x, y)
    array([ True, False])
    """
    good = np.ones(len(x), dtype=bool)
    for column, needed in (
        (x, objective is None or objective.needs_x),
        (y, objective is None or objective.needs_y),
    ):
        if needed:
            good &= (column != column[:, :1]).any(axis=1)
    return good


def lowered(problem: Problem, value: float) -> float:
    """The value less twice the tolerance, in the objective's units: what is above it ties."""
    p = problem
    return _core.lowered(p.x, p.y, p.k, p.objective.name, value, p.tol)

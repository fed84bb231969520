"""Many data sets of one shape, and one question asked of all of them: threads inside.

Shuffles, resamples, pairs of columns and users' own batches all come down to this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from quadsweep import _core
from quadsweep.arrays import Floats, Mask
from quadsweep.clock import Clock
from quadsweep.objectives import Objective
from quadsweep.solving.methods.problem import Outcome, Problem, choose
from quadsweep.solving.methods.regression.choice import best


@dataclass(frozen=True, eq=False)
class BatchOutcome:
    """What a method gives back for each of T data sets; NaN where no subset has a value."""

    values: Floats
    bounds: Floats
    masks: Mask
    status: NDArray[np.str_]
    nodes: NDArray[np.uint64]

    @classmethod
    def from_outcomes(cls, found: Sequence[Outcome], n: int) -> BatchOutcome:
        """Gather the outcomes of problems with n rows each."""
        masks = np.zeros((len(found), n), dtype=bool)
        for mask, outcome in zip(masks, found, strict=True):
            mask[outcome.inliers] = True
        return cls(
            np.array([outcome.value for outcome in found]),
            np.array([outcome.bound for outcome in found]),
            masks,
            np.array([outcome.status for outcome in found]),
            np.array([outcome.nodes for outcome in found], dtype=np.uint64),
        )

    @property
    def proved(self) -> Mask:
        """Where the answer is the best, and known to be."""
        return np.asarray(self.status == "optimal")

    @property
    def finished(self) -> Mask:
        """Where no limit came first: proved, or found by a method that proves nothing."""
        return np.asarray((self.status == "optimal") | (self.status == "heuristic"))


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
    def from_problem(
        cls,
        problem: Problem,
        x: Floats,
        y: Floats,
        time_limit: float,
        k: int | None = None,
        weights: Floats | None = None,
    ) -> Batch:
        """The problem's question about other data; one row for x serves every row of y."""
        if problem.several:
            size = problem.k if k is None else k
            w = problem.weights if weights is None else weights
            return RegressionBatch.of_problem(problem, x, y, w, size, time_limit)
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

    @property
    def count(self) -> int:
        """Data sets."""
        return len(self.x)

    @property
    def n(self) -> int:
        """Points of each."""
        return int(self.x.shape[1])

    def part(self, which: slice) -> Batch:
        """Some of the data sets."""
        return replace(self, x=self.x[which], y=self.y[which])

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


@dataclass(frozen=True)
class RegressionBatch(Batch):
    """T data sets with several predictors each, one a thread, by the method that `auto` takes.

    Where there are more predictors than the engine takes, answers are those of concentration. For
    a test by shuffling that is enough: the same procedure is applied to the data and to every
    shuffle.
    """

    problems: tuple[Problem, ...] = ()

    @property
    def count(self) -> int:
        return len(self.problems)

    @property
    def n(self) -> int:
        return self.problems[0].n

    def part(self, which: slice) -> RegressionBatch:
        return replace(self, problems=self.problems[which])

    @classmethod
    def of_problem(
        cls, problem: Problem, x: Floats, y: Floats, weights: Floats | None, k: int, limit: float
    ) -> RegressionBatch:
        """The problem's question about other data: x of shape (T, n, p) or (n, p), y (T, n)."""
        xs = np.broadcast_to(x, (*y.shape, x.shape[-1]))
        ws = [None] * len(y) if weights is None else np.broadcast_to(weights, y.shape)
        asked = tuple(
            replace(problem, x=np.ascontiguousarray(u), y=np.ascontiguousarray(v), weights=w, k=k)
            for u, v, w in zip(xs, y, ws, strict=True)
        )
        p = problem
        return cls(p.x, p.y, k, p.objective, p.tol, limit, p.n_jobs, p.seed, asked)

    def solve(self, method: str = "auto") -> BatchOutcome:
        """The best subset of each."""
        clock = Clock(self.time_limit)
        with ThreadPoolExecutor(self.n_jobs) as pool:
            found = list(pool.map(lambda problem: _solved(problem, clock), self.problems))
        return BatchOutcome.from_outcomes(found, self.n)


def _solved(problem: Problem, clock: Clock) -> Outcome:
    if clock.time_left() == 0:
        none = np.array([], dtype=np.int64)
        return Outcome(none, math.nan, math.nan, "time_limit", 0)
    return best(replace(problem, n_jobs=1, time_limit=clock.time_left()))


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
        if needed and column.ndim == 2:
            good &= (column != column[:, :1]).any(axis=1)
    return good


def correlations(x: Floats, y: Floats, kept: Mask | None = None) -> Floats:
    """Pearson's r of each row of x and y, of the kept entries alone.

    >>> correlations(np.array([[1.0, 2, 3, 9]]), np.array([[3.0, 2, 1, 9]]), np.arange(4)[None] < 3)
    array([-1.])
    """
    weight = np.ones(x.shape) if kept is None else kept.astype(float)
    total = np.maximum(weight.sum(axis=1, keepdims=True), 1)
    u = weight * (x - (weight * x).sum(axis=1, keepdims=True) / total)
    w = weight * (y - (weight * y).sum(axis=1, keepdims=True) / total)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.sqrt((u * u).sum(axis=1)) * np.sqrt((w * w).sum(axis=1))
        r = (u * w).sum(axis=1) / size
    return np.clip(np.where(size > 0, r, np.nan), -1.0, 1.0)


def lowered(problem: Problem, value: float) -> float:
    """The value less twice the tolerance, in the objective's units: what is above it ties."""
    p = problem
    if p.several:
        slack = 2 * max(p.tol, 1e-12)
        return value - slack if p.objective.sense > 0 else value * (1 + slack)
    return _core.lowered(p.x, p.y, p.k, p.objective.name, value, p.tol)

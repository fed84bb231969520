"""All C(n, k) subsets of rows with several predictors: the ground truth for small n.

Subsets are scored in blocks to 32 digits, with what rounding may have added. Where predictors
nearly depend on each other that may be much; every subset that may be the best after that is scored
again in rational arithmetic.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.rational import exact_value
from quadsweep.solving.methods.problem import Outcome, Problem

_BLOCK = 200_000  # numbers in a block of subsets
_MOST_EXACT = 2000  # subsets scored again at most
_TIES = 20  # subsets scored again in any case
_NONE = np.array([], dtype=np.int64)
_ROUNDING = 1e-15  # of a value: a weight's root is rounded, and so is a score
_LEAST = 1e-290  # of a residual sum of squares: smaller ones have lost digits


def exhaustive(problem: Problem) -> Outcome:
    """The best of all subsets."""
    search = Best(problem)
    start = time.perf_counter()
    status = "optimal"
    try:
        for rows in _subsets(problem.n, problem.k, max(1, _BLOCK // (problem.k * problem.p))):
            search.look(rows)
            gone = time.perf_counter() - start
            if problem.callback is not None:
                shown = problem.callback(search.best, problem.trivial_bound, search.nodes, gone)
                if shown is False:
                    status = "interrupted"
                    break
            if gone >= problem.time_limit and search.nodes < math.comb(problem.n, problem.k):
                status = "time_limit"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    return search.outcome(status)


def _subsets(n: int, k: int, block: int) -> Iterator[Ints]:
    """All subsets of k positions, in arrays of up to ``block`` rows."""
    few = min(k, n - k)
    every = combinations(range(n), few)
    while chunk := list(islice(every, block)):
        chosen = np.array(chunk, dtype=np.int64).reshape(len(chunk), few)
        if few == k:
            yield chosen
            continue
        kept = np.ones((len(chunk), n), dtype=bool)
        np.put_along_axis(kept, chosen, False, axis=1)
        yield np.nonzero(kept)[1].reshape(len(chunk), k)


def score(problem: Problem, rows: Ints) -> float:
    """The value of a subset in rational arithmetic, rounded once; NaN where there is none."""
    weights = None if problem.weights is None else problem.weights[rows]
    x, y = problem.x[rows], problem.y[rows]
    return exact_value(x, y, weights, problem.intercept, problem.objective.name)


class Best:
    """The best subset so far and all that may be better than it seems."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.sense = problem.objective.sense
        size = np.abs(problem.y)
        self.unit = int(np.frexp(np.median(size[size > 0]))[1]) if np.any(size > 0) else 0
        self.best, self.nodes = math.nan, 0
        self.unseen = -math.inf  # what subsets that were let go may reach
        self.near: list[tuple[float, float, Ints]] = []  # value, its error, rows

    def look(self, rows: Ints) -> None:
        """Score a block of subsets."""
        self.nodes += len(rows)
        value, error = self._scored(rows)
        known = np.flatnonzero(~np.isnan(value))
        if len(known) == 0:
            return
        safe = self.sense * value[known] - error[known]
        floor = max(safe.max(), self._floor())
        for i in known[self.sense * value[known] + error[known] >= floor]:
            self.near.append((float(value[i]), float(error[i]), rows[i].copy()))
        self._sift()

    def _scored(self, rows: Ints) -> tuple[Floats, Floats]:
        """Values, NaN where there is none, and how far off each may be."""
        p = self.problem
        score, off, exponent = _core.regression_scores(
            p.x, p.y, np.ascontiguousarray(rows), objective=p.objective.name,
            intercept=p.intercept, weights=p.weights,
        )  # fmt: skip
        undefined = np.isneginf(score) & (off == 0)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            unit = 0 if self.sense > 0 else 2 * self.unit
            value = self.sense * np.ldexp(score, exponent - unit)
            error = np.ldexp(off, exponent - unit) + _ROUNDING * np.abs(value)
        if self.sense < 0:
            error = error + _LEAST
        lost = ~np.isfinite(value) | ~np.isfinite(error)
        value, error = np.where(lost, 0.0, value), np.where(lost, np.inf, error)
        return np.where(undefined, np.nan, value), error

    def _floor(self) -> float:
        return max((self.sense * v - e for v, e, _ in self.near), default=-math.inf)

    def _sift(self) -> None:
        floor = self._floor()
        self.near = [c for c in self.near if self.sense * c[0] + c[1] >= floor]
        if len(self.near) > 4 * _MOST_EXACT:
            ordered = sorted(self.near, key=lambda c: -self.sense * c[0])
            self.near = ordered[:_MOST_EXACT]
            self.unseen = max(
                self.unseen, *(self.sense * v + e for v, e, _ in ordered[_MOST_EXACT:])
            )
        best = self.sense * max((self.sense * v for v, _, _ in self.near), default=math.nan)
        self.best = self._as_given(best)

    def outcome(self, status: str) -> Outcome:
        """The best subset by its exact value."""
        bound = self.problem.trivial_bound
        value, rows, reach = math.nan, _NONE, self.unseen
        ordered = sorted(self.near, key=lambda c: -self.sense * c[0])
        for i, (v, error, subset) in enumerate(ordered):
            if i >= _TIES and (error <= 1e-2 * self._tolerance(v) or i >= _MOST_EXACT):
                reach = max(reach, self.sense * v + error)
                continue
            exact = score(self.problem, subset)
            if not math.isnan(exact) and not self.sense * exact <= self.sense * value:
                value, rows = exact, subset
        if status == "optimal" and len(rows):
            bound = self.sense * max(self.sense * value, self._as_given(reach))
            if self.sense * (bound - value) > self._tolerance(value):
                status = "heuristic"
        return Outcome(np.sort(rows), value, bound, status, self.nodes)

    def _tolerance(self, value: float) -> float:
        return self.problem.tol * (1.0 if self.sense > 0 else abs(value))

    def _as_given(self, value: float) -> float:
        """A residual sum of squares in the units of the data."""
        return value if self.sense > 0 else float(np.ldexp(value, 2 * self.unit))

"""All C(n, k) subsets of rows with several predictors: the ground truth for small n.

Subsets are scored in blocks by projection. Doubles cannot order subsets whose values are closer
than their rounding, least of all where predictors nearly depend on each other; every subset that
may be the best after that is scored again in rational arithmetic.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.least_squares import exact_value, sums
from quadsweep.methods.problem import Outcome, Problem
from quadsweep.methods.several.certified import beyond

_BLOCK = 1_000_000  # numbers in a block of subsets
_MOST_EXACT = 2000  # subsets scored again at most
_TIES = 20  # subsets scored again in any case
_NONE = np.array([], dtype=np.int64)
_ROUNDING = 1e-13  # of a value of independent columns, in units of 1 or of TSS


def exhaustive(problem: Problem) -> Outcome:
    """The best of all subsets."""
    search = Best(problem)
    start = time.perf_counter()
    status = "optimal"
    try:
        for rows in _subsets(problem.n, problem.k, max(1, _BLOCK // (problem.k * problem.p))):
            search.look(rows)
            gone = time.perf_counter() - start
            bound = 1.0 if problem.objective.sense > 0 else 0.0
            if problem.callback is not None:
                shown = problem.callback(search.best, bound, search.nodes, gone)
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


class Best:
    """The best subset so far and all that may be better than it seems."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.sense = problem.objective.sense
        shift = np.median(problem.x, axis=0) if problem.intercept else 0.0
        level = np.median(problem.y) if problem.intercept else 0.0
        self.x, self.y = problem.x - shift, problem.y - level
        self.strict = beyond(problem)
        self.best, self.nodes = math.nan, 0
        self.unseen = -math.inf  # what subsets that were let go may reach
        self.near: list[tuple[float, float, Ints]] = []  # value, its error, rows

    def look(self, rows: Ints) -> None:
        """Score a block of subsets."""
        p = self.problem
        weights = None if p.weights is None else p.weights[rows]
        rss, tss, thin = sums(self.x[rows], self.y[rows], weights, p.intercept, self.strict)
        self.nodes += len(rows)
        value, error = self._judged(rss, tss, thin)
        known = np.flatnonzero(np.isfinite(value))
        if len(known) == 0:
            return
        safe = self.sense * value[known] - error[known]
        floor = max(safe.max(), self._floor())
        for i in known[self.sense * value[known] + error[known] >= floor]:
            self.near.append((float(value[i]), float(error[i]), rows[i].copy()))
        self._sift()

    def _judged(self, rss: Floats, tss: Floats, thin: Floats) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore"):
            error = _ROUNDING / np.minimum(thin, 1.0)
        if self.sense > 0:
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.where(tss > 0, 1.0 - rss / tss, np.nan), error
        return rss, error * tss

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
        self.best = self.sense * max((self.sense * v for v, _, _ in self.near), default=math.nan)

    def outcome(self, status: str) -> Outcome:
        """The best subset by its exact value."""
        bound = 1.0 if self.sense > 0 else 0.0
        value, rows, reach = math.nan, _NONE, self.unseen
        ordered = sorted(self.near, key=lambda c: -self.sense * c[0])
        for i, (v, error, subset) in enumerate(ordered):
            if i >= _TIES and (error <= 1e-2 * self.problem.tol or i >= _MOST_EXACT):
                reach = max(reach, self.sense * v + error)
                continue
            exact = self._exact(subset)
            if not math.isnan(exact) and not self.sense * exact <= self.sense * value:
                value, rows = exact, subset
        if status == "optimal" and len(rows):
            bound = self.sense * max(self.sense * value, reach)
            if self.sense * (bound - value) > self.problem.tol * self._unit():
                status = "heuristic"
        return Outcome(np.sort(rows), value, bound, status, self.nodes)

    def _exact(self, rows: Ints) -> float:
        p = self.problem
        weights = None if p.weights is None else p.weights[rows]
        exact = exact_value(p.x[rows], p.y[rows], weights, p.intercept, p.objective.name)
        return math.nan if exact is None else float(exact)

    def _unit(self) -> float:
        """What the tolerance is a share of."""
        return 1.0 if self.sense > 0 else max(float(self.y @ self.y), 1e-300)

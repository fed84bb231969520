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
from quadsweep.solving.methods.problem import Outcome, Problem
from quadsweep.solving.methods.several.certified import beyond

_BLOCK = 1_000_000  # numbers in a block of subsets
_MOST_EXACT = 2000  # subsets scored again at most
_TIES = 20  # subsets scored again in any case
_NONE = np.array([], dtype=np.int64)
_ROUNDING = 1e-13  # of a value of independent columns, in units of 1 or of TSS
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


def _of_like_size(columns: Floats, shifted: bool) -> tuple[Floats, Ints]:
    """Columns of each subset less their first entry, between 1/2 and 1 where largest.

    Only the difference is rounded, to a share of itself; the exponents of the powers of two that
    the columns were divided by come back.
    """
    out, exponent = _halved(columns, 1)
    if shifted:
        out = out - out[:, :1]
    out, more = _halved(out, 0)
    return out, exponent + more


def _halved(columns: Floats, more: int) -> tuple[Floats, Ints]:
    exponent = np.frexp(np.abs(columns).max(axis=1, keepdims=True))[1] + more
    return np.ldexp(columns, -exponent), exponent


class Best:
    """The best subset so far and all that may be better than it seems."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.sense = problem.objective.sense
        size = np.abs(problem.y)
        self.unit = int(np.frexp(np.median(size[size > 0]))[1]) if np.any(size > 0) else 0
        self.strict = beyond(problem)
        self.best, self.nodes = math.nan, 0
        self.unseen = -math.inf  # what subsets that were let go may reach
        self.near: list[tuple[float, float, Ints]] = []  # value, its error, rows

    def look(self, rows: Ints) -> None:
        """Score a block of subsets."""
        p = self.problem
        weights = None if p.weights is None else p.weights[rows]
        x, _ = _of_like_size(p.x[rows], p.intercept)
        y, exponent = _of_like_size(p.y[rows][..., None], p.intercept)
        rss, tss, thin = sums(x, y[..., 0], weights, p.intercept, self.strict)
        self.nodes += len(rows)
        value, error = self._judged(rss, tss, thin, exponent[:, 0, 0])
        lost = ~np.isfinite(value) | ~np.isfinite(error)
        value, error = np.where(lost, 0.0, value), np.where(lost, np.inf, error)
        if self.sense > 0:
            value[~y.any(axis=(1, 2))] = np.nan  # y does not vary: no R2
        known = np.flatnonzero(np.isfinite(value))
        if len(known) == 0:
            return
        safe = self.sense * value[known] - error[known]
        floor = max(safe.max(), self._floor())
        for i in known[self.sense * value[known] + error[known] >= floor]:
            self.near.append((float(value[i]), float(error[i]), rows[i].copy()))
        self._sift()

    def _judged(
        self, rss: Floats, tss: Floats, thin: Floats, exponent: Ints
    ) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            error = _ROUNDING / np.minimum(thin, 1.0)
            if self.sense > 0:
                return 1.0 - rss / tss, error
            scale = 2 * (exponent - self.unit)
            return np.ldexp(rss, scale), np.ldexp(error * tss, scale) + _LEAST

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
        bound = 1.0 if self.sense > 0 else 0.0
        value, rows, reach = math.nan, _NONE, self.unseen
        ordered = sorted(self.near, key=lambda c: -self.sense * c[0])
        for i, (v, error, subset) in enumerate(ordered):
            if i >= _TIES and (error <= 1e-2 * self._tolerance(v) or i >= _MOST_EXACT):
                reach = max(reach, self.sense * v + error)
                continue
            exact = self._exact(subset)
            if not math.isnan(exact) and not self.sense * exact <= self.sense * value:
                value, rows = exact, subset
        if status == "optimal" and len(rows):
            bound = self.sense * max(self.sense * value, self._as_given(reach))
            if self.sense * (bound - value) > self._tolerance(value):
                status = "heuristic"
        return Outcome(np.sort(rows), value, bound, status, self.nodes)

    def _exact(self, rows: Ints) -> float:
        p = self.problem
        weights = None if p.weights is None else p.weights[rows]
        exact = exact_value(p.x[rows], p.y[rows], weights, p.intercept, p.objective.name)
        try:
            return math.nan if exact is None else float(exact)
        except OverflowError:
            return math.inf

    def _tolerance(self, value: float) -> float:
        return self.problem.tol * (1.0 if self.sense > 0 else abs(value))

    def _as_given(self, value: float) -> float:
        """A residual sum of squares in the units of the data."""
        return value if self.sense > 0 else float(np.ldexp(value, 2 * self.unit))

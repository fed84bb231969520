"""Shells around a good fit, from the outermost radius inwards, by quartics on spheres.

Each shell goes on from the quartics, the matrix and the moments of the one outside of it. Where it
is stuck, other thresholds and more rounds are tried, then the goal is lowered.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

import numpy as np

from quadsweep.solving.methods.problem import Watch
from quadsweep.solving.methods.regression.placement import Rows
from quadsweep.solving.methods.regression.sphere_bound import (
    MOST_DIMENSION,
    Attempt,
    Certificate,
    Spheres,
    State,
)

PATIENCE = 80  # choices of quartics for a shell that is stuck
_ROUNDS, _FIRST_ROUNDS, _ROUNDS_TRIED = 9, 30, 14  # for others, the first, other thresholds
_THRESHOLDS = (1 / 1.12, 1 / 1.3, 1.12, 1.3)  # tried where a shell is stuck, as multiples,
_SLOW = 0.993  # the first of them also where it does not reach this part of the radius
_LOWERED = 0.004  # of the bound of a stuck shell, below which the goal goes
_KEPT = 6  # choices of quartics that moments of another threshold count for
MOST_BYTES = 2e9


def least_memory(rows: int, columns: int, n_jobs: int) -> float:
    """Bytes that a sweep takes; infinite where it is not for so many columns."""
    pairs, dimension = columns * (columns + 1) / 2, (columns + 1) * (columns + 2) / 2
    if dimension > MOST_DIMENSION:
        return math.inf
    return 8.0 * (rows * pairs + min(n_jobs, 2) * (2 * rows * pairs + 12 * dimension**2))


@dataclass(frozen=True)
class SweepGoal:
    """What a sweep is to show: a sum, or at least one above the floor, between two radii."""

    sum: float
    floor: float
    inner: float
    outer: float
    patience: int = PATIENCE


class Sweep:
    """The least sum of any k rows from an outer radius inwards; certificates of one goal serve the
    next as far as they go."""

    def __init__(self, rows: Rows, n_jobs: int) -> None:
        self.rows, self.spheres, self._n_jobs = rows, Spheres(rows), n_jobs
        self.proofs: list[Certificate] = []

    def least(self, goal: SweepGoal, watch: Watch) -> float:
        """Return the sum of the goal, or what is reached of it; minus infinity where time is over
        before that, or that is not above the floor. Another thread takes the inner half."""
        if self._n_jobs < 2:
            return self._least(goal, watch)
        middle, helper = math.sqrt(goal.inner * goal.outer), _Helper(watch)
        with ThreadPoolExecutor(1) as pool:
            inner_half = pool.submit(self._least, replace(goal, outer=middle), helper)
            try:
                least = self._least(replace(goal, inner=middle), watch)
                while least > -math.inf and not inner_half.done() and watch.goes_on():
                    wait([inner_half], timeout=0.05)
            finally:
                helper.stopped = not inner_half.done()
        watch.nodes += helper.nodes
        return min(least, inner_half.result())

    def _least(self, goal: SweepGoal, watch: Watch | _Helper) -> float:
        radius, state = goal.outer, self._start(goal.outer)
        with np.errstate(all="ignore"):
            while radius > goal.inner * (1 + 1e-9):
                known = self._known(radius, goal.sum)
                if known is not None:
                    to = max(known.inner_radius(goal.sum), goal.inner)
                    state = replace(state, threshold=known.threshold, quartics=None, count=_KEPT)
                else:
                    attempt = self._attempt(radius, goal, state, watch)
                    to, state = attempt.reached, attempt.state
                    if attempt.proof is not None:
                        self.proofs.append(attempt.proof)
                    else:
                        lower = attempt.least - _LOWERED * abs(attempt.least)
                        if watch.ended or not lower > goal.floor:
                            return -math.inf
                        goal = replace(goal, sum=lower)
                state, radius = self.spheres.scale(state, to / radius), to
        return goal.sum

    def _known(self, radius: float, sum_: float) -> Certificate | None:
        """The certificate that reaches inwards furthest from there, if any reaches at all."""
        reach = [
            (proof.inner_radius(sum_), proof.radius, proof)
            for proof in self.proofs
            if proof.radius >= radius and proof.least >= sum_
        ]
        best = min(reach, key=lambda one: one[:2], default=None)
        return best[2] if best is not None and best[0] < radius * (1 - 1e-6) else None

    def _start(self, outer: float) -> State:
        rows = self.rows
        n, costs = len(rows.r), np.sort(rows.r**2 - rows.credit)
        last = float(costs[n - rows.gone - 1])
        least = last + 0.05 * (last + float(rows.credit.mean()))
        return self.spheres.start(max(3 * (float(rows.r @ rows.r) + outer**2) / n, least))

    def _attempt(
        self, radius: float, goal: SweepGoal, state: State, watch: Watch | _Helper
    ) -> Attempt:
        """With the threshold as it is, with others where that is stuck, then with more rounds."""

        def attempt(start: State, rounds: int) -> Attempt:
            return self.spheres.bound(radius, goal.sum, goal.inner, start, rounds, watch)

        best = attempt(state, _FIRST_ROUNDS if state.quartics is None else _ROUNDS)
        far = max(radius * _SLOW, goal.inner)
        if best.reached <= far:
            return best
        unit = state.threshold if state.threshold > 0 else float(self.rows.credit.mean())
        for by in _THRESHOLDS[:1] if best.reached < radius else _THRESHOLDS:
            if watch.ended:
                break
            threshold = state.threshold + (by - 1) * unit
            other = replace(best.state, threshold=threshold, quartics=None, count=_KEPT)
            tried = attempt(other, _ROUNDS_TRIED)
            if (-tried.reached, tried.least) > (-best.reached, best.least):
                best = tried
            if best.reached <= far:
                break
        if best.reached < radius or watch.ended:
            return best
        more = attempt(best.state, goal.patience)
        return replace(more, least=max(more.least, best.least))


class _Helper:
    """The watch of a thread that must not ask for Ctrl-C or report progress itself."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.stopped, self.nodes = False, 0

    @property
    def ended(self) -> bool:
        return self.stopped or self._watch.ended or self._watch.clock.time_left() == 0

    def goes_on(self) -> bool:
        return not self.ended

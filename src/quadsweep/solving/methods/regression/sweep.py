"""Shells around a good fit, from the outermost radius inwards, by quartics on spheres.

Each shell goes on from the quartics, the matrix and the moments of the one outside of it. Where it
is stuck, other thresholds and more rounds are tried, then the goal is lowered.
"""

from __future__ import annotations

import math
from dataclasses import replace

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


def least_memory(rows: int, columns: int) -> float:
    """Bytes that a sweep takes; infinite where it is not for so many columns."""
    pairs, dimension = columns * (columns + 1) / 2, (columns + 1) * (columns + 2) / 2
    return 8.0 * (3 * rows * pairs + 12 * dimension**2) if dimension <= MOST_DIMENSION else math.inf


class Sweep:
    """The least sum of any k rows from an outer radius inwards; certificates of one goal serve the
    next as far as they go."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.spheres = rows, Spheres(rows)
        self.proofs: list[Certificate] = []

    def least(
        self, goal: float, inner: float, outer: float, patience: int, floor: float, watch: Watch
    ) -> float:
        """The goal, or what is reached of it; minus infinity where time is over before that, or it
        is not above the floor."""
        radius, state = outer, self._start(outer)
        while radius > inner * (1 + 1e-9):
            known = self._known(radius, goal)
            if known is not None:
                to = max(known.inner_radius(goal), inner)
                state = replace(state, threshold=known.threshold, quartics=None, count=_KEPT)
            else:
                attempt = self._shell(radius, goal, inner, state, patience, watch)
                to, state = attempt.reached, attempt.state
                if attempt.proof is not None:
                    self.proofs.append(attempt.proof)
                elif watch.ended or not attempt.least > floor:
                    return -math.inf
                else:
                    goal = attempt.least - _LOWERED * abs(attempt.least)
                    if not goal > floor:
                        return -math.inf
            state, radius = self.spheres.scale(state, to / radius), to
        return goal

    def _known(self, radius: float, goal: float) -> Certificate | None:
        """The certificate that reaches inwards furthest from there, if any reaches at all."""
        reach = [
            (proof.inner_radius(goal), proof.radius, proof)
            for proof in self.proofs
            if proof.radius >= radius and proof.least >= goal
        ]
        best = min(reach, key=lambda one: one[:2], default=None)
        return best[2] if best is not None and best[0] < radius * (1 - 1e-6) else None

    def _start(self, outer: float) -> State:
        rows = self.rows
        n, costs = len(rows.r), np.sort(rows.r**2 - rows.credit)
        last = float(costs[n - rows.gone - 1])
        least = last + 0.05 * (last + float(rows.credit.mean()))
        return self.spheres.start(max(3 * (float(rows.r @ rows.r) + outer**2) / n, least))

    def _shell(
        self,
        radius: float,
        goal: float,
        inner: float,
        state: State,
        patience: int,
        watch: Watch,
    ) -> Attempt:
        """With the threshold as it is, with others where that is stuck, then with more rounds."""

        def attempt(start: State, rounds: int) -> Attempt:
            return self.spheres.bound(radius, goal, inner, start, rounds, watch)

        best = attempt(state, _FIRST_ROUNDS if state.quartics is None else _ROUNDS)
        far = max(radius * _SLOW, inner)
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
        more = attempt(best.state, patience)
        return replace(more, least=max(more.least, best.least))

"""Does any subset pass a threshold? Asked of the certified engine.

Three questions about the subsets with at most (or exactly) m points removed:

    tilt     c - beta a > margin sqrt(ab)   the slope is above beta: covariance of x and y - beta x
    above    r > t > 0                      the engine's own criterion
    below    r < t,  t > 0                  for every tau > 0:  t (tau^2 a + b) - 2 tau c > 0

The last has "for every tau" where the engine's criteria have "for some". One tau at a time it is a
covariance again: with W = y - tau x, U = y + tau x and rho = (1 - t)/(1 + t),

    (1 + rho) (t (tau^2 a + b) - 2 tau c) = SS(W) - rho SS(U) = c(p, q),
    p = W + sqrt(rho) U,   q = W - sqrt(rho) U

so a single tau for which no subset has c(p, q) > 0 proves that no subset has r < t. The largest
c(p, q) over all subsets is convex in log tau: a subset with c(p, q) > 0 and yet r >= t stands in
the way of every tau that is further than acosh(r/t) from its own sqrt(b/a), and a bracket closes.
Where no tau is left the engine's search over both means decides (docs/theory.md).

The columns the engine sees are rounded, each value by a few ulp of its distance from the median.
``slack`` bounds what that does to a correlation, and thresholds are loosened by it: what is refuted
is refuted for the data as given, and what is found is checked in exact arithmetic by the caller.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.exact import ExactPoints
from quadsweep.auditing.spread import Column
from quadsweep.clock import Stopped
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

_BRACKET_STEPS = 24


class Impatient(Exception):
    """A question took longer than it was worth so far; it may be asked again."""


@dataclass(frozen=True)
class Answer:
    """A subset that passes; or none, and whether it is proved that there is none."""

    kept: Ints | None = None
    refuted: bool = False


FOUND_NONE = Answer(refuted=True)
UNKNOWN = Answer()


class Asker:
    """Asks the engine, within one limit on time for all questions."""

    def __init__(
        self,
        points: ExactPoints,
        *,
        time_limit: float = math.inf,
        n_jobs: int = 1,
        seed: int = 0,
        callback: Callable[[int, float], object] = lambda nodes, seconds: None,
    ) -> None:
        self.points = points
        self.nodes = 0
        self.patience = math.inf  # seconds for one question
        self._start = time.perf_counter()
        self._limit = time_limit
        self._n_jobs, self._seed = n_jobs, seed
        self._callback = callback
        self._centre = tuple(float(np.partition(v, (points.n - 1) // 2)[(points.n - 1) // 2])
                             for v in (points.x, points.y))  # fmt: skip
        self._x, self._y = points.x - self._centre[0], points.y - self._centre[1]
        self._columns = Column(points.x), Column(points.y)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    def check(self) -> None:
        """Raise Stopped when the time is over or the callback has had enough."""
        if self.seconds > self._limit:
            raise Stopped("time_limit")
        if self._callback(self.nodes, self.seconds) is False:
            raise Stopped("interrupted")

    def slack(self, m: int) -> float:
        """What rounding of the columns can add to any r with at most m points removed."""
        k = self.points.n - m
        far = max(c.distance(k, at) for c, at in zip(self._columns, self._centre, strict=True))
        return 32 * 2.0**-53 * (1 + far)

    # ---- the three questions ----------------------------------------------------------------

    def tilt(self, m: int, beta: float, margin: float, sign: int) -> Answer:
        """Is sign * (c - beta a) > margin sqrt(ab) for some subset with at most m removed?"""
        k = self.points.n - m
        z = sign * (self._y - beta * self._x)
        if not np.any(z != z[0]):
            return FOUND_NONE
        # Rounding takes at most slack (sqrt(ab) + |beta| a) from c - beta a, and where |beta| a is
        # more than twice sqrt(ab) it does not matter.
        excess = margin - 3 * self.slack(m)
        if excess > 0:
            a, b = (column.least_squares(k) for column in self._columns)
            least = excess * math.sqrt(a) * math.sqrt(b) / self.points.n
        else:
            a, b, _ = self.points.floating(np.arange(self.points.n))
            least = excess * math.sqrt(a) * math.sqrt(b) / k
        return self._covariance(self._x, z, m, above=least, at_most=True)

    def steeper(self, m: int, t: float, step: float, sign: int) -> Answer:
        """Is sign * slope > t + step for some subset with at most m removed?

        Then c - (t + step/2) a >= step/2 a, and a is at least half the square of the smallest gap
        between two x: more than rounding takes away, as a rule, and more than the 0 of subsets on
        which x is constant.
        """
        beta, z = sign * (t + step / 2), sign * self._y - (t + step / 2) * self._x
        gaps = np.diff(np.unique(self.points.x))
        least = step / 4 * float(gaps.min()) ** 2 / self.points.n
        a, b, _ = self.points.floating(np.arange(self.points.n))
        k = self.points.n - m
        rounding = 3 * self.slack(m) * (math.sqrt(a) * math.sqrt(b) + abs(beta) * a) / k
        if not np.any(z != z[0]):
            return FOUND_NONE
        return self._covariance(self._x, z, m, above=least - rounding, at_most=True)

    def above(self, m: int, t: float, sign: int) -> Answer:
        """Is sign * r > t > 0 for some subset with at most m removed?"""
        t -= self.slack(m)
        if t >= 1:
            return FOUND_NONE
        if t <= 0:  # rounding is larger than the threshold
            return UNKNOWN
        return self._ask(self._x, sign * self._y, m, "r", above=t, at_most=True)

    def below(self, m: int, t: float, *, at_most: bool = True) -> Answer:
        """Is r < t for some subset with at most (or exactly) m removed, for t > 0?"""
        points = self.points
        loose = t + self.slack(m)
        if t <= 0 or loose >= 1:
            return FOUND_NONE if t <= 0 else UNKNOWN
        a, b, _ = points.floating(np.arange(points.n))
        tau, low, high = math.sqrt(b / a), 0.0, math.inf
        for _ in range(_BRACKET_STEPS):
            answer = self._below_at(tau, m, loose, at_most)
            if answer.kept is None:
                return answer
            a, b, c = points.floating(answer.kept)
            if not (a > 0 and b > 0):
                break
            r, own = c / math.sqrt(a) / math.sqrt(b), math.sqrt(b / a)
            if r < t:
                return answer
            # This subset stands in the way of every tau further than this from its own.
            reach = math.exp(math.acosh(max(r / loose, 1.0)))
            low, high = max(low, own / reach), min(high, own * reach)
            tau = math.sqrt(low * high)
            if low >= high:
                break
        return self._ask(self._x, -self._y, m, "r", above=-loose, at_most=at_most)

    def _below_at(self, tau: float, m: int, t: float, at_most: bool) -> Answer:
        root = math.sqrt((1 - t) / (1 + t))
        p = (1 + root) * self._y - (1 - root) * tau * self._x
        q = (1 - root) * self._y - (1 + root) * tau * self._x
        return self._covariance(p, q, m, above=0.0, at_most=at_most)

    # ---- the engine ---------------------------------------------------------------------------

    def _covariance(self, x: Floats, y: Floats, m: int, *, above: float, at_most: bool) -> Answer:
        return self._ask(x, y, m, "cov", above=above, at_most=at_most)

    def _ask(
        self,
        x: Floats,
        y: Floats,
        m: int,
        objective: str,
        *,
        above: float,
        at_most: bool,
    ) -> Answer:
        self.check()
        problem = Problem(
            np.ascontiguousarray(x),
            np.ascontiguousarray(y),
            self.points.n - m,
            objectives.get(objective),
            tol=0.0,
            time_limit=min(self._limit - self.seconds, self.patience),
            n_jobs=self._n_jobs,
            seed=self._seed,
            callback=self._report,
        )
        answer = search(problem, at_most=at_most, above=above)
        self.nodes += answer.nodes
        if len(answer.inliers):
            return Answer(np.sort(answer.inliers))
        if answer.decided:
            return FOUND_NONE
        if answer.status == "time_limit" and self.seconds < self._limit:
            raise Impatient
        raise Stopped(answer.status)

    def _report(self, value: float, bound: float, nodes: int, seconds: float) -> object:
        return self._callback(self.nodes + nodes, self.seconds)

"""Does any subset pass a threshold? Asked of the certified engine, for x and y and an intercept.

Three questions about the subsets with at most (or exactly) m points removed:

    slope    c - beta a > margin sqrt(ab)   the slope is above beta: covariance of x and y - beta x
    above    r > t > 0                      the engine's own criterion
    below    r < t,  t > 0                  for every tau > 0:  t (tau^2 a + b) - 2 tau c > 0

The last has "for every tau" where the engine's criteria have "for some". One tau at a time it is a
covariance again: with W = y - tau x, U = y + tau x and rho = (1 - t)/(1 + t),

    (1 + rho) (t (tau^2 a + b) - 2 tau c) = SS(W) - rho SS(U) = c(p, q),
    p = W + sqrt(rho) U,   q = W - sqrt(rho) U

so a single tau for which no subset has c(p, q) > 0 proves that no subset has r < t
(``correlation_below``). Where no tau is left the engine's search over both means decides
(docs/theory/audit.md).

The columns the engine sees are rounded, each value by a few ulp of its distance from the median.
``slack`` bounds what that does to a correlation, and thresholds are loosened by it: what is refuted
is refuted for the data as given, and what is found is checked by the problem.
"""

from __future__ import annotations

import math

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem, Residuals
from quadsweep.auditing.claims import CorrelationAbove, CorrelationBelow, SlopeBeyond
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.oracles.threshold_schedule import Pair, ThresholdSchedule, correlation_below
from quadsweep.auditing.repair_overshoot import repair_overshoot
from quadsweep.auditing.resources import Resources
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem


class PlaneSearch(Oracle):
    """Asks the engine of the plane; kept points become removed ones here."""

    is_fast = True

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        design = problem.moments.design
        self.n, self.x, self.y = design.n, design.x, design.y
        self._columns = design.ordered
        self._centre = tuple(float(column.sorted[(self.n - 1) // 2]) for column in self._columns)
        self._x, self._y = self.x - self._centre[0], self.y - self._centre[1]
        if isinstance(condition := problem.condition, CorrelationAbove):
            self._schedule = ThresholdSchedule(
                condition, self.n, condition.sign * problem.moments.squares.c
            )

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        """x and y, an intercept, single rows."""
        known = (SlopeBeyond, CorrelationAbove, CorrelationBelow)
        return (
            type(problem) is BreakProblem
            and is_plane(problem)
            and isinstance(problem.condition, known)
        )

    def slack(self, m: int) -> float:
        """What rounding of the columns can add to any r with at most m points removed."""
        far = max(
            c.distance(self.n - m, at) for c, at in zip(self._columns, self._centre, strict=True)
        )
        return 32 * 2.0**-53 * (1 + far)

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        condition = self.problem.condition
        if isinstance(condition, CorrelationBelow):
            return self._decide_below(condition, fewest, most, patience)
        if isinstance(condition, CorrelationAbove):
            return self._schedule.decide(
                fewest, most, lambda m, t: self._above(m, t, condition.sign, patience),
                lambda removal: condition.sign * self._r(self.problem.residuals(removal)),
                self.problem.broken,
            )  # fmt: skip
        assert isinstance(condition, SlopeBeyond)
        found = self._beyond(condition, most, patience)
        fine = found.removal is None or self.problem.broken(found.removal)
        return found if fine else UNDECIDED

    # ---- the three questions ----------------------------------------------------------------

    def _beyond(self, condition: SlopeBeyond, m: int, patience: float) -> Decision:
        """Is sign * (c - beta a) > margin sqrt(ab) for some subset with at most m removed?"""
        k = self.n - m
        z = condition.sign * (self._y - condition.beta * self._x)
        if not np.any(z != z[0]):
            return REFUTED
        # Rounding takes at most slack (sqrt(ab) + |beta| a) from c - beta a, and where |beta| a is
        # more than twice sqrt(ab) it does not matter.
        excess = condition.margin - 3 * self.slack(m)
        if excess > 0:
            a, b = (column.least_squares(k) for column in self._columns)
            least = excess * math.sqrt(a) * math.sqrt(b) / self.n
        else:
            x, y = self.problem.moments.scale
            least = excess * x * y / k
        found = self._ask(self._x, z, m, "cov", patience, above=least)
        if found.removal is not None and not self.problem.broken(found.removal):
            return Decision(self._with_another_y(condition, found.removal))
        return found

    def _with_another_y(self, condition: SlopeBeyond, removal: Ints) -> Ints:
        """Where y is constant on the rows kept, the slope there is 0 and breaks no claim; but one
        row put back makes it vary, and may leave the slope beyond beta."""
        kept = np.delete(np.arange(self.n), removal)
        others = removal[self.y[removal] != self.y[kept[0]]]
        if len(others) == 0 or np.any(self.y[kept] != self.y[kept[0]]):
            return removal
        centred = self.x[kept] - self.x[kept].mean()
        share = len(kept) / (len(kept) + 1)
        u, w = self.x[others] - self.x[kept].mean(), self.y[others] - self.y[kept[0]]
        a = float(centred @ centred) + share * u * u
        b, c = share * w * w, share * u * w
        past = condition.sign * (c - condition.beta * a) / np.sqrt(np.maximum(a * b, 1e-300))
        one_less = np.setdiff1d(removal, others[np.argmax(past)])
        return one_less if self.problem.broken(one_less) else removal

    def _above(self, m: int, t: float, sign: int, patience: float) -> Decision:
        """Is sign * r > t > 0 for some subset with at most m removed? Not checked."""
        t -= self.slack(m)
        if t >= 1:
            return REFUTED
        if t <= 0:  # rounding is larger than the threshold
            return UNDECIDED
        return self._ask(self._x, sign * self._y, m, "r", patience, above=t)

    def _decide_below(
        self, condition: CorrelationBelow, fewest: int, most: int, patience: float
    ) -> Decision:
        """The highest threshold, that of the most removals, is the easiest to fall below."""
        t = condition.threshold(self.n - most - 2)
        for k_or_more in (True, False) if fewest == most else (True,):
            found = self._below(most, t, condition.sign, patience, k_or_more=k_or_more)
            if found.refuted:
                return found
            if found.removal is not None:
                removal = repair_overshoot(self.problem, found.removal, most)
                if removal is not None:
                    return Decision(removal)
        return UNDECIDED

    def _below(self, m: int, t: float, sign: int, patience: float, *, k_or_more: bool) -> Decision:
        """Is sign * r < t for some subset with at most (or exactly) m removed, for t > 0? Not
        checked."""
        loose = t + self.slack(m)
        if t <= 0 or loose >= 1:
            return REFUTED if t <= 0 else UNDECIDED
        x, y = self.problem.moments.scale

        def ask(p: Pair, q: Pair) -> Decision:
            u, w = (f[0] * self._x + f[1] * self._y for f in (p, q))
            return self._ask(u, w, m, "cov", patience, above=0.0, k_or_more=k_or_more)

        def place(removal: Ints) -> tuple[float, float] | None:
            own = self.problem.residuals(removal)
            if not (own.a > 0 and own.b > 0):
                return None
            return sign * self._r(own), math.sqrt(own.b / own.a) * y / x

        known = correlation_below(loose, sign, y / x, ask, place, enough=t)
        if known is not None:
            return known
        return self._ask(
            self._x, -sign * self._y, m, "r", patience, above=-loose, k_or_more=k_or_more
        )

    @staticmethod
    def _r(own: Residuals) -> float:
        """What x and y that are left have in common, NaN where nothing is left."""
        return own.c / math.sqrt(own.a * own.b) if own.a > 0 and own.b > 0 else math.nan

    # ---- the engine ---------------------------------------------------------------------------

    def _ask(
        self, x: Floats, y: Floats, m: int, objective: str, patience: float, *, above: float,
        k_or_more: bool = True,
    ) -> Decision:  # fmt: skip
        resources = self.resources
        resources.check()
        problem = Problem(
            np.ascontiguousarray(x),
            np.ascontiguousarray(y),
            self.n - m,
            objectives.get(objective),
            tol=0.0,
            time_limit=resources.within(patience),
            n_jobs=resources.n_jobs,
            seed=resources.seed,
            callback=resources.report,
            memory_limit=resources.memory_limit,
        )
        answer = search(problem, k_or_more=k_or_more, above=above)
        resources.nodes += answer.nodes
        if len(answer.inliers):
            return Decision(np.flatnonzero(self.problem.moments.kept(answer.inliers)))
        if answer.decided:
            return REFUTED
        raise resources.stopped(answer.status)


def is_plane(problem: BreakProblem) -> bool:
    """Whether the design is x and y with an intercept, of single rows without weights."""
    d = problem.moments.design
    return d.q == 1 and d.intercept == 0 and d.weights is None and d.units is None and not d.fixed

"""The z test of one coefficient without controls, where the variances of the rows are known.

Of a weighted mean, or of a slope through the origin: with a = w x^2 and c = w x y of each unit, and
A and C their sums over those kept, z = C / sqrt(A). Since

    -t sqrt(A) = max over beta > 0 of -beta A - t^2 / (4 beta),

the largest C - t sqrt(A) is that of g(beta) - t^2 / (4 beta), g the sum of the largest c - beta a:
a convex function less a convex one, searched in intervals of beta. The smallest is at least the
largest h(beta) - t^2 / (4 beta), h the sum of the smallest c - beta a: one concave function, exact
but for the units between two neighbours on the hull of all (A, C), on which the search branches.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.oracles import REFUTED, UNDECIDED, Decision, Oracle
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.inputs.standard_errors import KNOWN

_ROUNDED = 1e-11  # of the sum of all |c|, and of t sqrt(A)
_LEAST = 1e-9  # of the sum of all a: with less left nothing is said
_STEPS = 60  # halvings of an interval of beta
_NODES = 5_000  # of one question, without a limit on time


@dataclass(frozen=True, eq=False)
class _Node:
    """Units that stay and units that go; the others are free."""

    stay: Mask
    go: Mask


class KnownVariances(Oracle):
    """Decides about any number of units."""

    problem: RobustProblem

    def __init__(self, problem: BreakProblem, resources: Resources) -> None:
        super().__init__(problem, resources)
        design, side = problem.moments.design, self.problem.test.side
        weights = design.root_weights**2
        self._a = design.sums(weights * design.x**2)
        self._c = design.sums(weights * design.x * design.y)
        self._c *= side or np.sign(self._c.sum()) or 1.0
        self._size, self._seeks_large = len(self._a), side != 0
        t = self.problem.test.critical[1:]
        self._t = float(t.min() if self._seeks_large else t.max())
        self._near = _ROUNDED * float(np.abs(self._c).sum() + self._t * math.sqrt(self._a.sum()))

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        if not isinstance(problem, RobustProblem) or problem.errors.kind != KNOWN:
            return False
        design = problem.moments.design
        return design.q == 0 and design.fixed == 0 and not problem.moments.degenerate

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        self.resources.check()
        kept = self._size - most, self._size - fewest
        low, high = np.sort(self._a)[: kept[0]].sum(), self._a.sum()
        if not (low > _LEAST * high and self._t > 0 and math.isfinite(self._t)):
            return UNDECIDED
        ends = self._t / (2 * math.sqrt(high)), self._t / (2 * math.sqrt(low))
        end = time.perf_counter() + self.resources.within(patience)
        search = self._find_largest if self._seeks_large else self._find_smallest
        return search(kept, ends, end)

    def _tick(self, end: float) -> None:
        self.resources.check()
        self.resources.nodes += 1
        if time.perf_counter() > end:
            raise OutOfPatience

    def _past(self, inside: Mask) -> float:
        """C - t sqrt(A) of some units."""
        return float(self._c[inside].sum() - self._t * math.sqrt(self._a[inside].sum()))

    def _is_found(self, inside: Mask) -> bool:
        """Whether the claim breaks on these units, exactly, where it may."""
        past = self._past(inside) * (1 if self._seeks_large else -1)
        return past > -self._near and self.problem.broken(np.flatnonzero(~inside))

    def _find_largest(
        self, kept: tuple[int, int], ends: tuple[float, float], end: float
    ) -> Decision:
        """Search the intervals of beta, the one with the highest bound first."""
        nothing = np.zeros(self._size, dtype=bool)
        root = _Node(nothing, nothing)

        def g(beta: float) -> tuple[float, Mask]:
            inside = _choose(beta * self._a - self._c, root, kept)
            return float((self._c - beta * self._a)[inside].sum()), inside

        def bound(b: float, g_b: float, d: float, g_d: float) -> tuple[float, float]:
            """The largest chord less t^2 / (4 beta), and where."""
            rise = (g_d - g_b) / (d - b)
            at = self._t / (2 * math.sqrt(-rise)) if rise < 0 else d
            at = min(max(at, b), d)
            return g_b + rise * (at - b) - self._t**2 / (4 * at), at

        b, d = ends[0] * (1 - 1e-9), ends[1] * (1 + 1e-9)
        values = []
        for beta in (b, d):
            value, inside = g(beta)
            values.append(value)
            if self._is_found(inside):
                return Decision(np.flatnonzero(~inside))
        most, at = bound(b, values[0], d, values[1])
        heap = [(-most, at, b, values[0], d, values[1])]
        while heap and -heap[0][0] > -self._near:
            self._tick(end)
            _, at, b, g_b, d, g_d = heappop(heap)
            if d - b < 1e-12 * d:
                return UNDECIDED  # within rounding of the threshold
            at = at if b < at < d else (b + d) / 2
            value, inside = g(at)
            if self._is_found(inside):
                return Decision(np.flatnonzero(~inside))
            for one, g_one, two, g_two in ((b, g_b, at, value), (at, value, d, g_d)):
                most, middle = bound(one, g_one, two, g_two)
                if most > -self._near:
                    heappush(heap, (-most, middle, one, g_one, two, g_two))
        return REFUTED

    def _find_smallest(
        self, kept: tuple[int, int], ends: tuple[float, float], end: float
    ) -> Decision:
        """Branch on the units between two neighbours on the hull."""
        nothing = np.zeros(self._size, dtype=bool)
        nodes, count = [_Node(nothing, nothing)], 0
        while nodes:
            self._tick(end)
            count += 1
            if count > _NODES and not self.resources.is_limited:
                return UNDECIDED
            node = nodes.pop()
            if node.stay.sum() > kept[1] or self._size - node.go.sum() < kept[0]:
                continue
            neighbours = self._bound(node, kept, ends)
            if neighbours is None:
                continue
            for inside in neighbours:
                if self._is_found(inside):
                    return Decision(np.flatnonzero(~inside))
            between = np.flatnonzero(neighbours[0] != neighbours[1])
            if not len(between):
                return UNDECIDED  # past the other threshold, or within rounding of this one
            one = nothing.copy()
            one[between[np.argmax(self._a[between])]] = True
            nodes += [_Node(node.stay | one, node.go), _Node(node.stay, node.go | one)]
        return REFUTED

    def _bound(
        self, node: _Node, kept: tuple[int, int], ends: tuple[float, float]
    ) -> tuple[Mask, Mask] | None:
        """The neighbours on both sides of the best beta; None where nothing breaks the claim."""
        b, d = ends[0] / 2, ends[1] * 2
        one, two = (_choose(self._c - beta * self._a, node, kept) for beta in (b, d))
        for _ in range(_STEPS):
            beta = math.sqrt(b * d)
            values = self._c - beta * self._a
            inside = _choose(values, node, kept)
            if float(values[inside].sum()) - self._t**2 / (4 * beta) > self._near:
                return None
            if self._a[inside].sum() > self._t**2 / (4 * beta * beta):
                d, two = beta, inside
            else:
                b, one = beta, inside
            if np.array_equal(one, two):
                break
        return one, two


def _choose(values: Floats, node: _Node, kept: tuple[int, int]) -> Mask:
    """The units with the smallest sum, of numbers between two, those of a node among them."""
    inside: Mask = node.stay.copy()
    free: Ints = np.flatnonzero(~(node.stay | node.go))
    order = free[np.argsort(values[free], kind="stable")]
    low, high = (max(k - int(inside.sum()), 0) for k in kept)
    count = min(max(int((values[free] < 0).sum()), low), high)
    inside[order[:count]] = True
    return inside

"""A bound for any number of predictors: squares truncated at t, over shells around a good fit.

m of n rows are removed. For every t the residual sum of squares of the others at coefficients b is
at least

    sum over all rows of min(e_i(b)^2, t)  -  m t,

with equality at the best subset's own fit and threshold. Where b stays within a ball, each term is
at least a quadratic in b (it touches the parabola, and t at one point at most), so the sum is at
least one quadratic, whose least value in a shell an eigenvalue problem gives. Fits outside of the
largest ball are excluded by fourth moments (docs/theory/many-predictors.md).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.solving.methods.problem import Watch
from quadsweep.solving.methods.regression.outside import Outside
from quadsweep.solving.methods.regression.placement import UNIT, Rows

_CUT = 0.8  # of a ball's radius: the inner one of two
_THINNEST = 0.997  # of the outer radius of a shell, beyond which it is not cut
_MOST_WORK = 1e10  # products in sums of quadratics
_MOST_QUADRATICS = 3_000
_ROUNDS = 5  # of choosing quadratics for the worst coefficients of the round before
_THRESHOLDS = (0.0, 0.3, 0.7, 1.2, 2.0, 3.0, 5.0, 7.0)  # above the largest cost kept


@dataclass(frozen=True, order=True)
class _Shell:
    """Coefficients whose length is between two numbers, and at most what any k rows sum to there.

    The moments are those of coefficients of length one for which quadratics were chosen.
    """

    least: float
    inner: float
    outer: float
    threshold: int = field(compare=False)
    mean: Floats = field(compare=False)
    moments: Floats = field(compare=False)
    rounds: int = field(compare=False)  # that they are the average of


def _start(rows: Rows) -> _Shell:
    """All directions, and those of the rows that go."""
    p = rows.z.shape[1]
    out = rows.z[~rows.kept]
    outer = out.T @ out
    moments = 0.5 * np.eye(p) / p + 0.5 * outer / max(float(np.trace(outer)), 1e-300)
    return _Shell(-math.inf, 0.0, math.inf, 0, np.zeros(p), moments, 2)


class BallBound:
    """Whether the sum reaches a goal in a ball, by bounds of shells; better ones from those of
    wider shells. Beyond ``radius`` it does; outside bounds that find no radius find none."""

    def __init__(self, rows: Rows, goal: float, outside: list[Outside]) -> None:
        self.rows, self.goal, self.outside = rows, goal, outside
        self.radius = min((one.radius(goal) for one in outside), default=math.inf)
        self.enough = goal - 1e-10 * abs(goal)
        self.thresholds = _thresholds(rows)
        n, p = rows.z.shape
        self.left = int(min(_MOST_WORK / (n * p * p), _MOST_QUADRATICS))

    def least(self, watch: Watch) -> float:
        """At most the least sum of any k rows, and at most the goal, which the rows kept do not go
        below; minus infinity if nothing is known.

        The shell with the least bound is cut into two until its bound reaches the goal.
        """
        if not math.isfinite(self.radius):
            return -math.inf
        waiting = [self.bounded(0.0, self.radius, _start(self.rows))]
        while self.left > 0 and watch.goes_on():
            watch.nodes += 1
            worst = heapq.heappop(waiting)
            cut = self._cut(worst)
            if worst.least >= self.enough or cut is None:
                return min(worst.least, self.goal)
            for inner, outer in ((worst.inner, cut), (cut, worst.outer)):
                heapq.heappush(waiting, self.bounded(inner, outer, worst))
        return min(waiting[0].least, self.goal)

    def reach(self, watch: Watch, outer: float) -> float:
        """The radius up to which every shell reaches the goal, at most ``outer``; from inside."""
        reached, waiting = 0.0, [(outer, _start(self.rows))]
        while waiting and self.left > 0 and watch.goes_on():
            to, wider = waiting.pop()
            shell = self.bounded(reached, to, wider)
            if shell.least >= self.enough:
                reached = to
                continue
            cut = self._cut(shell)
            if cut is None:
                break
            waiting += [(to, shell), (cut, shell)]
        return reached

    def _cut(self, shell: _Shell) -> float | None:
        """Where to cut it into two; None where it is too thin."""
        inner, outer = shell.inner, shell.outer
        cut = math.sqrt(inner * outer) if inner > 0 else _CUT * outer
        return None if cut > _THINNEST * outer or outer < 1e-9 * self.radius else cut

    def bounded(self, inner: float, outer: float, wider: _Shell) -> _Shell:
        """By the threshold of the wider shell, and by others as long as they are better."""
        if inner == 0 and self._decides(outer):
            return replace(wider, least=math.inf, inner=inner, outer=outer)
        floor = max(wider.least, *(one.least(inner, outer) for one in self.outside))
        best = replace(wider, least=-math.inf)
        for way in (1, -1):
            at = wider.threshold if way > 0 else wider.threshold - 1
            while 0 <= at < len(self.thresholds) and best.least < self.enough:
                one = self._bound_at(inner, outer, at, wider)
                if one.least <= best.least:
                    break
                best, at = one, at + way
        return replace(best, least=max(best.least, floor), inner=inner, outer=outer)

    def _decides(self, outer: float) -> bool:
        """Whether the rows kept are the cheapest k in the whole ball: their sum is the goal."""
        rows = self.rows
        reach = rows.length * outer * (1 + 1e-12) + rows.error[0] + rows.error[1] * outer
        size = np.abs(rows.r)
        most = (size + reach) ** 2 * (1 + 1e-12) - rows.credit * (1 - 1e-12)
        least = np.maximum(size - reach, 0) ** 2 * (1 - 1e-12) - rows.credit * (1 + 1e-12)
        apart = 8 * UNIT * rows.credit_size
        return bool(most[rows.kept].max() + apart < least[~rows.kept].min())

    def _bound_at(self, inner: float, outer: float, at: int, start: _Shell) -> _Shell:
        rows, z, t = self.rows, self.rows.z, self.thresholds[at]
        found, mean, moments = -math.inf, start.mean, start.moments
        reach = rows.length * outer * (1 + 1e-12)
        off = rows.error[0] + rows.error[1] * outer
        for number in range(start.rounds, start.rounds + _ROUNDS):
            self.left -= 1
            middle = z @ mean * outer
            spread = np.sum((z @ moments) * z, axis=1) * outer**2 - middle**2
            below = _below(rows.r, reach, t + rows.credit, off, middle, np.maximum(spread, 0))
            least, where, more = self._quadratic(below, t, inner, outer, off)
            found = max(found, least)
            if found >= self.enough:
                break
            step = 1 / (number + 1)
            mean = (1 - step) * mean + step * where / outer
            moments = (1 - step) * moments + step * more / outer**2
        return _Shell(found, inner, outer, at, mean, moments, number)

    def _quadratic(
        self, below: _Below, t: float, inner: float, outer: float, off: Floats
    ) -> tuple[float, Floats, Floats]:
        """The least value of a sum of quadratics, and the moments of coefficients that have it.

        With H its second-order part, any mu for which H + mu is positive definite gives a bound: mu
        (|b|^2 - outer^2) is at most 0 for mu > 0, mu (|b|^2 - inner^2) for mu < 0.
        """
        rows, z = self.rows, self.rows.z
        n, p = z.shape
        values, vectors = np.linalg.eigh((z * below.second[:, None]).T @ z)
        tilt = vectors.T @ (z.T @ below.first)
        constant = float(below.at_zero.sum() - rows.credit.sum()) - rows.gone * t
        size = max(1.0, float(np.abs(values).max()))
        mu = np.append(size * np.geomspace(1e-7, 3, 40) - values[0], 0.0)
        mu = mu[mu + values[0] >= 0.9e-7 * size]
        held = np.where(mu > 0, mu * outer**2, mu * inner**2)
        dual = constant - 0.25 * np.sum(tilt**2 / (values + mu[:, None]), axis=1) - held
        best = int(np.argmax(dual))
        where = -0.5 * tilt / (values + mu[best])
        radius = outer if mu[best] > 0 else inner if mu[best] < 0 else 0.0
        more = np.outer(where, where)
        more[0, 0] += max(radius**2 - float(where @ where), 0.0)
        largest = float(np.maximum(t + rows.credit, 0).sum())
        rounding = (
            below.size + largest + rows.gone * abs(t) + rows.credit_size + abs(float(held[best]))
            + abs(constant - float(held[best]) - float(dual[best]))
            + float(np.abs(below.first) @ rows.length) * outer
            + float(np.abs(below.second) @ rows.length**2) * outer**2
        )  # fmt: skip
        moved = float(np.linalg.norm(off[~below.flat]))
        allowed = 2 * (n + 20 * p) * UNIT * rounding + 2 * moved * math.sqrt(largest)
        return float(dual[best]) - allowed, vectors @ where, vectors @ more @ vectors.T


def _thresholds(rows: Rows) -> list[float]:
    """Between the largest cost kept and the least of the others, and above."""
    costs = np.sort(rows.r**2 - rows.credit)
    k = int(rows.kept.sum())
    last, after = float(costs[k - 1]), float(costs[k])
    unit = last + float(rows.credit.mean())
    found = [0.5 * (last + after), *(last + share * unit for share in _THRESHOLDS)]
    if after - last > 0.5 * unit:
        found += [after, after + 0.5 * (after - last), after + 2 * (after - last)]
        found += [last + 0.25 * (after - last)]
    return sorted(found)


@dataclass(frozen=True)
class _Below:
    """Of each row a quadratic in s = z.b that is at most min((r - s)^2, t)."""

    at_zero: Floats
    first: Floats
    second: Floats
    flat: Mask  # rows for which it is t
    size: float  # of what at_zero is computed from


def _below(r: Floats, reach: Floats, t: Floats, off: Floats, mean: Floats, var: Floats) -> _Below:
    """With |s| up to ``reach``, large on average where s has this mean and variance.

    e^2 - c (e - e0)^2 touches the parabola at e0, and with the least c that :func:`_factor` allows
    also t. Which e0 is best is a quadratic equation where it touches t inside of the range, and
    another where at its end.
    """
    sign, size, root = np.where(r < 0, -1.0, 1.0), np.abs(r), np.sqrt(np.maximum(t, 0))
    reach = reach + 4 * UNIT * size
    centre = size - sign * mean
    total = t + centre**2 + var
    inside = 2 * centre * t / (total + np.sqrt(np.maximum(total**2 - 4 * centre**2 * t, 0)))
    at_end = centre - var / np.maximum(size + reach - centre, 1e-300)
    best, touch, factor = np.full(len(r), np.inf), np.zeros(len(r)), np.ones(len(r))
    for e0 in (inside, at_end, centre, np.zeros(len(r))):
        e0 = np.clip(np.nan_to_num(e0), -(1 - 1e-7) * root, (1 - 1e-7) * root)
        c = _factor(e0, size - reach, size + reach, root)
        loss = c * ((centre - e0) ** 2 + var)
        better = loss < best
        best, touch = np.where(better, loss, best), np.where(better, e0, touch)
        factor = np.where(better, c, factor)
    flat = (size - reach - off >= root * (1 + 1e-12)) | (t <= 0)
    apart = size - touch
    at_zero = np.where(flat, t, size**2 - factor * apart**2)
    first = np.where(flat, 0.0, sign * 2 * (factor * apart - size))
    parts = np.where(flat, np.abs(t), size**2 + factor * (size**2 + touch**2))
    return _Below(at_zero, first, np.where(flat, 0.0, 1 - factor), flat, float(parts.sum()))


def _factor(e0: Floats, low: Floats, high: Floats, root: Floats) -> Floats:
    """The least c, at least 0, with e^2 - c (e - e0)^2 <= t = root^2 where low <= e <= high and
    e^2 > t."""
    out = np.zeros(len(e0))
    for touch, end in ((e0, high), (-e0, -low)):
        inside = touch * end >= root**2  # t is touched at t / e0, before the end
        at = np.where(
            inside,
            root**2 / ((root - touch) * (root + touch)),
            (end - root) * (end + root) / (end - touch) ** 2,
        )
        out = np.maximum(out, np.where(end > root, at * (1 + 1e-12), 0.0))
    return out

"""A bound for any number of predictors: squares truncated at t, over shells around a good fit.

Of n rows m go. For every t the residual sum of squares of the others at coefficients b is at least

    sum over all rows of min(e_i(b)^2, t)  -  m t,

with equality at the best subset's own fit and threshold. Where b stays within a ball, each term is
at least a quadratic in b (it touches the parabola, and t at one point at most), so the sum is at
least one quadratic, whose least value in a shell an eigenvalue problem gives. Fits outside of the
largest ball are excluded by fourth moments (docs/theory.md, "Many predictors").
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.solving.methods.problem import Outcome, Problem, Watch
from quadsweep.solving.methods.regression.concentrate import concentrate

_UNIT = 2.3e-16
_CUT = 0.8  # of a ball's radius: the inner one of two
_THINNEST = 0.997  # of the outer radius of a shell, beyond which it is not cut
_MOST_WORK = 1e10  # products in sums of quadratics
_MOST_QUADRATICS = 3_000
_ROUNDS = 5  # of choosing quadratics for the worst coefficients of the round before
_THRESHOLDS = (0.0, 0.3, 0.7, 1.2, 2.0, 3.0, 5.0, 7.0)  # above the largest cost kept
_PRODUCTS = 1500  # of two columns, up to which fourth moments are formed
_WORST_CONDITION = 1e8
_TRIED = 12  # bounds of R2, from above,
_SHRINK = 0.05  # each at least this share of the last one that holds,
_NEAR = 1.05  # until the last that does not is as near as this


def bounded(problem: Problem) -> Outcome:
    """The best subset that concentration steps find, and what no subset passes."""
    watch = Watch(problem)
    found = concentrate(problem)
    if found.status != "heuristic" or not len(found.inliers):
        return found
    watch.value, sense = found.value, problem.objective.sense
    try:
        bound = _bound(problem, found, watch)
    except KeyboardInterrupt:
        return replace(found, status="interrupted")
    bound = sense * max(sense * bound, sense * found.value)
    near = problem.tol * (1.0 if sense > 0 else abs(found.value))
    status = "optimal" if sense * (bound - found.value) <= near else watch.status
    return replace(found, bound=bound, status=status, nodes=found.nodes + watch.nodes)


def _bound(problem: Problem, found: Outcome, watch: Watch) -> float:
    trivial = problem.trivial_bound
    if found.value == trivial:
        return trivial
    with np.errstate(all="ignore"):
        try:
            rows = _placed(problem, found.inliers)
            if rows is None:
                return trivial
            if problem.objective.name == "lts":
                return max(_least(rows, found.value, watch), trivial)
            return _most_r2(rows, found.value, problem.tol, watch)
        except np.linalg.LinAlgError:  # not finite
            return trivial


@dataclass(frozen=True)
class _Rows:
    """All rows in coordinates of the coefficients in which the fit of those kept is at zero: a
    row's residual at b is r - z.b, and ``kept`` rows have the sum of z z' of a unit matrix.

    The least sum over k rows of squares of residuals, less ``credit``, is asked for.
    """

    z: Floats
    r: Floats
    length: Floats  # of z
    error: tuple[Floats, Floats]  # of r, and of the length of z
    kept: Mask
    credit: Floats
    credit_size: float  # of what it is computed from
    y: Floats  # less the mean of those kept, times the root of the weight
    y_size: float  # of what its sum of squares is computed from

    @property
    def gone(self) -> int:
        return int(len(self.r) - self.kept.sum())


def _placed(problem: Problem, inliers: Ints) -> _Rows | None:
    """The rows around the fit of some; None where their predictors nearly depend."""
    n, root = problem.n, np.ones(problem.n)
    x, y = problem.x, problem.y
    if problem.weights is not None:
        root = np.sqrt(problem.weights)
    if problem.intercept:
        x, y = x - np.median(x, axis=0), y - np.median(y)
        x = np.column_stack([np.ones(n), x])
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    x, y = x * root[:, None], y * root
    kept = np.zeros(n, dtype=bool)
    kept[inliers] = True
    q, triangle = np.linalg.qr(x[kept])
    scale = np.abs(np.diag(triangle))
    if not scale.min() > 0 or not np.linalg.cond(triangle / scale) < _WORST_CONDITION:
        return None
    basis = np.linalg.inv(triangle)
    coef = basis @ (q.T @ y[kept])
    z, r = x @ basis, y - x @ coef
    unit = (x.shape[1] + 8) * _UNIT
    off_r = unit * (np.abs(y) + np.abs(x) @ np.abs(coef))
    off_z = unit * np.linalg.norm(np.abs(x) @ np.abs(basis), axis=1)
    mean = float(root[kept] @ y[kept] / (root[kept] @ root[kept])) if problem.intercept else 0.0
    length = np.linalg.norm(z, axis=1) * (1 + 1e-12) + off_z
    return _Rows(
        z, r, length, (off_r, off_z), kept, np.zeros(n), 0.0, y - mean * root,
        float(np.sum((np.abs(y) + abs(mean) * root) ** 2)),
    )  # fmt: skip


def _most_r2(rows: _Rows, value: float, tol: float, watch: Watch) -> float:
    """What no R2 passes: R2 > t needs a sum of squares below (1 - t) times that of y about its
    mean, and so about any number, such as the mean of the rows kept."""
    square = rows.y**2

    def holds(t: float) -> bool:
        less = replace(rows, credit=(1 - t) * square, credit_size=rows.y_size * (1 - t))
        return _least(less, 0.0, watch) >= 0

    low, high = 0.0, 1 - value  # above the value: what is not proved, what is
    above = 0.5 * max(tol, 1e-12)
    for _ in range(_TRIED):
        if value + above >= 1 or not watch.goes_on():
            break
        if holds(value + above):
            high = above
        else:
            low = above
        if high <= tol or high <= _NEAR * low:
            break
        above = max(high * _SHRINK, math.sqrt(low * high))
    return value + high


def _least(rows: _Rows, goal: float, watch: Watch) -> float:
    """At most the least sum of any k rows, and at most ``goal``, which the rows kept do not go
    below; minus infinity if nothing is known.

    The shell with the least bound is cut into two until its bound reaches the goal.
    """
    outside = _outside(rows, goal)
    if outside is None:
        return -math.inf
    search = _Search(rows, goal, outside)
    waiting = [search.bounded(0.0, outside.radius, _start(rows))]
    while search.left > 0 and watch.goes_on():
        watch.nodes += 1
        worst = heapq.heappop(waiting)
        cut = math.sqrt(worst.inner * worst.outer) if worst.inner > 0 else _CUT * worst.outer
        thin = cut > _THINNEST * worst.outer or worst.outer < 1e-9 * outside.radius
        if worst.least >= search.enough or thin:
            return min(worst.least, goal)
        for inner, outer in ((worst.inner, cut), (cut, worst.outer)):
            heapq.heappush(waiting, search.bounded(inner, outer, worst))
    return min(waiting[0].least, goal)


@dataclass(frozen=True)
class _Outside:
    """The sum is at least base - 2 slope |b| + square |b|^2."""

    base: float
    slope: float
    square: float
    goal: float

    @property
    def radius(self) -> float:
        """Beyond which it passes the goal."""
        under = self.slope**2 + self.square * (self.goal - self.base)
        return (self.slope + math.sqrt(max(under, 0.0))) / self.square * (1 + 1e-9)

    def least(self, inner: float, outer: float) -> float:
        at = min(max(self.slope / self.square, inner), outer)
        return self.base - 2 * self.slope * at + self.square * at * at


def _outside(rows: _Rows, goal: float) -> _Outside | None:
    """By sums over the rows kept, or these and rows like them, less the m largest squares."""
    costs = np.sort(rows.r**2)
    near = rows.r**2 <= 2.5 * costs[len(costs) - rows.gone - 1]
    near &= rows.length <= 2 * np.quantile(rows.length[rows.kept], 0.99)
    found = None
    for those in (rows.kept, rows.kept | near):
        one = _without_largest(rows, those, goal)
        if one is not None and (found is None or one.radius < found.radius):
            found = one
    return found


def _without_largest(rows: _Rows, those: Mask, goal: float) -> _Outside | None:
    """Of a set R of rows at most m go, those of D:

        sum over R - D  =  sum over R of (r - z.b)^2 - sum over D of r^2 + 2 g_D.b - b' K_D b

    and for any D of m rows |g_D.u| <= sqrt(m max sum r^2 (z.u)^2), u' K_D u <= sqrt(m max sum
    (z.u)^4), |u| = 1.
    """
    z, r, m = rows.z[those], rows.r[those], rows.gone
    unit = (len(r) + 100 * z.shape[1]) * _UNIT
    square = np.sort(r**2)[::-1]
    gram, tilt = z.T @ z, z.T @ r
    steep = float(np.linalg.eigvalsh((z * (r**2)[:, None]).T @ z)[-1])
    lost = min(math.sqrt(m * _fourth(z)), float(np.sort(np.sum(z**2, axis=1))[::-1][:m].sum()))
    left = float(np.linalg.eigvalsh(gram)[0]) - lost - unit * float(np.trace(gram))
    if not left > 1e-3:
        return None
    off = math.sqrt(float(np.sum((rows.error[0][those]) ** 2)))
    off_z = math.sqrt(float(np.sum((rows.error[1][those]) ** 2)))
    steep += unit * float(np.sum(r**2 * np.sum(z**2, axis=1)))
    slope = float(np.linalg.norm(tilt)) + math.sqrt(m * steep)
    slope += (unit + off_z) * math.sqrt(float(square.sum() * max(np.trace(gram), 1.0)))
    slope += off * math.sqrt(float(np.trace(gram)))
    credit = float(np.sort(rows.credit)[::-1][: int(rows.kept.sum())].sum())
    base = float(square.sum() - square[:m].sum()) - credit
    base -= unit * (float(square.sum()) + credit) + 2 * off * math.sqrt(float(square.sum()))
    square_left = left - 3 * off_z * math.sqrt(float(np.trace(gram)))
    return _Outside(base, slope, square_left, goal) if square_left > 1e-3 else None


def _fourth(z: Floats) -> float:
    """At least the largest sum of (z.u)^4 over unit vectors u.

    It is v' F v with v the products of two entries of u and F the sum of products of those of z;
    the square of the sum of squares among them less |v|^2 is zero, so that any multiple of that
    may be taken off.
    """
    i, j = np.triu_indices(z.shape[1])
    if len(i) > _PRODUCTS:
        return math.inf
    pairs = z[:, i] * z[:, j] * np.where(i == j, 1.0, math.sqrt(2.0))
    sums = pairs.T @ pairs
    square = (i == j).astype(float)
    zero = np.outer(square, square) - np.eye(len(i))
    size = float(np.trace(sums))

    def largest(times: float) -> float:
        return float(np.linalg.eigvalsh(sums - times * zero)[-1])

    tried = [largest(c / len(z)) for c in (0.0, 0.4, 0.7, 1.0, 1.4)]
    return min(tried) + (len(z) + 100 * len(i)) * _UNIT * size


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


def _start(rows: _Rows) -> _Shell:
    """All directions, and those of the rows that go."""
    p = rows.z.shape[1]
    out = rows.z[~rows.kept]
    outer = out.T @ out
    moments = 0.5 * np.eye(p) / p + 0.5 * outer / max(float(np.trace(outer)), 1e-300)
    return _Shell(-math.inf, 0.0, math.inf, 0, np.zeros(p), moments, 2)


class _Search:
    """Bounds of shells, better ones from those of wider shells."""

    def __init__(self, rows: _Rows, goal: float, outside: _Outside) -> None:
        self.rows, self.outside = rows, outside
        self.enough = goal - 1e-10 * abs(goal)
        self.thresholds = _thresholds(rows)
        n, p = rows.z.shape
        self.left = int(min(_MOST_WORK / (n * p * p), _MOST_QUADRATICS))

    def bounded(self, inner: float, outer: float, wider: _Shell) -> _Shell:
        """By the threshold of the wider shell, and by others as long as they are better."""
        if inner == 0 and self._decides(outer):
            return replace(wider, least=math.inf, inner=inner, outer=outer)
        floor = max(wider.least, self.outside.least(inner, outer))
        best = replace(wider, least=-math.inf)
        for way in (1, -1):
            at = wider.threshold if way > 0 else wider.threshold - 1
            while 0 <= at < len(self.thresholds) and best.least < self.enough:
                one = self._truncated(inner, outer, at, wider)
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
        apart = 8 * _UNIT * rows.credit_size
        return bool(most[rows.kept].max() + apart < least[~rows.kept].min())

    def _truncated(self, inner: float, outer: float, at: int, start: _Shell) -> _Shell:
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
        allowed = 2 * (n + 20 * p) * _UNIT * rounding + 2 * moved * math.sqrt(largest)
        return float(dual[best]) - allowed, vectors @ where, vectors @ more @ vectors.T


def _thresholds(rows: _Rows) -> list[float]:
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
    reach = reach + 4 * _UNIT * size
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

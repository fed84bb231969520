"""Concentration steps with several predictors: a good subset for any number of them, no proof.

From a subset fit the plane; to first order a row with residual e is worth

    -w e^2                                  for lts,
    w (y - mean)^2 / TSS - w e^2 / RSS      for r2 (the gain of log TSS - log RSS).

Keep the k rows worth most and repeat while the value rises. Starts are planes through as many
random rows as they have coefficients, tried on a subsample where n is large; the best few are
polished on all rows. Three more starts are the half of the rows nearest the centre of all columns,
by three robust covariances (as in DetMCD of Hubert, Rousseeuw and Verdonck 2012): with many
leverage points hardly any random start of twenty rows is clean. Then a tenth to six tenths of the
dropped rows change places with others, and steps begin anew. All starts of a round step together:
sums over subsets are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.least_squares import middle, quick_fit
from quadsweep.solving.methods.problem import Outcome, Problem, Watch

STARTS = 500
_SUBSAMPLE = 600  # rows on which starts are tried
_POLISHED = 10
_STEPS = 30
_TOGETHER = 4_000_000  # numbers in the residuals of starts that step together
_SWAPS = 16  # of the best subset, that step together,
_MOST_SWAPS = 12  # so many times,
_SWAP_WORK = 1.5e9  # or until so many products
_AT_ONCE = 50  # starts between two looks at the clock
_SAME = 1e-12  # of pinv: smaller eigenvalues of the scaled sums are rounding


def concentrate(problem: Problem) -> Outcome:
    """The best subset that steps from random planes lead to."""
    if problem.k == problem.n:
        rows = np.arange(problem.n)
        value = problem.fitted(rows)
        return Outcome(rows, value, value, "optimal", 1)
    walk = _Walk(problem)
    try:
        for mask in walk.candidates():
            walk.keep(mask)
            if not walk.goes_on():
                break
    except KeyboardInterrupt:
        walk.status = "interrupted"
    return Outcome(walk.rows, walk.exact(), problem.trivial_bound, walk.status, walk.nodes)


def step(problem: Problem, inliers: Ints) -> list[Ints]:
    """One step from a subset of any size to one of size k; none where it is undefined."""
    weights = None if problem.weights is None else problem.weights[inliers]
    if len(inliers) <= problem.p + problem.intercept:
        return []
    plane = quick_fit(problem.x[inliers], problem.y[inliers], weights, problem.intercept)
    w = np.ones(problem.n) if problem.weights is None else problem.weights
    cost = w * (problem.y - problem.x @ plane.coef - plane.intercept) ** 2
    if problem.objective.name == "r2":
        if not plane.rss > 0 or not plane.tss > 0:
            return []
        mean = float(np.average(problem.y[inliers], weights=weights)) if problem.intercept else 0.0
        cost = cost / plane.rss - w * (problem.y - mean) ** 2 / plane.tss
    return [np.sort(np.argsort(cost, kind="stable")[: problem.k])]


class _Walk(Watch):
    """Subsets on their way, and the best one seen."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem
        self.rng = np.random.default_rng(problem.seed)
        self.z = _scaled(problem)
        self.w = np.ones(problem.n) if problem.weights is None else problem.weights
        self._final = False  # whether the value is that of a whole fit
        self._products: Floats | None = None
        self.rows: Ints = np.array([], dtype=np.int64)

    def keep(self, mask: Mask) -> None:
        """Remember a subset if it is the best; an only one is fitted once, as well as any."""
        p, rows = self.problem, np.flatnonzero(mask)
        self._final = len(self.rows) == 0 and self.clock.time_left() == 0
        if self._final:
            value = p.fitted(rows)
        else:
            weights = None if p.weights is None else p.weights[rows]
            value = quick_fit(p.x[rows], p.y[rows], weights, p.intercept).value(p.objective.name)
        if (
            not math.isnan(value)
            and not p.objective.sense * value <= p.objective.sense * self.value
        ):
            self.rows, self.value = rows, value

    def exact(self) -> float:
        """The value of the best one, as good as any fit's."""
        if self._final or len(self.rows) == 0:
            return self.value
        return self.problem.fitted(self.rows)

    def candidates(self) -> Iterator[Mask]:
        """Polished subsets, the first from all rows; a plain one where there is no more time."""
        p = self.problem
        some = self._sample()
        share = min(len(some), max(p.p + 2, round(p.k * len(some) / p.n)))
        tried = self._stepped(self._starts(some), some, share)
        everyone = np.arange(p.n)
        if len(some) < p.n and self.clock.time_left() > 0:
            self._moments(everyone)
        if len(some) < p.n and self.clock.time_left() == 0:
            for rows in step(p, some[tried[0]]):
                yield _mask(rows, p.n)
            return
        best = tried[:_POLISHED] if len(some) < p.n else tried[: 3 * _POLISHED]
        whole = np.zeros((len(best), p.n), dtype=bool)
        whole[:, some] = best
        whole = np.concatenate([np.ones((1, p.n), dtype=bool), self._central(), whole])
        if p.n * len(whole) <= _TOGETHER:
            yield from self._stepped(whole, everyone, p.k)
        else:
            for one in whole:
                yield self._stepped(one[None], everyone, p.k)[0]
        work = _SWAPS * p.n * self.z.shape[1] ** 2 * 8
        for _ in range(min(_MOST_SWAPS, int(_SWAP_WORK / work))):
            if len(self.rows) == 0 or self.clock.time_left() == 0:
                return
            yield self._stepped(self._swapped(), everyone, p.k)[0]

    def _central(self) -> Mask:
        """The half of the rows nearest the centre of all columns, by three robust covariances."""
        z = self.z[:, 1:]
        z = z[:, np.median(np.abs(z), axis=0) > 0]
        n, q = z.shape
        if q < 2 or n <= 2 * q or not self.problem.intercept:
            return np.zeros((0, n), dtype=bool)
        z = (z - np.median(z, axis=0)) / np.median(np.abs(z - np.median(z, axis=0)), axis=0)
        ranks = np.argsort(np.argsort(z, axis=0), axis=0)
        lengths = np.sqrt(np.sum(z * z, axis=1, keepdims=True))
        turned = [np.tanh(z), (ranks + 0.5) / n - 0.5, z / np.maximum(lengths, 1e-12)]
        return np.array([_central_half(z, np.linalg.eigh(t.T @ t)[1]) for t in turned])

    def _swapped(self) -> Mask:
        """The best subset, with some of the rows that go in the place of others."""
        n, gone = self.problem.n, self.problem.n - len(self.rows)
        masks = np.tile(_mask(self.rows, n), (_SWAPS, 1))
        for mask in masks:
            size = min(max(1, round(gone * self.rng.uniform(0.1, 0.6))), gone, n - gone)
            back = self.rng.choice(np.flatnonzero(~mask), size, replace=False)
            away = self.rng.choice(np.flatnonzero(mask), size, replace=False)
            mask[back], mask[away] = True, False
        return masks

    def _sample(self) -> Ints:
        p = self.problem
        if p.n <= _SUBSAMPLE:
            return np.arange(p.n)
        return np.sort(self.rng.choice(p.n, max(_SUBSAMPLE, 20 * p.p), replace=False))

    def _starts(self, some: Ints) -> Mask:
        """As many random rows as a plane has coefficients, for each start."""
        p = self.problem
        size = min(p.p + p.intercept, len(some))
        draws = self.rng.random((STARTS, len(some))).argpartition(size - 1, axis=1)[:, :size]
        masks = np.zeros((STARTS, len(some)), dtype=bool)
        np.put_along_axis(masks, draws, True, axis=1)
        return masks

    def _stepped(self, masks: Mask, some: Ints, k: int) -> Mask:
        """Steps until nothing changes; the best subset of every start, best start first. Some
        starts at a time, and no more of them when the time is over."""
        best, scores = [], []
        for first in range(0, len(masks), _AT_ONCE):
            if first > 0 and self.clock.time_left() == 0:
                break
            part, score = self._stepped_together(masks[first : first + _AT_ONCE], some, k)
            best.append(part)
            scores.append(score)
        order: Ints = np.argsort(-np.concatenate(scores), kind="stable")
        return np.asarray(np.concatenate(best)[order])

    def _stepped_together(self, masks: Mask, some: Ints, k: int) -> tuple[Mask, Floats]:
        """The best subset of every start, and its score."""
        best, score = masks.copy(), np.full(len(masks), -math.inf)
        going = np.arange(len(masks))
        moments = self._moments(some)
        for number in range(_STEPS):
            if number > 1 and self.clock.time_left() == 0:
                break
            worth, value = self._judged(masks[going], moments, some, first=number == 0)
            if number > 0:
                better = value > score[going]
                best[going[better]] = masks[going[better]]
                score[going[better]] = value[better]
                going, worth = going[better], worth[better]
            if len(going) == 0:
                break
            kept = np.argpartition(-worth, k - 1, axis=1)[:, :k]
            masks[going] = False
            np.put_along_axis(fresh := masks[going], kept, True, axis=1)
            masks[going] = fresh
            self.nodes += len(going)
        return best, score

    def _moments(self, some: Ints) -> Floats:
        """Products of every two columns, a row for each point; those of all rows are kept."""
        if len(some) == self.problem.n and self._products is not None:
            return self._products
        z, w = self.z[some], self.w[some]
        products = (w[:, None, None] * z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
        if len(some) == self.problem.n:
            self._products = products
        return np.asarray(products)

    def _judged(
        self, masks: Mask, moments: Floats, some: Ints, first: bool
    ) -> tuple[Floats, Floats]:
        """What every row is worth to every subset, and every subset's score."""
        q = self.z.shape[1] - 1
        gram = (masks @ moments).reshape(len(masks), q + 1, q + 1)
        use = slice(0 if self.problem.intercept else 1, q)
        coef = np.linalg.pinv(gram[:, use, use], rcond=_SAME, hermitian=True) @ gram[:, use, q:]
        z, w = self.z[some], self.w[some]
        square = w * (z[:, q] - coef[..., 0] @ z[:, use].T) ** 2
        rss = np.einsum("bn,bn->b", masks, square)
        if self.problem.objective.name == "lts" or first:
            return -square, -rss
        mean = gram[:, 0, q] / gram[:, 0, 0] if self.problem.intercept else np.zeros(len(masks))
        spread = w * (z[:, q] - mean[:, None]) ** 2
        tss = np.einsum("bn,bn->b", masks, spread)
        tiny = 1e-300
        worth = spread / (tss[:, None] + tiny) - square / (rss[:, None] + tiny)
        return worth, np.where(tss > 0, -rss / (tss + tiny), -math.inf)


def _scaled(problem: Problem) -> Floats:
    """Columns 1, x, y of unit size, about their medians where there is an intercept."""
    columns = np.column_stack([problem.x, problem.y])
    if problem.intercept:
        columns = columns - middle(columns.T)
    size = np.sqrt(np.mean(columns**2, axis=0))
    return np.column_stack([np.ones(problem.n), columns / np.where(size > 0, size, 1.0)])


def _central_half(z: Floats, axes: Floats) -> Mask:
    """The half of the rows nearest the median, by the spread of their projections on the axes."""
    along = z @ axes
    along -= np.median(along, axis=0)
    spread = np.median(np.abs(along), axis=0)
    distance = np.sum((along / np.where(spread > 0, spread, 1.0)) ** 2, axis=1)
    mask: Mask = distance <= np.median(distance)
    return mask


def _mask(rows: Ints, n: int) -> Mask:
    out = np.zeros(n, dtype=bool)
    out[rows] = True
    return out

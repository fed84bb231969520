"""The claims as conditions on a subset.

A claim breaks on a subset when one of its sides does:

    Tilt     the slope lies beyond beta          (sign, slope)
    Strong   r, or -r, lies above a threshold    (reverse, significance gained, R2 reached)
    Weak     |r| lies below a threshold          (significance lost, R2 lost)

Thresholds of significance depend on the number k of points kept and fall as k grows, so that a
proof for the easiest threshold among several k serves them all. Comparisons are strict and have a
margin: statistics within ``tol`` of a threshold are on the side where they began.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, sqrt

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing.decisions import FOUND_NONE, UNKNOWN, Answer, Asker
from quadsweep.auditing.exact import ExactPoints

Threshold = Callable[[int], float]

_STEPS = 12
_LISTED = 200_000
_NEAR = 1e-6
_EXCHANGES = 10**6


@dataclass(frozen=True)
class Side(ABC):
    """One way in which a claim can break."""

    points: ExactPoints

    @abstractmethod
    def broken(self, kept: Ints) -> bool:
        """Whether the claim breaks on this subset, decided exactly."""

    @abstractmethod
    def gain(self, kept: Ints) -> Floats:
        """For every point, the larger the better it is to keep it, seen from this subset."""

    @abstractmethod
    def passed(self, kept: Ints) -> bool:
        """Whether the statistic has reached or passed the range in which the claim breaks."""

    @abstractmethod
    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        """A subset with ``most`` or fewer points removed that breaks the claim, or a proof that
        none does with ``fewest`` to ``most`` removed."""

    @abstractmethod
    def near(self, k: Ints, a: Floats, b: Floats, c: Floats) -> Mask:
        """For many subsets at once, which may break the claim as far as floating point can tell."""

    def propose(self, m: int) -> Ints:
        """A good subset with exactly m removed: concentration steps from all points."""
        kept = np.arange(self.points.n)
        seen: list[Ints] = []
        for _ in range(_STEPS):
            best = np.argpartition(self.gain(kept), m - 1)[m:] if m else kept
            best.sort()
            if seen and np.array_equal(best, seen[-1]):
                break
            seen.append(best)
            kept = best
        return next((s for s in seen if self.broken(s)), seen[-1])

    def checked(self, asker: Asker, answer: Answer, fewest: int, most: int) -> Answer:
        """An answer whose subset, if any, really breaks the claim.

        The engine's thresholds are loosened for rounding. If its subset only passes those, a single
        number of removals is settled by trying them all, where they are few.
        """
        if answer.refuted or (answer.kept is not None and self.broken(answer.kept)):
            return answer
        return self.listed(asker, most) if fewest == most else UNKNOWN

    def listed(self, asker: Asker, m: int) -> Answer:
        """All ways to remove m points, where they are few enough."""
        n = self.points.n
        if comb(n, m) > _LISTED:
            return UNKNOWN
        everyone, ways = np.arange(n), combinations(range(n), m)
        while chunk := list(islice(ways, 4096)):
            asker.check()
            gone = np.array(chunk, dtype=np.int64).reshape(len(chunk), m)
            for row in gone[self.near(*sums_without(self.points, gone))]:
                kept = np.delete(everyone, row)
                if self.broken(kept):
                    return Answer(kept)
        return FOUND_NONE


@dataclass(frozen=True)
class Tilt(Side):
    """sign * (slope - beta) > margin, in units of sd(y)/sd(x) of the subset."""

    beta: float
    margin: float
    sign: int

    def broken(self, kept: Ints) -> bool:
        return self.points.tilt_exceeds(kept, self.beta, self.margin, self.sign)

    passed = broken

    def gain(self, kept: Ints) -> Floats:
        x, y = self.points.x, self.points.y
        u, w = x - x[kept].mean(), y - y[kept].mean()
        return np.asarray(self.sign * u * (w - self.beta * u))

    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        answer = asker.tilt(most, self.beta, self.margin, self.sign)
        if answer.kept is not None and not self.broken(answer.kept):
            answer = Answer(self._with_another_y(answer.kept))
        return self.checked(asker, answer, fewest, most)

    def _with_another_y(self, kept: Ints) -> Ints:
        """Where y is constant on the rows kept, the slope there is 0 and breaks no claim; but one
        row put back makes it vary, and may leave the slope beyond beta."""
        points = self.points
        gone = np.setdiff1d(np.arange(points.n), kept)
        gone = gone[points.y[gone] != points.y[kept[0]]]
        if len(gone) == 0 or np.any(points.y[kept] != points.y[kept[0]]):
            return kept
        a, _, _ = points.floating(kept)
        share = len(kept) / (len(kept) + 1)
        u, w = points.x[gone] - points.x[kept].mean(), points.y[gone] - points.y[kept[0]]
        a1, b1, c1 = a + share * u * u, share * w * w, share * u * w
        past = self.sign * (c1 - self.beta * a1) / np.sqrt(np.maximum(a1 * b1, 1e-300))
        one_more = np.sort(np.append(kept, gone[np.argmax(past)]))
        return one_more if self.broken(one_more) else kept

    def near(self, k: Ints, a: Floats, b: Floats, c: Floats) -> Mask:
        past = self.sign * (c - self.beta * a)
        return np.asarray(~(past < -_NEAR * (np.sqrt(np.abs(a * b)) + abs(self.beta) * np.abs(a))))


@dataclass(frozen=True)
class Strong(Side):
    """sign * r > threshold(k)."""

    threshold: Threshold
    sign: int

    def broken(self, kept: Ints) -> bool:
        return self.points.r_exceeds(kept, self.threshold(len(kept)), self.sign)

    passed = broken

    def gain(self, kept: Ints) -> Floats:
        return self.sign * pull_on_r(self.points, kept)

    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        """The lowest threshold, that of the fewest removals, is the easiest to pass."""
        t = self.threshold(self.points.n - fewest)
        return self.checked(asker, asker.above(most, t, self.sign), fewest, most)

    def near(self, k: Ints, a: Floats, b: Floats, c: Floats) -> Mask:
        limit = np.array([self.threshold(int(i)) for i in k])
        return np.asarray(~(self.sign * correlation(a, b, c) < limit - _NEAR))


@dataclass(frozen=True)
class Weak(Side):
    """|r| < threshold(k), for points with r > threshold(n): turn y over if need be."""

    threshold: Threshold

    def broken(self, kept: Ints) -> bool:
        return self.points.r2_below(kept, self.threshold(len(kept)))

    def passed(self, kept: Ints) -> bool:
        t = self.threshold(len(kept))
        return self.points.r2_below(kept, t) or self.points.r_exceeds(kept, 0.0, -1)

    def gain(self, kept: Ints) -> Floats:
        return -pull_on_r(self.points, kept)

    def decide(self, asker: Asker, fewest: int, most: int) -> Answer:
        """The highest threshold, that of the most removals, is the easiest to fall below."""
        t = self.threshold(self.points.n - most)
        for at_most in (True, False) if fewest == most else (True,):
            answer = asker.below(most, t, at_most=at_most)
            if answer.refuted:
                return answer
            kept = None if answer.kept is None else self.between(answer.kept, most)
            if kept is not None:
                return Answer(kept)
        return self.listed(asker, most) if fewest == most else UNKNOWN

    def near(self, k: Ints, a: Floats, b: Floats, c: Floats) -> Mask:
        limit = np.array([self.threshold(int(i)) for i in k])
        return np.asarray(~(np.abs(correlation(a, b, c)) > limit + _NEAR))

    def between(self, kept: Ints, most: int) -> Ints | None:
        """From a subset with r < t to one that breaks the claim, if steps of one point lead to it.

        Either more points must go, for the threshold of fewer points; or r has jumped past the
        range on the way from all points to this subset, and other ways may not.
        """
        if self.broken(kept):
            return kept
        if self.passed(kept):
            walked = self._walk(kept)
            return walked if walked is not None else self._exchange(kept)
        while len(kept) > self.points.n - most:
            kept = np.delete(kept, np.argmin(self.gain(kept)[kept]))
            if self.broken(kept):
                return kept
        return None

    def _walk(self, kept: Ints) -> Ints | None:
        """Put points back one by one, the one that brings r closest to 0 from below first."""
        inside = np.zeros(self.points.n, dtype=bool)
        inside[kept] = True
        for exchange in (False, True):
            now = inside.copy()
            for _ in range(2 * self.points.n):
                if not self._step(now, exchange):
                    break
                if self.broken(np.flatnonzero(now)):
                    return np.flatnonzero(now)
        return None

    def _exchange(self, kept: Ints) -> Ints | None:
        """Exchange the two rows that bring r closest to 0, again and again."""
        points, kept, k = self.points, kept.copy(), len(kept)
        gone = np.setdiff1d(np.arange(points.n), kept)
        if len(gone) * k > _EXCHANGES:
            return None
        closest = np.inf
        for _ in range(_STEPS):
            a, b, c = points.floating(kept)
            x, y = points.x - points.x[kept].mean(), points.y - points.y[kept].mean()
            u, w, du, dw = x[kept], y[kept], x[gone][:, None], y[gone][:, None]
            a1 = a + du * du - u * u - (du - u) ** 2 / k
            b1 = b + dw * dw - w * w - (dw - w) ** 2 / k
            c1 = c + du * dw - u * w - (du - u) * (dw - w) / k
            r = np.abs(correlation(a1, b1, c1))
            i, j = np.unravel_index(np.argmin(np.where(np.isnan(r), np.inf, r)), r.shape)
            if not r[i, j] < closest:
                return None
            closest = r[i, j]
            kept[j], gone[i] = gone[i], kept[j]
            if self.broken(np.sort(kept)):
                return np.sort(kept)
        return None

    def _step(self, inside: Mask, exchange: bool) -> bool:
        out = np.flatnonzero(~inside)
        kept = np.flatnonzero(inside)
        pull = pull_on_r(self.points, kept)
        rising = out[pull[out] > (pull[kept].min() if exchange else -np.inf)]
        if len(rising) == 0 or self.points.r_exceeds(kept, self.threshold(len(kept)), 1):
            return False
        inside[rising[np.argmin(pull[rising])] if not exchange else rising[-1]] = True
        if exchange:
            inside[kept[np.argmin(pull[kept])]] = False
        return True


def pull_on_r(points: ExactPoints, kept: Ints) -> Floats:
    """To first order, what each point's weight adds to r of the subset (up to a factor)."""
    a, b, c = points.floating(kept)
    x, y = points.x, points.y
    u, w = x - x[kept].mean(), y - y[kept].mean()
    if not (a > 0 and b > 0):
        return np.asarray(u * w)
    u, w = u / sqrt(a), w / sqrt(b)
    r = c / sqrt(a) / sqrt(b)
    return np.asarray(u * w - r / 2 * (u * u + w * w))


def correlation(a: Floats, b: Floats, c: Floats) -> Floats:
    """r from sums, NaN where undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(c / np.sqrt(np.abs(a)) / np.sqrt(np.abs(b)))


def sums_without(points: ExactPoints, gone: Ints) -> tuple[Ints, Floats, Floats, Floats]:
    """k, a, b, c without each row of points to remove."""
    mask = np.ones((len(gone), points.n), dtype=bool)
    np.put_along_axis(mask, gone, False, axis=1)
    k = points.n - gone.shape[1]
    kept = np.nonzero(mask)[1].reshape(len(gone), k)
    u, w = points.x[kept], points.y[kept]
    for _ in range(2):
        u, w = u - u.mean(axis=1, keepdims=True), w - w.mean(axis=1, keepdims=True)
    a, b, c = (u * u).sum(axis=1), (w * w).sum(axis=1), (u * w).sum(axis=1)
    return np.full(len(gone), k), a, b, c

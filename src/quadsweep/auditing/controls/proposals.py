"""Good removals, without proof: each is an upper bound once it is re-checked.

``influence``      the m units that matter most to first order, at all rows (AMIP)
``concentration``  fit on what is kept, remove the m units that are most in the way, repeat
``greedy``         one unit at a time, with refit
``swaps``          one fewer than the best, and then one for another as long as that helps
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.case import Case

_STEPS = 12
_STARTS = 4
_WORK = 10**8  # numbers touched by the greedy path
_SWAPPED = 4 * 10**8  # and by swaps
_TRIED = 2_000  # removals tried one after the other, as the approximations in a summary do
_NEAREST = 5  # groups that are refitted for a swap
_NOTHING = np.zeros(0, dtype=np.int64)


def lowest(values: Floats, m: int) -> Ints:
    """The positions of the m lowest, sorted."""
    if m >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, m)[:m]) if m else _NOTHING


def concentrated(case: Case, m: int, start: Ints = _NOTHING) -> Ints | None:
    """From a removal to one of m units that breaks the claim; None where the steps find none."""
    seen: list[Ints] = []
    removal = start
    for _ in range(_STEPS):
        following = lowest(case.gain(removal), m)
        if any(np.array_equal(following, old) for old in seen):
            break
        seen.append(following)
        removal = following
        if case.excess(removal) > -1e-6 and case.broken(removal):
            return removal
    return next((s for s in seen[::-1] if case.broken(s)), None)


class Proposer:
    """Removals that break a claim, from above: the fewest units it can find."""

    def __init__(self, case: Case, most: int, check: Callable[[], object], seed: int = 0) -> None:
        self._case, self._most, self._check = case, most, check
        self._rng = np.random.default_rng(seed)
        self._path: list[int] = []  # the greedy one, as far as it was followed
        self._swaps = float(_SWAPPED)  # numbers that may still be touched
        self.best: Ints | None = None

    @property
    def last(self) -> int:
        """The largest number of removals that would be better than the best."""
        return self._most if self.best is None else len(self.best) - 1

    def quick(self) -> Iterator[Ints]:
        """Removals that break the claim, by influence and concentration."""
        yield from self.by_influence()
        yield from self._by_halving()

    def thorough(self) -> Iterator[Ints]:
        """Smaller ones: in the order of influence, greedily, and one unit fewer as long as that
        works."""
        yield from self._one_by_one()
        yield from self._greedy()
        yield from self._downwards()

    def _take(self, removal: Ints | None) -> bool:
        if removal is None or len(removal) > self.last or not self._case.broken(removal):
            return False
        self.best = removal
        return True

    def by_influence(self) -> Iterator[Ints]:
        """The first units in the order of their influence that break the claim, by halving."""
        effect, _ = self._case.influence()
        order = np.argsort(-effect, kind="stable")
        low, high = 0, 1
        while high < self.last and not self._case.passed(np.sort(order[:high])):
            low, high = high, min(2 * high, self.last)
        while high - low > 1:
            middle = (low + high) // 2
            if self._take(np.sort(order[:middle])):
                high = middle
            else:
                low = middle
        self._take(np.sort(order[:high]))
        if self.best is not None:
            yield self.best

    def _by_halving(self) -> Iterator[Ints]:
        low, high = 0, 1
        while high < self.last and not self._try(high):
            low, high = high, min(2 * high, self.last)
        while high - low > 1:
            middle = (low + high) // 2
            if self._try(middle):
                high = middle
            else:
                low = middle
        if self.best is not None:
            yield self.best

    def _try(self, m: int) -> bool:
        self._check()
        found = concentrated(self._case, m)
        return self._take(found)

    def _one_by_one(self) -> Iterator[Ints]:
        """The first units in the order of their influence: what halving may have jumped over."""
        order = np.argsort(-self._case.influence()[0], kind="stable")
        for m in range(1, min(self.last, _TRIED) + 1):
            self._check()
            if self._case.excess(np.sort(order[:m])) > -1e-6 and self._take(np.sort(order[:m])):
                assert self.best is not None
                yield self.best
                return

    def _greedy(self) -> Iterator[Ints]:
        for unit in greedy_path(self._case, self.last, self._check):
            self._path.append(unit)
            if self._take(np.sort(np.array(self._path))):
                assert self.best is not None
                yield self.best
                return

    def _downwards(self) -> Iterator[Ints]:
        """One unit fewer, from the best removal, from it with a unit put back, and from others."""
        while self.best is not None and self.last >= 1 and self._fewer():
            yield self.best

    def _fewer(self) -> bool:
        assert self.best is not None
        self._check()
        best, m = self.best, self.last
        if self._take(concentrated(self._case, m, best)):
            return True
        gain = self._case.gain(best)[best]
        for i in np.argsort(-gain)[: min(len(best), 40)]:
            if self._take(np.delete(best, i)):
                return True
        for _ in range(_STARTS):
            self._check()
            half = self._rng.permutation(best)[: max(1, m // 2)]
            others = self._rng.integers(0, self._case.moments.design.size, size=m - len(half))
            start = np.unique(np.concatenate([half, others]))
            if self._take(concentrated(self._case, m, start)):
                return True
        return any(self._swap(start) for start in self._starts(best, m))

    def _starts(self, best: Ints, m: int) -> Iterator[Ints]:
        """Of m units: the best without the one that is missed least, the first ones of the greedy
        path and by influence, and the best with some others."""
        yield np.delete(best, int(np.argmax(self._case.gain(best)[best])))
        if len(self._path) >= m:
            yield np.sort(np.array(self._path[:m]))
        yield np.sort(np.argsort(-self._case.influence()[0], kind="stable")[:m])
        for _ in range(_STARTS):
            some = self._rng.permutation(best)[: m - max(1, m // 5)]
            others = np.setdiff1d(np.arange(self._case.moments.design.size), some)
            yield np.sort(np.append(some, self._rng.permutation(others)[: m - len(some)]))

    def _swap(self, removal: Ints) -> bool:
        """One for another until none is better."""
        work = self._case.moments.design.n * (self._case.moments.rank + 8)
        better = True
        while better and self._swaps > 0:
            better = False
            for unit in removal[np.argsort(-self._case.gain(removal)[removal])].tolist():
                self._check()
                self._swaps -= work
                others = removal[removal != unit]
                gained, instead = _instead(self._case, others, unit)
                if gained > 0:
                    removal, better = np.sort(np.append(others, instead)), True
                    if self._take(removal):
                        return True
                if self._swaps <= 0:
                    break
        return False


def greedy_path(case: Case, most: int, check: Callable[[], object]) -> Iterator[int]:
    """Units in the order in which they go, each the best to remove given those gone."""
    design = case.moments.design
    gone: list[int] = []
    work = design.n * (case.moments.rank + 8)
    for _ in range(min(most, max(1, _WORK // work))):
        check()
        removal = np.array(sorted(gone), dtype=np.int64)
        score = _without_each(case, removal)
        score[removal] = -np.inf
        best = int(np.argmax(score))
        if not np.isfinite(score[best]):
            return
        gone.append(best)
        yield best


def _instead(case: Case, others: Ints, unit: int) -> tuple[float, int]:
    """What is gained by removing another unit with the others in the place of this, and which."""
    score = _without_each(case, others)
    score[others] = -np.inf
    if case.moments.design.units is not None:  # to first order only: the nearest are refitted
        refitted = np.full(len(score), -np.inf)
        for i in (unit, *np.argsort(-score)[:_NEAREST].tolist()):
            refitted[i] = case.excess(np.sort(np.append(others, i)))
        score = refitted
    best, own = int(np.argmax(score)), float(score[unit])
    if not np.isfinite(score[best]):
        return 0.0, unit
    gained = float(score[best]) - own
    return (gained if gained > 1e-12 * (1 + abs(own)) else 0.0), best


def _without_each(case: Case, removal: Ints) -> Floats:
    """The statistic without each further unit: exact for rows of least squares, or about."""
    if case.moments.design.units is not None or not case.linear:
        return -case.gain(removal)
    r = case.residuals(removal)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1 - r.leverage
        a, b = r.a - r.x * r.x / left, r.b - r.y * r.y / left
        c = r.c - r.x * r.y / left
        fine = (left > 1e-9) & (a > 1e-12) & (b > 1e-12)
        about = case.about_the_mean(r.inside)
        total = float((about[r.inside] ** 2).sum()) - about * about
        score = case.condition.statistic(a, b, c, total)
    return np.where(fine & np.isfinite(score), score, -np.inf)

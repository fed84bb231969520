"""Good removals, without proof: each is an upper bound once it is re-checked.

``influence``      the m units that matter most to first order, at all rows (AMIP)
``concentration``  fit on what is kept, remove the m units that are most in the way, repeat
``greedy``         one unit at a time, with refit
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.case import Case

_STEPS = 12
_STARTS = 4
_WORK = 10**8  # numbers touched by the greedy path
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
        """Smaller ones: greedily, and one unit fewer as long as that works."""
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

    def _greedy(self) -> Iterator[Ints]:
        path: list[int] = []
        for unit in greedy_path(self._case, self.last, self._check):
            path.append(unit)
            if self._take(np.sort(np.array(path))):
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


def _without_each(case: Case, removal: Ints) -> Floats:
    """The statistic without each further unit: exact for rows, to first order for groups."""
    if case.moments.design.units is not None:
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

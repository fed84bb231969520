"""Good removals, without proof: each is an upper bound once it is re-checked.

``influence``      the m units that matter most to first order, at all rows (AMIP)
``fewest_first``   of many rows: fit on what is kept, remove as few as it takes of those most in the
                   way, repeat
``concentration``  fit on what is kept, remove the m units that are most in the way, repeat
``greedy``         one unit at a time, with refit
``swaps``          one fewer than the best, and then one for another as long as that helps
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import R2Beyond
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.controls.row_tests import RowExchange
from quadsweep.auditing.minimal_removal import RemovalHeuristic
from quadsweep.auditing.screening import Screen

_STEPS = 12
_STARTS = 4
_SWAP_STARTS, _UNITS_A_START = 30, 15  # random starts of swaps at most, one for so many units
_WORK = 10**8  # numbers touched by the greedy path
_SWAPPED = 4 * 10**8  # and by swaps
_TRIED = 2_000  # removals tried one after the other where no screen says which may do
_NEAREST = 5  # groups that are refitted for a swap
_ITERATED = 50  # what a fit by iteration costs, in those of least squares
_MANY = 50_000  # rows: with more, only those near the front of the order are looked at
_FRONT = 20_000  # so many of them at least, and _TIMES as many as are to go
_TIMES = 4
_NOTHING = np.zeros(0, dtype=np.int64)


def find_lowest(values: Floats, m: int) -> Ints:
    """The positions of the m lowest, sorted."""
    if m >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, m)[:m]) if m else _NOTHING


def concentrate(
    problem: BreakProblem, m: int, start: Ints = _NOTHING, among: Ints | None = None
) -> Ints | None:
    """From a removal to one of m units that breaks the claim; None where the steps find none.

    ``among`` are the rows that may go, in ascending order; all where it is None.
    """
    seen: list[Ints] = []
    removal, unclear, before = start, [], -math.inf
    for left in range(_STEPS, 0, -1):
        if among is None:
            following = find_lowest(problem.gain(removal), m)
        else:
            following = among[find_lowest(problem.gain_among(removal, among), m)]
        if any(np.array_equal(following, old) for old in seen):
            break
        seen.append(following)
        removal, now = following, problem.excess(following)
        if now > -1e-6 and problem.broken(removal):
            return removal
        if now == -math.inf:
            unclear.append(removal)
        # Steps get smaller: where as many of this one would not do, none of many rows will.
        if among is not None and (now - before) * left < -now:
            break
        before = now
    return next((s for s in unclear[::-1] if problem.broken(s)), None)


def fewest_first(problem: BreakProblem, rows: Ints, gain: Floats) -> Ints | None:
    """As few of these rows as break the claim, those of the least gain; None where all do not.

    About: in floating point, and as if every row brought it nearer. Rows are parted and not sorted,
    and the sums of a part are added up once, so that it takes two looks at each row. For problems
    of least squares without classes whose condition is not of R2.
    """
    m = problem.moments
    gone: list[Ints] = []
    count, known = 0, np.zeros((m.q.shape[1] + 2,) * 2)

    def products(some: Ints) -> Floats:
        columns = np.column_stack([m.q[some], m.x[some], m.y[some]])
        return np.asarray(known + columns.T @ columns)

    if not problem.passed_by(m.without_products(len(rows), products(rows))):
        return None
    while len(rows) > 1:
        half = len(rows) // 2
        order = np.argpartition(gain, half)
        low, rest = order[:half], order[half:]
        both = products(rows[low])
        if problem.passed_by(m.without_products(count + half, both)):
            rows, gain = rows[low], gain[low]
        else:
            gone.append(rows[low])
            count, known = count + half, both
            rows, gain = rows[rest], gain[rest]
    return np.sort(np.concatenate([*gone, rows]))


class RowHeuristic(RemovalHeuristic):
    """Removals that break a claim, from above: the fewest units it can find.

    ``followed`` says how many of the removals that were smaller than the best have been looked at
    in the order of influence, and on the greedy path; infinity where all have.
    """

    def __init__(
        self, problem: BreakProblem, most: int, check: Callable[[], object], seed: int = 0
    ) -> None:
        self.most, self._problem, self._check = most, problem, check
        self._allowed = most  # by the user
        self._rng = np.random.default_rng(seed)
        self._path: list[int] = []  # the greedy one, as far as it was followed
        self._swaps = float(_SWAPPED)  # numbers that may still be touched
        self._candidates = _NOTHING
        self._concentrates = False  # whether rows are so few that all are looked at
        self._exchanges = True  # whether steps by the test itself are still to be made
        self._halved = False  # whether the order of influence was, to its end
        self.best: Ints | None = None
        self.followed: tuple[float, float] = (0, 0)

    @property
    def last(self) -> int:
        """The largest number of removals that would be better than the best."""
        return self.most if self.best is None else min(self.most, len(self.best) - 1)

    def at_first(self) -> Iterator[Ints]:
        """Yield removals by influence; of many rows, as few as it takes."""
        yield from self._of_many()
        alone = self.most == self._allowed or not self._has_front
        self._concentrates = self.best is None and alone
        if self._concentrates:
            yield from self._by_influence(self._check)

    def quick(self) -> Iterator[Ints]:
        """Yield removals by concentration."""
        if self._concentrates:
            yield from self._by_halving()
        yield from self._downwards()

    def usual(self) -> Iterator[Ints]:
        """Those of the usual approximations: in the order of influence, and greedily."""
        yield from self._by_influence_on_test()
        yield from self._one_by_one(self._check)
        yield from self._greedy()
        self.followed = (math.inf, math.inf)

    def thorough(self) -> Iterator[Ints]:
        """One unit fewer, from the best removal, from it with a unit put back, and from others."""
        while self.best is not None and self.last >= 1 and self._fewer():
            yield self.best
        if self._exchanges and RowExchange.handles(self._problem):
            self._exchanges = False
            yield from self._by_the_test()

    def from_random_start(self) -> Iterator[Ints]:
        """Yield a better removal from the best with a random part of it exchanged."""
        if self.best is None or self.last < 1:
            return
        self._swaps = float(_SWAPPED)
        size, m = self._problem.moments.design.size, self.last
        kept = self._rng.permutation(self.best)[: self._rng.integers(0, m)]
        others = np.delete(np.arange(size), kept)
        start = np.append(kept, self._rng.permutation(others)[: m - len(kept)])
        if self._swap(np.sort(start)):
            yield self._found
            yield from self.thorough()

    def _by_the_test(self) -> Iterator[Ints]:
        """Yield removals that steps of one row find by the test itself."""
        assert isinstance(self._problem, RobustProblem)
        rows = RowExchange(self._problem, self._check)
        if self._take(rows.greedy(self.last)):
            yield self._found
        while self.best is not None and self.last >= 1:
            missed_least = int(np.argmax(self._problem.gain(self.best)[self.best]))
            if not self._take(rows.exchange(np.delete(self.best, missed_least))):
                return
            yield self._found

    def _take(self, removal: Ints | None) -> bool:
        if removal is None or len(removal) > self.last or not self._problem.broken(removal):
            return False
        self.best = removal
        return True

    def by_influence(self, check: Callable[[], object]) -> Iterator[Ints]:
        """The best so far, and those in the order of influence that were not looked at."""
        if self.best is not None:
            yield self.best
        yield from self._by_influence(check)
        yield from self._one_by_one(check)

    def _by_influence(self, check: Callable[[], object]) -> Iterator[Ints]:
        """The first units in the order of their influence that break the claim, by halving: once,
        unless the first time was stopped."""
        if self._halved:
            return
        order = self._order
        low, high = 0, 1
        while high < self.last and not self._problem.passed(np.sort(order[:high])):
            check()
            low, high = high, min(2 * high, self.last)
        if self._take(np.sort(order[:high])):
            yield self._found
        while high - low > 1:
            check()
            middle = (low + high) // 2
            if self._take(np.sort(order[:middle])):
                high = middle
                yield self._found
            else:
                low = middle
        self._halved = True

    @property
    def _found(self) -> Ints:
        assert self.best is not None
        return self.best

    @cached_property
    def _order(self) -> Ints:
        """All units, those of the greatest influence first."""
        return np.argsort(-self._problem.influence()[0], kind="stable")

    def _of_many(self, removal: Ints = _NOTHING) -> Iterator[Ints]:
        """Of many rows, as few as it takes: seen from a removal, then from what was found; among
        those in front, and where that leads no further, among all."""
        m = self._problem.moments
        if (
            type(self._problem) is not BreakProblem
            or not self._has_front
            or m.degenerate
            or not m.basis.clear
        ):
            return
        found = self._seen_from(removal)
        for _ in range(_STEPS):
            if found is None or len(found) > 2 * self.last:
                return
            if self._take(found):
                yield found
            removal, front = found, self._front(len(found))
            found = fewest_first(self._problem, front, self._problem.gain_among(removal, front))
            if found is None or len(found) >= len(removal):
                found = self._seen_from(removal)
            if found is None or len(found) >= len(removal):
                return

    def _seen_from(self, removal: Ints) -> Ints | None:
        """As few as it takes among all rows, which are then in front by what is seen from here."""
        gain = self._problem.gain(removal) if len(removal) else self._first_gain
        found, wanted = None, max(_FRONT, _TIMES * len(removal))
        while found is None:
            self._check()
            front = self._candidates = find_lowest(gain, wanted)
            found = fewest_first(self._problem, front, gain[front])
            if len(front) >= min(2 * self.last, len(gain)):
                break
            wanted *= _TIMES
        return found

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
        among = self._front(m) if self._has_front else None
        return self._take(concentrate(self._problem, m, _NOTHING, among))

    def from_one(self, removal: Ints) -> Iterator[Ints]:
        """Smaller ones from a removal that was found by others."""
        if len(removal) <= self.last:
            self.best = removal
        yield from self._of_many(removal)
        yield from self._downwards()

    def _downwards(self) -> Iterator[Ints]:
        """One fewer, from the best removal, where only some rows are looked at."""
        while self.best is not None and self.last and self._has_front:
            self._check()
            fewer = concentrate(self._problem, self.last, self.best, self._front(self.last))
            if not self._take(fewer):
                return
            yield self.best

    @cached_property
    def _has_front(self) -> bool:
        """Whether rows are many, and to be looked at one by one."""
        m = self._problem.moments
        of_r2 = isinstance(self._problem.condition, R2Beyond)
        many = m.design.size > _MANY and m.classes is None
        return many and _by_rows(self._problem) and not of_r2

    def _front(self, m: int) -> Ints:
        """The rows among which m are looked for: those whose removal seemed best when all rows were
        last looked at."""
        wanted = max(_FRONT, _TIMES * m)
        if len(self._candidates) < min(wanted, len(self._first_gain)):
            self._candidates = find_lowest(self._first_gain, 2 * wanted)
        return self._candidates

    @cached_property
    def _first_gain(self) -> Floats:
        return self._problem.gain(_NOTHING)

    def _by_influence_on_test(self) -> Iterator[Ints]:
        """The first units in the order of their influence on the robust test."""
        if not isinstance(self._problem, RobustProblem):
            return
        found = self._problem.influence_on_test()
        order = _NOTHING if found is None else np.argsort(-found[0], kind="stable")[: self.last]
        for m in promising_sizes(self._problem, order):
            self._check()
            if may_break(self._problem, order[:m]) and self._take(np.sort(order[:m])):
                yield self._found
                return

    def _one_by_one(self, check: Callable[[], object]) -> Iterator[Ints]:
        """The first units in the order of their influence: what halving may have jumped over."""
        if math.isinf(self.followed[0]):
            return
        order = self._order[: self.last]
        for m in promising_sizes(self._problem, order):
            check()
            if m > self.last:
                break
            self.followed = (m, 0)
            if may_break(self._problem, order[:m]) and self._take(np.sort(order[:m])):
                yield self._found
                break
        self.followed = (math.inf, 0)

    def _greedy(self) -> Iterator[Ints]:
        for unit in greedy_path(self._problem, self.last, self._check):
            self._path.append(unit)
            self.followed = (math.inf, len(self._path))
            if may_break(self._problem, np.array(self._path)) and self._take(np.sort(self._path)):
                yield self._found
                return

    def _fewer(self) -> bool:
        assert self.best is not None
        self._check()
        best, m = self.best, self.last
        if self._take(concentrate(self._problem, m, best)):
            return True
        gain = self._problem.gain(best)[best]
        for i in np.argsort(-gain)[: min(len(best), 40)]:
            if self._take(np.delete(best, i)):
                return True
        for _ in range(_STARTS):
            self._check()
            half = self._rng.permutation(best)[: max(1, m // 2)]
            others = self._rng.integers(0, self._problem.moments.design.size, size=m - len(half))
            start = np.unique(np.concatenate([half, others]))
            if self._take(concentrate(self._problem, m, start)):
                return True
        return any(self._swap(start) for start in self._starts(best, m))

    def _starts(self, best: Ints, m: int) -> Iterator[Ints]:
        """Of m units: the best without the one that is missed least, the first ones of the greedy
        path and by influence, and the best with some others."""
        yield np.delete(best, int(np.argmax(self._problem.gain(best)[best])))
        if len(self._path) >= m:
            yield np.sort(np.array(self._path[:m]))
        yield np.sort(self._order[:m])
        size = self._problem.moments.design.size
        for _ in range(min(_SWAP_STARTS, size // _UNITS_A_START)):
            some = self._rng.permutation(best)[: m - max(1, m // 5)]
            others = np.delete(np.arange(size), some)
            yield np.sort(np.append(some, self._rng.permutation(others)[: m - len(some)]))

    def _swap(self, removal: Ints) -> bool:
        """One for another until none is better."""
        work = self._problem.moments.design.n * (self._problem.moments.q.shape[1] + 8)
        if not self._problem.linear:
            work *= _ITERATED * (_NEAREST + 1)
        swapped = _Swaps(self._problem, removal)
        better = True
        while better and self._swaps > 0:
            better = False
            for unit in swapped.rank_by_gain():
                self._check()
                self._swaps -= work
                if swapped.exchange(unit):
                    better = True
                    if self._take(swapped.removal):
                        return True
                if self._swaps <= 0:
                    break
        return False


class _Swaps:
    """A removal of which one unit after the other is exchanged for a better one."""

    def __init__(self, problem: BreakProblem, removal: Ints) -> None:
        self._problem, self.removal = problem, removal
        self._state = problem.without_units(removal) if _by_rows(problem) else None

    def rank_by_gain(self) -> list[int]:
        """Its units, those that are missed most first."""
        order: Ints = np.argsort(-self._problem.gain(self.removal)[self.removal])
        units: list[int] = self.removal[order].tolist()
        return units

    def exchange(self, unit: int) -> bool:
        """Remove the best unit in the place of this, if there is a better one."""
        others = self.removal[self.removal != unit]
        if self._state is None:
            score, state = _nearest(self._problem, others, unit), None
        else:
            state = self._state.return_row(unit)
            score = self._problem.statistic_without_each(state)
        best, own = int(np.argmax(score)), float(score[unit])
        if best == unit or not np.isfinite(score[best]):
            return False
        if not float(score[best]) > own + 1e-12 * (1 + abs(max(own, -1.0))):
            return False
        self.removal = np.sort(np.append(others, best))
        self._state = None if state is None else state.without(best)
        return True


def promising_sizes(problem: BreakProblem, order: Ints) -> Iterator[int]:
    """How many of the first units of an order may break the claim."""
    if Screen.fits(problem):
        return Screen(problem).first(order)
    return iter(range(1, min(len(order), _TRIED) + 1))


def may_break(problem: BreakProblem, removal: Ints) -> bool:
    """Whether it may break the claim, as far as rounding tells."""
    return problem.excess(np.sort(removal)) > -1e-6


def greedy_path(problem: BreakProblem, most: int, check: Callable[[], object]) -> Iterator[int]:
    """Units in the order in which they go, each the best to remove given those gone."""
    design = problem.moments.design
    gone: list[int] = []
    work = design.n * (problem.moments.q.shape[1] + 8)
    state = problem.without_units(_NOTHING) if _by_rows(problem) else None
    for _ in range(min(most, max(1, _WORK // work))):
        check()
        removal = np.array(sorted(gone), dtype=np.int64)
        score = -problem.gain(removal) if state is None else problem.statistic_without_each(state)
        score[removal] = -np.inf
        best = int(np.argmax(score))
        if not np.isfinite(score[best]):
            return
        gone.append(best)
        yield best
        state = None if state is None else state.without(best)


def _by_rows(problem: BreakProblem) -> bool:
    """Whether units are rows of least squares, whose removal is a rank-one update."""
    return problem.moments.design.units is None and problem.linear


def _nearest(problem: BreakProblem, others: Ints, unit: int) -> Floats:
    """The statistic without each further unit; to first order only the nearest are refitted."""
    score = -problem.gain(others)
    score[others] = -np.inf
    refitted = np.full(len(score), -np.inf)
    for i in (unit, *np.argsort(-score)[:_NEAREST].tolist()):
        refitted[i] = problem.excess(np.sort(np.append(others, i)))
    return refitted

"""The fewest units whose removal breaks a claim: from above by good removals, from below by proof.

A claim can break in one or more modes, each a problem with a heuristic and its oracles, best first.
The numbers of removals between the two ends that are not yet decided are kept as intervals for each
mode. Oracles are asked about one interval at a time: they refute it, or find a better removal, or
the interval is halved. A question that takes too long is asked again later, with more patience; its
lower half comes first. The highest interval is asked about first, because a better removal there
settles others as well. Of the others the lowest comes first, because it is the easiest to refute.

1. The first units in the order of their influence give a first removal.
2. Every single unit is tried, if that takes milliseconds.
3. Searches that decide small problems in milliseconds are asked at once, with short patience.
4. If they do not answer: better removals, bounds without branching, local search.
5. All oracles are asked about the intervals still open, with growing patience.
6. If no oracle can decide and time is left, local search goes on from random starts.

Oracles that only refute are asked about the lowest interval: only that can raise the lower end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from quadsweep.auditing.oracles import Oracle, first_decision
from quadsweep.auditing.resources import Resources
from quadsweep.clock import Clock, Stopped
from quadsweep.progress import Removals, watching

_PATIENCE = 2.0  # seconds for a question that is asked for the first time
_SHORT = 0.1  # seconds for all questions to a search before any bound
_SHORT_AGAIN = 0.25, 1.0  # share of the time gone, and least seconds, before local search
_NECESSARY = 0.05  # of the time left, for a question about a necessary condition
_FIRST_STEP = 16  # bounds first cover the largest number of removals divided by this
_FRUITLESS = 200  # random starts in a row without a better removal
_GRACE = 0.2  # seconds after a stop, for a first removal where there is none


class OpenInterval(NamedTuple):
    """Numbers of removals to be decided, and the seconds that one question about them may take."""

    low: int
    high: int
    patience: float = _PATIENCE


class RemovalHeuristic:
    """Finds removals that break the claim, without proof. This base class finds none."""

    #: Larger removals are of no use.
    most: int

    def by_influence(self, check: Callable[[], object]) -> Iterator[Any]:
        """Yield removals of the most influential units; call ``check`` at intervals."""
        return iter(())

    def at_first(self) -> Iterator[Any]:
        """Yield removals that are found in a few passes over the rows."""
        return iter(())

    def quick(self) -> Iterator[Any]:
        """Yield better removals that cost little to find."""
        return iter(())

    def from_one(self, removal: Any) -> Iterator[Any]:
        """Yield removals smaller than the given one that cost little to find."""
        return iter(())

    def usual(self) -> Iterator[Any]:
        """Yield removals of the usual approximations, which are shown beside the answer."""
        return iter(())

    def thorough(self) -> Iterator[Any]:
        """Yield the removals of a local search."""
        return iter(())

    def from_random_start(self) -> Iterator[Any]:
        """Yield the removals of a local search from another start, until starts run out."""
        return iter(())


@dataclass(frozen=True)
class BreakMode:
    """One way for the claim to break, with its heuristic and its oracles."""

    heuristic: RemovalHeuristic
    oracles: Sequence[Oracle]

    @property
    def finds(self) -> bool:
        """Whether the best oracle can find removals."""
        return bool(self.oracles) and self.oracles[0].finds

    @property
    def is_fast(self) -> bool:
        """Whether the best oracle needs no heuristic before it."""
        return bool(self.oracles) and self.oracles[0].is_fast

    @property
    def searches(self) -> list[Oracle]:
        """The oracles that are asked before bounds."""
        return [oracle for oracle in self.oracles if oracle.is_search]

    @property
    def has_necessary_condition(self) -> bool:
        return any(oracle.is_necessary for oracle in self.oracles)

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        """Whether a bound without branching refutes these numbers."""
        return any(oracle.refutes_at_once(fewest, most) for oracle in self.oracles)

    def refutes_necessary(self, fewest: int, most: int, patience: float) -> bool:
        """Whether a necessary condition is refuted for these numbers."""
        necessary = (oracle for oracle in self.oracles if oracle.is_necessary)
        return first_decision(necessary, fewest, most, patience)[0].refuted


class MinimalRemovalSearch:
    """Searches for the fewest removals that break a claim which holds on all rows.

    Attributes
    ----------
    removal : units whose removal breaks it, or None.
    lower : no fewer break it.
    status : ``optimal`` if nothing is left open, ``undecided``, or what stopped the search.
    """

    def __init__(
        self,
        modes: Sequence[BreakMode],
        most: int,
        resources: Resources,
        report: Report = lambda search: None,
    ) -> None:
        self.removal: Any = None
        self.status = "undecided"
        self._modes, self._most, self._resources, self._report = modes, most, resources, report
        self._open = [[OpenInterval(1, most)] for _ in modes]
        self._stuck: list[OpenInterval] = []  # what no oracle decides

    def run(self) -> MinimalRemovalSearch:
        """Search until everything is decided, nothing more can be, or a limit is reached."""
        stopped = ""
        try:
            self._search()
        except Stopped as stop:
            stopped = stop.status
        except KeyboardInterrupt:
            stopped = "interrupted"
        if stopped:
            self._take_first_removals()
        self.status = "optimal" if self.lower > self.last else stopped or "undecided"
        return self

    @property
    def upper(self) -> int | None:
        """The size of the smallest removal known."""
        return None if self.removal is None else len(self.removal)

    @property
    def last(self) -> int:
        """The largest number of removals that matters."""
        return self._most if self.upper is None else self.upper - 1

    @property
    def lower(self) -> int:
        """No fewer removals than this break the claim."""
        left = [at.low for pending in (*self._open, self._stuck) for at in pending]
        return min([self.last + 1, *left])

    def has_open_intervals(self) -> bool:
        """Whether any interval is open. Drops the numbers that no longer matter."""
        for pending in self._open:
            pending[:] = [
                at._replace(high=min(at.high, self.last)) for at in pending if at.low <= self.last
            ]
        return any(self._open)

    def _search(self) -> None:
        self._propose(lambda heuristic: heuristic.at_first())
        needs_bounds = not all(mode.is_fast for mode in self._modes)
        if needs_bounds:
            self._decide_one_unit()
            self._search_exactly(_SHORT)
        self._propose(lambda heuristic: heuristic.quick())
        if needs_bounds:
            self.raise_lower_bound(BreakMode.refutes_at_once)
            self._propose(lambda heuristic: heuristic.usual())
            if all(mode.has_necessary_condition for mode in self._modes):
                patience = min(_NECESSARY * self._resources.time_left(), _PATIENCE)
                self.raise_lower_bound(
                    lambda mode, low, high: mode.refutes_necessary(low, high, patience)
                )
            share, least = _SHORT_AGAIN
            self._search_exactly(max(least, share * self._resources.gone()))
            self._propose(lambda heuristic: heuristic.thorough())
        self.decide_open_intervals()
        if self._resources.is_limited:
            self._use_time_left()

    def _use_time_left(self) -> None:
        """Look for better removals where no oracle can decide, until the time is over or many
        starts in a row led to nothing."""
        fruitless = 0
        while self.lower <= self.last and self.removal is not None and fruitless < _FRUITLESS:
            fruitless, before = fruitless + 1, self.last
            for mode in self._modes:
                mode.heuristic.most = self.last
                self._offer_all(mode.heuristic.from_random_start())
            if self.last < before:
                fruitless = 0

    def _decide_one_unit(self) -> None:
        """Ask the oracles that decide about single units."""
        for mode, pending in zip(self._modes, self._open, strict=True):
            oracles = [oracle for oracle in mode.oracles if oracle.is_about_one]
            if oracles and self.has_open_intervals() and any(at.low == 1 for at in pending):
                decision, _ = first_decision(oracles, 1, 1, math.inf)
                if decision.removal is not None:
                    self._offer(decision.removal)
                elif decision.refuted:
                    pending[:] = [at._replace(low=2) if at.low == 1 else at for at in pending]
                    self._report(self)

    def _propose(self, removals: Callable[[RemovalHeuristic], Iterator[Any]]) -> None:
        """Take the removals that each mode's heuristic finds, while anything is open."""
        for mode in self._modes:
            if self.has_open_intervals():
                mode.heuristic.most = self.last
                self._offer_all(removals(mode.heuristic))

    def _offer_all(self, removals: Iterator[Any]) -> None:
        for removal in removals:
            self._offer(removal)

    def _offer(self, removal: Any) -> None:
        if len(removal) <= self.last:
            self.removal = removal
        self._report(self)

    def _take_first_removals(self) -> None:
        """Take the removals by influence, even if time ran out."""
        grace = Clock(_GRACE if self.removal is None else 0.0)
        try:
            for mode in self._modes:
                self._offer_all(mode.heuristic.by_influence(grace.check))
        except Stopped:
            pass

    def raise_lower_bound(self, refutes: Callable[[BreakMode, int, int], bool]) -> None:
        """Raise the lower bound as far as ``refutes`` goes, in steps that double."""
        step = max(1, self.last // _FIRST_STEP)
        while (low := self.lower) <= self.last:
            self._resources.check()
            high = min(low + step - 1, self.last)
            if all(refutes(mode, low, high) for mode in self._modes):
                self._open = [
                    [at._replace(low=max(at.low, high + 1)) for at in pending if at.high > high]
                    for pending in self._open
                ]
                self._report(self)
                step *= 2
            elif step == 1:
                return
            else:
                step = max(1, step // 4)

    def _search_exactly(self, seconds: float) -> None:
        """Ask each mode's searches alone; what they do not decide in time stays open."""
        clock = Clock(seconds)
        for mode, pending in zip(self._modes, self._open, strict=True):
            found = 0
            while mode.searches and self.has_open_intervals() and pending:
                at = self._next(pending, found)
                decision, impatient = first_decision(
                    mode.searches, at.low, at.high, clock.time_left()
                )
                pending.remove(at)
                found = self._record(mode, pending, at, decision, found)
                if not decision.decided:
                    if impatient or at.low == at.high:
                        pending.append(at)
                        break
                    middle = (at.low + at.high) // 2
                    pending += [at._replace(high=middle), at._replace(low=middle + 1)]

    def decide_open_intervals(self) -> None:
        """Ask all oracles, about the intervals with the least patience first."""
        found = [0] * len(self._modes)
        while self.has_open_intervals():
            i = min((min(at.patience for at in p), i) for i, p in enumerate(self._open) if p)[1]
            mode, pending = self._modes[i], self._open[i]
            at = self._next(pending, found[i]) if mode.finds else min(pending)
            decision, impatient = first_decision(mode.oracles, at.low, at.high, at.patience)
            pending.remove(at)
            found[i] = self._record(mode, pending, at, decision, found[i])
            if not decision.decided:
                self._postpone(pending, at, impatient)
            if not mode.finds and self._stuck:
                return

    def _record(
        self,
        mode: BreakMode,
        pending: list[OpenInterval],
        at: OpenInterval,
        decision: Any,
        found: int,
    ) -> int:
        """Keep what was decided of an interval; return how many removals were found in a row."""
        if decision.removal is not None:
            pending.append(at)  # clipped when its turn comes
            self._offer(decision.removal)
            self._offer_all(mode.heuristic.from_one(decision.removal))
            return found + 1
        if decision.refuted_from is not None:
            pending.append(at._replace(high=decision.refuted_from - 1))
        return 0

    def _next(self, pending: list[OpenInterval], found: int) -> OpenInterval:
        """Return the next interval to ask about, among those with the least patience.

        The step down from the best removal doubles with each of the ``found`` removals in a row.
        """
        least = min(at.patience for at in pending)
        equal = sorted(at for at in pending if at.patience == least)
        at = equal[-1] if equal[-1].high == self.last else equal[0]
        if found and self.upper is not None:
            cut = max(at.low, self.upper - 2**found)
            if cut < at.high:
                pending.remove(at)
                lower = at._replace(high=cut)
                pending += [lower, at._replace(low=cut + 1)]
                return lower
        return at

    def _postpone(self, pending: list[OpenInterval], at: OpenInterval, impatient: bool) -> None:
        """Halve, delay or drop an interval that was neither refuted nor narrowed."""
        more = 4 * at.patience if impatient else at.patience
        # Refuting a higher interval takes at least as long.
        pending[:] = [
            other._replace(patience=max(other.patience, more))
            if at.low < other.low and other.high < self.last
            else other
            for other in pending
        ]
        if at.low < at.high:
            middle = (at.low + at.high) // 2
            pending.append(at._replace(high=middle))
            pending.append(at._replace(low=middle + 1, patience=more))
        elif impatient:
            pending.append(at._replace(patience=more))
        else:
            self._stuck.append(at)


#: Called with the search after each change of its bounds.
Report = Callable[[MinimalRemovalSearch], object]


@contextmanager
def report_bounds(progress: Any, resources: Resources) -> Iterator[Report]:
    """Pass the latest bounds to the progress callback."""
    upper, lower = math.nan, 1

    def note(known: MinimalRemovalSearch) -> None:
        nonlocal upper, lower
        upper, lower = math.nan if known.upper is None else known.upper, known.lower

    with watching(progress, Removals()) as callback:
        if callback is not None:
            resources.callback = lambda nodes, seconds: callback(upper, lower, nodes, seconds)
        yield note

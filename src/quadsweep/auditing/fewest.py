"""The fewest units whose removal breaks a claim: from above by good removals, from below by proof.

A claim can break in one or more ways, each a case with a proposer and its oracles, best first.
First removals that are found quickly, then bounds that cost little, then better removals. What is
left between the two ends are numbers of removals not yet decided, kept as intervals for each way.
The oracles are asked about one of them after the other: it is refuted whole, or a better removal is
found, or the interval is halved. A question that takes too long is asked again later, with more
patience; its lower half comes first. The highest numbers may hold a better removal, which makes
others needless; all others are to be refuted, the lowest first, for these are the easiest.

Oracles that only refute are asked about the lowest interval, for no other can raise the lower end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from quadsweep.auditing.oracles import Oracle, asked
from quadsweep.auditing.resources import Resources
from quadsweep.clock import Clock, Stopped

_PATIENCE = 2.0  # seconds for a question that is asked for the first time
_FIRST = 0.05  # of the time left, for a question about what must happen first
_FIRST_STEP = 16  # a share of what is open: the first numbers that bounds are asked about
_GRACE = 0.2  # seconds after a stop, for a first removal where there is none


class Interval(NamedTuple):
    """Numbers of removals to be decided, and the seconds that one question about them may take."""

    low: int
    high: int
    patience: float = _PATIENCE


class Finder:
    """Finds removals that break the claim, without proof; as it stands, none."""

    #: Larger removals are of no use.
    most: int

    def by_influence(self, check: Callable[[], object]) -> Iterator[Any]:
        """The first units in the order of their influence; calls ``check`` now and then."""
        return iter(())

    def quick(self) -> Iterator[Any]:
        """Removals that cost little to find."""
        return iter(())

    def from_one(self, removal: Any) -> Iterator[Any]:
        """Smaller ones that cost little to find from a removal."""
        return iter(())

    def usual(self) -> Iterator[Any]:
        """Those of the usual approximations, which are shown beside the answer."""
        return iter(())

    def thorough(self) -> Iterator[Any]:
        """Better ones."""
        return iter(())


@dataclass(frozen=True)
class Way:
    """One way for the claim to break: who finds removals, and who decides."""

    proposer: Finder
    oracles: Sequence[Oracle]

    @property
    def finds(self) -> bool:
        """Whether the best oracle can find removals."""
        return bool(self.oracles) and self.oracles[0].finds

    @property
    def is_fast(self) -> bool:
        return bool(self.oracles) and self.oracles[0].is_fast

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        return any(oracle.refutes_at_once(fewest, most) for oracle in self.oracles)

    def refutes_first(self, fewest: int, most: int) -> bool:
        """Whether an oracle for what must happen first proves it."""
        return asked((o for o in self.oracles if o.is_first), fewest, most)[0].refuted


class Fewest:
    """What is known about the fewest removals that break a claim which holds on all rows.

    Attributes
    ----------
    removal : units whose removal breaks it, or None.
    lower : no fewer break it.
    status : ``optimal`` if nothing is left open, ``undecided``, or what stopped the search.
    """

    def __init__(
        self,
        ways: Sequence[Way],
        most: int,
        resources: Resources,
        report: Callable[[Fewest], object] = lambda fewest: None,
    ) -> None:
        self.removal: Any = None
        self.status = "optimal"
        self._ways, self._most, self._resources, self._report = ways, most, resources, report
        self._open = [[Interval(1, most)] for _ in ways]
        self._stuck: list[Interval] = []  # what no oracle decides
        try:
            self._search()
        except Stopped as stop:
            self.status = stop.status
        except KeyboardInterrupt:
            self.status = "interrupted"
        if self.status != "optimal":
            self._shortcut()
        if self.lower > self.last:
            self.status = "optimal"
        elif self.status == "optimal":
            self.status = "undecided"

    @property
    def upper(self) -> int | None:
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

    def _offer(self, removal: Any) -> None:
        if len(removal) <= self.last:
            self.removal = removal
        self._report(self)

    def _offer_all(self, removals: Iterator[Any]) -> None:
        for removal in removals:
            self._offer(removal)

    def _shortcut(self) -> None:
        """What the order of influence gives is known even if the time was short."""
        grace = Clock(_GRACE if self.removal is None else 0.0)
        try:
            for way in self._ways:
                self._offer_all(way.proposer.by_influence(grace.check))
        except Stopped:
            pass

    def _search(self) -> None:
        for way in self._ways:
            if self._left():
                way.proposer.most = self.last
                self._offer_all(way.proposer.quick())
        if not all(way.is_fast for way in self._ways):
            self._gallop(Way.refutes_at_once)
            for way in self._ways:
                if self._left():
                    self._offer_all(way.proposer.usual())
            if all(any(o.is_first for o in way.oracles) for way in self._ways):
                self._resources.patience = min(_FIRST * self._resources.left(), _PATIENCE)
                self._gallop(Way.refutes_first)
            for way in self._ways:
                if self._left():
                    self._offer_all(way.proposer.thorough())
        self._decide()

    def _gallop(self, refutes: Callable[[Way, int, int], bool]) -> None:
        """As far as some bounds go, in steps that double."""
        step = max(1, self.last // _FIRST_STEP)
        while (low := self.lower) <= self.last:
            self._resources.check()
            high = min(low + step - 1, self.last)
            if all(refutes(way, low, high) for way in self._ways):
                self._open = [[Interval(high + 1, self._most)] for _ in self._ways]
                self._report(self)
                step *= 2
            elif step == 1:
                return
            else:
                step = max(1, step // 4)

    def _decide(self) -> None:
        """Whatever needs the least patience first, of any way."""
        found = [0] * len(self._ways)  # in a row: the stride downwards doubles
        while self._left():
            i = min((min(at.patience for at in p), i) for i, p in enumerate(self._open) if p)[1]
            way, pending = self._ways[i], self._open[i]
            at = self._next(pending, found[i]) if way.finds else min(pending)
            self._resources.patience = at.patience
            decision, impatient = asked(way.oracles, at.low, at.high)
            pending.remove(at)
            found[i] = found[i] + 1 if decision.removal is not None else 0
            if decision.removal is not None:
                pending.append(at)  # clipped when its turn comes
                self._offer(decision.removal)
                self._offer_all(way.proposer.from_one(decision.removal))
            elif decision.refuted_from is not None:
                pending.append(at._replace(high=decision.refuted_from - 1))
            elif not decision.refuted:
                self._put_off(pending, at, impatient)
            if not way.finds and self._stuck:
                return

    def _left(self) -> bool:
        """Whether anything is open, numbers that no longer matter left out."""
        for pending in self._open:
            pending[:] = [
                at._replace(high=min(at.high, self.last)) for at in pending if at.low <= self.last
            ]
        return any(self._open)

    def _next(self, pending: list[Interval], found: int) -> Interval:
        """The interval to ask about, of those that need the least patience."""
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

    def _put_off(self, pending: list[Interval], at: Interval, impatient: bool) -> None:
        """Neither refuted nor found: ask less, or later, or not at all."""
        more = 4 * at.patience if impatient else at.patience
        # What is to be refuted above it will not take less.
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

"""The fewest removals that break a claim.

From above, good subsets: concentration steps for m = 1, 2, 4, ... and then between. From below,
proofs: the numbers of removals not yet decided are kept as intervals; the engine is asked about the
highest, and either refutes it whole, or finds a better subset, or the interval is cut in two. A
question that takes too long is put off: first its lower half, then the rest with more patience.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from quadsweep.arrays import Ints
from quadsweep.auditing.decisions import UNKNOWN, Answer, Asker, Impatient
from quadsweep.auditing.sides import Side
from quadsweep.clock import Stopped


class Interval(NamedTuple):
    """Numbers of removals to be decided, and the seconds that one question about them may take."""

    low: int
    high: int
    patience: float = 2.0


class Least:
    """What is known about the fewest removals that break a claim which holds on all points.

    Attributes
    ----------
    kept : a subset that breaks it, or None.
    status : ``optimal`` if nothing is left open, ``undecided``, ``time_limit``, ``interrupted``.
    """

    def __init__(
        self,
        sides: Sequence[Side],
        asker: Asker,
        max_drop: int,
        report: Callable[[Least], object] = lambda least: None,
    ) -> None:
        self.kept: Ints | None = None
        self.status = "optimal"
        self._asker, self._max_drop, self._report = asker, max_drop, report
        # Numbers of removals not yet decided, of each side; and those that cannot be.
        self._open: list[list[Interval]] = [[Interval(1, max_drop)] for _ in sides]
        self._stuck: list[Interval] = []
        try:
            for side in sides:
                self._approach(side)
            self._prove(sides)
        except Stopped as stop:
            self.status = stop.status
        except KeyboardInterrupt:
            self.status = "interrupted"
        if self.status == "optimal" and self.lower <= self._last:
            self.status = "undecided"

    @property
    def upper(self) -> int | None:
        return None if self.kept is None else self._asker.points.n - len(self.kept)

    @property
    def lower(self) -> int:
        """No fewer removals than this break the claim."""
        left = [at.low for pending in (*self._open, self._stuck) for at in pending]
        return min([self._last + 1, *left])

    @property
    def _last(self) -> int:
        """The largest number of removals that matters."""
        return self._max_drop if self.upper is None else self.upper - 1

    def improve(self, kept: Ints) -> None:
        """A subset from elsewhere that breaks the claim; the proof may have reached it already."""
        self._offer(kept)
        if self.lower > self._last:
            self.status = "optimal"

    def _offer(self, kept: Ints) -> None:
        if self.upper is None or self._asker.points.n - len(kept) < self.upper:
            self.kept = kept
        self._report(self)

    def _approach(self, side: Side) -> None:
        """Good subsets, without proof."""
        low, high = 0, 1
        while high < self._last and not self._try(side, high):
            low, high = high, min(2 * high, self._last)
        while high - low > 1:
            middle = (low + high) // 2
            if self._try(side, middle):
                high = middle
            else:
                low = middle

    def _try(self, side: Side, m: int) -> bool:
        self._asker.check()
        kept = side.propose(m)
        if side.broken(kept):
            self._offer(kept)
            return True
        return side.passed(kept)

    def _prove(self, sides: Sequence[Side]) -> None:
        """Whatever needs the least patience first, on either side."""
        found = [0] * len(sides)  # in a row: the stride downwards doubles
        while self._left():
            _, i = min((min(at.patience for at in p), i) for i, p in enumerate(self._open) if p)
            at = self._next(self._open[i], found[i])
            answer, impatient = self._ask(sides[i], at)
            self._open[i].remove(at)
            found[i] = found[i] + 1 if answer.kept is not None else 0
            if answer.kept is not None:
                self._offer(answer.kept)
                self._open[i].append(at)  # clipped when its turn comes
            elif not answer.refuted:
                self._put_off(self._open[i], at, impatient)

    def _ask(self, side: Side, at: Interval) -> tuple[Answer, bool]:
        """The answer, and whether patience ran out before there was one."""
        self._asker.patience = at.patience
        try:
            return side.decide(self._asker, at.low, at.high), False
        except Impatient:
            single = at.low == at.high
            answer = side.listed(self._asker, at.low) if single else UNKNOWN
            return answer, answer is UNKNOWN

    def _left(self) -> bool:
        """Whether anything is open, numbers that no longer matter left out."""
        for pending in self._open:
            pending[:] = [
                at._replace(high=min(at.high, self._last)) for at in pending if at.low <= self._last
            ]
        return any(self._open)

    def _next(self, pending: list[Interval], found: int) -> Interval:
        """The interval to ask about: the highest of those that need the least patience."""
        at = max(pending, key=lambda at: (-at.patience, at.low))
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
        if at.low < at.high:
            middle = (at.low + at.high) // 2
            pending.append(at._replace(high=middle))
            pending.append(at._replace(low=middle + 1, patience=more))
        elif impatient:
            pending.append(at._replace(patience=more))
        else:
            self._stuck.append(at)

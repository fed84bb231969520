"""The fewest removals that break a claim.

From above, good subsets: concentration steps for m = 1, 2, 4, ... and then between. From below,
proofs: the numbers of removals not yet decided are kept as intervals; the engine is asked about the
highest, and either refutes it whole, or finds a better subset, or the interval is cut in two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from quadsweep.auditing.decisions import Asker, Stopped
from quadsweep.auditing.sides import Side

Ints = NDArray[np.int64]
Interval = tuple[int, int]


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
        self._open: list[list[Interval]] = [[(1, max_drop)] for _ in sides]
        self._stuck: list[Interval] = []
        try:
            for side in sides:
                self._approach(side)
            for side, pending in zip(sides, self._open, strict=True):
                self._prove(side, pending)
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
        left = [low for pending in (*self._open, self._stuck) for low, _ in pending]
        return min([self._last + 1, *left])

    @property
    def _last(self) -> int:
        """The largest number of removals that matters."""
        return self._max_drop if self.upper is None else self.upper - 1

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

    def _prove(self, side: Side, pending: list[Interval]) -> None:
        found = 0  # in a row: the stride downwards doubles
        while pending:
            low, high = pending.pop()
            high = min(high, self._last)
            if low > high:
                continue
            if found and self.upper is not None:
                cut = max(low, self.upper - 2**found)
                if cut < high:
                    pending.append((low, cut))
                    pending.append((cut + 1, high))
                    low, high = pending.pop(-2)
            pending.append((low, high))  # open until answered, whatever stops the search
            answer = side.decide(self._asker, low, high)
            pending.remove((low, high))
            if answer.kept is not None:
                self._offer(answer.kept)
                found += 1
                if self._last >= low:
                    pending.append((low, min(high, self._last)))
                    pending.sort()
            elif answer.refuted:
                found = 0
            elif low < high:
                found = 0
                middle = (low + high) // 2
                pending += [(low, middle), (middle + 1, high)]
                pending.sort()
            else:
                self._stuck.append((low, high))

"""r above a threshold that rises with the number of removals, as that of a t test does.

The highest r that so many removals can reach rises with their number too, and faster. So a question
about many numbers at once, at the threshold of the fewest, is passed by a subset that has more rows
removed and does not pass its own. The question is therefore about those numbers whose thresholds
lie above what is likely to be the highest r; the others are left for the next question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quadsweep.auditing.conditions import CorrelationAbove
from quadsweep.auditing.oracles import UNDECIDED, Decision

_NARROWED = 4  # questions about numbers of removals, each about fewer of them
_LAST_ROW = 0.1  # of what a row changes on average: about what the last one changes at least


class ThresholdSchedule:
    """Asks about a condition on n rows, on all of which sign * r is ``start``."""

    def __init__(self, condition: CorrelationAbove, n: int, start: float) -> None:
        self._condition, self._n, self._start = condition, n, start
        self._top = 0  # the largest number of removals asked about

    def decide(
        self,
        fewest: int,
        most: int,
        ask: Callable[[int, float], Decision],
        place: Callable[[Any], float],
        broken: Callable[[Any], bool],
    ) -> Decision:
        """``ask`` decides whether some subset with at most so many removed has an r above a
        threshold; ``place`` has sign * r without a removal, NaN where it is undefined."""
        self._top = max(self._top, most)
        last, top = self._threshold(most), self._threshold(self._top)
        # Where removals of the largest number nearly pass: one row changes r by so much at least.
        step = _LAST_ROW * (top - self._start) / self._top
        highest = top - step * (self._top - most + 1)
        for _ in range(_NARROWED):
            first = self._condition.fewest_above(highest, self._n - 2, fewest, most)
            found = ask(most, self._threshold(first))
            if found.refuted and first > fewest:
                return Decision(refuted_from=first)
            if found.removal is None or broken(found.removal):
                return found
            highest = (place(found.removal) + last) / 2
            if not highest < last:
                break
        return UNDECIDED

    def _threshold(self, m: int) -> float:
        return self._condition.threshold(self._n - m - 2)

"""How engines are asked about an r and a threshold that moves with the number of removals.

``ThresholdSchedule``: r above a threshold that rises with the number of removals, as that of a t
test does. The highest r that so many removals can reach rises with their number too, and faster. So
a question about many numbers at once, at the threshold of the fewest, is passed by a subset that
has more rows removed and does not pass its own. The question is therefore about those numbers whose
thresholds lie above what is likely to be the highest r; the others are left for the next question.

``correlation_below``: r below t, one tau at a time: the search for a tau that proves that no subset
has it. The largest t (tau^2 a + b) - 2 tau c over all subsets is convex in log tau. A subset for
which it is positive and yet r >= t stands in the way of every tau further than acosh(r / t) from
its own sqrt(b / a), and a bracket closes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from quadsweep.auditing.claims import CorrelationAbove
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


_STEPS = 24

Pair = tuple[float, float]


def correlation_below(
    t: float,
    sign: int,
    start: float,
    ask: Callable[[Pair, Pair], Decision],
    place: Callable[[Any], tuple[float, float] | None],
    enough: float,
) -> Decision | None:
    """Whether sign * r < t on some subset, starting from a tau; None where no tau is left.

    ``ask`` decides whether the covariance of p and q is positive somewhere, each given as factors
    of x and of y; ``place`` has sign * r and sqrt(b / a) without a removal, None where one of them
    is undefined. A removal with an r below ``enough`` is returned.
    """
    bracket = Bracket(t, start)
    while bracket.is_open:
        found = ask(*products(bracket.tau, t, sign))
        if found.removal is None:
            return found
        at = place(found.removal)
        if at is None:
            return None
        if at[0] < enough:
            return found
        bracket.narrow(*at)
    return None


class Bracket:
    """The values of tau that are left, and the one to try."""

    def __init__(self, t: float, start: float) -> None:
        self.tau, self._t = start, t
        self._low, self._high, self._steps = 0.0, math.inf, 0

    @property
    def is_open(self) -> bool:
        return self._steps < _STEPS and (self._steps == 0 or self._low < self._high)

    def narrow(self, r: float, own: float) -> None:
        """By a subset with r >= t and sqrt(b / a) = own."""
        reach = math.exp(math.acosh(max(r / self._t, 1.0)))
        self._low, self._high = max(self._low, own / reach), min(self._high, own * reach)
        self.tau, self._steps = math.sqrt(self._low * self._high), self._steps + 1


def products(tau: float, t: float, sign: int = 1) -> tuple[Pair, Pair]:
    """p and q, each as factors of x and of y, whose covariance is t (tau^2 a + b) - 2 tau sign c up
    to a factor."""
    root = math.sqrt((1 - t) / (1 + t))
    return (-(1 - root) * tau, sign * (1 + root)), (-(1 + root) * tau, sign * (1 - root))

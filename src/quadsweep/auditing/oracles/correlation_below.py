"""r below t, one tau at a time: the search for a tau that proves that no subset has it.

The largest t (tau^2 a + b) - 2 tau c over all subsets is convex in log tau. A subset for which it
is positive and yet r >= t stands in the way of every tau further than acosh(r / t) from its own
sqrt(b / a), and a bracket closes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from quadsweep.auditing.oracles import Decision

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

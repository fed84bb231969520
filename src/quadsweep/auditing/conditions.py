"""The claims about a coefficient, as conditions on a subset.

    SlopeBeyond       the coefficient lies beyond beta               (sign, slope)
    CorrelationAbove  the partial r, or -r, lies above a threshold   (reverse, significance gained)
    CorrelationBelow  the partial |r| lies below a threshold         (significance lost)
    R2Beyond          the multiple R2 is past a threshold            (r2)

The t test of a coefficient is a test of the partial r with k - rank(Z) - 1 degrees of freedom. The
coefficient is defined where Z does not explain x on the rows kept (a > 0); elsewhere, and where no
degree of freedom is left, no claim breaks. Comparisons are strict and have a margin ``tol``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from quadsweep.auditing.claims import Terms
from quadsweep.auditing.fit import critical_r
from quadsweep.auditing.moments import Sums

Threshold = Callable[[int], float]

CLEAR = 1e-6


class Condition(ABC):
    """One way in which a claim breaks."""

    @abstractmethod
    def excess(self, sums: Sums[float], scale: tuple[float, float]) -> float:
        """How far past its threshold a subset is, about, in units of a correlation or of R2."""

    @abstractmethod
    def holds(self, sums: Sums[Fraction]) -> bool:
        """Whether the claim breaks on a subset, from exact sums."""


@dataclass(frozen=True)
class SlopeBeyond(Condition):
    """sign * (c - beta a) > margin sqrt(ab)."""

    beta: float
    margin: float
    sign: int

    def excess(self, sums: Sums[float], scale: tuple[float, float]) -> float:
        root = math.sqrt(sums.a * sums.b)
        lean = self.beta * scale[0] / scale[1]
        past = self.sign * (sums.c - lean * sums.a) / root - self.margin
        return past / (1 + abs(lean) * math.sqrt(sums.a / sums.b))

    def holds(self, sums: Sums[Fraction]) -> bool:
        past = self.sign * (sums.c - Fraction(self.beta) * sums.a)
        beyond = past > 0 and past * past > Fraction(self.margin) ** 2 * sums.a * sums.b
        return beyond and sums.b > 0


@dataclass(frozen=True)
class CorrelationAbove(Condition):
    """sign * r > threshold, a function of the degrees of freedom."""

    threshold: Threshold
    sign: int

    def excess(self, sums: Sums[float], scale: tuple[float, float]) -> float:
        return self.sign * sums.c / math.sqrt(sums.a * sums.b) - self.threshold(sums.freedom)

    def holds(self, sums: Sums[Fraction]) -> bool:
        past, t = self.sign * sums.c, Fraction(self.threshold(sums.freedom))
        return past > 0 and past * past > t * t * sums.a * sums.b


@dataclass(frozen=True)
class CorrelationBelow(Condition):
    """|r| < threshold, where r of all rows has this sign."""

    threshold: Threshold
    sign: int

    def excess(self, sums: Sums[float], scale: tuple[float, float]) -> float:
        return self.threshold(sums.freedom) - abs(sums.c) / math.sqrt(sums.a * sums.b)

    def holds(self, sums: Sums[Fraction]) -> bool:
        t = Fraction(self.threshold(sums.freedom))
        return t > 0 and sums.c * sums.c < t * t * sums.a * sums.b


@dataclass(frozen=True)
class R2Beyond(Condition):
    """sign * (R2 - threshold) > 0, the margin included in the threshold."""

    threshold: float
    sign: int

    def excess(self, sums: Sums[float], scale: tuple[float, float]) -> float:
        left = (sums.b - sums.c * sums.c / sums.a) / sums.total
        return self.sign * (1 - left - self.threshold)

    def holds(self, sums: Sums[Fraction]) -> bool:
        if sums.a == 0 or sums.total == 0:
            return False
        left = sums.b - sums.c * sums.c / sums.a
        return self.sign * (sums.total - left - Fraction(self.threshold) * sums.total) > 0


@dataclass(frozen=True)
class Claim:
    """A claim about the coefficient of a term.

    Attributes
    ----------
    name : as in :func:`quadsweep.audit`.
    ways : the conditions under which it breaks.
    before : what holds on all rows.
    breaks : what a removal does that breaks it.
    test : the t test that is meant, or "".
    """

    name: str
    ways: tuple[Condition, ...]
    before: str
    breaks: str
    test: str = ""


def build(
    name: str,
    term: str,
    full: Sums[Fraction],
    terms: Terms,
    test: str = "classical t test",
    significant: bool | None = None,
) -> Claim:
    """The claim that holds on all rows, from their exact sums.

    ``significant`` says so by a test that the sums do not know.
    """
    if name == "slope":
        return _slope(term, terms)
    if name == "r2":
        return _r2(full, terms)
    if name not in ("sign", "significance", "reverse"):
        raise NotImplementedError(f"claim {name!r} has no condition with controls")
    what, level = f"the coefficient of {term}", terms.level
    way = 1 if full.c > 0 else -1
    critical = lru_cache(maxsize=None)(lambda freedom: critical_r(freedom + 2, level))
    if name == "significance":
        if significant is None:
            t = Fraction(critical(full.freedom))
            significant = full.c * full.c >= t * t * full.a * full.b
        if significant:
            return Claim(
                name,
                (CorrelationBelow(lambda f: critical(f) - terms.tol, way),),
                f"{what} is significant at level {level:g}",
                f"makes {what} lose its significance (p > {level:g}, {test})",
                test,
            )
        return Claim(
            name,
            tuple(CorrelationAbove(lambda f: critical(f) + terms.tol, s) for s in (+1, -1)),
            f"{what} is not significant at level {level:g}",
            f"makes {what} significant (p < {level:g}, {test})",
            test,
        )
    if full.c * full.c <= Fraction(terms.tol) ** 2 * full.a * full.b:
        raise ValueError(f"{what} on all rows is 0, so it has no sign to reverse")
    if name == "sign":
        return Claim(
            name,
            (SlopeBeyond(0.0, terms.tol, -way),),
            f"{what} is {_adjective(way)}",
            f"reverses the sign of {what}",
        )
    return Claim(
        name,
        (CorrelationAbove(lambda f: critical(f) + terms.tol, -way),),
        f"{what} is {_adjective(way)}",
        f"makes {what} significantly {_adjective(-way)} (p < {level:g}, {test})",
        test,
    )


def _slope(term: str, terms: Terms) -> Claim:
    assert isinstance(terms.threshold, tuple)
    low, high = terms.threshold
    inside = f"[{low:g}, {high:g}]"
    return Claim(
        "slope",
        tuple(SlopeBeyond(e, terms.tol, s) for e, s in ((high, +1), (low, -1)) if math.isfinite(e)),
        f"the coefficient of {term} lies in {inside}",
        f"takes the coefficient of {term} out of {inside}",
    )


def _r2(full: Sums[Fraction], terms: Terms) -> Claim:
    assert isinstance(terms.threshold, float)
    t = terms.threshold
    explained = full.total - (full.b - full.c * full.c / full.a)
    if explained < Fraction(t) * full.total:
        return Claim(
            "r2",
            (R2Beyond(t - terms.tol, +1),),
            f"R² is below {t:g}",
            f"lifts R² to {t:g} or more",
        )
    return Claim(
        "r2",
        (R2Beyond(t + terms.tol, -1),),
        f"R² is above {t:g}",
        f"brings R² down to {t:g} or less",
    )


def _adjective(way: int) -> str:
    return "positive" if way > 0 else "negative"

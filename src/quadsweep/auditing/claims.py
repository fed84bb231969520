"""The claims: what is asked of a regression, in conditions on a subset and in words.

    SlopeBeyond       the coefficient lies beyond beta               (sign, slope)
    CorrelationAbove  the partial r, or -r, lies above a threshold   (reverse, significance gained)
    CorrelationBelow  the partial |r| lies below a threshold         (significance lost)
    R2Beyond          the multiple R2 is past a threshold            (r2)

With an intercept alone the partial r is the correlation, R2 is its square, and the claim ``r2`` is
one about the correlation. The t test of a coefficient is a test of the partial r with k - rank(Z) -
1 degrees of freedom. Thresholds of significance fall as these grow, so that a proof for the easiest
threshold among several numbers of removals serves them all. The coefficient is defined where Z does
not explain x on the rows kept (a > 0); elsewhere, and where no degree of freedom is left, no claim
breaks. Comparisons are strict and have a margin ``tol``.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.fit import critical_r
from quadsweep.auditing.moments import Sums
from quadsweep.messages import argument

Threshold = Callable[[int], float]

_CLEAR = 1e-10


def rounding_margin(error: float) -> float:
    """Return the distance beyond which rounding cannot change the comparison with a threshold.

    ``error`` is about what rounding adds; a hundred times that is also more than the most that a
    sum of a million products can be off.
    """
    return max(100 * error, _CLEAR)


class Condition(ABC):
    """One way in which a claim breaks."""

    @abstractmethod
    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        """How far past its threshold a subset is, about, in units of a correlation or of R2.

        ``sums`` are of x and y divided by ``scale``: numbers of one subset, or arrays of many.
        """

    @abstractmethod
    def holds(self, sums: Sums[Fraction]) -> bool:
        """Whether the claim breaks on a subset, from exact sums."""

    @abstractmethod
    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        """What the condition wants large."""


@dataclass(frozen=True)
class SlopeBeyond(Condition):
    """sign * (c - beta a) > margin sqrt(ab)."""

    beta: float
    margin: float
    sign: int

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        lean = self.beta * scale[0] / scale[1]
        past = self.sign * (sums.c - lean * sums.a) / np.sqrt(sums.a * sums.b) - self.margin
        return past / (1 + abs(lean) * np.sqrt(sums.a / sums.b))

    def holds(self, sums: Sums[Fraction]) -> bool:
        past = self.sign * (sums.c - Fraction(self.beta) * sums.a)
        beyond = past > 0 and past * past > Fraction(self.margin) ** 2 * sums.a * sums.b
        return beyond and sums.b > 0

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(self.sign * c / a)


@dataclass(frozen=True)
class OfCorrelation(Condition):
    """A condition on the partial r, with a threshold that depends on the degrees of freedom.

    ``sign`` is that of the r in question: of the one reached, or of the one on all rows.
    """

    threshold: Threshold
    sign: int

    def limit(self, freedom: Any) -> Any:
        """The threshold for a number of degrees of freedom, or for many."""
        if np.ndim(freedom) == 0:
            return self.threshold(int(freedom))
        numbers, which = np.unique(freedom, return_inverse=True)
        return np.array([self.threshold(int(f)) if f >= 1 else np.inf for f in numbers])[which]


@dataclass(frozen=True)
class CorrelationAbove(OfCorrelation):
    """sign * r > threshold."""

    def fewest_above(self, r: float, freedom: int, fewest: int, most: int) -> int:
        """The first of these numbers of removals whose threshold lies above r, or the last of them;
        of so many degrees of freedom each takes one."""
        while fewest < most:
            middle = (fewest + most) // 2
            if self.threshold(freedom - middle) > r:
                most = middle
            else:
                fewest = middle + 1
        return most

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        return self.sign * sums.c / np.sqrt(sums.a * sums.b) - self.limit(sums.freedom)

    def holds(self, sums: Sums[Fraction]) -> bool:
        past, t = self.sign * sums.c, Fraction(self.threshold(sums.freedom))
        return past > 0 and past * past > t * t * sums.a * sums.b

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(self.sign * c / np.sqrt(a * b))


@dataclass(frozen=True)
class CorrelationBelow(OfCorrelation):
    """|r| < threshold."""

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        return self.limit(sums.freedom) - abs(sums.c) / np.sqrt(sums.a * sums.b)

    def holds(self, sums: Sums[Fraction]) -> bool:
        t = Fraction(self.threshold(sums.freedom))
        return t > 0 and sums.c * sums.c < t * t * sums.a * sums.b

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(-np.abs(c) / np.sqrt(a * b))


@dataclass(frozen=True)
class R2Beyond(Condition):
    """sign * (R2 - threshold) > 0, the margin included in the threshold."""

    threshold: float
    sign: int

    def excess(self, sums: Sums[Any], scale: tuple[float, float]) -> Any:
        left = (sums.b - sums.c * sums.c / sums.a) / sums.total
        return self.sign * (1 - left - self.threshold)

    def holds(self, sums: Sums[Fraction]) -> bool:
        if sums.a == 0 or sums.total == 0:
            return False
        left = sums.b - sums.c * sums.c / sums.a
        return self.sign * (sums.total - left - Fraction(self.threshold) * sums.total) > 0

    def statistic(self, a: Floats, b: Floats, c: Floats, total: Floats) -> Floats:
        return np.asarray(-self.sign * (b - c * c / a) / total)


NAMES = ("sign", "significance", "reverse", "r2", "slope")


@dataclass(frozen=True)
class Terms:
    """A claim by name with its parameters, as validated, and the most that may be removed."""

    name: str
    level: float
    threshold: float | tuple[float, float] | None
    tol: float
    max_drop: Any = None


@dataclass(frozen=True)
class Subject:
    """What a claim is about, in words: a slope and a correlation, or a coefficient.

    ``test`` is the t test that is meant, where there could be others. ``with_controls`` says that
    R2 is not the square of a correlation.
    """

    slope: str = "the slope"
    correlation: str = "the correlation"
    test: str = ""
    with_controls: bool = False

    @classmethod
    def coefficient(cls, what: str, test: str, with_controls: bool) -> Subject:
        """Of a multiple regression."""
        return cls(what, what, test, with_controls)

    def tested(self, inequality: str) -> str:
        return f"({inequality}, {self.test})" if self.test else f"({inequality})"


@dataclass(frozen=True)
class Claim:
    """A claim that holds on all rows, or is said to.

    Attributes
    ----------
    name : as in :func:`quadsweep.audit`.
    conditions : those under which it breaks.
    before : what holds on all rows, "the slope is positive".
    breaks : what a removal does that breaks it, "reverses the sign".
    is_test : whether it is about a t test.
    """

    name: str
    conditions: tuple[Condition, ...]
    before: str
    breaks: str
    is_test: bool = False


def build(
    terms: Terms,
    full: Sums[Fraction],
    subject: Subject | None = None,
    significant: bool | None = None,
) -> Claim:
    """The claim about all rows, from their sums.

    ``significant`` says so by a test that the sums do not know.
    """
    subject, name = Subject() if subject is None else subject, terms.name
    if name == "slope":
        return _slope(terms, subject)
    if name == "r2":
        return _r2(full, terms, subject)
    if name == "significance":
        return _significance(full, terms, subject, significant)
    if name not in NAMES:
        raise ValueError(f"{argument('claim')} must be one of {', '.join(NAMES)}; got {name!r}")
    if full.c * full.c <= Fraction(terms.tol) ** 2 * full.a * full.b:
        raise ValueError(f"{subject.slope} of all rows is 0, so it has no sign to reverse")
    sign = _sign(full)
    if name == "sign":
        of = "" if subject == Subject() else f" of {subject.slope}"
        return Claim(
            name,
            (SlopeBeyond(0.0, terms.tol, -sign),),
            f"{subject.slope} is {_adjective(sign)}",
            f"reverses the sign{of}",
        )
    what, way = subject.correlation, _adjective(-sign)
    return Claim(
        name,
        (_above(terms, -sign),),
        f"{what} is {_adjective(sign)}",
        f"makes {what} significantly {way} {subject.tested(f'p < {terms.level:g}')}",
        is_test=True,
    )


def _significance(
    full: Sums[Fraction], terms: Terms, subject: Subject, significant: bool | None
) -> Claim:
    """Significance at a level is lost; or gained, where there was none."""
    critical, level, what = _critical(terms.level), f"{terms.level:g}", subject.correlation
    if significant is None:
        t = Fraction(critical(full.freedom))
        significant = full.c * full.c >= t * t * full.a * full.b
    if significant:
        return Claim(
            "significance",
            (CorrelationBelow(lambda f: critical(f) - terms.tol, _sign(full)),),
            f"{what} is significant at level {level}",
            f"makes {what} lose its significance {subject.tested(f'p > {level}')}",
            is_test=True,
        )
    return Claim(
        "significance",
        (_above(terms, +1), _above(terms, -1)),
        f"{what} is not significant at level {level}",
        f"makes {what} significant {subject.tested(f'p < {level}')}",
        is_test=True,
    )


def _slope(terms: Terms, subject: Subject) -> Claim:
    """The slope leaves an interval."""
    assert isinstance(terms.threshold, tuple)
    low, high = terms.threshold
    inside = f"[{low:g}, {high:g}]"
    ends = ((high, +1), (low, -1))
    return Claim(
        "slope",
        tuple(SlopeBeyond(end, terms.tol, sign) for end, sign in ends if math.isfinite(end)),
        f"{subject.slope} lies in {inside}",
        f"takes {subject.slope} out of {inside}",
    )


def _r2(full: Sums[Fraction], terms: Terms, subject: Subject) -> Claim:
    """R2 reaches a threshold, from whichever side it starts."""
    assert isinstance(terms.threshold, float)
    t = terms.threshold
    rises = full.total - (full.b - full.c * full.c / full.a) < Fraction(t) * full.total
    aim = max(t - terms.tol, 0.0) if rises else t + terms.tol
    conditions: tuple[Condition, ...] = (R2Beyond(aim, +1 if rises else -1),)
    if not subject.with_controls:  # R2 is the square of the correlation
        root = math.sqrt(aim)
        below = CorrelationBelow(lambda f: root, _sign(full))
        either = tuple(CorrelationAbove(lambda f: root, sign) for sign in (+1, -1))
        conditions = either if rises else (below,)
    if rises:
        return Claim("r2", conditions, f"R² is below {t:g}", f"lifts R² to {t:g} or more")
    return Claim("r2", conditions, f"R² is above {t:g}", f"brings R² down to {t:g} or less")


def _above(terms: Terms, sign: int) -> CorrelationAbove:
    critical = _critical(terms.level)
    return CorrelationAbove(lambda f: critical(f) + terms.tol, sign)


def _sign(full: Sums[Fraction]) -> int:
    return 1 if full.c > 0 else -1


def _adjective(sign: int) -> str:
    return "positive" if sign > 0 else "negative"


@lru_cache(maxsize=8)
def _critical(level: float) -> Callable[[int], float]:
    """The critical partial r for a number of degrees of freedom."""
    return lru_cache(maxsize=None)(lambda freedom: critical_r(freedom + 2, level))


# ---- what the user gives ----------------------------------------------------------------------


def terms(claim: Any, level: Any, threshold: Any, tol: float, max_drop: Any = None) -> Terms:
    """The parameters a claim needs, checked, and its name."""
    if not isinstance(claim, str) or claim not in NAMES:
        raise ValueError(f"{argument('claim')} must be one of {', '.join(NAMES)}; got {claim!r}")
    if not _is_number(level) or not 0 < float(level) < 1:
        raise ValueError(
            f"{argument('level')} must be a number strictly between 0 and 1; got {level!r}"
        )
    if claim == "r2":
        if not _is_number(threshold) or not 0 <= float(threshold) <= 1:
            raise ValueError(
                f"{argument('claim')} 'r2' needs a {argument('threshold')} in [0, 1]; "
                f"got {threshold!r}"
            )
        return Terms(claim, float(level), float(threshold), tol, max_drop)
    if claim == "slope":
        return Terms(claim, float(level), _interval(threshold), tol, max_drop)
    if threshold is not None:
        raise ValueError(
            f"{argument('claim')} {claim!r} takes no {argument('threshold')}; got {threshold!r}"
        )
    return Terms(claim, float(level), None, tol, max_drop)


def _interval(threshold: Any) -> tuple[float, float]:
    wrong = ValueError(
        f"{argument('claim')} 'slope' needs a {argument('threshold')}, low and high, at least one "
        f"of them finite; got {threshold!r}"
    )
    try:
        low, high = threshold
    except (TypeError, ValueError):
        raise wrong from None
    if not (_is_number(low) and _is_number(high) and float(low) <= float(high)):
        raise wrong
    if not (math.isfinite(low) or math.isfinite(high)):
        raise wrong
    return float(low), float(high)


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.number)) and not isinstance(value, (bool, np.bool_))

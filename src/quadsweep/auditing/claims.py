"""The claims: what is asked of the data, and the sentence that answers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from quadsweep.auditing.fit import Fit, critical_r
from quadsweep.auditing.sides import Side, Strong, Tilt, Weak


@dataclass(frozen=True)
class Claim:
    """A claim about given points.

    Attributes
    ----------
    points : the points, with y turned over where that makes r positive.
    sides : the ways in which the claim can break.
    before : what holds on all points, "the slope is positive".
    breaks : what a removal does that breaks it, "reverses the sign of the slope".
    """

    points: Any
    sides: tuple[Side, ...]
    before: str
    breaks: str


@dataclass(frozen=True)
class Terms:
    """The parameters of a claim, as validated."""

    level: float
    threshold: float | tuple[float, float] | None
    tol: float


Points = Any  # ExactPoints, or those of `in_passes`, which are not in memory
Builder = Callable[[Points, Fit, Terms], Claim]


def sign(points: Points, full: Fit, terms: Terms) -> Claim:
    """The slope, and with it the correlation, changes its sign."""
    way = _direction(full, terms)
    return Claim(
        points,
        (Tilt(points, 0.0, terms.tol, -way),),
        f"the slope is {_adjective(way)}",
        "reverses the sign",
    )


def slope(points: Points, full: Fit, terms: Terms) -> Claim:
    """The slope leaves an interval."""
    assert isinstance(terms.threshold, tuple)
    low, high = terms.threshold
    ends = [(high, +1), (low, -1)]
    inside = f"[{low:g}, {high:g}]"
    return Claim(
        points,
        tuple(Tilt(points, end, terms.tol, way) for end, way in ends if math.isfinite(end)),
        f"the slope lies in {inside}",
        f"takes the slope out of {inside}",
    )


def significance(points: Points, full: Fit, terms: Terms) -> Claim:
    """Significance at a level is lost; or gained, where there was none."""
    critical = _critical(terms.level)
    if abs(full.r) >= critical(points.n):
        points = points if full.r > 0 else points.turned()
        return Claim(
            points,
            (Weak(points, lambda k: critical(k) - terms.tol),),
            f"the correlation is significant at level {terms.level:g}",
            f"makes the correlation lose its significance (p > {terms.level:g})",
        )
    return Claim(
        points,
        tuple(Strong(points, lambda k: critical(k) + terms.tol, way) for way in (+1, -1)),
        f"the correlation is not significant at level {terms.level:g}",
        f"makes the correlation significant (p < {terms.level:g})",
    )


def reverse(points: Points, full: Fit, terms: Terms) -> Claim:
    """The correlation becomes significant with the opposite sign."""
    way = _direction(full, terms)
    critical = _critical(terms.level)
    return Claim(
        points,
        (Strong(points, lambda k: critical(k) + terms.tol, -way),),
        f"the correlation is {_adjective(way)}",
        f"makes the correlation significantly {_adjective(-way)} (p < {terms.level:g})",
    )


def r2(points: Points, full: Fit, terms: Terms) -> Claim:
    """R2 reaches a threshold, from whichever side it starts."""
    assert isinstance(terms.threshold, float)
    t = terms.threshold
    if full.r2 < t:
        root = math.sqrt(max(t - terms.tol, 0.0))
        return Claim(
            points,
            tuple(Strong(points, lambda k: root, way) for way in (+1, -1)),
            f"R² is below {t:g}",
            f"lifts R² to {t:g} or more",
        )
    points = points if full.r > 0 else points.turned()
    root = math.sqrt(t + terms.tol)
    return Claim(
        points,
        (Weak(points, lambda k: root),),
        f"R² is above {t:g}",
        f"brings R² down to {t:g} or less",
    )


CLAIMS: dict[str, Builder] = {
    "sign": sign,
    "significance": significance,
    "reverse": reverse,
    "r2": r2,
    "slope": slope,
}


# ---- the border -----------------------------------------------------------------------------


def get(name: Any) -> Builder:
    if not isinstance(name, str) or name not in CLAIMS:
        raise ValueError(f"claim must be one of {', '.join(CLAIMS)}; got {name!r}")
    return CLAIMS[name]


def terms(claim: str, level: Any, threshold: Any, tol: float) -> Terms:
    """The parameters a claim needs, checked."""
    if not _is_number(level) or not 0 < float(level) < 1:
        raise ValueError(f"level must be a number strictly between 0 and 1; got {level!r}")
    if claim == "r2":
        if not _is_number(threshold) or not 0 <= float(threshold) <= 1:
            raise ValueError(f"claim 'r2' needs a threshold in [0, 1]; got {threshold!r}")
        return Terms(float(level), float(threshold), tol)
    if claim == "slope":
        return Terms(float(level), _interval(threshold), tol)
    if threshold is not None:
        raise ValueError(f"claim {claim!r} takes no threshold; got {threshold!r}")
    return Terms(float(level), None, tol)


def _interval(threshold: Any) -> tuple[float, float]:
    wrong = ValueError(
        f"claim 'slope' needs threshold=(low, high), at least one of them finite; got {threshold!r}"
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


def _direction(full: Fit, terms: Terms) -> int:
    if abs(full.r) <= terms.tol:
        raise ValueError("the slope of all rows is 0, so it has no sign to reverse")
    return 1 if full.r > 0 else -1


def _adjective(way: int) -> str:
    return "positive" if way > 0 else "negative"


def _critical(level: float) -> Callable[[int], float]:
    return lru_cache(maxsize=None)(lambda k: critical_r(k, level))

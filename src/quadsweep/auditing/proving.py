"""The proof file of an audit's lower bound: that no fewer rows break the claim.

One statement for each condition under which the claim breaks and, if need be, for parts of the
range of removals, each of them about k or more rows kept (CorrelationBelow of a single size: about
k). With an intercept alone:

    SlopeBeyond       cov(x, sign (y - beta x)) <= T, n T at most margin sqrt(ab) of any k rows
    CorrelationAbove  sign r <= the lowest threshold of the range
    CorrelationBelow  sign r >= the highest threshold of the range, as -sign r <= minus that

With controls, where the claim is about a coefficient: no k rows or more have a partial covariance
of x and sign (y - beta x) above 0, hence no coefficient beyond beta, by however little. The columns
are the controls in their order, then the term and the outcome; the intercept is understood.

What a level of significance means in terms of r is not part of the proof: the statements name the
thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quadsweep.auditing.claims import Condition, CorrelationAbove, CorrelationBelow, SlopeBeyond
from quadsweep.auditing.controls.reading import Regression
from quadsweep.auditing.design import Design
from quadsweep.clock import Clock
from quadsweep.messages import argument
from quadsweep.proofs.proof import Proof, together
from quadsweep.proofs.several import MOST
from quadsweep.proofs.writer import Statement, Unproved, largest_covariance, prove

_SLACK = 1e-9  # of a correlation, between what is proved and what is aimed at


def check_provable(given: Regression, claim: str) -> None:
    """Before any work: is there a kind of proof for this?"""
    design = given.design
    obstacles = {
        f"claim {claim!r}": design.q > 1 and claim not in ("sign", "slope"),
        "groups": design.units is not None,
        "weights": design.weights is not None,
        argument("controls", "fixed"): given.fixed,
        "an instrument": design.instrument is not None,
        f"a {design.link} regression": bool(design.link),
        "no intercept": design.intercept is None,
        f"{design.q - 1} controls": design.q - 1 > MOST,
        f"{', '.join(given.dependent)}, which other controls explain": bool(given.dependent),
    }
    found = next((what for what, there in obstacles.items() if there), None)
    if found is not None:
        raise ValueError(
            "proof=True of a regression is for the claims 'sign' and 'slope', with an intercept "
            f"and up to {MOST} controls, without groups or weights; got {found}: that is certified "
            "by the search only"
        )


def refutation(
    design: Design, conditions: Sequence[Condition], most: int, time_limit: float, **limits: Any
) -> Proof | None:
    """That no removal of up to ``most`` rows breaks the claim; None where no proof was found.
    Other limits are those of ``prove``."""
    if most < 1:
        return None
    clock = Clock(time_limit)
    try:
        return together(
            [part for how in conditions for part in _parts(design, how, 1, most, clock, limits)]
        )
    except Unproved:
        return None


def _parts(
    design: Design, how: Condition, fewest: int, most: int, clock: Clock, limits: dict[str, Any]
) -> Iterator[Proof]:
    try:
        yield prove(_statement(design, how, fewest, most), time_limit=clock.time_left(), **limits)
    except Unproved as wrong:
        if design.q > 1 or fewest == most or wrong.better is None:
            raise
        middle = (fewest + most) // 2
        yield from _parts(design, how, fewest, middle, clock, limits)
        yield from _parts(design, how, middle + 1, most, clock, limits)


def _statement(design: Design, how: Condition, fewest: int, most: int) -> Statement:
    x, y, n, everyone = design.x, design.y, design.n, range(design.n)
    k = n - most
    asked: dict[str, Any] = {"best": False, "or_more": True}
    if isinstance(how, SlopeBeyond):
        asked |= {"sign": how.sign, "beta": how.beta}
        if design.q > 1:
            others = np.delete(design.controls, design.intercept or 0, axis=1)
            columns = np.column_stack([others, x])
            return Statement(columns, y, k, "cov", 0.0, everyone, 0.0, **asked)
        t = largest_covariance(x, y, k, how.margin)
        return Statement(x, y, k, "cov", t, everyone, 0.0, margin=how.margin, **asked)
    if isinstance(how, CorrelationAbove):
        t, sign = how.threshold(n - fewest - 2), how.sign
    else:
        assert isinstance(how, CorrelationBelow)
        t, sign = -how.threshold(k - 2), -how.sign
        asked["or_more"] = fewest < most  # larger subsets have lower thresholds
    return Statement(x, y, k, "r", t, everyone, t - _SLACK, sign=sign, **asked)

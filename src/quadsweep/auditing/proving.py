"""The proof of an audit's lower bound: that no fewer rows break the claim.

One statement for each way in which the claim can break and, if need be, for parts of the range of
removals, each of them about k or more rows kept:

    Tilt     cov(x, sign (y - beta x)) <= T,  n T no more than margin sqrt(ab) of any k rows
    Strong   sign r <= the lowest threshold of the range
    Weak     r >= the highest threshold of the range, as -r <= minus that

What a level of significance means in terms of r is not part of the proof: the statements name the
thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.claims import Claim
from quadsweep.auditing.sides import Side, Strong, Tilt, Weak
from quadsweep.clock import Clock
from quadsweep.proofs.proof import Proof, together
from quadsweep.proofs.writer import Statement, Unproved, largest_covariance, write

_ROOM = 1e-9  # of a correlation, between what is proved and what is aimed at


def refutation(claim: Claim, x: Floats, y: Floats, most: int, time_limit: float) -> Proof | None:
    """That no removal of up to ``most`` rows breaks the claim; None where no proof was found."""
    if most < 1:
        return None
    clock = Clock(time_limit)
    turned = -1 if np.any(claim.points.y != y) else 1
    try:
        parts = [p for side in claim.sides for p in _parts(side, x, y, turned, 1, most, clock)]
    except Unproved:
        return None
    return together(parts)


def _parts(
    side: Side, x: Floats, y: Floats, turned: int, fewest: int, most: int, clock: Clock
) -> Iterator[Proof]:
    try:
        yield write(_statement(side, x, y, turned, fewest, most), time_limit=clock.left())
    except Unproved as wrong:
        if fewest == most or not wrong.better:
            raise
        middle = (fewest + most) // 2
        yield from _parts(side, x, y, turned, fewest, middle, clock)
        yield from _parts(side, x, y, turned, middle + 1, most, clock)


def _statement(side: Side, x: Floats, y: Floats, turned: int, fewest: int, most: int) -> Statement:
    n = len(x)
    asked: dict[str, Any] = {"best": False, "or_more": True}
    if isinstance(side, Tilt):
        t = largest_covariance(x, y, n - most, side.margin)
        sign = side.sign * turned
        asked |= {"sign": sign, "beta": turned * side.beta, "margin": side.margin}
        return Statement(x, y, n - most, "cov", t, range(n), 0.0, **asked)
    if isinstance(side, Strong):
        t = side.threshold(n - fewest)
        sign = side.sign * turned
    else:
        assert isinstance(side, Weak)
        t, sign = -side.threshold(n - most), -turned
    return Statement(x, y, n - most, "r", t, range(n), t - _ROOM, sign=sign, **asked)

"""Wolfe's method for the point of a polytope nearest to the origin, in whole numbers.

The polytope is the hull of integer points g_1..g_n. A corral is an affinely independent set of
them whose affine hull has its nearest point z inside the set's own hull. While some g_j has
g_j.z <= 0, it joins the set, and points of negative weight leave until the set is a corral again;
|z| falls each time, so no corral comes twice and the method ends, whatever is tied or degenerate.
It ends with z = 0, the origin as a mean of at most dim + 1 points, or with g_j.z > 0 for all j, a
plane through the origin that has all points strictly on one side. Either proves itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from quadsweep.rational import solved

Vector = Sequence[int]


class Nearest(NamedTuple):
    """``normal`` has a positive product with every point, or ``weights`` average some to zero."""

    normal: list[int] | None
    weights: dict[int, Fraction]


class OutOfTime(Exception):
    """The deadline passed."""


def nearest_to_origin(
    points: Sequence[Vector], start: dict[int, Fraction], deadline: float
) -> Nearest:
    """Either certificate for ``points``, beginning from a weighted set of them.

    Parameters
    ----------
    points : sequence of integer vectors
    start : dict of positive weights
        A guess at the answer; only speed depends on it.
    deadline : float
        Value of ``time.monotonic()`` at which OutOfTime is raised.

    Examples
    --------
    >>> nearest_to_origin([(1, 1), (1, -1), (-3, 0)], {0: Fraction(1)}, 1e300).weights
    {0: Fraction(3, 8), 1: Fraction(3, 8), 2: Fraction(1, 4)}
    >>> nearest_to_origin([(1, 1), (1, -1), (3, 0)], {0: Fraction(1)}, 1e300).normal
    [1, 0]
    """
    weights = _independent(points, start)
    while True:
        weights = _corral(points, weights, deadline)
        z = _whole_mean(points, weights)
        if not any(z):
            return Nearest(None, dict(sorted(weights.items())))
        products = [sum(a * b for a, b in zip(z, g, strict=True)) for g in points]
        lowest = min(range(len(points)), key=products.__getitem__)
        if products[lowest] > 0:
            return Nearest(z, {})
        weights[lowest] = Fraction(0)


def _independent(points: Sequence[Vector], start: dict[int, Fraction]) -> dict[int, Fraction]:
    """The heaviest points of ``start`` that are affinely independent, weights summing to one."""
    chosen: dict[int, Fraction] = {}
    echelon: list[tuple[int, list[int]]] = []
    for i in sorted(start, key=lambda i: (-start[i], i)):
        row = [*points[i], 1]
        for pivot, other in echelon:
            p, q = other[pivot], row[pivot]
            row = [p * a - q * b for a, b in zip(row, other, strict=True)]
            divisor = gcd(*row) or 1
            row = [v // divisor for v in row]
        pivot = next((j for j, v in enumerate(row) if v), -1)
        if start[i] > 0 and pivot >= 0:
            echelon.append((pivot, row))
            chosen[i] = start[i]
    if not chosen:
        return {min(range(len(points)), key=lambda i: sum(v * v for v in points[i])): Fraction(1)}
    total = sum(chosen.values())
    return {i: w / total for i, w in chosen.items()}


def _corral(
    points: Sequence[Vector], weights: dict[int, Fraction], deadline: float
) -> dict[int, Fraction]:
    """Move towards the affine hull's nearest point, dropping points, until it is reached."""
    while True:
        if time.monotonic() >= deadline:
            raise OutOfTime
        members = list(weights)
        target = dict(zip(members, _affine_nearest([points[i] for i in members]), strict=True))
        falling = [i for i in members if target[i] <= 0]
        if not falling:
            return target
        step = min(weights[i] / (weights[i] - target[i]) for i in falling)
        moved = {i: weights[i] + step * (target[i] - weights[i]) for i in members}
        weights = {i: w for i, w in moved.items() if w > 0}


def _affine_nearest(members: Sequence[Vector]) -> list[Fraction]:
    """Weights, of any sign, of the point of the affine hull nearest to the origin.

    They solve  [0 1'; 1 G] (mu, alpha) = (1, 0)  with G the products of the members.
    """
    m = len(members)
    gram = [[sum(a * b for a, b in zip(g, h, strict=True)) for h in members] for g in members]
    system = [[0] + [1] * m + [1]] + [[1, *gram[i], 0] for i in range(m)]
    return [solution for (solution,) in solved(system)[1:]]


def _whole_mean(points: Sequence[Vector], weights: dict[int, Fraction]) -> list[int]:
    """The weighted sum of points as the shortest whole vector in its direction."""
    scale = lcm(*(w.denominator for w in weights.values()))
    whole = {i: int(w * scale) for i, w in weights.items()}
    total = [sum(w * points[i][c] for i, w in whole.items()) for c in range(len(points[0]))]
    divisor = gcd(*total) or 1
    return [v // divisor for v in total]

"""Separability decided exactly: a rational plane, or rational weights, verified before it is said.

Doubles are rationals with a power of two below, so after a shift by one of the points and a
scaling the lifted points are integer vectors. With g_i = +-(lift_i, 1), plus for inliers, a plane
separates strictly if w.g_i > 0 for all i, and by Gordan's theorem there is none if and only if the
origin is a mean of the g_i. A linear program in doubles proposes; integers dispose: its plane is
rounded and tried, and if it fails Wolfe's method (nearest.py) starts from its multipliers and ends
with one certificate or the other. That is then checked against the original coordinates.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.lifts import columns_of, coordinates, pairs
from quadsweep.paper.separability.hulls.nearest import OutOfTime, nearest_to_origin
from quadsweep.results.boundary import widest_margin

Plane = tuple[Fraction, ...]  # coefficients on the products of two columns, the columns, and 1

_ROUNDINGS = (2**8, 2**16, 2**32, 2**52)  # from a plane that can be read to all the double holds


@dataclass(frozen=True)
class HullDecision:
    """The exact answer.

    Attributes
    ----------
    separable : bool or None
        None if time ran out.
    plane : tuple of Fractions, or None
        (A, B, C, D, E, F) with A x^2 + B xy + C y^2 + D x + E y + F > 0 on the inliers and < 0 on
        the outliers; of several predictors the same with all products of two columns.
    weights : dict
        Position of a point to its positive weight; on either side they sum to one, and both sides
        have the same weighted mean of the lifted points.
    """

    separable: bool | None
    plane: Plane | None = None
    weights: dict[int, Fraction] = field(default_factory=dict)


def decide(x: Floats, y: Floats, mask: Mask, lift: str, seconds: float = math.inf) -> HullDecision:
    """Whether the hulls of the lifted inliers and outliers are disjoint.

    ``x`` has a column for each predictor where there are several.

    Examples
    --------
    >>> x, y = np.array([0.0, 2.0, 1.0]), np.zeros(3)
    >>> decide(x, y, np.array([True, True, False]), "L3c").weights
    {0: Fraction(1, 2), 1: Fraction(1, 2), 2: Fraction(1, 1)}
    >>> decide(x, y, np.array([True, True, False]), "L3t").separable
    True
    """
    twin = _twins(x, y, mask, lift)
    if twin is not None:
        return _confirmed(
            x, y, mask, lift, HullDecision(False, None, dict.fromkeys(twin, Fraction(1)))
        )
    deadline = time.monotonic() + seconds
    frame = _Frame(x, y, mask, lift)
    normal, multipliers = _propose(frame)
    for precision in _ROUNDINGS:
        whole = [round(w * precision) for w in normal]
        if frame.all_positive(whole):
            return _confirmed(x, y, mask, lift, HullDecision(True, frame.plane(whole)))
    try:
        found = nearest_to_origin(frame.rows, multipliers, deadline)
    except OutOfTime:
        return HullDecision(None)
    if found.normal is not None:
        return _confirmed(x, y, mask, lift, HullDecision(True, frame.plane(found.normal)))
    halves = {i: 2 * w for i, w in found.weights.items()}
    return _confirmed(x, y, mask, lift, HullDecision(False, None, halves))


def _confirmed(x: Floats, y: Floats, mask: Mask, lift: str, decision: HullDecision) -> HullDecision:
    """The decision, if its certificate holds in the coordinates as given."""
    if decision.separable:
        assert decision.plane is not None
        holds = plane_separates(x, y, mask, decision.plane)
    else:
        holds = weights_coincide(x, y, mask, lift, decision.weights)
    if not holds:
        raise ArithmeticError("a certificate failed its check; please report this data set")
    return decision


def plane_separates(x: Floats, y: Floats, mask: Mask, plane: Sequence[Fraction]) -> bool:
    """True if the rational quadric has the inliers on its positive side, others on its negative.

    >>> plane_separates(np.array([0.0, 2.0]), np.zeros(2), np.array([True, False]),
    ...                 [Fraction(0)] * 3 + [Fraction(-1), Fraction(0), Fraction(1)])
    True
    """
    values = surface_values(x, y, plane)
    return all(v > 0 if inside else v < 0 for v, inside in zip(values, mask, strict=True))


def surface_values(x: Floats, y: Floats, plane: Sequence[Fraction]) -> list[Fraction]:
    """The rational conic's or quadric's left side at every point, exactly.

    >>> circle = [Fraction(v) for v in (-1, 0, -1, 0, 0, 2)]
    >>> surface_values(np.array([0.5, 1.0]), np.array([0.0, 1.0]), circle)
    [Fraction(7, 4), Fraction(0, 1)]
    """
    points, unit = _whole_points(x, y)
    scale = math.lcm(*(Fraction(c).denominator for c in plane))
    m = len(points[0])
    whole = [int(Fraction(v) * scale) for v in plane]
    products = list(zip(whole[: -m - 1], pairs(m - 1), strict=True))
    linear = [v * unit for v in whole[-m - 1 : -1]]
    return [
        Fraction(
            sum(a * c[i] * c[j] for a, (i, j) in products)
            + sum(b * v for b, v in zip(linear, c, strict=True))
            + whole[-1] * unit * unit,
            scale * unit * unit,
        )
        for c in points
    ]


def weights_coincide(
    x: Floats, y: Floats, mask: Mask, lift: str, weights: dict[int, Fraction]
) -> bool:
    """True if the weights are positive, sum to one on either side and give one lifted mean."""
    if not weights or any(w <= 0 for w in weights.values()):
        return False
    total = {True: Fraction(0), False: Fraction(0)}
    columns = columns_of(x, y)
    between = [Fraction(0)] * len(coordinates(lift, len(columns) - 1))
    for i, weight in weights.items():
        inside = bool(mask[i])
        total[inside] += weight
        signed = weight if inside else -weight
        point = lifted_exactly([Fraction(float(c[i])) for c in columns], lift)
        between = [s + signed * v for s, v in zip(between, point, strict=True)]
    return total[True] == total[False] == 1 and not any(between)


def lifted_exactly(point: Sequence[Fraction], lift: str) -> list[Fraction]:
    """The lift of one rational point.

    >>> lifted_exactly([Fraction(1, 2), Fraction(3)], "L3t")
    [Fraction(37, 4), Fraction(1, 2), Fraction(3, 1)]
    """
    p = len(point) - 1
    monomials = [*(point[i] * point[j] for i, j in pairs(p)), *point]
    return [
        sum((c * m for c, m in zip(row, monomials, strict=True) if c), Fraction(0))
        for row in coordinates(lift, p)
    ]


def _twins(x: Floats, y: Floats, mask: Mask, lift: str) -> tuple[int, int] | None:
    """An inlier and an outlier with the same lift, if there are any."""
    seen: dict[tuple[float, ...], int] = {}
    columns = [x] if lift == "L2" else columns_of(x, y)
    keys = list(zip(*(c.tolist() for c in columns), strict=True))
    for i in np.flatnonzero(mask):
        seen.setdefault(keys[i], int(i))
    for j in np.flatnonzero(~mask):
        if keys[j] in seen:
            return seen[keys[j]], int(j)
    return None


def _whole_points(
    x: Floats, y: Floats, origin: Sequence[float] | None = None
) -> tuple[list[tuple[int, ...]], int]:
    """Points, less the origin, times ``unit`` as integers, with unit a power of two."""
    columns = columns_of(x, y)
    shifted = [
        [Fraction(float(v)) - Fraction(zero) for v in column]
        for column, zero in zip(columns, origin or [0.0] * len(columns), strict=True)
    ]
    unit = max(v.denominator for column in shifted for v in column)
    whole = ([v.numerator * (unit // v.denominator) for v in column] for column in shifted)
    return list(zip(*whole, strict=True)), unit


class _Frame:
    """The lifted points as integer rows g_i, about one of the points, columns alike in size."""

    def __init__(self, x: Floats, y: Floats, mask: Mask, lift: str) -> None:
        self._origin = [float(np.sort(c)[len(c) // 2]) for c in columns_of(x, y)]
        points, self._unit = _whole_points(x, y, self._origin)
        self._pairs = pairs(len(self._origin) - 1)
        self._coordinates = coordinates(lift, len(self._origin) - 1)
        monomials = [(*(c[i] * c[j] for i, j in self._pairs), *c) for c in points]
        columns = [
            [sum(c * v for c, v in zip(row, m, strict=True) if c) for m in monomials]
            for row in self._coordinates
        ]
        columns.append([1] * len(points))
        sizes = [max(abs(v) for v in column).bit_length() for column in columns]
        self._shifts = [max(sizes) - size for size in sizes]
        signs = [1 if inside else -1 for inside in mask]
        self.rows = [
            tuple(s * v << t for v, t in zip(point, self._shifts, strict=True))
            for s, point in zip(signs, zip(*columns, strict=True), strict=True)
        ]
        self.size = 1 << max(sizes)

    def all_positive(self, normal: Sequence[int]) -> bool:
        return all(sum(a * b for a, b in zip(normal, g, strict=True)) > 0 for g in self.rows)

    def plane(self, normal: Sequence[int]) -> Plane:
        """The plane in the coordinates as given."""
        scaled = [w << t for w, t in zip(normal, self._shifts, strict=True)]
        q = [0] * len(self._coordinates[0])
        for weight, row in zip(scaled, self._coordinates, strict=False):
            q = [v + weight * c for v, c in zip(q, row, strict=True)]
        zero = [Fraction(v) for v in self._origin]
        squares = [Fraction(v * self._unit**2) for v in q[: len(self._pairs)]]
        about = [Fraction(v * self._unit) for v in q[len(self._pairs) :]]
        linear = list(about)
        constant = scaled[-1] - sum(b * z for b, z in zip(about, zero, strict=True))
        for a, (i, j) in zip(squares, self._pairs, strict=True):
            linear[i] -= a * zero[j]
            linear[j] -= a * zero[i]
            constant += a * zero[i] * zero[j]
        # The largest power of two in all of them goes, which leaves numbers that can be read.
        plane = [*squares, *linear, Fraction(constant)]
        largest = max(abs(v) for v in plane)
        shift = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())
        return tuple(v / shift for v in plane)


def _propose(frame: _Frame) -> tuple[list[float], dict[int, Fraction]]:
    """The plane of widest margin, |w| <= 1, and the program's multipliers, both in doubles."""
    rows = np.array([[v / frame.size for v in g] for g in frame.rows])
    norms = np.linalg.norm(rows, axis=1)
    rows /= norms[:, None]
    m, program = rows.shape[1], widest_margin(rows)
    if program.status != 0:
        return [0.0] * m, {}
    # A row divided by its norm counts as much more in the mean of the rows themselves.
    multipliers = -program.ineqlin.marginals / norms
    heavy = np.flatnonzero(multipliers > 1e-9 * multipliers.max(initial=0.0))
    return program.x[:m].tolist(), {int(i): Fraction(float(multipliers[i])) for i in heavy}

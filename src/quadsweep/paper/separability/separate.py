"""Is a subset cut off by a conic, or by a quadric? The paper's numerical test and an exact one.

The lifted inliers and outliers are separable if their convex hulls do not meet, which is to say
that a plane has one strictly on each side. The paper measures the hulls' distance by a quadratic
program (hulls/distance.py); whether it is zero is decided in rational arithmetic (hulls/exact.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from quadsweep import lifts, objectives
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.inputs import frames, validation
from quadsweep.messages import free
from quadsweep.paper.separability.hulls.distance import TOLERANCE, HullDistances, hull_distance
from quadsweep.paper.separability.hulls.exact import HullDecision, Plane, decide
from quadsweep.paper.separability.slab import narrowest_slab
from quadsweep.results.conic import Conic
from quadsweep.results.formatting import ResultMixin, as_frame, drawn_by

__all__ = ["HullDistances", "Separation", "hull_distance", "separate"]

MOST_COORDINATES = 44  # seven predictors: a system of 46 whole equations takes seconds
MOST_NUMBERS = 1_000_000  # lifted, as whole numbers: about ten seconds

_UNKNOWN = "Undecided: time ran out before a certificate was found."


@dataclass(frozen=True, eq=False)
class Separation(ResultMixin):
    """Whether a lift separates inliers from outliers, and the proof.

    Attributes
    ----------
    separable : bool or None
        None if the exact decision ran out of time.
    exact : bool
        True if the answer is proved in rational arithmetic, by ``plane`` or ``weights``.
    distance2 : float
        Squared distance of the hulls of the lifted points: 0 if they are proved to meet,
        otherwise ``primal``.
    primal, dual : float
        Upper and lower bound on the squared distance, from the quadratic program; NaN without
        piqp.
    conic : Conic or None
        A curve with the inliers on its positive side; None with several predictors.
    weights : dict
        The certificate if not separable: weights by position that sum to one on either side and
        give both sides the same mean of the lifted points. Fractions if ``exact``.
    plane : tuple of Fractions, or None
        Exact coefficients, on ``terms``, of the separating surface; positive on inliers.
    lift : str
    message : str
        The answer in words.
    mask : boolean array, True for inliers.
    x, y : arrays
        The data as given.
    names : tuple of str
        The columns' names, y's last.
    labels : sequence, optional
        A name for every point; the summary uses them instead of positions.
    """

    json_fields = (
        "separable exact lift distance2 primal dual inliers conic terms plane weights message"
    )

    separable: bool | None
    exact: bool
    distance2: float
    primal: float
    dual: float
    conic: Conic | None
    weights: dict[int, Fraction] | dict[int, float]
    plane: Plane | None
    lift: str
    message: str
    mask: Mask = field(repr=False)
    x: Floats = field(repr=False)
    y: Floats = field(repr=False)
    names: tuple[str, ...] = ("x", "y")
    labels: Sequence[Any] | None = field(default=None, repr=False)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of ``plane``'s coefficients, by the columns' names; the last is the constant 1.

        A name that already occurs, such as that of a column called ``a^2``, is followed by ``_``.
        """
        products = (
            f"{self.names[i]}^2" if i == j else f"{self.names[i]}*{self.names[j]}"
            for i, j in lifts.pairs(len(self.names) - 1)
        )
        terms: list[str] = []
        for term in (*products, *self.names, "1"):
            terms.append(free(term, terms))
        return tuple(terms)

    @property
    def quadric(self) -> dict[str, Fraction] | None:
        """The separating surface, coefficients by term; None if none is known."""
        return None if self.plane is None else dict(zip(self.terms, self.plane, strict=True))

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a name and a text."""
        inside = int(self.mask.sum())
        verdict = {True: "yes", False: "no", None: "not known"}[self.separable]
        lines = [
            ("separable", f"{verdict}, under {self.lift}"),
            ("points", f"{inside} inliers, {len(self.mask) - inside} outliers"),
            ("certificate", self.message),
        ]
        if self.quadric is not None:
            surface = "conic" if self.x.ndim == 1 else "quadric"
            lines.append((surface, _equation(self.quadric)))
        for name, side in (("inliers", True), ("outliers", False)):
            shares = [
                f"{i if self.labels is None else self.labels[i]}: {_share(w)}"
                for i, w in self.weights.items()
                if self.mask[i] == side
            ]
            if shares:
                lines.append((name, ", ".join(shares)))
        if not math.isnan(self.primal):
            lines.append(("distance", _distance_text(self.dual, self.primal)))
        return lines

    plot = drawn_by(
        "separation.plot_separation",
        """The separating conic, or the points of the certificate sized by their weights.

        With several predictors, y against the signed root of the quadric.""",
    )

    def to_frame(self) -> Any:
        """One row for each point: coordinates, whether it is an inlier, and any weight."""
        weight = np.zeros(len(self.x))
        weight[list(self.weights)] = [float(w) for w in self.weights.values()]
        columns: dict[str, Any] = dict(
            zip(self.names, lifts.columns_of(self.x, self.y), strict=True)
        )
        for name, values in (("inlier", self.mask), ("weight", weight)):
            columns[free(name, columns)] = values
        return as_frame(columns)

    @property
    def inliers(self) -> Ints:
        """The positions of the inliers."""
        return np.flatnonzero(self.mask)


def separate(
    x: Any = None,
    y: Any = None,
    inliers: Any = None,
    *,
    data: Any = None,
    lift: str | None = None,
    exact: bool = True,
    slab: float | None = None,
    time_limit: float | None = 60.0,
) -> Separation:
    """Decide whether a conic (or quadric) strictly separates the inliers from the other points.

    Parameters
    ----------
    x, y : sequences of numbers
        As in :func:`solve`; the doubles are read as exact rationals. Lift ``L2`` needs no ``y``.
    inliers : sequence
        Positions, or a boolean mask as long as the data.
    data : data frame, optional
    lift : str, optional
        ``L2``, ``L3c``, ``L3d``, ``L3t``, ``L4`` or ``L5`` (see :mod:`quadsweep.lifts`); by default
        ``L5``, any conic. With several predictors the only lift is that of all quadrics in the
        predictors and y, ``L9`` for two predictors.
    exact : bool
        Decide in rational arithmetic. Otherwise apply the paper's test: separable if the squared
        distance of the hulls, by a quadratic program (extra ``separability``), is above 1e-10.
    slab : float, optional
        Decide approximate separability instead, as the paper's conclusion proposes: whether a slab
        of this width around a hyperplane of the lift holds all points on the wrong side. The unit
        is the distance between the means of the two sides. Numerical, by a linear program.
    time_limit : float, optional
        Seconds for the exact decision; ``separable`` is None if they run out.

    Returns
    -------
    Separation

    Examples
    --------
    >>> import quadsweep as qs
    >>> found = qs.separate([0, 1, 2, 3], [0, 0, 0, 0], [1, 2], lift="L2")
    >>> found.separable, found.exact, found.conic.kind
    (True, True, 'line pair')
    >>> qs.separate([0, 1, 2, 3], [0, 0, 0, 0], [0, 2], lift="L2").weights
    {0: Fraction(1, 4), 1: Fraction(3, 4), 2: Fraction(3, 4), 3: Fraction(1, 4)}

    A quadric separates by the sign of a product of two columns:

    >>> corners = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    >>> found = qs.separate(corners, [0, 0, 0, 0], [0, 3])
    >>> found.separable, found.lift, found.terms[:4]
    (True, 'L9', ('x1^2', 'x1*x2', 'x1*y', 'x2^2'))
    """
    given = frames.unpack(x, y, data)
    alone = lift == "L2" and given.y is None
    points = validation.read_sample(given, objectives.get("var" if alone else "r2"))
    lift = lifts.general(points.p) if lift is None else lift
    lifts.coordinates(lift, points.p)  # or the sentence that says which there are
    ys = np.zeros_like(points.y) if lift == "L2" else points.y
    mask = _mask(inliers, points.n)
    seconds = validation.seconds(time_limit)
    if slab is not None:
        exact = False
    elif exact:
        _check_reach(points.n, points.p)
    primal, dual, shares = _distance(points.x, ys, mask, lift, needed=not exact and slab is None)
    about = Separation(
        None, False, primal, primal, dual, None, {}, None, lift, _UNKNOWN,
        mask, points.x, points.y, given.names, given.labels,
    )  # fmt: skip
    if slab is not None:
        return _within_slab(about, ys, slab)
    if not exact:
        return _numerical(about, shares)
    decision = decide(points.x, ys, mask, lift, seconds)
    return _decided(about, decision, ys)


def _check_reach(n: int, p: int) -> None:
    """A ValueError where whole numbers would take too long, with what to do instead."""
    d = lifts.dimension(lifts.general(p), p)
    if p > 1 and (d > MOST_COORDINATES or n * d > MOST_NUMBERS):
        raise ValueError(
            f"{p} predictors and y have {d} lifted coordinates in each of {n:,} rows; the exact "
            f"decision goes to {MOST_COORDINATES} coordinates and {MOST_NUMBERS:,} numbers "
            "(exact=False is the paper's numerical test)"
        )


def _decided(about: Separation, decision: HullDecision, ys: Floats) -> Separation:
    """The exact answer, or that there is none."""
    plane, conic = decision.plane, None
    if plane is not None and about.x.ndim == 1:
        origin = float(np.median(about.x)), float(np.median(ys))
        conic = conic_of(plane, about.x, ys, origin)
    return replace(
        about,
        separable=decision.separable,
        exact=decision.separable is not None,
        distance2=0.0 if decision.separable is False else about.primal,
        conic=conic,
        weights=decision.weights,
        plane=plane,
        message=_proved(decision),
    )


def _mask(inliers: Any, n: int) -> Mask:
    given = np.asarray(inliers)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "biu"):
        raise TypeError(
            "inliers must be a one-dimensional sequence of positions or a boolean mask; "
            f"got {inliers!r}"
        )
    mask = np.zeros(n, dtype=bool)
    if given.dtype.kind == "b":
        if len(given) != n:
            raise ValueError(f"a mask must be as long as the data, {n}; got {len(given)}")
        mask[:] = given
    elif given.size:
        if given.min() < 0 or given.max() >= n:
            raise ValueError(
                f"inliers must be positions from 0 to {n - 1}; got {given.min()} to {given.max()}"
            )
        mask[given] = True
        if mask.sum() < given.size:
            raise ValueError("inliers must name each point once; got a position twice")
    if mask.all() or not mask.any():
        raise ValueError(
            "inliers must hold at least one point and leave at least one outlier; "
            f"got {int(mask.sum())} of {n}"
        )
    return mask


def _distance(
    x: Floats, y: Floats, mask: Mask, lift: str, needed: bool
) -> tuple[float, float, Floats]:
    """Primal and dual value and weights of the quadratic program; NaN where piqp is missing."""
    try:
        found = hull_distance(x[None], y[None], mask[None], lift)
    except ImportError:
        if needed:
            raise
        return math.nan, math.nan, np.zeros(len(x))
    return float(found.primal[0]), float(found.dual[0]), found.weights[0]


def _numerical(about: Separation, shares: Floats) -> Separation:
    """The paper's answer."""
    apart = about.primal > TOLERANCE
    relation = "above" if apart else "not above"
    return replace(
        about,
        separable=apart,
        weights={} if apart else {int(i): float(shares[i]) for i in np.flatnonzero(shares > 1e-9)},
        message=f"Numerical: the squared distance is {relation} {TOLERANCE:g}; nothing is proved.",
    )


def _within_slab(about: Separation, ys: Floats, width: float) -> Separation:
    """Whether a slab of that width holds all points on the wrong side."""
    narrowest = narrowest_slab(lifts.get(about.lift, len(about.names) - 1)(about.x, ys), about.mask)
    return replace(
        about,
        separable=narrowest <= width,
        message=f"Numerical: the narrowest slab that holds all points on the wrong side is "
        f"{max(narrowest, 0.0):.4g} of the distance between the two sides' means wide.",
    )


def _proved(decision: HullDecision) -> str:
    if decision.separable is None:
        return _UNKNOWN
    if decision.separable:
        return "Proved: a rational plane has the lifted points strictly on either side."
    count = len(decision.weights)
    return f"Proved: the hulls of the lifted points share the point that {count} points average to."


def conic_of(plane: Plane, x: Floats, y: Floats, origin: tuple[float, float]) -> Conic:
    """The rational conic in doubles, about ``origin`` and in units of the data."""
    with np.errstate(over="ignore"):
        reach = [float(np.abs(v - o).max()) for v, o in zip((x, y), origin, strict=True)]
    scale = [2.0 ** min(math.frexp(r)[1], 1000) if r > 0 else 1.0 for r in reach]
    x0, y0, sx, sy = (Fraction(v) for v in (*origin, *scale))
    exact: Any = Conic(plane, (0, 0), (1, 1))  # type: ignore[arg-type]  # in fractions
    local = exact.change_coordinates((x0, y0), (sx, sy)).local
    largest = max(abs(c) for c in local)
    a, b, c, d, e, f = (float(v / largest) for v in local)
    return Conic((a, b, c, d, e, f), origin, (scale[0], scale[1]))


def _distance_text(dual: float, primal: float) -> str:
    """The squared distance of the hulls as far as it is known."""
    if primal <= TOLERANCE:
        return f"the hulls of the lifted points meet: d² is 0 within {TOLERANCE:g}"
    low = f"{max(dual, 0.0):.4g}"
    known = f"d² = {low}" if low == f"{primal:.4g}" else f"{low} <= d² <= {primal:.4g}"
    return f"{known}, between the hulls of the lifted points"


def _share(weight: Fraction | float) -> str:
    """A weight as it is, or rounded where a fraction would fill the line."""
    text = str(weight)
    return text if len(text) <= 24 else f"{float(weight):.9g}"


def _equation(quadric: dict[str, Fraction]) -> str:
    terms = []
    for place, (name, coefficient) in enumerate(quadric.items(), 1):
        if coefficient:
            sign = "-" if coefficient < 0 else "+"
            times = f" {name}" if place < len(quadric) else ""
            terms.append(f"{sign} {abs(float(coefficient)):.6g}{times}")
    return " ".join(terms).removeprefix("+ ") + " > 0 on the inliers"

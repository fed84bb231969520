"""Point sets whose best subset no conic of the expected kind cuts off, proved from integers alone.

A proof has two parts: the exact value of every subset shows that the inliers are the one best
subset, and weights show that the hulls of the lifted inliers and outliers meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from quadsweep import objectives
from quadsweep.lifts import COORDINATES
from quadsweep.paper.separability.hulls.exact import decide, lifted_exactly
from quadsweep.rational import of_sums

_TERMS = ("x^2", "xy", "y^2", "x", "y")
_FORMULAS = {
    "r2": "R2 = C^2 / (A B)",
    "r": "r = C / sqrt(A B), compared as its sign times its square",
    "cov": "covariance = C / k^2",
    "dv": "difference of variances = (A - B) / k^2",
    "tv": "total variance = (A + B) / k^2",
    "var": "variance of x = A / k^2",
    "lts": "residual sum of squares = (B - C^2 / A) / k",
}
_LARGEST = 200_000  # subsets whose exact values are listed


@dataclass(frozen=True)
class Counterexample:
    """Integer points, and the subset of them claimed to be best and not separable.

    Attributes
    ----------
    name : str
    objective : str
    lifts : tuple of str
        The lifts that do not separate the best subset from the rest.
    points : tuple of pairs of int
    inliers : tuple of int
        The best subset.
    """

    name: str
    objective: str
    lifts: tuple[str, ...]
    points: tuple[tuple[int, int], ...]
    inliers: tuple[int, ...]

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def k(self) -> int:
        return len(self.inliers)


@dataclass(frozen=True)
class CounterexampleProof:
    """The outcome of checking a counterexample.

    Attributes
    ----------
    example : Counterexample
    reason : str
        Why it is not a counterexample; empty if it is one.
    text : str
        The proof, to be read.
    """

    example: Counterexample
    reason: str
    text: str = field(repr=False)

    @property
    def valid(self) -> bool:
        return not self.reason


class Ranked(NamedTuple):
    value: Fraction
    subset: tuple[int, ...]


def verify(examples: Iterable[Counterexample] | None = None) -> list[CounterexampleProof]:
    """Check counterexamples from their integers alone; by default those of the package.

    Examples
    --------
    >>> from quadsweep.paper.counterexample_proofs import verify
    >>> [(proof.example.name, proof.valid) for proof in verify()]
    [('nonseparable-r2', True), ('nonseparable-dv', True), ('nonseparable-cov', True)]
    """
    return [prove(example) for example in (SHIPPED if examples is None else examples)]


def prove(example: Counterexample) -> CounterexampleProof:
    """Return both parts of the proof, or the reason why one of them fails."""
    best, second = best_two(example)
    reason = _reason_not_best(example, best, second)
    lines = [*_statement(example), "", *_ranking(example, best, second)]
    for number, lift in enumerate(example.lifts, start=2):
        if not reason:
            reason, part = _show_meeting(example, lift, number)
            lines += ["", *part]
    lines += ["", f"Not a counterexample: {reason}" if reason else "So it is a counterexample.", ""]
    return CounterexampleProof(example, reason, "\n".join(lines))


def exact_value(
    points: tuple[tuple[int, int], ...], subset: tuple[int, ...], objective: str
) -> Fraction | None:
    """Return the objective as a fraction (for r its sign times its square); None if undefined.

    >>> exact_value(((0, 0), (1, 2), (2, 1)), (0, 1, 2), "r2")
    Fraction(1, 4)
    """
    products = ((x, y, x * x, x * y, y * y) for x, y in (points[i] for i in subset))
    return of_sums(objective, len(subset), *map(sum, zip(*products, strict=True)))


def best_two(example: Counterexample) -> tuple[Ranked, Ranked]:
    """Return the best subset of the inliers' size and the best of the others, exactly."""
    count = math.comb(example.n, example.k)
    if count > _LARGEST:
        raise ValueError(f"{count:,} subsets are too many to list exactly; at most {_LARGEST:,}")
    sense = objectives.get(example.objective).sense
    ranked: list[Ranked] = []
    for subset in combinations(range(example.n), example.k):
        value = exact_value(example.points, subset, example.objective)
        if value is not None and (len(ranked) < 2 or sense * value > sense * ranked[1].value):
            ranked = sorted([*ranked[:1], Ranked(value, subset)], key=lambda r: -sense * r.value)
    if len(ranked) < 2:
        raise ValueError(f"{example.name} must have two subsets of {example.k} points with a value")
    return ranked[0], ranked[1]


def _reason_not_best(example: Counterexample, best: Ranked, second: Ranked) -> str:
    claimed = tuple(sorted(example.inliers))
    title = objectives.get(example.objective).title
    if best.value == second.value:
        return f"two subsets share the best {title}, {_set(best.subset)} and {_set(second.subset)}."
    if best.subset != claimed:
        return (
            f"{_set(claimed)} does not have the best {title}; "
            f"{_set(best.subset)} has, {_number(best.value)}."
        )
    return ""


def _statement(example: Counterexample) -> list[str]:
    points = [f"{i:>3} {point}".ljust(18) for i, point in enumerate(example.points)]
    return [
        f"{example.name}: {example.n} points, of which the {example.k} with the best "
        f"{objectives.get(example.objective).title} are to be kept.",
        *("".join(points[s : s + 5]).rstrip() for s in range(0, len(points), 5)),
    ]


def _ranking(example: Counterexample, best: Ranked, second: Ranked) -> list[str]:
    return [
        f"1. The best subset. For a subset of k = {example.k} points let A = k Sxx - Sx^2,",
        "   B = k Syy - Sy^2, C = k Sxy - Sx Sy, which are whole numbers;",
        f"   {_FORMULAS[example.objective]}. Of all {math.comb(example.n, example.k):,} subsets",
        f"   the best is     {_set(best.subset)}, {_number(best.value)},",
        f"   the next best   {_set(second.subset)}, {_number(second.value)}.",
    ]


def _show_meeting(example: Counterexample, lift: str, number: int) -> tuple[str, list[str]]:
    """Return the reason why the hulls do not meet, or else the text that shows that they do."""
    x, y = np.array(example.points, dtype=float).T
    mask = np.zeros(example.n, dtype=bool)
    mask[list(example.inliers)] = True
    decision = decide(x, y, mask, lift)
    if decision.separable:
        assert decision.plane is not None
        terms = zip((*_TERMS, "1"), decision.plane, strict=True)
        conic = ", ".join(f"{float(c):.6g} on {name}" for name, c in terms if c)
        return f"under {lift} the best subset is cut off by the conic with {conic}.", []
    names = [_coordinate(row) for row in COORDINATES[lift]]
    inside = {i: w for i, w in decision.weights.items() if mask[i]}
    points = [lifted_exactly([Fraction(v) for v in example.points[i]], lift) for i in inside]
    mean = [
        sum((w * v for w, v in zip(inside.values(), column, strict=True)), Fraction(0))
        for column in zip(*points, strict=True)
    ]
    return "", [
        f"{number}. The hulls meet under {lift} = ({', '.join(names)}). Weights that sum to one,",
        *(f"     inlier {i:<5}{w}" for i, w in inside.items()),
        *(f"     outlier {i:<4}{w}" for i, w in decision.weights.items() if not mask[i]),
        "   give both sides the same mean:",
        *(f"     {name:<10}= {_number(v)}" for name, v in zip(names, mean, strict=True)),
        "   A plane with the inliers strictly on one side and the outliers strictly on the other",
        "   would have this point on both.",
    ]


def _coordinate(row: Iterable[int]) -> str:
    """Name one coordinate of a lift.

    >>> _coordinate((1, 0, -1, 0, 0))
    'x^2 - y^2'
    """
    terms = [("- " if c < 0 else "+ ") + term for c, term in zip(row, _TERMS, strict=True) if c]
    return " ".join(terms).removeprefix("+ ")


def _set(subset: tuple[int, ...]) -> str:
    return "{" + ", ".join(str(i) for i in subset) + "}"


def _number(value: Fraction) -> str:
    whole = value.denominator == 1
    return str(value.numerator) if whole else f"{value} = {float(value):.9g}"


SHIPPED: tuple[Counterexample, ...] = (
    Counterexample(
        name="nonseparable-r2",
        objective="r2",
        lifts=("L5",),
        points=(
            (-149, -170), (-87, -120), (25, -29), (75, 147), (118, 300), (81, -255),
            (84, -246), (123, -163), (143, -136), (162, -116), (182, -99),
        ),
        inliers=(0, 1, 2, 3, 4, 5, 7, 9),
    ),
    Counterexample(
        name="nonseparable-dv",
        objective="dv",
        lifts=("L3d", "L4"),
        points=(
            (40, -4), (-44, -8), (48, -4), (-53, -11), (-15, 17), (-6, 10), (6, 10), (15, 17),
        ),
        inliers=(0, 1, 2, 3, 5, 7),
    ),
    Counterexample(
        name="nonseparable-cov",
        objective="cov",
        lifts=("L3c",),
        points=(
            (18, 22), (-26, -18), (22, 26), (-32, -21), (1, -16), (2, -8), (8, -2), (16, -1),
        ),
        inliers=(0, 1, 2, 3, 5, 7),
    ),
)  # fmt: skip

"""A counterexample and its proof, in rational arithmetic from integers alone.

Two things are shown: that the inliers are the one best subset, by the exact value of every subset
of their size, and that the hulls of the lifted inliers and outliers meet, by weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from quadsweep import objectives
from quadsweep.lifts import COORDINATES
from quadsweep.paper.separability.hulls.exact import decide, lifted_exactly
from quadsweep.rational import of_sums

_NAMES = {
    (1, 0, 0, 0, 0): "x^2",
    (0, 1, 0, 0, 0): "xy",
    (0, 0, 1, 0, 0): "y^2",
    (0, 0, 0, 1, 0): "x",
    (0, 0, 0, 0, 1): "y",
    (1, 0, -1, 0, 0): "x^2 - y^2",
    (1, 0, 1, 0, 0): "x^2 + y^2",
}
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
    """What came of checking a counterexample.

    Attributes
    ----------
    example : Counterexample
    valid : bool
    reason : str
        Why it is not one; empty if it is.
    text : str
        The proof, to be read.
    """

    example: Counterexample
    valid: bool
    reason: str
    text: str = field(repr=False)


class Ranked(NamedTuple):
    value: Fraction
    subset: tuple[int, ...]


def verify(
    examples: Iterable[Counterexample] | None = None, show: Callable[[str], object] | None = print
) -> list[CounterexampleProof]:
    """Check counterexamples from their integers alone, and print each proof.

    Parameters
    ----------
    examples : iterable of Counterexample, optional
        Those that come with the package if left out.
    show : callable, optional
        What is called with each proof's text; None for silence.

    Examples
    --------
    >>> from quadsweep.paper.counterexamples import verify
    >>> [(proof.example.name, proof.valid) for proof in verify(show=None)]
    [('nonseparable-r2', True), ('nonseparable-dv', True), ('nonseparable-cov', True)]
    """
    if examples is None:
        from quadsweep.paper.counterexamples.shipped import SHIPPED

        examples = SHIPPED
    proofs = []
    for example in examples:
        proof = prove(example)
        proofs.append(proof)
        if show is not None:
            show(proof.text)
    return proofs


def prove(example: Counterexample) -> CounterexampleProof:
    """Both parts of the proof, or the reason why one of them fails."""
    lines = [*_statement(example), ""]
    best, second = best_two(example)
    reason = _not_best(example, best, second)
    lines += _ranking(example, best, second)
    for number, lift in enumerate(example.lifts, start=2):
        if not reason:
            reason, part = _meeting(example, lift, number)
            lines += ["", *part]
    lines += ["", f"Not a counterexample: {reason}" if reason else "So it is a counterexample.", ""]
    return CounterexampleProof(example, not reason, reason, "\n".join(lines))


def exact_value(
    points: tuple[tuple[int, int], ...], subset: tuple[int, ...], objective: str
) -> Fraction | None:
    """The objective, for r its sign times its square, as a fraction; None where undefined.

    >>> exact_value(((0, 0), (1, 2), (2, 1)), (0, 1, 2), "r2")
    Fraction(1, 4)
    """
    products = ((x, y, x * x, x * y, y * y) for x, y in (points[i] for i in subset))
    return of_sums(objective, len(subset), *map(sum, zip(*products, strict=True)))


def best_two(example: Counterexample) -> tuple[Ranked, Ranked]:
    """The best subset of the inliers' size and the best of the others, exactly."""
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


def _not_best(example: Counterexample, best: Ranked, second: Ranked) -> str:
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
    width = max(len(str(point)) for point in example.points) + 6
    cells = [f"{i:>3} {point!s}".ljust(width) for i, point in enumerate(example.points)]
    per_line = max(1, 88 // width)
    return [
        f"{example.name}: {example.n} points, of which the {example.k} with the best "
        f"{objectives.get(example.objective).title} are to be kept.",
        *("".join(cells[s : s + per_line]).rstrip() for s in range(0, len(cells), per_line)),
    ]


def _ranking(example: Counterexample, best: Ranked, second: Ranked) -> list[str]:
    count = math.comb(example.n, example.k)
    return [
        f"1. The best subset. For a subset of k = {example.k} points let A = k Sxx - Sx^2,",
        "   B = k Syy - Sy^2, C = k Sxy - Sx Sy, which are whole numbers;",
        f"   {_FORMULAS[example.objective]}. Among all {count:,} subsets",
        f"   the best is     {_set(best.subset)}, {_number(best.value)},",
        f"   the next best   {_set(second.subset)}, {_number(second.value)}.",
    ]


def _meeting(example: Counterexample, lift: str, number: int) -> tuple[str, list[str]]:
    """Why the hulls meet, as text, or the reason why they do not."""
    x, y = np.array(example.points, dtype=float).T
    mask = np.zeros(example.n, dtype=bool)
    mask[list(example.inliers)] = True
    decision = decide(x, y, mask, lift)
    if decision.separable:
        assert decision.plane is not None
        terms = zip(("x^2", "xy", "y^2", "x", "y", "1"), decision.plane, strict=True)
        conic = ", ".join(f"{float(c):.6g} on {name}" for name, c in terms if c)
        return f"under {lift} the best subset is cut off by the conic with {conic}.", []
    names = [_NAMES[row] for row in COORDINATES[lift]]
    lines = [
        f"{number}. The hulls meet under {lift} = ({', '.join(names)}). Weights that sum to one,",
        *(f"     inlier {i:<5}{w}" for i, w in decision.weights.items() if mask[i]),
        *(f"     outlier {i:<4}{w}" for i, w in decision.weights.items() if not mask[i]),
        "   give both sides the same mean:",
    ]
    mean = [Fraction(0)] * len(names)
    for i, weight in decision.weights.items():
        if mask[i]:
            point = lifted_exactly([Fraction(v) for v in example.points[i]], lift)
            mean = [m + weight * v for m, v in zip(mean, point, strict=True)]
    lines += [f"     {name:<10}= {_number(v)}" for name, v in zip(names, mean, strict=True)]
    lines += [
        "   A plane with the inliers strictly on one side and the outliers strictly on the other",
        "   would have this point on both.",
    ]
    return "", lines


def _set(subset: tuple[int, ...]) -> str:
    return "{" + ", ".join(str(i) for i in subset) + "}"


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return f"{value} = {float(value):.9g}"

"""Slow, obvious twins of the kernels, in exact rational arithmetic.

Everything here is meant to be read as a definition. Points are pairs of sequences of numbers that
Fraction accepts; subsets are sorted tuples of positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Numbers = Sequence[float]
Subset = tuple[int, ...]
Vector = list[Fraction]

MAXIMISED = {"r2", "r", "cov", "dv"}
NATURAL_LIFT = {
    "r2": "L5", "r": "L5", "lts": "L5", "cov": "L3c", "dv": "L3d", "tv": "L3t", "var": "L2",
    "mcd": "L5",
}  # fmt: skip
MIN_K = {"r2": 3, "r": 3, "lts": 3, "cov": 2, "dv": 2, "tv": 2, "var": 2, "mcd": 3}
LIFTS: dict[str, Callable[[Fraction, Fraction], Vector]] = {
    "L2": lambda x, y: [x * x, x],
    "L3c": lambda x, y: [x * y, x, y],
    "L3d": lambda x, y: [x * x - y * y, x, y],
    "L3t": lambda x, y: [x * x + y * y, x, y],
    "L4": lambda x, y: [x * x, y * y, x, y],
    "L5": lambda x, y: [x * x, x * y, y * y, x, y],
}


def exact(values: Numbers) -> Vector:
    return [Fraction(v) for v in values]


def centred_sums(x: Vector, y: Vector) -> tuple[Fraction, Fraction, Fraction]:
    """a, b, c, summed in whole numbers: quotients are reduced once, at the end."""
    k, (us, p), (ws, q) = len(x), over_one_denominator(x), over_one_denominator(y)
    a = k * sum(u * u for u in us) - sum(us) ** 2
    b = k * sum(w * w for w in ws) - sum(ws) ** 2
    c = k * sum(u * w for u, w in zip(us, ws, strict=True)) - sum(us) * sum(ws)
    return Fraction(a, k * p * p), Fraction(b, k * q * q), Fraction(c, k * p * q)


def over_one_denominator(values: Vector) -> tuple[list[int], int]:
    denominator = math.lcm(*(v.denominator for v in values))
    return [v.numerator * (denominator // v.denominator) for v in values], denominator


def score(x: Vector, y: Vector, objective: str) -> Fraction | None:
    """Larger is better; None where undefined. For r it is r |r|, which has the same order."""
    return score_of_sums(*centred_sums(x, y), len(x), objective)


def score_of_sums(a: Fraction, b: Fraction, c: Fraction, k: int, objective: str) -> Fraction | None:
    if objective in ("r2", "r"):
        if a == 0 or b == 0:
            return None
        return c * c / (a * b) if objective == "r2" else c * abs(c) / (a * b)
    if objective == "lts":
        return -(b - c * c / a) if a else -b
    if objective == "mcd":
        return -(a * b - c * c) / (k * k)
    return {"cov": c / k, "dv": (a - b) / k, "tv": -(a + b) / k, "var": -a / k}[objective]


def value(x: Numbers, y: Numbers, subset: Sequence[int], objective: str) -> float:
    """The objective's value in floating point, rounded from the exact one; nan if undefined."""
    best = subset_score(exact(x), exact(y), subset, objective)
    return value_of_score(best, objective)


def value_of_score(s: Fraction | None, objective: str) -> float:
    if s is None:
        return math.nan
    if objective == "r":
        return math.copysign(math.sqrt(abs(s)), s)
    return float(s) if objective in MAXIMISED else float(-s)


def subset_score(x: Vector, y: Vector, subset: Sequence[int], objective: str) -> Fraction | None:
    return score([x[i] for i in subset], [y[i] for i in subset], objective)


def ranked_subsets(x: Numbers, y: Numbers, k: int, objective: str) -> list[tuple[Fraction, Subset]]:
    """All subsets that have a score, the best first, ties in dictionary order."""
    xs, ys = exact(x), exact(y)
    scored = [(subset_score(xs, ys, s, objective), s) for s in combinations(range(len(xs)), k)]
    return sorted(
        ((v, s) for v, s in scored if v is not None), key=lambda pair: (-pair[0], pair[1])
    )


def exhaustive(x: Numbers, y: Numbers, k: int, objective: str) -> tuple[Fraction, Subset] | None:
    ranked = ranked_subsets(x, y, k, objective)
    return ranked[0] if ranked else None


def lifted(x: Numbers, y: Numbers, lift: str) -> list[Vector]:
    return [LIFTS[lift](u, w) for u, w in zip(exact(x), exact(y), strict=True)]


def strictly_separable(points: list[Vector], inside: Sequence[int]) -> bool:
    """Whether some hyperplane has the inside strictly on one side and the rest on the other.

    With h = (point, 1) and s = +1 inside, -1 outside: a w with s w.h > 0 for all exists exactly if
    no weights >= 0, not all zero, have sum of weight * s * h = 0 (Gordan).
    """
    columns = [
        [(1 if i in inside else -1) * v for v in [*p, Fraction(1)]] + [Fraction(1)]
        for i, p in enumerate(points)
    ]
    height = len(columns[0])
    return not nonnegative_solution_exists(columns, [Fraction(0)] * (height - 1) + [Fraction(1)])


def nonnegative_solution_exists(columns: list[Vector], right: Vector) -> bool:
    """Whether sum of t_j columns[j] = right has a solution t >= 0, for right >= 0.

    The first phase of the simplex method with Bland's rule, exactly.
    """
    height = len(right)
    rows = [[c[i] for c in columns] + [right[i]] for i in range(height)]
    basis: list[int] = [-1] * height  # -1: the artificial variable of that row
    while True:
        gains = [
            sum(rows[i][j] for i in range(height) if basis[i] < 0) for j in range(len(columns))
        ]
        entering = next((j for j, g in enumerate(gains) if g > 0 and j not in basis), None)
        if entering is None:
            return sum(rows[i][-1] for i in range(height) if basis[i] < 0) == 0
        _, _, leaving = min(
            (rows[i][-1] / rows[i][entering], basis[i], i)
            for i in range(height)
            if rows[i][entering] > 0
        )
        pivot(rows, leaving, entering)
        basis[leaving] = entering


def pivot(rows: list[Vector], r: int, c: int) -> None:
    rows[r] = [v / rows[r][c] for v in rows[r]]
    for i, row in enumerate(rows):
        if i != r and row[c] != 0:
            rows[i] = [v - row[c] * w for v, w in zip(row, rows[r], strict=True)]


def best_separable(
    x: Numbers, y: Numbers, k: int, objective: str, lift: str | None = None
) -> tuple[Fraction, Subset] | None:
    """The best of the subsets a hyperplane strictly cuts off under the lift."""
    points = lifted(x, y, lift or NATURAL_LIFT[objective])
    for best, subset in ranked_subsets(x, y, k, objective):
        if strictly_separable(points, subset):
            return best, subset
    return None


def naive_candidates(points: list[Vector], k: int) -> Iterator[Subset]:
    """Of every d points: some of them, with the first of the others by distance from their plane,
    in both directions. Only for points in general position."""
    n, d = len(points), len(points[0])
    for through in combinations(range(n), d):
        normal = plane_through([points[i] for i in through])
        others = [i for i in range(n) if i not in through]
        distance = {
            i: sum(w * v for w, v in zip(normal, [*points[i], Fraction(1)], strict=True))
            for i in others
        }
        for ordered in (
            sorted(others, key=distance.__getitem__),
            sorted(others, key=distance.__getitem__, reverse=True),
        ):
            for size in range(d + 1):
                if 0 <= k - size <= len(others):
                    for chosen in combinations(through, size):
                        yield tuple(sorted((*chosen, *ordered[: k - size])))


def plane_through(points: list[Vector]) -> Vector:
    """A w != 0 with w.(p, 1) = 0 for the d given points of d coordinates."""
    rows = [[*p, Fraction(1)] for p in points]
    width = len(rows[0])
    pivots: list[int] = []
    for column in range(width):
        r = next((i for i in range(len(pivots), len(rows)) if rows[i][column] != 0), None)
        if r is None:
            continue
        rows[len(pivots)], rows[r] = rows[r], rows[len(pivots)]
        pivot(rows, len(pivots), column)
        pivots.append(column)
        if len(pivots) == len(rows):
            break
    free = next(c for c in range(width) if c not in pivots)
    normal = [Fraction(0)] * width
    normal[free] = Fraction(1)
    for row, column in zip(rows, pivots, strict=False):
        normal[column] = -row[free]
    return normal


def naive_sweep(
    x: Numbers, y: Numbers, k: int, objective: str, lift: str | None = None
) -> tuple[Fraction, Subset]:
    xs, ys = exact(x), exact(y)
    points = lifted(x, y, lift or NATURAL_LIFT[objective])
    scored = ((subset_score(xs, ys, s, objective), s) for s in set(naive_candidates(points, k)))
    return min(((v, s) for v, s in scored if v is not None), key=lambda pair: (-pair[0], pair[1]))


def passes(x: Numbers, y: Numbers, k: int, objective: str, value: float) -> bool:
    """Whether some subset of size k has a better value than this."""
    best = exhaustive(x, y, k, objective)
    if best is None:
        return False
    sense = 1 if objective in MAXIMISED else -1
    return sense * value_of_score(best[0], objective) > sense * value


def pointwise_p_values(table: list[list[float]], slack: Sequence[float]) -> list[list[float]]:
    """For each data set (row) and size (column), the share of data sets that score as much."""
    return [
        [
            sum(other[j] >= row[j] - slack[j] for other in table) / len(table)
            for j in range(len(slack))
        ]
        for row in table
    ]


def corrected_p_values(table: list[list[float]], slack: Sequence[float]) -> list[float]:
    """Of the first data set: the share whose smallest p-value is as small, for each size."""
    p = pointwise_p_values(table, slack)
    return [sum(min(row) <= own for row in p) / len(p) for own in p[0]]

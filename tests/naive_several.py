"""Slow, obvious twins of the engine for several predictors: enumeration in rational arithmetic.

Rows come in as floats and are taken exactly; nothing here rounds before the last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Row = Sequence[float]


def residual_products(
    design: Sequence[Row], targets: Sequence[Row], weights: Sequence[float] | None = None
) -> list[list[Fraction]]:
    """What is left of the targets' sums of products when the columns of ``design`` are fitted.

    Elimination on the joint matrix of products; a column that depends on those before it has a
    zero pivot and is passed over.
    """
    p, q = len(design[0]), len(targets[0])
    rows = [[Fraction(v) for v in (*d, *t)] for d, t in zip(design, targets, strict=True)]
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(v) for v in weights]
    size = p + q
    products = [
        [
            sum((wi * r[i] * r[j] for wi, r in zip(w, rows, strict=True)), Fraction(0))
            for j in range(size)
        ]
        for i in range(size)
    ]
    for pivot in range(p):
        if products[pivot][pivot] == 0:
            continue
        for i in range(pivot + 1, size):
            factor = products[i][pivot] / products[pivot][pivot]
            if factor:
                for j in range(size):
                    products[i][j] -= factor * products[pivot][j]
    return [row[p:] for row in products[p:]]


def rss(
    design: Sequence[Row], y: Sequence[float], weights: Sequence[float] | None = None
) -> Fraction:
    """The residual sum of squares of y on the columns of ``design``."""
    return residual_products(design, [[v] for v in y], weights)[0][0]


def r2(
    design: Sequence[Row],
    y: Sequence[float],
    *,
    intercept: bool = True,
    weights: Sequence[float] | None = None,
) -> Fraction | None:
    """R2 by projection; None where y does not vary. The first column is the intercept's."""
    about = [row[:1] if intercept else [0.0] for row in design]
    total = rss(about, y, weights)
    return None if total == 0 else 1 - rss(design, y, weights) / total


def partial_sums(
    x: Sequence[float], y: Sequence[float], controls: Sequence[Row]
) -> tuple[Fraction, Fraction, Fraction]:
    """(a, b, c): the sums of squares of x and of y and of their products, given the controls."""
    (a, c), (_, b) = residual_products(controls, list(zip(x, y, strict=True)))
    return a, b, c


def partial_exceeds(
    x: Sequence[float], y: Sequence[float], controls: Sequence[Row], t: float
) -> bool | None:
    """Whether the partial correlation is above t, decided exactly; None where it has no value."""
    a, b, c = partial_sums(x, y, controls)
    if a == 0 or b == 0:
        return None
    bar = Fraction(t)
    if (c >= 0) != (bar >= 0):
        return c > 0 or (c == 0 and bar < 0)
    beyond = c * c > bar * bar * a * b
    equal = c * c == bar * bar * a * b
    return beyond if bar >= 0 else not beyond and not equal


def subsets(units: int, k: int, at_least: bool = False) -> Iterable[tuple[int, ...]]:
    """All subsets of exactly k units, or of k and more."""
    for size in range(k, (units if at_least else k) + 1):
        yield from combinations(range(units), size)


def best_of_all(
    x: Sequence[Row],
    y: Sequence[float],
    k: int,
    objective: str,
    weights: Sequence[float] | None = None,
    intercept: bool = True,
) -> tuple[Fraction | None, list[tuple[int, ...]]]:
    """The best R2 or RSS of k rows, None if none has one, and the subsets that have it."""
    values: dict[tuple[int, ...], Fraction] = {}
    for chosen in subsets(len(y), k):
        rows = [[*([1.0] if intercept else []), *map(float, x[i])] for i in chosen]
        some, w = [float(y[i]) for i in chosen], weights and [weights[i] for i in chosen]
        value = (
            rss(rows, some, w)
            if objective == "lts"
            else r2(rows, some, intercept=intercept, weights=w)
        )
        if value is not None:
            values[chosen] = value
    if not values:
        return None, []
    top = (min if objective == "lts" else max)(values.values())
    return top, [chosen for chosen, value in values.items() if value == top]


def rows_of(chosen: Sequence[int], groups: Sequence[int] | None) -> list[int]:
    """The rows of some units: themselves, or those of their groups."""
    if groups is None:
        return list(chosen)
    kept = set(chosen)
    return [i for i, g in enumerate(groups) if g in kept]


def quadratic_lift(rows: Sequence[Row]) -> list[list[Fraction]]:
    """Of every row (predictors and y) all products of two entries, and the entries."""
    exact = [[Fraction(v) for v in row] for row in rows]
    return [[a * b for i, a in enumerate(r) for b in r[i:]] + r for r in exact]

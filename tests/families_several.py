"""Kinds of data with several columns on which the engine is compared with enumeration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from families import Floats, cubed_cauchy, power_of_ten

Family = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]


def normal(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    return rng.normal(size=(n, p)), rng.normal(size=n)


def plane(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    x = rng.normal(size=(n, p))
    y = (x * rng.normal(size=p)).sum(axis=1) + 0.1 * rng.normal(size=n)
    y[: n // 4] += 5 * rng.normal(size=n // 4)
    return x, y


def lattice(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    return rng.integers(0, 4, (n, p)).astype(float), rng.integers(0, 6, n).astype(float)


def duplicated(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    chosen = rng.integers(0, max(3, 2 * n // 3), n)
    return rng.normal(size=(n, p))[chosen], rng.normal(size=n)[chosen]


def dummies(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    """One column with few ones, another with as many ones as zeros, the others continuous."""
    x = rng.normal(size=(n, p))
    x[:, 0] = 0
    x[rng.permutation(n)[:2], 0] = 1
    if p > 1:
        x[:, 1] = rng.integers(0, 2, n)
    return x, np.round(rng.normal(size=n), 1)


def nearly_collinear(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    x = rng.normal(size=(n, p))
    if p > 1:
        x[:, 1] = x[:, 0] + power_of_ten(rng, -8, -1) * rng.normal(size=n)
    return x, rng.normal(size=n)


def collinear(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    x = rng.integers(0, 9, (n, p)).astype(float)
    if p > 1:
        x[:, -1] = x[:, 0] + 2 * x[:, -2] + 1
    return x, rng.normal(size=n)


def constant_column(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    x = rng.normal(size=(n, p))
    x[:, -1] = 3
    return x, rng.normal(size=n)


def clustered(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    centre = 100.0 * rng.integers(0, 3, n)
    return centre[:, None] + rng.normal(size=(n, p)), -centre + rng.normal(size=n)


def far_away(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    offset = power_of_ten(rng, 0, 9, p + 1)
    return rng.random((n, p)) + offset[:-1], rng.random(n) - offset[-1]


def heavy_tailed(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    return cubed_cauchy(rng, (n, p)), cubed_cauchy(rng, n)


def on_a_plane(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    """Integers, most of them exactly on a plane."""
    x = rng.integers(-5, 6, (n, p)).astype(float)
    y = x.sum(axis=1) + 1
    y[: n // 3] += rng.integers(1, 5, n // 3)
    return x, y


def few_on_a_plane(rng: np.random.Generator, n: int, p: int) -> tuple[Floats, Floats]:
    """Small integers, of which two more than a fit has coefficients, or so, are on a plane."""
    x = rng.integers(-3, 4, (n, p)).astype(float)
    y = rng.integers(-3, 4, n).astype(float)
    some = rng.permutation(n)[: p + int(rng.integers(2, 4))]
    y[some] = x[some] @ rng.choice([-2, -1, 1, 1, 2], p) + rng.integers(-6, 7)
    if rng.integers(0, 2):  # one of the columns hardly varies: many subsets are rank-deficient
        x[:, rng.integers(0, p)] = rng.uniform(size=n) < 0.3
    return x, y


FAMILIES: dict[str, Family] = {
    f.__name__: f
    for f in (
        normal, plane, lattice, duplicated, dummies, nearly_collinear, collinear, constant_column,
        clustered, far_away, heavy_tailed, on_a_plane, few_on_a_plane,
    )
}  # fmt: skip

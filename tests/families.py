"""Kinds of data on which kernels are compared with their twins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Family = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


# Powers of numbers that are not whole differ between processors in the last digit, and the records
# of answers (fuzzing/golden.py) with them.


def power_of_ten(
    rng: np.random.Generator, low: float, high: float, size: int | tuple[int, ...] | None = None
) -> Floats:
    digits, exponent = np.frexp(10 ** rng.uniform(low, high, size))
    return np.ldexp(np.round(digits * 2**30), exponent - 30)


def cubed_cauchy(rng: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
    values = rng.standard_cauchy(size)
    return values * values * values


def uniform(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return rng.uniform(size=n), rng.uniform(size=n)


def normal(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return rng.normal(size=n), rng.normal(size=n)


def heavy_tailed(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return cubed_cauchy(rng, n), cubed_cauchy(rng, n)


def clustered(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    centre = rng.integers(0, 3, n) * 1e4
    return centre + rng.normal(size=n), -centre + rng.normal(size=n)


def collinear(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x = rng.permutation(n).astype(float)
    return x, 2 * x - 3


def duplicated(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    chosen = rng.integers(0, max(3, n // 2), n)
    chosen[:2] = 0, 1
    return rng.normal(size=n)[chosen], rng.normal(size=n)[chosen]


def lattice(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x, y = rng.integers(0, 6, (2, n)).astype(float)
    x[:2] = y[:2] = 0, 1
    return x, y


def on_a_conic(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """A parabola with integer coordinates, and one point off it."""
    x = rng.permutation(n).astype(float) - n // 2
    y = x * x
    y[0] += 1
    return x, y


def constant_column(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return rng.normal(size=n), np.full(n, 7.0)


def badly_scaled(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return 1e9 + rng.normal(size=n), 1e-7 * rng.normal(size=n)


FAMILIES: dict[str, Family] = {
    f.__name__: f
    for f in (
        uniform, normal, heavy_tailed, clustered, collinear, duplicated, lattice, on_a_conic,
        constant_column, badly_scaled,
    )
}  # fmt: skip

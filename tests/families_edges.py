"""Kinds of data on which the planar engine is compared with listing: ordinary ones, and those where
double precision ends."""

from __future__ import annotations

import families
import numpy as np
from families import power_of_ten

import quadsweep as qs


def cauchy(rng, n):
    return rng.standard_cauchy(n), rng.standard_cauchy(n)


def close_clusters(rng, n):
    centres = 5 * rng.normal(size=(2, 3))[:, rng.integers(0, 3, n)]
    return tuple(centres + 0.1 * rng.normal(size=(2, n)))


def nearly_collinear(rng, n):
    x = rng.normal(size=n)
    return x, 2 * x + power_of_ten(rng, -9, -2) * rng.normal(size=n)


def crossing_lines(rng, n):
    x = rng.normal(size=n)
    return x, np.where(rng.random(n) < 0.5, x, -x) + 0.01 * rng.normal(size=n)


def on_a_circle(rng, n):
    angle = 2 * np.pi * rng.random(n)
    return np.cos(angle), np.sin(angle)


def on_a_hyperbola(rng, n):
    x = rng.uniform(0.2, 5, n) * np.where(rng.random(n) < 0.7, 1, -1)
    return x, 1 / x


def near_a_counterexample(rng, n):
    sample = qs.datasets.load(
        ("nonseparable-r2", "nonseparable-dv", "nonseparable-cov")[rng.integers(3)]
    )
    chosen = rng.permutation(len(sample.x))[:n]
    shake = power_of_ten(rng, -6, 0.3)
    return tuple(
        np.asarray(c, float)[chosen] + shake * rng.normal(size=len(chosen))
        for c in (sample.x, sample.y)
    )


def far_away(rng, n):
    offset = power_of_ten(rng, 0, 9, 2)
    return rng.random(n) + offset[0], rng.random(n) - offset[1]


def any_scale(rng, n):
    scale = power_of_ten(rng, -9, 9, 2)
    return scale[0] * rng.normal(size=n), scale[1] * rng.normal(size=n)


def counts(rng, n):
    """Half of them zero, as where most things do not happen."""
    x, y = rng.poisson(1.5, (2, n)) * (rng.random((2, n)) < 0.5)
    return x.astype(float), y.astype(float)


def one_decimal(rng, n):
    x = rng.random(n)
    return x, np.round(x + rng.normal(size=n), 1)


def tripled(rng, n):
    x, y = rng.normal(size=(2, -(-n // 3)))
    return np.repeat(x, 3)[:n], np.repeat(y, 3)[:n]


# Where double precision ends: few points, so that all subsets can be valued in whole numbers.


def few(rng, n):
    return min(n, int(rng.integers(5, 11)))


def tight_clusters(rng, n):
    """Two or three clusters, each as tight as it likes."""
    n = few(rng, n)
    which = rng.integers(0, int(rng.integers(2, 4)), n)
    centres, size = rng.normal(size=(2, 3)), power_of_ten(rng, -20, -5, 3)
    centres[:, 0] = 0
    return tuple(centres[:, which] + size[which] * rng.normal(size=(2, n)))


def tight_lines(rng, n):
    """Two near-exact lines, far from the origin or not."""
    n = few(rng, n)
    x, first = rng.normal(size=n), rng.random(n) < 0.5
    size, (a, b) = power_of_ten(rng, -16, -5, 2), rng.normal(size=2)
    y = np.where(first, a * x, b * x + 1) + np.where(first, *size) * rng.normal(size=n)
    return x, y * power_of_ten(rng, 0, 8)


def sentinels(rng, n):
    n = few(rng, n)
    table = rng.normal(size=(2, n))
    for _ in range(rng.integers(1, 3)):
        far = power_of_ten(rng, 10, 300) * rng.choice([-1, 1])
        table[rng.integers(2), rng.integers(n)] = far
    return tuple(table)


def subnormal(rng, n):
    n = few(rng, n)
    return tuple(rng.integers(-60, 60, (2, n)) * 5e-324 * 2.0 ** rng.integers(0, 60, (2, 1)))


def tiny_next_to_ordinary(rng, n):
    n = few(rng, n)
    size = np.where(rng.random(n) < 0.6, power_of_ten(rng, -320, -20), 1)
    return tuple(size * rng.normal(size=(2, n)))


def far_offset(rng, n):
    n = few(rng, n)
    return tuple(rng.normal(size=(2, n)) + power_of_ten(rng, 6, 15, (2, 1)))


def a_part_far_off(rng, n):
    n = few(rng, n)
    table = rng.normal(size=(2, n))
    table[:, rng.random(n) < 0.4] += power_of_ten(rng, 6, 15, (2, 1))
    return tuple(table)


def exact_fits(rng, n):
    """Decimals on a line: what is left is the rounding of y."""
    n = few(rng, n)
    x = np.round(rng.uniform(0, 10, n), 1)
    y = np.where(rng.random(n) < 0.7, 2.3 * x + 0.7, np.round(rng.uniform(0, 10, n), 1))
    return x, y


def both_signs_tied(rng, n):
    """Every point with its mirror image."""
    half = max(2, few(rng, n) // 2)
    x, y = np.round(rng.normal(size=(2, half)), 2)
    return np.concatenate([x, x]), np.concatenate([y, -y])


def last_digit(rng, n):
    """Points that differ in the last digit only."""
    n = few(rng, n)
    table = np.round(rng.normal(size=(2, n)), 1)[:, rng.integers(0, n, n)]
    return tuple(table + rng.integers(0, 3, (2, n)) * np.spacing(table))


EDGES = (
    tight_clusters, tight_lines, sentinels, subnormal, tiny_next_to_ordinary, far_offset,
    a_part_far_off, exact_fits, both_signs_tied, last_digit,
)  # fmt: skip

FAMILIES: dict[str, families.Family] = families.FAMILIES | {
    f.__name__: f
    for f in (
        cauchy, close_clusters, nearly_collinear, crossing_lines, on_a_circle, on_a_hyperbola,
        near_a_counterexample, far_away, any_scale, counts, one_decimal, tripled, *EDGES,
    )
}  # fmt: skip

"""Samples too large for listing whose best subset is known: planted, or among few that remain.

Each planted one comes with the reason why no other subset of k points is as good.
"""

from __future__ import annotations

import numpy as np
from families_edges import FAMILIES
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Sample = tuple[Floats, Floats, int, list[int] | None]  # None: to be listed


def shuffled(rng, inside, outside) -> Sample:
    """Columns in random order, and where the planted points are now."""
    table = np.concatenate([inside, outside], axis=1)
    order = rng.permutation(table.shape[1])
    k = inside.shape[1]
    return (*(np.ascontiguousarray(c) for c in table[:, order]), k,
            np.flatnonzero(order < k).tolist())  # fmt: skip


def sizes(rng, least: int, most: int = 1000, share: float = 0.3) -> tuple[int, int]:
    """Points, and how many of them are planted: few."""
    n = round(np.exp(rng.uniform(np.log(4 * least), np.log(most))))
    return n, int(rng.integers(least, max(least, int(share * n)) + 1))


def a_cluster(rng, n, k):
    """For tv. Others lie on a lattice of spacing 1, shaken by 0.1: 0.71 from each other and from
    the cluster, of radius r <= 0.14. With an outsider at least k - 1 pairs are that far apart, so
    k (a + b) >= 0.5 (k - 1), while the cluster has at most k (k - 1) / 2 pairs of (2 r)^2."""
    side = int(np.ceil(np.sqrt(n - k + 1)))
    lattice = np.stack(np.divmod(rng.permutation(side * side)[: n - k + 1], side)).astype(float)
    radius = rng.uniform(0.01, 1) * min(0.14, np.sqrt(0.2 / k))
    angle, away = 2 * np.pi * rng.random(k), radius * np.sqrt(rng.random(k))
    inside = lattice[:, :1] + away * np.stack([np.cos(angle), np.sin(angle)])
    outside = lattice[:, 1:] + rng.uniform(-0.1, 0.1, (2, n - k))
    scale = 10 ** rng.uniform(-4, 4)
    return shuffled(rng, scale * inside, scale * outside)


def a_line_below_a_parabola(rng, n, k, flat=False):
    """For lts, k >= 5. Others are (i, i^2): three of them leave at least 2/3. One or two of them
    leave k - 2 >= 3 points of a line that passes 7 X below, at whole x within X: the sum of
    squares is at least (7 X)^2 / (2 + 2 X^2). The line's own is at most 0.09.

    For mcd, `flat`: k^3 det is the sum over triples of (twice their area)^2, at least 4 with three
    of the parabola, or with one of it and two of the line. Of the line it is at most (k X)^2 times
    its sum of squares, 0.09 / (k X)^2."""
    reach = max(k, n - k)
    x = rng.permutation(2 * reach + 1)[:k] - float(reach)
    noise = rng.normal(size=k)
    noise *= rng.uniform(0.01, 0.3) / np.sqrt(noise @ noise) / (k * reach if flat else 1)
    inside = np.stack([x, rng.uniform(-1, 1) * x - 8 * reach - 8 + noise])
    i = rng.permutation(2 * reach + 1)[: n - k] - float(reach)
    return shuffled(rng, inside, np.stack([i, i * i]))


def an_exact_line(rng, n, k):
    """For r and r2: no correlation is above 1."""
    x = rng.permutation(4 * n)[:k] - 2.0 * n
    inside = np.stack([x, float(rng.integers(1, 9)) * x + float(rng.integers(-99, 99))])
    return shuffled(rng, inside, 4 * n * rng.normal(size=(2, n - k)))


def two_far_ends(rng, n, k, flat=False):
    """For cov and dv, k even. Half within 1 of (M, M), half within 1 of (-M, -M) (of (M, 0) and
    (-M, 0) for dv), all others within 1 of the origin. k^2 c is a sum over pairs: at least
    k^2 (M - 1)^2 - 4 k^2 for these, and with j > 0 others at most k (k - j) (M + 2)^2 + 2 k^2,
    which is less for M >= 10 k + 50."""
    k -= k % 2
    m = (10 * k + 50) * 10 ** rng.uniform(0, 5)
    side = np.where(np.arange(k) < k // 2, m, -m)
    inside = np.stack([side, 0 * side if flat else side]) + rng.uniform(-1, 1, (2, k))
    return shuffled(rng, inside, rng.uniform(-1, 1, (2, n - k)))


def planted(rng, objective: str) -> Sample:
    """Few points of many."""
    if objective == "tv":
        return a_cluster(rng, *sizes(rng, 2))
    if objective == "lts":
        return a_line_below_a_parabola(rng, *sizes(rng, 5))
    if objective == "mcd":
        return a_line_below_a_parabola(rng, *sizes(rng, 5, most=60), flat=True)
    if objective in ("r", "r2"):
        return an_exact_line(rng, *sizes(rng, 3))
    return two_far_ends(rng, *sizes(rng, 2), flat=objective == "dv")


def of_a_kind(rng, n: int) -> tuple[Floats, Floats]:
    family = list(FAMILIES)[rng.integers(len(FAMILIES))]
    return FAMILIES[family](rng, n)


def nearly_all(rng, objective: str) -> Sample:
    """All but one or two points: the removals can be listed."""
    dropped = int(rng.integers(1, 3))
    x, y = of_a_kind(rng, int(rng.integers(20, (2000, 120)[dropped - 1])))
    return x, y, max(3, len(x) - dropped), None


def two_or_three(rng, objective: str) -> Sample:
    """The fewest points there can be: their subsets can be listed."""
    least = 3 if objective in ("r2", "r", "lts", "mcd") else 2
    x, y = of_a_kind(rng, int(rng.integers(20, (200, 40)[least - 2])))
    return x, y, least, None


PLANTED = {f.__name__: f for f in (planted, nearly_all, two_or_three)}

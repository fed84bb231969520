"""Kinds of tables on which methods for several predictors are compared with their twin."""

from __future__ import annotations

from families import cubed_cauchy


def normal(rng, n, p):
    return rng.normal(size=(n, p)), rng.normal(size=n)


def plane(rng, n, p):
    X = rng.normal(size=(n, p))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=n)
    y[: n // 4] += 5
    return X, y


def lattice(rng, n, p):
    X, y = rng.integers(0, 3, (n, p)).astype(float), rng.integers(0, 4, n).astype(float)
    y[:2] = 0, 1
    return X, y


def duplicated(rng, n, p):
    rows = rng.integers(0, max(p + 3, n // 2), n)
    return rng.normal(size=(n, p))[rows], rng.normal(size=n)[rows]


def dummies(rng, n, p):
    X = (rng.random((n, p)) < 0.25).astype(float)
    X[:, 0] = rng.normal(size=n)
    return X, rng.normal(size=n)


def collinear(rng, n, p):
    X = rng.integers(-9, 10, (n, p)).astype(float)
    X[:, -1] = X[:, 0] * 2 if p == 2 else X[:, 0] + X[:, 1]
    return X, rng.normal(size=n)


def nearly_collinear(rng, n, p):
    X, y = collinear(rng, n, p)
    X[:, -1] += 1e-8 * rng.normal(size=n)
    return X, y


def constant_column(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, 0] = 0.1
    return X, rng.normal(size=n)


def clusters(rng, n, p):
    centre = rng.integers(0, 2, n)[:, None] * 1e4
    return centre + rng.normal(size=(n, p)), rng.normal(size=n)


def far_away(rng, n, p):
    return 1e9 + rng.normal(size=(n, p)), -1e9 + rng.normal(size=n)


def heavy_tailed(rng, n, p):
    return cubed_cauchy(rng, (n, p)), cubed_cauchy(rng, n)


FAMILIES = {
    f.__name__: f
    for f in (
        normal, plane, lattice, duplicated, dummies, collinear, nearly_collinear, constant_column,
        clusters, far_away, heavy_tailed,
    )
}  # fmt: skip

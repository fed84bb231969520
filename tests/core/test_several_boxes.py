"""Boxes of the engine for several predictors, by themselves.

The roots hold every theta, and what is said of a box holds for every subset that is better at some
theta in it; where the normal equations bound it, for every subset whose own theta is in it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from quadsweep import _core_parts

# Columns that u sees; of a sign, -x, which the left factor has.
KINDS = {"r2": 1, "lts": 0, "sign": 1, "above": 2, "below": 2}
ROUNDING = 1e-14  # of the sides of a box
THRESHOLDS = {"r2": 0.6, "lts": 0.5, "sign": 0.0, "above": 0.7, "below": -0.1}


def aim(kind, t):
    """s_e, s_u and base of docs/theory/regression.md."""
    return {
        "r2": (1, 1 - t, 0),
        "lts": (1, 0, t),
        "above": (1, (1 - t) / (1 + t), 0),
        "below": ((1 + t) / (1 - t), 1, 0),
    }[kind]


def columns(rng, kind, n, fitted):
    """Z with an intercept, what is searched beside it, what u sees; often whole numbers."""
    whole = rng.uniform() < 0.5
    z, xy = rng.normal(size=(n, fitted)), rng.normal(size=(n, 2))
    if whole:
        z, xy = np.rint(2 * z), np.rint(2 * xy)
    z[:, 0] = 1
    x, y = xy.T
    if rng.uniform() < 0.5:  # some rows exactly on a plane
        y[: fitted + 2] = x[: fitted + 2] + z[: fitted + 2].sum(axis=1)
    searched, seen = {
        "r2": ([y], [y]),
        "lts": ([y], []),
        "sign": ([y], [-x]),
        "above": ([-x, y], [x, y]),
        "below": ([x, -y], [-x, -y]),
    }[kind]
    return np.ascontiguousarray(np.column_stack([z, *searched, *seen]))


def criterion(kind, t, rows, theta, fitted):
    """Its value at many theta, for the rows of one subset; g is where it is largest."""
    active = KINDS[kind]
    searched = rows.shape[1] - active
    if kind == "sign":
        z, x = rows[:, :fitted], rows[:, -1]
        left = x - z @ np.linalg.lstsq(z, x, rcond=None)[0]
        return theta[:, -1] * (left @ rows[:, :searched] @ theta.T)
    s_e, s_u, base = aim(kind, t)
    value = s_e * ((rows[:, :searched] @ theta.T) ** 2).sum(axis=0) - base * theta[:, -1] ** 2
    if active:
        free = rows[:, :1] if kind == "r2" else rows[:, :fitted]
        seen = rows[:, searched:] @ theta[:, searched - active :].T
        left = seen - free @ np.linalg.lstsq(free, seen, rcond=None)[0]
        value = value - s_u * (left**2).sum(axis=0)
    return value


def thetas(rng, box, count):
    """In the box, its sides among them."""
    z = np.clip(rng.normal(0, 0.8, size=(count, len(box["half"]))), -1, 1)
    return np.array(box["centre"]) + z * np.array(box["half"])


def smaller(rng, root, kind, t, rows, fitted):
    """A box in a root, around the best of some theta for a subset."""
    some = thetas(rng, root, 200)
    best = some[np.argmin(criterion(kind, t, rows, some, fitted))]
    share = 2.0 ** -rng.integers(0, 7, size=len(root["half"]))
    half = np.array(root["half"]) * share
    away = np.clip(best - root["centre"], half - root["half"],
                   root["half"] - half)  # fmt: skip
    return {**root, "centre": np.array(root["centre"]) + away, "half": half}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["above", "below"])
def test_every_better_subset_stays_in_its_box(kind):
    cut = decided = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 3])
        fitted = int(rng.integers(1, 4))
        n = int(rng.integers(fitted + 4, 10))
        rows, t = columns(rng, kind, n, fitted), THRESHOLDS[kind]
        roots = _core_parts.regression_roots(kind, rows, t, 0)  # none kept: not of fits
        k = int(rng.integers(fitted + 1, n))
        some = rng.permutation(n)[:k]
        kept = sorted(some[: int(rng.integers(0, k))].tolist())
        box = smaller(rng, roots[rng.integers(len(roots))], kind, t, rows[some], fitted)
        found = _core_parts.regression_box(
            kind, rows, t, k, box["frame"], box["centre"].tolist(), box["half"].tolist(), kept
        )
        theta = thetas(rng, box, 300)
        inside = (np.abs(theta - found["centre"]) <= np.array(found["half"]) + ROUNDING).all(axis=1)
        cut += not inside.all()
        decided += len(found["decided"])
        size = float((rows**2).sum()) * float((theta**2).sum(axis=1).max())
        others = [i for i in range(n) if i not in kept]
        for more in combinations(others, k - len(kept)):
            value = criterion(kind, t, rows[[*kept, *more]], theta, fitted)
            assert value.min() >= found["bound"] - 1e-12 * size, (kind, seed)
            better = value < -1e-12 * size
            if not better.any():
                continue
            assert found["share"] > 0, (kind, seed)
            assert inside[better].all(), (kind, seed)
            assert set(found["decided"]) <= set(more), (kind, seed)
            assert set(more) <= {*found["decided"], *found["open"]}, (kind, seed)
    assert cut > 10
    assert decided > 10


def own_theta(rows, searched):
    """Of a subset: minus its coefficients on Z and 1, the largest entry made 1."""
    z, y = rows[:, : searched - 1], rows[:, searched - 1]
    theta = np.append(-np.linalg.lstsq(z, y, rcond=None)[0], 1.0)
    return theta / theta[np.argmax(np.abs(theta))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["r2", "lts", "sign"])
def test_every_better_subset_stays_in_the_box_of_its_own_theta(kind):
    cut = decided = seen = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 4])
        fitted = int(rng.integers(1, 4))
        n = int(rng.integers(fitted + 4, 10))
        rows, t = columns(rng, kind, n, fitted), THRESHOLDS[kind]
        searched = rows.shape[1] - KINDS[kind]
        k = int(rng.integers(fitted + 1, n))
        some = rng.permutation(n)[:k]
        if np.linalg.matrix_rank(rows[some, :fitted]) < fitted:
            continue
        kept = sorted(some[: int(rng.integers(0, k))].tolist())
        box = around(rng, _core_parts.regression_roots(kind, rows, t, 0),
                     own_theta(rows[some], searched))  # fmt: skip
        found = _core_parts.regression_box(
            kind, rows, t, k, box["frame"], box["centre"].tolist(), box["half"].tolist(), kept
        )
        decided += len(found["decided"])
        cut += bool(np.any(np.array(found["half"]) < 0.99 * box["half"]))
        others = [i for i in range(n) if i not in kept]
        for more in combinations(others, k - len(kept)):
            subset = rows[[*kept, *more]]
            if np.linalg.matrix_rank(subset[:, :fitted]) < fitted:
                continue
            theta = own_theta(subset, searched)
            if (np.abs(theta - box["centre"]) > box["half"] * (1 - 1e-12)).any():
                continue
            size = float((rows**2).sum()) * float((theta**2).sum())
            value = criterion(kind, t, subset, theta[None], fitted)[0]
            # The bound is of the criterion times theta_y' / theta_y, theta_y' the centre's.
            times = box["centre"][searched - 1] / theta[-1]
            assert value * times >= found["bound"] - 1e-11 * size * max(times, 1), (kind, seed)
            if value >= -1e-12 * size:
                continue
            seen += 1
            assert found["share"] > 0, (kind, seed)
            assert (np.abs(theta - found["centre"]) <= np.array(found["half"]) + 1e-12).all()
            assert set(found["decided"]) <= set(more), (kind, seed)
            assert set(more) <= {*found["decided"], *found["open"]}, (kind, seed)
    assert cut > 10
    assert decided > 10
    assert seen > 50


def around(rng, roots, theta):
    """A box with theta in it, in the root that holds it."""
    inside = [np.abs(theta - r["centre"]) <= np.array(r["half"]) + ROUNDING for r in roots]
    root = next(r for r, i in zip(roots, inside, strict=True) if i.all())
    half = np.array(root["half"]) * 2.0 ** -rng.integers(0, 7, size=len(root["half"]))
    low = np.maximum(theta - 2 * half * rng.uniform(size=len(half)),
                     np.array(root["centre"]) - root["half"])  # fmt: skip
    low = np.minimum(low, np.array(root["centre"]) + root["half"] - 2 * half)
    return {**root, "centre": low + half, "half": half}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fitted", [1, 2, 3])
def test_the_roots_hold_every_equation(kind, fitted):
    rng = np.random.default_rng(fitted)
    rows = columns(rng, kind, 9, fitted)
    searched = rows.shape[1] - KINDS[kind]
    roots = _core_parts.regression_roots(kind, rows, THRESHOLDS[kind], 0)  # none kept: not of fits
    assert not any(r["of_fits"] for r in roots)
    for _ in range(200):
        theta = rng.standard_cauchy(searched)
        if kind in ("above", "below"):
            theta[-2:] = np.abs(theta[-2:])  # tau > 0
        theta /= theta[np.argmax(np.abs(theta))]
        near = [np.abs(theta - r["centre"]) <= np.array(r["half"]) for r in roots]
        assert any(n.all() for n in near), theta

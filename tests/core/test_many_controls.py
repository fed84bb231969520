"""The bound for many controls, and the branching on it, against enumeration and a plain twin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quadsweep import _core


def residual(columns, v):
    """What least squares on the columns leaves of v; the columns may depend on each other."""
    if columns.shape[1] == 0:
        return v
    return v - columns @ np.linalg.lstsq(columns, v, rcond=None)[0]


def form_left(z, p, q, extra, gone):
    kept = np.setdiff1d(np.arange(len(p)), gone)
    return residual(z[kept], p[kept]) @ residual(z[kept], q[kept]) - extra[kept].sum()


def least_left(z, p, q, extra, items, m):
    """The least value of the form over all removals of up to m items, and a removal that has it."""
    names, best = np.unique(items), (np.inf, ())
    for size in range(m + 1):
        for removal in itertools.combinations(names, size):
            gone = np.flatnonzero(np.isin(items, removal))
            best = min(best, (form_left(z, p, q, extra, gone), removal))
    return best


def instance(seed):
    """Controls, some of them dummies of a partition; p and q with a clear product; items."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 13))
    z = rng.standard_normal((n, int(rng.integers(0, 4)))) * rng.choice([1, 3], size=(n, 1))
    classes = np.full(n, -1)
    if rng.random() < 0.5:
        classes = rng.integers(0, int(rng.integers(1, 4)), size=n)
        classes = np.unique(classes, return_inverse=True)[1]
    items = np.arange(n)
    if rng.random() < 0.4:  # groups, of which no class may lose a part
        items = np.unique(rng.integers(0, max(3, n // 2), size=n), return_inverse=True)[1]
        classes = np.where(rng.random() < 0.5, items, -1) if rng.random() < 0.5 else classes * 0 - 1
    weights = rng.uniform(0.5, 2, n) if rng.random() < 0.4 else np.ones(n)
    p = rng.standard_normal(n)
    q = p * rng.uniform(0.3, 1.5) + rng.standard_normal(n)
    extra = rng.random(n) * 0.03 if rng.random() < 0.4 else np.zeros(n)
    return n, z, classes, items, weights, p, q, extra


def prover(n, z, classes, items, weights, p, q, extra):
    """As the package makes it, in plain NumPy; and the controls of the regression it is about."""
    root = np.sqrt(weights)
    dummies = (classes[:, None] == np.unique(classes[classes >= 0])) * root[:, None]
    controls = np.column_stack([dummies, z * root[:, None]])
    about = np.column_stack([residual(dummies, v * root) for v in z.T] + [np.zeros((n, 0))])
    basis = np.linalg.qr(about)[0] if about.shape[1] else np.zeros((n, 0))
    p, q = residual(controls, p * root), residual(controls, q * root)
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    e = np.zeros(n)
    nested = len(np.unique(items)) < n  # classes of groups take part only as whole units
    for c in np.unique(classes[classes >= 0]):
        inside = classes == c
        e[inside] = root[inside] / np.linalg.norm(root[inside])
    made = _core.ManyControls(
        np.ascontiguousarray(basis.T), p, q, extra=extra, e=np.zeros(n) if nested else e,
        classes=np.full(n, -1) if nested else classes, items=items, rounding=1e-14,
    )  # fmt: skip
    return made, controls, basis, p, q, e


@pytest.mark.parametrize("seed", range(300))
def test_what_is_proved_and_found_agrees_with_enumeration(seed):
    given = instance(seed)
    items, extra = given[3], given[7]
    made, controls, _, p, q, _ = prover(*given)
    if p @ q - extra.sum() < 0.01:
        return
    for m in (1, 2, 3):
        least, removal = least_left(controls, p, q, extra, items, m)
        alone = made.refute(m)
        full = made.refute(m, most_nodes=10_000, n_jobs=1 + seed % 2)
        if abs(least) > 1e-6:
            assert not alone["proved"] or least > 0, (seed, m, removal)
            assert not full["proved"] or least > 0, (seed, m, removal)
        if full["removal"]:
            gone = np.flatnonzero(np.isin(items, full["removal"]))
            assert len(full["removal"]) <= m
            assert form_left(controls, p, q, extra, gone) < 0
        left = made.least(m)
        assert left <= least + 1e-9, (seed, m)


def test_branching_decides_nearly_all_of_them():
    decided = both = 0
    for seed in range(150):
        given = instance(seed)
        items, extra = given[3], given[7]
        made, controls, _, p, q, _ = prover(*given)
        if p @ q - extra.sum() < 0.01:
            continue
        least, _ = least_left(controls, p, q, extra, items, 2)
        found = made.refute(2, most_nodes=10_000)
        both += 1
        decided += found["proved"] == (least > 0) and bool(found["removal"]) == (least < 0)
    assert both > 60
    assert decided >= 0.9 * both


def twin_terms(kernel, p, q, d, m):
    """Both orders, as docs/theory/many-controls.md has them."""
    w, n = p + q, len(p)

    def first(values):
        return np.sort(np.maximum(values, 0))[::-1][: m - 1].sum()

    orders = np.empty((2, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        row, own, sign = kernel[i, others], kernel[i, i], 1 if w[i] >= 0 else -1
        level = own + first(np.abs(row) * d[others]) / d[i]
        up = own * abs(w[i]) + first(sign * row * w[others])
        down = max(first(-sign * row * w[others]) - own * abs(w[i]), 0)
        if level > 0.999:
            orders[:, i] = np.inf
            continue
        ways = (abs(w[i]) * up + up**2 / (1 - level), -abs(w[i]) * down + down**2 / (1 - level))
        orders[0, i] = p[i] * q[i] + max(ways) / 4
        orders[1, i] = p[i] * q[i] + w[i] ** 2 * level / (1 - level) / 4
    return [np.sort(np.maximum(terms, 0))[::-1][:m].sum() for terms in orders]


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n, rank, m = 60, int(rng.integers(1, 6)), int(rng.integers(1, 6))
    basis = np.linalg.qr(rng.standard_normal((n, rank)))[0]
    p, q = (residual(basis, rng.standard_normal(n)) for _ in range(2))
    d = rng.uniform(0.5, 2, n)
    made = _core.ManyControls(
        np.ascontiguousarray(basis.T), p, q, extra=np.zeros(n), e=np.zeros(n),
        classes=np.full(n, -1), items=np.arange(n), rounding=1e-14,
    )  # fmt: skip
    second, one = twin_terms(basis @ basis.T, p, q, d, m)
    total = made.total(m, d.tolist())
    assert total <= second + 1e-9
    assert total >= min(second, one) - 1e-9


def test_a_limit_on_time_ends_it():
    rng = np.random.default_rng(1)
    n = 400
    basis = np.linalg.qr(rng.standard_normal((n, 20)))[0]
    p = residual(basis, rng.standard_normal(n))
    q = residual(basis, 0.3 * p + rng.standard_normal(n))
    made = _core.ManyControls(
        np.ascontiguousarray(basis.T), p, q, extra=np.zeros(n), e=np.zeros(n),
        classes=np.full(n, -1), items=np.arange(n), rounding=1e-14,
    )  # fmt: skip
    found = made.refute(40, most_nodes=10**9, time_limit=0.2)
    assert found["status"] == "time_limit"
    assert not found["proved"]


def test_what_is_taken_off_besides_may_not_be_negative():
    n = 5
    for wrong in (-1e-9, np.nan):
        with pytest.raises(ValueError, match="extra must not be negative"):
            _core.ManyControls(
                np.zeros((0, n)), np.ones(n), np.ones(n), extra=np.full(n, wrong), e=np.zeros(n),
                classes=np.full(n, -1), items=np.arange(n), rounding=1e-14,
            )  # fmt: skip

"""Parts of the engine by themselves, and the whole of it where only many points take it."""

from itertools import product
from math import comb

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import _core_parts

MANY = 60_000  # distinct points, beyond which ranges come from bins


def exact_ranges(v, k):
    """Means of the k least and greatest, and the least centred sum of squares of k neighbours."""
    v = np.sort(v).astype(np.longdouble)
    s = np.concatenate([[0], np.cumsum(v)])
    ss = np.concatenate([[0], np.cumsum(v * v)])
    squares = (ss[k:] - ss[:-k]) - (s[k:] - s[:-k]) ** 2 / k
    return v[:k].mean(), v[-k:].mean(), max(squares.min(), 0), (v * v).sum()


COLUMNS = {
    "uniform": lambda rng: rng.uniform(-1, 1, MANY),
    "normal": lambda rng: rng.normal(size=MANY),
    "heavy_tailed": lambda rng: rng.standard_cauchy(MANY),
    "two_clusters": lambda rng: rng.choice([-1.0, 1.0], MANY) + 1e-3 * rng.normal(size=MANY),
    "one_far_away": lambda rng: np.append(rng.normal(size=MANY - 1), 1e6),
    "off_centre": lambda rng: 1e4 + rng.normal(size=MANY),
    "rounded": lambda rng: np.round(rng.normal(size=MANY), 1),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_ranges_by_bins_hold_the_exact_ones(column, share):
    rng = np.random.default_rng(0)
    x, other = COLUMNS[column](rng), rng.normal(size=MANY)
    k = int(share * MANY)
    found = _core_parts.column_ranges(x, other, k)
    for v, (low, high, least, positive, most) in zip((x, other), found, strict=True):
        mean_low, mean_high, squares, total = exact_ranges(v, k)
        width = float(np.ptp(v)) / 8192
        slack = 2 * width + 1e-9 * float(np.abs(v).max())
        assert mean_low - slack <= low <= mean_low
        assert mean_high <= high <= mean_high + slack
        assert 0 <= least <= squares
        assert least <= positive
        assert total <= most * (1 + 1e-15)
        # Bins move the root of the sum of squares by half a width for each value at most.
        assert np.sqrt(least) >= np.sqrt(float(squares)) - 2 * np.sqrt(k) * slack


def test_identical_points_are_one_wherever_they_are_looked_for():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 30, (2, 150_000)).astype(float)  # more than are all compared
    assert _core_parts.collapsed(x, y)[0] == len(np.unique(np.column_stack([x, y]), axis=0))
    x, y = rng.normal(size=(2, 150_000))  # nothing in the sample: each is for itself
    assert _core_parts.collapsed(x, y) == (150_000, 1)
    x[::3], y[::3] = x[0], y[0]
    assert _core_parts.collapsed(x, y) == (100_001, 50_000)


def naive_ways(copies, need, at_least):
    """Every vector of counts, filtered."""
    return {
        kept
        for kept in product(*(range(c + 1) for c in copies))
        if sum(kept) == need or (at_least and sum(kept) > need)
    }


@pytest.mark.parametrize("at_least", [False, True])
def test_ways_and_their_list_are_those_of_the_definition(at_least):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        copies = rng.integers(1, rng.choice([2, 3, 5]), int(rng.integers(1, 7))).tolist()
        need = int(rng.integers(-1, sum(copies) + 2))
        expected = naive_ways(copies, need, at_least) if need >= 0 or at_least else set()
        assert _core_parts.count_ways(copies, need, at_least, 10**6) == len(expected), (
            f"seed {seed}"
        )
        x = rng.integers(-9, 10, len(copies)).astype(float)
        listed = _core_parts.list_ways(x, copies, need, at_least)
        assert {tuple(kept) for kept, _ in listed} == expected, f"seed {seed}"
        assert len(listed) == len(expected), f"seed {seed}"
        for kept, total in listed:
            assert total == np.dot(kept, x), f"seed {seed}"


def test_counting_ways_stops_beyond_the_most():
    assert _core_parts.count_ways([1] * 60, 30, False, 1000) == 1001
    assert _core_parts.count_ways([3] * 60, 30, False, 1000) == 1001
    assert _core_parts.count_ways([1] * 20, 10, False, 10**6) == comb(20, 10)
    assert _core_parts.count_ways([1] * 20, 10, True, 10**7) == sum(
        comb(20, j) for j in range(10, 21)
    )
    assert _core_parts.count_ways([1] * 4000, 3999, False, 10**6) == 4000


# Below and above the sizes from which columns are sorted part by part, and threads are started.
@pytest.mark.parametrize(("n", "n_jobs"), [(9, 1), (2048, 1), (2049, 2), (50_000, 1), (50_000, 3)])
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "one far away", "one column", "lattice"])
def test_the_cells_of_a_tree_hold_its_points(n, n_jobs, kind):
    rng = np.random.default_rng([n, n_jobs])
    x, y = rng.normal(size=(2, n))
    if kind == "heavy tails":
        x, y = x**9, y**7
    elif kind == "one far away":
        x[0] = 1e12
    elif kind == "one column":
        x[:] = 3
    elif kind == "lattice":
        x, y = np.round(30 * x), np.round(30 * y)
    points, rows, cells = _core_parts.tree(x, y, n_jobs)
    assert sorted(rows) == list(range(n))
    u, w, weight = map(np.array, points)
    assert np.array_equal(np.repeat(u, weight.astype(int)), x[rows])
    assert np.array_equal(np.repeat(w, weight.astype(int)), y[rows])
    terms = weight * np.array([np.ones(len(u)), u, w, u * u, u * w, w * w])
    for first, last, left, cx, cy, hx, hy, *known in cells:
        own = slice(int(first), int(last))
        assert np.all(np.abs(u[own] - cx) <= hx)
        assert np.all(np.abs(w[own] - cy) <= hy)
        rounding = 1e-13 * np.abs(terms[:, own]).sum(axis=1)
        assert np.all(np.abs(terms[:, own].sum(axis=1) - known) <= rounding)
        if left < 0:
            assert last - first <= 8
            continue
        one, other = cells[int(left)], cells[int(left) + 1]
        assert (one[0], one[1], other[1]) == (first, other[0], last)
        assert abs(one[1] - (first + last) / 2) < 1


@pytest.mark.parametrize("n", [50, 4000, 20_000])
@pytest.mark.parametrize("kind", ["normal", "lattice", "duplicated"])
def test_the_cheapest_points_are_those_of_a_sort(n, kind):
    for seed in range(6):
        rng = np.random.default_rng([seed, n])
        x, y = rng.normal(size=(2, n))
        if kind == "lattice":
            x, y = np.round(4 * x), np.round(4 * y)
        elif kind == "duplicated":
            chosen = rng.integers(0, n // 5, n)
            x, y = x[chosen], y[chosen]
        f = rng.integers(-3, 4, 6).astype(float)
        k = int(rng.integers(1, n))
        points, sx, sxx = _core_parts.cheapest_points(x, y, f.tolist(), k)
        cost = f[0] * x * x + f[1] * x * y + f[2] * y * y + f[3] * x + f[4] * y + f[5]
        where = f"{kind}, n {n}, seed {seed}, k {k}"
        assert len(set(points)) == k, where
        np.testing.assert_allclose(
            np.sort(cost[points]), np.sort(cost)[:k], atol=1e-12 * np.abs(cost).max(), err_msg=where
        )
        np.testing.assert_allclose([sx, sxx], [x[points].sum(), (x[points] ** 2).sum()], rtol=1e-9,
                                   atol=1e-7, err_msg=where)  # fmt: skip


def planted(rng, n, k, copies=1):
    """k points on a line, exactly (whole numbers), the others far from any line with k points."""
    x = rng.permutation(4 * n)[:n].astype(float)
    y = 3 * x + 5
    outside = rng.permutation(n)[: n - k]
    y[outside] = np.round(rng.uniform(-12 * n, 12 * n, n - k))
    moved = outside[y[outside] == 3 * x[outside] + 5]
    y[moved] += 1
    inliers = np.delete(np.arange(n), outside)
    return np.tile(x, copies), np.tile(y, copies), inliers


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_a_planted_line_among_many_points_is_found_and_proved(objective):
    """More than half the points on one line: no other subset of that size has R2 = 1."""
    n, k = 200_000, 120_000
    x, y, inliers = planted(np.random.default_rng(5), n, k)
    result = qs.solve(x, y, k, objective=objective)
    assert result.status == "optimal"
    assert result.inliers.tolist() == inliers.tolist()
    assert result.value == pytest.approx(1.0 if objective == "r2" else 0.0, abs=1e-9)


def test_a_planted_line_of_points_that_repeat_is_found_and_proved():
    """Every point four times, beyond the size up to which all are compared."""
    x, y, inliers = planted(np.random.default_rng(6), 50_000, 30_000, copies=4)
    result = qs.solve(x, y, 120_000)
    assert result.status == "optimal"
    expected = np.concatenate([inliers + 50_000 * c for c in range(4)])
    assert result.inliers.tolist() == np.sort(expected).tolist()


def test_a_planted_cluster_is_the_least_spread():
    """Whole numbers: a square of side 200 beside points no two of which are closer than 1000."""
    rng = np.random.default_rng(7)
    side = 200
    cluster = np.array([(i, j) for i in range(side) for j in range(side)], dtype=float)
    far = np.column_stack([1e6 + 1000 * np.arange(160_000), 1000.0 * rng.permutation(160_000)])
    points = rng.permutation(np.vstack([cluster, far]))
    result = qs.solve(points[:, 0], points[:, 1], side * side, objective="tv")
    assert result.status == "optimal"
    assert (points[result.inliers] < 1e5).all()
    assert result.value == pytest.approx((side**2 - 1) / 6, rel=1e-9)

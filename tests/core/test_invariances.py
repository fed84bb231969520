"""What must not change the answer: the order of the points, the units, the direction of an axis."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quadsweep as qs

CLOSE = 1e-9


@st.composite
def scatters(draw):
    """Points on a grid, so that ties and duplicates are common, and a k to keep."""
    n = draw(st.integers(5, 10))
    coordinates = st.integers(-20, 20)
    points = draw(st.lists(st.tuples(coordinates, coordinates), min_size=n, max_size=n))
    x, y = np.array(points, dtype=float).T
    if len(set(x)) < 2:
        x[0] += 1
    if len(set(y)) < 2:
        y[-1] += 1
    return x, y, draw(st.integers(3, n))


def best(x, y, k, objective="r2"):
    """The value of the optimum, NaN where every subset is undefined."""
    return float(
        qs.solve_many([x], [y], k, objective=objective, method="exhaustive", n_jobs=1).values[0]
    )


def same(p, q):
    return (np.isnan(p) and np.isnan(q)) or p == pytest.approx(q, rel=CLOSE, abs=CLOSE)


# Entries that differ by more than 60 powers of ten are refused.
SHIFTS = st.floats(-50, 50).filter(lambda shift: shift == 0 or abs(shift) > 1e-30)


@settings(max_examples=60, deadline=None)
@given(scatters(), st.randoms(use_true_random=False), st.sampled_from(["r2", "r", "cov", "lts"]))
def test_the_order_of_the_points_does_not_matter(scatter, random, objective):
    x, y, k = scatter
    order = list(range(len(x)))
    random.shuffle(order)
    assert same(best(x, y, k, objective), best(x[order], y[order], k, objective))


@settings(max_examples=60, deadline=None)
@given(scatters(), st.floats(0.01, 100), st.floats(0.01, 100), SHIFTS)
def test_units_do_not_matter(scatter, sx, sy, shift):
    x, y, k = scatter
    assert same(best(x, y, k), best(sx * x + shift, sy * y - shift, k))
    assert same(best(x, y, k, "r"), best(sx * x + shift, sy * y - shift, k, "r"))
    for objective, factor in (("cov", sx * sy), ("var", sx * sx), ("lts", sy * sy)):
        moved = best(sx * x + shift, sy * y - shift, k, objective)
        assert same(factor * best(x, y, k, objective) / max(factor, 1), moved / max(factor, 1))


@settings(max_examples=60, deadline=None)
@given(scatters())
def test_swapping_the_axes_does_not_matter_for_r2(scatter):
    x, y, k = scatter
    assert same(best(x, y, k), best(y, x, k))
    assert same(best(x, y, k, "tv"), best(y, x, k, "tv"))


@settings(max_examples=60, deadline=None)
@given(scatters(), st.sampled_from(list(itertools.product((1, -1), repeat=2))))
def test_reflecting_an_axis_does_not_matter_for_r2(scatter, signs):
    x, y, k = scatter
    assert same(best(x, y, k), best(signs[0] * x, signs[1] * y, k))


@settings(max_examples=40, deadline=None)
@given(scatters())
def test_a_copy_of_every_point_kept_with_it_does_not_lower_the_best(scatter):
    x, y, k = scatter
    alone = best(x, y, k)
    doubled = best(np.repeat(x, 2), np.repeat(y, 2), 2 * k)
    assert np.isnan(alone) or doubled >= alone - CLOSE


@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "var", "lts"])
@pytest.mark.parametrize("offset", [(1e9, 1e9), (-1e9, 0.0), (0.0, 1e9)])
def test_the_same_subset_at_an_offset_of_1e9(objective, offset):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        # Multiples of 2^-20, so that adding the offset rounds nothing.
        x, y = np.round(rng.normal(size=(2, 12)) * 2**20) / 2**20
        here = qs.solve(x, y, 8, objective=objective, method="exhaustive")
        there = qs.solve(x + offset[0], y + offset[1], 8, objective=objective, method="exhaustive")
        assert here.inliers.tolist() == there.inliers.tolist(), f"seed {seed}"
        assert there.value == pytest.approx(here.value, rel=1e-12)

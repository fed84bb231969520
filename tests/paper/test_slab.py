"""Approximate separability: slabs in place of hyperplanes."""

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import lifts
from quadsweep.paper.separability.slab import narrowest_slab


def width_along(lifted, mask, normal):
    """By definition: the width of the slab along one normal, in distances of the means."""
    heights = lifted @ normal
    return (heights[~mask].max() - heights[mask].min()) / (
        heights[mask].mean() - heights[~mask].mean()
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_direction_has_a_narrower_slab(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 20))
    mask = rng.permutation(20) < 12
    lifted = lifts.get("L5")(x, y)
    narrowest = narrowest_slab(lifted, mask)
    difference = lifted[mask].mean(axis=0) - lifted[~mask].mean(axis=0)
    for normal in rng.normal(size=(2000, 5)):
        along = normal if normal @ difference > 0 else -normal
        assert width_along(lifted, mask, along) >= narrowest - 1e-9


def test_a_negative_width_is_separability():
    rng = np.random.default_rng(7)
    for _ in range(20):
        x, y = rng.normal(size=(2, 12))
        mask = rng.permutation(12) < 6
        exact = qs.separate(x, y, mask).separable
        assert (narrowest_slab(lifts.get("L5")(x, y), mask) < -1e-9) == exact


def test_the_counterexample_is_separable_up_to_a_thin_slab():
    points = qs.datasets.load("nonseparable-r2")
    best = qs.solve(points.x, points.y, points.k)
    assert not qs.separate(points.x, points.y, best.inliers, slab=0.0).separable
    found = qs.separate(points.x, points.y, best.inliers, slab=0.001)
    assert found.separable
    assert not found.exact
    assert "nothing is proved" not in found.message


def test_the_sweep_with_slabs_finds_what_no_conic_cuts_off():
    points = qs.datasets.load("nonseparable-r2")
    best = qs.solve(points.x, points.y, points.k)
    found = qs.naive_sweep(points.x, points.y, points.k, slab=0.1, planes=300)
    assert found.status == "heuristic"
    assert found.inliers.tolist() == best.inliers.tolist()
    assert qs.naive_sweep(points.x, points.y, points.k).value <= best.value


def test_the_sweep_with_slabs_says_what_it_does_not_take():
    x, y = np.random.default_rng(0).normal(size=(2, 15))
    with pytest.raises(ValueError, match="score must be 'r2'"):
        qs.naive_sweep(x, y, 8, score="cov", slab=0.1)
    with pytest.raises(ValueError, match="slab must be a number of at least 0; got -1"):
        qs.naive_sweep(x, y, 8, slab=-1)

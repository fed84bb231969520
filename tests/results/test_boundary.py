"""The boundary really has all inliers on one side and all outliers on the other."""

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import objectives
from quadsweep.results.boundary import boundary, gradient_conic, widest_conic


@pytest.mark.parametrize("objective", objectives.OBJECTIVES)
def test_what_is_returned_separates(objective):
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 13))
        result = qs.solve(x, y, 9, objective=objective, method="exhaustive")
        if result.conic is not None:
            found += 1
            y_seen = np.zeros_like(x) if objective == "var" else y
            assert result.conic.separates(x, y_seen, result.mask), f"seed {seed}"
        else:
            assert "conic" in result.message, f"seed {seed}"
    assert found >= 38


def test_far_from_the_origin_it_still_separates():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 14)) + 1e9
    result = qs.solve(x, y, 10, method="exhaustive")
    assert result.conic.separates(x, y, result.mask)


def test_the_kind_follows_the_objective():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 15))
    kinds = {
        name: qs.solve(x, y, 10, objective=name, method="exhaustive").conic.kind
        for name in ("tv", "var", "lts", "cov", "dv")
    }
    assert kinds == {
        "tv": "circle",
        "var": "line pair",
        "lts": "line pair",
        "cov": "hyperbola",
        "dv": "hyperbola",
    }


def test_nothing_dropped_gives_no_conic_and_the_reason():
    result = qs.solve([1, 2, 3, 4], [1, 2, 3, 5], k=4)
    assert result.conic is None
    assert "Nothing is dropped" in result.message


def test_twins_on_both_sides_give_no_conic_and_the_reason():
    result = qs.solve([0, 1, 2, 3, 3], [0, 1, 2, 3, 3], drop=1)
    assert result.conic is None
    assert "same point" in result.message


def test_the_nonseparable_optimum_gives_no_conic_and_the_reason():
    data = qs.datasets.load("nonseparable-r2")
    result = qs.solve(data.x, data.y, data.k, method="exhaustive")
    assert result.inliers.tolist() == [0, 1, 2, 3, 4, 5, 7, 9]
    assert result.conic is None
    assert "No conic" in result.message


def test_the_widest_conic_is_tried_where_the_gradient_fails():
    data = qs.datasets.load("nonseparable-dv")
    mask = np.ones(8, dtype=bool)
    mask[[4, 6]] = False
    goal = objectives.get("dv")
    assert not gradient_conic(data.x, data.y, mask, goal).separates(data.x, data.y, mask)
    assert widest_conic(data.x, data.y, mask).separates(data.x, data.y, mask)
    conic, reason = boundary(data.x, data.y, mask, goal)
    assert conic.separates(data.x, data.y, mask)
    assert reason == ""


def test_collinear_inliers_have_a_boundary():
    x = np.arange(8.0)
    y = 2 * x + 1
    y[3] = 30
    result = qs.solve(x, y, 7)
    assert result.value == pytest.approx(1.0, abs=1e-12)
    assert result.conic.separates(x, y, result.mask)

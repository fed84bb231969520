"""The compiled engine for several predictors against enumeration in rational arithmetic."""

from __future__ import annotations

import naive_several
import numpy as np
import pytest
from families_several import FAMILIES

from quadsweep import _core


def best_of_all(x, y, k, objective, intercept=True):
    """The best value over all subsets of k rows, or None if none has one."""
    ones = np.ones((len(y), 1))
    design = (np.hstack([ones, x]) if intercept else x).tolist()
    values = []
    for chosen in naive_several.subsets(len(y), k):
        rows, response = [design[i] for i in chosen], [float(y[i]) for i in chosen]
        if objective == "lts":
            values.append(-naive_several.rss(rows, response))
        else:
            values.append(naive_several.r2(rows, response, intercept=intercept))
    defined = [v for v in values if v is not None]
    return max(defined) if defined else None


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("p", [2, 3])
def test_finds_the_best_of_all_subsets(family, objective, p):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(p + 4, 10))
        x, y = FAMILIES[family](rng, n, p)
        k = int(rng.integers(p + 2, n))
        intercept, listed = bool(rng.integers(0, 2)), int(rng.choice([5, 200]))
        limit = 20.0 if listed == 200 else 1.0  # few are listed: the bounds must do the work
        found = _core.several_fit(
            x, y, k, objective=objective, intercept=intercept, enumerate=listed, time_limit=limit
        )
        about = f"{family} {objective} seed={seed} n={n} p={p} k={k} intercept={intercept}"
        assert found["status"] == "optimal" or listed < 200, about
        expected = best_of_all(x, y, k, objective, intercept)
        if expected is None:
            assert len(found["inliers"]) == 0, about
            continue
        value = found["value"] if objective == "r2" else -found["value"]
        allowed = 2e-9 if objective == "r2" else 2e-9 * abs(float(expected))
        if found["status"] == "optimal":
            assert abs(value - float(expected)) <= allowed, about
        bound = found["bound"] if objective == "r2" else -found["bound"]
        assert bound >= float(expected) - 1e-15 * abs(float(expected)), about
        assert len(found["inliers"]) == k, about


def test_keeps_all_rows_if_asked_to():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    found = _core.several_fit(x, y, 8)
    assert found["status"] == "optimal"
    assert found["value"] == pytest.approx(found["bound"])
    assert found["inliers"].tolist() == list(range(8))


def test_a_constant_response_has_no_r2():
    x = np.random.default_rng(2).normal(size=(9, 2))
    found = _core.several_fit(x, np.ones(9), 6)
    assert (len(found["inliers"]), found["status"]) == (0, "optimal")
    assert np.isnan(found["value"])


def test_decides_whether_a_fit_is_that_good():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    best = _core.several_fit(x, y, 20)["value"]
    assert _core.several_fit(x, y, 20, above=best - 1e-6)["value"] > best - 1e-6
    refuted = _core.several_fit(x, y, 20, above=best + 1e-6)
    assert refuted["decided"]
    assert len(refuted["inliers"]) == 0


def test_a_time_limit_leaves_a_bound_that_holds():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(400, 4)), rng.normal(size=400)
    found = _core.several_fit(x, y, 250, time_limit=0.1)
    assert found["status"] == "time_limit"
    assert found["bound"] >= found["value"]


def test_the_answer_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    one, two = (_core.several_fit(x, y, 150, n_jobs=jobs) for jobs in (1, 2))
    assert one["value"] == pytest.approx(two["value"], abs=2e-9)
    assert one["status"] == two["status"] == "optimal"


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_gives_the_same_answer(isa):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    expected = _core.several_fit(x, y, 45)["value"]
    if not _core.choose_instruction_set(isa):
        return
    try:
        assert _core.several_fit(x, y, 45)["value"] == pytest.approx(expected, abs=2e-9)
    finally:
        _core.choose_instruction_set("auto")

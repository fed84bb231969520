"""The compiled engine for several predictors against enumeration in rational arithmetic."""

from __future__ import annotations

import math

import naive_several
import naive_whole
import numpy as np
import pytest
from families_several import FAMILIES

import quadsweep as qs
from quadsweep import _core


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
        found = _core.regression_fit(
            x,
            y,
            k,
            objective=objective,
            intercept=intercept,
            enumeration_limit=listed,  # of 5 subsets: the bounds must do the work
            time_limit=60.0,
        )
        about = f"{family} {objective} seed={seed} n={n} p={p} k={k} intercept={intercept}"
        assert found["status"] == "optimal", about
        expected, _ = naive_several.best_of_all(x, y, k, objective, intercept=intercept)
        if expected is None:
            assert len(found["inliers"]) == 0, about
            continue
        value, sense = found["value"], 1 if objective == "r2" else -1
        allowed = 2e-9 if objective == "r2" else 2e-9 * abs(float(expected))
        assert abs(value - float(expected)) <= allowed, about
        slack = 1e-15 * abs(float(expected))
        assert sense * (found["bound"] - float(expected)) >= -slack, about
        assert len(found["inliers"]) == k, about


def test_keeps_all_rows_if_asked_to():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    found = _core.regression_fit(x, y, 8)
    assert found["status"] == "optimal"
    assert found["value"] == pytest.approx(found["bound"])
    assert found["inliers"].tolist() == list(range(8))


def test_a_constant_response_has_no_r2():
    x = np.random.default_rng(2).normal(size=(9, 2))
    found = _core.regression_fit(x, np.ones(9), 6)
    assert (len(found["inliers"]), found["status"]) == (0, "optimal")
    assert np.isnan(found["value"])


def test_decides_whether_a_fit_is_that_good():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    best = _core.regression_fit(x, y, 20)["value"]
    assert _core.regression_fit(x, y, 20, above=best - 1e-6)["value"] > best - 1e-6
    refuted = _core.regression_fit(x, y, 20, above=best + 1e-6)
    assert refuted["decided"]
    assert len(refuted["inliers"]) == 0


@pytest.mark.parametrize(("objective", "sense", "nothing"), [("r2", 1, 1.0), ("lts", -1, 0.0)])
def test_a_search_that_is_stopped_leaves_a_bound_that_holds(objective, sense, nothing):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(400, 4)), rng.normal(size=400)
    best = _core.regression_fit(x, y, 280, objective=objective, n_jobs=1)
    assert best["status"] == "optimal"
    proved = 0
    for most in (0, 1, 10, 100, best["nodes"] // 2, best["nodes"] - 2):
        found = _core.regression_fit(x, y, 280, objective=objective, n_jobs=1, most_boxes=most)
        assert found["status"] == "heuristic", most
        assert sense * found["value"] <= sense * best["value"] + 2e-9 * abs(best["value"])
        assert sense * found["bound"] >= sense * best["value"], most
        proved += abs(found["bound"] - nothing) > 1e-3
    assert proved
    none = _core.regression_fit(x, y, 280, objective=objective, n_jobs=1, time_limit=0.0)
    assert (none["status"], none["bound"]) == ("time_limit", nothing)


def test_a_column_is_not_halved_for_the_heavy_tails_of_another():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_cauchy((40, 2)), rng.standard_cauchy(40)
        found = qs.solve(x, y, 26, method="certified")
        assert found.status == "optimal"
        assert found.nodes < 50_000, f"seed {seed}"


def test_the_answer_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    one, two = (_core.regression_fit(x, y, 150, n_jobs=jobs) for jobs in (1, 2))
    assert one["value"] == pytest.approx(two["value"], abs=2e-9)
    assert one["status"] == two["status"] == "optimal"


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_gives_the_same_answer(isa):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    expected = _core.regression_fit(x, y, 45)["value"]
    if not _core.choose_instruction_set(isa):
        return
    try:
        assert _core.regression_fit(x, y, 45)["value"] == pytest.approx(expected, abs=2e-9)
    finally:
        _core.choose_instruction_set("auto")


@pytest.mark.parametrize("t", [0.0, 0.3, -0.3])
@pytest.mark.parametrize("side", ["above", "below"])
@pytest.mark.parametrize("family", FAMILIES)
def test_decides_a_partial_correlation_as_enumeration_does(family, side, t):
    for seed in range(3):
        rng = np.random.default_rng([seed, 1])
        controls = int(rng.integers(0, 3))
        n = int(rng.integers(controls + 5, 10))
        columns, y = FAMILIES[family](rng, n, controls + 1)
        x = np.ascontiguousarray(columns[:, -1])
        z = np.column_stack([np.ones(n), columns[:, :-1]])
        groups = np.arange(n) // 2 if seed == 1 else None
        units = n if groups is None else int(groups.max()) + 1
        k = int(rng.integers(max(2, units - 3), units))
        at_least = bool(rng.integers(0, 2))
        found = _core.regression_partial(
            x, y, z, k, side=side, t=t, k_or_more=at_least, groups=groups, time_limit=20.0
        )
        about = f"{family} {side} {t} seed={seed} n={n} k={k} controls={controls}"
        assert found["decided"], about
        sign = 1 if side == "above" else -1

        def on_that_side(chosen, sign=sign, groups=groups, x=x, y=y, z=z):
            rows = naive_several.rows_of(chosen, None if groups is None else groups.tolist())
            return naive_several.partial_exceeds(
                x[rows].tolist(), (sign * y[rows]).tolist(), z[rows].tolist(), sign * t
            )

        subsets = naive_several.subsets(units, k, at_least)
        assert (len(found["inliers"]) > 0) == any(map(on_that_side, subsets)), about
        if len(found["inliers"]):
            assert on_that_side(found["inliers"].tolist()), about


@pytest.mark.parametrize("listed", [1, 200])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_line_far_below_the_others_is_searched_as_one_far_above(sign, listed):
    """Three rows on a line whose intercept is what its equation has largest, of either sign."""
    x = np.array([-2.0, 1, -1, 1, -2, -1, 0, 1, 0, 2, 3, 3])
    y = np.array([2.0, -2, 2, 0, 0, 2, -2, 3, 0, -2, -3, 0])
    found = _core.regression_partial(
        sign * x, sign * y, np.ones((12, 1)), 3, t=0.95, enumeration_limit=listed
    )
    assert found["value"] == pytest.approx(1)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("nearly", [1e-2, 1e-9])
def test_as_many_controls_as_rows_leave_nothing_however_nearly_they_depend(nearly, offset):
    """Of two pairs of rows nothing remains: no subset has a correlation, and that is told."""
    rng = np.random.default_rng(11)
    z = rng.normal(size=(6, 4))
    z[:, 0] = 1
    z[:, 3] = z[:, 1] - z[:, 2] + nearly * rng.normal(size=6)
    z[:, 1:] += offset * np.arange(1, 4)
    x, y = rng.normal(size=(2, 6))
    for side in ("above", "below"):
        found = _core.regression_partial(
            x, y, z, 2, side=side, t=0.0, groups=np.arange(6) // 2, time_limit=20.0
        )
        assert found["decided"]
        assert len(found["inliers"]) == 0


@pytest.mark.parametrize("side", ["above", "below"])
def test_a_correlation_that_rounding_hides_from_the_threshold_is_named(side):
    """Controls leave it 12 digits, and t is the double next to r: the engine cannot tell."""
    rng = np.random.default_rng(12)
    z = rng.normal(size=(9, 4))
    z[:, 0] = 1
    z[:, 2] = z[:, 1] + 1e-8 * z[:, 2]
    z[:, 3] = z[:, 1] + 1e-8 * z[:, 3] * 1e-1
    x, y = rng.normal(size=(2, 9))
    (a, c), (_, b) = naive_whole.eliminated(
        naive_whole.Table([*z.T.tolist(), x.tolist(), y.tolist()]).products(range(9)), 4
    )[0]
    t = math.copysign(math.sqrt(naive_whole.rounded(c * c, a * b)), c)
    found = _core.regression_partial(x, y, z, 9, side=side, t=t)
    assert len(found["inliers"]) == 9
    assert found["value"] == t
    far = _core.regression_partial(x, y, z, 9, side=side, t=t + 1e-6)
    assert len(far["inliers"]) == (0 if side == "above" else 9)


def test_no_five_of_two_hundred_rows_carry_the_sign_of_a_strong_coefficient():
    rng = np.random.default_rng(8)
    z = np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    x = z[:, 1] + rng.normal(size=200)
    y = x + z[:, 2] + rng.normal(size=200)
    for t in (0.0, 0.14):
        found = _core.regression_partial(x, y, z, 195, side="below", t=t)
        assert found["decided"]
        assert len(found["inliers"]) == 0


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_weights_count_as_copies_do(objective):
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    weights = rng.integers(1, 4, 9).astype(float)
    found = _core.regression_fit(x, y, 7, objective=objective, weights=weights)
    best, _ = naive_several.best_of_all(x, y, 7, objective, weights.tolist())
    assert found["value"] == pytest.approx(float(best), rel=1e-9)


@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_groups_are_kept_or_left_out_as_a_whole(objective):
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(16, 2)), rng.normal(size=16)
    groups = rng.permutation(np.arange(16) // 2)
    found = _core.regression_fit(x, y, 6, objective=objective, groups=groups)
    design = np.hstack([np.ones((16, 1)), x])

    def value(chosen):
        rows = naive_several.rows_of(chosen, groups.tolist())
        given = design[rows].tolist(), y[rows].tolist()
        one = naive_several.rss if objective == "lts" else naive_several.r2
        return float(one(*given))

    best = (max if objective == "r2" else min)(map(value, naive_several.subsets(8, 6)))
    assert found["value"] == pytest.approx(best, rel=1e-9)
    assert len(found["inliers"]) == 6


def rows_with_a_plane(n, p, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    y = x.sum(axis=1) + 0.5 * rng.normal(size=n)
    y[: n // 5] = 8 + 3 * rng.normal(size=n // 5)
    return x, y


@pytest.mark.parametrize("objective", ["r2", "lts"])
@pytest.mark.parametrize("kind", ["plane", "noise", "rounded", "weighted", "no intercept"])
def test_cells_in_the_place_of_rows_change_no_answer(objective, kind):
    x, y = rows_with_a_plane(300, 2, 5)
    if kind == "noise":
        y = np.random.default_rng(6).normal(size=300)
    if kind == "rounded":
        x, y = np.round(x), np.round(y)
    weights = np.random.default_rng(7).uniform(0.5, 2, 300) if kind == "weighted" else None
    asked = {"objective": objective, "weights": weights, "intercept": kind != "no intercept"}
    rows = _core.regression_fit(x, y, 240, tree_from=1000, **asked)
    cells = _core.regression_fit(x, y, 240, tree_from=1, **asked)
    assert rows["status"] == cells["status"] == "optimal"
    assert cells["value"] == pytest.approx(rows["value"], abs=1e-9, rel=1e-9)
    assert cells["n_evaluations"] != rows["n_evaluations"]  # another way to the same end


@pytest.mark.parametrize("t", [0.0, 0.2, -0.2])
def test_cells_in_the_place_of_rows_decide_a_partial_correlation_alike(t):
    x, y = rows_with_a_plane(400, 2, 8)
    z = np.column_stack([np.ones(400), x[:, 1]])
    a = np.ascontiguousarray(x[:, 0])
    for k in (320, 360, 390):
        answers = [
            _core.regression_partial(
                a, y, z, k, side="below", t=t, k_or_more=True, tree_from=tree_from
            )
            for tree_from in (1, 1000)
        ]
        assert all(found["decided"] for found in answers)
        assert len({len(found["inliers"]) > 0 for found in answers}) == 1


def test_a_planted_subset_is_found_and_proved_among_many_rows():
    """The tree has to count most rows in or out whole; identical ones stand for several."""
    rng = np.random.default_rng(9)
    n, k = 6000, 4500
    x = np.round(rng.normal(size=(n, 2)), 1)
    y = x @ [1.0, -2.0] + 0.1 * rng.integers(-1, 2, size=n)
    astray = rng.permutation(n)[: n - k]
    y[astray] += 5 + rng.normal(size=n - k)
    found = _core.regression_fit(x, y, k, objective="lts", n_jobs=2)
    assert found["status"] == "optimal"
    assert set(found["inliers"].tolist()) == set(range(n)) - set(astray.tolist())


def test_the_sign_given_skewed_collinear_controls_takes_few_boxes():
    """Multipliers of boxes without any subset's own fit do not spoil those that have one."""
    rng = np.random.default_rng(0)
    n = 8_000
    households = np.exp(rng.normal(6, 0.7, n))
    rooms, people = (households * np.exp(rng.normal(1, 0.25, n)) for _ in range(2))
    x = np.exp(rng.normal(1.2, 0.45, n))
    y = 0.45 * x + np.exp(rng.normal(-0.5, 0.6, n)) - 0.3 * np.log(people / households)
    z = np.column_stack([np.ones(n), rng.integers(1, 53, n), rooms, people, households])
    found = _core.regression_partial(
        x, y, z, n - 1_000, mix=(1.0, 0.0, 0.0, -1.0), k_or_more=True, n_jobs=1
    )
    assert found["decided"]
    assert not len(found["inliers"])
    assert found["nodes"] < 500

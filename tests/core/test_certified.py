"""The certified engine: true optima, true bounds, an end to every kind of data."""

from __future__ import annotations

import math
import os
import signal
import threading
from fractions import Fraction

import naive
import numpy as np
import pytest
from families import FAMILIES

import quadsweep as qs
from quadsweep import _core_parts
from quadsweep.objectives import get
from quadsweep.solving.methods import METHODS
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts", "mcd")
GENEROUS = 120.0  # seconds; the engine needs a fraction of one, busy machines need more


def certified(x, y, k, objective="r2", **options):
    options = {"time_limit": GENEROUS} | options
    return qs.solve(x, y, k, objective=objective, method="certified", **options)


def problem(x, y, k, objective="r2", **options):
    options = {"time_limit": GENEROUS} | options
    return Problem(x, y, k, qs.objectives.get(objective), **options)


def sense(objective):
    return qs.objectives.get(objective).sense


# ---- the optimum ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "objective", "best"),
    [
        ("nonseparable-r2", "r2", [0, 1, 2, 3, 4, 5, 7, 9]),
        ("nonseparable-dv", "dv", [0, 1, 2, 3, 5, 7]),
        ("nonseparable-cov", "cov", [0, 1, 2, 3, 5, 7]),
    ],
)
@pytest.mark.parametrize("enumerate_up_to", [1, 2000])
def test_returns_the_nonseparable_optimum_of_the_counterexample(
    name, objective, best, enumerate_up_to
):
    sample = qs.datasets.load(name)
    x, y = np.asarray(sample.x, float), np.asarray(sample.y, float)
    result = certified(x, y, sample.k, objective)
    assert result.status == "optimal"
    assert result.inliers.tolist() == best
    found = search(problem(x, y, sample.k, objective), enumerate_up_to=enumerate_up_to)
    assert found.inliers.tolist() == best
    assert found.status == "optimal"


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", ["uniform", "normal", "duplicated", "lattice", "on_a_conic"])
def test_finds_what_listing_in_exact_arithmetic_finds(family, objective):
    for seed in range(3):
        rng = np.random.default_rng([seed, 3])
        n = int(rng.integers(5, 11))
        x, y = FAMILIES[family](rng, n)
        for k in range(naive.MIN_K[objective], n + 1):
            where = f"{family} {objective} seed={seed} n={n} k={k}"
            expected = naive.exhaustive(x, y, k, objective)
            outcome = search(problem(x, y, k, objective), enumerate_up_to=1)
            assert outcome.status == "optimal", where
            if expected is None:
                assert len(outcome.inliers) == 0, where
                continue
            best = naive.value_of_score(expected[0], objective)
            assert len(outcome.inliers) == k, where
            assert outcome.value == pytest.approx(best, rel=2e-9, abs=2e-8), where
            assert sense(objective) * (outcome.bound - best) >= -1e-14 * abs(best), where


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n", [60, 400, 5000])
def test_finds_a_planted_line_among_noise(n, n_jobs):
    for seed in range(3):
        rng = np.random.default_rng([seed, n])
        x, y = rng.normal(size=(2, n))
        line = np.sort(rng.permutation(n)[: n // 3])
        y[line] = 0.7 * x[line] - 0.2
        result = certified(x, y, len(line), n_jobs=n_jobs, seed=seed)
        assert result.status == "optimal", f"seed {seed}"
        assert result.inliers.tolist() == line.tolist(), f"seed {seed}"
        assert result.value == pytest.approx(1, abs=1e-9)
        fit = certified(x, y, len(line), "lts", n_jobs=n_jobs)
        assert fit.inliers.tolist() == line.tolist(), f"seed {seed}"
        assert fit.slope == pytest.approx(0.7)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "share"), [(200, 0.5), (600, 0.8), (2000, 0.6)])
def test_is_never_below_the_best_of_hundreds_of_starts_of_concentration(n, share, objective):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = 0.5 * x + rng.standard_t(2, n)
    k = int(share * n)
    result = certified(x, y, k, objective)
    assert result.status == "optimal"
    heuristic = METHODS["concentrate"](problem(x, y, k, objective))  # 500 starting lines
    assert sense(objective) * (heuristic.value - result.value) <= result.gap
    assert sense(objective) * (result.bound - heuristic.value) >= 0


@pytest.mark.parametrize("k", [10, 28, 29, 30])
def test_a_best_correlation_below_zero(k):
    """r, not r2, of points that all fall: every ten of them and more have a negative one."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=30)
    y = -x + 0.05 * rng.normal(size=30)
    result = certified(x, y, k, "r")
    assert result.status == "optimal"
    assert result.gap <= 1.001e-9
    assert result.value < 0
    listed = qs.solve(x, y, k, objective="r", method="exhaustive")
    assert result.value == pytest.approx(listed.value, abs=1e-9)
    assert result.inliers.tolist() == listed.inliers.tolist()
    again = search(problem(x, y, k, "r"), enumerate_up_to=1)
    assert again.status == "optimal"
    assert again.value == pytest.approx(result.value, abs=2e-9)


# ---- independent settings agree -------------------------------------------------------------


def agree(one, other, objective="r2"):
    """Each value is within the other's bound: both proofs can be true at once."""
    assert one.status == other.status == "optimal"
    up = sense(objective)
    assert up * (other.bound - one.value) >= 0
    assert up * (one.bound - other.value) >= 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("family", ["uniform", "normal", "lattice", "line_with_outliers"])
def test_cells_and_threads_do_not_change_the_value(family, objective):
    rng = np.random.default_rng(11)
    n = 1500
    if family == "line_with_outliers":
        x = rng.normal(size=n)
        y = x + 0.1 * rng.normal(size=n)
        y[:300] = 3 * rng.normal(size=300)
    else:
        x, y = FAMILIES[family](rng, n)
    asked = problem(x, y, 1100, objective)
    by_cells = search(asked)
    agree(by_cells, search(asked, cells=False), objective)
    agree(by_cells, search(problem(x, y, 1100, objective, n_jobs=2)), objective)
    agree(by_cells, search(problem(x, y, 1100, objective, n_jobs=5, seed=3)), objective)


@pytest.mark.parametrize("k", [300, 900])
def test_what_must_not_matter_for_r2(k):
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=1000) * 2**20) / 2**20  # adding 1e9 rounds nothing
    y = np.round((0.3 * x + rng.normal(size=1000)) * 2**20) / 2**20
    plain = certified(x, y, k)
    order = rng.permutation(1000)
    for other in (
        certified(y, x, k),
        certified(-x, y, k),
        certified(x, -y, k),
        certified(x + 1e9, y, k),
        certified(x - 1e9, y + 1e9, k),
        certified(1e-9 * x, 1e9 * y, k),
        certified(3e8 * x, 7e-7 * y, k),
        certified(x[order], y[order], k),
    ):
        agree(plain, other)
        assert other.value == pytest.approx(plain.value, abs=2e-9)
    assert certified(x + 1e9, y - 1e9, k).inliers.tolist() == plain.inliers.tolist()


@pytest.mark.parametrize("objective", ["r", "cov", "dv", "tv", "lts"])
def test_units_and_directions_for_the_other_objectives(objective):
    rng = np.random.default_rng(6)
    x, y = np.round(rng.normal(size=(2, 400)) * 2**20) / 2**20
    plain = certified(x, y, 250, objective)
    turned = certified(-x, -y, 250, objective)
    moved = certified(x + 1e9, y - 1e9, 250, objective)
    scaled = certified(1024 * x, 1024 * y, 250, objective)
    by = 1 if objective == "r" else 1024**2
    for other, factor in ((turned, 1), (moved, 1), (scaled, by)):
        assert other.status == plain.status == "optimal"
        assert other.value / factor == pytest.approx(plain.value, abs=max(plain.gap, 1e-12))
    if objective in ("r", "cov", "tv"):
        agree(plain, certified(y, x, 250, objective), objective)


# ---- ties, duplicates, lattices, counts -----------------------------------------------------


def integers(rng):
    return rng.integers(0, 11, (2, 1000)).astype(float)


def likert(rng):
    return rng.integers(1, 6, (2, 5000)).astype(float)


def zero_inflated_counts(rng):
    points = rng.poisson(3, (2, 65_000)).astype(float)
    points[:, rng.random(65_000) < 0.5] = 0
    return points


def one_decimal(rng):
    x = rng.random(1000)
    return np.array([x, np.round(x + rng.normal(size=1000), 1)])


def tripled(rng):
    return np.repeat(rng.normal(size=(2, 400)), 3, axis=1)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize(
    "kind", [integers, likert, zero_inflated_counts, one_decimal, tripled], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_data_full_of_ties_closes(kind, share, objective):
    x, y = kind(np.random.default_rng(8))
    k = int(share * len(x))
    result = certified(x, y, k, objective)
    assert result.status == "optimal"
    assert len(result.inliers) == k
    value = qs.objectives.get(objective).value(x[result.inliers], y[result.inliers])
    assert result.value == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [30, 970])
def test_few_of_many_and_nearly_all_close(k):
    x, y = np.random.default_rng(9).random((2, 1000))
    result = certified(x, y, k)
    assert result.status == "optimal"
    assert result.gap <= 1.001e-9


@pytest.mark.slow
@pytest.mark.parametrize("kept", [1000, 5000])
@pytest.mark.parametrize("objective", [o for o in OBJECTIVES if o != "mcd"])  # it has no cells
def test_cells_are_opened_where_no_narrower_box_can_help(objective, kept):
    """What whole points cost a bound is not a matter of width: splitting would never end."""
    x, y = np.random.default_rng(kept).random((2, 10_000))
    found = search(problem(x, y, kept, objective))
    assert found.status == "optimal"
    assert found.nodes < 30_000


@pytest.mark.parametrize("apart", [1e2, 1e4])
@pytest.mark.parametrize("objective", ["cov", "dv"])
def test_columns_of_very_different_spread_close_as_soon_as_others(objective, apart):
    """x - y and x + y, or x and y, as far apart as clusters on a line make them."""
    for seed in range(5):
        rng = np.random.default_rng([seed, 17])
        centre = apart * rng.integers(0, 3, 200)
        x = centre + rng.normal(size=200)
        y = rng.normal(size=200) - (centre if objective == "dv" else 0)
        found = search(problem(x, y, 120, objective))
        assert found.status == "optimal"
        assert found.nodes < 1_000, f"seed {seed}"


@pytest.mark.parametrize("objective", ["r2", "cov"])
def test_the_free_mean_of_a_whole_subset_is_found_among_equal_costs(objective):
    """Most points lie close together, seen from the others, and cost the same: a threshold below or
    above all of them is as good for the bound, but says nothing about a whole subset's mean."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y = (np.exp(5 * rng.normal(size=60)) * rng.choice([-1, 1], 60) for _ in range(2))
        found = search(problem(x, y, 40, objective))
        assert found.status == "optimal"
        assert found.nodes < 20_000, f"seed {seed}"


@pytest.mark.parametrize("above", [None, "best", "more"])
def test_all_subsets_are_listed_where_boxes_would_cost_more(above):
    """Least squares of points nearly all of which lie at the origin, seen from the others."""
    x, y = FAMILIES["heavy_tailed"](np.random.default_rng([0, 25]), 25)
    best = qs.solve(x, y, 12, objective="lts", method="exhaustive")
    level = {None: None, "best": 1.01 * best.value, "more": 0.99 * best.value}[above]
    found = search(problem(x, y, 12, "lts"), above=level)
    assert found.nodes < 1000 + math.comb(25, 12) / 1000 + 2
    assert found.decided
    if above == "more":
        assert len(found.inliers) == 0
    else:
        assert found.value <= (level or best.value)
    if above is None:
        assert found.status == "optimal"
        assert found.inliers.tolist() == best.inliers.tolist()


def test_a_threshold_without_tolerance_is_refuted_to_the_letter():
    """Audits ask about covariances of rows so close together that no share of the data's scale is
    small beside them."""
    rng = np.random.default_rng(0)
    x = np.r_[1e-5 * rng.normal(size=30), 1.0, 2, 3]
    y = np.r_[1e-6 * rng.normal(size=30) - x[:30], -1.0, -2, -3]
    level = 1e-14
    found = search(problem(x, y, 28, "cov", tol=0.0), above=level)
    assert found.decided
    assert len(found.inliers) == 0
    assert found.bound <= level * (1 + 1e-12)


# ---- rounding -------------------------------------------------------------------------------


def two_nearly_equal_choices(apart):
    """Of two points that take the same place on either side of a line, one is farther by `apart`.

    The other 2 m points mirror each other in the line y = 0 so that nothing else tells them apart.
    """
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=60) * 2**12) / 2**12
    y = np.round((1 + rng.random(60)) * 2**12) / 2**12
    x, y = np.concatenate([x, x, [0.5, 0.5]]), np.concatenate([y, -y, [4.0, -4.0 - apart]])
    return x, y


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
@pytest.mark.parametrize("apart", [2.0**-20, 2.0**-17])
def test_the_better_of_two_nearly_equal_subsets(apart, offset):
    """One of the two far points goes; keeping the farther one costs a few tol more."""
    x, y = two_nearly_equal_choices(apart)
    k = len(x) - 1
    result = certified(x + offset, y - offset, k, "lts", tol=1e-10)
    assert result.outliers.tolist() == [k]
    other = np.delete(np.arange(k + 1), k - 1)
    worse = qs.objectives.get("lts").value(x[other], y[other])
    assert worse > result.bound
    assert worse - result.value < 1e-4 * result.value


def exact_bound(x, y, cost, base, decided, need):
    """The least sum of costs in rational arithmetic, base included."""
    e, line, p, q = (cost[i : i + 3] for i in (0, 3, 6, 9))
    s, d = cost[12:]

    def affine(f, u, w):
        return f[0] * u + f[1] * w + f[2]

    def cost_of(u, w):
        level = affine(e, u, w)
        return level * (level - affine(line, u, w)) + s * affine(p, u, w) * affine(q, u, w) + d

    costs = [cost_of(Fraction(u), Fraction(w)) for u, w in zip(x, y, strict=True)]
    return sum(costs[:decided]) + sum(sorted(costs[decided:])[:need]) + Fraction(base)


@pytest.mark.parametrize("decided", [0, 40])
def test_a_bound_is_never_above_the_least_sum_by_more_than_its_error(decided):
    """Without the error it would be: sums near zero show how the bound rounds."""
    above = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, decided])
        size = 10.0 ** rng.integers(-3, 6, size=2)
        x, y = np.round(rng.normal(size=(2, 100)), rng.integers(0, 17)) * size[:, None]
        cost = [float(c) for c in rng.normal(size=14) / ([*size, 1.0] * 4 + [1.0, 1.0])]
        exactly = [Fraction(c) for c in cost]
        base = -float(exact_bound(x, y, exactly, 0, decided, need=25))
        least = exact_bound(x, y, exactly, base, decided, need=25)
        value, error = _core_parts.bound_of_cost(x, y, cost, base, decided, 25)
        assert Fraction(value) - Fraction(error) <= least, f"seed {seed}"
        above += Fraction(value) > least
    assert above > 0, "no instance needs the error: the test shows nothing"


# ---- forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_at_most_is_the_best_of_all_sizes(objective):
    for seed in range(4):
        rng = np.random.default_rng([seed, 12])
        x, y = FAMILIES[("normal", "lattice")[seed % 2]](rng, 40)
        found = search(problem(x, y, 34, objective), k_or_more=True)
        sizes = [certified(x, y, k, objective) for k in range(34, 41)]
        best = max(sense(objective) * r.value for r in sizes)
        scale = max(r.gap for r in sizes)
        assert found.status == "optimal"
        assert len(found.inliers) >= 34, f"seed {seed}"
        assert sense(objective) * found.value >= best - scale, f"seed {seed}"
        assert sense(objective) * found.bound >= best, f"seed {seed}"


@pytest.mark.parametrize("at_most", [False, True])
def test_of_two_equal_subsets_the_exact_fit_is_given(at_most):
    """Three rows near one point leave as much as three on a line: only of these 0 is a bound."""
    digit = 2.0**-52
    x = np.array([-1.3, -1.3 - digit, -0.5 - digit / 2, -1.1 - digit, -1.3 - digit])
    y = np.array([-1.0 - digit, -1.0 - digit, 0.1 + digit / 8, -0.6 - digit, -1.0])
    found = search(problem(x, y, 3, "lts"), k_or_more=at_most, enumerate_up_to=1)
    total = np.var(y[found.inliers]) * len(found.inliers)
    assert found.status == "optimal"
    assert found.bound == 0
    assert found.value <= 2.0**-99 * total


@pytest.mark.parametrize(
    ("listed", "statuses"), [(200, ["optimal"]), (1, ["optimal", "time_limit"])]
)
def test_an_exact_fit_that_is_not_the_best_bounds_nothing(listed, statuses):
    """Three rows within the last digits of one point leave less than any three on a line."""
    digit = 2.0**-52
    x = np.array([0.6, -1.7 - digit, -1.7 - 2 * digit, -1.7, -0.9 - digit])
    y = np.array([1.6 + digit, 0.5 + digit / 2, 0.5 + digit / 2, 0.5, -0.3])
    asked = problem(x, y, 3, "lts", time_limit=0.2)
    found = search(asked, k_or_more=True, enumerate_up_to=listed)
    assert found.status in statuses
    if found.status == "optimal":
        assert 0 <= found.value - found.bound <= 1e-9 * found.value


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cells", [True, False])
def test_the_decision_form_answers_yes_and_no(objective, cells):
    rng = np.random.default_rng(13)
    x = rng.normal(size=700)
    y = x + rng.normal(size=700)
    asked = problem(x, y, 500, objective)
    best = search(asked)
    step = sense(objective) * 10 * abs(best.bound - best.value)
    yes = search(asked, above=best.value - step, cells=cells)
    assert yes.decided
    assert len(yes.inliers) == 500
    assert sense(objective) * (yes.value - (best.value - step)) > 0
    no = search(asked, above=best.value + step, cells=cells)
    assert no.decided
    assert len(no.inliers) == 0


def test_a_warm_start_is_never_lost():
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(2, 3000))
    best = search(problem(x, y, 2000))
    again = search(problem(x, y, 2000), starts=[best.inliers], starting_lines=1)
    assert again.value >= best.value
    assert again.status == "optimal"
    stopped = search(problem(x, y, 2000, time_limit=0.0), starts=[best.inliers], starting_lines=1)
    assert stopped.value >= best.value
    assert stopped.bound >= best.value


def test_a_batch_of_ten_thousand_small_problems():
    rng = np.random.default_rng(15)
    X, Y = rng.normal(size=(2, 10_000, 12))
    batch = qs.solve_many(X, Y, 8, method="certified", time_limit=GENEROUS)
    listed = qs.solve_many(X, Y, 8, method="exhaustive")
    assert batch.success
    assert np.all(batch.masks.sum(axis=1) == 8)
    np.testing.assert_allclose(batch.values, listed.values, atol=1.001e-9, rtol=0)
    assert np.all(batch.bounds >= listed.values)
    assert np.all(batch.gaps <= 1.001e-9)


def test_a_batch_does_not_depend_on_threads():
    X, Y = np.random.default_rng(16).normal(size=(2, 200, 40))
    one = qs.solve_many(X, Y, 30, method="certified", n_jobs=1)
    two = qs.solve_many(X, Y, 30, method="certified", n_jobs=2)
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.masks, two.masks)
    alone = [certified(X[t], Y[t], 30, n_jobs=1).value for t in range(5)]
    np.testing.assert_array_equal(one.values[:5], alone)


# ---- stopping -------------------------------------------------------------------------------


def long_search(n=4000, k=40):
    """Few of many: seconds of work; the bound falls slowly."""
    return np.random.default_rng(17).random((2, n)), k


def assert_true_so_far(result, k, status):
    assert result.status == status
    assert len(result.inliers) == k
    value = qs.objectives.get(result.objective).value(
        result.x[result.inliers], result.y[result.inliers]
    )
    assert result.value == pytest.approx(value, rel=1e-9)
    assert result.bound >= result.value
    assert math.isfinite(result.bound)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_a_time_limit_returns_the_incumbent_and_a_bound(limit, n_jobs):
    (x, y), k = long_search()
    assert_true_so_far(certified(x, y, k, time_limit=limit, n_jobs=n_jobs), k, "time_limit")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_returns_the_incumbent_and_a_bound(n_jobs):
    (x, y), k = long_search()
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = certified(x, y, k, n_jobs=n_jobs)
    timer.join()
    assert_true_so_far(result, k, "interrupted")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_watches_and_may_stop(n_jobs):
    (x, y), k = long_search()
    seen = []

    def watch(value, bound, nodes, seconds):
        seen.append((value, bound, nodes, seconds))
        return len(seen) < 3

    result = certified(x, y, k, n_jobs=n_jobs, progress=watch)
    assert_true_so_far(result, k, "interrupted")
    assert len(seen) == 3
    values, bounds, nodes, seconds = zip(*seen, strict=True)
    assert list(values) == sorted(values)
    assert list(nodes) == sorted(nodes)
    assert list(seconds) == sorted(seconds)
    assert all(b >= v for v, b in zip(values, bounds, strict=True))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_bounds_of_stopped_searches_are_true(objective):
    rng = np.random.default_rng(18)
    x, y = rng.normal(size=(2, 300))
    best = certified(x, y, 60, objective).value
    for cells in (True, False):
        for limit in (0.0, 1e-4, 1e-3, 3e-3, 1e-2):
            asked = problem(x, y, 60, objective, time_limit=limit)
            found = search(asked, cells=cells, enumerate_up_to=1)
            assert sense(objective) * (found.bound - best) >= -1e-12 * abs(best), limit


@pytest.mark.parametrize(("objective", "threshold"), [("r2", -0.5), ("r", -1.001)])
def test_any_subset_is_above_a_threshold_that_no_value_can_reach(objective, threshold):
    x, y = np.arange(7.0), -np.arange(7.0)
    answer = search(Problem(x, y, 3, get(objective)), above=threshold)
    assert answer.decided
    assert len(answer.inliers) == 3


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_values_of_very_many_rows_are_right_to_a_few_units_in_the_last_place(objective, far):
    """Beyond 20,000 rows sums are doubles over blocks, about a mean that is off by some units."""
    rng = np.random.default_rng(20_001)
    x = rng.normal(size=20_001) + far
    y = 0.5 * x + rng.normal(size=x.size) - far
    found = certified(x, y, x.size, objective).value
    assert found == pytest.approx(naive.value(x, y, range(x.size), objective), rel=1e-14)

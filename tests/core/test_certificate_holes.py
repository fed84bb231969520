"""Data on which a wrong answer was once called optimal, and what keeps them right."""

from __future__ import annotations

from collections import Counter

import naive
import numpy as np
import pytest

import quadsweep as qs
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

EXACT = ("auto", "certified", "exhaustive")


def solved(x, y, k, objective="r2", method="auto"):
    """A result whose value is that of the best subset in rational arithmetic."""
    result = qs.solve(x, y, k, objective=objective, method=method, time_limit=60)
    best, _ = naive.exhaustive(x, y, k, objective)
    value = naive.value_of_score(best, objective)
    assert result.status == "optimal"
    assert result.value == pytest.approx(value, rel=1e-15, abs=0)
    own = naive.value(x, y, result.inliers.tolist(), objective)
    assert result.value == pytest.approx(own, rel=4e-16, abs=0)
    sense = qs.objectives.get(objective).sense
    assert sense * result.bound >= sense * value
    return result


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("near", [1e-5, 1e-12, 1e-15, 1e-17, 1e-20, 1e-80])
def test_points_close_together_next_to_points_far_away(method, near):
    three = np.arange(3) * near
    x, y = [*three, 1, 2, 3, 4], [*three, -1, -2, -3, -4]
    assert solved(x, y, 3, "r", method).inliers.tolist() == [0, 1, 2]
    x = [*(np.arange(4) * near), 1, 2, 3, 4, 5]
    assert solved(x, [0, 1, 2, 3, 1, 0, 3, 2, 0.5], 4, "r2", method).value == 1


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts", "mcd", "var"])
@pytest.mark.parametrize("sentinel", [1e40, 1e200, -1e308])
def test_values_a_sentinel_hides_are_exact_or_refused(objective, method, sentinel):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    x[3] = sentinel
    method = "certified" if (objective, method) == ("var", "auto") else method
    if abs(sentinel) > 1e60 and objective != "var":
        with pytest.raises(ValueError, match="more than 60 powers of ten"):
            qs.solve(x, y, 6, objective=objective, method=method)
        return
    result = solved(x.tolist(), y.tolist(), 6, objective, method)
    assert 3 not in result.inliers or objective in ("lts", "dv", "cov")  # a lever


def test_a_value_no_double_can_hold_is_an_error_not_an_answer():
    x, y = 1e160 * np.random.default_rng(0).normal(size=(2, 12))
    with pytest.raises(ValueError, match="beyond the largest floating-point number"):
        qs.solve(x, y, 6, objective="dv")


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("far", [1e21, 1e60, 1e290])
def test_rows_beside_as_many_sentinels_are_told_apart_with_two_predictors(method, far):
    rng = np.random.default_rng(15)
    x, y = rng.normal(size=(11, 2)), rng.normal(size=11)
    x[5:] *= far * rng.random((6, 2))
    best = qs.solve(x[:5], y[:5], 5, objective="lts").value
    found = qs.solve(x, y, 5, objective="lts", method=method)
    assert found.status == ("heuristic" if method == "certified" else "optimal")
    if found.status == "optimal":
        assert found.value <= best * (1 + 1e-8)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("s", [1e-80, 1e-100, 1e-155, 1e-200, 1e-300, 5e-324])
def test_a_value_is_not_undefined_because_squares_underflow(method, s):
    x, y = [s, 2 * s, 3 * s, 1.3, -1.7, 0.7, -2.1], [s, 3 * s, 2 * s, -1.1, 1.6, 0.2, -0.6]
    assert solved(x, y, 4, "r2", method).value == 1


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
def test_subnormal_columns(objective, method):
    x, y = np.random.default_rng(4).integers(0, 40, (2, 9)) * 5e-324
    result = qs.solve(x, y, 5, objective=objective, method=method)
    best, _ = naive.exhaustive(x.tolist(), y.tolist(), 5, objective)
    if objective in ("r2", "r"):
        assert result.value == pytest.approx(naive.value_of_score(best, objective), rel=1e-15)
    own = naive.subset_score(
        naive.exact(x.tolist()), naive.exact(y.tolist()), result.inliers.tolist(), objective
    )
    assert own == best


@pytest.mark.parametrize("offset", [1e9, 1e12, 1e14, 1e15])
def test_lts_of_points_that_lie_far_from_the_rest(offset):
    for seed in range(3):
        x, y = np.random.default_rng(seed).normal(size=(2, 9))
        y[:3] += offset
        for k in (5, 7, 8):
            solved(x.tolist(), y.tolist(), k, "lts", "exhaustive")


@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "var", "lts"])
def test_the_value_is_right_to_the_last_digits_at_any_offset(objective):
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, y = rng.normal(size=(2, 8)) + 10 ** rng.uniform(0, 15, (2, 1))
        solved(x.tolist(), y.tolist(), 5, objective, "exhaustive")


def test_rows_that_differ_are_not_one_row_however_close():
    # Of eight rows three pairs differ in the last digit only, next to a row far away.
    x = [1.0, np.nextafter(1.0, 2), 2.0, np.nextafter(2.0, 3), 3.0, np.nextafter(3.0, 4), 4, 1e9]
    y = [1.0, 5.0, 2.0, 4.0, 3.0, 6.0, 4.5, -1e9]
    for k in (3, 4, 5):
        solved(x, y, k, "r2", "certified")
        solved(x, y, k, "r", "certified")


def near_exact_lines(seed):
    """Two lines with y of order 1e7, or two clusters at a scale of 1e6."""
    rng = np.random.default_rng(seed)
    n, x = 14, rng.normal(size=14)
    first, sizes = rng.random(n) < 0.5, 10 ** rng.uniform(-10, -6, 2)
    noise = np.where(first, *sizes) * rng.normal(size=n)
    return x, 1e7 * (np.where(first, x, 1 - 2 * x) + noise), 6


def far_clusters(seed):
    rng = np.random.default_rng(seed)
    first = (rng.random(14) < 0.5).astype(int)
    centres = 1e6 * rng.normal(size=(2, 2))
    x, y = centres[:, first] + np.array([0.1, 0.01])[first] * rng.normal(size=(2, 14))
    return x, y, int(rng.integers(3, 7))


@pytest.mark.parametrize(("objective", "family"), [("lts", near_exact_lines), ("tv", far_clusters)])
def test_the_tolerance_is_a_share_of_the_value(objective, family):
    for seed in range(60):
        x, y, k = family(seed)
        best = qs.solve(x, y, k, objective=objective, method="exhaustive").value
        result = qs.solve(x, y, k, objective=objective, method="certified", time_limit=60)
        assert result.status == "optimal", seed
        assert result.bound <= best <= result.value, seed
        assert result.gap <= 1e-9 * result.value, seed


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9, 1e-12])
def test_near_exact_fits_of_many_points_are_proved(size):
    rng = np.random.default_rng(5)
    x, first = rng.normal(size=400), rng.random(400) < 0.5
    y = np.where(first, x, 1 - 2 * x) + np.where(first, size, 3 * size) * rng.normal(size=400)
    result = qs.solve(x, y, 160, objective="lts", time_limit=60)
    assert result.status == "optimal"
    assert result.gap <= 1e-9 * result.value
    assert first[result.inliers].all()


def test_an_exact_fit_has_bound_zero():
    x = np.round(np.random.default_rng(1).uniform(0, 10, 60), 1)
    y = 2.3 * x + 0.7
    y[:20] += 1
    result = qs.solve(x, y, 40, objective="lts")
    assert result.status == "optimal"
    assert result.bound == 0
    assert 0 <= result.gap == result.value < 1e-27


@pytest.mark.parametrize("tol", [0, 1e-12, 1e-9, 1e-3, 0.5])
@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
def test_optimal_implies_a_gap_within_the_tolerance(objective, tol):
    for seed in range(4):
        x, y = np.random.default_rng(seed).normal(size=(2, 40))
        y = y if seed % 2 else -x + 0.3 * y  # for r all subsets may be below zero
        result = qs.solve(x, y, 30 + seed, objective=objective, tol=tol, time_limit=60)
        assert result.status == "optimal", seed
        share = 1 if objective in ("r2", "r") else abs(result.value)
        a, b, _ = qs.objectives.centred_sums(x[result.mask], y[result.mask])
        made_of = {"cov": (a * b) ** 0.5, "dv": a + b}.get(objective, 0) / result.k
        assert 0 <= result.gap <= max(max(tol, 1e-14) * share, 1e-12 * made_of), seed


def test_a_search_stopped_between_two_tolerances_proves_nothing():
    """While it has the tolerance of a worse value, every value seems to be as small as can be."""
    near = np.array(
        [-0.48063180113875603, -0.4806318011387563, -0.48063180113875553, 4e-11, -1e-11]
    )
    up = np.array([-0.6315677012387063, -0.6315677012387063, -0.6315677012387039, 1.7e-10, 8e-11])
    far = [0.44, -1.57, 0.26, 29354580.081640508, 29354583.36692215]
    high = [-1.07, -1.72, 0.77, 742130569631808.9, 742130569631809.2]
    seen: Counter[str] = Counter()
    for x, y, k, objective in ((near, up, 2, "tv"), (far, high, 3, "lts")):
        best = qs.solve(np.array(x), np.array(y), k, objective=objective, method="exhaustive").value
        for limit in np.geomspace(3e-6, 1e-3, 400):
            asked = Problem(
                np.array(x), np.array(y), k, qs.objectives.get(objective), time_limit=limit
            )
            found = search(asked, enumerate_up_to=20)
            seen[found.status] += 1
            assert found.bound <= best * (1 + 1e-9)
            if found.status == "optimal":
                assert found.value - found.bound <= 1e-9 * found.value
    assert min(seen["optimal"], seen["time_limit"]) > 0


def test_a_tight_cluster_among_many_points_is_solved_by_itself():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 300))
    x[:12], y[:12] = 1e-17 * rng.normal(size=(2, 12))
    result = qs.solve(x, y, 10, method="certified", objective="tv", time_limit=60)
    alone = qs.solve(x[:12], y[:12], 10, objective="tv")
    assert result.status == "optimal"
    assert result.inliers.tolist() == alone.inliers.tolist()


def test_progress_reports_a_bound_that_holds_with_several_threads():
    x, y = np.random.default_rng(3).normal(size=(2, 4000))
    seen = []
    result = qs.solve(x, y, 2000, n_jobs=2, progress=lambda *state: seen.append(state))
    assert result.status == "optimal"
    for value, bound, *_ in seen:
        assert value <= result.value <= bound


@pytest.mark.parametrize(
    ("x", "y", "k"),
    [
        (
            [3.5086149017270554e-16, 7.612282075204434e-17, -0.1829920810919, -0.1829920810921],
            [-6.647623082285422e-16, -4.1278631604225084e-16, -1.302070745359, -1.30207074536],
            2,
        ),
        (
            [
                8924924216.44895,
                1.3238730210307932,
                8924924216.357388,
                -0.5231183656267185,
                8924924215.828234,
                0.6015546326805669,
            ],
            [
                34507162234.82358,
                -0.014286649676241384,
                34507162233.733345,
                2.5442264339400325,
                34507162233.69384,
                0.18071072743684372,
            ],
            3,
        ),
    ],
)
def test_what_a_difference_is_made_of_is_not_made_of_rounding(x, y, k):
    # Two clusters far apart: summed where the points are placed, nothing of a cluster is left.
    result = qs.solve(x, y, k, objective="dv", method="certified")
    kept = [int(i) for i in result.inliers]
    a, b, _ = naive.centred_sums(*(naive.exact([v[i] for i in kept]) for v in (x, y)))
    assert result.status == "optimal"
    assert result.gap <= max(1e-9 * abs(result.value), 1e-12 * float(a + b) / k)


@pytest.mark.parametrize("seed", range(40))
def test_covariance_beside_subnormal_columns_with_most_entries_equal(seed):
    """The scale of such a column vanished, and products with it."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(5, 9))
    k, different = int(rng.integers(3, n)), int(rng.integers(1, max(2, n // 2)))
    x = np.full(n, 5e-324 * rng.integers(0, 100))
    top = 10 ** int(rng.integers(1, 12))
    x[rng.choice(n, different, replace=False)] = 5e-324 * rng.integers(0, top, different)
    y = rng.choice([1.0, 1e300]) * rng.integers(-9, 10, n)
    if len(set(x)) < 2 or len(set(y)) < 2:
        return
    best = naive.ranked_subsets(x.tolist(), y.tolist(), k, "cov")[0][0]
    result = qs.solve(x, y, k, objective="cov", method="certified", time_limit=60)
    found = naive.subset_score(naive.exact(x), naive.exact(y), result.inliers.tolist(), "cov")
    assert result.status == "optimal"
    assert found >= best - abs(best) * naive.Fraction(2e-9), (seed, found, best)

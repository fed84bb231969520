"""The least covariance determinant: true optima, exact fits, what must not matter, the ellipse."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from families import FAMILIES

import quadsweep as qs
from quadsweep.objectives import get
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

MCD = get("mcd")
GENEROUS = 120.0  # seconds


def problem(x, y, k, **options):
    return Problem(np.asarray(x, float), np.asarray(y, float), k, MCD, **options)


def clustered_outliers(seed, n=200, share=0.2):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    y += x
    m = int(share * n)
    x[:m] = 4 + 0.3 * rng.normal(size=m)
    y[:m] = -4 + 0.3 * rng.normal(size=m)
    return x, y


# ---- the optimum ----------------------------------------------------------------------------


@pytest.mark.parametrize("enumerate_up_to", [1, 200])
@pytest.mark.parametrize("family", FAMILIES)
def test_finds_what_listing_in_exact_arithmetic_finds(family, enumerate_up_to):
    for seed in range(4):
        rng = np.random.default_rng([seed, 20])
        n = int(rng.integers(5, 10))
        x, y = FAMILIES[family](rng, n)
        for k in range(3, n + 1):
            where = f"{family} seed={seed} n={n} k={k}"
            best = -naive.exhaustive(x, y, k, "mcd")[0]
            found = search(problem(x, y, k, time_limit=GENEROUS), enumerate_up_to=enumerate_up_to)
            # A list of all subsets, which this many boxes may not ask for, is what is left where
            # rounding hides the end of a proof.
            proved = ("optimal",) if enumerate_up_to == 200 else ("optimal", "heuristic")
            assert found.status in proved, where
            assert len(found.inliers) == k, where
            assert found.bound <= float(best) * (1 + 1e-14), where
            if found.status == "optimal":
                assert found.value == pytest.approx(float(best), rel=2e-9, abs=0), where


@pytest.mark.parametrize("method", ["exhaustive", "sweep", "certified"])
def test_every_exact_method_agrees_and_what_proves_says_optimal(method):
    for seed in range(3):
        x, y = np.random.default_rng([seed, 21]).normal(size=(2, 12))
        best = -naive.exhaustive(x, y, 8, "mcd")[0]
        result = qs.solve(x, y, 8, objective="mcd", method=method)
        proved = "best_separable" if method == "sweep" else "optimal"
        assert result.status == proved, f"seed {seed}"
        assert result.value == pytest.approx(float(best), rel=1e-9), f"seed {seed}"


def test_the_naive_sweep_meets_the_optimum_too():
    x, y = np.random.default_rng(22).normal(size=(2, 10))
    naive_found = qs.solve(x, y, 7, objective="mcd", method="naive")
    assert naive_found.value == pytest.approx(qs.solve(x, y, 7, objective="mcd").value)


def test_concentration_is_never_better_and_says_it_proves_nothing():
    for seed in range(3):
        x, y = clustered_outliers(seed, share=0.4)
        exact = qs.solve(x, y, 110, objective="mcd")
        rough = qs.solve(x, y, 110, objective="mcd", method="concentrate")
        assert exact.status == "optimal"
        assert rough.status == "heuristic"
        assert rough.value >= exact.value * (1 - 1e-12), f"seed {seed}"


def test_the_bound_is_within_tol_of_the_value():
    x, y = clustered_outliers(1)
    for tol in (1e-3, 1e-6, 1e-9):
        result = qs.solve(x, y, 150, objective="mcd", tol=tol)
        assert result.status == "optimal"
        assert 0 <= result.gap <= tol * result.value


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_clusters_of_outliers_are_dropped(n_jobs):
    x, y = clustered_outliers(2, n=600, share=0.3)
    result = qs.solve(x, y, 400, objective="mcd", n_jobs=n_jobs)
    assert result.status == "optimal"
    assert set(range(180)) <= set(result.outliers.tolist())
    assert result.correlation > 0.5


# ---- exact fits, ties, constants ------------------------------------------------------------


def test_k_points_on_a_line_have_determinant_zero_and_the_answer_names_the_line():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 60))
    on = rng.permutation(60)[:35]
    x[on] = rng.integers(-50, 50, 35)
    y[on] = 2 * x[on] - 3
    result = qs.solve(x, y, 35, objective="mcd")
    assert (result.value, result.bound, result.status) == (0.0, 0.0, "optimal")
    assert np.array_equal(result.inliers, np.sort(on))
    assert result.on_a_line == "y = 2 · x - 3"
    assert "y = 2 · x - 3" in result.message
    assert "y = 2 · x - 3" in result.summary()


@pytest.mark.parametrize(("constant", "line"), [("x", "x = 7"), ("y", "y = 7")], ids=["x", "y"])
def test_a_constant_column_is_a_line(constant, line):
    other = np.random.default_rng(4).normal(size=20)
    same = np.full(20, 7.0)
    x, y = (same, other) if constant == "x" else (other, same)
    result = qs.solve(x, y, 12, objective="mcd")
    assert result.value == 0
    assert result.status == "optimal"
    assert result.on_a_line == line
    assert math.isnan(result.correlation)


def test_a_line_that_no_start_is_likely_to_find():
    """Fewer than a tenth of the points lie on it: two random ones hardly ever do."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 150))
    x[:12] = np.arange(12)
    y[:12] = 3 * x[:12] + 1
    result = qs.solve(x, y, 12, objective="mcd", time_limit=GENEROUS)
    assert result.value == 0
    assert result.inliers.tolist() == list(range(12))


def test_k_copies_of_one_point_are_an_exact_fit():
    x, y = np.random.default_rng(16).normal(size=(2, 12))
    x[:5], y[:5] = 3, 4
    result = qs.solve(x, y, 5, objective="mcd")
    assert (result.value, result.status, result.on_a_line) == (0, "optimal", "x = 3")


def test_copies_are_kept_one_by_one():
    rng = np.random.default_rng(6)
    x, y = np.repeat(rng.normal(size=(2, 9)), 3, axis=1)
    for k in (10, 14, 20):
        found = search(problem(x, y, k), enumerate_up_to=1)
        listed = qs.solve(x, y, k, objective="mcd", method="exhaustive")
        assert found.status == "optimal"
        assert found.value == pytest.approx(listed.value, rel=1e-9), k


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_lattice_full_of_ties_closes(share):
    x, y = np.random.default_rng(7).integers(0, 6, (2, 300)).astype(float)
    result = qs.solve(x, y, share, objective="mcd", time_limit=GENEROUS)
    assert result.status == "optimal"


# ---- what must not matter -------------------------------------------------------------------


def test_affine_maps_do_not_change_who_is_kept():
    for seed in range(3):
        x, y = clustered_outliers(seed, n=80)
        kept = qs.solve(x, y, 60, objective="mcd")
        u, w = 2 * x - 3 * y + 100, x + 4 * y - 7
        turned = qs.solve(u, w, 60, objective="mcd")
        assert np.array_equal(kept.inliers, turned.inliers), f"seed {seed}"
        assert turned.value == pytest.approx(121 * kept.value, rel=1e-8), f"seed {seed}"
        swapped = qs.solve(y, x, 60, objective="mcd")
        assert np.array_equal(kept.inliers, swapped.inliers), f"seed {seed}"


def test_points_far_away_and_in_other_units():
    x, y = clustered_outliers(8, n=80)
    kept = qs.solve(x, y, 60, objective="mcd").inliers
    for shift, scale in ((1e8, 1.0), (0.0, 1e-120), (0.0, 1e70)):
        assert np.array_equal(
            kept, qs.solve(scale * (x + shift), y, 60, objective="mcd").inliers
        ), (shift, scale)


def test_the_best_determinant_falls_with_every_point_dropped():
    x, y = np.random.default_rng(9).normal(size=(2, 40))
    found = qs.path(x, y, ks=range(20, 41), objective="mcd")
    assert np.all(np.diff(found.value[np.argsort(found.k)]) > 0)


def test_k_or_more_is_exactly_k():
    x, y = np.random.default_rng(10).normal(size=(2, 30))
    least = search(problem(x, y, 20), k_or_more=True)
    assert len(least.inliers) == 20
    assert least.value == pytest.approx(search(problem(x, y, 20)).value)


# ---- the decision form, limits --------------------------------------------------------------


def test_the_decision_form_answers_yes_and_no():
    x, y = clustered_outliers(11, n=100)
    best = search(problem(x, y, 75)).value
    yes = search(problem(x, y, 75), above=best * 1.001)
    assert yes.decided
    assert len(yes.inliers) == 75
    no = search(problem(x, y, 75), above=best * 0.999)
    assert no.decided
    assert len(no.inliers) == 0


def test_a_time_limit_leaves_a_true_bound():
    x, y = np.random.default_rng(12).random((2, 20_000))
    result = qs.solve(x, y, 10_000, objective="mcd", time_limit=0.3)
    assert result.status == "time_limit"
    assert 0 <= result.bound <= result.value


# ---- the ellipse ----------------------------------------------------------------------------


def own_ellipse_separates(x, y, result):
    """Every kept point is strictly nearer to the mean than every other that is not its copy."""
    distance = result.scatter.distances(x, y)
    return distance[result.inliers].max() < distance[result.outliers].min()


@pytest.mark.parametrize(
    "count", [100, pytest.param(1_500, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_every_optimum_is_cut_off_by_its_own_ellipse(count):
    for seed in range(count):
        rng = np.random.default_rng([seed, 23])
        n = int(rng.integers(6, 16))
        x, y = rng.normal(size=(2, n)) if seed % 2 else rng.uniform(size=(2, n))
        result = qs.solve(x, y, int(rng.integers(4, n)), objective="mcd", n_jobs=1)
        assert own_ellipse_separates(x, y, result), f"seed {seed}"
        assert qs.separate(x, y, result.mask).separable, f"seed {seed}"
        assert result.conic is not None, f"seed {seed}"
        assert result.conic.kind in ("ellipse", "circle"), f"seed {seed}"


def test_location_covariance_and_correlation_are_those_of_the_kept():
    x, y = clustered_outliers(13)
    result = qs.solve(x, y, 150, objective="mcd")
    kept = np.array([x[result.inliers], y[result.inliers]])
    assert result.location == pytest.approx(kept.mean(axis=1))
    assert result.covariance == pytest.approx(np.cov(kept, bias=True))
    assert np.linalg.det(result.covariance) == pytest.approx(result.value)
    assert result.correlation == pytest.approx(np.corrcoef(kept)[0, 1])
    said = result.to_dict()
    assert said["covariance"][0][1] == pytest.approx(result.covariance[0, 1])


def test_a_proof_cannot_be_asked_for():
    with pytest.raises(ValueError, match="mcd"):
        qs.solve([0, 1, 2, 3, 5], [0, 1, 0, 2, 9], 4, objective="mcd", proof=True)


@pytest.mark.parametrize("tight", [1e-6, 1e-12])
def test_a_tiny_cluster_among_ordinary_points(tight):
    x, y = np.random.default_rng(14).normal(size=(2, 24))
    x[:15] = 1 + tight * x[:15]
    y[:15] = 1 + tight * y[:15]
    result = qs.solve(x, y, 14, objective="mcd", time_limit=GENEROUS)
    assert result.status == "optimal"
    assert set(range(15, 24)) <= set(result.outliers.tolist())


def test_a_determinant_below_the_least_number_is_no_exact_fit():
    x, y = 1e-120 * np.random.default_rng(15).normal(size=(2, 30))
    result = qs.solve(x, y, 20, objective="mcd")
    assert result.value == 0
    assert result.on_a_line is None

"""The efficient step: its equations hold, it starts from the optimum, and its intervals cover."""

import itertools

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.estimators.efficient import BREAKDOWN, CUT_OFF, EFFICIENCY
from quadsweep.estimators.trimmed import default_rows
from quadsweep.least_squares import fit
from quadsweep.sklearn import TrimmedRegressor


def table(name):
    data = qs.datasets.load(name)
    return data.x.reshape(len(data.y), -1), data.y


@pytest.mark.parametrize("name", ["stars-cyg", "stack-loss", "delivery", "hawkins-bradu-kass"])
def test_the_plane_solves_the_equations_of_the_m_estimate(name):
    X, y = table(name)
    model = TrimmedRegressor().fit(X, y)
    design = np.column_stack([X, np.ones(len(y))])
    ours = np.append(model.coef_, model.intercept_)
    residuals = y - design @ ours
    u = np.clip(np.abs(residuals) / (EFFICIENCY * model.scale_), None, 1)
    np.testing.assert_allclose(model.weights_, (1 - u**2) ** 2, atol=1e-6)
    score = design.T @ ((1 - u**2) ** 2 * residuals)
    assert np.abs(score / np.abs(design).sum(axis=0)).max() < 1e-6 * model.scale_


def test_the_scale_solves_its_equation_and_is_that_of_lmrob_for_the_stars():
    X, y = table("stars-cyg")
    model = TrimmedRegressor().fit(X, y)
    assert model.scale_ == pytest.approx(0.4715, abs=5e-5)  # printed by robustbase's lmrob
    assert np.flatnonzero(model.weights_ < 0.01).tolist() == [10, 19, 29, 33]
    rng = np.random.default_rng(0)
    nearby = model.raw_coef_[0] + np.linspace(-3, 3, 41)

    def loss(slope, intercept):
        u = np.abs(y - X[:, 0] * slope - intercept) / (BREAKDOWN * model.scale_)
        return np.sum(1 - np.clip(1 - u**2, 0, None) ** 3)

    least = min(loss(s, c) for s in nearby for c in model.raw_intercept_ + rng.normal(size=200))
    assert least > 0.98 * (len(y) - 2) / 2  # no line nearby has a smaller scale


def test_the_raw_fit_is_the_least_of_all_subsets():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
        model = TrimmedRegressor().fit(X, y)
        h = default_rows(9, 2)
        every = [fit(X[list(s)], y[list(s)]) for s in itertools.combinations(range(9), h)]
        best = min(every, key=lambda plane: plane.rss)
        np.testing.assert_allclose(model.raw_coef_, best.coef, err_msg=f"seed {seed}")
        near = np.abs(y - model.predict(X)) <= CUT_OFF * model.scale_
        assert model.inlier_mask_.tolist() == near.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("n", "p"), [(100, 1), (100, 5), (200, 20)])
def test_clean_data_cost_three_per_cent_and_intervals_cover(n, p):
    ours, theirs, covered = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p))
        y = X.sum(axis=1) + rng.normal(size=n)
        model = TrimmedRegressor(method="concentrate").fit(X, y)
        ours.append(np.mean((model.coef_ - 1) ** 2))
        theirs.append(np.mean((fit(X, y).coef - 1) ** 2))
        intervals = model.confidence_intervals()
        covered.append(np.mean((intervals[:, 0] <= 1) & (intervals[:, 1] >= 1)))
    assert np.sqrt(np.mean(ours) / np.mean(theirs)) < 1.05  # benchmarks/regressors.py has it
    assert np.mean(covered) > 0.90


def test_intervals_cover_where_errors_grow_with_x():
    covered = plain = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0, 2, size=120)
        y = x + (0.5 + x) * rng.normal(size=120)
        model = TrimmedRegressor(drop=0, reweight=True).fit(x[:, None], y)
        low, high = model.confidence_intervals()[0]
        covered += low <= 1 <= high
        line = fit(x[:, None], y)
        error = np.sqrt(line.rss / 118 / np.sum((x - x.mean()) ** 2))
        plain += abs(line.coef[0] - 1) <= 1.96 * error
    assert covered >= 0.85 * 60
    assert covered >= plain


def test_an_exact_fit_has_no_scale_and_keeps_the_rows_on_it():
    x = np.arange(10.0)
    y = np.where(np.isin(x, [2, 7]), 100.0, 3 * x - 1)
    model = TrimmedRegressor().fit(x[:, None], y)
    assert model.scale_ == 0
    assert np.flatnonzero(~model.inlier_mask_).tolist() == [2, 7]
    assert model.coef_ == pytest.approx([3])
    np.testing.assert_allclose(model.confidence_intervals(), [[3, 3]])


def test_a_dependent_column_has_no_standard_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.normal(size=40)
    model = TrimmedRegressor().fit(np.column_stack([X, X[:, 0]]), y)
    alone = TrimmedRegressor().fit(X, y)
    assert np.isnan(model.standard_errors_).tolist() == [False, False, True]
    assert model.coef_[2] == 0
    np.testing.assert_allclose(model.standard_errors_[:2], alone.standard_errors_)

"""The scale and the second step of least trimmed squares are those of ltsReg."""

import itertools

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.estimators.reweighting import CUT_OFF, default_rows, reweight
from quadsweep.least_squares import fit
from quadsweep.sklearn import TrimmedRegressor

# Printed by robustbase's own tests (tests/tlts.Rout.save): rows kept, scale, coefficients with the
# intercept first, and the standard errors of plain least squares on the rows of weight one.
LTSREG = {
    "stars-cyg": (25, 0.456, (-8.500, 3.046), (1.926, 0.437)),
    "stack-loss": (13, 1.92, (-37.6525, 0.7977, 0.5773, -0.0671), (4.7321, 0.0674, 0.1660, 0.0616)),
    "delivery": (14, 2.38, (3.71959, 1.40578, 0.01625), None),
    "hawkins-bradu-kass": (
        40,
        0.744,
        (-0.1805, 0.0814, 0.0399, -0.0517),
        (0.1044, 0.0667, 0.0405, 0.0354),
    ),
}


def table(name):
    data = qs.datasets.load(name)
    return data.x.reshape(len(data.y), -1), data.y


@pytest.mark.parametrize("name", LTSREG)
def test_scale_and_coefficients_are_those_that_ltsreg_prints(name):
    kept, scale, coefficients, errors = LTSREG[name]
    X, y = table(name)
    model = TrimmedRegressor().fit(X, y)
    assert model.raw_inlier_mask_.sum() == kept == default_rows(*X.shape)
    assert model.scale_ == pytest.approx(scale, abs=0.5 * 10 ** -len(f"{scale}".split(".")[1]))
    found = [model.intercept_, *model.coef_]
    np.testing.assert_allclose(found, coefficients, atol=6e-4, rtol=0)
    if errors is None:
        return
    rows = np.column_stack([np.ones(len(y)), X])[model.inlier_mask_]
    residuals = (y - model.predict(X))[model.inlier_mask_]
    variance = residuals @ residuals / (len(rows) - rows.shape[1])
    plain = np.sqrt(variance * np.diag(np.linalg.inv(rows.T @ rows)))
    np.testing.assert_allclose(plain, errors, atol=6e-4)
    ours = np.array([model.intercept_standard_error_, *model.standard_errors_])
    ratio = ours / plain
    np.testing.assert_allclose(ratio, ratio[0])  # one factor: scale and choosing
    assert ratio[0] > 1.2


def test_the_raw_fit_is_the_least_of_all_subsets():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
        model = TrimmedRegressor().fit(X, y)
        h = default_rows(9, 2)
        every = [fit(X[list(s)], y[list(s)]) for s in itertools.combinations(range(9), h)]
        best = min(every, key=lambda plane: plane.rss)
        np.testing.assert_allclose(model.raw_coef_, best.coef, err_msg=f"seed {seed}")
        near = np.abs(y - X @ best.coef - best.intercept) <= CUT_OFF * model.raw_scale_
        assert model.inlier_mask_.tolist() == near.tolist()
        np.testing.assert_allclose(model.coef_, fit(X[near], y[near]).coef)


@pytest.mark.slow
def test_the_scale_is_unbiased_for_normal_errors():
    """With and without an intercept, and with several predictors, at small n."""
    for n, p, intercept in [(40, 1, True), (40, 1, False), (60, 3, True), (60, 2, False)]:
        raw, again = [], []
        for seed in range(60):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(n, p)), rng.normal(size=n)
            h = default_rows(n, p, intercept)
            rows = qs.solve(
                X, y, h, objective="lts", fit_intercept=intercept, method="concentrate"
            ).inliers
            found = reweight(X, y, fit(X[rows], y[rows], None, intercept), h, intercept)
            raw.append(found.raw_scale)
            again.append(found.scale)
        assert np.mean(raw) == pytest.approx(1, abs=4 * np.std(raw) / np.sqrt(60) + 0.03)
        assert np.mean(again) == pytest.approx(1, abs=4 * np.std(again) / np.sqrt(60) + 0.03)


@pytest.mark.slow
def test_intervals_cover_where_the_plain_ones_do_not():
    covered = plain = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=60)
        y = x + rng.normal(size=60)
        model = TrimmedRegressor().fit(x[:, None], y)
        low, high = model.confidence_intervals()[0]
        covered += low <= 1 <= high
        kept = model.inlier_mask_
        line = fit(x[kept, None], y[kept])
        error = np.sqrt(line.rss / (kept.sum() - 2) / np.sum((x[kept] - x[kept].mean()) ** 2))
        plain += abs(line.coef[0] - 1) <= 2 * error
    assert covered >= 0.88 * 200  # benchmarks/regressors.py has it at several sizes
    assert plain < covered - 10


def test_an_exact_fit_has_no_scale_and_keeps_the_rows_on_it():
    x = np.arange(10.0)
    y = np.where(np.isin(x, [2, 7]), 100.0, 3 * x - 1)
    model = TrimmedRegressor().fit(x[:, None], y)
    assert (model.raw_scale_, model.scale_) == (0, 0)
    assert np.flatnonzero(~model.inlier_mask_).tolist() == [2, 7]
    assert model.coef_ == pytest.approx([3])
    np.testing.assert_allclose(model.confidence_intervals(), [[3, 3]])


def test_all_rows_kept_is_least_squares_with_its_own_scale():
    X, y = table("stack-loss")
    plane = fit(X, y)
    found = reweight(X, y, plane, len(y))
    assert found.raw_scale == pytest.approx(np.sqrt(plane.rss / (21 - 4)))


def test_a_dependent_column_has_no_standard_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.normal(size=40)
    model = TrimmedRegressor().fit(np.column_stack([X, X[:, 0]]), y)
    alone = TrimmedRegressor().fit(X, y)
    assert np.isnan(model.standard_errors_).tolist() == [False, False, True]
    assert model.coef_[2] == 0
    assert len(alone.standard_errors_) == 2

"""The estimators keep scikit-learn's contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import quadsweep as qs
from quadsweep.sklearn import TrimmedOutlierDetector, TrimmedRegressor

# The checks below use more columns than there can be; that this is refused is what they show.
# `FirstColumns` puts the same code through them in full.
SEVERAL_FEATURES = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_regressor_data_not_an_array",
        "check_regressors_int",
        "check_regressors_no_decision_function",
        "check_regressors_train",
        "check_supervised_y_2d",
    ],
    "the check gives more feature columns than the estimator takes, which it refuses",
)
TWO_ARE_RIGHT = (
    "check_estimators_fit_returns_self", "check_estimators_overwrite_params",
    "check_fit_check_is_fitted", "check_fit_idempotent", "check_n_features_in",
    "check_readonly_memmap_input",
)  # fmt: skip


class FirstColumnRegressor(TrimmedRegressor):
    """Of any number of columns, the first."""

    def _check_columns(self, X):
        pass


class FirstColumnsDetector(TrimmedOutlierDetector):
    """Of any number of columns, the first two."""

    def _check_columns(self, X):
        pass


def expected(estimator):
    if isinstance(estimator, TrimmedRegressor):
        return SEVERAL_FEATURES
    return {k: v for k, v in SEVERAL_FEATURES.items() if k not in TWO_ARE_RIGHT}


@parametrize_with_checks(
    [TrimmedRegressor(), TrimmedOutlierDetector()],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_checks([FirstColumnRegressor(), FirstColumnsDetector()])
def test_scikit_learn_checks_on_the_first_columns(estimator, check):
    check(estimator)


@pytest.fixture
def stars():
    data = qs.datasets.load("stars-cyg")
    return data.x[:, None], data.y


def test_the_regressor_fits_the_line_of_the_stars_that_stay(stars):
    X, y = stars
    model = TrimmedRegressor(drop=4).fit(X, y)
    result = qs.solve(X[:, 0], y, drop=4)
    assert np.flatnonzero(~model.inlier_mask_).tolist() == [10, 19, 29, 33]
    assert model.coef_.tolist() == [result.slope]
    assert model.intercept_ == result.intercept
    assert (model.score_, model.bound_, model.gap_) == (result.value, result.bound, result.gap)
    np.testing.assert_allclose(model.predict(X), result.slope * X[:, 0] + result.intercept)


def test_the_detector_marks_what_is_dropped_and_judges_new_points_by_the_conic(stars):
    X = np.column_stack([stars[0], stars[1]])
    model = TrimmedOutlierDetector(drop=4)
    marks = model.fit_predict(X)
    assert np.flatnonzero(marks == -1).tolist() == [10, 19, 29, 33]
    assert model.predict(X).tolist() == marks.tolist()
    assert model.predict([[3.5, 6.0], [4.4, 5.0]]).tolist() == [-1, 1]
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)


def test_where_no_conic_separates_the_distance_from_the_line_does():
    data = qs.datasets.load("nonseparable-r2")
    X = np.column_stack([data.x, data.y])
    model = TrimmedOutlierDetector(keep=8).fit(X)
    assert model.conic_ is None
    assert np.all(model.predict(X[model.inlier_mask_]) == 1)
    assert model.predict([[0.0, 1e6]]).tolist() == [-1]


def test_half_are_kept_unless_said_otherwise(stars):
    X, y = stars[0][:20], stars[1][:20]
    assert TrimmedRegressor().fit(X, y).inlier_mask_.sum() == 10
    assert TrimmedRegressor(keep=15).fit(X, y).inlier_mask_.sum() == 15
    assert TrimmedRegressor(drop=0.1).fit(X, y).inlier_mask_.sum() == 18


def test_works_in_pipelines_searches_and_cross_validation(stars):
    X, y = stars
    pipeline = make_pipeline(StandardScaler(), TrimmedRegressor(drop=2))
    assert len(cross_val_score(pipeline, X, y, cv=3)) == 3
    grid = {"trimmedregressor__drop": [0, 2], "trimmedregressor__objective": ["r2", "lts"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_["trimmedregressor__drop"] in (0, 2)


def test_clones_and_pickles(stars):
    model = TrimmedRegressor("lts", drop=3)
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit(*stars)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(stars[0]), fitted.predict(stars[0]))


def test_frames_give_feature_names(stars):
    frame = pd.DataFrame({"temperature": stars[0][:, 0]})
    model = TrimmedRegressor(drop=4).fit(frame, stars[1])
    assert model.feature_names_in_.tolist() == ["temperature"]
    assert len(model.predict(frame)) == 47


@pytest.mark.parametrize(
    ("estimator", "columns", "says"),
    [
        (TrimmedRegressor(drop=1), 2, "one feature column; got 2 features"),
        (TrimmedOutlierDetector(drop=1), 3, "two columns, x and y; got 3 features"),
        (TrimmedRegressor(keep=5, drop=1), 1, "keep or drop, not both"),
        (TrimmedRegressor(keep=1.5), 1, "keep"),
        (TrimmedRegressor("r3"), 1, "objective"),
        (TrimmedRegressor(keep=11), 1, "k=11 keeps 11 of 10 points"),
    ],
)
def test_what_cannot_be_done_is_refused(estimator, columns, says):
    X, y = np.random.default_rng(0).normal(size=(10, columns)), np.arange(10.0)
    with pytest.raises(ValueError, match=says):
        estimator.fit(X, y)


@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
def test_points_fitted_to_are_judged_as_they_were(objective):
    """Identical points cannot be told apart: they are ordinary if any of them was kept."""
    without_conic = without_line = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 12))
        X = rng.integers(0, rng.integers(2, 6), (n, 2)).astype(float)
        if objective in ("r2", "r") and (np.ptp(X, axis=0) == 0).any():
            continue
        model = TrimmedOutlierDetector(objective, drop=int(rng.integers(1, n - 3)))
        kept = {tuple(p) for p in X[model.fit_predict(X) == 1]}
        expected = [1 if tuple(p) in kept else -1 for p in X]
        assert model.predict(X).tolist() == expected, f"seed {seed}"
        assert np.array_equal(model.decision_function(X) >= 0, model.predict(X) == 1)
        without_conic += model.conic_ is None
        without_line += not np.isfinite(model.coef_[0])
    assert without_conic > 5
    assert without_line > 0 or objective in ("r2", "r")


def test_without_a_conic_new_points_are_judged_by_their_distance_from_the_line():
    X = [[0, 0]] * 5 + [[1, 1.1], [2, 1.9]]
    model = TrimmedOutlierDetector(keep=4).fit(X)
    assert model.conic_ is None
    farthest = -model.offset_
    line = model.coef_[0] * 10 + model.intercept_
    assert model.predict([[10, line + 0.5 * farthest]]).tolist() == [1]
    assert model.predict([[10, line + farthest + 1]]).tolist() == [-1]


@pytest.mark.parametrize("model", [TrimmedRegressor(), TrimmedOutlierDetector()])
def test_masked_numbers_are_refused_as_missing(model):
    X = np.ma.array([[1.0, 2], [2, 3], [3, 9], [4, 5]], mask=[[0, 0], [1, 0], [0, 0], [0, 0]])
    y = [1, 2, 3, 5]
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(X[:, :1] if isinstance(model, TrimmedRegressor) else X, y)

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

# Weights weigh the squares and rows are counted as rows: how many are kept does not depend on what
# they weigh. scikit-learn's RANSACRegressor declares the same.
COUNTED_AS_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "a weight of two is not a row given twice"
}


@pytest.mark.slow
@parametrize_with_checks(
    [TrimmedRegressor(), TrimmedRegressor("lts"), TrimmedOutlierDetector()],
    expected_failed_checks=lambda e: COUNTED_AS_ROWS if isinstance(e, TrimmedRegressor) else {},
)
def test_scikit_learn_checks(estimator, check):
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
        (TrimmedRegressor("tv", drop=1), 2, "take objective 'r2' or 'lts'; got 'tv'"),
        (TrimmedOutlierDetector("cov", drop=1), 3, "take objective 'r2' or 'lts'; got 'cov'"),
        (TrimmedRegressor(method="certified"), 6, "up to 5 predictors; got 6"),
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


@pytest.mark.slow
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

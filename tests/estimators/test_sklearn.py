"""The estimators keep scikit-learn's contract."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import quadsweep as qs
from quadsweep import progress
from quadsweep.sklearn import ExactMinCovDet, TrimmedOutlierDetector, TrimmedRegressor

UNPROVED = "ignore::sklearn.exceptions.ConvergenceWarning"  # the checks have ten features


CLOUDS = "no row of three round clouds is far from the plane through them"
NOT_KEPT = {
    "TrimmedRegressor": {
        "check_sample_weight_equivalence_on_dense_data": "rows are counted: a weight of two is not "
        "a row given twice, and 11 rows of weight leave none of 10 features to drop",
        "check_regressor_multioutput": "where drop is given, 11 rows of 10 features have none",
    },
    "TrimmedOutlierDetector": {
        "check_outliers_train": CLOUDS,
        "check_outliers_fit_predict": CLOUDS,
    },
}


@pytest.mark.slow
@pytest.mark.filterwarnings(UNPROVED, "ignore:y is not used")
@parametrize_with_checks(
    [
        TrimmedRegressor(),
        TrimmedRegressor(drop=0.2),
        TrimmedRegressor("r2", drop=0.2),
        TrimmedOutlierDetector(),
        TrimmedOutlierDetector(contamination=0.1),
        TrimmedOutlierDetector("r2", contamination=0.1),
    ],
    expected_failed_checks=lambda estimator: (
        NOT_KEPT.get(type(estimator).__name__, {})
        if estimator.get_params().get("contamination") in (None, "auto")
        else {}
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def stars():
    data = qs.datasets.load("stars-cyg")
    return data.x[:, None], data.y


def test_the_regressor_fits_the_line_of_the_stars_that_stay(stars):
    X, y = stars
    model = TrimmedRegressor("r2", drop=4).fit(X, y)
    result = qs.solve(X[:, 0], y, drop=4)
    assert np.flatnonzero(~model.inlier_mask_).tolist() == [10, 19, 29, 33]
    assert model.coef_.tolist() == [result.slope]
    assert model.intercept_ == result.intercept
    assert (model.score_, model.bound_, model.gap_) == (result.value, result.bound, result.gap)
    np.testing.assert_allclose(model.predict(X), result.slope * X[:, 0] + result.intercept)


def test_the_detector_marks_what_is_dropped_and_judges_new_points_by_the_conic(stars):
    X = np.column_stack([stars[0], stars[1]])
    model = TrimmedOutlierDetector("r2", drop=4)
    marks = model.fit_predict(X)
    assert np.flatnonzero(marks == -1).tolist() == [10, 19, 29, 33]
    assert model.predict(X).tolist() == marks.tolist()
    assert model.predict([[3.5, 6.0], [4.4, 5.0]]).tolist() == [-1, 1]
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)


def test_where_no_conic_separates_the_distance_from_the_line_does():
    data = qs.datasets.load("nonseparable-r2")
    X = np.column_stack([data.x, data.y])
    model = TrimmedOutlierDetector("r2", keep=8).fit(X)
    assert model.conic_ is None
    assert np.all(model.predict(X[model.inlier_mask_]) == 1)
    assert model.predict([[0.0, 1e6]]).tolist() == [-1]


def test_half_are_kept_unless_said_otherwise(stars):
    X, y = stars[0][:20], stars[1][:20]
    assert TrimmedRegressor().fit(X, y).raw_inlier_mask_.sum() == (20 + 1 + 2) // 2
    assert TrimmedRegressor(fit_intercept=False).fit(X, y).raw_inlier_mask_.sum() == 11
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
        (TrimmedRegressor(method="certified"), 11, "up to 10 predictors; got 11"),
        (TrimmedRegressor(keep=5, drop=1), 1, "keep or drop, not both"),
        (TrimmedRegressor("r2", drop=1, reweight=True), 1, "for objective='lts'; got 'r2'"),
        (TrimmedOutlierDetector("r2"), 2, "give the share of outliers, keep or drop"),
        (TrimmedOutlierDetector(contamination=0.1, drop=2), 2, "one of contamination, keep and"),
        (TrimmedOutlierDetector(contamination=0.7), 2, "contamination"),
        (TrimmedRegressor(keep=1.5), 1, "keep"),
        (TrimmedRegressor("r3"), 1, "objective"),
        (TrimmedRegressor(keep=21), 1, "k=21 keeps 21 of 20 points"),
    ],
)
def test_what_cannot_be_done_is_refused(estimator, columns, says):
    X, y = np.random.default_rng(0).normal(size=(20, columns)), np.arange(20.0)
    with pytest.raises(ValueError, match=says):
        estimator.fit(X, *[y] * isinstance(estimator, TrimmedRegressor))


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
    model = TrimmedOutlierDetector("r2", keep=4).fit(X)
    assert model.conic_ is None
    farthest = -model.offset_
    line = model.coef_[0] * 10 + model.intercept_
    assert model.predict([[10, line + 0.5 * farthest]]).tolist() == [1]
    assert model.predict([[10, line + farthest + 1]]).tolist() == [-1]


def test_masked_numbers_are_refused_as_missing():
    X = np.ma.array([[1.0, 2], [2, 3], [3, 9], [4, 5]], mask=[[0, 0], [1, 0], [0, 0], [0, 0]])
    with pytest.raises(ValueError, match="contains NaN"):
        TrimmedRegressor().fit(X[:, :1], [1, 2, 3, 5])
    with pytest.raises(ValueError, match="contains NaN"):
        TrimmedOutlierDetector().fit(X)


@pytest.fixture
def clean():
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000)
    return x[:, None], x + rng.normal(size=1000)


def test_the_default_estimates_the_line_of_clean_data(clean):
    model = TrimmedRegressor().fit(*clean)
    low, high = model.confidence_intervals()[0]
    assert low < 1 < high
    assert high - low < 0.2
    assert model.scale_ == pytest.approx(1, abs=0.05)
    assert model.inlier_mask_.mean() > 0.95


def test_the_default_is_not_spoilt_by_many_bad_leverage_points(clean):
    X, y = clean[0].copy(), clean[1].copy()
    X[:400], y[:400] = 8 + X[:400], y[:400] - 20
    model = TrimmedRegressor().fit(X, y)
    assert model.coef_ == pytest.approx([1], abs=0.15)
    assert not model.inlier_mask_[:400].any()


def test_r2_of_half_the_rows_is_no_estimate_and_says_so(clean):
    with pytest.warns(UserWarning, match="does not estimate that of all: give keep or drop"):
        model = TrimmedRegressor("r2").fit(*clean)
    assert model.coef_[0] > 1.4


def test_a_number_of_rows_is_taken_literally_unless_reweighting_is_asked_for(clean):
    X, y = clean[0][:60], clean[1][:60]
    literal = TrimmedRegressor(drop=4).fit(X, y)
    assert (~literal.inlier_mask_).sum() == 4
    assert not hasattr(literal, "scale_")
    with pytest.raises(ValueError, match="intervals need objective='lts'"):
        literal.confidence_intervals()
    again = TrimmedRegressor(drop=4, reweight=True).fit(X, y)
    assert (~again.raw_inlier_mask_).sum() == 4
    assert again.set_params(reweight=False).fit(X, y).inlier_mask_.tolist() == (
        literal.inlier_mask_.tolist()
    )
    assert not hasattr(again, "scale_"), "of the fit before"


def test_a_fit_that_is_stopped_warns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X.sum(axis=1) + rng.normal(size=300)
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit=0.*raise time_limit"):
        model = TrimmedRegressor(time_limit=0.0).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.gap_ > 0
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit=0"):
        ExactMinCovDet(time_limit=0.0).fit(X[:, :2])


@pytest.mark.parametrize("features", [1, 3])
def test_a_method_without_proof_that_is_cut_off_warns(features):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, features)), rng.normal(size=2000)
    with pytest.warns(ConvergenceWarning, match="stopped at time_limit=0"):
        TrimmedRegressor("lts", drop=0.25, method="concentrate", time_limit=0.0).fit(X, y)


def test_more_features_than_are_searched_say_what_is_not_proved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 11))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=80)
    y[:30] = 50
    with pytest.warns(ConvergenceWarning, match="not proved to be the best.*nothing is proved"):
        model = TrimmedRegressor().fit(X, y)
    assert model.status_ == "heuristic"
    with pytest.warns(ConvergenceWarning, match=r"no choice of rows passes [\d.]+ \(gap [\d.]+\)"):
        part = TrimmedRegressor(drop=6).fit(rng.normal(size=(80, 11)), rng.normal(size=80))
    assert 0 < part.bound_ < part.score_
    proved = TrimmedRegressor(drop=2).fit(X, rng.normal(size=80))
    assert proved.status_ == "optimal"
    assert model.coef_ == pytest.approx(np.ones(11), abs=0.2)
    accepted = TrimmedRegressor(method="concentrate").fit(X, y)  # no warning
    assert accepted.coef_.tolist() == model.coef_.tolist()


def test_weights_multiply_squares_and_rows_without_weight_are_no_rows(clean):
    X, y = clean[0][:80], clean[1][:80]
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, 80)
    far, high = np.vstack([X, [[9.0]]]), np.append(y, -90)
    model = TrimmedRegressor().fit(far, high, np.append(weights, 0))
    alone = TrimmedRegressor().fit(X, y, weights)
    assert model.coef_.tolist() == alone.coef_.tolist()
    assert model.inlier_mask_.tolist() == [*alone.inlier_mask_, False]
    assert TrimmedRegressor().fit(X, y, np.full(80, 3.0)).coef_ == pytest.approx(
        TrimmedRegressor().fit(X, y).coef_
    )
    kept = TrimmedRegressor(drop=8).fit(X, y, weights)
    result = qs.solve(X, y, drop=8, objective="lts", weights=weights)
    assert np.flatnonzero(~kept.inlier_mask_).tolist() == result.outliers.tolist()
    doubled = TrimmedRegressor(drop=0).fit(X, y, np.where(np.arange(80) < 9, 2.0, 1.0))
    twice = TrimmedRegressor(keep=1.0).fit(np.vstack([X, X[:9]]), np.append(y, y[:9]))
    assert doubled.coef_ == pytest.approx(twice.coef_, rel=1e-12)
    with pytest.raises(ValueError, match="three rows need a positive weight; got 2"):
        TrimmedRegressor().fit(X, y, np.arange(80) < 2)


def test_several_targets_are_fitted_one_by_one(clean):
    X, y = clean[0][:90], clean[1][:90]
    both = np.column_stack([y, 3 - 2 * y])
    model = TrimmedRegressor().fit(X, both)
    assert model.coef_.shape == (2, 1)
    for target, column in enumerate(both.T):
        alone = TrimmedRegressor().fit(X, column)
        assert model.coef_[target].tolist() == alone.coef_.tolist()
        assert model.estimators_[target].status_ == "optimal"
        np.testing.assert_allclose(model.predict(X)[:, target], alone.predict(X))
    assert model.confidence_intervals().shape == (2, 1, 2)
    column = TrimmedRegressor().fit(X, y[:, None])
    assert column.predict(X).shape == (90, 1)


def test_a_fit_without_a_time_limit_is_the_same_on_any_machine(monkeypatch):
    """The clock may run a hundred times as fast: the limit is on boxes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = rng.normal(size=120)
    monkeypatch.setattr("quadsweep.estimators.trimmed.WORK", 120 * 500.0)
    fits = []
    for speed in (1, 100):
        real = time.perf_counter
        monkeypatch.setattr("time.perf_counter", lambda real=real, speed=speed: speed * real())
        with pytest.warns(ConvergenceWarning, match="not proved to be the best"):
            fits.append(TrimmedRegressor().fit(X, y))
    first, second = fits
    assert first.status_ == "heuristic"
    assert (first.bound_, first.score_) == (second.bound_, second.score_)
    assert first.coef_.tolist() == second.coef_.tolist()


@pytest.mark.filterwarnings(UNPROVED)
def test_verbose_shows_the_search(capfd, monkeypatch):
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    for verbose in (False, True):
        TrimmedRegressor(verbose=verbose).fit(X, y)
        assert ("residual sum of squares" in capfd.readouterr().err) == verbose


def test_the_detector_flags_what_is_far_off_and_few_of_clean_rows(clean):
    points = np.column_stack(clean)
    for objective in ("lts", "mcd"):
        flagged = TrimmedOutlierDetector(objective).fit_predict(points) == -1
        assert 10 < flagged.sum() < 50
    points[:7, 1] += 30
    model = TrimmedOutlierDetector()
    marks = model.fit_predict(points)
    assert np.all(marks[:7] == -1)
    assert (marks == -1).sum() < 60
    assert model.predict(points).tolist() == marks.tolist()
    assert model.inlier_mask_.tolist() == (marks == 1).tolist()
    far = np.abs(points[:, 1] - points[:, 0] * model.coef_[0] - model.intercept_)
    assert ((far > -model.offset_) == (marks == -1)).all()
    assert -model.offset_ == pytest.approx(2.2414 * model.scale_, rel=1e-4)


def test_contamination_is_a_share_of_outliers(clean):
    points = np.column_stack(clean)[:200]
    marks = TrimmedOutlierDetector(contamination=0.1).fit_predict(points)
    assert (marks == -1).sum() == 20
    result = qs.solve(points[:, 0], points[:, 1], drop=20, objective="lts")
    assert np.flatnonzero(marks == -1).tolist() == result.outliers.tolist()


def test_an_exact_fit_flags_the_rows_off_the_line():
    x = np.arange(12.0)
    y = np.where(x == 5, 7.5, 2 * x)
    model = TrimmedOutlierDetector().fit(np.column_stack([x, y]))
    assert np.flatnonzero(~model.inlier_mask_).tolist() == [5]
    assert model.predict([[20, 40.0], [20, 41]]).tolist() == [1, -1]


def test_the_detector_says_that_y_is_not_used(clean):
    points = np.column_stack(clean)[:50]
    model = TrimmedOutlierDetector()
    for call in (model.fit, model.fit_predict):
        with pytest.warns(UserWarning, match="y is not used: the last column of X is regressed"):
            call(points, clean[1][:50])


def test_a_grid_search_over_many_features_ends(clean):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X.sum(axis=1) + rng.normal(size=60)
    model = TrimmedRegressor(method="concentrate")
    search = GridSearchCV(model, {"keep": [0.6, 0.8]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5

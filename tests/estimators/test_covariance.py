"""The robust covariance: scikit-learn's rules, its figures, and a better support."""

from __future__ import annotations

import naive_whole
import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.covariance import MinCovDet
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import quadsweep as qs
from quadsweep.sklearn import ExactMinCovDet, TrimmedOutlierDetector


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([ExactMinCovDet()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def contaminated(seed, n=120, share=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ np.array([[1.0, 1.0], [0.0, 1.0]])
    X[: int(share * n)] = [6, -6] + 0.5 * rng.normal(size=(int(share * n), 2))
    return X


def test_with_the_same_support_every_figure_is_scikit_learn_s():
    for seed in range(20):
        X = contaminated(seed)
        ours, theirs = ExactMinCovDet().fit(X), MinCovDet(random_state=0).fit(X)
        if not np.array_equal(ours.raw_support_, theirs.raw_support_):
            continue
        for name in (
            "raw_location_", "raw_covariance_", "location_", "covariance_", "precision_",
            "support_", "dist_",
        ):  # fmt: skip
            np.testing.assert_allclose(
                getattr(ours, name), getattr(theirs, name), rtol=1e-9, err_msg=f"{name}, {seed}"
            )
        assert ours.score(X) == pytest.approx(theirs.score(X))
        return
    pytest.fail("scikit-learn never found the optimum")


def test_the_determinant_is_never_above_scikit_learn_s_and_is_proved():
    for seed in range(10):
        X = contaminated(seed, share=0.4)
        ours, theirs = ExactMinCovDet().fit(X), MinCovDet(random_state=seed).fit(X)
        assert ours.status_ == "optimal"
        assert ours.raw_support_.sum() == theirs.raw_support_.sum()
        least = np.linalg.det(theirs.raw_covariance_)
        assert ours.determinant_ <= least * (1 + 1e-9), f"seed {seed}"
        assert ours.bound_ == pytest.approx(ours.determinant_, rel=1e-8)


def test_more_columns_are_concentration_steps_and_say_so():
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.warns(ConvergenceWarning, match="with 3 columns .* exact for one or two"):
        ours = ExactMinCovDet(random_state=0).fit(X)
    theirs = MinCovDet(random_state=0).fit(X)
    assert ours.status_ == "heuristic"
    assert np.isnan(ours.bound_)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_)


def test_one_column_is_the_window_of_least_variance():
    x = np.random.default_rng(1).standard_cauchy(40)
    model = ExactMinCovDet().fit(x[:, None])
    best = min(np.sort(x)[i : i + 21].var() for i in range(20))
    assert model.determinant_ == pytest.approx(best)
    assert model.status_ == "optimal"


def test_rows_off_the_line_of_an_exact_fit_are_infinitely_far():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    X[:25, 1] = 2 * X[:25, 0] + 1
    model = ExactMinCovDet().fit(X)
    assert np.isinf(model.dist_[25:]).all()
    assert np.flatnonzero(model.support_).tolist() == list(range(25))
    judged = TrimmedOutlierDetector("mcd").fit_predict(X)
    assert (judged[25:] == -1).all()
    assert (judged[:25] == 1).sum() >= 22


def test_assume_centered_takes_squares_about_the_origin():
    X = contaminated(3)
    model = ExactMinCovDet(assume_centered=True).fit(X)
    kept = X[model.raw_support_]
    np.testing.assert_allclose(model.raw_covariance_, kept.T @ kept / len(kept))
    assert model.location_.tolist() == [0, 0]


def test_the_detector_judges_by_the_robust_distance():
    X = contaminated(4)
    model = TrimmedOutlierDetector("mcd").fit(X)
    robust = ExactMinCovDet(support_fraction=model.inlier_mask_.mean()).fit(X)
    assert np.array_equal(model.inlier_mask_, robust.raw_support_)
    far = robust.mahalanobis(X) > chi2.ppf(0.975, 2)
    assert np.array_equal(model.predict(X) == -1, far)
    assert np.array_equal(model.fit_predict(X), model.predict(X))
    assert set(range(24)) <= set(np.flatnonzero(far))
    assert model.predict([[6.0, -6.0], robust.location_]).tolist() == [-1, 1]


def test_the_stars_are_flagged_as_the_literature_has_them():
    data = qs.datasets.load("stars-cyg")
    X = np.column_stack([data.x, data.y])
    flagged = {i + 1 for i in np.flatnonzero(TrimmedOutlierDetector("mcd").fit_predict(X) == -1)}
    assert {7, 11, 20, 30, 34} <= flagged


@pytest.mark.parametrize("noise", [1e-5, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_rows_near_a_line_are_fitted_with_the_determinant_of_the_engine(noise, offset):
    """Doubles have a negative determinant there, and scikit-learn's distances keep no row."""
    for seed in range(2):
        rng = np.random.default_rng([seed, 7])
        x = rng.normal(size=60)
        X = np.column_stack([x, 2 * x + noise * rng.normal(size=60)]) + offset
        X[:9] += rng.normal(size=(9, 2))
        model = ExactMinCovDet(time_limit=None).fit(X)
        own = naive_whole.Plane(*X[model.raw_support_].T)
        exact = own.rounded_value(range(int(model.raw_support_.sum())), "mcd")
        assert model.determinant_ == pytest.approx(exact, rel=1e-9)
        assert model.determinant_ > 0
        assert model.status_ == "optimal"
        assert model.raw_support_.sum() <= model.support_.sum() < 60
        assert not model.support_[:9].all()
        far, near = model.dist_[:9], model.dist_[model.support_]
        assert far.max() > 1e3 * np.median(near)
        np.testing.assert_allclose(model.distances(X), model.dist_)


def test_contamination_is_the_share_of_outliers_of_an_ellipse_too():
    X = contaminated(5)
    for share in (0.05, 0.2):
        model = TrimmedOutlierDetector("mcd", contamination=share)
        marks = model.fit_predict(X)
        assert (marks == -1).sum() == round(share * len(X))
        assert model.predict(X).tolist() == marks.tolist()

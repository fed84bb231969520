"""scikit-learn estimators: a regressor and an outlier detector that trim.

Both keep the points with the best value of an objective, exactly, and fit the least squares line to
them. One feature column; for more, choose or combine first.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from quadsweep.answers.result import Result
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.border.validation import unmasked
from quadsweep.extras import needed
from quadsweep.methods.choice import CHOICES
from quadsweep.objectives import OBJECTIVES
from quadsweep.solving.solve import solve

with needed("quadsweep.sklearn"):
    from sklearn.base import BaseEstimator, OutlierMixin, RegressorMixin, _fit_context
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.validation import check_is_fitted, validate_data

_FIT_LINES = tuple(name for name in OBJECTIVES if name != "var")
_CONSTRAINTS: dict[str, list[Any]] = {
    "objective": [StrOptions(set(_FIT_LINES))],
    "keep": [
        Interval(numbers.Integral, 1, None, closed="left"),
        Interval(numbers.Real, 0, 1, closed="neither"),
        None,
    ],
    "drop": [
        Interval(numbers.Integral, 0, None, closed="left"),
        Interval(numbers.Real, 0, 1, closed="neither"),
        None,
    ],
    "method": [StrOptions(set(CHOICES))],
    "tol": [Interval(numbers.Real, 0, 1, closed="left")],
    "time_limit": [Interval(numbers.Real, 0, None, closed="left"), None],
    "n_jobs": [numbers.Integral, None],
    "random_state": [Interval(numbers.Integral, 0, None, closed="left"), None],
}


def _unmasked(values: Any) -> Any:
    """Masked numbers as NaN, which scikit-learn then refuses; anything else as it is."""
    return unmasked(values) if isinstance(values, np.ma.MaskedArray) else values


def _among(points: Floats, others: Floats) -> Mask:
    """Which of the points are identical to one of the others."""
    one, other = (
        np.ascontiguousarray(p[:, :2]).view(np.complex128)[:, 0] for p in (points, others)
    )
    return np.isin(one, other)


class _Trimmed(BaseEstimator):  # type: ignore[misc]
    """What both estimators do: choose the points, keep the line and the certificate."""

    _parameter_constraints: dict[str, list[Any]] = _CONSTRAINTS

    def __init__(
        self,
        objective: str = "r2",
        *,
        keep: int | float | None = None,
        drop: int | float | None = None,
        method: str = "auto",
        tol: float = 1e-9,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.objective = objective
        self.keep = keep
        self.drop = drop
        self.method = method
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, x: Floats, y: Floats) -> Result:
        if self.keep is not None and self.drop is not None:
            raise ValueError("give keep or drop, not both")
        result = solve(
            x,
            y,
            0.5 if self.keep is None and self.drop is None else self.keep,
            drop=self.drop,
            objective=self.objective,
            method=self.method,
            tol=self.tol,
            time_limit=self.time_limit,
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
            seed=0 if self.random_state is None else self.random_state,
        )
        self.coef_ = np.array([result.slope])
        self.intercept_ = result.intercept
        self.inlier_mask_ = result.mask
        self.score_ = result.value
        self.bound_ = result.bound
        self.gap_ = result.gap
        self.status_ = result.status
        return result


class TrimmedRegressor(RegressorMixin, _Trimmed):  # type: ignore[misc]
    """The least squares line of the points that are best together, one feature.

    Parameters
    ----------
    objective : str
        ``r2``, ``r``, ``cov``, ``dv``, ``tv`` or ``lts``.
    keep, drop : int or float, optional
        Points to keep or to remove: a number, or a share in (0, 1). Half are kept by default.
    method, tol, time_limit :
        As in :func:`quadsweep.solve`.
    n_jobs : int, optional
        Threads; None is one.
    random_state : int, optional
        Seed for methods that draw starting points.

    Attributes
    ----------
    coef_, intercept_ : the line of the kept points.
    inlier_mask_ : True for the points kept.
    score_, bound_, gap_ : the value, what no subset passes, and the distance between them.
    status_ : what is proved.

    Examples
    --------
    >>> from quadsweep.sklearn import TrimmedRegressor
    >>> model = TrimmedRegressor(drop=1).fit([[1], [2], [3], [4], [5]], [1, 2, 9, 4, 5])
    >>> model.predict([[10]]).round(6)
    array([10.])
    >>> model.inlier_mask_
    array([ True,  True, False,  True,  True])
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> TrimmedRegressor:
        """Choose the points and fit the line."""
        X, y = validate_data(
            self, _unmasked(X), _unmasked(y), dtype=np.float64, y_numeric=True, ensure_min_samples=3
        )
        self._check_columns(X)
        result = self._fit(X[:, 0], np.asarray(y, dtype=np.float64))
        if not np.isfinite(result.slope):
            raise ValueError("the points kept have one x; no line fits them, keep more")
        return self

    def predict(self, X: Any) -> Floats:
        """Heights of the line."""
        check_is_fitted(self)
        X = validate_data(self, _unmasked(X), dtype=np.float64, reset=False)
        return np.asarray(self.coef_[0] * X[:, 0] + self.intercept_)

    def _check_columns(self, X: Floats) -> None:
        if X.shape[1] != 1:
            raise ValueError(
                f"X must have one feature column; got {X.shape[1]} features, choose or combine them"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class TrimmedOutlierDetector(OutlierMixin, _Trimmed):  # type: ignore[misc]
    """Outliers: the points that are not among the best, for two columns x and y.

    ``X`` has two columns, x and y. Parameters and attributes are those of
    :class:`TrimmedRegressor`, and:

    Attributes
    ----------
    conic_ : Conic or None
        The boundary between the points kept and dropped.
    offset_ : float
        ``decision_function`` is ``score_samples`` less this.
    exceptions_ : array of shape (m, 2)
        Where there is no conic, the points dropped that are no farther from the line than some
        point kept: they stay outliers.

    Notes
    -----
    New points are judged by the conic: on the side of the points kept they are ordinary. Where no
    conic separates the two, by their distance from the line, upright (or from the one x of the
    points kept): farther than every point kept is an outlier. The points it was fitted to are
    judged as they were, so that ``predict`` gives them what ``fit_predict`` did; only where some of
    several identical points were kept and others dropped are all of them ordinary.

    Examples
    --------
    >>> from quadsweep.sklearn import TrimmedOutlierDetector
    >>> points = [[1, 1], [2, 2], [3, 9], [4, 4], [5, 5.1]]
    >>> TrimmedOutlierDetector(drop=1).fit_predict(points)
    array([ 1,  1, -1,  1,  1])
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> TrimmedOutlierDetector:
        """Choose the points."""
        X = validate_data(
            self, _unmasked(X), dtype=np.float64, ensure_min_samples=3, ensure_min_features=2
        )
        self._check_columns(X)
        result = self._fit(X[:, 0], X[:, 1])
        self.conic_ = result.conic
        self._one_x = float(X[self.inlier_mask_, 0].mean())
        self.exceptions_ = np.empty((0, 2))
        worth = self._ordinary(X)
        self.offset_ = 0.0 if self.conic_ is not None else float(worth[self.inlier_mask_].min())
        near = X[~self.inlier_mask_ & (worth >= self.offset_), :2]
        self.exceptions_ = np.unique(near[~_among(near, X[self.inlier_mask_])], axis=0)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Ints:
        """+1 for the points kept, -1 for those dropped."""
        return np.where(self.fit(X).inlier_mask_, 1, -1)

    def score_samples(self, X: Any) -> Floats:
        """Larger is more ordinary: the conic's value, or minus the distance from the line."""
        check_is_fitted(self)
        return self._ordinary(validate_data(self, _unmasked(X), dtype=np.float64, reset=False))

    def decision_function(self, X: Any) -> Floats:
        """Positive on the side of the points kept, negative beyond."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> Ints:
        """+1 for points on the side of those kept, -1 for others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _ordinary(self, X: Floats) -> Floats:
        x, y = X[:, 0], X[:, 1]
        if self.conic_ is not None:
            worth = np.asarray(self.conic_(x, y))
        elif np.isfinite(self.coef_[0]):
            worth = -np.abs(y - self.coef_[0] * x - self.intercept_)
        else:
            worth = -np.abs(x - self._one_x)
        if len(self.exceptions_):
            just_below = np.nextafter(self.offset_, -np.inf)
            worth = np.where(_among(X, self.exceptions_), np.fmin(worth, just_below), worth)
        return worth

    def _check_columns(self, X: Floats) -> None:
        if X.shape[1] != 2:
            raise ValueError(f"X must have two columns, x and y; got {X.shape[1]} features")

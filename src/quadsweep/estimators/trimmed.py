"""scikit-learn estimators: a regressor and an outlier detector that trim, a robust covariance.

The first two keep the rows with the best value of an objective, exactly up to five predictors, and
fit the least squares line or plane to them.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.estimators.covariance import ExactMinCovDet
from quadsweep.extras import needed
from quadsweep.inputs.validation import unmasked
from quadsweep.objectives import OBJECTIVES
from quadsweep.results.result import Result
from quadsweep.solving.methods.choice import CHOICES
from quadsweep.solving.solve import solve

with needed("quadsweep.sklearn"):
    from scipy.stats import chi2
    from sklearn.base import BaseEstimator, OutlierMixin, RegressorMixin, _fit_context
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

__all__ = ["ExactMinCovDet", "TrimmedOutlierDetector", "TrimmedRegressor"]

CUT_OFF = 0.975  # share of a normal distribution within the distance of ordinary rows, for mcd
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
_FIT_INTERCEPT: dict[str, list[Any]] = {"fit_intercept": ["boolean"]}


def _unmasked(values: Any) -> Any:
    """Masked numbers as NaN, which scikit-learn then refuses; anything else as it is."""
    return unmasked(values) if isinstance(values, np.ma.MaskedArray) else values


def _among(points: Floats, others: Floats) -> Mask:
    """Which of the points are identical to one of the others."""
    known = {row.tobytes() for row in others + 0.0}
    return np.array([row.tobytes() in known for row in points + 0.0], dtype=bool)


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

    def _fit(self, X: Floats, y: Floats, **more: Any) -> Result:
        if self.keep is not None and self.drop is not None:
            raise ValueError("give keep or drop, not both")
        half = (X.shape[0] + X.shape[1]) // 2
        result = solve(
            X,
            y,
            half if self.keep is None and self.drop is None else self.keep,
            drop=self.drop,
            objective=self.objective,
            method=self.method,
            tol=self.tol,
            time_limit=self.time_limit,
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
            seed=0 if self.random_state is None else self.random_state,
            **more,
        )
        self.coef_ = result.coef
        self.intercept_ = result.intercept
        self.inlier_mask_ = result.mask
        self.score_ = result.value
        self.bound_ = result.bound
        self.gap_ = result.gap
        self.status_ = result.status
        return result


class TrimmedRegressor(RegressorMixin, _Trimmed):  # type: ignore[misc]
    """The least squares line or plane of the rows that are best together.

    Parameters
    ----------
    objective : str
        ``r2``, ``r``, ``cov``, ``dv``, ``tv`` or ``lts``; ``r2`` or ``lts`` for more than one
        feature.
    keep, drop : int or float, optional
        Rows to keep or to remove: a number, or a share in (0, 1). By default (n + p) // 2 rows are
        kept, p the number of features: half of them.
    method, tol, time_limit :
        As in :func:`quadsweep.solve`.
    n_jobs : int, optional
        Threads; None is one.
    random_state : int, optional
        Seed for methods that draw starting points.
    fit_intercept : bool
        False for a plane through the origin.

    Attributes
    ----------
    coef_, intercept_ : the line or plane of the rows kept.
    inlier_mask_ : True for the rows kept.
    score_, bound_, gap_ : the value, what no subset passes, and the distance between them.
    status_ : what is proved. Up to five features ``optimal``, beyond them ``heuristic``.

    Examples
    --------
    >>> from quadsweep.sklearn import TrimmedRegressor
    >>> model = TrimmedRegressor(drop=1).fit([[1], [2], [3], [4], [5]], [1, 2, 9, 4, 5])
    >>> model.predict([[10]]).round(6)
    array([10.])
    >>> model.inlier_mask_
    array([ True,  True, False,  True,  True])
    """

    _parameter_constraints: dict[str, list[Any]] = _CONSTRAINTS | _FIT_INTERCEPT

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
        fit_intercept: bool = True,
    ) -> None:
        super().__init__(
            objective, keep=keep, drop=drop, method=method, tol=tol, time_limit=time_limit,
            n_jobs=n_jobs, random_state=random_state,
        )  # fmt: skip
        self.fit_intercept = fit_intercept

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TrimmedRegressor:
        """Choose the rows and fit the line or plane.

        ``sample_weight`` makes it weighted least squares. Rows are counted as rows whatever they
        weigh, so a weight of two is not a row given twice; rows of weight zero are left out.
        """
        X, y = validate_data(
            self, _unmasked(X), _unmasked(y), dtype=np.float64, y_numeric=True, ensure_min_samples=3
        )
        y = np.asarray(y, dtype=np.float64)
        more: dict[str, Any] = {"fit_intercept": bool(self.fit_intercept)}
        used = np.arange(len(y))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            used = np.flatnonzero(weights > 0)
            if np.any(weights != weights[0]):
                more["weights"] = weights[used]
        result = self._fit(X[used], y[used], **more)
        if not np.isfinite(result.coef).all():
            raise ValueError("the points kept have one x; no line fits them, keep more")
        self.inlier_mask_ = np.zeros(len(y), dtype=bool)
        self.inlier_mask_[used] = result.mask
        return self

    def predict(self, X: Any) -> Floats:
        """Heights of the line or plane."""
        check_is_fitted(self)
        X = validate_data(self, _unmasked(X), dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class TrimmedOutlierDetector(OutlierMixin, _Trimmed):  # type: ignore[misc]
    """Outliers: the rows that are not among the best, for the last column given the others.

    The last column of ``X`` is regressed on the others: with two columns they are x and y. What
    makes a row an outlier is that it does not go with the relation of the rows kept, not that it
    lies far away. Parameters and attributes are those of :class:`TrimmedRegressor` (without
    ``fit_intercept``), and:

    Attributes
    ----------
    conic_ : Conic or None
        Of two columns, the boundary between the rows kept and dropped.
    offset_ : float
        ``decision_function`` is ``score_samples`` less this.
    exceptions_ : array of rows
        Where no surface separates, the rows dropped that are no farther from the line or plane
        than some row kept: they stay outliers.

    Notes
    -----
    New rows of two columns are judged by the conic: on the side of the rows kept they are ordinary.
    With more columns they are judged by the quadric of the first-order gain (what a row would add
    to the objective), where it separates the rows kept from the rest, as it nearly always does.
    Where no such surface does, by their distance from the line or plane, upright (or from the one x
    of the points kept): farther than every row kept is an outlier. The rows it was fitted to are
    judged as they were, so that ``predict`` gives them what ``fit_predict`` did; only where some of
    several identical rows were kept and others dropped are all of them ordinary.

    ``objective="mcd"`` (two columns) is judged otherwise, old rows and new ones alike: by the
    robust distance of :class:`ExactMinCovDet`, its square above the 97.5% point of chi-square with
    two degrees of freedom being an outlier. ``inlier_mask_`` is still the rows of the least
    determinant, about half of them by default; ``scatter_`` is the robust covariance.

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
        result = self._fit(X[:, :-1], X[:, -1])
        kept = self.inlier_mask_
        self.scatter_ = None
        if self.objective == "mcd":
            self.scatter_ = ExactMinCovDet().weigh(X, kept)
            self.offset_ = -float(chi2.ppf(CUT_OFF, 2))
            self.conic_, self.exceptions_ = result.conic, np.empty((0, 2))
            return self
        self.conic_ = result.conic
        self._one_x = float(X[kept, 0].mean())
        self._gain = _gain(X, result) if X.shape[1] > 2 else None
        self.exceptions_ = np.empty((0, X.shape[1]))
        worth = self._ordinary(X)
        self.offset_ = 0.0 if self.conic_ is not None else float(worth[kept].min())
        if self._gain is not None and not kept.all():
            self.offset_ = float(worth[kept].min() + worth[~kept].max()) / 2
        near = X[~kept & (worth >= self.offset_)]
        self.exceptions_ = np.unique(near[~_among(near, X[kept])], axis=0)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Ints:
        """+1 for the points kept, -1 for those dropped; for ``mcd`` as ``predict``."""
        self.fit(X)
        return self.predict(X) if self.objective == "mcd" else np.where(self.inlier_mask_, 1, -1)

    def score_samples(self, X: Any) -> Floats:
        """Larger is more ordinary: the conic's or the gain's value, or minus the distance.

        Minus the squared robust distance for ``mcd``.
        """
        check_is_fitted(self)
        return self._ordinary(validate_data(self, _unmasked(X), dtype=np.float64, reset=False))

    def decision_function(self, X: Any) -> Floats:
        """Positive on the side of the points kept, negative beyond."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> Ints:
        """+1 for points on the side of those kept, -1 for others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _ordinary(self, X: Floats) -> Floats:
        if self.scatter_ is not None:
            return -self.scatter_.distances(X)
        if self.conic_ is not None:
            worth = np.asarray(self.conic_(X[:, 0], X[:, 1]))
        elif np.isfinite(self.coef_).all():
            residual = X[:, -1] - X[:, :-1] @ self.coef_ - self.intercept_
            centre, spread, left = self._gain or (0.0, 0.0, 0.0)
            gain = spread * (X[:, -1] - centre) ** 2 - left * residual**2
            worth = -np.abs(residual) if self._gain is None else gain
        else:
            worth = -np.abs(X[:, 0] - self._one_x)
        if len(self.exceptions_):
            just_below = np.nextafter(self.offset_, -np.inf)
            worth = np.where(_among(X, self.exceptions_), np.fmin(worth, just_below), worth)
        return np.asarray(worth)


def _gain(X: Floats, result: Result) -> tuple[float, float, float] | None:
    """What a row adds to first order: its square about the mean and its residual's, by weight.

    None where that does not tell the rows kept from the others.
    """
    kept, residual = X[result.inliers, -1], result.residuals
    rss, centre = float(np.sum(residual[result.inliers] ** 2)), float(kept.mean())
    tss = float(np.sum((kept - centre) ** 2))
    if not rss > 0 or not tss > 0:
        return None
    weights = (1 / tss, 1 / rss) if result.objective == "r2" else (0.0, 1 / rss)
    gain = weights[0] * (X[:, -1] - centre) ** 2 - weights[1] * residual**2
    if len(result.outliers) and gain[result.inliers].min() <= gain[result.outliers].max():
        return None
    return (centre, *weights)

"""An outlier detector for scikit-learn: rows that do not fit the relation of the others."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.estimators.covariance import ExactMinCovDet
from quadsweep.estimators.efficient import CUT_OFF
from quadsweep.estimators.trimmed import CONSTRAINTS, Trimmed, as_missing, default_rows
from quadsweep.extras import needed
from quadsweep.results.result import Result

with needed("quadsweep.sklearn"):
    from scipy.stats import chi2
    from sklearn.base import OutlierMixin, _fit_context
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.validation import check_is_fitted, validate_data

ORDINARY = 0.975  # share of a normal distribution within the robust distance of ordinary rows


class TrimmedOutlierDetector(OutlierMixin, Trimmed):  # type: ignore[misc]
    """Detect rows that do not fit the regression of the last column on the others.

    The last column of ``X`` is regressed on the others: with two columns they are x and y. What
    makes a row an outlier is that it does not go with the relation of the other rows, not that it
    lies far away.

    Parameters
    ----------
    objective : str
        ``lts``, ``r2``, ``r``, ``cov``, ``dv``, ``tv`` or ``mcd``; ``lts`` or ``r2`` for more than
        two columns.
    contamination : "auto" or float in (0, 0.5]
        A share: that many rows are outliers, as with ``drop``. ``"auto"`` looks for the rows that
        are far off, however many: for ``lts`` those more than 2.24 scales from the line or plane
        of the efficient fit (:class:`TrimmedRegressor`), for ``mcd`` those with a squared robust
        distance above the 97.5% point of chi-square; of clean normal rows about 2.5% in both
        cases. Other objectives have no such distance and take a share, ``keep`` or ``drop``.
    keep, drop : int or float, optional
        Instead, rows to keep or to call outliers: a number, or a share in (0, 1).
    method, tol, time_limit, n_jobs, random_state, verbose :
        As in :class:`TrimmedRegressor`.

    Attributes
    ----------
    inlier_mask_ : True for the rows that are no outliers.
    coef_, intercept_ : the line or plane of those rows.
    scale_ : with ``lts`` and ``"auto"``, the standard deviation of the errors.
    scatter_ : for ``mcd`` with ``"auto"``, the robust covariance.
    score_, bound_, gap_, status_, message_ : as in :class:`TrimmedRegressor`.
    conic_ : Conic or None
        Of two columns and a number of outliers, the boundary between them and the rest.
    offset_ : float
        ``decision_function`` is ``score_samples`` less this.
    exceptions_ : array of rows
        Where no surface separates, the outliers that are no farther from the line or plane than
        some ordinary row: they stay outliers.

    Notes
    -----
    Where the number of outliers is given, new rows of two columns are classified by the conic: on
    the side of the rows kept they are ordinary; with more columns by the quadric of the first-order
    gain (what a row would add to the objective), where it separates the rows kept from
    the rest, as it nearly always does. Where no such surface does, by their distance from the line
    or plane, upright (or from the one x of the points kept): farther than every row kept is an
    outlier. The rows it was fitted to are judged as they were, so that ``predict`` gives them what
    ``fit_predict`` did; only where some of several identical rows were kept and others dropped are
    all of them ordinary. ``mcd`` with ``"auto"`` judges by the robust distance.

    Examples
    --------
    >>> from quadsweep.sklearn import TrimmedOutlierDetector
    >>> points = [[1, 1], [2, 2.1], [3, 9], [4, 4], [5, 5.1], [6, 5.9], [7, 7]]
    >>> TrimmedOutlierDetector().fit_predict(points)
    array([ 1,  1, -1,  1,  1,  1,  1])
    """

    _parameter_constraints: dict[str, list[Any]] = CONSTRAINTS | {
        "contamination": [Interval(numbers.Real, 0, 0.5, closed="right"), StrOptions({"auto"})]
    }

    def __init__(
        self,
        objective: str = "lts",
        *,
        contamination: float | str = "auto",
        keep: int | float | None = None,
        drop: int | float | None = None,
        method: str = "auto",
        tol: float = 1e-9,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.objective = objective
        self.contamination = contamination
        self.keep = keep
        self.drop = drop
        self.method = method
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> TrimmedOutlierDetector:
        """Choose the rows; ignores ``y``."""
        if y is not None:
            warnings.warn(
                "y is not used: the last column of X is regressed on the others; give "
                "numpy.column_stack([X, y]) to look for outliers of y given X",
                UserWarning,
                stacklevel=3,
            )
        X = validate_data(
            self, as_missing(X), dtype=np.float64, ensure_min_samples=3, ensure_min_features=2
        )
        keep, drop = self._rows(*X.shape)
        result = self._search(X[:, :-1], X[:, -1], keep, drop)
        self.scatter_, self.conic_ = None, None
        self._gain: tuple[float, float, float] | None = None
        self.exceptions_ = np.empty((0, X.shape[1]))
        self._one_x = float(X[self.inlier_mask_, 0].mean())
        if self.objective == "mcd" and self._finds_their_number():
            self.scatter_ = ExactMinCovDet().weigh(X, self.inlier_mask_)
            self.offset_ = -float(chi2.ppf(ORDINARY, 2))
            self.conic_ = result.conic
        elif self._finds_their_number():
            self._judge_by_distance(X, result)
        else:
            self._judge_by_surface(X, result)
        return self

    def _finds_their_number(self) -> bool:
        return self.contamination == "auto" and self.keep is None and self.drop is None

    def _rows(self, n: int, columns: int) -> tuple[Any, Any]:
        """Return how many rows to keep and to drop in the search; one of them is None."""
        share = None if isinstance(self.contamination, str) else float(self.contamination)
        if sum(v is not None for v in (self.keep, self.drop, share)) > 1:
            raise ValueError("give one of contamination, keep and drop")
        if not self._finds_their_number():
            return self.keep, self.drop if share is None else max(1, round(share * n))
        if self.objective not in ("lts", "mcd"):
            raise ValueError(
                f"contamination='auto' is for objective 'lts' or 'mcd'; for {self.objective!r} "
                "give the share of outliers, keep or drop"
            )
        return default_rows(n, columns - 1), None

    def _judge_by_distance(self, X: Floats, result: Result) -> None:
        """Judge rows by their residuals from the efficient fit, in units of its scale."""
        found = self._make_efficient(X[:, :-1], X[:, -1], result)
        distance = -self._worth(X)
        if found.scale > 0:
            self.offset_ = -CUT_OFF * found.scale
        else:
            self.offset_ = -float(distance[found.inliers].max())
        self.inlier_mask_ = distance <= -self.offset_

    def _judge_by_surface(self, X: Floats, result: Result) -> None:
        kept = self.inlier_mask_
        self.conic_ = result.conic
        self._gain = _gain(X, result) if X.shape[1] > 2 else None
        worth = self._worth(X)
        self.offset_ = 0.0 if self.conic_ is not None else float(worth[kept].min())
        if self._gain is not None and not kept.all():
            self.offset_ = float(worth[kept].min() + worth[~kept].max()) / 2
        near = X[~kept & (worth >= self.offset_)]
        self.exceptions_ = np.unique(near[~_among(near, X[kept])], axis=0)

    def fit_predict(self, X: Any, y: Any = None) -> Ints:
        """Return +1 for ordinary rows and -1 for outliers; ignores ``y``."""
        self.fit(X, y)
        return self.predict(X) if self.scatter_ is not None else np.where(self.inlier_mask_, 1, -1)

    def score_samples(self, X: Any) -> Floats:
        """Larger is more ordinary: minus the distance, or the conic's or the gain's value.

        Minus the squared robust distance for ``mcd``.
        """
        check_is_fitted(self)
        return self._worth(validate_data(self, as_missing(X), dtype=np.float64, reset=False))

    def decision_function(self, X: Any) -> Floats:
        """Return scores, positive for ordinary rows and negative for outliers."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> Ints:
        """Return +1 for ordinary rows and -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _worth(self, X: Floats) -> Floats:
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


def _among(points: Floats, others: Floats) -> Mask:
    """Mark the points that are identical to one of the others."""
    known = {row.tobytes() for row in others + 0.0}
    return np.array([row.tobytes() in known for row in points + 0.0], dtype=bool)


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

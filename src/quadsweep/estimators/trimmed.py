"""A regressor for scikit-learn that trims, and what it shares with the outlier detector."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.estimators.efficient import Estimate, estimate
from quadsweep.extras import needed
from quadsweep.inputs.validation import seconds, unmasked
from quadsweep.least_squares import Plane, fit
from quadsweep.objectives import OBJECTIVES
from quadsweep.results.result import Result
from quadsweep.solving.methods.problem import CHOICES
from quadsweep.solving.question import pose

with needed("quadsweep.sklearn"):
    from scipy.stats import norm
    from sklearn.base import BaseEstimator, RegressorMixin, _fit_context, clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

WORK = 1e8  # rows times boxes of a fit without a time limit: a second or two
SEARCHED = 5  # features that boxes are tried for
SEARCH: dict[str, list[Any]] = {  # parameters of the search, of all estimators of this package
    "tol": [Interval(numbers.Real, 0, 1, closed="left")],
    "time_limit": [Interval(numbers.Real, 0, None, closed="left"), None],
    "n_jobs": [numbers.Integral, None],
    "verbose": ["verbose"],
}
CONSTRAINTS: dict[str, list[Any]] = SEARCH | {
    "objective": [StrOptions({name for name in OBJECTIVES if name != "var"})],
    "keep": [
        Interval(numbers.Integral, 1, None, closed="left"),
        Interval(numbers.Real, 0, 1, closed="right"),
        None,
    ],
    "drop": [
        Interval(numbers.Integral, 0, None, closed="left"),
        Interval(numbers.Real, 0, 1, closed="left"),
        None,
    ],
    "method": [StrOptions(set(CHOICES))],
    "random_state": [Interval(numbers.Integral, 0, None, closed="left"), None],
}
_OF_ONE_FIT = (  # attributes that only some fits have
    *("scale_", "weights_", "standard_errors_", "intercept_standard_error_"),
    *("raw_coef_", "raw_intercept_", "raw_inlier_mask_", "estimators_"),
)


def default_rows(n: int, p: int, intercept: bool = True) -> int:
    """Returns how many rows to keep for the highest breakdown point: half, and a few for the fit.

    >>> default_rows(100, 1), default_rows(100, 5)
    (51, 53)
    """
    return min(n, (n + p + intercept + 1) // 2)


def as_missing(values: Any) -> Any:
    """Return masked numbers as NaN, which scikit-learn refuses; other input unchanged."""
    return unmasked(values) if isinstance(values, np.ma.MaskedArray) else values


def warn_unless_proved(result: Result, method: str, time_limit: float | None) -> None:
    """Warn if a requested proof is missing or a time limit changed the fit."""
    stopped = result.status == "time_limit"
    if result.status == "optimal" or not (stopped or method in ("auto", "certified", "exhaustive")):
        return
    proved = f"no choice of rows passes {result.bound:.6g} (gap {result.gap:.3g})"
    trivial = result.bound <= 0 if OBJECTIVES[result.objective].sense < 0 else result.bound >= 1
    if trivial or not np.isfinite(result.bound):
        proved = "nothing is proved about better choices"
    if stopped:
        reason = f"The search stopped at time_limit={time_limit:g}: another run may fit other rows"
        advice = "raise time_limit"
    else:
        reason = "The rows kept are the best of many starts, not proved to be the best there are"
        advice = "a time_limit searches on, method='concentrate' does not warn"
    warnings.warn(
        f"{reason}. Their {result.title} is {result.value:.6g} and {proved}; {advice}.",
        ConvergenceWarning,
        stacklevel=6,
    )


class Trimmed(BaseEstimator):  # type: ignore[misc]
    """The base of both estimators: choose the rows, keep the line and the certificate."""

    _parameter_constraints: dict[str, list[Any]] = CONSTRAINTS

    def _search(
        self, X: Floats, y: Floats, keep: Any, drop: Any, *, intercept: bool = True,
        weights: Floats | None = None,
    ) -> Result:  # fmt: skip
        """Choose the rows and set the attributes of the search."""
        n, p = X.shape
        keep = n if (isinstance(keep, float) and keep == 1) or drop == 0 else keep
        question = pose(
            X, y, objective=self.objective, tol=self.tol, fit_intercept=intercept,
            n_jobs=1 if self.n_jobs is None else self.n_jobs, weights=weights,
            seed=0 if self.random_state is None else self.random_state,
        ).keeping(keep, None if drop == 0 else drop)  # fmt: skip
        method, limit = self.method, {}
        if self.time_limit is not None:
            limit = {"time_limit": seconds(self.time_limit)}
        elif method in ("auto", "certified"):
            limit = {"most_boxes": max(1.0, WORK / n)}
            if method == "auto" and p > SEARCHED and 4 * question.problem.k < 3 * n:
                method = "concentrate"  # no bound is worth its time there
        result = question.answer(method, progress=bool(self.verbose), **limit)
        warn_unless_proved(result, self.method, self.time_limit)
        self._forget()
        self.coef_ = result.coef
        self.intercept_ = result.intercept
        self.inlier_mask_ = result.mask
        self.score_ = result.value
        self.bound_ = result.bound
        self.gap_ = result.gap
        self.status_ = result.status
        self.message_ = result.message
        return result

    def _forget(self) -> None:
        """Remove the attributes of an earlier fit."""
        for name in _OF_ONE_FIT:
            self.__dict__.pop(name, None)

    def _make_efficient(
        self, X: Floats, y: Floats, result: Result, intercept: bool = True,
        weights: Floats | None = None,
    ) -> Estimate:  # fmt: skip
        """Set the attributes of the MM estimate; the search's fit stays as ``raw_...``."""
        start = Plane(result.coef, result.intercept, result.value, 0.0, result.dependent)
        found = estimate(X, y, start, weights, intercept)
        self.raw_coef_, self.raw_intercept_ = self.coef_, self.intercept_
        self.raw_inlier_mask_ = self.inlier_mask_
        self.coef_, self.intercept_ = found.plane.coef, found.plane.intercept
        self.inlier_mask_, self.weights_, self.scale_ = found.inliers, found.weights, found.scale
        return found


class TrimmedRegressor(RegressorMixin, Trimmed):  # type: ignore[misc]
    """Robust regression: least trimmed squares, then an efficient step from there.

    The rows with the least residual sum of squares are found, exactly up to five features where the
    work allows it. From their plane an MM estimate begins (``reweight``): on clean normal data it
    is as precise as least squares up to a few per cent, and up to half of the rows may be anything.

    Parameters
    ----------
    objective : str
        ``lts`` estimates a line. ``r2``, ``r``, ``cov``, ``dv``, ``tv`` and ``mcd`` (one feature;
        ``r2`` any number) are questions about subsets, and their lines are no estimates: the half
        of the rows with the largest R2 lies along a line that is too steep (on clean data with
        slope 1 and as much noise, 1.6).
    keep, drop : int or float, optional
        Rows to keep or to remove: a number, or a share (``drop=0`` and ``keep=1.0`` keep all). By
        default (n + p + 2) // 2 rows are kept, p the number of features (one less without an
        intercept): the choice with the highest breakdown point. For other objectives than ``lts``
        give one of the two: a warning says so.
    method, tol :
        As in :func:`quadsweep.solve`; ``method="concentrate"`` for a fit without a proof.
    time_limit : float or None, default None
        None: the work is limited, not the time, so that the same data and ``random_state`` give the
        same fit on any machine (with ``n_jobs=1``). Seconds: searches on for so long, and warns
        where the limit changed what was fitted.
    n_jobs : int, optional
        Threads; None is one.
    random_state : int, optional
        Seed for methods that draw starting points.
    fit_intercept : bool
        False for a plane through the origin.
    reweight : bool or "auto"
        Whether to follow by the MM estimate. ``"auto"`` does where ``keep`` and ``drop`` are left
        to their default: of ``drop=4`` exactly four rows are the outliers. For ``lts`` alone.
    verbose : int or bool
        Whether the search shows its progress on standard error.

    Attributes
    ----------
    coef_, intercept_ : the line or plane, after the efficient step if there was one.
    inlier_mask_ : True for the rows kept, or within 2.24 scales of the plane after that step.
    scale_ : standard deviation of the errors; like the following after that step only.
    weights_ : of the rows, in [0, 1]; 0 is an outlier that counts for nothing.
    standard_errors_, intercept_standard_error_ :
        Of ``coef_`` and ``intercept_``, whether or not the errors have one size (as HC3).
    raw_coef_, raw_intercept_, raw_inlier_mask_ : before the efficient step.
    score_, bound_, gap_ :
        The objective's value of the rows chosen, what no choice passes, and the distance.
    status_, message_ :
        What is proved. ``optimal``, or ``heuristic`` with a ``ConvergenceWarning`` that gives the
        gap unless ``method="concentrate"`` asked for it: with more than five features, or where the
        work was not enough.
    estimators_ : list
        With several targets, a fitted regressor for each; the other attributes are stacked.

    Notes
    -----
    ``sample_weight`` multiplies the squares of a row, and its part in the efficient step; ``keep``
    and ``drop`` count rows, so a weight of two is not quite a row given twice. Rows of weight zero
    are no rows.

    Examples
    --------
    >>> from quadsweep.sklearn import TrimmedRegressor
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [1.1, 1.9, 9, 4.1, 5, 5.9]
    >>> model = TrimmedRegressor().fit(X, y)
    >>> model.predict([[10]]).round(1), model.inlier_mask_
    (array([9.9]), array([ True,  True, False,  True,  True,  True]))
    """

    _parameter_constraints: dict[str, list[Any]] = CONSTRAINTS | {
        "fit_intercept": ["boolean"],
        "reweight": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        objective: str = "lts",
        *,
        keep: int | float | None = None,
        drop: int | float | None = None,
        method: str = "auto",
        tol: float = 1e-9,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        fit_intercept: bool = True,
        reweight: bool | str = "auto",
        verbose: int | bool = 0,
    ) -> None:
        self.objective = objective
        self.keep = keep
        self.drop = drop
        self.method = method
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.reweight = reweight
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TrimmedRegressor:
        """Choose the rows and fit the line or plane."""
        X, y = validate_data(
            self, as_missing(X), as_missing(y), dtype=np.float64, y_numeric=True,
            multi_output=True, ensure_min_samples=3,
        )  # fmt: skip
        if self.reweight is True and self.objective != "lts":
            raise ValueError(f"reweight=True is for objective='lts'; got {self.objective!r}")
        if self.keep is not None and self.drop is not None:
            raise ValueError("give keep or drop, not both")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        y = np.asarray(y, dtype=np.float64)
        if y.ndim == 2 and y.shape[1] > 1:
            return self._fit_targets(X, y, sample_weight)
        self._fit_rows(X, y.reshape(len(y)), weights)
        if y.ndim == 2:  # a target given as a column is predicted as one
            self.coef_ = self.coef_[None, :]
        return self

    def _fit_targets(self, X: Floats, y: Floats, sample_weight: Any) -> TrimmedRegressor:
        """Fit each target by itself."""
        fits = [clone(self).fit(X, target, sample_weight) for target in y.T]
        names = ["coef_", "intercept_", "inlier_mask_", "score_", "bound_", "gap_"]
        names += [n for n in _OF_ONE_FIT if all(hasattr(fit, n) for fit in fits)]
        for name in names:
            setattr(self, name, np.array([getattr(fit, name) for fit in fits]))
        self.status_ = next((f.status_ for f in fits if f.status_ != "optimal"), "optimal")
        self.message_ = " ".join(f.message_ for f in fits)
        self.estimators_ = fits
        return self

    def _fit_rows(self, X: Floats, y: Floats, weights: Floats | None) -> None:
        """Fit one target; rows of weight zero are left out and do not count as outliers."""
        used = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        if used.sum() < 3:
            raise ValueError(f"three rows need a positive weight; got {int(used.sum())}")
        if weights is not None:
            weights = weights[used]
            if np.ptp(weights) == 0:
                weights = None
        X, y = X[used], y[used]
        by_default = self.keep is None and self.drop is None
        if by_default and self.objective != "lts":
            warnings.warn(
                f"half of the rows are kept, those with the best {self.objective}, whose line does "
                "not estimate that of all: give keep or drop, or use objective='lts'",
                UserWarning,
                stacklevel=5,
            )
        intercept = bool(self.fit_intercept)
        if by_default and len(y) < X.shape[1] + intercept + 1:
            self._fit_through_every_row(X, y, weights, intercept)
            return
        keep = default_rows(X.shape[0], X.shape[1], intercept) if by_default else self.keep
        result = self._search(X, y, keep, self.drop, intercept=intercept, weights=weights)
        if not np.isfinite(result.coef).all():
            raise ValueError("the points kept have one x; no line fits them, keep more")
        if self.objective == "lts" and (by_default if self.reweight == "auto" else self.reweight):
            found = self._make_efficient(X, y, result, intercept, weights)
            errors = np.sqrt(np.diag(found.covariance))
            self.standard_errors_ = errors[:-1]
            self.intercept_standard_error_ = float(errors[-1])
        for name in ("inlier_mask_", "raw_inlier_mask_", "weights_"):
            if not used.all() and hasattr(self, name):
                some = getattr(self, name)
                every = np.zeros(len(used), dtype=some.dtype)
                every[used] = some
                setattr(self, name, every)

    def _fit_through_every_row(
        self, X: Floats, y: Floats, weights: Floats | None, intercept: bool
    ) -> None:
        """Fit least squares if there are too few rows to drop any."""
        plane = fit(X, y, weights, intercept)
        self._forget()
        self.coef_, self.intercept_ = plane.coef, plane.intercept
        self.inlier_mask_ = np.ones(len(y), dtype=bool)
        self.score_ = self.bound_ = plane.rss
        self.gap_, self.status_ = 0.0, "optimal"
        self.message_ = f"All {len(y)} rows are kept: {X.shape[1]} features need as many."

    def confidence_intervals(self, level: float = 0.95) -> Floats:
        """Returns a row for each coefficient: the ends of its interval.

        Examples
        --------
        >>> import numpy as np
        >>> from quadsweep.sklearn import TrimmedRegressor
        >>> x, noise = np.arange(30.0), np.random.default_rng(1).normal(size=30)
        >>> y = np.where(x > 25, 0, 2 * x + noise)
        >>> TrimmedRegressor().fit(x[:, None], y).confidence_intervals().round(2)
        array([[1.9 , 2.02]])
        """
        check_is_fitted(self)
        if not hasattr(self, "standard_errors_"):
            raise ValueError("intervals need objective='lts' and reweight=True")
        if not 0 < level < 1:
            raise ValueError(f"level must be in (0, 1); got {level}")
        reach = float(norm.ppf((1 + level) / 2)) * self.standard_errors_
        return np.stack([self.coef_ - reach, self.coef_ + reach], axis=-1)

    def predict(self, X: Any) -> Floats:
        """Return the fitted values of the line or plane."""
        check_is_fitted(self)
        X = validate_data(self, as_missing(X), dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

"""A regressor for scikit-learn that trims, and what it shares with the outlier detector.

The rows are chosen exactly up to five predictors; with more, by concentration steps from random
starts, and a warning says what is not proved.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.estimators.reweighting import Reweighted, default_rows, reweight
from quadsweep.extras import needed
from quadsweep.inputs.validation import unmasked
from quadsweep.least_squares import Plane
from quadsweep.objectives import OBJECTIVES
from quadsweep.results.result import Result
from quadsweep.solving.methods.choice import CHOICES
from quadsweep.solving.solve import solve

with needed("quadsweep.sklearn"):
    from scipy.stats import t as student
    from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.validation import check_is_fitted, validate_data

PROVING = ("auto", "certified", "exhaustive")  # methods that are asked for a proof
TIME_LIMIT = 5.0  # seconds of a fit unless said otherwise; proofs of 1,000 x 3 take one
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
        Interval(numbers.Real, 0, 1, closed="neither"),
        None,
    ],
    "drop": [
        Interval(numbers.Integral, 0, None, closed="left"),
        Interval(numbers.Real, 0, 1, closed="neither"),
        None,
    ],
    "method": [StrOptions(set(CHOICES))],
    "random_state": [Interval(numbers.Integral, 0, None, closed="left"), None],
}
_REWEIGHTED = (
    *("scale_", "standard_errors_", "intercept_standard_error_"),
    *("raw_coef_", "raw_intercept_", "raw_inlier_mask_", "raw_scale_"),
)


def as_missing(values: Any) -> Any:
    """Masked numbers as NaN, which scikit-learn then refuses; anything else as it is."""
    return unmasked(values) if isinstance(values, np.ma.MaskedArray) else values


def warn_unless_proved(result: Result, method: str) -> None:
    """Warn where a proof was asked for and there is none, or where a limit cut the method off."""
    if result.status == "optimal":
        return
    if method not in PROVING:
        if result.status not in ("heuristic", "best_separable"):
            warnings.warn(
                f"{result.message} method={method!r} had not ended, and its rows may be far from "
                "the best: give a larger time_limit.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return
    proved = f"no choice of rows passes {result.bound:.6g} (gap {result.gap:.3g})"
    trivial = result.bound <= 0 if OBJECTIVES[result.objective].sense < 0 else result.bound >= 1
    if trivial or not np.isfinite(result.bound):
        proved = "nothing is proved about better choices"
    advice = "a larger time_limit may prove it, " if result.status == "time_limit" else ""
    warnings.warn(
        f"{result.message} Its {result.title} is {result.value:.6g} and {proved}; {advice}"
        "method='concentrate' asks for no proof and gives no warning.",
        ConvergenceWarning,
        stacklevel=5,
    )


class Trimmed(BaseEstimator):  # type: ignore[misc]
    """What both estimators do: choose the rows, keep the line and the certificate."""

    _parameter_constraints: dict[str, list[Any]] = CONSTRAINTS

    def _search(self, X: Floats, y: Floats, keep: Any, drop: Any, **more: Any) -> Result:
        result = solve(
            X,
            y,
            keep,
            drop=drop,
            objective=self.objective,
            method=self.method,
            tol=self.tol,
            time_limit=self.time_limit,
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
            seed=0 if self.random_state is None else self.random_state,
            progress=bool(self.verbose),
            **more,
        )
        warn_unless_proved(result, self.method)
        for name in _REWEIGHTED:  # of an earlier fit
            self.__dict__.pop(name, None)
        self.coef_ = result.coef
        self.intercept_ = result.intercept
        self.inlier_mask_ = result.mask
        self.score_ = result.value
        self.bound_ = result.bound
        self.gap_ = result.gap
        self.status_ = result.status
        self.message_ = result.message
        return result

    def _reweighted(self, X: Floats, y: Floats, result: Result, intercept: bool) -> Reweighted:
        """The fit after the reweighting step; the one of the search stays as ``raw_...``."""
        raw = Plane(result.coef, result.intercept, result.value, 0.0, result.dependent)
        found = reweight(X, y, raw, result.k, intercept)
        self.raw_coef_, self.raw_intercept_ = self.coef_, self.intercept_
        self.raw_inlier_mask_, self.raw_scale_ = self.inlier_mask_, found.raw_scale
        self.coef_, self.intercept_ = found.plane.coef, found.plane.intercept
        self.inlier_mask_, self.scale_ = found.inliers, found.scale
        return found


class TrimmedRegressor(RegressorMixin, Trimmed):  # type: ignore[misc]
    """Least trimmed squares: a line or plane with a breakdown point near 50%.

    The rows with the least residual sum of squares are found, exactly up to five features. Then, as
    in ``ltsReg`` of R's robustbase, the scale of the errors is estimated from them and all rows
    within 2.24 of it are fitted again by least squares (``reweight``).

    Parameters
    ----------
    objective : str
        ``lts`` estimates a line. ``r2``, ``r``, ``cov``, ``dv``, ``tv`` and ``mcd`` (one feature;
        ``r2`` any number) are questions about subsets, and their lines are no estimates: the half
        of the rows with the largest R2 lies along a line that is too steep (on clean data with
        slope 1 and as much noise, 1.6).
    keep, drop : int or float, optional
        Rows to keep or to remove: a number, or a share in (0, 1). By default (n + p + 2) // 2 rows
        are kept, p the number of features (one less without an intercept): the choice with the
        highest breakdown point. For other objectives than ``lts`` give one of the two: a warning
        says so.
    method, tol :
        As in :func:`quadsweep.solve`; ``method="concentrate"`` for a fit without a proof, within a
        second or two whatever the number of features.
    time_limit : float or None, default 5
        Seconds for the search; None is none. Where it ends before the proof does, the fit is that
        of the best rows so far and a ``ConvergenceWarning`` says how far the proof has come.
    n_jobs : int, optional
        Threads; None is one.
    random_state : int, optional
        Seed for methods that draw starting points.
    fit_intercept : bool
        False for a plane through the origin.
    reweight : bool or "auto"
        Whether to fit again all rows near the line. ``"auto"`` does where ``keep`` and ``drop`` are
        left to their default: of ``drop=4`` exactly four rows are the outliers. For ``lts`` alone.
    verbose : int or bool
        Whether the search shows its progress on standard error.

    Attributes
    ----------
    coef_, intercept_ : the line or plane, reweighted if it was.
    inlier_mask_ : True for the rows it is fitted to.
    scale_ : standard deviation of the errors, where there was reweighting.
    standard_errors_, intercept_standard_error_ :
        Of ``coef_`` and ``intercept_`` after reweighting, where errors are normal. They allow for
        the choosing of rows; the usual ones of the rows kept would be a fifth too small.
    raw_coef_, raw_intercept_, raw_inlier_mask_, raw_scale_ : before reweighting.
    score_, bound_, gap_ :
        The objective's value of the rows chosen, what no choice passes, and the distance.
    status_, message_ :
        What is proved. ``optimal`` up to five features unless the time was too short; beyond,
        ``optimal`` where the bound is reached or few rows are searched in time, and otherwise
        ``heuristic``, with a ``ConvergenceWarning`` that gives the gap unless
        ``method="concentrate"`` asked for it.

    Notes
    -----
    There is no ``sample_weight``: a trimmed fit counts rows, and a weight of two is not a row given
    twice. :func:`quadsweep.solve` has weighted least squares.

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
        time_limit: float | None = TIME_LIMIT,
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

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> TrimmedRegressor:
        """Choose the rows and fit the line or plane."""
        X, y = validate_data(
            self, as_missing(X), as_missing(y), dtype=np.float64, y_numeric=True,
            ensure_min_samples=3,
        )  # fmt: skip
        y = np.asarray(y, dtype=np.float64)
        if self.reweight is True and self.objective != "lts":
            raise ValueError(f"reweight=True is for objective='lts'; got {self.objective!r}")
        if self.keep is not None and self.drop is not None:
            raise ValueError("give keep or drop, not both")
        by_default = self.keep is None and self.drop is None
        if by_default and self.objective != "lts":
            warnings.warn(
                f"half of the rows are kept, those with the best {self.objective}, whose line does "
                "not estimate that of all: give keep or drop, or use objective='lts'",
                UserWarning,
                stacklevel=3,
            )
        intercept = bool(self.fit_intercept)
        keep = default_rows(X.shape[0], X.shape[1], intercept) if by_default else self.keep
        result = self._search(X, y, keep, self.drop, fit_intercept=intercept)
        if not np.isfinite(result.coef).all():
            raise ValueError("the points kept have one x; no line fits them, keep more")
        if self.objective == "lts" and (by_default if self.reweight == "auto" else self.reweight):
            found = self._reweighted(X, y, result, intercept)
            self.standard_errors_ = found.standard_errors[:-1]
            self.intercept_standard_error_ = float(found.standard_errors[-1])
        return self

    def confidence_intervals(self, level: float = 0.95) -> Floats:
        """A row for each coefficient: the ends of its interval, after a reweighted fit.

        Examples
        --------
        >>> import numpy as np
        >>> from quadsweep.sklearn import TrimmedRegressor
        >>> x, noise = np.arange(30.0), np.random.default_rng(1).normal(size=30)
        >>> y = np.where(x > 25, 0, 2 * x + noise)
        >>> TrimmedRegressor().fit(x[:, None], y).confidence_intervals().round(2)
        array([[1.89, 2.02]])
        """
        check_is_fitted(self)
        if not hasattr(self, "standard_errors_"):
            raise ValueError("intervals are of a reweighted fit: objective='lts', reweight=True")
        if not 0 < level < 1:
            raise ValueError(f"level must be in (0, 1); got {level}")
        freedom = int(self.inlier_mask_.sum()) - len(self.coef_) - bool(self.fit_intercept)
        reach = float(student.ppf((1 + level) / 2, max(freedom, 1))) * self.standard_errors_
        return np.column_stack([self.coef_ - reach, self.coef_ + reach])

    def predict(self, X: Any) -> Floats:
        """Heights of the line or plane."""
        check_is_fitted(self)
        X = validate_data(self, as_missing(X), dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

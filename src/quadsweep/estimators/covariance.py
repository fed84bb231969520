"""A robust covariance for scikit-learn: the minimum covariance determinant, exact in two columns.

The support, which scikit-learn's ``MinCovDet`` searches from random starts, is computed here with a
proof. Consistency factor, reweighting and distances are scikit-learn's own, for comparison.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.estimators.trimmed import SEARCH, warn_unless_proved
from quadsweep.extras import needed
from quadsweep.inputs.validation import unmasked
from quadsweep.least_squares import fit
from quadsweep.results.result import Result
from quadsweep.solving.solve import solve

with needed("quadsweep.sklearn"):
    from scipy import linalg
    from sklearn.base import _fit_context
    from sklearn.covariance import MinCovDet, fast_mcd
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import validate_data

EXACT = 2.0**-100  # of a column's sum of squares: what its line leaves is the rounding of the data
ON_THE_LINE = 1e-12  # of the largest coordinate: a distance that is the rounding of the data


class _Ellipse:
    """The covariance of some rows of two columns as a regression of one on the other.

    With a the variance of the column that varies more, and e and r the residuals of the other and
    their mean square, the determinant is a r and a squared distance u^2 / a + e^2 / r: no digits
    cancel, however close to a line the rows lie.
    """

    def __init__(
        self, rows: Floats, assume_centered: bool, covariance: Floats | None = None
    ) -> None:
        self._centre = np.zeros(2) if assume_centered else rows.mean(axis=0)
        self._first = int(np.argmax(((rows - self._centre) ** 2).sum(axis=0)))
        self._other = 1 - self._first
        x, y = rows[:, [self._first]], rows[:, self._other]
        self._plane = fit(x, y, intercept=not assume_centered)
        self._a = float(((x - self._centre[self._first]) ** 2).mean())
        self._rest = self._plane.rss / len(rows)
        self.determinant = self._a * self._rest
        self.on_a_line = not self._plane.rss > EXACT * self._plane.tss
        # A covariance that was multiplied by a factor for consistency makes distances shorter.
        i = self._first
        self._factor = 1.0 if covariance is None else float(covariance[i, i]) / self._a

    def distances(self, X: Floats) -> Floats:
        """Return squared Mahalanobis distances."""
        u = X[:, self._first] - self._centre[self._first]
        e = self._plane.residuals(X[:, [self._first]], X[:, self._other])
        return np.asarray((u * u / self._a + e * e / self._rest) / self._factor)


class ExactMinCovDet(MinCovDet):  # type: ignore[misc]
    """Minimum covariance determinant: exact for one or two columns.

    A drop-in for :class:`sklearn.covariance.MinCovDet`, whose parameters and attributes it has.
    With one or two columns the raw estimate is the true optimum. With more it is scikit-learn's
    own, from random starts: ``status_`` is ``heuristic`` and a ``ConvergenceWarning`` says so.

    Parameters
    ----------
    store_precision, assume_centered, support_fraction, random_state :
        As in ``MinCovDet``. By default ceil((n + p + 1) / 2) rows are the support.
    tol, time_limit, n_jobs, verbose :
        As in :class:`TrimmedRegressor`.

    Attributes
    ----------
    raw_location_, raw_covariance_, raw_support_ :
        Of the rows with the least determinant.
    location_, covariance_, precision_, support_, dist_ :
        After the consistency factor and reweighting.
    determinant_, bound_ : float
        Of the raw covariance, and what no support of as many rows is below; ``bound_`` is NaN where
        nothing is proved.
    status_ : str
        ``optimal``, ``heuristic``, ``time_limit``.

    Notes
    -----
    Where the support lies on a line, ``raw_covariance_`` is singular, the distance of every row off
    the line is infinite, and the reweighted estimate is that of the rows on it, without a factor.

    Examples
    --------
    >>> from quadsweep.sklearn import ExactMinCovDet
    >>> points = [[0, 0], [1, 1], [2, 1], [1, 2], [2, 3], [3, 2], [30, -30], [31, -30]]
    >>> model = ExactMinCovDet(support_fraction=0.75).fit(points)
    >>> model.raw_support_
    array([ True,  True,  True,  True,  True,  True, False, False])
    >>> model.raw_location_, model.status_
    (array([1.5, 1.5]), 'optimal')
    """

    _parameter_constraints: dict[str, list[Any]] = MinCovDet._parameter_constraints | SEARCH

    def __init__(
        self,
        *,
        store_precision: bool = True,
        assume_centered: bool = False,
        support_fraction: float | None = None,
        random_state: Any = None,
        tol: float = 1e-9,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            store_precision=store_precision, assume_centered=assume_centered,
            support_fraction=support_fraction, random_state=random_state,
        )  # fmt: skip
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> ExactMinCovDet:
        """Find the support, then the covariance of the bulk."""
        X = unmasked(X) if isinstance(X, np.ma.MaskedArray) else X
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=3)
        self.bound_ = math.nan
        self.status_ = "heuristic"
        if X.shape[1] > 2:
            warnings.warn(
                f"with {X.shape[1]} columns the support is that of scikit-learn's MinCovDet, from "
                "random starts; it is exact for one or two columns",
                ConvergenceWarning,
                stacklevel=3,
            )
            return self.weigh(X, self._concentrated(X))
        result = self._exact(X)
        self.bound_, self.status_ = result.bound, result.status
        self.weigh(X, np.asarray(result.mask))
        if not self.assume_centered:
            self.determinant_ = result.value
        return self

    def weigh(self, X: Floats, support: Mask) -> ExactMinCovDet:
        """Set the attributes that follow from the support."""
        raw = self._nonrobust_covariance(X[support], assume_centered=self.assume_centered)
        centre = np.zeros(X.shape[1]) if self.assume_centered else X[support].mean(axis=0)
        self.raw_location_, self.raw_covariance_, self.raw_support_ = centre, raw, support
        self.location_, self.support_ = centre, support
        if X.shape[1] == 2:
            return self._weigh_two(X)
        self.determinant_ = float(np.linalg.det(raw))
        centred = X - centre
        self.dist_ = ((centred @ linalg.pinvh(raw)) * centred).sum(axis=1)
        self.correct_covariance(X)
        self.reweight_covariance(X)
        return self

    def _weigh_two(self, X: Floats) -> ExactMinCovDet:
        self._ellipse = _Ellipse(X[self.raw_support_], self.assume_centered)
        self.determinant_ = self._ellipse.determinant
        if self._ellipse.on_a_line:
            return self._on_the_line(X)
        self.dist_ = self._ellipse.distances(X)
        self.correct_covariance(X)
        self.reweight_covariance(X)
        rows = X[self.support_]
        self._ellipse = _Ellipse(rows, self.assume_centered, self.covariance_)
        self.dist_ = self.distances(X)
        return self

    def _rows(self, n: int, p: int) -> int:
        if self.support_fraction is None:
            return min(n, math.ceil(0.5 * (n + p + 1)))
        return int(self.support_fraction * n)

    def _exact(self, X: Floats) -> Result:
        n, p = X.shape
        objective = "mcd" if p == 2 else "var"
        second = X[:, 1] if p == 2 else np.arange(n, dtype=np.float64)
        result = solve(
            X[:, 0], second, self._rows(n, p), objective=objective, tol=self.tol,
            time_limit=self.time_limit, n_jobs=1 if self.n_jobs is None else self.n_jobs,
            progress=bool(self.verbose),
        )  # fmt: skip
        warn_unless_proved(result, "auto", self.time_limit)
        return result

    def _concentrated(self, X: Floats) -> Mask:
        _, _, support, _ = fast_mcd(
            X,
            support_fraction=self.support_fraction,
            cov_computation_method=self._nonrobust_covariance,
            random_state=self.random_state,
        )
        return np.asarray(support, dtype=bool)

    def _on_the_line(self, X: Floats) -> ExactMinCovDet:
        """Set the distances of an exact fit: 0 on the line, infinite elsewhere."""
        self._set_covariance(self.raw_covariance_)
        self.support_ = np.isfinite(self.distances(X))
        rows = X[self.support_]
        self.location_ = self.raw_location_ if self.assume_centered else rows.mean(axis=0)
        spread = self._nonrobust_covariance(rows, assume_centered=self.assume_centered)
        self._set_covariance(spread)
        self.dist_ = self.distances(X)
        return self

    def distances(self, X: Floats) -> Floats:
        """Return squared robust distances; infinite off the line of an exact fit."""
        if X.shape[1] != 2:
            return np.asarray(self.mahalanobis(X))
        if not self._ellipse.on_a_line:
            return self._ellipse.distances(X)
        values, vectors = np.linalg.eigh(self.covariance_)
        centred = X - self.location_
        along, across = centred @ vectors[:, 1], centred @ vectors[:, 0]
        reach = np.abs(X).max() + np.abs(centred).max()
        square = along**2 / values[1] if values[1] > 0 else np.zeros(len(X))
        return np.where(np.abs(across) <= ON_THE_LINE * reach, square, np.inf)

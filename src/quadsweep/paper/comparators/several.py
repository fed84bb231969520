"""What others do with several predictors, each a function of a table, y and a size.

=============  ====================================================
name           idea
=============  ====================================================
lts            k rows with the least residual sum of squares
ransac         most rows near a plane through a random sample
huber          residuals beyond a threshold count less
theil_sen      median of the planes through small random samples
least_squares  all rows
=============  ====================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.least_squares import fit

_TRIALS = 100


@dataclass(frozen=True, eq=False)
class PlaneEstimate:
    """A plane, and the rows a method relies on where it names them."""

    coef: Floats
    intercept: float
    subset: Mask | None = None

    def kept(self, X: Floats, y: Floats, k: int) -> Mask:
        """The method's own rows where they are k, otherwise the k nearest to its plane."""
        if self.subset is not None and int(self.subset.sum()) == k:
            return self.subset
        kept = np.zeros(len(y), dtype=bool)
        distance = np.abs(y - X @ self.coef - self.intercept)
        kept[np.argsort(distance, kind="stable")[:k]] = True
        return kept


PlaneComparator = Callable[[Floats, Floats, int, int], PlaneEstimate]


def least_squares(X: Floats, y: Floats, k: int, seed: int) -> PlaneEstimate:
    """All rows."""
    plane = fit(X, y)
    return PlaneEstimate(plane.coef, plane.intercept)


def lts(X: Floats, y: Floats, k: int, seed: int) -> PlaneEstimate:
    """Least trimmed squares, as :func:`quadsweep.solve` finds it."""
    from quadsweep.solving.solve import solve

    result = solve(X, y, k, objective="lts", seed=seed, n_jobs=1)
    return PlaneEstimate(result.coef, result.intercept, result.mask)


def ransac(X: Floats, y: Floats, k: int, seed: int) -> PlaneEstimate:
    """Random sample consensus of scikit-learn with its own defaults, 100 trials."""
    from sklearn.linear_model import LinearRegression, RANSACRegressor

    model = RANSACRegressor(LinearRegression(), max_trials=_TRIALS, random_state=seed % 2**32)
    model.fit(X, y)
    plane = model.estimator_
    kept = np.asarray(model.inlier_mask_, dtype=bool)
    return PlaneEstimate(np.asarray(plane.coef_), float(plane.intercept_), kept)


def huber(X: Floats, y: Floats, k: int, seed: int) -> PlaneEstimate:
    """Huber's regression of scikit-learn, without its penalty."""
    from sklearn.linear_model import HuberRegressor

    scale = X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that its steps were many is not our affair
        model = HuberRegressor(alpha=0.0, max_iter=1000).fit(X / scale, y)
    return PlaneEstimate(np.asarray(model.coef_) / scale, float(model.intercept_))


def theil_sen(X: Floats, y: Floats, k: int, seed: int) -> PlaneEstimate:
    """Theil-Sen of scikit-learn: the spatial median of planes through small samples."""
    from sklearn.linear_model import TheilSenRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TheilSenRegressor(random_state=seed % 2**32).fit(X, y)
    return PlaneEstimate(np.asarray(model.coef_), float(model.intercept_))


PLANES: dict[str, PlaneComparator] = {
    f.__name__: f for f in (lts, ransac, huber, theil_sen, least_squares)
}

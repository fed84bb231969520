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
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.least_squares import fit
from quadsweep.paper.comparators.estimates import Comparator, Estimate

_TRIALS = 100


def least_squares(X: Floats, y: Floats, k: int, seed: int) -> Estimate:
    """All rows."""
    plane = fit(X, y)
    return _plane(plane.coef, plane.intercept)


def lts(X: Floats, y: Floats, k: int, seed: int) -> Estimate:
    """Least trimmed squares, as :func:`quadsweep.solve` finds it."""
    from quadsweep.solving.solve import solve

    result = solve(X, y, k, objective="lts", seed=seed, n_jobs=1)
    return _plane(result.coef, result.intercept, result.mask)


def ransac(X: Floats, y: Floats, k: int, seed: int) -> Estimate:
    """Random sample consensus of scikit-learn with its own defaults, 100 trials."""
    from sklearn.linear_model import LinearRegression, RANSACRegressor

    model = RANSACRegressor(LinearRegression(), max_trials=_TRIALS, random_state=seed % 2**32)
    model.fit(X, y)
    plane = model.estimator_
    kept = np.asarray(model.inlier_mask_, dtype=bool)
    return _plane(plane.coef_, plane.intercept_, kept)


def huber(X: Floats, y: Floats, k: int, seed: int) -> Estimate:
    """Huber's regression of scikit-learn, without its penalty."""
    from sklearn.linear_model import HuberRegressor

    scale = X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it took many steps
        model = HuberRegressor(alpha=0.0, max_iter=1000).fit(X / scale, y)
    return _plane(model.coef_ / scale, model.intercept_)


def theil_sen(X: Floats, y: Floats, k: int, seed: int) -> Estimate:
    """Theil-Sen of scikit-learn: the spatial median of planes through small samples."""
    from sklearn.linear_model import TheilSenRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TheilSenRegressor(random_state=seed % 2**32).fit(X, y)
    return _plane(model.coef_, model.intercept_)


def _plane(coef: Any, intercept: Any, subset: Mask | None = None) -> Estimate:
    return Estimate(subset, intercept=float(intercept), coef=np.asarray(coef))


PLANES: dict[str, Comparator] = {
    f.__name__: f for f in (lts, ransac, huber, theil_sen, least_squares)
}

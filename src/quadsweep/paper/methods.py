"""The methods a trimmed correlation is compared with, each a function of columns and a size.

They answer different questions, so each fills in what it has: a subset, a line, a correlation.

=================  ==================================================  ======  ====  ===========
name               idea                                                subset  line  correlation
=================  ==================================================  ======  ====  ===========
anneal_published   simanneal from 1e5 to 1: a random walk on R2        yes     yes   yes
anneal_fair        the same steps from 1 to 1e-4                       yes     yes   yes
lts                k points with the least residual sum of squares     yes     yes   yes
ransac             most points near a line through a random sample     yes     yes   yes
mcd                the least covariance determinant found at random    yes     yes   yes
theil_sen          median of the lines through pairs of points                 yes
pearson            all points                                                  yes   yes
spearman           ranks                                                             yes
kendall            pairs in the same order                                           yes
quadrant           signs about the medians                                           yes
biweight           weights that fade with distance from the medians                  yes
=================  ==================================================  ======  ====  ===========
"""

from __future__ import annotations

import math
import random
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.objectives import OBJECTIVES, centred_sums

ANNEALING_STEPS = 10_000
RANSAC_TRIALS = 100


@dataclass(frozen=True, eq=False)
class LineEstimate:
    """What a method has to say; None where it says nothing.

    Attributes
    ----------
    subset : boolean array or None
        The points the method relies on, not always k of them.
    slope, intercept : float or None
    correlation : float or None

    Examples
    --------
    >>> import numpy as np
    >>> LineEstimate(slope=1.0, intercept=0.0).kept(np.array([0.0, 1, 2]), np.array([0.0, 5, 2]), 2)
    array([ True, False,  True])
    """

    subset: Mask | None = None
    slope: float | None = None
    intercept: float | None = None
    correlation: float | None = None

    def residuals(self, x: Floats, y: Floats) -> Floats | None:
        """What the method's line leaves over; None where it has none."""
        if self.slope is None or self.intercept is None:
            return None
        return np.asarray(y - self.slope * x - self.intercept)

    def nearest(self, x: Floats, y: Floats, k: int) -> Mask | None:
        """The k points nearest to the line."""
        left = self.residuals(x, y)
        if left is None:
            return None
        subset = np.zeros(len(y), dtype=bool)
        subset[np.argsort(np.abs(left), kind="stable")[:k]] = True
        return subset

    def kept(self, x: Floats, y: Floats, k: int) -> Mask | None:
        """The k points the method would keep: its own where it names as many, or the nearest."""
        own = self.subset is not None and int(self.subset.sum()) == k
        return self.subset if own else self.nearest(x, y, k)


Comparator = Callable[..., LineEstimate]


def of_subset(x: Floats, y: Floats, subset: Mask) -> LineEstimate:
    """Least squares line and Pearson correlation of some of the points."""
    a, b, c = centred_sums(x[subset], y[subset])
    if not a > 0:
        return LineEstimate(subset)
    slope = c / a
    intercept = float(y[subset].mean() - slope * x[subset].mean())
    r = c / math.sqrt(a) / math.sqrt(b) if b > 0 else None
    return LineEstimate(subset, slope, intercept, r)


# simanneal draws from the global generator of `random`, so one annealing at a time may own it.
_GLOBAL_GENERATOR = threading.Lock()


def _annealed(
    hottest: float, coldest: float, x: Floats, y: Floats, k: int, *,
    seed: int = 0, steps: int = ANNEALING_STEPS,
) -> LineEstimate:  # fmt: skip
    """The best subset of a walk that cools between two temperatures.

    R2 lies in [0, 1]. From 1e5 to 1, the paper's, at least a third of the worsening steps are
    taken, and mostly all: nearly a random walk, which succeeds as often as so many draws.
    """
    annealer = _annealer_class()(x, y, k, hottest, coldest, steps)
    with _GLOBAL_GENERATOR:
        before = random.getstate()
        try:
            random.seed(seed)
            annealer.shuffle()
            state, _ = annealer.anneal()
        finally:
            random.setstate(before)
    subset = np.zeros(len(x), dtype=bool)
    subset[state[:k]] = True
    return of_subset(x, y, subset)


def _annealer_class() -> Any:
    from simanneal import Annealer

    class SubsetAnnealer(Annealer):  # type: ignore[misc]
        """A state is a list: an order of the points, kept ones first, then the kept's five sums."""

        copy_strategy = "slice"
        updates = 0

        def __init__(
            self, x: Floats, y: Floats, k: int, hottest: float, coldest: float, steps: int
        ) -> None:
            # Not the parent's: it takes Ctrl-C for itself and fails outside the main thread.
            self.u = ((x - x.mean()) / (x.std() or 1.0)).tolist()
            self.w = ((y - y.mean()) / (y.std() or 1.0)).tolist()
            self.k, self.n = k, len(x)
            self.Tmax, self.Tmin, self.steps = hottest, coldest, steps

        def shuffle(self) -> None:
            order = random.sample(range(self.n), self.n)
            kept = [(self.u[i], self.w[i]) for i in order[: self.k]]
            sums = [
                sum(column)
                for column in zip(*((u, w, u * u, u * w, w * w) for u, w in kept), strict=True)
            ]
            self.state = order + sums

        def move(self) -> None:
            """Swap a kept point for another one."""
            if self.k == self.n:
                return
            state, n = self.state, self.n
            p = int(random.random() * self.k)
            q = self.k + int(random.random() * (n - self.k))
            i, j = state[p], state[q]
            state[p], state[q] = j, i
            ui, wi, uj, wj = self.u[i], self.w[i], self.u[j], self.w[j]
            state[n] += uj - ui
            state[n + 1] += wj - wi
            state[n + 2] += uj * uj - ui * ui
            state[n + 3] += uj * wj - ui * wi
            state[n + 4] += wj * wj - wi * wi

        def energy(self) -> float:
            su, sw, suu, suw, sww = self.state[self.n :]
            a, b = suu - su * su / self.k, sww - sw * sw / self.k
            c = suw - su * sw / self.k
            return -c * c / (a * b) if a > 1e-12 and b > 1e-12 else 0.0

    return SubsetAnnealer


def lts(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """The k points with the least residual sum of squares, exactly."""
    from quadsweep.solving.solve import solve

    return of_subset(x, y, solve(x, y, k, objective="lts", seed=seed, n_jobs=1).mask)


def ransac(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Random sample consensus of scikit-learn: 100 samples of k points, as the paper is read here.

    The line is the final fit and the subset is the consensus; both are None if there is none.
    """
    from sklearn.linear_model import LinearRegression, RANSACRegressor

    model = RANSACRegressor(
        LinearRegression(), min_samples=k, max_trials=RANSAC_TRIALS, random_state=seed % 2**32
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a consensus of one point has no R2
            model.fit(x[:, None], y)
    except ValueError:
        return LineEstimate()
    kept = np.asarray(model.inlier_mask_, dtype=bool)
    line = model.estimator_
    correlation = of_subset(x, y, kept).correlation
    return LineEstimate(kept, float(line.coef_[0]), float(line.intercept_), correlation)


def mcd(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Minimum covariance determinant of scikit-learn, with a support of k points.

    The subset and its correlation are those before reweighting, so that k points are compared with
    k points.
    """
    from sklearn.covariance import fast_mcd

    scale = x.std() or 1.0, y.std() or 1.0
    points = np.column_stack([(x - x.mean()) / scale[0], (y - y.mean()) / scale[1]])
    if np.linalg.matrix_rank(points) < 2:
        return LineEstimate()
    share = (k + 0.5) / len(x)  # scikit-learn rounds share * n down
    with warnings.catch_warnings():
        # k points on a line have determinant 0, where scikit-learn's steps divide by it.
        warnings.simplefilter("ignore", RuntimeWarning)
        _, _, support, _ = fast_mcd(
            points, support_fraction=min(share, 1.0), random_state=seed % 2**32
        )
    return of_subset(x, y, np.asarray(support, dtype=bool))


def theil_sen(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Theil-Sen of scikit-learn: the spatial median of lines through pairs of points."""
    from sklearn.linear_model import TheilSenRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it took many steps
        model = TheilSenRegressor(random_state=seed % 2**32).fit(x[:, None], y)
    return LineEstimate(None, float(model.coef_[0]), float(model.intercept_))


def pearson(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Correlation and least squares line of all points, untrimmed."""
    return replace(of_subset(x, y, np.ones(len(x), dtype=bool)), subset=None)


def _correlation(
    measure: Callable[[Floats, Floats], Any], x: Floats, y: Floats, k: int, *, seed: int = 0
) -> LineEstimate:
    """A correlation of all points; none where a column does not vary, or it is not a number."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return LineEstimate()
    value = float(measure(x, y))
    return LineEstimate() if math.isnan(value) else LineEstimate(correlation=value)


def _spearman(x: Floats, y: Floats) -> Any:
    from scipy.stats import spearmanr

    return spearmanr(x, y).statistic


def _kendall(x: Floats, y: Floats) -> Any:
    from scipy.stats import kendalltau

    return kendalltau(x, y).statistic


def _quadrant(x: Floats, y: Floats) -> Any:
    """The mean sign of (x - median)(y - median)."""
    return (np.sign(x - np.median(x)) * np.sign(y - np.median(y))).mean()


def _biweight(x: Floats, y: Floats) -> Any:
    """Weights (1 - u^2)^2 for -1 < u < 1, u = (x - median) / (9 MAD); NaN where a MAD is 0."""
    return _biweight_scores(x) @ _biweight_scores(y)


def _biweight_scores(values: Floats) -> Floats:
    """Weighted deviations from the median, of unit length."""
    deviation = values - np.median(values)
    spread = np.median(np.abs(deviation))
    if spread == 0:
        return np.full(len(values), math.nan)
    u = deviation / (9 * spread)
    scores: Floats = np.where(np.abs(u) < 1, deviation * (1 - u * u) ** 2, 0.0)
    scores /= np.linalg.norm(scores)
    return scores


def r2_of(x: Floats, y: Floats, subset: Mask) -> float:
    """R2 of the least squares line of some of the points, nan where it is undefined."""
    return OBJECTIVES["r2"].value(x[subset], y[subset])


COMPARATORS: dict[str, Comparator] = {
    "anneal_published": partial(_annealed, 1e5, 1.0),
    "anneal_fair": partial(_annealed, 1.0, 1e-4),
    "lts": lts,
    "ransac": ransac,
    "mcd": mcd,
    "theil_sen": theil_sen,
    "pearson": pearson,
    "spearman": partial(_correlation, _spearman),
    "kendall": partial(_correlation, _kendall),
    "quadrant": partial(_correlation, _quadrant),
    "biweight": partial(_correlation, _biweight),
}

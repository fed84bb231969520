"""What the R2 ratio of a line may mean, where the paper leaves it open.

RANSAC and Theil-Sen give a line, not k points, and the paper prints negative or tiny ratios for
them without a formula. A line has an R2 of its own, 1 - RSS / TSS, on any set of points, which is
negative where the line is worse than a constant. The readings differ in the set, in how RANSAC's
"minimum number of k inliers" is set in scikit-learn, and in whether ratios are averaged or means
divided. All are computed from the same fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from quadsweep.arrays import Floats
from quadsweep.paper.methods import LineEstimate, r2_of, ransac, theil_sen

Fit = Callable[[Floats, Floats, int, int], LineEstimate]


def _ransac(**options: Any) -> Fit:
    def fit(x: Floats, y: Floats, k: int, seed: int) -> LineEstimate:
        filled = {name: k if value == "k" else value for name, value in options.items()}
        return ransac(x, y, k, seed=seed, **filled)

    return fit


FITS: dict[str, Fit] = {
    "RANSAC, min_samples=k": _ransac(min_samples="k"),
    "RANSAC, min_samples=2": _ransac(min_samples=2),
    "RANSAC, min_samples=2, stop_n_inliers=k": _ransac(min_samples=2, stop_n_inliers="k"),
    "Theil-Sen": lambda x, y, k, seed: theil_sen(x, y, k, seed=seed),
}


def line_r2(x: Floats, y: Floats, line: LineEstimate) -> float:
    """1 - RSS / TSS of a given line.

    Examples
    --------
    >>> import numpy as np
    >>> line_r2(np.array([0.0, 1, 2]), np.array([0.0, 1, 2]), LineEstimate(None, -1.0, 2.0))
    -3.0
    """
    left = line.residuals(x, y)
    total = float(((y - y.mean()) ** 2).sum())
    return 1 - float((left**2).sum()) / total if left is not None and total > 0 else math.nan


def _all_points(x: Floats, y: Floats, k: int, line: LineEstimate) -> float:
    return line_r2(x, y, line)


def _consensus(x: Floats, y: Floats, k: int, line: LineEstimate) -> float:
    if line.subset is None:
        return math.nan
    return line_r2(x[line.subset], y[line.subset], line)


def _k_nearest(x: Floats, y: Floats, k: int, line: LineEstimate) -> float:
    near = line.nearest(x, y, k)
    return math.nan if near is None else line_r2(x[near], y[near], line)


def _k_nearest_refitted(x: Floats, y: Floats, k: int, line: LineEstimate) -> float:
    near = line.nearest(x, y, k)
    return math.nan if near is None else r2_of(x, y, near)


SETS: dict[str, Callable[[Floats, Floats, int, LineEstimate], float]] = {
    "R2 of the line on all n points": _all_points,
    "R2 of the line on its own inliers": _consensus,
    "R2 of the line on the k points nearest to it": _k_nearest,
    "R2 of those k points, fitted again": _k_nearest_refitted,
}


def readings(x: Floats, y: Floats, k: int, seed: int) -> dict[str, float]:
    """Every set's R2 for every fit, by ``column(fit, set)``."""
    lines = {name: fit(x, y, k, seed) for name, fit in FITS.items()}
    return {
        column(name, which): measure(x, y, k, line)
        for name, line in lines.items()
        for which, measure in SETS.items()
        if applies(name, which)
    }


def column(fit: str, which: str) -> str:
    return f"{fit}: {which}"


def applies(fit: str, which: str) -> bool:
    """Theil-Sen has no inliers of its own."""
    return not (fit == "Theil-Sen" and SETS[which] is _consensus)

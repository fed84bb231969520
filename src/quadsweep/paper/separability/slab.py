"""Approximate separability: the slabs that the paper's conclusion proposes in place of hyperplanes.

A hyperplane with normal w separates up to a slab of width delta if, apart from points in a slab
of that width around it, every inlier lies on one side and every outlier on the other. Width is
measured along w in units of the distance between the two sides' means, so that neither shifting nor
scaling the data changes it. Zero or less is separability.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask

MOST_IN_SLAB = 12  # points of which all parts are scored


def narrowest_slab(lifted: Floats, mask: Mask) -> float:
    """Width of the narrowest slab that holds all points on the wrong side.

    The linear program: least delta with w.v >= b - delta/2 for inliers, w.v <= b + delta/2 for
    outliers, and w.(mean of inliers - mean of outliers) = 1. ``inf`` where the means coincide.

    >>> import numpy as np
    >>> line = np.arange(4.0)[:, None]
    >>> float(narrowest_slab(line, np.array([True, True, False, False])))
    -0.5
    >>> round(float(narrowest_slab(line, np.array([True, False, True, False]))), 12)
    1.0
    """
    spread = lifted.std(axis=0)
    points = (lifted - lifted.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    side = np.where(mask, 1.0, -1.0)
    d = points.shape[1]
    from scipy.optimize import linprog

    found = linprog(
        np.r_[np.zeros(d + 1), 1.0],
        A_ub=np.column_stack([-side[:, None] * points, side, np.full(len(points), -0.5)]),
        b_ub=np.zeros(len(points)),
        A_eq=np.r_[points[mask].mean(axis=0) - points[~mask].mean(axis=0), 0.0, 0.0][None],
        b_eq=[1.0],
        bounds=(None, None),
    )
    return float(found.fun) if found.status == 0 else np.inf


def best_in_slabs(
    lifted: Floats, columns: Floats, k: int, planes: int, width: float, seed: int
) -> tuple[Ints, int]:
    """The subset of highest R2 that some of many random hyperplanes cuts off up to a slab.

    Each hyperplane passes through d random points and is moved to where k points lie above it;
    of the points in the slab around it, up to the 12 nearest, every part is tried. ``columns`` are
    x, y and their products; also returns the number of subsets scored.
    """
    rng = np.random.default_rng(seed)
    n, d = lifted.shape
    homogeneous = np.column_stack([lifted, np.ones(n)])
    best, kept, scored = -np.inf, np.arange(k), 0
    for _ in range(planes):
        through = rng.choice(n, size=d, replace=False)
        heights = homogeneous @ np.linalg.svd(homogeneous[through])[2][-1]
        for sign in (1.0, -1.0):
            order = np.argsort(-sign * heights, kind="stable")
            h = sign * heights[order]
            cut = (h[k - 1] + h[k]) / 2
            reach = width / 2 * (h[:k].mean() - h[k:].mean())
            above = min(int((h[:k] - cut <= reach).sum()), MOST_IN_SLAB // 2)
            below = min(int((cut - h[k:] <= reach).sum()), MOST_IN_SLAB // 2)
            sure, open_ = order[: k - above], order[k - above : k + below]
            parts = np.array(list(combinations(range(above + below), above)), dtype=np.int64)
            sums = columns[:, sure].sum(axis=1)[:, None]
            sums = sums + columns[:, open_][:, parts].sum(axis=2)
            values = r2_of_sums(sums, k)
            scored += len(parts)
            top = int(np.argmax(values))
            if values[top] > best:
                best, kept = float(values[top]), np.r_[sure, open_[parts[top]]]
    return np.sort(kept), scored


def r2_of_sums(sums: Floats, k: int) -> Floats:
    """R2 of k points from sums of x, y, x^2, xy, y^2; -inf where a column does not vary."""
    su, sw, suu, suw, sww = sums
    a, b, c = suu - su * su / k, sww - sw * sw / k, suw - su * sw / k
    product = a * b
    return np.where(product > 0, c * c / np.where(product > 0, product, 1.0), -np.inf)

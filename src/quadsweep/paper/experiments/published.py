"""The naive quadratic sweep to the letter of the paper's pseudocode, for R2 under L5.

It differs from ``quadsweep.naive_sweep`` in two things, and both can miss the best subset: parts P'
of P have 1 to ceil(d/2) = 3 points instead of 0 to d, and the others are sorted in one direction
only, descending, although the sign of the normal, a kernel vector from a singular value
decomposition as in the authors' language, is arbitrary.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from quadsweep import lifts
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.paper.separability.slab import r2_of_sums

DIMENSION = 5
PART_SIZES = (1, 2, 3)


def published_sweep(x: Floats, y: Floats, k: int) -> Mask:
    """The subset that the published algorithm returns, as a mask; empty if it has no candidate.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1, 2, 3, 4, 5, 6, 7]); y = np.array([0.0, 2, 1, 4, 9, 5, 7, 6])
    >>> int(published_sweep(x, y, 5).sum())
    5
    """
    tuples = _tuples(len(x))
    others = _sorted_others(lifts.get("L5")(x, y), tuples)
    u, w = x - x.mean(), y - y.mean()
    single = np.stack([u, w, u * u, u * w, w * w])
    members = single[:, tuples]
    best, subset = -np.inf, np.zeros(len(x), dtype=bool)
    for size in PART_SIZES:
        rest = k - size
        if not 0 < rest <= others.shape[1]:
            continue
        first = single[:, others[:, :rest]].sum(axis=2)
        for part in combinations(range(DIMENSION), size):
            score = r2_of_sums(first + members[:, :, part].sum(axis=2), k)
            top = int(np.argmax(score))
            if score[top] > best:
                best = float(score[top])
                subset = np.zeros(len(x), dtype=bool)
                subset[others[top, :rest]] = True
                subset[tuples[top, list(part)]] = True
    return subset


@lru_cache(maxsize=8)
def _tuples(n: int) -> Ints:
    return np.array(list(combinations(range(n), DIMENSION)))


def _sorted_others(lifted: Floats, tuples: Ints) -> Ints:
    """For each tuple the points outside it, by falling product with the normal of its plane."""
    rows = np.concatenate([lifted[tuples], np.ones((*tuples.shape, 1))], axis=2)
    normals = np.linalg.svd(rows)[2][:, -1, :DIMENSION]
    products = normals @ lifted.T
    np.put_along_axis(products, tuples, -np.inf, axis=1)
    order: Ints = np.argsort(-products, axis=1, kind="stable")
    return order[:, : len(lifted) - DIMENSION]

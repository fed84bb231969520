"""The published sweep against a literal reading of its pseudocode."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from quadsweep.paper.experiments.published import published_sweep
from quadsweep.paper.methods import r2_of

pytestmark = pytest.mark.slow


def literal_sweep(x, y, k):
    """NaiveQuadraticSweep, line by line, with L5, R2 and descending order."""
    L = np.column_stack([x * x, x * y, y * y, x, y])
    n, d = L.shape
    best, best_subset = -np.inf, None
    for P in combinations(range(n), d):
        N = np.linalg.svd(np.column_stack([L[list(P)], np.ones(d)]))[2][-1]
        w = N[:d]
        C = [i for i in range(n) if i not in P]
        pi = sorted(C, key=lambda i: -(L[i] @ w))
        for size in range(1, -(-d // 2) + 1):
            for part in combinations(P, size):
                S = [*part, *pi[: k - size]]
                if len(S) < k:
                    continue
                r = np.corrcoef(x[S], y[S])[0, 1]
                if r * r > best + 1e-12:
                    best, best_subset = r * r, S
    return best, best_subset


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n", "k"), [(8, 4), (9, 5), (7, 5)])
def test_is_the_pseudocode_to_the_letter(seed, n, k):
    rng = np.random.default_rng(seed)
    x, y = rng.random(n), rng.random(n)
    mask = published_sweep(x, y, k)
    assert mask.sum() == k, seed
    best, subset = literal_sweep(x, y, k)
    assert r2_of(x, y, mask) == pytest.approx(best, abs=1e-9), seed
    assert set(np.flatnonzero(mask)) == set(subset), seed


def test_has_no_candidate_where_three_of_a_tuple_and_all_others_are_too_few():
    """With n = 6 and k = 5 at most three of P and the one other make four."""
    rng = np.random.default_rng(0)
    x, y = rng.random(6), rng.random(6)
    assert published_sweep(x, y, 5).sum() == 0

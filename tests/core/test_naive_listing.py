"""The fast listing of the fuzzers against the slow one in fractions, on every family of data."""

from __future__ import annotations

import math
from itertools import combinations

import naive
import naive_controls
import naive_several
import naive_whole
import numpy as np
import pytest
from families_edges import FAMILIES
from families_planted import PLANTED
from naive_listing import SENSE, best_subset, in_question, left_out, members


def slow_best(x, y, k, objective):
    """The best value by naive.py, NaN if there is none."""
    found = naive.exhaustive(x.tolist(), y.tolist(), k, objective)
    if found is None:
        return math.nan
    try:
        return naive.value_of_score(found[0], objective)
    except OverflowError:
        return SENSE[objective] * (math.inf if found[0] > 0 else -math.inf)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_best_value_is_that_of_fractions(family):
    for seed in range(12):
        rng = np.random.default_rng([seed, 3])
        x, y = FAMILIES[family](rng, int(rng.integers(4, 9)))
        objective = tuple(SENSE)[seed % len(SENSE)]
        k = int(rng.integers(naive.MIN_K[objective], len(x) + 1))
        subset, value = best_subset(x, y, k, objective)
        expected = slow_best(x, y, k, objective)
        assert value == expected or (math.isnan(value) and math.isnan(expected)), (seed, objective)
        assert len(subset) == (0 if math.isnan(expected) else k)
        if subset and math.isfinite(value):
            assert naive.value(x.tolist(), y.tolist(), subset, objective) == value


@pytest.mark.parametrize("objective", SENSE)
def test_no_subset_is_passed_over_that_is_as_good_as_the_best(objective):
    """The intervals keep every tie, also where points are listed by what is left out."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 5])
        n, k = ((9, 5), (18, 16), (18, 3))[seed % 3]
        x, y = FAMILIES[("lattice", "last_digit", "duplicated", "far_away")[seed % 4]](rng, n)
        n, k = len(x), min(k, len(x) - 1)
        kept = {tuple(members(n, k, row)) for row in in_question(x, y, k, objective)}
        values = {s: naive.value(x.tolist(), y.tolist(), s, objective)
                  for s in combinations(range(n), k)}  # fmt: skip
        defined = {s: SENSE[objective] * v for s, v in values.items() if not math.isnan(v)}
        best = {s for s, v in defined.items() if v == max(defined.values())}
        assert best <= kept, seed
        assert left_out(n, k) == (n == 18 and k == 16)


def test_intervals_settle_most_subsets_of_ordinary_data():
    x, y = np.random.default_rng(0).normal(size=(2, 14))
    assert all(len(in_question(x, y, 7, objective)) == 1 for objective in SENSE)


@pytest.mark.parametrize("objective", SENSE)
def test_planted_optima_are_optima(objective):
    """Against listing, on samples small enough for it."""
    compared = 0
    for seed in range(400):
        x, y, k, planted = PLANTED["planted"](np.random.default_rng([seed, 7]), objective)
        if math.comb(len(x), k) <= 30_000:
            compared += 1
            _, best = best_subset(x, y, k, objective)
            value = naive.value(x.tolist(), y.tolist(), planted, objective)
            assert value == best, seed
    assert compared >= 5


def test_elimination_in_whole_numbers_is_that_of_fractions():
    for seed in range(60):
        rng = np.random.default_rng([seed, 9])
        table = rng.integers(-3, 4, (9, 5)) / 8.0
        table[:, 2] = table[:, 0] - 2 * table[:, 1] if seed % 3 == 0 else table[:, 2]
        rows = sorted(rng.permutation(9)[: int(rng.integers(2, 10))].tolist())
        weights = rng.choice([0.5, 1.0, 3.0], 9) if seed % 2 else np.ones(9)
        whole = naive_whole.Table(table.T.tolist(), weights.tolist())
        left, scale, rank = naive_whole.eliminated(whole.products(rows), 3)
        slow = naive_several.residual_products(
            table[rows, :3].tolist(), table[rows, 3:].tolist(), weights[rows].tolist()
        )
        unit = naive_controls.Fraction(scale) * whole.weight_unit
        units = whole.units[3:]
        fast = [[left[i][j] / (unit * units[i] * units[j]) for j in range(2)] for i in range(2)]
        assert fast == slow, seed
        assert rank == np.linalg.matrix_rank(table[rows, :3] * weights[rows, None]), seed

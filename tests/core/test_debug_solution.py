"""Builds that guard a known best subset in every box (make guard)."""

from __future__ import annotations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import _core
from quadsweep.objectives import get
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts")

pytestmark = pytest.mark.skipif(
    not hasattr(_core, "set_debug_solution"), reason="needs QUADSWEEP_DEBUG_SOLUTION"
)


@pytest.fixture
def guarded():
    yield _core.set_debug_solution
    _core.set_debug_solution([])


def ask(seed: int, objective: str):
    x, y = np.random.default_rng(seed).normal(size=(2, 14))
    best = qs.solve(x, y, 8, objective=objective, method="exhaustive")
    return best, Problem(x, y, 8, get(objective))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_box_loses_the_best_subset_and_listing_finds_it(guarded, objective):
    for seed in range(20):
        best, problem = ask(seed, objective)
        guarded(best.inliers.tolist())
        found = search(problem, enumerate_up_to=1)
        assert found.inliers.tolist() == best.inliers.tolist(), seed
        guarded([])


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_wrong_bound_is_caught_at_its_box(guarded, objective):
    caught = 0
    for seed in range(20):
        best, problem = ask(seed, objective)
        guarded(best.inliers.tolist(), spoil=1.5)
        try:
            search(problem, enumerate_up_to=1)
        except RuntimeError as lost:
            caught += "the bound of a box loses the known best subset" in str(lost)
        guarded([])
    assert caught > 0

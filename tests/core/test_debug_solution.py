"""Builds that guard a known best subset in every box (make guard)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from core.test_many_controls import instance, least_left, prover
from fuzzing import fuzz_scores

import quadsweep as qs
from quadsweep import _core
from quadsweep.least_squares import fit
from quadsweep.objectives import get
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

pytestmark = pytest.mark.skipif(
    not hasattr(_core, "set_debug_solution"), reason="needs QUADSWEEP_DEBUG_SOLUTION"
)
PLANE = ("r2", "r", "cov", "dv", "tv", "lts", "mcd")
REGRESSION = ("r2 of two", "lts of two", "sign", "above", "below")
REMOVALS = ("scores", "many controls")


class Case(NamedTuple):
    """A question, and the subset (or the units removed) that its search may not lose."""

    solution: list[int]
    ask: Callable[[], Any]


def plane(seed: int, objective: str) -> Case:
    x, y = np.random.default_rng(seed).normal(size=(2, 12 if objective == "mcd" else 14))
    best = qs.solve(x, y, 8, objective=objective, method="exhaustive").inliers.tolist()
    problem = Problem(x, y, 8, get(objective))
    return Case(best, lambda: search(problem, enumerate_up_to=1).inliers.tolist())


def regression(seed: int, question: str) -> Case:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(11, 2)), rng.normal(size=11)
    sets = [list(rows) for rows in itertools.combinations(range(11), 7)]
    limited = {"enumeration_limit": 1, "seed": seed}
    if question.endswith("of two"):
        name = question.split()[0]
        values = [fit(x[rows], y[rows], None, True).value(name) for rows in sets]
        best = (np.argmax if name == "r2" else np.argmin)(values)
        return Case(sets[best], lambda: _core.regression_fit(x, y, 7, objective=name, **limited))
    z = np.column_stack([np.ones(11), x[:, 0]])
    r = []
    for rows in sets:
        u, v = (c[rows] - z[rows] @ np.linalg.lstsq(z[rows], c[rows], rcond=None)[0]
                for c in (x[:, 1], y))  # fmt: skip
        r.append(u @ v / np.sqrt(u @ u * (v @ v)))
    between = max(sum(sorted(r)[-2:]) / 2, 1e-3)  # the two best
    t = {"sign": 0.0, "above": between, "below": -0.3}[question]
    best = sets[int(np.argmax(r))] if max(r) > t else []
    last = np.ascontiguousarray(x[:, 1])
    return Case(best, lambda: _core.regression_partial(last, y, z, 7, t=t, **limited))


def removal(seed: int, kind: str) -> Case:
    if kind == "scores":
        case = fuzz_scores.instance(seed)
        test, worst = fuzz_scores.score_test(case), fuzz_scores.truth(case)[1]
        if test is None or not np.isfinite(worst):
            return Case([], lambda: None)
        past = worst * (1 - (1e-6 if case.gained else -1e-6))
        found = _core.decide_scores(test, case.most, past)["breaking"]
        return Case(sorted(found), lambda: _core.decide_scores(test, case.most, past))
    given = instance(seed)
    made, controls, _, p, q, _ = prover(*given)
    least, gone = least_left(controls, p, q, given[7], given[3], 3)
    solution = sorted(int(i) for i in gone) if least < -1e-3 < 0.01 < p @ q - given[7].sum() else []
    return Case(solution, lambda: made.refute(3, most_nodes=10_000))


def cases(search: str) -> Iterator[Case]:
    draw = plane if search in PLANE else regression if search in REGRESSION else removal
    return (case for seed in range(20) if (case := draw(seed, search)).solution)


@pytest.fixture
def guarded():
    yield _core.set_debug_solution
    _core.set_debug_solution([])


@pytest.mark.parametrize("search", [*PLANE, *REGRESSION, *REMOVALS])
def test_no_box_loses_the_best_subset_and_listing_finds_it(guarded, search):
    for number, case in enumerate(cases(search)):
        guarded(case.solution)
        found = case.ask()
        if search in PLANE:
            assert found == case.solution, number
        elif search in REGRESSION:
            rows = found["inliers"].tolist()
            assert rows == case.solution if "two" in search else len(rows) == 7, number
        guarded([])


@pytest.mark.parametrize("search", [*PLANE, *REGRESSION[:-2], *REMOVALS])  # others: boxes of fits
def test_a_box_that_is_closed_by_mistake_is_caught(guarded, search):
    caught = 0
    for case in cases(search):
        for every in (1, 2, 3):
            guarded(case.solution, spoil=every)
            try:
                case.ask()
            except RuntimeError as lost:
                caught += "the bound of a box loses the known best subset" in str(lost)
            guarded([])
    assert caught > 0

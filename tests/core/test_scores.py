"""The search around scores: never refutes what a removal does, and decides small instances."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fuzzing.fuzz_scores import check, instance, score_test, truth

from quadsweep import _core

SEEDS = range(7_000, 7_080)


def test_small_instances_are_decided_as_enumeration_has_it() -> None:
    said = {seed: check(seed) for seed in SEEDS}
    assert not {seed: what for seed, what in said.items() if what.startswith("wrong")}
    counts = Counter(said.values())
    assert counts["exact"] > 0.75 * (len(SEEDS) - counts["none"]), counts


def hard() -> tuple[_core.ScoreTest, int, float]:
    """An instance and the threshold at its edge."""
    case = instance(7_001)
    test = score_test(case)
    assert test is not None
    return test, case.most, truth(case)[1]


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"memory_limit": 1.0}])
def test_limits_leave_the_question_open(limit: dict[str, float]) -> None:
    test, most, edge = hard()
    found = _core.decide_scores(test, most, edge * (1 - 1e-3), **limit)
    assert not found["complete"]
    assert not found["breaking"]


def test_threads_agree() -> None:
    test, most, edge = hard()
    for threshold in (0.999 * edge, 1.001 * edge):
        one, two = (_core.decide_scores(test, most, threshold, n_jobs=n) for n in (1, 2))
        assert one["complete"] == two["complete"]
        assert bool(one["breaking"]) == bool(two["breaking"])


def test_a_callback_ends_the_search() -> None:
    rng = np.random.default_rng(3)
    n = 2_000
    z = np.linalg.qr(rng.normal(size=(n, 6)))[0]
    columns = np.column_stack([z, rng.normal(size=(n, 2))])
    columns[:, 7] += 0.2 * columns[:, 6]
    columns[:, 6:] -= z @ (z.T @ columns[:, 6:])
    columns[:, 6:] /= np.linalg.norm(columns[:, 6:], axis=0)
    each = list(range(n + 1))
    test = _core.ScoreTest(
        np.ascontiguousarray(columns), np.zeros(n), item_first=each, unit_first=each,
        cluster_first=list(range(0, n + 1, 100)), error=1e-15,
    )  # fmt: skip
    found = _core.decide_scores(test, 60, 2.0, progress=lambda nodes, seconds: False)
    assert not found["complete"]
    assert found["status"] == "interrupted"

"""What norms prove about robust tests, against every refit."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.controls.robust_bound import RobustBound
from quadsweep.auditing.resources import Resources


def regression(seed: int, n: int, q: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = np.column_stack([rng.normal(size=(n, q - 1)), rng.random(n) < 0.4]).astype(float)
    x = rng.normal(size=n) + 0.5 * z[:, 0]
    return x, rng.uniform(2, 12) * x + z @ rng.normal(size=q) + rng.normal(size=n), z


def audited(x: Any, y: Any, z: Any, **asked: Any) -> qs.Audit:
    found = qs.audit(x, y, controls=z, claim="significance", time_limit=0.01, n_jobs=1, **asked)
    assert isinstance(found, qs.Audit)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("how", ["HC0", "HC1", "weights", "cluster", "dummies"])
def test_nothing_that_is_refuted_breaks(how: str) -> None:
    refuted = 0
    for seed in range(20):
        n = 22 if how == "cluster" else 13
        x, y, z = regression(seed, n, 2 if how != "dummies" else 3)
        asked: dict[str, Any] = {"vcov": how}
        if how == "cluster":
            labels = np.arange(n) % 11
            asked = {"vcov": labels, "groups": labels}
        elif how == "weights":
            asked = {"vcov": "HC1", "weights": np.random.default_rng(seed).uniform(0.5, 2, n)}
        elif how == "dummies":
            classes = np.arange(n) % 3
            z = np.column_stack([z, classes == 1, classes == 2]).astype(float)
            asked = {"vcov": "HC1"}
        found = audited(x, y, z, **asked)
        case = next((c for c in found.problems if RobustBound.handles(c)), None)
        if case is None:  # not significant on all rows
            continue
        assert isinstance(case, RobustProblem)
        bound = RobustBound(case, Resources(np.inf))
        for m in (1, 2):
            if bound.refutes(m):
                refuted += 1
                for units in combinations(range(case.moments.design.size), m):
                    assert not case.broken(np.array(units, dtype=np.int64)), (seed, units)
    assert refuted > 3


def test_lower_of_a_robust_test_with_many_controls_is_not_that_of_refitting() -> None:
    x, y, z = regression(0, 400, 12)
    asked: dict[str, Any] = {"claim": "significance", "vcov": "HC1", "max_drop": 11}
    found = qs.audit(x, y, controls=z, **asked, time_limit=20.0, n_jobs=1)
    assert (found.status, found.lower) == ("robust", 12)

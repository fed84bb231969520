"""Time limits of questions about data in parts, with a clock that jumps."""

from __future__ import annotations

import numpy as np
import pytest
from jumping import jumping
from points_in_parts import some_points, written

import quadsweep as qs
from quadsweep.objectives import get
from quadsweep.outofcore.running import Passes
from quadsweep.outofcore.search import Search

pytest.importorskip("pyarrow.parquet")

N = 3000
LIMITS = {"memory_limit": 100e-9 * N, "time_limit": 5, "n_jobs": 1}


@pytest.fixture
def after(monkeypatch):
    """What is begun once the clock has jumped: passes over the data and questions to the engine."""
    begun = []

    def counted(kind, name, jumped):
        usual = getattr(kind, name)

        def counting(self, *given, **more):
            if jumped.over:
                begun.append(name)
            return usual(self, *given, **more)

        monkeypatch.setattr(kind, name, counting)

    def start(looks):
        jumped = jumping(monkeypatch, looks)
        for kind, name in ((Passes, "over"), (Passes, "some"), (Search, "ask")):
            counted(kind, name, jumped)
        return begun

    return start


@pytest.mark.parametrize("looks", [1, 2, 3, 4])
@pytest.mark.parametrize("objective", ["r2", "lts"])
def test_solve_asks_no_more_when_the_clock_has_jumped(tmp_path, after, objective, looks):
    x, y = some_points(1, N)
    file = written(tmp_path / "points.parquet", x, y)
    begun = after(looks)
    found = qs.solve(file, x="a", y="b", drop=300, objective=objective, **LIMITS)
    # the sample and the sums are always read: without them there is no answer
    assert begun.count("ask") <= 1
    assert begun.count("over") + begun.count("some") <= 3
    best = qs.solve(x, y, drop=300, objective=objective)
    sense = get(objective).sense
    assert sense * found.bound >= sense * best.value * (1 - sense * 1e-9)
    if found.status == "optimal":
        assert found.value == pytest.approx(best.value)
    else:
        assert found.status == "time_limit"


@pytest.mark.parametrize("looks", [1, 2, 4, 10])
@pytest.mark.parametrize("claim", ["sign", "significance"])
def test_an_audit_asks_no_more_when_the_clock_has_jumped(tmp_path, after, claim, looks):
    x, y = some_points(2, N)
    file = written(tmp_path / "points.parquet", x, y)
    begun = after(looks)
    found = qs.audit(file, x="a", y="b", claim=claim, **LIMITS)
    assert found.status == "time_limit"
    assert begun.count("ask") <= 3
    exact = qs.audit(x, y, claim=claim)
    assert exact.drop is not None
    assert found.lower <= exact.drop <= (np.inf if found.upper is None else found.upper)

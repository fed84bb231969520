"""Limits of audits limit, and what they do not use they refuse."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from jumping import jumping

import quadsweep as qs
from quadsweep.auditing.approximations import GREEDY, approximations
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import CorrelationBelow, SlopeBeyond
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import critical_r
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles import REFUTED, plane
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.clock import Stopped
from quadsweep.solving.methods.certified import SearchOutcome


def far_rows(seed: int, n: int) -> tuple[Any, Any, Any]:
    """A few rows far away reverse the sign: without them r jumps over the range around 0."""
    rng = np.random.default_rng(seed)
    z, x = rng.normal(size=(n, 2)), rng.normal(size=n)
    far = int(rng.integers(1, 5))
    y = -rng.uniform(0.1, 0.5) * x + z @ [0.5, -0.5] + rng.normal(size=n)
    x[:far] += rng.uniform(15, 60)
    y[:far] += rng.uniform(10, 60)
    return x, y, z


def least_partial_r(x: Any, y: Any, z: Any, m: int) -> float:
    """The smallest |partial r| over all removals of m rows, from Gram matrices."""
    columns = np.column_stack([np.ones(len(x)), z, x, y])
    own = columns[:, :, None] * columns[:, None, :]
    gone = np.array(list(combinations(range(len(x)), m)))
    least = np.inf
    for part in np.array_split(gone, 50):
        g = own.sum(axis=0) - own[part].sum(axis=1)
        left = g[:, 3:, 3:] - g[:, 3:, :3] @ np.linalg.solve(g[:, :3, :3], g[:, :3, 3:])
        r = left[:, 0, 1] / np.sqrt(left[:, 0, 0] * left[:, 1, 1])
        least = min(least, float(np.abs(r).min()))
    return least


def test_where_r_jumps_over_the_range_every_removal_is_tried() -> None:
    x, y, z = far_rows(21, 110)
    found = qs.audit(x, y, controls=z, claim="significance", max_drop=4, n_jobs=1)
    assert (found.status, found.lower, found.upper) == ("optimal", 4, 4)
    assert least_partial_r(x, y, z, 3) > critical_r(110 - 3 - 2, 0.05)
    assert found.after is not None
    assert found.after.p_value > 0.05


@pytest.mark.parametrize("unused", [{"out": "folder"}, {"resume": True}, {"client": "local"}])
@pytest.mark.parametrize("controls", [None, [0, 1, 0, 1, 0, 1, 1]])
def test_what_is_for_data_out_of_core_is_refused_in_memory(unused: Any, controls: Any) -> None:
    x, y = [1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20]
    with pytest.raises(ValueError, match=f"{next(iter(unused))}: only with a source out of core"):
        qs.audit(x, y, controls=controls, **unused)
    with pytest.raises(ValueError, match="only with a source out of core"):
        qs.solve(x, y, drop=1, **unused)


def test_a_stop_by_memory_has_its_own_status(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def full(problem: Any, **settings: Any) -> SearchOutcome:
        limits.append(problem.memory_limit)
        nothing = np.zeros(0, dtype=np.int64)
        return SearchOutcome(nothing, np.nan, np.inf, "memory_limit", 7, 0, False)

    monkeypatch.setattr(plane, "search", full)
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    found = qs.audit(x, 0.5 * x + rng.normal(size=60), memory_limit=0.5)
    assert (found.status, found.success) == ("memory_limit", False)
    assert "memory limit" in found.summary()
    assert limits == [pytest.approx(0.5e9)]


def test_a_stop_by_memory_has_its_own_status_with_controls() -> None:
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=(400, 3)), rng.normal(size=400)
    y = 0.2 * x + z.sum(axis=1) + rng.normal(size=400)
    found = qs.audit(x, y, controls=z, claim="significance", memory_limit=1e-9, n_jobs=1)
    assert found.status == "memory_limit"
    assert found.lower <= found.upper


def many_columns(n: int, q: int) -> Design:
    rng = np.random.default_rng(0)
    z = np.column_stack([np.ones(n), rng.normal(size=(n, q - 1))])
    z[:, 2] = z[:, 1] + 1e-9 * z[:, 2]
    x = rng.normal(size=n)
    return Design(x, x + rng.normal(size=n), z, 0, None, np.arange(n), None)


def test_exact_elimination_of_many_columns_looks_at_the_clock() -> None:
    looks = []
    Moments(many_columns(50, 32), lambda: looks.append(1)).exact(np.zeros(0, dtype=np.int64))
    assert len(looks) > 32**2 / 2

    def over() -> None:
        raise Stopped("time_limit")

    with pytest.raises(Stopped):
        Moments(many_columns(50, 32), over).exact(np.zeros(0, dtype=np.int64))


def test_hundreds_of_columns_leave_an_interval_when_the_time_is_over() -> None:
    design = many_columns(300, 200)
    found = qs.audit(design.x, design.y, controls=design.controls, time_limit=0.0, n_jobs=1)
    assert (found.status, found.lower, found.upper) == ("time_limit", 0, None)
    assert found.message.endswith("was found; nothing is proved.")


def test_approximations_stop_when_their_time_is_over() -> None:
    rng = np.random.default_rng(0)
    n = 400
    x = rng.normal(size=n)
    y = 2 * x + rng.normal(size=n)
    design = Design(x, y, np.ones((n, 1)), 0, None, np.arange(n), None)
    cases = [BreakProblem(Moments(design), SlopeBeyond(0.0, 1e-9, -1))]
    _, stopped = approximations(cases, n - 3, seconds=0.0)
    _, whole = approximations(cases, n - 3)
    assert (stopped.method, stopped.needed, stopped.tried) == (GREEDY, None, 0)
    assert "was stopped after" in stopped.verdict(1, None)
    assert whole.needed is not None


def test_enumeration_goes_on_where_patience_ended() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    design = Design(x, x, np.ones((60, 1)), 0, None, np.arange(60), None)
    case = BreakProblem(Moments(design), CorrelationBelow(lambda freedom: 0.5, 1))
    oracle = Enumeration(case, Resources(np.inf))
    tries = 1
    while True:
        try:
            decision = oracle.decide(3, 3, patience=0.0)
            break
        except OutOfPatience:
            tries += 1
    assert decision == REFUTED
    assert tries > 60 * 59 * 58 / 6 / 4096


@pytest.mark.parametrize("looks", [2, 4, 10, 40])
@pytest.mark.parametrize("claim", ["sign", "significance"])
@pytest.mark.parametrize("controls", [0, 3, 40])
def test_an_audit_ends_soon_after_the_clock_has_jumped(
    looks: int, claim: str, controls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(controls)
    x, z = rng.normal(size=2000), rng.normal(size=(2000, controls))
    y = 0.3 * x + rng.normal(size=2000)
    jumped, after = jumping(monkeypatch, looks), []
    without = Moments.without

    def counted(self: Moments, gone: Any) -> Any:
        after.append(jumped.over)
        return without(self, gone)

    monkeypatch.setattr(Moments, "without", counted)
    found = qs.audit(x, y, controls=z if controls else None, claim=claim, time_limit=5, n_jobs=1)
    assert found.status == "time_limit"
    assert found.lower <= (2000 if found.upper is None else found.upper)
    assert sum(after) < 20

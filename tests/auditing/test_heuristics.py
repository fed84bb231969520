"""Removals found without proof: what a row changes as it goes or returns, and never more rows than
the usual approximations need."""

from __future__ import annotations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.approximations import approximations
from quadsweep.auditing.break_problem import BreakProblem, residuals
from quadsweep.auditing.claims import SlopeBeyond
from quadsweep.auditing.controls.heuristics import RowHeuristic
from quadsweep.auditing.controls.robust import fit_term
from quadsweep.auditing.design import Design
from quadsweep.auditing.minimal_removal import MinimalRemovalSearch
from quadsweep.auditing.moments import Moments
from quadsweep.inputs.standard_errors import StandardErrors

CLAIMS = [
    {"claim": "sign"},
    {"claim": "significance"},
    {"claim": "reverse"},
    {"claim": "slope", "threshold": (0.1, np.inf)},
]


def regression(seed: int, n: int = 70, q: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = np.column_stack([rng.standard_t(3, size=(n, q - 2)), rng.random((n, 2)) < 0.2])
    x = rng.standard_t(3, size=n) + z[:, 0]
    return x, 0.5 * x + z @ rng.normal(size=q) + rng.standard_t(2, size=n), z


def moments(seed: int) -> Moments:
    x, y, z = regression(seed)
    n = len(x)
    return Moments(Design(x, y, np.column_stack([np.ones(n), z]), 0, None, np.arange(n), None))


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_go_and_return_one_by_one_leave_what_a_refit_leaves(seed: int) -> None:
    m, rng = moments(seed), np.random.default_rng(seed)
    gone: list[int] = []
    state = residuals(m, np.array(gone, dtype=np.int64))
    for _ in range(40):
        if gone and rng.random() < 0.4:
            row = gone.pop(int(rng.integers(len(gone))))
            state = state.return_row(row)
        else:
            row = int(rng.choice(np.setdiff1d(np.arange(m.design.n), gone)))
            gone.append(row)
            state = state.without(row)
        anew = residuals(m, np.array(sorted(gone), dtype=np.int64))
        for name in ("x", "y", "a", "b", "c", "leverage", "inside"):
            np.testing.assert_allclose(getattr(state, name), getattr(anew, name), atol=1e-9)


@pytest.mark.parametrize("asked", CLAIMS, ids=lambda asked: asked["claim"])
def test_what_is_found_is_never_more_than_the_approximations_need(asked) -> None:
    for seed in range(12):
        x, y, z = regression(seed, n=50 + seed)
        for limit in (0.02, 0.2):
            found = qs.audit(x, y, controls=z, time_limit=limit, n_jobs=1, **asked)
            for other in found.approximations if found.upper != 0 else ():
                assert other.needed is None or found.upper is not None, seed
                assert other.needed is None or found.upper <= other.needed, seed
            found.summary()


def test_a_search_that_was_stopped_shows_no_more_than_it_followed() -> None:
    m = moments(1)
    case = BreakProblem(m, SlopeBeyond(0.0, 1e-9, -1 if float(m.x @ m.y) > 0 else 1))
    one_step, greedy = approximations([case], m.design.n - 12)
    assert greedy.needed is not None
    assert one_step.needed is not None
    far = greedy.needed - 1, greedy.needed - 1
    for shown in approximations([case], m.design.n - 12, [far]):
        assert shown.needed is None
        assert shown.tried <= greedy.needed - 1
        assert "was stopped after" in shown.verdict(1, greedy.needed)


def test_swaps_find_fewer_rows_than_greedy() -> None:
    better = 0
    for seed in range(20):
        m = moments(seed)
        case = BreakProblem(m, SlopeBeyond(0.0, 1e-9, -1 if float(m.x @ m.y) > 0 else 1))
        proposer = RowHeuristic(case, m.design.n - 12, lambda: None)
        for way in (proposer.quick, proposer.usual):
            list(way())
        assert proposer.best is not None
        usual = len(proposer.best)
        list(proposer.thorough())
        assert case.broken(proposer.best)
        assert len(proposer.best) <= usual
        better += len(proposer.best) < usual
    assert better > 0


@pytest.mark.parametrize("seed", [5, 10])
def test_clustered_tests_need_no_more_rows_than_greedy_steps_by_the_test_itself(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    n, g = 100, rng.integers(0, 10, 100)
    x, z = rng.normal(size=(2, n))
    y = 0.8 * x + rng.standard_t(4, n) + 0.5 * rng.normal(size=10)[g]
    design = Design(x, y, np.column_stack([np.ones(n), z]), 0, None, np.arange(n), None)
    errors = StandardErrors("cluster", (g,), "g", g_min=True)
    kept, p_value = np.arange(n), 0.0
    while p_value <= 0.05:
        each = [fit_term(design, kept[kept != row], errors).p_value for row in kept]
        kept, p_value = np.delete(kept, np.argmax(each)), max(each)
    for name in ("decide_open_intervals", "_search_exactly"):  # no removals but the heuristics'
        monkeypatch.setattr(MinimalRemovalSearch, name, lambda *given: None)
    found = qs.audit(x, y, controls=z[:, None], vcov=g, claim="significance", n_jobs=1)
    assert found.upper is not None
    assert found.upper <= n - len(kept)

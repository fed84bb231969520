"""The statistic without each single row, by updates and by norms, against fits of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import R2Beyond
from quadsweep.auditing.controls.row_tests import SingleRowTests
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles.single_rows import SingleRows

pd = pytest.importorskip("pandas")
pytest.importorskip("formulaic")

PANEL = ["y ~ x + c | unit", "y ~ x | unit + year", "y ~ x + c + C(unit)", "y ~ x + c"]
ERRORS = ["HC0", "HC1", "HC2", "HC3", "unit", "year", "unit + year"]


def panel(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    units, years = int(rng.integers(4, 12)), int(rng.integers(3, 7))
    unit, year = np.repeat(np.arange(units), years), np.tile(np.arange(years), units)
    kept = rng.random(len(unit)) > 0.15
    unit, year = unit[kept], year[kept]
    c, z = rng.normal(size=(2, len(unit)))
    x = 0.5 * z + 0.3 * c + rng.normal(size=len(unit))
    y = rng.choice([0, 0.3, 0.6]) * x + rng.standard_t(3, len(unit)) + rng.normal(size=units)[unit]
    return pd.DataFrame({"y": y, "x": x, "c": c, "z": z, "unit": unit, "year": year})


@pytest.fixture
def tests_of_rows(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The problems that audits ask about single rows."""
    asked: list[Any] = []
    decide = SingleRows.decide

    def noted(self: SingleRows, *sizes: Any) -> Any:
        asked.append(self.problem)
        return decide(self, *sizes)

    monkeypatch.setattr(SingleRows, "decide", noted)
    return asked


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_test_without_each_row_is_that_of_a_fit(
    errors: str, seed: int, tests_of_rows: list[Any]
) -> None:
    frame = panel(seed)
    for formula in [*PANEL, *(["y ~ c + [x ~ z]"] if errors in ("HC0", "HC1", "unit") else [])]:
        try:
            qs.audit(formula, frame, term="x", vcov=errors, claim="significance", max_drop=1)
        except ValueError:  # no test on all rows
            continue
        for problem in tests_of_rows:
            rows = np.arange(problem.moments.design.n)
            truth = np.array([problem.excess(row) for row in rows[:, None]])
            test = SingleRowTests(problem)
            found = test.past(rows)
            clear = test.regular & np.isfinite(found)
            assert found[clear] == pytest.approx(truth[clear], abs=1e-9), f"{seed} {formula}"
            side, sign = problem.test.side, test.sign
            counts = test.regular & ((side == 0) | (side * sign > 0))
            assert not np.any(truth[counts] > test.farthest()[counts] + 1e-9), f"{seed} {formula}"
    assert tests_of_rows


@pytest.mark.parametrize("claim", ["sign", "significance", "reverse", "r2"])
def test_with_many_controls_single_rows_are_decided(claim: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(5):
        n = 40
        z = rng.normal(size=(n, 8))
        x = rng.normal(size=n) + z[:, 0]
        y = 0.2 * x + rng.standard_t(2, n)
        found = qs.audit(
            x, y, controls=z, claim=claim, threshold=0.3 if claim == "r2" else None,
            max_drop=1, n_jobs=1,
        )  # fmt: skip
        assert found.success, f"{seed}"


def test_norms_decide_most_rows_of_a_large_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(300), 6)
    x = rng.normal(size=1800) + rng.normal(size=300)[unit]
    frame = pd.DataFrame({"y": 0.2 * x + rng.normal(size=1800), "x": x, "unit": unit})
    monkeypatch.setattr(SingleRowTests, "past", None)
    found = qs.audit(
        "y ~ x | unit", frame, term="x", vcov="unit", claim="significance", max_drop=1, n_jobs=1
    )
    assert found.status == "robust"


@pytest.mark.parametrize("intercept", [0, None])
def test_sums_of_squares_about_the_mean_follow_the_mean(intercept: int | None) -> None:
    rng = np.random.default_rng(2)
    x, y, z = rng.normal(size=(3, 20))
    y += 5
    columns = np.column_stack([np.ones(20), z]) if intercept == 0 else z[:, None]
    weights = rng.uniform(0.5, 3, 20)
    moments = Moments(Design(x, y, columns, intercept, weights, np.arange(20), None))
    problem = BreakProblem(moments, R2Beyond(0.3, -1))
    sums, fine = problem.sums_without_each(problem.residuals(np.zeros(0, dtype=np.int64)))
    assert fine.all()
    for name, found in (("a", sums.a), ("b", sums.b), ("c", sums.c), ("total", sums.total)):
        truth = [getattr(moments.without(row), name) for row in np.arange(20)[:, None]]
        assert found == pytest.approx(truth, rel=1e-9), name

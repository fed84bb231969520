"""Sums without a few rows from those of all, and what floating point may decide by itself."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import least_squares
from quadsweep.auditing import approximations, break_problem
from quadsweep.auditing.break_problem import BreakProblem, inverse_without
from quadsweep.auditing.claims import CorrelationAbove, CorrelationBelow, R2Beyond, SlopeBeyond
from quadsweep.auditing.controls import heuristics
from quadsweep.auditing.controls.robust import fit_term
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments
from quadsweep.inputs.standard_errors import StandardErrors


def design(seed: int) -> Design:
    """With rows far away, offsets, weights or none, an intercept or none."""
    rng = np.random.default_rng([seed, 27])
    n, q = int(rng.integers(20, 200)), int(rng.integers(1, 4))
    z = rng.normal(size=(n, q))
    x, y = rng.normal(size=n) + z[:, 0], rng.normal(size=n)
    y += rng.choice([0.0, 0.3, 3.0]) * x
    far = rng.integers(0, n, size=int(rng.integers(0, 4)))
    x[far] += 10.0 ** rng.uniform(0, 6, size=len(far))
    y[far] -= 10.0 ** rng.uniform(0, 6, size=len(far))
    x, y = x + rng.choice([0.0, 1e3, 1e7]), y * 10.0 ** rng.uniform(-5, 5)
    intercept = None
    if rng.random() < 0.8:
        z[:, 0], intercept = 1.0, 0
    weights = rng.uniform(0.1, 10, size=n) if rng.random() < 0.3 else None
    return Design(x, y, z, intercept, weights, np.arange(n), None)


def near_thresholds(m: Moments, gone: Any, rng: np.random.Generator) -> list[Any]:
    """Conditions whose thresholds lie next to what there is without some rows."""
    exact = m.exact(gone)
    if exact.freedom < 1 or exact.a == 0 or exact.b == 0:
        return []
    off = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-17, -8))
    r = float(exact.c) / math.sqrt(exact.a) / math.sqrt(exact.b)
    r2 = 1 - float((exact.b - exact.c**2 / exact.a) / exact.total)
    sign = 1 if r > 0 else -1
    return [
        SlopeBeyond(float(exact.c / exact.a) * (1 + off), 0.0, sign),
        SlopeBeyond(0.0, abs(r) * (1 + off), sign),
        CorrelationAbove(lambda freedom: abs(r) * (1 + off), sign),
        CorrelationBelow(lambda freedom: abs(r) * (1 + off), sign),
        R2Beyond(r2 + off, sign),
    ]


def decisions(seeds: range) -> tuple[int, int]:
    """How often there is a decision, and how often it is not that of rational arithmetic."""
    made = wrong = 0
    for seed in seeds:
        d, rng = design(seed), np.random.default_rng(seed)
        m = Moments(d)
        for share in (0.02, 0.3, 0.8):
            count = min(d.n - d.q - 2, max(1, int(share * d.n)))
            far = np.argsort(-np.abs(d.x - np.median(d.x)))[:count]
            for gone in (np.sort(far), np.sort(rng.permutation(d.n)[:count])):
                for how in near_thresholds(m, gone, rng):
                    made += 1
                    wrong += BreakProblem(m, how).broken(gone) != how.holds(m.exact(gone))
    return made, wrong


@pytest.mark.slow
def test_next_to_a_threshold_rational_arithmetic_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    made, wrong = decisions(range(25))
    assert made > 600
    assert wrong == 0
    monkeypatch.setattr(break_problem, "rounding_margin", lambda error: 0.0)
    assert decisions(range(25))[1] > 8  # floating point alone does not do


@pytest.mark.parametrize("seed", range(30))
def test_the_total_without_rows_is_that_of_the_others(seed: int) -> None:
    d, rng = design(seed), np.random.default_rng(seed)
    m = Moments(d)
    far = np.argsort(-np.abs(d.y - np.median(d.y)))
    for count in (0, 1, 5, d.n // 2, d.n - d.q - 2):
        for gone in (np.sort(far[:count]), np.sort(rng.permutation(d.n)[:count])):
            exact = float(m.exact(gone).total)
            assert m.total(gone) * m.scale[1] ** 2 == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_gains_of_some_rows_are_those_among_all(seed: int) -> None:
    d, rng = design(seed), np.random.default_rng(seed)
    m = Moments(d)
    gone, some = (np.sort(rng.permutation(d.n)[: d.n // 3]) for _ in range(2))
    for how in near_thresholds(m, gone, rng)[:-1]:
        every = BreakProblem(m, how).gain(gone)
        np.testing.assert_allclose(
            BreakProblem(m, how).gain_among(gone, some),
            every[some],
            rtol=1e-5,
            atol=1e-7 * np.ptp(every),
        )


def least_prefix(case: BreakProblem, rows: Any, gain: Any) -> Any:
    """By sorting and trying one number after the other."""
    order = rows[np.argsort(gain, kind="stable")]
    for m in range(1, len(order) + 1):
        gone = np.sort(order[:m])
        sums = case.moments.without(gone)
        if sums is None or case.passed(gone):
            return gone
    return None


@pytest.mark.parametrize("seed", range(10))
def test_the_fewest_rows_of_the_least_gain_are_those_of_the_sorted_ones(seed: int) -> None:
    rng = np.random.default_rng([seed, 8])
    n, q = 80, int(rng.integers(1, 4))
    z = np.column_stack([np.ones(n), rng.normal(size=(n, q - 1))])
    x = rng.normal(size=n) + 3
    y = rng.choice([0.1, 0.5]) * x + rng.normal(size=n)
    m = Moments(Design(x, y, z, 0, None, np.arange(n), None))
    r = m.squares.c
    sign = 1 if r > 0 else -1
    found = 0
    for how in (
        SlopeBeyond(0.0, 1e-9, -sign),
        CorrelationAbove(lambda freedom: 0.1, -sign),
        CorrelationAbove(lambda freedom: abs(r) + 0.05, sign),
        CorrelationBelow(lambda freedom: abs(r) / 2, sign),
    ):
        case = BreakProblem(m, how)
        gain = case.gain(np.zeros(0, dtype=np.int64))
        for size in (2, 5, 10, 20):
            rows = heuristics.find_lowest(gain, size)
            removal = heuristics.fewest_first(case, rows, gain[rows])
            expected = least_prefix(case, rows, gain[rows])
            assert (removal is None) == (expected is None)
            if removal is not None:
                found += 1
                np.testing.assert_array_equal(removal, expected)
    assert 2 <= found <= 14


@pytest.mark.parametrize("seed", range(10))
def test_sums_by_products_of_rows_are_those_without_the_rows(seed: int) -> None:
    d, rng = design(seed), np.random.default_rng(seed)
    m = Moments(d)
    gone = np.sort(rng.permutation(d.n)[: d.n // 3])
    columns = np.column_stack([m.q, m.x, m.y])[gone]
    by_products, sums = m.without_products(len(gone), columns.T @ columns), m.without(gone)
    assert (by_products is None) == (sums is None)
    if by_products is not None and sums is not None:
        assert (by_products.k, by_products.rank) == (sums.k, sums.rank)
        expected = pytest.approx((sums.a, sums.b, sums.c), rel=1e-6, abs=1e-12)
        assert (by_products.a, by_products.b, by_products.c) == expected


@pytest.mark.parametrize("claim", ["sign", "significance", "reverse"])
def test_looking_at_the_front_alone_changes_no_answer(
    claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=3000)
    y = 0.05 * x + rng.normal(size=3000)
    whole = qs.audit(x, y, claim=claim)
    looked_at = []
    gain_among = BreakProblem.gain_among

    def counted(self: BreakProblem, removal: Any, rows: Any) -> Any:
        looked_at.append(len(rows))
        return gain_among(self, removal, rows)

    monkeypatch.setattr(BreakProblem, "gain_among", counted)
    monkeypatch.setattr(heuristics, "_MANY", 100)
    monkeypatch.setattr(heuristics, "_FRONT", 20)
    front = qs.audit(x, y, claim=claim)
    assert (front.status, front.drop) == (whole.status, whole.drop) == ("optimal", whole.upper)
    assert looked_at
    assert max(looked_at) < 3000


@pytest.mark.parametrize("seed", range(10))
def test_the_inverse_without_rows_is_the_pseudo_inverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(60, 30)))
    whole = np.linalg.qr(np.column_stack([np.eye(60)[:, :3], q[:, 3:]]))[0]  # 3 rows explained
    for rows, columns in ((5, q), (30, q), (25, whole), (40, whole)):
        z = columns[:rows]
        expected = np.linalg.pinv(np.eye(30) - z.T @ z, rcond=1e-9, hermitian=True)
        np.testing.assert_allclose(inverse_without(z), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_of_many_controls_leave_what_rational_arithmetic_says(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    n, q = 60, 25
    z = np.column_stack([np.ones(n), rng.normal(size=(n, q - 1)) + 5])
    x, y = rng.normal(size=n) + z[:, 1], rng.normal(size=n) + z[:, 2]
    weights = rng.uniform(0.5, 2, size=n) if weighted else None
    d = Design(x, y, z, 0, weights, np.arange(n), None)
    m = Moments(d)
    for count in (0, 1, 5, 24, 30):
        gone = np.sort(rng.permutation(n)[:count])
        sums, exact = m.without(gone), m.exact(gone)
        assert sums is not None
        assert (sums.k, sums.rank) == (exact.k, exact.rank)
        r = float(exact.c) / math.sqrt(exact.a) / math.sqrt(exact.b)
        assert sums.c / math.sqrt(sums.a * sums.b) == pytest.approx(r, abs=1e-12)
        kept = np.flatnonzero(m.kept(gone))
        root = np.ones(len(kept)) if weights is None else np.sqrt(weights[kept])
        columns = root[:, None] * np.column_stack([z[kept], x[kept]])
        coefficients = np.linalg.lstsq(columns, root * y[kept], rcond=None)[0]
        found = fit_term(d, kept, StandardErrors())
        assert found.slope == pytest.approx(coefficients[-1], rel=1e-9)
        assert found.intercept == pytest.approx(coefficients[0], rel=1e-9)


def test_columns_that_are_plainly_independent_are_so_by_the_rule() -> None:
    plain = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        columns = rng.normal(size=(30, 5)) * 10.0 ** rng.uniform(-3, 3, size=5)
        columns[:, 3] = columns[:, 0] + 10.0 ** rng.uniform(-14, 1) * columns[:, 3]
        intercept = bool(rng.integers(0, 2))
        by_rule = [j for j, _ in least_squares._residuals(columns, intercept)]
        assert least_squares.independent(columns, intercept).tolist() == by_rule
        scaled = least_squares._scaled(columns, intercept)[1]
        plain += least_squares._plainly_independent(scaled)
    assert 10 < plain < 50


def test_columns_that_some_rows_show_to_be_independent_are_so_by_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(least_squares, "_SOME_ROWS", 20)
    shown = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 4])
        columns = rng.normal(size=(200, 4)) * 10.0 ** rng.uniform(-3, 3, size=4)
        columns[:, 3] = columns[:, 0] + 10.0 ** rng.uniform(-14, 1) * columns[:, 3]
        if seed % 3 == 0:  # what sets the columns apart is in a row that is not among those
            columns[:, 3] = columns[:, 0] - 2 * columns[:, 1]
            columns[7, 3] *= rng.choice([1, 3])
        intercept = bool(rng.integers(0, 2))
        by_rule = [j for j, _ in least_squares._residuals(columns, intercept)]
        assert least_squares.independent(columns, intercept).tolist() == by_rule
        some = least_squares._scaled(columns, intercept, slice(None, None, 10))[1]
        shown += least_squares._independent_on(some)
    assert 5 < shown < 40


def test_what_one_step_predicts_does_not_depend_on_how_many_are_added_up_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approximations, "_AT_ONCE", 7)
    predicted = []
    for seed, claim in product(range(12), ("sign", "significance", "reverse")):
        rng = np.random.default_rng(seed)
        x, z = rng.normal(size=60), rng.normal(size=(60, 2))
        y = rng.choice([0.1, 0.5, 2]) * x + rng.normal(size=60)
        for case in qs.audit(x, y, controls=z, claim=claim, time_limit=0.0).problems:
            effect, start = case.influence()
            order = np.argsort(-effect, kind="stable")[:50]
            past = np.zeros(50)
            if not isinstance(case.condition, SlopeBeyond):
                sign = 1 if isinstance(case.condition, CorrelationAbove) else -1
                past = np.array([sign * case.condition.limit(60 - m - 4) for m in range(1, 51)])
            reached = np.flatnonzero(start + np.cumsum(effect[order]) > past)
            expected = int(reached[0]) + 1 if len(reached) else None
            assert approximations._predicted(case, order, effect, start) == expected
            predicted.append(expected)
    assert len(set(predicted)) > 2

"""Sums without a few rows from those of all, and what floating point may decide by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing import case as cases
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import CorrelationAbove, CorrelationBelow, R2Beyond, SlopeBeyond
from quadsweep.auditing.controls import proposals
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import Moments


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
                    wrong += Case(m, how).broken(gone) != how.holds(m.exact(gone))
    return made, wrong


def test_next_to_a_threshold_rational_arithmetic_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    made, wrong = decisions(range(60))
    assert made > 1500
    assert wrong == 0
    monkeypatch.setattr(cases, "clear", lambda error: 0.0)
    assert decisions(range(60))[1] > 20  # floating point alone does not do


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
        every = Case(m, how).gain(gone)
        np.testing.assert_allclose(
            Case(m, how).gain_among(gone, some), every[some], rtol=1e-5, atol=1e-7 * np.ptp(every)
        )


@pytest.mark.parametrize("claim", ["sign", "significance", "reverse"])
def test_looking_at_the_front_alone_changes_no_answer(
    claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=3000)
    y = 0.05 * x + rng.normal(size=3000)
    whole = qs.audit(x, y, claim=claim)
    looked_at = []
    gain_among = Case.gain_among

    def counted(self: Case, removal: Any, rows: Any) -> Any:
        looked_at.append(len(rows))
        return gain_among(self, removal, rows)

    monkeypatch.setattr(Case, "gain_among", counted)
    monkeypatch.setattr(proposals, "_MANY", 100)
    monkeypatch.setattr(proposals, "_FRONT", 20)
    front = qs.audit(x, y, claim=claim)
    assert (front.status, front.drop) == (whole.status, whole.drop) == ("optimal", whole.upper)
    assert looked_at
    assert max(looked_at) < 3000

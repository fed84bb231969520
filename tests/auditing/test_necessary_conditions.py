"""What must happen first: significance with the other sign needs that sign; and where a difference
of means decides about it at once."""

from __future__ import annotations

from typing import Any

import naive_audit
import numpy as np
import pytest
import statsmodels.api as sm

import quadsweep as qs
from quadsweep.auditing.claims import CorrelationAbove
from quadsweep.auditing.oracles.choice import NecessaryCondition, oracles_for
from quadsweep.auditing.oracles.regression import RegressionBoxes
from quadsweep.auditing.oracles.two_values import TwoValues
from quadsweep.auditing.resources import OutOfPatience, Resources
from quadsweep.clock import Stopped


def regression(n: int, q: int, seed: int, effect: float = 0.3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, q))
    x = rng.normal(size=n) + 0.3 * z.sum(axis=1)
    return {"x": x, "y": effect * x + 0.2 * z.sum(axis=1) + rng.normal(size=n), "controls": z}


def at_once(audit: qs.Audit, most: int) -> bool:
    asked = oracles_for(audit.problems[0], Resources(np.inf))
    return any(oracle.refutes_at_once(1, most) for oracle in asked)


def test_the_proof_for_the_sign_stands_where_there_is_no_time_for_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = regression(80, 4, 1)
    sign = qs.audit(**data, claim="sign", n_jobs=1)
    assert sign.success
    decide = RegressionBoxes.decide

    def stopped(self: RegressionBoxes, fewest: int, most: int, patience: float) -> Any:
        if isinstance(self.problem.condition, CorrelationAbove):
            raise OutOfPatience if patience < 1 else Stopped("time_limit")
        return decide(self, fewest, most, patience)

    monkeypatch.setattr(RegressionBoxes, "decide", stopped)
    reverse = qs.audit(**data, claim="reverse", n_jobs=1)
    assert reverse.status == "time_limit"
    assert not at_once(reverse, sign.drop - 1)
    assert reverse.lower >= sign.drop


def test_an_instrumented_coefficient_is_not_reversed_before_its_sign_is() -> None:
    data = qs.datasets.load("colonial-origins")
    sign, reverse = (qs.audit(data, claim=claim, n_jobs=1) for claim in ("sign", "reverse"))
    assert sign.success
    assert reverse.lower >= sign.drop


def test_nor_is_one_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 2))
    y = (rng.random(60) < 1 / (1 + np.exp(-1.2 * x[:, 0]))).astype(float)
    fitted = sm.Logit(y, sm.add_constant(x)).fit(disp=False)
    sign, reverse = (
        qs.audit(fitted, term="x1", claim=claim, max_drop=9, time_limit=60, n_jobs=1)
        for claim in ("sign", "reverse")
    )
    assert reverse.lower >= sign.lower > 1


def test_a_sign_that_is_there_is_not_asked_for_first() -> None:
    rng = np.random.default_rng(0)
    x, z, y = rng.normal(size=(3, 30))
    audit = qs.audit(x, y, controls=z, claim="significance")
    assert len(audit.problems) == 2
    signs = [case.condition.sign for case in audit.problems if NecessaryCondition.handles(case)]
    assert signs == [-np.sign(audit.before.slope)]


# ---- a term of two values -----------------------------------------------------------------------


def treated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Six to nine rows, outcomes often tied, far from zero in some."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 10))
    x = np.isin(np.arange(n), rng.permutation(n)[: rng.integers(1, n)]) * rng.choice([1.0, -0.3])
    y = rng.normal(size=n) if seed % 3 == 0 else rng.integers(-2, 3, size=n).astype(float)
    return x, y + 0.5 * x + (1e6 if seed % 4 == 1 else 0.0)


@pytest.mark.parametrize("claim", ["sign", "slope"])
def test_differences_of_means_agree_with_every_subset(claim: str) -> None:
    compared = 0
    threshold = (-0.7, 1.1) if claim == "slope" else None
    for seed in range(60):
        x, y = treated(seed)
        try:
            found = qs.audit(x, y, claim=claim, threshold=threshold, n_jobs=1)
        except ValueError:  # no slope
            continue
        broken = naive_audit.broken(claim, x, y, found.level, found.threshold, found.tol)
        least = naive_audit.audit(x, y, len(x) - 3, broken)
        assert (found.success, found.drop) == (True, least), f"seed {seed}"
        if least:
            compared += 1
            kept = np.flatnonzero(found.mask)
            assert naive_audit.breaks(x, y, kept, broken), f"seed {seed}"
            asked = [TwoValues(case, Resources(np.inf)) for case in found.problems]
            assert not all(oracle.decide(1, least, np.inf).refuted for oracle in asked), (
                f"seed {seed}"
            )
    assert compared > 20


def test_a_small_group_that_may_go_is_no_search() -> None:
    rng = np.random.default_rng(2)
    x = (np.arange(60) < 9).astype(float)
    audit = qs.audit(x, 0.6 * x + rng.normal(size=60), n_jobs=1)
    assert (audit.success, audit.nodes) == (True, 0)

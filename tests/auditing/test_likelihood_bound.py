"""What norms prove about the sign in logistic and Poisson regressions, against every refit."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

import quadsweep as qs
from quadsweep.auditing.oracles.likelihood_bound import LikelihoodBound
from quadsweep.auditing.resources import Resources


def fitted(link: str, seed: int, n: int, q: int, slope: float) -> Any:
    rng = np.random.default_rng([seed, link == "logit"])
    z = np.column_stack([np.ones(n), rng.normal(size=(n, q - 1)), rng.random(n) < 0.4])
    x = rng.normal(size=n) + 0.5 * z[:, 1] if seed % 2 else (rng.random(n) < 0.5) * 1.0
    eta = slope * x + 0.3 * z[:, 1] - 0.2
    y = rng.random(n) < 1 / (1 + np.exp(-eta)) if link == "logit" else rng.poisson(np.exp(eta))
    model = sm.Logit if link == "logit" else sm.Poisson
    return model(y.astype(float), np.column_stack([x, z])).fit(disp=0)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "poisson"])
@pytest.mark.parametrize("grouped", [False, True])
def test_nothing_that_is_refuted_breaks(link: str, grouped: bool) -> None:
    refuted = broken = 0
    for seed in range(0, 12, 2):
        n = 120 if grouped else 50
        model = fitted(link, seed, n, 2, 0.15 * seed if link == "logit" else 0.08 * seed)
        groups = np.arange(n) // 3 if grouped else None
        audit: Any = qs.audit(model, term="x1", claim="sign", groups=groups, time_limit=0.01)
        (case,) = audit.problems
        bound = LikelihoodBound(case, Resources(np.inf))
        for m in (1, 2):
            units = [np.array(u) for u in combinations(range(case.moments.design.size), m)]
            breaks = any(case.broken(u) for u in units)
            refuted += (refutes := bound.refutes_at_once(1, m))
            broken += breaks
            assert not (refutes and breaks), (seed, m)
    assert refuted > 2
    assert grouped or broken > 0


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_no_removal_leaves_less_of_the_score(link: str) -> None:
    """Rows that take most of it, or pull most at the fit, and some at random; statsmodels' fits."""
    known = 0
    family = sm.families.Binomial() if link == "logit" else sm.families.Poisson()
    for seed in range(8):
        model = fitted(link, seed, 300, 3, 0.4)
        audit: Any = qs.audit(model, term="x1", claim="sign", time_limit=0.01)
        (case,) = audit.problems
        bound = LikelihoodBound(case, Resources(np.inf))
        z, x, _, r = bound.columns
        rng, pull = np.random.default_rng(seed), z * r[:, None]
        directions = rng.normal(size=(30, z.shape[1]))
        orders = [np.argsort(-pull @ d) for d in directions]
        orders += [np.argsort(case.test.side * x * r), rng.permutation(300)]
        for m in (1, 4, 8):
            least = bound.least(m)
            known += least > -np.inf
            for order in orders:
                kept = np.sort(order[m:])
                again = sm.GLM(model.model.endog[kept], z[kept], family=family).fit(tol=1e-12)
                score = -case.test.side * float(x[kept] @ again.resid_response)
                assert score > least, (seed, m)
    assert known > 8


@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_with_many_controls_many_rows_are_needed(link: str) -> None:
    model = fitted(link, 1, 1_000, 8, 0.5)
    found = qs.audit(model, term="x1", claim="reverse", time_limit=4, n_jobs=1)
    assert 4 < found.lower <= found.upper

"""Means: the intercept is a term, and so is that of a meta-analysis."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import quadsweep as qs

pd = pytest.importorskip("pandas")
smf = pytest.importorskip("statsmodels.formula.api")
pytest.importorskip("formulaic")


@pytest.mark.parametrize("claim", ["sign", "significance", "reverse"])
@pytest.mark.parametrize("formula", ["y ~ 1", "y ~ x"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_intercept_is_a_term(claim: str, formula: str, weighted: bool) -> None:
    seed = ["sign", "significance", "reverse"].index(claim)
    rng, n = np.random.default_rng(seed), 8
    columns = {"y": rng.normal(0.7, 1, n), "x": rng.normal(size=n), "w": rng.uniform(0.2, 5, n)}
    frame = pd.DataFrame(columns)

    def refit(rows: pd.DataFrame) -> tuple[float, float]:
        weights = rows.w if weighted else np.ones(len(rows))
        fitted = smf.wls(formula, rows, weights=weights).fit()
        return fitted.params["Intercept"], fitted.pvalues["Intercept"]

    def breaks(rows: pd.DataFrame) -> bool:
        b, p = refit(rows)
        if claim == "significance":
            return (p < 0.05) != (before[1] < 0.05)
        return b * before[0] < 0 and (claim == "sign" or p < 0.05)

    before = refit(frame)
    weights = {"weights": "w"} if weighted else {}
    found = qs.audit(formula, frame, term="Intercept", claim=claim, **weights)
    sizes = range(found.max_drop + 1)
    fewest = (
        m
        for m in sizes
        if any(breaks(frame.drop(index=list(c))) for c in combinations(range(n), m))
    )
    assert (found.drop if found.upper is not None else None) == next(fewest, None), f"seed {seed}"


def test_a_mean_is_called_one() -> None:
    frame = pd.DataFrame({"y": [1.0, 2, 3, -1, 4], "x": [1.0, 2, 2, 3, 5]})
    assert "the sign of the mean of y" in qs.audit("y ~ 1", frame).message
    found = qs.audit("y ~ x", frame, term="Intercept")
    assert "the intercept (given x)" in found.message

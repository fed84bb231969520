"""Means: the intercept is a term, and so is that of a meta-analysis."""

from __future__ import annotations

from itertools import combinations

import fuzz_means
import fuzz_runs
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
    rng, n = np.random.default_rng(seed), 7
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


def test_a_fixed_scale_of_statsmodels_is_a_known_variance() -> None:
    rng, n = np.random.default_rng(3), 12
    frame = pd.DataFrame({"y": rng.normal(0.3, 0.3, n), "se": rng.uniform(0.1, 0.5, n)})
    frame["w"] = 1 / frame.se**2
    fitted = smf.wls("y ~ 1", frame, weights=frame.w).fit(
        cov_type="fixed scale", cov_kwds={"scale": 2.0}
    )
    by_library = qs.audit(fitted, claim="significance")
    by_formula = qs.audit("y ~ 1", frame.assign(w=frame.w / 2), weights="w", vcov="known",
                          claim="significance")  # fmt: skip
    assert by_library.success
    assert (by_library.lower, by_library.upper) == (by_formula.lower, by_formula.upper)
    assert by_formula.test == "z test, known variances"
    for found in (by_library, by_formula):
        assert found.before.se == pytest.approx(fitted.bse["Intercept"], rel=1e-10)
        assert found.before.p_value == pytest.approx(fitted.pvalues["Intercept"], rel=1e-10)


def test_many_studies_of_known_variance_are_decided() -> None:
    rng, n = np.random.default_rng(0), 1_000
    columns = {"y": rng.normal(0.08, 1, n), "w": rng.uniform(0.3, 3, n)}
    found = qs.audit("y ~ 1", columns, weights="w", vcov="known", claim="significance")
    assert found.success
    assert found.after.p_value > 0.05


def test_known_variances_need_weights() -> None:
    with pytest.raises(ValueError, match="1 over the variance of each row"):
        qs.audit("y ~ 1", {"y": [1.0, 2, 3, 4]}, vcov="known", claim="significance")


def test_audits_of_means_are_those_of_all_subsets() -> None:
    verdicts = [fuzz_means.judge(0, number) for number in range(24)]
    assert [v.what for v in verdicts if v.outcome == fuzz_runs.WRONG] == []

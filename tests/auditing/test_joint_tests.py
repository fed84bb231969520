"""Joint tests of several terms, by refits of the library."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import quadsweep as qs

pd = pytest.importorskip("pandas")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")
lm = pytest.importorskip("linearmodels")

pytestmark = pytest.mark.filterwarnings("ignore")


def table(n: int, seed: int, strength: float) -> Any:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["x", "z", "v", "e"])
    frame["y"] = strength * (frame.x - frame.z) + 0.3 * frame.v + frame.e
    frame["b"] = (frame.y > 0).astype(float)
    return frame


def by_statsmodels(fit: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, float]]:
    def test(frame: Any) -> tuple[Any, float]:
        fitted = fit(frame)
        return fitted, float(fitted.wald_test("x = 0, z = 0", scalar=True).pvalue)

    return test


def by_pyfixest(frame: Any) -> tuple[Any, float]:
    fitted = pf.feols("y ~ x + z + v", frame.reset_index(drop=True), vcov="HC1")
    return fitted, float(fitted.wald_test(np.eye(4)[1:3])["pvalue"])


def by_linearmodels(frame: Any) -> tuple[Any, float]:
    rows = frame.assign(one=1.0)
    fitted = lm.IV2SLS(rows.y, rows[["one", "x", "z", "v"]], None, None).fit()
    return fitted, float(fitted.wald_test(np.eye(4)[1:3]).pval)


FITS = {
    "ols": by_statsmodels(lambda f: smf.ols("y ~ x + z + v", f).fit()),
    "HC3": by_statsmodels(lambda f: smf.ols("y ~ x + z + v", f).fit(cov_type="HC3")),
    "pyfixest": by_pyfixest,
    "linearmodels": by_linearmodels,
}


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[] if k == "ols" else [pytest.mark.slow]) for k in FITS]
)
@pytest.mark.parametrize("strength", [0.0, 0.6])
def test_a_joint_test_is_that_of_the_library(kind: str, strength: float) -> None:
    seed, n = 3, 11
    frame, test = table(n, seed, strength), FITS[kind]
    fitted, p = test(frame)
    found = qs.audit(fitted, term=["x", "z"], claim="significance", max_drop=3, time_limit=5)
    assert found.before.p_value == pytest.approx(p, rel=1e-6)

    def breaks(gone: Any) -> bool:
        return (test(frame.drop(index=list(gone)))[1] <= 0.05) != (p <= 0.05)

    for m in range(1, min(found.lower, 3)):
        assert not any(breaks(gone) for gone in combinations(range(n), m)), f"seed {seed}"
    if found.upper is not None:
        assert breaks(found.outliers), f"seed {seed}"
        assert "the joint test of x and z" in found.message


def test_joint_tests_that_are_not_made_are_named() -> None:
    frame = table(20, 0, 0.5)
    fitted = smf.ols("y ~ x + z", frame).fit()
    with pytest.raises(ValueError, match="have the claim 'significance'"):
        qs.audit(fitted, term=["x", "z"])
    with pytest.raises(ValueError, match="two terms or more"):
        qs.audit(fitted, term=["x"], claim="significance")
    with pytest.raises(ValueError, match="no term 'q'"):
        qs.audit(fitted, term=["x", "q"], claim="significance")
    with pytest.raises(ValueError, match=r"smf.ols\('y ~ x \+ z', data\).fit\(\)"):
        qs.audit("y ~ x + z", frame, term=["x", "z"], claim="significance")

"""Audits of fits of many kinds, as a table: ``python docs/studies/supported_fits.py``.

Every fit is audited for its sign and its significance, in at most so many seconds. What a removal
does is looked up in a fit of the library itself to the rows kept. Writes supported-fits.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import linearmodels as lm
import numpy as np
import pandas as pd
import pyfixest as pf
import statsmodels.api as sm
import statsmodels.formula.api as smf

import quadsweep as qs

SECONDS = 3.0
Fit = Callable[[pd.DataFrame], Any]


def make_data(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Six years of ten firms: outcomes of several kinds that depend on x."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({name: rng.normal(size=n) for name in ("x", "z", "q", "v")})
    data["firm"], data["year"] = np.arange(n) // 6, np.arange(n) % 6
    data["x"] += data.q + 0.7 * data.v
    line = 0.5 * data.x + 0.3 * data.z
    data["y"] = line + rng.normal(size=n)
    data["bought"] = (line + rng.logistic(size=n) > 0).astype(float)
    data["visits"] = rng.poisson(np.exp(0.4 * line)).astype(float)
    data["cost"] = rng.gamma(2, np.exp(0.4 * line) / 2)
    data["w"] = rng.uniform(0.5, 2, n)
    return data


def panel(kind: str, effects: bool = False, **errors: Any) -> Fit:
    def fit(data: pd.DataFrame) -> Any:
        rows = data.assign(one=1.0).set_index(["firm", "year"])
        own = {"entity_effects": True} if effects else {}
        names = ["x", "z"] if effects or kind == "FirstDifferenceOLS" else ["one", "x", "z"]
        return getattr(lm, kind)(rows.y, rows[names], **own).fit(**errors)

    return fit


def ols(**errors: Any) -> Fit:
    return lambda data: smf.ols("y ~ x + z", data).fit(**errors)


def glm(outcome: str, family: Any) -> Fit:
    return lambda data: smf.glm(f"{outcome} ~ x + z", data, family=family).fit()


def by_firm(data: pd.DataFrame) -> Any:
    words = {"groups": data.firm}
    return smf.ols("y ~ x + z", data).fit(cov_type="cluster", cov_kwds=words)


FITS: dict[str, tuple[str, str, Fit]] = {
    "OLS": ("statsmodels", "classical", ols()),
    "OLS, HC1": ("statsmodels", "HC1", ols(cov_type="HC1")),
    "OLS, HC3": ("statsmodels", "HC3", ols(cov_type="HC3")),
    "OLS, HAC": ("statsmodels", "Newey-West", ols(cov_type="HAC", cov_kwds={"maxlags": 2})),
    "OLS, clustered": ("statsmodels", "by firm", by_firm),
    "WLS": ("statsmodels", "classical", lambda d: smf.wls("y ~ x + z", d, weights=d.w).fit()),
    "WLS, fixed scale": ("statsmodels", "known variances", lambda d: smf.wls(
        "y ~ 1", d, weights=d.w).fit(cov_type="fixed scale")),
    "GLS, diagonal": ("statsmodels", "classical", lambda d: smf.gls(
        "y ~ x + z", d, sigma=1 / d.w).fit()),
    "Logit": ("statsmodels", "Hessian", lambda d: smf.logit("bought ~ x + z", d).fit(disp=0)),
    "Probit": ("statsmodels", "Hessian", lambda d: smf.probit("bought ~ x + z", d).fit(disp=0)),
    "Poisson, HC0": ("statsmodels", "HC0", lambda d: smf.poisson("visits ~ x + z", d).fit(
        disp=0, cov_type="HC0")),
    "GLM Gamma, log": ("statsmodels", "scaled", glm("cost", sm.families.Gamma(
        sm.families.links.Log()))),
    "GLM NegativeBinomial": ("statsmodels", "Hessian", glm(
        "visits", sm.families.NegativeBinomial(alpha=0.5))),
    "RLM": ("statsmodels", "H1", lambda d: smf.rlm("y ~ x + z", d).fit()),
    "QuantReg": ("statsmodels", "kernel", lambda d: smf.quantreg("y ~ x + z", d).fit()),
    "MixedLM": ("statsmodels", "-", lambda d: smf.mixedlm("y ~ x", d, groups=d.firm).fit()),
    "GEE": ("statsmodels", "-", lambda d: smf.gee("y ~ x", d.firm, d).fit()),
    "feols, effects": ("pyfixest", "iid", lambda d: pf.feols("y ~ x + z | firm", d)),
    "feols, clustered": ("pyfixest", "CRV1", lambda d: pf.feols(
        "y ~ x + z | firm", d, vcov={"CRV1": "firm"})),
    "feols, jackknife": ("pyfixest", "CRV3", lambda d: pf.feols(
        "y ~ x + z", d, vcov={"CRV3": "firm"})),
    "feols, instrument": ("pyfixest", "HC1", lambda d: pf.feols(
        "y ~ z | x ~ q", d, vcov="HC1")),
    "fepois, effects": ("pyfixest", "CRV1", lambda d: pf.fepois(
        "visits ~ x + z | year", d, vcov={"CRV1": "firm"})),
    "quantreg": ("pyfixest", "-", lambda d: pf.quantreg("y ~ x", d)),
    "PanelOLS, clustered": ("linearmodels", "by firm", panel(
        "PanelOLS", True, cov_type="clustered", cluster_entity=True)),
    "PanelOLS, Driscoll-Kraay": ("linearmodels", "Driscoll-Kraay", panel(
        "PanelOLS", True, cov_type="driscoll-kraay")),
    "PooledOLS": ("linearmodels", "unadjusted", panel("PooledOLS")),
    "FirstDifferenceOLS": ("linearmodels", "unadjusted", panel("FirstDifferenceOLS")),
    "RandomEffects": ("linearmodels", "unadjusted", panel("RandomEffects")),
    "IV2SLS, one instrument": ("linearmodels", "robust", lambda d: lm.IV2SLS.from_formula(
        "y ~ 1 + z + [x ~ q]", d).fit()),
    "IV2SLS, two instruments": ("linearmodels", "robust", lambda d: lm.IV2SLS.from_formula(
        "y ~ 1 + z + [x ~ q + v]", d).fit()),
}  # fmt: skip


def read_figures(fitted: Any, term: str) -> tuple[float, float]:
    if hasattr(fitted, "coef"):
        return float(fitted.coef()[term]), float(fitted.pvalue()[term])
    return float(fitted.params[term]), float(fitted.pvalues[term])


def ask(fit: Fit, data: pd.DataFrame, claim: str) -> tuple[str, str]:
    """The answer as a cell, and whether the library confirms the removal."""
    fitted = fit(data)
    term = "x" if "x" in getattr(fitted, "params", getattr(fitted, "_coefnames", ())) else ""
    term = term or "Intercept"
    try:
        found = qs.audit(fitted, term=term, claim=claim, time_limit=SECONDS)
    except (TypeError, ValueError) as refusal:
        return "refused", str(refusal)
    if found.upper is None:
        return f"more than {found.lower - 1}", "no removal"
    kept = data.drop(index=data.index[found.outliers])
    (b, p), (was, p_was) = (read_figures(fit(rows), term) for rows in (kept, data))
    is_broken = b * was < 0 if claim == "sign" else (p <= 0.05) != (p_was <= 0.05)
    if found.success:
        return f"exact: {found.drop}", "yes" if is_broken else "NO"
    return f"interval: {found.lower} to {found.upper}", "yes" if is_broken else "NO"


def main() -> int:
    warnings.simplefilter("ignore")
    data, wrong, slowest = make_data(), 0, 0.0
    rows = []
    for name, (library, errors, fit) in FITS.items():
        cells = []
        for claim in ("sign", "significance"):
            start = time.perf_counter()
            cell, confirmed = ask(fit, data, claim)
            slowest = max(slowest, time.perf_counter() - start)
            wrong += confirmed == "NO"
            cells.append(cell)
        why = f": {confirmed}" if cells[-1] == "refused" else ""
        rows.append(f"| {name} | {errors} | {cells[0]} | {cells[1]}{why} | {library} |")
        print(rows[-1], flush=True)
    libraries = ("statsmodels", "pyfixest", "linearmodels")
    versions = ", ".join(f"{each} {metadata.version(each)}" for each in libraries)
    text = f"""# Fits of many kinds

{len(FITS)} fits of 60 rows made by code, each audited for two claims with
`time_limit={SECONDS:g}` by `python docs/studies/supported_fits.py`: the fewest rows, whether that
is exact or an interval, or the reason of the refusal. Every removal was fitted again by the
library in the last column and broke the claim there ({wrong} did not). [What is
supported](../supported.md) says when an answer is exact. Versions: {versions}.

| fit | standard errors | `sign` | `significance` | checked against |
|---|---|---|---|---|
""" + "\n".join(rows) + "\n"  # fmt: skip
    Path(__file__).with_name("supported-fits.md").write_text(text, encoding="utf-8")
    print(f"{wrong} wrong, slowest {slowest:.1f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

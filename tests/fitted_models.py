"""Fitted models of several libraries, on one panel, for the tests of their audits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")

FORMULA = "invest ~ value + capital"
EFFECTS = f"{FORMULA} | firm + year"


def firms(n: int = 60, seed: int = 5) -> Any:
    """A panel whose errors are heteroscedastic and go together within firms."""
    rng = np.random.default_rng(seed)
    firm, year = np.arange(n) // 5, np.arange(n) % 5
    value = rng.normal(size=n) + rng.normal(size=n // 5)[firm]
    capital = rng.normal(size=n)
    noise = rng.normal(size=n) * (0.5 + abs(value)) + 0.7 * rng.normal(size=n // 5)[firm]
    return pd.DataFrame({
        "invest": 0.8 * value + capital + noise, "value": value, "capital": capital,
        "firm": [f"f{i}" for i in firm], "year": 2000 + year,
        "weight": rng.uniform(0.5, 3, size=n), "half": firm % 2, "late": (year > 2).astype(int),
    })  # fmt: skip


def feols(fml: str = FORMULA, **settings: Any) -> Callable[[Any], Any]:
    return lambda frame: pf.feols(fml, frame, **settings)


def panel(effects: int | None = 1, time: bool = False, **settings: Any) -> Callable[[Any], Any]:
    """``PanelOLS`` with entity effects and a constant (1), without one (0), or pooled (None)."""
    linearmodels = pytest.importorskip("linearmodels")

    def fit(frame: Any) -> Any:
        frame = frame.assign(constant=1.0, entity=pd.factorize(frame["firm"])[0])
        indexed = frame.set_index(["entity", "year"])
        columns = ["value", "capital"] if effects == 0 else ["constant", "value", "capital"]
        return linearmodels.PanelOLS(
            indexed["invest"], indexed[columns], entity_effects=effects is not None,
            time_effects=time,
        ).fit(**settings)  # fmt: skip

    return fit


def ols(cov_type: str = "nonrobust", by: list[str] | None = None, **settings: Any) -> Any:
    def fit(frame: Any) -> Any:
        kwds = dict(settings)
        use_t = kwds.pop("use_t", None)
        if by is not None:
            codes = [pd.factorize(frame[name])[0] for name in by]
            kwds["groups"] = codes[0] if len(codes) == 1 else np.column_stack(codes)
        return smf.ols(FORMULA, frame).fit(cov_type=cov_type, cov_kwds=kwds or None, use_t=use_t)

    return fit


def wls(cov_type: str) -> Callable[[Any], Any]:
    return lambda frame: smf.wls(FORMULA, frame, weights=frame["weight"]).fit(cov_type=cov_type)


INSTRUMENTED = "invest ~ capital | value ~ signal"


def instrumented(frame: Any) -> Any:
    """With an instrument, and outcomes of other regressions."""
    rng = np.random.default_rng(8)
    noise = rng.normal(size=(3, 60))[:, : len(frame)]
    return frame.assign(
        signal=frame["value"] + 0.7 * noise[0],
        chosen=(frame["value"] + noise[1] > 0).astype(float),
        visits=np.floor(np.exp(0.5 * frame["value"]) + abs(noise[2])),
    )


def iv2sls(
    *by: str,
    formula: str = "invest ~ 1 + capital + [value ~ signal]",
    weighted: bool = False,
    **settings: Any,
) -> Callable[[Any], Any]:
    linearmodels = pytest.importorskip("linearmodels")

    def fit(frame: Any) -> Any:
        more = dict(settings)
        if by:
            more["clusters"] = frame[list(by)].apply(lambda c: pd.factorize(c)[0])
        return linearmodels.IV2SLS.from_formula(
            formula, frame, weights=frame["weight"] if weighted else None
        ).fit(**more)

    return fit


# With an instrument, or not by least squares: ``instrumented`` frames.
OTHERS: dict[str, Callable[[Any], Any]] = {
    "feols instrument, iid": feols(fml=INSTRUMENTED),
    "feols instrument, HC1": feols(fml=INSTRUMENTED, vcov="HC1"),
    "feols instrument, CRV1": feols(fml=INSTRUMENTED, vcov={"CRV1": "firm"}),
    "feols instrument, weights": feols(fml=INSTRUMENTED, vcov="HC1", weights="weight"),
    "feols instrument, effects": feols(
        fml="invest ~ capital | year | value ~ signal", vcov={"CRV1": "firm"}
    ),
    "IV2SLS unadjusted": iv2sls(cov_type="unadjusted", debiased=True),
    "IV2SLS robust": iv2sls(),
    "IV2SLS robust, debiased": iv2sls(cov_type="robust", debiased=True),
    "IV2SLS clustered": iv2sls("firm", cov_type="clustered"),
    "IV2SLS clustered, debiased": iv2sls("firm", cov_type="clustered", debiased=True),
    "IV2SLS clustered two ways": iv2sls("firm", "year", cov_type="clustered", debiased=True),
    "IV2SLS weights": iv2sls(weighted=True),
    "IV2SLS without instruments": iv2sls(formula="invest ~ 1 + capital + value"),
    "logit": lambda f: smf.logit("chosen ~ value + capital", f).fit(disp=0),
    "GLM binomial": lambda f: smf.glm(
        "chosen ~ value + capital", f, family=sm.families.Binomial()
    ).fit(),
    "poisson": lambda f: smf.poisson("visits ~ value + capital", f).fit(disp=0),
    "GLM poisson": lambda f: smf.glm(
        "visits ~ value + capital", f, family=sm.families.Poisson()
    ).fit(),
}

MODELS: dict[str, Callable[[Any], Any]] = {
    "feols iid": feols(),
    "feols iid, no correction": feols(ssc=pf.ssc(k_adj=False)),
    "feols hetero": feols(vcov="hetero"),
    "feols HC1": feols(vcov="HC1"),
    "feols HC2": feols(vcov="HC2"),
    "feols HC3": feols(vcov="HC3"),
    "feols HC1, no correction": feols(vcov="HC1", ssc=pf.ssc(k_adj=False)),
    "feols CRV1": feols(vcov={"CRV1": "firm"}),
    "feols CRV1, no correction": feols(vcov={"CRV1": "firm"}, ssc=pf.ssc(False, G_adj=False)),
    "feols CRV1 two ways": feols(vcov={"CRV1": "firm + year"}),
    "feols CRV1 two ways, each its own": feols(
        vcov={"CRV1": "firm + year"}, ssc=pf.ssc(G_df="conventional")
    ),
    "feols weights, CRV1": feols(vcov={"CRV1": "firm"}, weights="weight"),
    "feols weights, HC3": feols(vcov="HC3", weights="weight"),
    "feols fixed effects, iid": feols(fml=EFFECTS),
    "feols fixed effects, HC1": feols(fml=EFFECTS, vcov="HC1"),
    "feols fixed effects, nested": feols(fml=f"{FORMULA} | firm", vcov={"CRV1": "firm"}),
    "feols fixed effects, not nested": feols(fml=f"{FORMULA} | year", vcov={"CRV1": "firm"}),
    "feols fixed effects, CRV1 two ways": feols(fml=EFFECTS, vcov={"CRV1": "firm + year"}),
    "feols fixed effects, all counted": feols(
        fml=EFFECTS, vcov={"CRV1": "firm"}, ssc=pf.ssc(k_fixef="full")
    ),
    "feols fixed effects, none counted": feols(fml=EFFECTS, vcov="HC1", ssc=pf.ssc(k_fixef="none")),
    "feols fixed effects, singletons kept": feols(fml=EFFECTS, vcov="HC1", fixef_rm="none"),
    "feols fixed effects, weights": feols(
        fml=EFFECTS, vcov="HC1", weights="weight", fixef_tol=1e-12
    ),
    "feols fixed effects of pairs": feols(fml=f"{FORMULA} | half^late", vcov="HC1"),
    "PanelOLS unadjusted": panel(time=True),
    "PanelOLS robust": panel(time=True, cov_type="robust"),
    "PanelOLS clustered": panel(cov_type="clustered", cluster_entity=True),
    "PanelOLS clustered, no constant": panel(0, cov_type="clustered", cluster_entity=True),
    "PanelOLS clustered, by G": panel(cov_type="clustered", cluster_entity=True, group_debias=True),
    "PanelOLS clustered, two effects": panel(time=True, cov_type="clustered", cluster_entity=True),
    "PanelOLS pooled": panel(None, cov_type="robust"),
    "ols nonrobust": ols(),
    "ols nonrobust, z": ols(use_t=False),
    "ols HC0": ols("HC0"),
    "ols HC1": ols("HC1"),
    "ols HC1, t": ols("HC1", use_t=True),
    "ols HC2": ols("HC2"),
    "ols HC3": ols("HC3"),
    "ols cluster": ols("cluster", ["firm"]),
    "ols cluster, t": ols("cluster", ["firm"], use_t=True),
    "ols cluster, residual freedom": ols("cluster", ["firm"], use_t=True, df_correction=False),
    "ols cluster, no correction": ols("cluster", ["firm"], use_correction=False),
    "ols cluster two ways": ols("cluster", ["firm", "year"]),
    "wls nonrobust": wls("nonrobust"),
    "wls HC1": wls("HC1"),
    "wls HC3": wls("HC3"),
}


def p_value(fitted: Any, term: str = "value") -> float:
    """The model's own."""
    found = fitted.pvalue() if hasattr(fitted, "_vcov_type") else fitted.pvalues
    return float(found[term])

"""Models without a search: removals that their library confirms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fitted_models import FORMULA, firms, instrumented, p_value

import quadsweep as qs

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")

pytestmark = pytest.mark.filterwarnings("ignore")


def table() -> Any:
    rng, n = np.random.default_rng(0), 30
    frame = pd.DataFrame({name: rng.normal(size=n) for name in ("x", "z", "q", "v")})
    frame["unit"], frame["year"] = np.arange(n) // 5, np.arange(n) % 5
    frame["x"] += frame["q"] + frame["v"]
    frame["y"] = 0.2 * frame["x"] + frame["z"] + rng.normal(size=n)
    frame["visits"] = rng.poisson(np.exp(0.2 * frame["x"])).astype(float)
    return frame


def panel(kind: str) -> Any:
    def fit(frame: Any) -> Any:
        rows = frame.assign(one=1.0).set_index(["unit", "year"])
        names = ["x", "z"] if kind == "FirstDifferenceOLS" else ["one", "x", "z"]
        model = getattr(pytest.importorskip("linearmodels"), kind)
        return model(rows["y"], rows[names]).fit()

    return fit


def instruments(kind: str) -> Any:
    def fit(frame: Any) -> Any:
        model = getattr(pytest.importorskip("linearmodels"), kind)
        return model.from_formula("y ~ 1 + z + [x ~ q + v]", frame).fit()

    return fit


MODELS = {
    "IV2SLS": instruments("IV2SLS"),
    "IVGMM": instruments("IVGMM"),
    "RandomEffects": panel("RandomEffects"),
    "FirstDifferenceOLS": panel("FirstDifferenceOLS"),
    "BetweenOLS": panel("BetweenOLS"),
    "feols, two instruments": lambda f: pf.feols("y ~ z | x ~ q + v", f, vcov="HC1"),
    "fepois": lambda f: pf.fepois("visits ~ x | unit", f, vcov={"CRV1": "unit"}),
    "feglm": lambda f: pf.feglm("visits ~ x + z | unit", f, family="gaussian", vcov="iid"),
}


def stated(fitted: Any) -> tuple[float, float]:
    """The coefficient and its p-value."""
    if hasattr(fitted, "_vcov_type"):
        return float(fitted.coef()["x"]), float(fitted.pvalue()["x"])
    return float(fitted.params["x"]), float(fitted.pvalues["x"])


@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[] if k == "IV2SLS" else [pytest.mark.slow]) for k in MODELS],
)
@pytest.mark.parametrize("claim", ["sign", "significance"])
def test_a_removal_is_stated_only_if_the_library_confirms_it(kind: str, claim: str) -> None:
    frame, fit = table(), MODELS[kind]

    def holds(rows: Any) -> bool:
        coefficient, p = stated(fit(rows.reset_index(drop=True)))
        return coefficient > 0 if claim == "sign" else p <= 0.05

    was, fitted = holds(frame), fit(frame)
    found = qs.audit(fitted, term="x", claim=claim, max_drop=1)
    assert (found.before.slope, found.before.p_value) == pytest.approx(stated(fitted), rel=1e-7)
    single = [holds(frame.drop(index=i)) != was for i in range(len(frame))]
    assert (found.upper == 1) == any(single)
    many = qs.audit(fitted, term="x", claim=claim, time_limit=3)
    if many.upper is not None:
        assert holds(frame.drop(index=many.outliers)) != was


def test_every_term_of_an_equation_with_several_instruments_is_audited() -> None:
    frame = table()
    fitted = MODELS["IV2SLS"](frame)
    found = qs.audit(fitted, term="z", max_drop=1)
    assert found.before.slope == pytest.approx(fitted.params["z"], rel=1e-9)


def positive(frame: Any) -> Any:
    return frame.assign(visits=frame["visits"] + 1)


FAMILIES = sm.families
STATSMODELS = {
    "Probit": lambda f: smf.probit("chosen ~ value", f).fit(disp=0),
    "Binomial, Probit": lambda f: smf.glm(
        "chosen ~ value", f, family=FAMILIES.Binomial(FAMILIES.links.Probit())
    ).fit(),
    "offset": lambda f: smf.glm(
        "visits ~ value", f, family=FAMILIES.Poisson(), offset=f["weight"]
    ).fit(cov_type="HC1"),
    "Gamma": lambda f: smf.glm(
        "visits ~ value", positive(f), family=FAMILIES.Gamma(FAMILIES.links.Log())
    ).fit(),
    "NegativeBinomial": lambda f: smf.glm(
        "visits ~ value", f, family=FAMILIES.NegativeBinomial(alpha=0.5)
    ).fit(),
    "RLM": lambda f: smf.rlm(FORMULA, f).fit(),
    "QuantReg": lambda f: smf.quantreg(FORMULA, f).fit(q=0.4),
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in ("RLM", "offset") else [pytest.mark.slow])
        for kind in STATSMODELS
    ],
)
@pytest.mark.parametrize("claim", ["sign", "significance"])
def test_models_without_a_search_are_audited_by_refits(kind: str, claim: str) -> None:
    frame, fit = instrumented(firms(30, seed=9)), STATSMODELS[kind]

    def state(table: Any) -> bool:
        fitted = fit(table.reset_index(drop=True))
        return bool(fitted.params["value"] > 0 if claim == "sign" else p_value(fitted) <= 0.05)

    fitted = fit(frame)
    found = qs.audit(fitted, term="value", claim=claim, max_drop=1)
    assert found.before.p_value == pytest.approx(p_value(fitted), rel=1e-8)
    was = state(frame)
    single = [state(frame.drop(index=i)) != was for i in range(len(frame))]
    assert (found.upper == 1) == any(single)
    many = qs.audit(fitted, term="value", claim=claim, time_limit=1)
    if many.upper is not None:
        assert state(frame.drop(index=many.outliers)) != was
    assert many.y.tolist() == fitted.model.endog.tolist()


def test_a_model_audited_by_refits_has_its_own_errors_only() -> None:
    fitted = STATSMODELS["RLM"](firms())
    with pytest.raises(ValueError, match="RLM results of statsmodels are audited by refits"):
        qs.audit(fitted, term="value", vcov="HC1")
    with pytest.raises(ValueError, match="RLM results of statsmodels have the claims 'sign'"):
        qs.audit(fitted, term="value", claim="r2", threshold=0.5)

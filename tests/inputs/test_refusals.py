"""A model that is refused is named, with the reason, and what is said to work instead works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadsweep as qs

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")
lm = pytest.importorskip("linearmodels")

pytestmark = pytest.mark.filterwarnings("ignore")


def make_table(n: int = 40) -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["x", "z", "q", "e"])
    frame["g"], frame["t"] = np.arange(n) // 4, np.arange(n) % 4
    frame["y"] = 0.5 * frame.x + frame.e
    frame["visits"] = rng.poisson(np.exp(0.3 * frame.x)).astype(float)
    return frame


DATA = make_table()
OLS = "y ~ x + z"


def removed(fitted: Any) -> Any:
    fitted.remove_data()
    return fitted


def restricted() -> Any:
    family = sm.families.Poisson()
    return smf.glm("visits ~ x + z", DATA, family=family).fit_constrained("z = 0")


def audit(fitted: Any, **asked: Any) -> Any:
    return qs.audit(fitted, **{"term": "x", "max_drop": 3, "time_limit": 1, **asked})


# What is refused, the name and the reason that are said, and the advice, tried.
REFUSED: dict[str, tuple[Callable[[], Any], str, str, Callable[[], Any]]] = {
    "mixed": (
        lambda: audit(smf.mixedlm("y ~ x", DATA, groups=DATA.g).fit()),
        "MixedLM results of statsmodels", "give results of OLS",
        lambda: audit(smf.ols("y ~ x", DATA).fit()),
    ),
    "GEE": (
        lambda: audit(smf.gee("y ~ x", DATA.g, DATA).fit()),
        "GEE results of statsmodels", "give results of OLS",
        lambda: audit(smf.glm("y ~ x", DATA).fit()),
    ),
    "penalised": (
        lambda: audit(smf.ols(OLS, DATA).fit_regularized(alpha=0.1)),
        "OLS results of statsmodels", r"fit the model with fit\(\)",
        lambda: audit(smf.ols(OLS, DATA).fit()),
    ),
    "data removed": (
        lambda: audit(removed(smf.ols(OLS, DATA).fit())),
        "OLS results of statsmodels", "fit the model again",
        lambda: audit(smf.ols(OLS, DATA).fit()),
    ),
    "restricted": (
        lambda: audit(restricted()),
        r"GLM results \(Poisson, Log\) of statsmodels", "without them they can",
        lambda: audit(smf.glm("visits ~ x + z", DATA, family=sm.families.Poisson()).fit()),
    ),
    "full covariance": (
        lambda: audit(smf.gls(OLS, DATA, sigma=np.eye(40) + 0.1).fit()),
        "GLS results of statsmodels", "with one variance a row they can",
        lambda: audit(smf.gls(OLS, DATA, sigma=np.ones(40)).fit()),
    ),
    "NegativeBinomial": (
        lambda: audit(smf.negativebinomial("visits ~ x", DATA).fit(disp=0)),
        "NegativeBinomial results of statsmodels", r"NegativeBinomial\(alpha=...\)\) can|can",
        lambda: audit(smf.glm(
            "visits ~ x", DATA, family=sm.families.NegativeBinomial(alpha=0.5)).fit()),
    ),
    "lean": (
        lambda: audit(pf.feols(OLS, DATA, lean=True)),
        "feols|Feols", "lean=False",
        lambda: audit(pf.feols(OLS, DATA, lean=False)),
    ),
    "no table": (
        lambda: audit(pf.feols(OLS, DATA, store_data=False)),
        "Feols of pyfixest", "give data= too",
        lambda: audit(pf.feols(OLS, DATA, store_data=False), data=DATA),
    ),
    "split": (
        lambda: qs.audit(
            pf.feols(OLS, DATA.assign(s=DATA.g % 2), split="s").to_list()[0], term="x"),
        "Feols of pyfixest", "give data= too",
        lambda: audit(pf.feols(OLS, DATA.assign(s=DATA.g % 2), split="s").to_list()[0],
                      data=DATA.assign(s=DATA.g % 2)),
    ),
    "quantreg": (
        lambda: audit(pf.quantreg("y ~ x", DATA)),
        "quantreg fits of pyfixest", "feols, fepois and feglm fits are",
        lambda: audit(pf.feols("y ~ x", DATA)),
    ),
    "vcov of a model by refits": (
        lambda: audit(smf.probit("b ~ x", DATA.assign(b=DATA.y > 0) * 1.0).fit(disp=0), vcov="HC1"),
        "Probit results of statsmodels", "give none of vcov",
        lambda: audit(smf.probit("b ~ x", DATA.assign(b=DATA.y > 0) * 1.0).fit(disp=0)),
    ),
    "slope of a model by refits": (
        lambda: audit(smf.rlm(OLS, DATA).fit(), claim="slope", threshold=(0, 1)),
        "RLM results of statsmodels", "'sign', 'significance' and 'reverse'",
        lambda: audit(smf.rlm(OLS, DATA).fit(), claim="reverse"),
    ),
    "systems": (
        lambda: audit(lm.SUR({"a": {"dependent": DATA.y, "exog": DATA[["x"]]},
                              "b": {"dependent": DATA.q, "exog": DATA[["z"]]}}).fit()),
        "SUR results of linearmodels|SystemResults", "results of PanelOLS",
        lambda: audit(lm.PanelOLS(DATA.set_index(["g", "t"]).y,
                                  DATA.set_index(["g", "t"])[["x"]]).fit()),
    ),
    "a joint test of a formula": (
        lambda: qs.audit(OLS, DATA, term=["x", "z"], claim="significance"),
        "a formula has one term", r"smf.ols\('y ~ x \+ z', data\).fit\(\)",
        lambda: audit(smf.ols(OLS, DATA).fit(), term=["x", "z"], claim="significance"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_is_named_and_the_advice_works(kind: str) -> None:
    ask, name, advice, follow = REFUSED[kind]
    with pytest.raises((TypeError, ValueError), match=name) as said:
        ask()
    assert said.match(advice)
    assert "\n" not in str(said.value)
    assert follow().before is not None

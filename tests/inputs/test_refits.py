"""Fitted models fitted again by their library equal a fit by hand on the table without the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadsweep.inputs.fitted.adapting import adapt
from quadsweep.inputs.fitted.protocol import Refused, difference

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")

pytestmark = pytest.mark.filterwarnings("ignore")

Fit = Callable[[Any], Any]
SAME = 1e-7  # likelihoods stop at the tolerances of their libraries


def panel(missing: bool = True, seed: int = 0) -> Any:
    """12 units in 10 years with a binary outcome, counts, weights and an instrument."""
    rng, n = np.random.default_rng(seed), 120
    table = pd.DataFrame({
        "x": rng.normal(size=n), "z": rng.normal(size=n), "q": rng.normal(size=n),
        "unit": np.arange(n) // 10, "year": 2000 + np.arange(n) % 10,
        "w": rng.uniform(0.5, 2, n), "wins": rng.integers(0, 5, n), "n": rng.integers(1, 4, n),
    })  # fmt: skip
    table["x"] += 0.8 * table["q"]
    table["y"] = 0.3 * table["x"] + table["z"] + 0.1 * table["unit"] + rng.normal(size=n)
    table["yes"] = (table["y"] + rng.normal(size=n) > 0.5).astype(float)
    table["count"] = rng.poisson(np.exp(0.3 * table["x"]) * rng.gamma(1.0, size=n)).astype(float)
    table["losses"], table["half"] = 5 - table["wins"], table["unit"] % 2
    if missing:
        table.loc[[3, 57], "z"] = np.nan
    return table


def ols(formula: str = "y ~ x + z", by: str = "", **options: Any) -> Fit:
    def fit(table: Any) -> Any:
        given = dict(options)
        if by:
            used = table.dropna()
            codes = [used[name] for name in by.split()]
            groups = codes[0] if len(codes) == 1 else np.column_stack(codes)
            given["cov_kwds"] = {"groups": groups, **given.get("cov_kwds", {})}
        return smf.ols(formula, table).fit(**given)

    return fit


def wls(**options: Any) -> Fit:
    return lambda table: smf.wls("y ~ x + z", table, weights=table["w"]).fit(**options)


def arrays(kind: str, y: str = "y", sigma: bool = False, **options: Any) -> Fit:
    """Without a formula, and without missing rows."""

    def fit(table: Any) -> Any:
        used = table.dropna()
        more = {"sigma": used["w"]} if sigma else {}
        columns = sm.add_constant(used[["x", "z"]])
        return getattr(sm, kind)(used[y], columns, **more).fit(**options)

    return fit


def glm(formula: str, family: str, link: str = "", by: str = "", **options: Any) -> Fit:
    """``by`` are pairs of an argument and the column for it."""

    def fit(table: Any) -> Any:
        links = {"link": getattr(sm.families.links, link)()} if link else {}
        columns = {key: table[name] for key, name in (pair.split("=") for pair in by.split())}
        made = getattr(sm.families, family)(**links)
        return smf.glm(formula, table, family=made, **columns).fit(**options)

    return fit


def mle(kind: str, formula: str, **options: Any) -> Fit:
    return lambda table: getattr(smf, kind)(formula, table).fit(disp=0, **options)


STATSMODELS: dict[str, Fit] = {
    "ols": ols(),
    "ols C()": ols("y ~ x + C(unit) + z", cov_type="HC1"),
    "ols center": ols("y ~ center(x) * z"),
    "ols bs": ols("y ~ z + bs(x, df=4)"),
    "ols HC3, t": ols(cov_type="HC3", use_t=True),
    "ols HAC": ols(cov_type="HAC", cov_kwds={"maxlags": 2}),
    "ols HAC, corrected": ols(cov_type="HAC", cov_kwds={"maxlags": 1, "use_correction": True}),
    "ols cluster": ols(by="unit", cov_type="cluster"),
    "ols cluster, plain": ols(by="unit", cov_type="cluster", cov_kwds={"use_correction": False}),
    "ols cluster two ways": ols(by="unit year", cov_type="cluster"),
    "ols hac-panel": ols(by="unit", cov_type="hac-panel", cov_kwds={"maxlags": 1}),
    "ols fixed scale": ols(cov_type="fixed scale", cov_kwds={"scale": 1.3}),
    "ols robustcov": lambda t: ols()(t).get_robustcov_results("HC2"),
    "wls": wls(),
    "wls HC3": wls(cov_type="HC3"),
    "arrays ols HC0": arrays("OLS", cov_type="HC0"),
    "arrays gls": arrays("GLS", sigma=True),
    "logit": mle("logit", "yes ~ x + z"),
    "logit HC1, t": mle("logit", "yes ~ x + z", cov_type="HC1", use_t=True),
    "probit": mle("probit", "yes ~ x + z"),
    "poisson": mle("poisson", "count ~ x + z"),
    "negativebinomial": mle("negativebinomial", "count ~ x + z"),
    "logit constrained": lambda t: smf.logit("yes ~ x + z", t).fit_constrained("x = z", disp=0),
    "glm counts": glm("wins + losses ~ x + z", "Binomial"),
    "glm probit": glm("yes ~ x + z", "Binomial", "Probit"),
    "glm offset": glm("count ~ x + z", "Poisson", by="offset=w"),
    "glm exposure": glm("count ~ x + z", "Poisson", by="exposure=w", cov_type="HC1"),
    "glm freq_weights": glm("yes ~ x + z", "Binomial", by="freq_weights=n"),
    "glm var_weights": glm("y ~ x + z", "Gaussian", by="var_weights=w"),
    "glm quasi": glm("count ~ x + z", "Poisson", scale="X2"),
    "glm newton": glm("count ~ x + z", "Poisson", method="newton"),
    "quantreg": lambda t: smf.quantreg("y ~ x + z", t).fit(q=0.3),
    "quantreg iid": lambda t: smf.quantreg("y ~ x + z", t).fit(vcov="iid", bandwidth="bofinger"),
    "rlm": lambda t: smf.rlm("y ~ x + z", t, M=sm.robust.norms.TukeyBiweight()).fit(cov="H2"),
}


def feols(formula: str = "y ~ x + z", function: str = "feols", **options: Any) -> Fit:
    def fit(table: Any) -> Any:
        given = dict(options)
        ssc = given.pop("ssc", None)
        if ssc is not None:
            given["ssc"] = pf.ssc(**ssc)
        return getattr(pf, function)(formula, table, **given)

    return fit


LAGS = {"lag": 1, "time_id": "year", "panel_id": "unit"}
PYFIXEST: dict[str, Fit] = {
    "iid": feols(vcov="iid"),
    "HC1": feols(vcov="hetero"),
    "HC3, weights": feols(vcov="HC3", weights="w"),
    "frequency weights": feols(weights="n", weights_type="fweights", vcov="HC1"),
    "CRV1": feols(vcov={"CRV1": "unit"}),
    "CRV1 two ways": feols(vcov={"CRV1": "unit + year"}),
    "CRV3": feols(vcov={"CRV3": "unit"}),
    "NW": feols(vcov="NW", vcov_kwargs=LAGS),
    "DK": feols(vcov="DK", vcov_kwargs=LAGS),
    "effects, iid": feols("y ~ x + z | unit", vcov="iid"),
    "effects, nested": feols("y ~ x + z | unit", vcov={"CRV1": "unit"}),
    "two effects": feols("y ~ x + z | unit + year", vcov="HC1"),
    "two effects, weights": feols("y ~ x + z | unit + year", weights="w", vcov={"CRV1": "unit"}),
    "two effects, none counted": feols(
        "y ~ x + z | unit + year", vcov="HC1", ssc={"k_fixef": "none"}
    ),
    "effects of pairs": feols("y ~ x + z | half^year", vcov="HC1", fixef_rm="none"),
    "C()": feols("y ~ x + C(unit)", vcov="HC1"),
    "i()": feols("y ~ x + i(half, z)", vcov="iid"),
    "IV": feols("y ~ z | x ~ q", vcov="HC1"),
    "IV, effects": feols("y ~ z | unit | x ~ q", vcov={"CRV1": "unit"}),
    "fepois": feols("count ~ x + z", "fepois", vcov="HC1", iwls_tol=1e-10),
    "fepois, effects": feols("count ~ x + z | unit", "fepois", iwls_tol=1e-10),
    "fepois, offset": feols("count ~ x + z", "fepois", offset="w", iwls_tol=1e-10),
    "feglm logit": feols("yes ~ x + z", "feglm", family="logit", vcov="iid"),
    "feglm probit": feols("yes ~ x + z", "feglm", family="probit", vcov="iid"),
    "feglm gaussian": feols("y ~ x + z | unit", "feglm", family="gaussian", vcov="HC1"),
    "without intercept": feols("y ~ x + z", drop_intercept=True, vcov="iid"),
    "not copied": feols("y ~ x + z | unit", copy_data=False, vcov="iid"),
}


def compare_with_a_fit_by_hand(fit: Fit, table: Any, subsets: int, least: int = 2) -> None:
    """On random subsets of 90% of the rows, whichever terms have figures."""
    model, compared = adapt(fit(table)), 0
    for seed in range(subsets):
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(model.n, int(0.9 * model.n), replace=False))
        gone = table.index[np.delete(model.places, rows)]
        by_hand = model.read_figures(fit(table.drop(index=gone)))
        found = model.refit(rows, model.terms)
        for term, figures in found.figures.items():
            assert difference(by_hand[term], figures) < SAME, (term, seed)
        compared += len(found.figures)
    assert compared >= least * subsets


MODELS = {f"statsmodels {kind}": fit for kind, fit in STATSMODELS.items()}
MODELS |= {f"pyfixest {kind}": fit for kind, fit in PYFIXEST.items()}


@pytest.mark.parametrize("kind", MODELS)
def test_a_refit_is_the_fit_without_the_rows(kind: str) -> None:
    compare_with_a_fit_by_hand(MODELS[kind], panel(missing="arrays" not in kind), 1)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_refits_of_many_subsets_are_fits_without_the_rows(kind: str, missing: bool) -> None:
    table = panel(missing and "arrays" not in kind, seed=1)
    compare_with_a_fit_by_hand(MODELS[kind], table, 5)


@pytest.mark.parametrize(
    ("fit", "sentence"),
    [
        (lambda t: smf.ols("y ~ x", t).fit_regularized(), "penalised .* fit the model with fit"),
        (lambda t: smf.logit("yes ~ x", t).fit_regularized(disp=0), "penalised"),
        (lambda t: smf.logit("yes ~ x", t).fit(disp=0, maxiter=1), "did not converge; raise"),
        (glm("yes ~ x", "Binomial", maxiter=1), "Binomial, Logit.* did not converge"),
        (lambda t: smf.mixedlm("y ~ x", t, groups=t["unit"]).fit(), "MixedLM results"),
        (lambda t: smf.poisson("count ~ x", t).fit_constrained("x = 0", disp=0, cov_type="HC1"),
         "the model differs"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_again_is_refused_in_one_sentence(fit: Fit, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        adapt(fit(panel(missing=False)))


def test_a_model_without_its_data_is_refused() -> None:
    fitted = ols()(panel())
    fitted.remove_data()
    with pytest.raises(Refused, match="fit the model again"):
        adapt(fitted)


def test_figures_that_the_library_does_not_return_again_are_refused() -> None:
    fitted = ols()(panel())
    fitted.df_resid = 50
    with pytest.raises(Refused, match=r"the model differs \(figures"):
        adapt(fitted)


def test_later_changes_of_the_table_do_not_change_refits() -> None:
    table = panel()
    fitted = ols()(table)
    model = adapt(fitted)
    table["x"] = 0.0
    again = model.refit(np.arange(model.n), ["x"])
    assert again.figures["x"].estimate == pytest.approx(fitted.params["x"], rel=1e-12)


def test_a_term_whose_base_level_is_gone_is_undefined() -> None:
    table = panel(missing=False)
    model = adapt(ols("y ~ x + C(unit)")(table))
    found = model.refit(np.flatnonzero(table["unit"] > 0), model.terms)
    assert set(found.undefined) == {"Intercept", *(f"C(unit)[T.{u}]" for u in range(1, 12))}
    assert "not identified" in found.undefined["C(unit)[T.3]"] or "no C(unit)" in str(found)
    assert set(found.figures) == {"x"}


def test_a_rank_loss_is_no_answer_of_a_pseudoinverse() -> None:
    table = panel(missing=False).assign(rare=lambda t: (t.index == 7).astype(float))
    model = adapt(ols("y ~ x + rare")(table))
    found = model.refit(np.delete(np.arange(120), 7), model.terms)
    assert set(found.undefined) == {"rare"}


def test_separated_rows_have_no_figures() -> None:
    table = panel(missing=False)
    table["low"] = ((table["x"] < 0) | (table.index == 5)).astype(float)
    table["yes"] = (table["low"] * (table["z"] > 0)).astype(float)
    table.loc[[1, 2, 3], "yes"] = 1.0
    fitted = smf.glm("yes ~ low + z", table, family=sm.families.Binomial()).fit()
    model = adapt(fitted)
    rest = np.flatnonzero((table["low"] == 1) | (table["yes"] == 0))
    found = model.refit(rest, model.terms)
    assert "separated" in found.undefined["low"]


def test_a_subset_has_its_rows_in_the_whole_table_if_that_is_given() -> None:
    table = panel()
    late = table["year"] > 2004
    fitted = smf.ols("y ~ x + z", table, subset=late).fit()
    model = adapt(fitted, table)
    assert table["year"].iloc[model.places].min() == 2005
    assert list(model.labels) == model.places.tolist()
    assert model.given == 120


def test_rows_of_weight_zero_are_no_rows() -> None:
    table = panel(missing=False)
    table.loc[[4, 9], "w"] = 0.0
    fitted = wls()(table)
    model = adapt(fitted)
    assert model.n == 118
    assert not {4, 9} & set(model.labels)
    assert model.refit(np.arange(118), ["x"]).figures["x"].df == 117

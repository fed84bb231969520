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
    "C()": feols("y ~ x + z + C(unit)", vcov="HC1"),
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


def indexed(
    kind: str, effects: str = "", other: str = "", by: str = "", weighted: bool = False,
    make: dict[str, Any] | None = None, **options: Any,
) -> Fit:  # fmt: skip
    """A panel model of linearmodels; ``effects`` are those of PanelOLS, ``by`` its clusters."""

    def fit(table: Any) -> Any:
        linearmodels = pytest.importorskip("linearmodels")
        rows = table.assign(one=1.0).set_index(["unit", "year"])
        more = dict(make or {})
        more |= {f"{name}_effects": True for name in effects.split()}
        if other:
            more["other_effects"] = rows[[other]]
        if weighted:
            more["weights"] = rows["w"]
        columns = ["x", "z"] if kind == "FirstDifferenceOLS" else ["one", "x", "z"]
        clusters = {"clusters": rows[[by]]} if by else {}
        model = getattr(linearmodels, kind)(rows["y"], rows[columns], **more)
        return model.fit(**options, **clusters)

    return fit


def instruments(kind: str = "IV2SLS", by: str = "", weighted: bool = False, **options: Any) -> Fit:
    def fit(table: Any) -> Any:
        linearmodels = pytest.importorskip("linearmodels")
        clusters = {"clusters": table.dropna()[by]} if by else {}
        formula = "y ~ 1 + z + [x ~ q]" if kind != "IVGMM" else "y ~ 1 + z + [x ~ q + w]"
        weights = table["w"] if weighted else None
        model = getattr(linearmodels, kind).from_formula(formula, table, weights=weights)
        return model.fit(**options, **clusters)

    return fit


def absorbing(**options: Any) -> Fit:
    def fit(table: Any) -> Any:
        linearmodels = pytest.importorskip("linearmodels")
        absorbed = table[["unit", "year"]].astype("category")
        columns = table[["x", "z"]].assign(one=1.0)
        return linearmodels.AbsorbingLS(table["y"], columns, absorb=absorbed).fit(**options)

    return fit


LINEARMODELS: dict[str, Fit] = {
    "PooledOLS robust": indexed("PooledOLS", cov_type="robust"),
    "PooledOLS weights": indexed("PooledOLS", weighted=True),
    "PanelOLS": indexed("PanelOLS", "entity"),
    "PanelOLS two effects": indexed("PanelOLS", "entity time", cov_type="robust"),
    "PanelOLS clustered": indexed("PanelOLS", "entity", cov_type="clustered", cluster_entity=True),
    "PanelOLS clustered by half": indexed(
        "PanelOLS", "time", by="half", cov_type="clustered", group_debias=True
    ),
    "PanelOLS not debiased": indexed("PanelOLS", "entity", debiased=False, cov_type="robust"),
    "PanelOLS without auto_df": indexed(
        "PanelOLS", "entity", cov_type="clustered", cluster_entity=True, auto_df=False
    ),
    "PanelOLS not counted": indexed(
        "PanelOLS", "entity", cov_type="robust", auto_df=False, count_effects=False
    ),
    "PanelOLS other effects": indexed("PanelOLS", "", "half", make={"drop_absorbed": True}),
    "PanelOLS Driscoll-Kraay": indexed("PanelOLS", "entity", cov_type="kernel", bandwidth=3),
    "PanelOLS weights": indexed("PanelOLS", "entity", weighted=True, cov_type="robust"),
    "PanelOLS no singletons": indexed("PanelOLS", "entity", make={"singletons": False}),
    "RandomEffects": indexed("RandomEffects", cov_type="robust"),
    "BetweenOLS": indexed("BetweenOLS", cov_type="robust"),
    "BetweenOLS reweighted": indexed("BetweenOLS", reweight=True),
    "FirstDifferenceOLS": indexed("FirstDifferenceOLS", cov_type="clustered", cluster_entity=True),
    "FamaMacBeth": indexed("FamaMacBeth", cov_type="kernel", bandwidth=2),
    "IV2SLS": instruments(),
    "IV2SLS clustered, debiased": instruments(by="unit", cov_type="clustered", debiased=True),
    "IV2SLS kernel": instruments(cov_type="kernel", bandwidth=2),
    "IV2SLS weights": instruments(weighted=True, cov_type="unadjusted"),
    "IVLIML": instruments("IVLIML"),
    "IVGMM": instruments("IVGMM"),
    "IVGMM iterated": instruments("IVGMM", iter_limit=20),
    "AbsorbingLS": absorbing(),
    "AbsorbingLS clustered": lambda t: absorbing(cov_type="clustered", clusters=t["unit"])(t),
}


def compare_with_a_fit_by_hand(fit: Fit, table: Any, subsets: int, least: int = 2) -> None:
    """On random subsets of 90% of the rows, whichever terms have figures."""
    model, compared = adapt(fit(table)), 0
    assert model.n == int(table[["z"]].notna().all(axis=1).sum())
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
MODELS |= {f"linearmodels {kind}": fit for kind, fit in LINEARMODELS.items()}


def is_complete(kind: str) -> bool:
    """Whether the fit needs a table without missing values."""
    return "arrays" in kind or "Absorbing" in kind


@pytest.mark.parametrize("kind", MODELS)
def test_a_refit_is_the_fit_without_the_rows(kind: str) -> None:
    compare_with_a_fit_by_hand(MODELS[kind], panel(missing=not is_complete(kind)), 1)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_refits_of_many_subsets_are_fits_without_the_rows(kind: str, missing: bool) -> None:
    if kind == "linearmodels BetweenOLS reweighted" and not missing:
        pytest.skip("in a balanced panel this option changes nothing, and is to be given")
    table = panel(missing and not is_complete(kind), seed=1)
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


def test_options_that_all_rows_do_not_tell_apart_are_named_and_may_be_given() -> None:
    pytest.importorskip("linearmodels")
    table = panel(missing=False)
    fit = indexed("RandomEffects", small_sample=True)
    assert adapt(fit(table)).assumed == ("small_sample=False",)
    model = adapt(fit(table), small_sample=True)
    assert model.assumed == ()
    by_hand = model.read_figures(fit(table.drop(index=[4, 50])))
    found = model.refit(np.delete(np.arange(120), [4, 50]), ["x"])
    assert difference(by_hand["x"], found.figures["x"]) < SAME


def test_rows_that_a_library_drops_by_itself_are_not_among_those_used() -> None:
    pytest.importorskip("linearmodels")
    table = panel(missing=False)
    for fit in (
        indexed("PanelOLS", "entity", make={"singletons": False}),
        feols("y ~ x + z | unit", vcov="iid"),
    ):
        rest = np.delete(np.arange(120), np.arange(9))  # one row of the first unit is left
        assert adapt(fit(table)).refit(rest, ["x"]).used.tolist() == list(range(10, 120))


def test_the_last_rows_of_effects_do_not_abort_the_process() -> None:
    table = panel(missing=False)
    model = adapt(feols("y ~ x + z | unit", vcov="iid")(table))
    assert "alone" in model.refit(np.arange(0, 120, 10), ["x"]).undefined["x"]


def test_a_model_of_pyfixest_without_its_table_is_fitted_to_the_one_given() -> None:
    table = panel()
    fit = feols("y ~ x + z | unit", vcov="HC1", lean=True)
    with pytest.raises(Refused, match="fit it with lean=False"):
        adapt(fit(table))
    model, rows = adapt(fit(table), table), np.arange(5, 118)
    by_hand = model.read_figures(fit(table.drop(index=[0, 1, 2, 4, 5])))
    assert model.n == 118
    assert difference(by_hand["x"], model.refit(rows, ["x"]).figures["x"]) < SAME


@pytest.mark.parametrize(
    ("fit", "sentence"),
    [
        (lambda t: pf.feols("y ~ sw(x, z)", t), r"several models .* fits.fetch_model\(0\)"),
        (lambda t: pf.feols("y ~ x", t, split="half").to_list()[0], "split sample .* give data="),
        (lambda t: pf.quantreg("y ~ x", t), "quantreg.* are not supported; feols"),
    ],
)
def test_models_of_pyfixest_that_have_no_refits_are_refused(fit: Fit, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        adapt(fit(panel(missing=False)))

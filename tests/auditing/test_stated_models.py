"""What an audit says of the model itself is what the libraries say of it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import quadsweep as qs
from quadsweep.auditing import confirm, likelihood
from quadsweep.auditing.design import Design
from quadsweep.inputs.standard_errors import StandardErrors

pytest.importorskip("statsmodels")
pytest.importorskip("formulaic")
import statsmodels.api as sm
import statsmodels.formula.api as smf

auditing = import_module("quadsweep.auditing.audit")


def table(n: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["x", "z", "w", "e"])
    frame["f"] = rng.choice(list("abc"), n)
    frame["y"] = 5 + 0.5 * frame.x + frame.e
    return frame


@pytest.mark.parametrize("formula", ["y ~ 0 + x + C(f)", "y ~ 0 + x + C(f) + z", "y ~ x + z - 1"])
def test_r2_is_about_the_mean_where_the_columns_span_a_constant(formula: str) -> None:
    frame = table()
    fitted = smf.ols(formula, frame).fit()
    for given in ((formula, frame), (fitted,)):
        found = qs.audit(*given, term="x", claim="r2", threshold=0.99, max_drop=1)
        assert found.before.r2 == pytest.approx(fitted.rsquared, rel=1e-12)
    assert qs.solve(formula, frame, drop=0, objective="r2").value == pytest.approx(
        fitted.rsquared, rel=1e-9
    )


def test_r2_falls_as_that_of_the_same_model_with_an_intercept() -> None:
    frame = table(16)
    one, other = (
        qs.audit(f"y ~ {right}", frame, term="x", claim="r2", threshold=0.2, max_drop=6)
        for right in ("0 + x + C(f)", "x + C(f)")
    )
    assert (one.lower, one.upper) == (other.lower, other.upper)
    assert one.after.r2 == pytest.approx(other.after.r2)


def test_a_term_that_spans_a_constant_with_the_controls_has_a_centred_r2() -> None:
    frame = table().assign(v=lambda t: 1 - t.x)
    fitted = smf.ols("y ~ 0 + x + v", frame).fit()
    assert qs.audit("y ~ 0 + x + v", frame, term="x").before.r2 == pytest.approx(fitted.rsquared)
    with pytest.raises(ValueError, match="span a constant"):
        qs.audit("y ~ 0 + x + v", frame, term="x", claim="r2", threshold=0.5)


def test_three_rows_are_kept_without_an_intercept() -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 1, 2, 3], "y": [5.0, 5, 5, 5, -1, -2]})
    assert qs.audit("y ~ 0 + x", frame).max_drop == 3
    with pytest.raises(ValueError, match="at least 4 rows"):
        qs.audit("y ~ 0 + x", frame[:3])


def test_an_anderson_rubin_audit_states_the_p_of_its_own_test() -> None:
    frame = table(30, 3)
    frame["d"] = frame.z + frame.w
    frame["y"] = 0.3 * frame.d + frame.e
    found = qs.audit("y ~ w + [d ~ z]", frame, vcov="anderson-rubin", claim="significance")
    kept = frame.drop(index=found.outliers)
    for fit, rows in ((found.before, frame), (found.after, kept)):
        reduced = smf.ols("y ~ w + z", rows).fit()
        assert fit.p_value == pytest.approx(reduced.pvalues["z"], rel=1e-9)
        assert fit.t == pytest.approx(reduced.tvalues["z"], rel=1e-9)
        assert "t of the reduced form" in str(fit)


def test_z_tests_print_z() -> None:
    frame = table()
    robust = qs.audit(smf.ols("y ~ x + z", frame).fit(cov_type="HC1"), term="x")
    logit = qs.audit(smf.logit("b ~ x", frame.assign(b=1.0 * (frame.y > 5))).fit(disp=0), term="x")
    assert ", z " in str(robust.before)
    assert ", z " in str(logit.before)
    assert ", t " in str(qs.audit("y ~ x + z", frame, term="x").before)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_rows_with_missing_values_are_neither_kept_nor_removed(library: str) -> None:
    module = pytest.importorskip(library)
    frame = table()[["x", "y"]]
    frame.loc[[3, 7], "x"] = np.nan
    given = {
        "pandas": lambda: frame,
        "polars": lambda: module.DataFrame(frame.to_dict("list")),
        "pyarrow": lambda: module.Table.from_pandas(frame, preserve_index=False),
    }[library]()
    found = qs.audit(given, "y", x="x", nan_policy="omit")
    marked = found.to_frame()
    column = marked["inlier"].to_pylist() if library == "pyarrow" else list(marked["inlier"])
    missing = [v is None or v is pd.NA for v in column]
    assert np.flatnonzero(missing).tolist() == [3, 7]
    assert (
        np.flatnonzero([not (m or v) for m, v in zip(missing, column, strict=True)]).tolist()
        == found.outliers.tolist()
    )


def test_a_model_that_cannot_be_audited_leaves_the_others_in_the_table() -> None:
    frame = table()
    probit = sm.Probit(frame.y > 5, sm.add_constant(frame[["x"]])).fit(disp=0)
    penalised = smf.ols("y ~ x", frame).fit_regularized(alpha=0.1)
    models = {"ols": smf.ols("y ~ x", frame).fit(), "probit": probit, "penalised": penalised}
    found = qs.audit_table(models, "x", "sign")
    assert "ols" in [each.name for each in found]
    assert set(found.left_out) == set(models) - {each.name for each in found}
    assert "penalised" in found.left_out


@pytest.mark.parametrize("right", ["x * center(z)", "x + bs(z, df=4) + x:standardize(w)"])
def test_transforms_that_depend_on_the_rows_are_said_to_be_fixed(right: str) -> None:
    frame = table(30, 5).assign(y=lambda t: t.y + 4 * t.x * t.z + t.x)
    found = qs.audit(f"y ~ {right}", frame, term="x")
    again = smf.ols(f"y ~ {right}", frame.drop(index=found.outliers)).fit()
    assert again.params["x"] != pytest.approx(found.after.slope, rel=1e-4)
    assert "(transforms fixed at all rows)" in found.message
    assert "fixed at all rows" not in qs.audit("y ~ x + z + C(f)", frame, term="x").message


@pytest.mark.parametrize(
    ("formula", "kind", "name"),
    [
        ("y ~ x + z", "classical", "se"),
        ("y ~ x | f", {"CRV1": "f"}, "freedom"),
        ("y ~ z + [x ~ w]", "HC1", "slope"),
        ("y ~ 0 + x", "HC3", "se"),
    ],
)
def test_a_fit_that_differs_from_another_path_is_not_stated(formula, kind, name, monkeypatch):
    frame = table(20).assign(x=lambda t: t.x + t.w)
    settings = {"term": "x", "vcov": kind, "claim": "slope", "threshold": (-9, 1.2)}
    true = auditing.fit_term
    assert qs.audit(formula, frame, **settings).upper is not None
    few = [False]

    def differ(design, kept, errors):
        fit = true(design, kept, errors)
        wrong = len(kept) < len(frame) or not few[0]
        return replace(fit, **{name: getattr(fit, name) * 1.25}) if wrong else fit

    monkeypatch.setattr(auditing, "fit_term", differ)
    with pytest.raises(ValueError, match="it is not audited"):
        qs.audit(formula, frame, **settings)
    few[0] = True
    found = qs.audit(formula, frame, **settings)
    assert (found.lower, found.upper, found.after, found.status) == (1, None, None, "undecided")
    assert "is not stated: fitted again without them, the " in found.message


def test_many_rows_are_fitted_again_in_blocks(monkeypatch) -> None:
    frame = table(500, 2)
    monkeypatch.setattr(confirm, "_BLOCK", 60)
    given = confirm.StatedModel(
        Design(frame.x, frame.y, np.column_stack([np.ones(500), frame.z + 1000]), 0, None,
               np.arange(500), None), StandardErrors("HC3", k_adj=False),
    )  # fmt: skip
    fitted = smf.ols("y ~ x + z", frame).fit(cov_type="HC3", use_t=True)
    assert given.refit(np.arange(500)).se == pytest.approx(fitted.bse["x"], rel=1e-9)


def test_a_removal_that_the_library_does_not_confirm_is_not_stated() -> None:
    frame = table(30, 4)
    fitted = smf.ols("y ~ x", frame).fit()
    found = qs.audit(fitted, term="x", claim="significance")
    again = smf.ols("y ~ x", frame.drop(index=found.outliers)).fit()
    assert found.after.p_value == pytest.approx(again.pvalues["x"])
    after = confirm.TermFit(29, 0.5, np.nan, 0.5, 0.4, 0.01, 0.1, 5.0, 27)
    model, ways = found.regression.model, [p.condition for p in found.problems]
    lost = replace(after, t=0.1, p_value=0.92)
    assert confirm.confirm_by_library(model, "", lost, lost, ways).after is lost
    refused = confirm.confirm_by_library(model, "", lost, after, ways)
    assert refused.after is None
    assert "fitted again by OLS results of statsmodels, the t statistic is 5" in refused.remark
    undefined = confirm.confirm_by_library(model, "the rows are separated", lost, after, ways)
    assert undefined.is_undefined
    assert "without its rows the rows are separated" in undefined.remark


def test_a_fitted_model_computes_its_transforms_anew() -> None:
    frame = table(30, 5).assign(y=lambda t: t.y + 4 * t.x * t.z + t.x)
    found = qs.audit(smf.ols("y ~ x * center(z)", frame).fit(), term="x")
    assert "transforms fixed at all rows" in found.message or "is not stated" in found.message
    if found.after is not None:
        again = smf.ols("y ~ x * center(z)", frame.drop(index=found.outliers)).fit()
        assert found.after.slope == pytest.approx(again.params["x"], rel=1e-9)


@pytest.mark.parametrize("is_fitted", [False, True])
def test_a_proof_without_a_removal_says_that_transforms_were_fixed(is_fitted: bool) -> None:
    frame = table(30, 5).assign(y=lambda t: 9 * t.x + 4 * t.x * t.z + 0.1 * t.e)
    for right, is_fixed in (("x * center(z)", True), ("x + z", False)):
        text = f"y ~ {right}"
        given = (smf.ols(text, frame).fit(),) if is_fitted else (text, frame)
        found = qs.audit(*given, term="x", max_drop=2)
        assert found.after is None
        assert found.message.startswith("No removal of up to 2 of 30 rows (7%) reverses the sign")
        assert ("(transforms fixed at all rows)" in found.message) == is_fixed


def test_a_bound_of_a_fitted_model_says_which_removals_it_does_not_count() -> None:
    frame = table(40).assign(b=lambda t: 1.0 * (t.e + t.x > 0), y=lambda t: t.y + 3 * t.x)
    sentence = "Removals after which the term has no figures are not counted."
    few = frame.assign(f=["a"] * 2 + ["b"] * 38)
    for fitted, can_be_undefined in (
        (smf.ols("y ~ x + z", frame).fit(), False),
        (smf.ols("y ~ x + C(f)", few).fit(), True),
        (smf.logit("b ~ x", frame).fit(disp=0), True),
    ):
        found = qs.audit(fitted, term="x", max_drop=2)
        assert found.lower > 2
        assert (sentence in found.message) == can_be_undefined


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("effects", ["g + u", "g + f + u", "g^f + f", "f + u"])
@pytest.mark.parametrize(
    "kind", ["iid", "HC1", *({"CRV1": by} for by in ("g", "u", "f", "above", "between", "g + f"))],
    ids=str,
)  # fmt: skip
def test_nested_effects_count_as_in_pyfixest(effects: str, kind) -> None:
    pyfixest = pytest.importorskip("pyfixest")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"g": rng.integers(0, 6, 240), "f": rng.integers(0, 7, 240)})
    frame["u"] = frame.g * 5 + rng.integers(0, 5, 240)
    frame = frame.assign(above=frame.g // 2, between=frame.u // 3)
    frame[["x", "z", "y"]] = rng.normal(size=(240, 3))
    text = f"y ~ x + z | {effects}"
    asked = {"HC1": "HC1", "iid": None}.get(str(kind), kind)
    found = qs.audit(text, frame, term="x", vcov=asked, claim="significance", time_limit=0.05)
    for fit, gone in ((found.before, []), (found.after, found.outliers)):
        if fit is not None:
            stated = pyfixest.feols(text, frame.drop(index=gone), vcov=kind)
            assert fit.se == pytest.approx(stated.se()["x"], rel=1e-6)
            assert fit.p_value == pytest.approx(stated.pvalue()["x"], rel=1e-6)


@pytest.mark.parametrize("kind", ["classical", "HC1", "HC3", {"CRV1": "f"}], ids=str)
@pytest.mark.parametrize("right", ["x + z", "x + z + C(f)", "x + z | f"])
def test_audits_with_fixed_controls_are_fitted_again(right: str, kind, monkeypatch) -> None:
    frame = table(40, 6).assign(f=lambda t: np.arange(40) % 7)
    text = f"y ~ {right}"
    found = qs.audit(text, frame, term="x", controls="fixed", vcov=kind, claim="significance")
    assert found.after is not None
    independent = auditing._independent(found.regression)
    for fit, kept in ((found.before, np.arange(40)), (found.after, np.flatnonzero(found.mask))):
        again = independent.refit(kept)
        assert again is not None
        assert confirm.find_difference(fit, again) == ""
        assert again.se == pytest.approx(fit.se, rel=1e-9)
    true = auditing.fit_term
    monkeypatch.setattr(auditing, "fit_term", lambda *a: replace(true(*a), slope=1e-3))
    with pytest.raises(ValueError, match="it is not audited"):
        qs.audit(text, frame, term="x", controls="fixed", vcov=kind, claim="significance")


@pytest.mark.parametrize("link", ["logit", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_logit_and_poisson_are_fitted_again_by_other_steps(link: str, weighted: bool) -> None:
    rng = np.random.default_rng(8)
    frame = table(80, 7).assign(g=lambda t: 1e4 + t.z)
    eta = 0.5 * frame.x - 0.2 * frame.z
    y = (
        (rng.random(80) < 1 / (1 + np.exp(-eta))) * 1.0
        if link == "logit"
        else rng.poisson(np.exp(eta))
    )
    weights = rng.uniform(1, 3, 80) if weighted else None
    columns = np.column_stack([np.ones(80), frame.g, frame.w])
    design = Design(frame.x.to_numpy(), np.asarray(y, float), columns, 0, weights, np.arange(80),
                    None, link=link)  # fmt: skip
    for kept in (np.arange(80), np.arange(5, 70)):
        ours = likelihood.fit_likelihood(design, kept)
        again = confirm.StatedModel(design, StandardErrors()).refit(kept)
        assert again is not None
        assert confirm.find_difference(ours, again) == ""
        family = sm.families.Binomial() if link == "logit" else sm.families.Poisson()
        X = np.column_stack([frame.x, columns])[kept]
        some = None if weights is None else weights[kept]
        theirs = sm.GLM(design.y[kept], X, family, freq_weights=some).fit(tol=1e-12)
        assert again.slope == pytest.approx(theirs.params[0], rel=1e-7)
        assert again.se == pytest.approx(theirs.bse[0], rel=1e-6)
        assert again.p_value == pytest.approx(theirs.pvalues[0], rel=1e-6)


def test_a_separated_outcome_has_no_second_fit() -> None:
    x = np.linspace(-1, 1, 20)
    design = Design(x, 1.0 * (x > 0), np.ones((20, 1)), 0, None, np.arange(20), None, link="logit")
    assert confirm.StatedModel(design, StandardErrors()).refit(np.arange(20)) is None


def test_an_audit_of_a_logit_with_other_weights_is_confirmed(monkeypatch) -> None:
    frame = table(60, 9).assign(b=lambda t: 1.0 * (t.x + 2 * t.e > 0))
    fitted = smf.logit("b ~ x + z", frame).fit(disp=0)
    settings = {"term": "x", "weights": np.full(60, 2.0), "max_drop": 20}
    found = qs.audit(fitted, **settings)
    assert found.after is not None
    true = auditing.likelihood.fit_likelihood
    monkeypatch.setattr(
        auditing.likelihood,
        "fit_likelihood",
        lambda *a: replace(true(*a), slope=true(*a).slope * 1.1),
    )
    with pytest.raises(ValueError, match="the coefficient is"):
        qs.audit(fitted, **settings)

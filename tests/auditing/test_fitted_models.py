"""Fitted models: their own standard errors, weights and rows are used, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from fitted_models import (
    EFFECTS,
    FORMULA,
    INSTRUMENTED,
    MODELS,
    OTHERS,
    feols,
    firms,
    instrumented,
    iv2sls,
    ols,
    p_value,
    panel,
)

import quadsweep as qs

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")

# pyfixest and statsmodels warn of what pandas will change.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("kind", [*MODELS, *OTHERS])
def test_the_models_own_test_is_the_one_that_is_audited(kind: str) -> None:
    frame, fit = instrumented(firms()), (MODELS | OTHERS)[kind]
    fitted = fit(frame)
    found = qs.audit(fitted, term="value", claim="significance", time_limit=2)
    assert found.before.p_value == pytest.approx(p_value(fitted), rel=1e-8)
    assert found.before.p_value <= 0.05
    assert found.upper is not None
    refitted = fit(frame.drop(index=found.outliers).reset_index(drop=True))
    assert found.after is not None
    assert found.after.p_value == pytest.approx(p_value(refitted), rel=1e-8)
    assert p_value(refitted) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ols HC1", "ols HC3", "ols cluster", "ols nonrobust, z"])
def test_fewer_than_lower_never_break_the_models_own_test(kind: str) -> None:
    frame, fit = firms(20, seed=3), MODELS[kind]
    found = qs.audit(fit(frame), term="value", claim="significance", time_limit=2)
    assert found.before.p_value <= 0.05
    fewest = next(
        m for m in (1, 2) for gone in combinations(range(20), m)
        if p_value(fit(frame.drop(index=list(gone)).reset_index(drop=True))) > 0.05
    )  # fmt: skip
    assert found.lower <= fewest
    assert found.upper is not None
    assert found.upper >= fewest


def test_the_test_is_named() -> None:
    frame = firms()
    clustered = qs.audit(MODELS["feols CRV1"](frame), term="value", claim="significance")
    assert "t test, standard errors clustered by firm" in clustered.message
    normal = qs.audit(MODELS["ols HC1"](frame), term="value", claim="significance")
    assert "z test, HC1 standard errors" in normal.message


@pytest.mark.parametrize("fit", [feols(vcov={"CRV1": "firm"}), ols("HC1")])
def test_rows_that_the_model_left_out_stay_out_and_positions_are_the_frames(fit: Any) -> None:
    frame = firms()
    frame.loc[[0, 7], "capital"] = np.nan
    found = qs.audit(fit(frame), term="value", claim="significance", time_limit=2)
    assert found.n == 58
    assert found.omitted.tolist() == [0, 7]
    assert len(found.mask) == 60
    refitted = fit(frame.drop(index=found.outliers).reset_index(drop=True))
    assert found.after is not None
    assert found.after.p_value == pytest.approx(p_value(refitted), rel=1e-8)
    marked = found.to_frame()
    assert len(marked) == 60
    assert np.flatnonzero(marked["inlier"].isna()).tolist() == [0, 7]
    assert np.flatnonzero(~marked["inlier"].fillna(True)).tolist() == found.outliers.tolist()


def test_rows_with_the_same_label_are_told_apart() -> None:
    frame = firms()
    frame.loc[3, "capital"] = np.nan
    frame.index = ["same"] * len(frame)
    found = qs.audit(smf.ols(FORMULA, frame).fit(), term="value")
    assert found.omitted.tolist() == [3]


def test_a_subset_keeps_its_labels() -> None:
    frame = firms()
    late = frame["year"] >= 2001
    found = qs.audit(smf.ols(FORMULA, frame, subset=late).fit(), term="value")
    assert found.n == int(late.sum())
    assert found.labels == frame.index[late].tolist()


def test_vcov_of_the_caller_is_taken_instead_of_the_models() -> None:
    frame = firms()
    found = qs.audit(MODELS["ols HC1"](frame), term="value", claim="significance",
                     vcov={"CRV1": "firm"}, time_limit=2)  # fmt: skip
    assert found.before.p_value == pytest.approx(p_value(MODELS["feols CRV1"](frame)))


def frequencies(frame: Any) -> Any:
    return pf.feols(FORMULA, frame.assign(weight=2), weights="weight", weights_type="fweights")


def newey_west(frame: Any) -> Any:
    times = {"lag": 1, "time_id": "time"}
    return pf.feols(FORMULA, frame.assign(time=frame.index), vcov="NW", vcov_kwargs=times)


def ridge(frame: Any) -> Any:
    linear_model = pytest.importorskip("sklearn.linear_model")
    return linear_model.Ridge().fit(frame[["value"]], frame["invest"])


def split(frame: Any) -> Any:
    return pf.feols(FORMULA, frame.assign(half=frame["year"] > 2002), split="half").to_list()[0]


OWN_ERRORS = {
    "NW": newey_west,
    "CRV3": feols(vcov={"CRV3": "firm"}),
    "HAC": ols("HAC", maxlags=1),
    "frequency-weighted": frequencies,
    "fixed scale": lambda f: smf.ols(FORMULA, f).fit(
        cov_type="fixed scale", cov_kwds={"scale": 2.0}
    ),
    "driscoll-kraay": panel(cov_type="kernel"),
    "PanelOLS .* z test, robust": panel(cov_type="robust", debiased=False),
    "z test, kernel": iv2sls(cov_type="kernel"),
    "IV2SLS .* z test, unadjusted": iv2sls(cov_type="unadjusted"),
    "Logit .* z test, HC1": lambda f: smf.logit("chosen ~ value", f).fit(disp=0, cov_type="HC1"),
    "Poisson, Log.* z test, nonrobust": lambda f: smf.glm(
        "visits ~ value", f, family=sm.families.Poisson()
    ).fit(scale="X2"),
}


@pytest.mark.parametrize("errors", OWN_ERRORS)
def test_a_sign_is_audited_whatever_the_standard_errors(errors: str) -> None:
    frame, fit = instrumented(firms()), OWN_ERRORS[errors]
    fitted = fit(frame)
    found = qs.audit(fitted, term="value", time_limit=3)
    assert found.before.p_value == pytest.approx(p_value(fitted), rel=1e-8)
    assert found.upper is not None
    refitted = fit(frame.drop(index=found.outliers).reset_index(drop=True))
    coef = refitted.coef() if hasattr(refitted, "_vcov_type") else refitted.params
    assert found.after.slope == pytest.approx(float(coef["value"]), rel=1e-6)
    assert found.before.slope * found.after.slope < 0


SLOW = ("NW", "CRV3", "frequency-weighted", "driscoll-kraay", "PanelOLS .* z test, robust")


@pytest.mark.parametrize(
    "errors",
    [
        pytest.param(errors, marks=[pytest.mark.slow] if errors in SLOW else [])
        for errors in OWN_ERRORS
        if "kernel" not in errors and "IV2SLS" not in errors
    ],
)
def test_errors_without_a_search_are_searched_by_refits(errors: str) -> None:
    frame, fit = instrumented(firms(30, seed=3)), OWN_ERRORS[errors]
    fitted = fit(frame)
    was = p_value(fitted) <= 0.05
    found = qs.audit(fitted, term="value", claim="significance", max_drop=1)
    each = [p_value(fit(frame.drop(index=i).reset_index(drop=True))) <= 0.05 for i in range(30)]
    assert (found.upper == 1) == any(one != was for one in each)
    assert found.status in ("optimal", "robust")


def test_a_test_by_refits_finds_removals_of_several_rows() -> None:
    frame, fit = firms(), OWN_ERRORS["HAC"]
    found = qs.audit(fit(frame), term="value", claim="significance", max_drop=12)
    assert found.upper is not None
    assert found.upper > found.lower - 1 >= 1
    refitted = fit(frame.drop(index=found.outliers).reset_index(drop=True))
    assert found.after.p_value == pytest.approx(p_value(refitted), rel=1e-8)
    assert found.before.p_value <= 0.05 < p_value(refitted)
    assert "HAC standard errors" in found.message


@pytest.mark.parametrize(
    "fit",
    [
        lambda f: smf.ols("invest ~ value + capital + I(2 * capital)", f).fit(
            cov_type="cluster", cov_kwds={"groups": f["half"] + 2 * f["late"]}
        ),
        lambda f: pf.feols("invest ~ value | firm + half", f, vcov="HC1"),
        lambda f: smf.wls(FORMULA, f, weights=f["late"]).fit(),
    ],
)  # columns that others explain, effects within effects, rows of weight zero
def test_factors_that_the_search_counts_otherwise_are_the_librarys(fit: Any) -> None:
    frame = firms(30, seed=3)
    fitted = fit(frame)
    found = qs.audit(fitted, term="value", claim="significance", max_drop=1)
    assert found.before.p_value == pytest.approx(p_value(fitted), rel=1e-8)
    was = p_value(fitted) <= 0.05
    each = [p_value(fit(frame.drop(index=i).reset_index(drop=True))) <= 0.05 for i in range(30)]
    assert (found.upper == 1) == any(one != was for one in each)


@pytest.mark.parametrize("errors", ["z test, kernel", "IV2SLS .* z test, unadjusted"])
def test_errors_of_instruments_without_a_search_are_refused_for_significance(errors: str) -> None:
    fitted = OWN_ERRORS[errors](instrumented(firms()))
    with pytest.raises(ValueError, match=rf"{errors} standard errors .* claim='sign' works"):
        qs.audit(fitted, term="value", claim="significance", time_limit=2)


@pytest.mark.parametrize("errors", ["NW", "HAC", "driscoll-kraay"])
def test_the_vcov_that_a_refusal_offers_works(errors: str) -> None:
    fitted = OWN_ERRORS[errors](firms())
    found = qs.audit(fitted, term="value", claim="significance", vcov="HC1", max_drop=1)
    assert "HC1" in found.test


@pytest.mark.parametrize(
    ("fit", "sentence"),
    [
        (feols(lean=True), "lean=True"),
        (split, "split sample"),
        (lambda f: sm.OLS(f["invest"], f[["value"]]), "OLS of statsmodels"),
        (ridge, "Ridge of sklearn"),
        (lambda f: smf.gls(FORMULA, f, sigma=np.eye(60) + 0.1).fit(), "full covariance"),
        (lambda f: smf.ols(FORMULA, f).fit_regularized(), "penalised"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(fit: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        qs.audit(fit(instrumented(firms())), term="value", claim="significance", time_limit=2)


@pytest.mark.parametrize("kind", ["feols instrument, HC1", "IV2SLS robust"])
def test_a_fitted_model_with_an_instrument_is_the_regression_of_its_formula(kind: str) -> None:
    frame = instrumented(firms())
    frame.loc[[2, 9], "signal"] = np.nan
    found = qs.audit(OTHERS[kind](frame), term="value", max_drop=2)
    same = qs.audit(INSTRUMENTED, frame, nan_policy="omit", max_drop=2)
    assert found.omitted.tolist() == same.omitted.tolist() == [2, 9]
    assert found.before.slope == pytest.approx(same.before.slope)
    assert (found.lower, found.upper) == (same.lower, same.upper) == (3, None)
    assert "(instrumented by signal, given capital)" in found.message


def test_a_standard_error_that_a_refit_does_not_return_is_refused() -> None:
    fitted = MODELS["feols CRV1"](firms())
    fitted._se = 1.01 * fitted._se
    with pytest.raises(TypeError, match=r"the model differs \(figures 9.9e-03 apart\)"):
        qs.audit(fitted, term="value", claim="significance")


def test_least_squares_fits_of_other_names_are_audited() -> None:
    frame = firms()
    same = qs.audit(ols()(frame), term="value")
    for fitted in (
        smf.glm(FORMULA, frame).fit(),
        smf.gls(FORMULA, frame).fit(),
        smf.gls(FORMULA, frame, sigma=np.full(60, 2.0)).fit(),
    ):
        found = qs.audit(fitted, term="value")
        assert (found.lower, found.upper) == (same.lower, same.upper)


def counts(n: int = 40) -> Any:
    rng = np.random.default_rng(2)
    x = rng.normal(size=n)
    wins = rng.binomial(20, 1 / (1 + np.exp(-0.1 * x - 0.3 * rng.normal(size=n))))
    return pd.DataFrame({"x": x, "wins": wins, "losses": 20 - wins})


def test_counts_of_successes_and_failures_are_not_a_binary_outcome() -> None:
    frame = counts()
    family = sm.families.Binomial()
    fitted = smf.glm("wins + losses ~ x", frame, family=family).fit()
    found = qs.audit(fitted, term="x")
    assert found.before.slope == pytest.approx(fitted.params["x"], rel=1e-9)
    rest = frame.drop(index=found.outliers)
    after = smf.glm("wins + losses ~ x", rest, family=family).fit()
    assert found.after.slope == pytest.approx(after.params["x"], rel=1e-9)
    assert fitted.params["x"] * after.params["x"] < 0
    for i in range(len(frame)):  # none by itself
        alone = smf.glm("wins + losses ~ x", frame.drop(index=i), family=family).fit()
        assert (alone.params["x"] * fitted.params["x"] < 0) <= (found.lower == 1)


def test_a_linked_model_with_use_t_has_its_t_test() -> None:
    frame = instrumented(firms())
    fitted = smf.logit("chosen ~ value", frame).fit(disp=0, use_t=True)
    found = qs.audit(fitted, term="value", claim="significance", max_drop=2, time_limit=5)
    assert found.before.p_value == fitted.pvalues["value"]
    assert "logit regression, t test" in found.test


def test_removals_of_a_panel_count_the_singletons_that_they_leave() -> None:
    linearmodels = pytest.importorskip("linearmodels")
    decided = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"unit": np.arange(24) // 2, "year": np.arange(24) % 2})
        frame["x"] = rng.normal(size=24)
        frame["y"] = 0.7 * frame["x"] + frame["unit"] / 5 + rng.normal(size=24)

        def fit(table: Any) -> Any:
            rows = table.set_index(["unit", "year"])
            model = linearmodels.PanelOLS(
                rows["y"], rows[["x"]], entity_effects=True, singletons=False
            )
            return model.fit()

        fitted = fit(frame)
        found = qs.audit(fitted, term="x", claim="significance", max_drop=1)
        was = fitted.pvalues["x"] <= 0.05
        each = [fit(frame.drop(index=i)).pvalues["x"] <= 0.05 for i in range(24)]
        assert (found.upper == 1) == any(one != was for one in each), seed
        decided.add(found.upper)
    assert len(decided) > 1


def test_groups_may_be_named_as_the_index_of_a_panel() -> None:
    fitted = panel(cov_type="clustered", cluster_entity=True)(firms())
    found = qs.audit(fitted, term="value", groups="entity", max_drop=3)
    assert found.n_groups == 12
    tested = qs.audit(fitted, term="value", claim="significance", max_drop=1, time_limit=1)
    assert "clustered by entity" in tested.test


@pytest.mark.parametrize("vcov", ["iid", "HC1", {"CRV1": "firm + year"}])
def test_fixed_effects_after_a_bar_are_those_of_feols(vcov: Any) -> None:
    frame = firms()
    fitted = pf.feols(EFFECTS, frame, vcov=vcov)
    found = qs.audit(EFFECTS, frame, term="value", claim="significance", vcov=vcov, time_limit=2)
    assert found.before.slope == pytest.approx(fitted.coef()["value"])
    assert found.before.p_value == pytest.approx(p_value(fitted))
    assert found.before.r2 == pytest.approx(fitted._r2)
    assert found.upper is not None
    refitted = pf.feols(EFFECTS, frame.drop(index=found.outliers), vcov=vcov)
    assert found.after is not None
    assert found.after.p_value == pytest.approx(p_value(refitted))


def test_fixed_effects_after_a_bar_are_dummies() -> None:
    frame = firms(30)
    bar = qs.audit("invest ~ value | firm", frame, term="value", max_drop=2)
    dummies = qs.audit("invest ~ value + C(firm)", frame, term="value", max_drop=2)
    assert (bar.lower, bar.upper) == (dummies.lower, dummies.upper)
    assert "(given firm)" in bar.message


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ({"cov_type": "HC1"}, "ols HC1"),
        ({"cov_type": "HC3", "cov_kwds": {"use_t": False}}, "ols HC3"),
        ({"cov_type": "cluster", "cov_kwds": {"groups": "firm"}}, "ols cluster"),
        ({"cov_type": "cluster", "cov_kwds": {"groups": ["firm", "year"]}}, "ols cluster two ways"),
        ({"cov_type": "cluster", "cov_kwds": {"groups": "firm", "use_t": True}}, "ols cluster, t"),
        ({"vcov": "HC2"}, "ols HC2, t"),
        ({"vcov": {"CRV1": "firm"}}, "feols CRV1"),
        ({"vcov": {"CRV1": "firm + year"}}, "feols CRV1 two ways"),
        ({"vcov": "firm + year"}, "feols CRV1 two ways"),
        ({"vcov": "hetero"}, "feols HC1"),
    ],
)
def test_standard_errors_are_asked_for_in_either_librarys_words(words: Any, kind: str) -> None:
    frame = firms()
    fit = ols("HC2", use_t=True) if kind == "ols HC2, t" else MODELS[kind]
    found = qs.audit(FORMULA, frame, term="value", claim="significance", time_limit=0.2, **words)
    assert found.before.p_value == pytest.approx(p_value(fit(frame)))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"cov_type": "HAC"}, "cov_type must be 'nonrobust'"),
        ({"cov_type": "HC1", "cov_kwds": {"maxlags": 1}}, r"'HC1' with \['maxlags'\]"),
        ({"cov_kwds": {"groups": "firm"}}, "cov_kwds goes with cov_type"),
        ({"vcov": "HC1", "cov_type": "HC1"}, "give vcov or cov_type"),
        ({"vcov": {"CRV3": "firm"}}, "'CRV3'"),
        ({"vcov": {"CRV1": "frim"}}, "no column 'frim'"),
    ],
)
def test_other_words_for_standard_errors_are_refused(words: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        qs.audit(FORMULA, firms(), term="value", claim="significance", **words)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["feols fixed effects, nested", "PanelOLS clustered"])
def test_factors_that_change_with_the_effects_are_refitted_one_by_one(kind: str) -> None:
    fit, decided = MODELS[kind], set()
    for seed in range(4):
        frame = firms(40, seed)
        broken = was_changed(fit, frame)
        fewest = next((m for m in (1, 2) if any(map(broken, combinations(range(8), m)))), None)
        by_firm = qs.audit(
            fit(frame), term="value", claim="significance", groups=frame["firm"], max_drop=2
        )
        assert by_firm.status in ("optimal", "robust")
        assert by_firm.lower == (fewest or 3)
        assert by_firm.upper == fewest
        decided.add(by_firm.lower)
    assert len(decided) > 1
    assert "were refitted" in by_firm.message or by_firm.lower == 1


def was_changed(fit: Callable[[Any], Any], frame: Any) -> Callable[[Any], bool]:
    """Whether the model's own test changes sides without some firms."""
    was, names = p_value(fit(frame)) <= 0.05, sorted(frame["firm"].unique())

    def changed(gone: Any) -> bool:
        kept = frame[~frame["firm"].isin([names[i] for i in gone])].reset_index(drop=True)
        return bool((p_value(fit(kept)) <= 0.05) != was)

    return changed


def test_effects_are_named_in_the_order_of_the_formula() -> None:
    fit = pf.feols(f"{FORMULA} | year + firm", firms())
    fit._fe = fit._fe[fit._fe.columns[::-1]]  # as some runs of pyfixest have them
    message = qs.audit(fit, term="value", max_drop=1).message
    assert "(given capital, year and firm)" in message


def test_the_table_of_a_model_names_its_rows() -> None:
    """pyfixest keeps a copy without the index."""
    frame = firms(40).set_axis([f"row {i}" for i in range(40)])
    frame.loc["row 3", "value"] = np.nan
    fit = pf.feols(f"{FORMULA} | firm", frame)
    named = qs.audit(fit, term="value", data=frame)
    assert named.to_frame().index.tolist() == frame.index.tolist()
    assert not named.to_frame()["inlier"][frame.index[named.outliers]].any()
    assert f"{frame.index[named.outliers[0]]}" in str(named)
    assert named.outliers.tolist() == qs.audit(fit, term="value").outliers.tolist()
    with pytest.raises(ValueError, match="data must be the 40 rows that the model was given; got"):
        qs.audit(fit, term="value", data=frame.iloc[:39])
    with pytest.raises(ValueError, match="the table that the model was fitted to; got another inv"):
        qs.audit(fit, term="value", data=frame.iloc[::-1])

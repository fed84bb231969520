"""Fitted models: their own standard errors, weights and rows are used, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import quadsweep as qs

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
pf = pytest.importorskip("pyfixest")

# pyfixest and statsmodels warn of what pandas will change.
pytestmark = pytest.mark.filterwarnings("ignore")

FORMULA = "invest ~ value + capital"


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
        "weight": rng.uniform(0.5, 3, size=n),
    })  # fmt: skip


def feols(**settings: Any) -> Callable[[Any], Any]:
    return lambda frame: pf.feols(FORMULA, frame, **settings)


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
    found = fitted.pvalue() if hasattr(fitted, "_vcov_type") else fitted.pvalues
    return float(found[term])


@pytest.mark.parametrize("kind", MODELS)
def test_the_models_own_test_is_the_one_that_is_audited(kind: str) -> None:
    frame, fit = firms(), MODELS[kind]
    fitted = fit(frame)
    found = qs.audit(fitted, term="value", claim="significance", time_limit=2)
    assert found.before.p_value == pytest.approx(p_value(fitted), rel=1e-8)
    assert found.before.p_value <= 0.05
    assert found.upper is not None
    refitted = fit(frame.drop(index=found.outliers).reset_index(drop=True))
    assert found.after is not None
    assert found.after.p_value == pytest.approx(p_value(refitted), rel=1e-8)
    assert p_value(refitted) > 0.05


@pytest.mark.parametrize("kind", ["ols HC1", "ols HC3", "ols cluster", "ols nonrobust, z"])
def test_fewer_than_lower_never_break_the_models_own_test(kind: str) -> None:
    frame, fit = firms(20, seed=3), MODELS[kind]
    found = qs.audit(fit(frame), term="value", claim="significance", time_limit=2)
    assert found.before.p_value <= 0.05
    broken = [
        m for m in (1, 2) for gone in combinations(range(20), m)
        if p_value(fit(frame.drop(index=list(gone)).reset_index(drop=True))) > 0.05
    ]  # fmt: skip
    assert broken
    assert found.lower <= broken[0]
    assert found.upper is not None
    assert found.upper >= broken[0]


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
    assert np.flatnonzero(~marked["inlier"]).tolist() == sorted({0, 7, *found.outliers.tolist()})


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
    return pf.feols(FORMULA, frame.assign(time=range(60)), vcov="NW", vcov_kwargs=times)


def split(frame: Any) -> Any:
    return pf.feols(FORMULA, frame.assign(half=frame["year"] > 2002), split="half").to_list()[0]


@pytest.mark.parametrize(
    ("fit", "sentence"),
    [
        (newey_west, "'NW'"),
        (feols(vcov={"CRV3": "firm"}), "'CRV3'"),
        (ols("HAC", maxlags=1), "'HAC'"),
        (frequencies, "'fweights'"),
        (feols(lean=True), "lean=True"),
        (split, "split sample"),
        (lambda f: pf.feols("invest ~ value + capital | firm", f), "fixed effects"),
        (lambda f: pf.feols("invest ~ 1 | value ~ capital", f), "Feiv"),
        (lambda f: pf.feols("invest ~ sw(value, capital)", f), "FixestMulti"),
        (lambda f: pf.fepois("year ~ value", f), "Fepois"),
        (lambda f: smf.logit("one ~ value", f.assign(one=f["year"] % 2)).fit(disp=0), "Logit"),
        (lambda f: smf.glm(FORMULA, f).fit(), "GLM"),
        (lambda f: smf.gls(FORMULA, f).fit(), "GLS"),
        (lambda f: smf.ols(FORMULA, f).fit_regularized(), "Regularized"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(fit: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        qs.audit(fit(firms()), term="value", claim="significance", time_limit=2)

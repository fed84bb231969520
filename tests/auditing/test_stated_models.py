"""What an audit says of the model itself is what the libraries say of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import quadsweep as qs

pytest.importorskip("statsmodels")
pytest.importorskip("formulaic")
import statsmodels.api as sm
import statsmodels.formula.api as smf


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
        found = qs.audit(*given, term="x", claim="r2", threshold=0.99)
        assert found.before.r2 == pytest.approx(fitted.rsquared, rel=1e-12)
    assert qs.solve(formula, frame, drop=0, objective="r2").value == pytest.approx(
        fitted.rsquared, rel=1e-9
    )


def test_r2_falls_as_that_of_the_same_model_with_an_intercept() -> None:
    frame = table()
    one, other = (
        qs.audit(f"y ~ {right}", frame, term="x", claim="r2", threshold=0.1)
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
    frame = table(60, 3)
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
    quantile = smf.quantreg("y ~ x", frame).fit()
    models = {"ols": smf.ols("y ~ x", frame).fit(), "probit": probit, "median": quantile}
    found = qs.audit_table(models, "x", "sign")
    assert "ols" in [each.name for each in found]
    assert set(found.left_out) == set(models) - {each.name for each in found}
    assert "QuantReg" in found.left_out["median"]

"""The influence of single rows and groups, against refits and against statsmodels."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from linearmodels.iv import IV2SLS
from statsmodels.stats.outliers_influence import OLSInfluence

import quadsweep as qs

FORMULA = "wage ~ educ + age"


def frame(seed=0, n=40):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"educ": rng.normal(size=n), "age": rng.normal(size=n)})
    data["wage"] = 0.6 * data["educ"] + rng.normal(size=n)
    data["firm"] = np.arange(n) % 8
    data["weight"] = rng.uniform(0.5, 2, size=n)
    return data.set_axis([f"person {i}" for i in range(n)])


DATA = frame()


def refitted(without, weights=None, **kind):
    kept = DATA.drop(index=without)
    model = smf.ols(FORMULA, kept)
    if weights is not None:
        model = smf.wls(FORMULA, kept, weights=kept[weights])
    return model.fit(**kind)


def compare(answer, fits):
    found = answer.to_frame()
    for name, fit in fits.items():
        row = found.loc[name]
        assert row["coefficient"] == pytest.approx(fit.params["educ"])
        assert row["std_error"] == pytest.approx(fit.bse["educ"])
        assert row["t"] == pytest.approx(fit.tvalues["educ"])
        assert row["p_value"] == pytest.approx(fit.pvalues["educ"])


@pytest.mark.parametrize("weights", [None, "weight"])
def test_rows_are_as_if_refitted_without_each(weights):
    answer = qs.influence(FORMULA, data=DATA, term="educ", weights=weights)
    compare(answer, {name: refitted([name], weights) for name in DATA.index})


def test_rows_with_robust_standard_errors_are_refitted():
    answer = qs.influence(FORMULA, data=DATA, term="educ", vcov="HC1")
    few = DATA.index[:5]
    compare(answer, {name: refitted([name], cov_type="HC1", use_t=True) for name in few})


def test_rows_are_those_of_statsmodels():
    found = qs.influence(FORMULA, data=DATA, term="educ").to_frame().loc[DATA.index]
    theirs = OLSInfluence(smf.ols(FORMULA, DATA).fit())
    np.testing.assert_allclose(found["leverage"], theirs.hat_matrix_diag)
    np.testing.assert_allclose(found["residual"], theirs.resid)
    np.testing.assert_allclose(found["dfbeta"], theirs.dfbeta[:, 1])
    assert np.corrcoef(found["dfbetas"], theirs.dfbetas[:, 1])[0, 1] > 0.999


def test_groups_are_left_out_one_at_a_time():
    answer = qs.influence(FORMULA, data=DATA, term="educ", groups="firm")
    firms = {firm: DATA.index[DATA["firm"] == firm] for firm in range(8)}
    compare(answer, {firm: refitted(rows) for firm, rows in firms.items()})
    found = answer.to_frame()
    assert found["rows"].tolist() == [5] * 8
    assert np.all(np.diff(found["change"].abs()) <= 0)  # the most influential first
    alone = qs.audit(FORMULA, data=DATA, term="educ", groups="firm")
    assert sorted(found.index[found["removed"]]) == sorted(alone.groups)


def test_rows_of_an_instrumented_regression_are_refitted_with_the_instrument():
    colonies = qs.datasets.load("colonial-origins").to_frame()
    formula = "log_gdp ~ 1 + latitude + [expropriation_risk ~ log_mortality]"
    answer = qs.influence(formula, data=colonies)
    found = answer.to_frame()
    assert found["change"].abs().is_monotonic_decreasing
    for row in [*found.index[:3], *found.index[-2:]]:
        theirs = IV2SLS.from_formula(formula, colonies.drop(index=row)).fit()
        assert found["coefficient"][row] == pytest.approx(theirs.params["expropriation_risk"])
    theirs = IV2SLS.from_formula(formula, colonies).fit()
    np.testing.assert_allclose(found["residual"][colonies.index], theirs.resids, atol=1e-9)


@pytest.mark.parametrize("link", ["logit", "poisson"])
def test_rows_of_a_likelihood_are_refitted_by_it(link):
    rng = np.random.default_rng(7)
    x = sm.add_constant(rng.normal(size=(40, 2)))
    y = (rng.random(40) < 0.5).astype(float) if link == "logit" else rng.poisson(1.0, size=40)
    model = {"logit": sm.Logit, "poisson": sm.Poisson}[link]
    answer = qs.influence(model(y, x).fit(disp=0), term="x1", time_limit=5)
    found = answer.to_frame()
    for row in found.index[:5]:
        theirs = model(np.delete(y, row), np.delete(x, row, axis=0)).fit(disp=0)
        assert found["coefficient"][row] == pytest.approx(theirs.params[1], rel=1e-5)
        assert found["p_value"][row] == pytest.approx(theirs.pvalues[1], rel=1e-4)


def test_a_limit_leaves_rows_without_a_test_and_says_so():
    everything = qs.influence(FORMULA, data=DATA, term="educ", vcov="HC1").to_frame()
    stopped = qs.influence(FORMULA, data=DATA, term="educ", vcov="HC1", time_limit=0)
    found = stopped.to_frame()
    assert not stopped.tried.any()
    assert found["t"].isna().all()
    assert found.index.tolist() == everything.index.tolist()
    np.testing.assert_allclose(found["coefficient"], everything["coefficient"])
    assert "40 rows, for want of time" in str(stopped)


def test_the_exact_fewest_are_marked():
    answer = qs.influence(FORMULA, data=DATA, term="educ", claim="significance")
    alone = qs.audit(FORMULA, data=DATA, term="educ", claim="significance")
    found = answer.to_frame()
    assert sorted(found.index[found["removed"]]) == sorted(DATA.index[alone.outliers])
    assert answer.audit.drop == alone.drop


def test_a_row_that_is_fitted_exactly_has_its_refit():
    x, y = np.arange(8.0), np.arange(8.0) + np.sin(np.arange(8))
    only = (np.arange(8) == 3).astype(float)
    found = qs.influence(x, y, controls=only).to_frame().loc[3]
    kept = np.delete(np.arange(8), 3)
    assert found["coefficient"] == pytest.approx(np.polyfit(x[kept], y[kept], 1)[0])
    assert found["leverage"] == pytest.approx(1)


def test_an_influence_explains_itself():
    answer = qs.influence(FORMULA, data=DATA, term="educ")
    assert json.loads(json.dumps(answer.to_dict()))["audit"]["term"] == "educ"
    first = answer.to_frame().index[0]
    assert answer.headline.startswith(f"Without row {first} the coefficient of educ is ")
    assert "30 rows with less influence" in str(answer)
    assert len(answer.plot().get_yticks()) == 20

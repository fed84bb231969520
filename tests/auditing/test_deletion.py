"""The influence of single rows and groups, against refits and against statsmodels."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
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

"""Tables of audits: the numbers are those of the audits, and LaTeX prints them."""

import json
import re
from types import SimpleNamespace

import maketables
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import quadsweep as qs
from quadsweep import progress
from quadsweep.proofs.proof import Proof


def frame(n=40, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"wage_2": rng.normal(size=n), "educ": rng.normal(size=n)})
    data["age"] = rng.normal(size=n)
    data["wage_2"] += 0.6 * data["educ"]
    data["firm"] = np.arange(n) // 4
    data.index = [f"person {i}" for i in range(n)]
    return data


DATA = frame()
FORMULA = "wage_2 ~ educ + age"


@pytest.fixture(scope="module")
def table():
    return qs.audit_table({"one": "wage_2 ~ educ", "two": FORMULA}, ["educ", "age"], data=DATA)


def test_cells_are_the_audits_of_each_regression_term_and_claim(table):
    assert [each.name for each in table] == ["one", "two"]
    rows = table.to_frame().set_index(["model", "term"])
    assert list(rows.index) == [("one", "educ"), ("two", "educ"), ("two", "age")]
    for (model, term), row in rows.iterrows():
        formula = {"one": "wage_2 ~ educ", "two": FORMULA}[model]
        fitted = smf.ols(formula, DATA).fit()
        assert row["estimate"] == pytest.approx(fitted.params[term])
        assert row["std_error"] == pytest.approx(fitted.bse[term])
        assert row["p_value"] == pytest.approx(fitted.pvalues[term])
        for claim in ("significance", "sign", "reverse"):
            alone = qs.audit(formula, data=DATA, term=term, claim=claim)
            assert row[claim] == alone.drop
            assert (row[f"{claim}_lower"], row[f"{claim}_upper"]) == (alone.lower, alone.upper)
            assert row[f"{claim}_share"] == alone.upper / 40


def test_a_term_that_a_regression_does_not_have_is_an_empty_cell_with_a_reason(table):
    assert list(table[0].failures) == [("age", c) for c in ("significance", "sign", "reverse")]
    assert "no term 'age'" in str(table)
    assert not table.success
    with pytest.raises(ValueError, match="no term 'height'"):
        qs.audit_table(FORMULA, "height", data=DATA)


def test_a_line_through_points_has_the_standard_error_of_its_slope():
    x, y = DATA["educ"], DATA["wage_2"]
    table = qs.audit_table([{"x": x, "y": y}], claims="sign")
    fitted = smf.ols("wage_2 ~ educ", DATA).fit()
    assert table.to_frame()["std_error"][0] == pytest.approx(fitted.bse["educ"])
    assert table.to_frame()["t"][0] == pytest.approx(fitted.tvalues["educ"])


def test_claims_with_a_threshold_get_it_and_the_others_do_not():
    table = qs.audit_table(FORMULA, "educ", ["sign", "slope"], data=DATA, threshold=(0.4, 5))
    alone = qs.audit(FORMULA, data=DATA, term="educ", claim="slope", threshold=(0.4, 5))
    assert table.to_frame()["slope_upper"][0] == alone.upper
    assert "Rows to move the coefficient out of [0.4, 5] (share)" in table.to_markdown()


def test_groups_are_counted_as_groups():
    table = qs.audit_table(FORMULA, "educ", "sign", data=DATA, groups="firm")
    alone = qs.audit(FORMULA, data=DATA, term="educ", groups="firm")
    assert f"{alone.drop} ({10 * alone.drop}.0%)" in table.to_markdown()
    assert "Groups by firm to flip the sign (share)" in table.to_markdown()


def test_intervals_and_counts_that_are_not_known_say_so():
    audit = qs.audit(FORMULA, data=DATA, term="educ", claim="sign")
    few = qs.audit(FORMULA, data=DATA, term="educ", claim="sign", max_drop=audit.drop - 1)
    stat = "__maketables_stat__"
    assert getattr(few, stat)("sign").startswith(f"> {audit.drop - 1} (> ")
    from dataclasses import replace

    open_ended = replace(audit, lower=2, drop=None, status="time_limit")
    assert getattr(open_ended, stat)("sign").startswith(f"[2, {audit.upper}] (5.0% to ")


def test_latex_prints_every_cell(table):
    text = table.to_latex(caption="50% of $a_1$", tab_label="tab:x")
    assert r"\caption{50\% of $a_1$}" in text
    assert r"wage\_2" in text
    body = text[text.index(r"\midrule") :].replace(r"\%", "").replace(r"\_", "").replace(r"\&", "")
    assert "%" not in body
    assert "_" not in body
    for row in table.grid()[1:]:
        for cell in row[8:]:
            assert cell.replace("%", r"\%") in text
    labels = re.findall(r"Rows to [^&]*(?= &)", text)
    assert labels == [
        "Rows to lose significance (share), educ",
        "Rows to flip the sign (share), educ",
        "Rows to flip the sign significantly (share), educ",
        "Rows to gain significance (share), age",
        "Rows to flip the sign (share), age",
        "Rows to flip the sign significantly (share), age",
    ]


def test_a_regression_without_an_answer_is_named():
    table = qs.audit_table({"a": FORMULA, "b": "wage_2 ~ age"}, "educ", "sign", data=DATA)
    assert [each.name for each in table] == ["a"]
    assert "no term 'educ'" in table.left_out["b"]
    assert table.left_out["b"] in table.summary()
    assert not table.success
    assert table.to_dict()["left_out"] == table.left_out


def test_a_model_that_cannot_be_audited_leaves_the_others():
    mixed = smf.mixedlm("wage_2 ~ educ", DATA, groups=DATA["firm"]).fit()
    models = {"a": FORMULA, "b": mixed, "c": object()}
    table = qs.audit_table(models, "educ", "sign", data=DATA)
    assert [each.name for each in table] == ["a"]
    assert "MixedLM" in table.left_out["b"]
    assert set(table.left_out) == {"b", "c"}


def test_a_table_names_outcome_size_effects_errors_and_intervals():
    fitted = smf.ols(FORMULA, DATA).fit(cov_type="HC1")
    absorbed = {"model": "wage_2 ~ educ | firm", "vcov": {"CRV1": "firm"}}
    table = qs.audit_table({"a": fitted, "b": absorbed}, "educ", "sign", data=DATA, time_limit=2)
    head, one, two = table.grid()
    said = [dict(zip(head, row, strict=True)) for row in (one, two)]
    assert [row["outcome"] for row in said] == ["wage_2"] * 2
    assert [row["N"] for row in said] == ["40"] * 2
    assert [row["fixed effects"] for row in said] == ["-", "firm"]
    assert [row["errors"] for row in said] == ["HC1", "clustered by firm"]
    low, high = fitted.conf_int().loc["educ"]
    row = table.rows()[0]
    assert (row["ci_lower"], row["ci_upper"]) == pytest.approx((low, high))
    assert f"[{low:.4g}, {high:.4g}]" in table.to_markdown()
    after = smf.ols(FORMULA, DATA.drop(index=DATA.index[table[0].first.outliers])).fit(
        cov_type="HC1"
    )
    left = tuple(after.conf_int().loc["educ"])
    assert (row["sign_ci_lower"], row["sign_ci_upper"]) == pytest.approx(left)
    page = table.to_html()
    assert ">coef<" not in page
    assert ">stats<" not in page
    assert "clustered by firm" in page


def test_significance_lost_and_gained_have_columns_of_their_own():
    table = qs.audit_table(FORMULA, ["educ", "age"], "significance", data=DATA)
    lost, gained = (f"Rows to {way} significance (share)" for way in ("lose", "gain"))
    assert table.grid()[0][-2:] == (lost, gained)
    assert [row[-1] == "-" for row in table.grid()[1:]] == [True, False]


@pytest.mark.filterwarnings("ignore")
def test_several_fits_of_pyfixest_are_a_table_by_outcome():
    pf = pytest.importorskip("pyfixest")
    fits = pf.feols("wage_2 + age ~ educ", DATA.reset_index(drop=True))
    table = qs.audit(fits, term="educ", claim="sign")
    assert [row["outcome"] for row in table.rows()] == ["wage_2", "age"]
    alone = qs.audit("wage_2 ~ educ", DATA, term="educ")
    assert table.rows()[0]["sign"] == alone.drop


def test_a_summary_has_the_intervals_before_and_after():
    found = qs.audit(FORMULA, data=DATA, term="educ", claim="significance", level=0.1)
    before = smf.ols(FORMULA, DATA).fit().conf_int(0.1).loc["educ"]
    after = smf.ols(FORMULA, DATA.drop(index=DATA.index[found.outliers])).fit()
    said = dict(found.summary_items())["90% interval"]
    texts = ["[{:.4g}, {:.4g}]".format(*i) for i in (before, after.conf_int(0.1).loc["educ"])]
    assert said == f"{texts[0]}; without them {texts[1]}"
    assert f"{found.before.slope:.4g} {texts[0]}" in str(
        [line.get_label() for line in found.plot().lines]
    )


def test_an_interrupt_ends_the_table():
    asked = []

    def stop(*_):
        asked.append(1)
        return len(asked) < 2

    models = {"a": {"model": FORMULA, "progress": stop}, "b": FORMULA}
    table = qs.audit_table(models, "educ", data=DATA)
    (only,) = table
    assert only.first.status == "interrupted"
    assert list(only.failures.values()) == ["not audited: interrupted before"] * 2
    assert table.left_out == {"b": "not audited: interrupted before"}


def test_an_audit_is_a_table_by_itself():
    audit = qs.audit(FORMULA, data=DATA, term="educ", claim="sign")
    assert f"Rows to flip the sign (share) & {audit.drop} " in audit.to_latex()
    assert r"\midrule" in qs.audit(DATA["educ"], DATA["wage_2"]).to_latex()


def test_maketables_reads_audits_beside_models(table):
    fitted = smf.ols(FORMULA, DATA).fit()
    audit = qs.audit(fitted, term="educ", claim="sign")
    cells = maketables.ETable([fitted, audit]).df
    coefficients = cells.loc[("coef", "educ")]
    assert coefficients.iloc[0] == coefficients.iloc[1]
    assert any(str(v).startswith(f"{audit.drop} (") for v in cells.iloc[:, 1])
    assert len(maketables.ETable(table).df.columns) == 2
    assert "Rows to flip the sign (share), educ" in table.to_gt().as_raw_html()


def test_a_table_explains_itself(table):
    assert json.loads(json.dumps(table.to_dict()))["rows"][0]["model"] == "one"
    assert "Test: classical t test, significance at level 0.05." in table.notes
    ax = table.plot()
    assert len(ax.get_yticks()) == 3
    assert ax.get_legend().get_texts()[1].get_text() == "flip the sign"


def test_the_frame_of_an_audit_has_the_index_of_the_data():
    audit = qs.audit(FORMULA, data=DATA, term="educ", claim="sign")
    marked = audit.to_frame()
    assert list(marked.index) == list(DATA.index)
    assert list(marked.index[~marked["inlier"]]) == [f"person {i}" for i in audit.outliers]
    plain = qs.audit(DATA["educ"], DATA["wage_2"]).to_frame()
    assert list(plain.index) == list(DATA.index)


@pytest.mark.parametrize("claims", [[], ["sings"], "sings"])
def test_unknown_claims_are_refused(claims):
    with pytest.raises(ValueError, match="claims must be some of sign"):
        qs.audit_table(FORMULA, "educ", claims, data=DATA)


def test_rows_and_groups_of_one_model_stand_in_one_table():
    fitted = smf.ols(FORMULA, DATA).fit()
    models = {"rows": fitted, "firms": {"model": fitted, "groups": "firm"}}
    table = qs.audit_table(models, "educ", "sign")
    rows, firms = table.to_frame()["sign"]
    assert rows == qs.audit(fitted, term="educ").drop
    assert firms == qs.audit(fitted, term="educ", groups="firm").drop


def test_an_argument_that_audit_does_not_have_is_named_before_any_audit():
    with pytest.raises(ValueError, match="'b' has no argument of audit called 'formula'; allowed"):
        qs.audit_table({"a": FORMULA, "b": {"formula": FORMULA}}, "educ", data=DATA)


def test_progress_names_what_is_searched_and_counts_the_seconds_of_all(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_LINES", 0.0)
    qs.audit_table({"one": FORMULA}, ["educ", "age"], ["sign", "reverse"], data=DATA, progress=True)
    lines = capsys.readouterr().err.splitlines()
    names = dict.fromkeys(line.partition(": ")[0] for line in lines)
    assert list(names) == [f"one, {t}, {c}" for t in ("educ", "age") for c in ("sign", "reverse")]
    looks = iter([0.0, 100.0, 200.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(perf_counter=lambda: next(looks)))
    with progress.watching_several(True, progress.Removals()) as following:
        following("a")(9, 2, 5, 3.0)
        following("b")(8, 3, 5, 4.0)
    shown = capsys.readouterr().err.splitlines()
    assert [line.partition(" removed")[0] for line in shown] == ["a: rows", "b: rows"]
    assert [", 103 s" in shown[0], ", 204 s" in shown[1]] == [True, True]


def test_callables_are_called_as_by_an_audit():
    seen = []
    qs.audit_table(FORMULA, "educ", "sign", data=DATA, progress=lambda *known: seen.append(known))
    assert {len(known) for known in seen} == {4}


def test_the_files_for_a_paper_say_what_the_audit_says(tmp_path):
    fitted = smf.ols(FORMULA, DATA).fit()
    found = qs.audit(FORMULA, DATA, term="educ", claim="sign", proof=True)
    files = {path.name: path for path in found.write_paper_files(tmp_path / "new")}
    paragraph = files["robustness.md"].read_text()
    assert paragraph.startswith(found.message)
    low, high = fitted.conf_int().loc["educ"]
    assert f"95% interval [{low:.4g}, {high:.4g}]" in paragraph
    assert found.certificate in paragraph
    said = files["availability.md"].read_text()
    assert f"quadsweep {qs.__version__}" in said
    assert "seed 0" in said
    assert json.loads(files["audits.json"].read_text())[0]["drop"] == found.drop
    assert Proof.load(files["proof-1.json.gz"]).content == found.proof.content
    assert files["figure.pdf"].stat().st_size > 1000
    assert str(found.drop) in files["table.html"].read_text()


def test_the_files_for_a_paper_of_a_table_name_its_models(table, tmp_path):
    files = {path.name: path for path in table.write_paper_files(tmp_path)}
    paragraph = files["robustness.md"].read_text()
    for each in table:
        for audit in each.audits.values():
            assert f"Model {each.name}. {audit.message}" in paragraph

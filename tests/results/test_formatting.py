"""Every result has the same six methods."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

import quadsweep as qs
from quadsweep.results.formatting import ResultMixin

STARS = qs.datasets.load("stars-cyg")
X, Y = STARS.x, STARS.y


def results():
    walk = qs.path(X, Y, drop=4, permutations=3)
    yield "Result", qs.solve(X, Y, drop=4)
    yield "BatchResult", qs.solve_many(np.array([X, X]), np.array([Y, Y]), drop=4)
    yield "Path", walk
    yield "PathSignificance", walk.noise
    yield "Significance", qs.significance(X, Y, drop=4, permutations=9)
    yield "Stability", qs.stability(X, Y, drop=4, resamples=5)
    yield "Comparison", qs.compare(X, Y, drop=4, methods=["pearson", "kendall"])
    yield "Audit", qs.audit(X, Y)
    yield "RegressionAudit", qs.audit(X, Y, controls=np.arange(len(X)) % 5, max_drop=2)
    yield "Separation", qs.separate(X, Y, qs.solve(X, Y, drop=4).mask)
    yield "Dataset", STARS


RESULTS = dict(results())


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_the_same_six_ways(name):
    result = RESULTS[name]
    assert type(result).__name__ == name
    text = result.summary()
    assert str(result) == text
    assert all(f"{what}:" in text for what, _ in result.summary_items())
    page = result._repr_html_()
    assert page.count("<tr>") == len(result.grid()) + len(result.summary_items())
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert len(result.to_frame()) > 0
    ax = Figure().subplots()
    if name in ("BatchResult", "Dataset"):
        with pytest.raises(TypeError, match=f"no picture of a {name}"):
            result.plot(ax=ax)
        return
    assert result.plot(ax=ax) is ax
    assert ax.get_title(loc="left") or ax.get_title()


def test_no_public_result_is_left_out():
    public = {getattr(qs, name) for name in dir(qs) if name[0].isupper()} | {qs.datasets.Dataset}
    # A curve, a file, the verdict on it and a page: none of them is an answer in rows.
    others = {qs.Conic, qs.Proof, qs.Check, qs.Explorer}
    assert {c for c in public if not issubclass(c, ResultMixin)} == others
    unfinished = {c.__name__ for c in public - others if c.__abstractmethods__}
    assert unfinished == set()


def test_a_sentence_comes_first_where_one_says_it_all():
    audit = RESULTS["Audit"]
    assert str(audit).startswith(audit.message)
    assert audit.message in audit._repr_html_()


def test_a_notebook_shows_the_picture_and_tables_as_pandas_has_them():
    pytest.importorskip("matplotlib")
    result = qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1)
    bundle = result._repr_mimebundle_()
    page = bundle["text/html"]
    assert '<img alt="" style="width:640px;max-width:100%" src="data:image/png;base64,' in page
    assert page.index("<img") < page.index('<table border="1" class="dataframe">')
    assert bundle["text/plain"] == repr(result)
    audit = qs.audit([1, 2, 3, 4, 5], [1, 2, 9, 4, 5])
    assert audit.message in audit._repr_mimebundle_()["text/html"]


def test_without_matplotlib_a_notebook_shows_the_table(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1)._repr_mimebundle_()["text/html"]
    assert "<img" not in page
    assert 'class="dataframe"' in page


def test_the_repr_of_a_result_is_a_line():
    x, y = np.random.default_rng(0).normal(size=(2, 300))
    said = repr(qs.solve(x, y, drop=20))
    assert "\n" not in said
    assert len(said) < 120
    assert said.startswith("<Result: r2 = 0.")
    assert "280 of 300 kept, optimal; dropped: " in said
    assert said.endswith("and 14 more>")


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_a_table_in_latex_and_markdown(name):
    if isinstance(RESULTS[name], qs.Audit):
        return  # a table for papers, by maketables
    latex, markdown = RESULTS[name].to_latex(), RESULTS[name].to_markdown()
    assert latex.startswith(r"\begin{tabular}{l")
    assert latex.endswith(r"\end{tabular}")
    assert len({line.replace(r"\|", "").count("|") for line in markdown.splitlines()}) == 1


def test_names_from_the_data_do_not_reach_latex_and_markdown_as_markup():
    pd = pytest.importorskip("pandas")
    hostile = "a|b\n\\input{x}^2_$&%#"
    frame = pd.DataFrame({hostile: X, "y": Y, "z": X * Y})
    several = qs.solve([hostile, "z"], "y", data=frame, drop=2)
    latex = several.to_latex()
    assert r"a|b" in latex
    assert r"\textbackslash{}input\{x\}\textasciicircum{}2\_\$\&\%\#" in latex
    markdown = several.to_markdown()
    assert r"a\|b \\input{x}" in markdown
    table = qs.audit_table({"m|\\^": {"x": hostile, "y": "y", "data": frame}}, claims="sign")
    assert r"a\|b \\input{x}" in table.to_markdown()
    pytest.importorskip("maketables")
    paper = table.to_latex(caption="at $x_1$ of 5%")
    assert r"\caption{at $x_1$ of 5\%}" in paper
    assert r"\textbackslash{}input\{x\}\textasciicircum{}2\_\$\&\%\#" in paper
    assert r"m|\textbackslash{}\textasciicircum{}" in paper

"""An analyst's own files and words: what once stood in the way, a small file for each."""

import json

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.auditing.approximations import GREEDY, ONE_STEP, Approximation
from quadsweep.paper.compare import MethodAnswer
from quadsweep.report import gather, to_html

HOUSES = "Id,GrLivArea,SalePrice\n" + "".join(
    f"{i},{1000 + 37 * i},{117 * (1000 + 37 * i) + 5000 + 90 * (-1) ** i}\n" for i in range(1, 21)
)


@pytest.fixture
def file(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# ---- the table that comes back


def test_the_table_comes_back_as_it_was_with_a_column_inlier(run, file, tmp_path):
    text = 'id,note,a,b\n007,"x, y",1,1\n008,,2,2\n009,-,3,9\n010,z,,4\n011,ü,5,5\n012,w,6,6\n'
    flagged = tmp_path / "flagged.csv"
    code, _, err = run("solve", file(text), "--x", "a", "--y", "b", "--drop", 1, "-o", flagged)
    assert code == 0
    assert f"wrote {flagged}" in err
    new = [",inlier", ",true", ",true", ",false", ",", ",true", ",true"]
    lines = flagged.read_text(encoding="utf-8").splitlines()
    assert lines == [old + more for old, more in zip(text.splitlines(), new, strict=True)]
    run("solve", flagged, "--x", "a", "--y", "b", "--drop", 1, "-o", flagged)
    assert flagged.read_text(encoding="utf-8").splitlines()[0] == "id,note,a,b,inlier,inlier_"


def test_the_table_comes_back_as_parquet_with_types(run, file, tmp_path):
    import pandas as pd

    flagged = tmp_path / "flagged.parquet"
    arguments = ("--x", "t", "--y", "h", "--drop", 1, "-o", flagged)
    rows = "".join(f"a{i},{i},{9 if i == 3 else i}\n" for i in range(1, 7))
    assert run("solve", file(f"name,t,h\n{rows}a7,7,\n"), *arguments)[0] == 0
    frame = pd.read_parquet(flagged)
    assert frame["t"].tolist()[:3] == [1, 2, 3]
    assert frame["t"].dtype.kind == "i"
    assert frame.loc[frame["inlier"] == False, "name"].tolist() == ["a3"]  # noqa: E712
    assert frame["inlier"].isna().tolist() == [False] * 6 + [True]


def test_decimal_commas_come_back_readable(run, file, tmp_path):
    flagged = tmp_path / "flagged.csv"
    text = "a;b\n1,5;1\n2,5;2\n3,5;9\n5,5;5,25\n6,5;6\n"
    _, first, _ = run("solve", file(text), "--drop", 1, "-o", flagged, "--json")
    _, again, _ = run("solve", flagged, "--x", "a", "--y", "b", "--drop", 1, "--json")
    assert json.loads(first)["value"] == json.loads(again)["value"]


@pytest.mark.parametrize(
    ("text", "output", "says"),
    [
        (HOUSES, "flagged.xlsx", "--output must end in .csv, .tsv or .parquet; got"),
        (HOUSES, "nowhere/flagged.csv", "is not a directory"),
    ],
)
def test_tables_that_cannot_come_back_are_refused(run, file, tmp_path, text, output, says):
    columns = ("--x", "2", "--y", "3")
    code, _, err = run("solve", file(text), *columns, "--drop", 1, "-o", tmp_path / output)
    assert code == 2
    assert says in err
    assert not (tmp_path / output).exists()


def test_built_in_data_sets_come_back_as_well(run, tmp_path):
    flagged = tmp_path / "phones.tsv"
    assert run("solve", "phone-calls", "-o", flagged)[0] == 0
    rows = [line.split("\t") for line in flagged.read_text(encoding="utf-8").splitlines()]
    data = qs.datasets.load("phone-calls")
    answer = qs.solve(data.x, data.y, k=data.k)
    assert [row[-1] == "true" for row in rows[1:]] == answer.mask.tolist()


def test_commands_for_pairs_stability_and_data_sets(run, file):
    _, out, _ = run("pairwise", file(HOUSES), "--drop", 1, "--json")
    pairs = json.loads(out)
    assert (pairs["x"], pairs["y"]) == (["GrLivArea"], ["SalePrice"])  # Id only counts the rows
    assert pairs["r"][0] > 0.99
    code, out, _ = run("pairwise", file(HOUSES), "--drop", 1)
    assert code == 0
    assert "SalePrice" in out
    _, out, _ = run("stability", file(HOUSES), "--drop", 1, "--resamples", 5, "--json")
    stability = json.loads(out)
    assert stability["result"]["rows"] == "number from 1"
    _, out, _ = run("datasets")
    assert all(name in out for name in qs.datasets.names())
    _, out, _ = run("datasets", "phone-calls", "--json")
    assert json.loads(out)["k"] == qs.datasets.load("phone-calls").k
    code, _, err = run("datasets", "phone-cells")
    assert code == 2
    assert "phone-calls" in err


# ---- one numbering ----------------------------------------------------------------------------


def test_rows_have_one_numbering_in_one_output(run, file):
    text = "x,y\n1,1\n2,2\n3,9\n4,4\n6,6.1\n,3\n"
    _, out, _ = run("solve", file(text), "--drop", 1, "--json")
    answer = json.loads(out)
    assert answer["rows"] == "number from 1"
    assert answer["outliers"] == answer["dropped"] == [3]
    assert answer["inliers"] == [1, 2, 4, 5]
    assert answer["omitted"] == answer["skipped"] == [6]
    _, out, _ = run("path", file(text), "--drop", 1, "--json")
    assert json.loads(out)["leaving"] == [[], [3]]
    _, out, _ = run("audit", file(text), "--json")
    audit = json.loads(out)
    assert audit["outliers"] == audit["dropped"]
    here = qs.solve([1, 2, 3, 4, 6], [1, 2, 9, 4, 6.1], drop=1).to_dict()
    assert (here["rows"], here["outliers"]) == ("index from 0", [2])


def test_a_regression_calls_its_rows_as_everything_else_does(run, file):
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 12))
    y = 0.05 * x + z + 0.3 * rng.normal(size=12)
    rows = [f"{a:.4f},{b:.4f},{c:.4f}" for a, b, c in zip(x, z, y, strict=True)]
    plain = file("x,z,y\n" + "\n".join(rows), "plain.csv")
    named = file(
        "who,x,z,y\n" + "\n".join(f"row{i},{row}" for i, row in enumerate(rows)), "named.csv"
    )
    asked = ("--formula", "y ~ x + z", "--term", "x", "--claim", "significance")
    _, out, _ = run("audit", plain, *asked, "--json")
    numbered = json.loads(out)
    _, text, _ = run("audit", plain, *asked)
    assert numbered["rows"] == "number from 1"
    rows = ", ".join(map(str, numbered["outliers"]))
    assert f"removed rows {rows} (numbered from 1) " in " ".join(text.split())
    _, out, _ = run("audit", named, *asked, "--json")
    assert json.loads(out)["outliers"] == [f"row{i - 1}" for i in numbered["outliers"]]


# ---- words ------------------------------------------------------------------------------------


def test_the_line_goes_by_the_names_of_its_columns(run, file):
    _, out, _ = run("solve", file(HOUSES), "--drop", 1)
    line = next(line for line in out.splitlines() if line.startswith("line"))
    assert line.split(maxsplit=1)[1].startswith("SalePrice = 117 · GrLivArea + 4,9")


def test_printing_any_result_is_its_summary():
    data = qs.datasets.load("anscombe-3")
    x, y = data.x, data.y
    results = [
        qs.solve(x, y, drop=1),
        qs.path(x, y, drop=1),
        qs.significance(x, y, drop=1, permutations=9),
        qs.stability(x, y, drop=1, resamples=3),
        qs.compare(x, y, drop=1, methods=["pearson"]),
        qs.audit(x, y),
        qs.audit(x, y, controls=x**2),
        qs.solve_many(x[None], y[None], k=10),
        qs.separate(x, y, np.arange(10)),
        qs.solve(x, y, drop=1).bootstrap(9),
        data,
    ]
    for result in results:
        assert str(result) == result.summary(), type(result).__name__
        assert "\n" in str(result)


def test_nothing_dropped_is_not_called_chosen(run):
    _, out, _ = run("solve", "stars-cyg", "--drop", 0)
    assert "chosen" not in out
    assert "caution" not in out
    assert "nothing to choose: all 47 points are kept" in out
    _, out, _ = run("solve", "stars-cyg", "--drop", 1)
    assert "rows were selected to maximise R²" in " ".join(out.split())


def test_a_p_value_is_never_nought(run, file):
    x = np.arange(1, 3001)
    rows = "".join(f"{u},{2 * u + (u * 7919) % 3}\n" for u in x)
    _, out, _ = run("audit", file("x,y\n" + rows), "--x", "x", "--y", "y", "--max-drop", 1)
    assert "p < 1e-300" in out
    assert "p 0 " not in out


def test_the_distance_of_hulls_can_be_read(run):
    _, out, _ = run("separate", "stars-cyg", "--drop", 4)
    assert "d² = 48.66, between the hulls of the lifted points" in " ".join(out.split())
    _, out, _ = run("separate", "nonseparable-r2")
    assert "d² is 0 within 1e-10" in " ".join(out.split())
    assert "e+0" not in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve", "stars-cyg", "--drop", "60"], "error: --drop 60 keeps none of 47 points; r2 "
         "needs at least 3, so 0 to 44 may be dropped\n"),
        (["solve", "stars-cyg", "--keep", "60"], "error: --keep 60 keeps 60 of 47 points"),
        (["audit", "stars-cyg", "--max-drop", "99"], "error: --max-drop 99 removes up to 99"),
        (["solve", "stars-cyg", "--jobs", "0"], "error: --jobs must be"),
        (["solve", "stars-cyg", "--time-limit", "-1"], "error: --time-limit must be"),
        (["audit", "stars-cyg", "--level", "3"], "error: --level must be"),
        (["solve", "stars-cyg", "--objective", "best"], "error: --objective must be"),
        (["path", "stars-cyg", "--null", "void"], "error: --null must be"),
        (["audit", "stars-cyg", "--claim", "r2"], "error: --claim 'r2' needs a --threshold in "
         "[0, 1]; got None\n"),
        (["audit", "stars-cyg", "--claim", "slope", "--threshold", "3"],
         "error: --claim 'slope' needs a --threshold, low and high, at least one"),
    ],
)  # fmt: skip
def test_errors_speak_of_options_and_not_of_arguments(run, arguments, says):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith(says)


def test_advice_speaks_of_options_too(run):
    _, out, _ = run("path", "animals", "--drop", 2)
    assert "in noise too; see --null line" in " ".join(out.split())
    _, out, _ = run("path", "animals", "--drop", 2, "--permutations", 39)
    assert "how many points to drop is another question: --null line" in " ".join(out.split())


def test_arguments_are_spelled_as_the_caller_writes_them(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b,c\n" + "".join(f"{i},{i * i % 7},{i % 3}\n" for i in range(12)))
    asked = ("audit", table, "--formula", "a ~ b + c")
    assert "give --term, one of: b, c" in run(*asked)[2]
    asked += ("--term", "b", "--claim", "r2", "--threshold", "0.5", "--fixed-controls")
    said = "--claim 'r2' needs controls that are refitted; got --fixed-controls"
    assert said in run(*asked)[2]
    with pytest.raises(ValueError, match="claim 'r2' needs a threshold in"):  # and in Python again
        qs.audit([1, 2, 3, 4], [1, 2, 3, 5], claim="r2")


@pytest.mark.parametrize(
    ("approximation", "known", "says"),
    [
        ((ONE_STEP, 1, 13, 20, 20), (6, 6), "predicts that 1 row suffices, which is wrong: in its "
         "order 13 rows do, 7 more than needed"),
        ((ONE_STEP, 1, None, 20, 20), (6, 6), "predicts that 1 row suffices, which is wrong: "
         "removing rows in its order still fails after 20 rows"),
        ((ONE_STEP, 2, 2, 20, 20), (2, 2), "predicts that 2 rows suffice, which is right, the "
         "fewest possible"),
        ((ONE_STEP, 3, 2, 20, 20), (2, 2), "predicts that 3 rows are needed, but 2 rows in its "
         "order suffice, the fewest possible"),
        ((ONE_STEP, None, None, 20, 20), (3, None), "predicts that no removal suffices; removing "
         "rows in its order still fails after 20 rows"),
        ((ONE_STEP, None, 5, 20, 20), (2, 4), "predicts that no removal suffices, but 5 rows in "
         "its order suffice, 1 more than the 4 found here"),
        ((GREEDY, None, 4, 20, 20), (4, 4), "needs 4 rows, the fewest possible"),
        ((ONE_STEP, 5, None, 3, 20), (1, 6), "predicts that 5 rows suffice; removing rows in its "
         "order was stopped after 3 rows"),
        ((GREEDY, None, None, 7, 20), (2, 4), "removing rows in its order was stopped after "
         "7 rows"),
    ],
)  # fmt: skip
def test_an_approximation_is_judged_in_one_sentence(approximation, known, says):
    assert Approximation(*approximation).verdict(*known) == says


def test_compare_explains_itself_and_hides_what_is_not_installed(run, monkeypatch):
    _, out, _ = run("compare", "stars-cyg", "--drop", 4, "--methods", "pearson")
    assert "of the points each method would keep" in " ".join(out.split())
    assert "published" not in out
    table = qs.compare([1, 2, 3, 4, 6], [1, 2, 9, 4, 6], drop=1, methods=["pearson"])
    absent = MethodAnswer("theil_sen", note="needs sklearn")
    both = type(table)((*table.rows, absent), table.result, table.n, table.k, table.status)
    assert "theil" not in "\n".join(" ".join(row) for row in both.grid())
    assert "theil sen (needs sklearn)" in both.summary()


def test_compare_says_what_published_and_fair_are(run):
    names = "anneal_published,anneal_fair"
    _, out, _ = run("compare", "anscombe-3", "--methods", names)
    assert '"published" cools from 1e5 to 1 as the paper does' in " ".join(out.split())


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_where_an_error_came_from(run, place):
    asked = ["solve", "stars-cyg", "--drop", "60"]
    _, _, err = run(*(["--debug", *asked] if place == "before" else [*asked, "--debug"]))
    assert err.startswith("Traceback")
    assert "keep_count" in err
    assert err.splitlines()[-1].startswith("error: --drop 60")
    _, _, err = run(*asked)
    assert "Traceback" not in err


# ---- the report -------------------------------------------------------------------------------


def test_the_audits_and_the_comparison_of_a_report_keep_to_the_time_limit(monkeypatch):
    from quadsweep.report import content

    limits = {}
    for name in ("audit", "compare"):
        real = getattr(content, name)

        def watched(*args, name=name, real=real, time_limit, **options):
            limits.setdefault(name, []).append(time_limit)
            return real(*args, time_limit=time_limit, **options)

        monkeypatch.setattr(content, name, watched)
    x, y = np.random.default_rng(1).normal(size=(2, 30))
    gather(x, y, permutations=9, time_limit=5.0)
    assert all(0 < limit <= 0.5 for limit in limits["audit"])
    assert len(limits["audit"]) == 2
    assert all(0 < limit <= 5 for limit in limits["compare"])


@pytest.mark.parametrize("section", ["audit", "compare"])
def test_a_section_that_fails_says_so_and_leaves_the_rest(monkeypatch, section):
    from quadsweep.report import content

    def fails(*args, **options):
        raise RuntimeError("no such luck <b>")

    monkeypatch.setattr(content, section, fails)
    x, y = np.random.default_rng(1).normal(size=(2, 30))
    page = to_html(gather(x, y, permutations=9))
    assert "This could not be worked out: no such luck &lt;b&gt;." in page
    assert "How many to drop" in page
    assert ("Other methods" if section == "audit" else "depends on") in page


def test_a_file_that_a_report_reads_twice_is_remarked_on_once(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(HOUSES.replace("Id", "Größe").encode("cp1252"))
    asked = ("report", path, "--x", "GrLivArea", "--y", "SalePrice", "--permutations", 3)
    for _ in range(2):
        code, _, err = run(*asked, "-o", tmp_path / "r.html")
        assert code == 0
        assert err.count("is not UTF-8; read as cp1252") == 1


def test_a_report_with_a_formula_has_a_section_about_the_coefficient(run, file, tmp_path):
    rng = np.random.default_rng(3)
    educ, exper = rng.integers(8, 18, 30), rng.integers(1, 30, 30)
    wage = 2 * educ + 0.5 * exper + rng.normal(size=30)
    path = file(
        "who,wage,educ,exper\n"
        + "".join(f"p{i},{wage[i]:.2f},{educ[i]},{exper[i]}\n" for i in range(30))
    )
    out = tmp_path / "r.html"
    asked = ("--formula", "wage ~ educ + exper", "--term", "educ")
    code, _, err = run("report", path, *asked, "-o", out, "--permutations", 9)
    assert code == 0, err
    page = out.read_text(encoding="utf-8")
    frame = {"wage": wage.round(2), "educ": educ, "exper": exper}
    import pandas as pd

    mine = qs.audit(asked[1], data=pd.DataFrame(frame), term="educ")
    assert "The coefficient of educ, with controls" in page
    assert mine.message.split(" (given")[0] in page
    assert "data:image/svg+xml;base64," in page
    assert "wage against educ" in page
    code, _, err = run("report", path, "--formula", "wage ~ educ + expr", "--term", "educ",
                       "-o", out, "--permutations", 9)  # fmt: skip
    assert code == 0
    assert "the page has no regression" in err
    assert "With controls" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_audit_takes_a_table_and_names_as_solve_does(library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(8)
    columns = {name: rng.normal(size=40) for name in ("age", "wage", "years")}
    columns["wage"] += columns["age"]
    columns["site"] = [f"s{i % 10}" for i in range(40)]
    frame = frames.DataFrame(columns)
    by_name = qs.audit(data=frame, x="age", y="wage")
    assert by_name.message == qs.audit(columns["age"], columns["wage"]).message
    grouped = qs.audit(data=frame, x="age", y="wage", groups="site")
    assert "groups" in grouped.message or "site" in grouped.message
    controlled = qs.audit(data=frame, x="age", y="wage", controls="years")
    given = qs.audit(columns["age"], columns["wage"], controls=columns["years"])
    assert controlled.upper == given.upper
    assert "(given years)" in controlled.message
    with pytest.raises(ValueError, match="did you mean 'wage'"):
        qs.audit(data=frame, x="age", y="wages")

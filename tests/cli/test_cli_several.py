"""Several predictors and formulas on the command line."""

import json

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.cli.application import run

TABLE = """a,b,g,c
1,2,u,3.1
2,1,v,5
3,5,u,11
4,1,v,9.2
5,9,u,19
6,2,v,140
7,7,u,21.3
8,1,v,17
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return str(path)


def test_several_columns_by_name_or_number(file, capsys):
    assert run(["solve", file, "--x", "a", "--x", "2", "--y", "c", "--drop", "1", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["x"], content["y"]) == (["a", "b"], "c")
    assert content["names"] == ["a", "b", "c"]
    assert content["dropped"] == [6]
    assert content["slope"] is None
    assert len(content["coef"]) == 2


def test_a_formula_makes_categories_of_text(file, capsys):
    assert run(["solve", file, "--formula", "c ~ a + C(g)", "--drop", "1", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["x"] == ["a", "C(g)[T.v]"]
    assert content["status"] == "optimal"


def test_the_table_of_coefficients_is_printed_and_the_panels_drawn(file, capsys, tmp_path):
    picture = tmp_path / "panels.png"
    arguments = ["--x", "a", "--x", "b", "--y", "c", "--drop", "1", "--plot", str(picture)]
    assert run(["solve", file, *arguments]) == 0
    assert "7 rows kept" in capsys.readouterr().out
    assert picture.stat().st_size > 10_000


def test_a_built_in_data_set_with_several_predictors(capsys):
    assert run(["solve", "stack-loss", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["dropped"] == ["day 1", "day 3", "day 4", "day 21"]
    assert content["status"] == "optimal"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve", "--formula", "y ~ x1 + x2", "--drop", "10"], "y against x1, x2"),
        (["solve", "--x", "x1", "--x", "x3", "--y", "y", "--drop", "10"], "y against x1, x3"),
        (["solve", "--x", "x3", "--y", "y", "--drop", "10"], "y against x3"),
        (["audit", "--formula", "y ~ x1 + x2 + x3", "--term", "x1"], "No set of 4 rows does."),
        (["pairwise", "--drop", "10"], "x1  x2"),
    ],
)
def test_a_built_in_data_set_is_a_table_like_any_other(capsys, arguments, says):
    command, *options = arguments
    assert run([command, "hawkins-bradu-kass", *options]) == 0
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--x", "a", "--x", "b", "--drop", "1"], "several --x need a --y"),
        (["--x", "a", "--x", "a", "--y", "c", "--drop", "1"], "column 'a' is given twice"),
        (["--x", "a", "--formula", "c ~ a", "--drop", "1"], "--formula or --x and --y, not both"),
        (["--formula", "c ~ zz", "--drop", "1"], "cannot be evaluated"),
        (["--x", "a", "--x", "g", "--y", "c", "--drop", "1"], "column 'g' has 'u' in row 1"),
        (["--x", "a", "--x", "bb", "--y", "c", "--drop", "1"], "no column 'bb'"),
    ],
)
def test_misuse_ends_with_code_two_and_one_line(file, arguments, says, capsys):
    assert run(["solve", file, *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_a_time_limit_ends_with_code_three(tmp_path, capsys):
    path = tmp_path / "long.csv"
    rows = [f"{i % 7},{i * i % 11},{i * 7 % 13}" for i in range(60)]
    path.write_text("\n".join(["a,b,c", *rows]))
    arguments = ["--x", "a", "--x", "b", "--y", "c", "--keep", "30"]
    late = ["--method", "exhaustive", "--time-limit", "0.01"]
    assert run(["solve", str(path), *arguments, *late]) == 3


def test_separate_decides_about_quadrics(file, capsys, tmp_path):
    picture = tmp_path / "quadric.png"
    arguments = ["separate", file, "--x", "a", "--x", "b", "--y", "c", "--drop", "1"]
    assert run([*arguments, "--json", "--plot", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)["separation"]
    assert (found["separable"], found["exact"], found["lift"]) == (True, True, "L9")
    assert found["terms"][:4] == ["a^2", "a*b", "a*c", "b^2"]
    assert len(found["plane"]) == len(found["terms"]) == 10
    assert picture.stat().st_size > 10_000
    assert run([*arguments, "--lift", "L5"]) == 2
    assert "with 2 predictors lift must be L9" in capsys.readouterr().err


def test_separate_takes_a_formula_and_built_in_data_sets(file, capsys):
    assert run(["separate", file, "--formula", "c ~ a + b", "--drop", "1"]) == 0
    assert "yes, under L9" in capsys.readouterr().out
    assert run(["separate", "stack-loss"]) == 0
    assert "yes, under L14" in capsys.readouterr().out


def test_fixed_effects_and_clusters_reach_the_audit(tmp_path, capsys):
    pytest.importorskip("formulaic")
    rng = np.random.default_rng(4)
    firm, year, x = np.arange(40) // 5, np.arange(40) % 5, rng.normal(size=40)
    y = x + rng.normal(size=40)
    rows = "".join(
        f"f{f},{t},{float(a)!r},{float(b)!r}\n" for f, t, a, b in zip(firm, year, x, y, strict=True)
    )
    path = tmp_path / "panel.csv"
    path.write_text("firm,year,x,y\n" + rows)
    asked = ["--formula", "y ~ x | firm", "--term", "x", "--claim", "significance"]
    asked += ["--vcov", "firm+year", "--max-drop", "2", "--time-limit", "2", "--json"]
    run(["audit", str(path), *asked])
    found = json.loads(capsys.readouterr().out)
    frame = {"firm": firm.astype(str), "year": year, "x": x, "y": y}
    same = qs.audit("y ~ x | firm", frame, term="x", claim="significance", time_limit=2,
                    vcov={"CRV1": "firm + year"}, max_drop=2)  # fmt: skip
    assert found["before"]["p_value"] == pytest.approx(same.before.p_value)
    assert found["test"] == "t test, standard errors clustered by firm and year"


def test_a_built_in_published_regression_is_audited_as_published(capsys):
    assert run(["audit", "ruggedness", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["lower"], content["upper"]) == (7, 7)
    assert run(["audit", "ruggedness", "--x", "rugged", "--y", "dist_coast", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["upper"] != 7

"""What a terminal shows: tables that fit, how many to drop, data sets as files."""

import pytest

import quadsweep as qs
from quadsweep.cli import answering


@pytest.mark.parametrize("width", [200, 80, 60, 40])
def test_a_table_fits_and_keeps_its_first_column(width, monkeypatch, capsys):
    monkeypatch.setattr(answering, "width", lambda: width)
    grid = [["station", "r", "dropped"], ["Paris [red] Charles", "0.1", ", ".join("a" * 60)]]
    answering.print_table(grid)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    assert shown.count("a") >= 60
    assert "[red]" in shown


def test_a_data_set_is_written_as_a_file_and_read_again(run, tmp_path):
    for name in ("phone-calls", "animals", "stack-loss"):
        path = tmp_path / f"{name}.csv"
        code, out, err = run("datasets", name, "-o", path)
        assert (code, out) == (0, "")
        assert f"wrote {path}" in err
        data = qs.datasets.load(name)
        predictors = [argument for x in data.names[:-1] for argument in ("--x", x)]
        code, out, _ = run("solve", path, *predictors, "--y", data.names[-1], "--drop", 3)
        assert code == 0
        value = qs.solve(data.x, data.y, drop=3).value
        assert f"{value:.6g}" in out
    assert "needs the NAME" in run("datasets", "-o", tmp_path / "a.csv")[2]
    assert "must end in" in run("datasets", "phone-calls", "-o", tmp_path / "a.doc")[2]


def test_solve_says_how_many_to_drop_by_the_path(run):
    _, out, _ = run("solve", "stars-cyg")
    rules = qs.path(qs.datasets.load("stars-cyg"), drop=10).suggestions()
    said = " ".join(out.split())
    assert (
        f"{47 - rules['gain']} by the largest gain and {47 - rules['elbow']} by the elbow" in said
    )
    assert "how many" not in run("solve", "stars-cyg", "--json")[1]


def test_a_gross_row_on_the_line_s_extension_is_named(run, tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i / 6},{i / 6 + (i % 3 - 1) / 3}\n" for i in range(30))
    path.write_text(f"x,y\n{rows}100,130\n")
    _, out, _ = run("solve", path, "--drop", 1)
    said = " ".join(out.split())
    assert "kept, but far row 31 with leverage up to" in said
    assert "--objective lts" in said

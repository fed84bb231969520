"""Files as they come: nothing is skipped in silence, and every refusal says what to do."""

import json

import numpy as np
import pandas as pd
import pytest

import quadsweep as qs
from quadsweep.cli.tables.values import number


@pytest.fixture
def file(tmp_path):
    def write(text, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_text(text, encoding=encoding)
        return path

    return write


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("2.768,52 €", ",", 2768.52),
        ("€ 2.768,52", ",", 2768.52),
        ("-€5", ".", -5),
        ("€-5", ".", -5),
        ("1,234.50 USD", ".", 1234.5),
        ("$1,234", ".", 1234),
        ("CHF 1'234.50", ".", 1234.5),
        ("12%", ".", 0.12),
        ("12,5 %", ",", 0.125),
        ("1 234", ".", 1234),
        ("1\u00a0234,5", ",", 1234.5),
        ("12\u202f345\u202f678", ".", 12345678),
        ("(1,200)", ".", -1200),
        ("\u22123.5", ".", -3.5),
        ("1 23", ".", None),
        ("1 2345", ".", None),
        ("12 apples", ".", None),
        ("€", ".", None),
        ("--5", ".", None),
        ("(-5)", ".", None),
        ("%", ".", None),
        ("1.5", ",", None),
        ("2,5", ".", None),
    ],
)
def test_numbers_as_people_write_them(text, decimal, value):
    assert number(text, decimal) == (None if value is None else pytest.approx(value))


PRICES = "shop;price;rent\n" + "".join(
    f'{name};{p};{r}\n'
    for name, p, r in [
        ("a", "2.768,52 €", "1 234"), ("b", "3.100,00 €", "1 400"), ("c", "1.950,10 €", "901"),
        ("d", "4.000,00 €", "1 790"), ("e", "2.300,00 €", "1 050"),
    ]
)  # fmt: skip


def test_money_and_grouped_digits_are_numbers(run, file):
    code, out, _ = run("solve", file(PRICES), "--drop", 1, "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["x"], answer["y"]) == ("price", "rent")
    price = [2768.52, 3100, 1950.1, 4000, 2300]
    rent = [1234, 1400, 901, 1790, 1050]
    assert answer["value"] == qs.solve(price, rent, drop=1).value


def test_a_quoted_decimal_comma_in_a_file_of_commas_is_one(run, file):
    text = 'a,b\n"1,5","2,5"\n"2,5","3,5"\n"3,5","9,5"\n"4,5","5,5"\n'
    _, out, _ = run("solve", file(text), "--drop", 1, "--json")
    assert json.loads(out)["slope"] == pytest.approx(1)


def test_a_column_with_the_other_decimal_mark_is_read_by_it(run, file):
    rows = "".join(f"{i}.5;{i + 1}.5;{2 * i},25\n" for i in range(9))
    _, out, _ = run("solve", file(f"a;b;c\n{rows}"), "--x", "a", "--y", "c", "--drop", 1, "--json")
    assert json.loads(out)["slope"] == pytest.approx(2)


def table_with(cell, rows=120):
    lines = [f"{2 * i},{3 * i},{cell if i == 17 else i % 7}\n" for i in range(1, rows + 1)]
    return "visits,sales,age\n" + "".join(lines)


def test_one_odd_cell_is_named_with_the_option_that_makes_it_missing(run, file):
    path = file(table_with("unknown"))
    code, _, err = run("solve", path, "--x", "visits", "--y", "age", "--drop", 1)
    assert code == 2
    assert "column 'age' has 'unknown' in row 17, not a number" in err
    assert "--missing unknown" in err
    columns = ("--x", "visits", "--y", "age", "--drop", 1, "--json", "--missing", "unknown")
    code, out, err = run("solve", path, *columns)
    assert (code, json.loads(out)["n"], json.loads(out)["omitted"]) == (0, 119, [17])
    assert "skipped 1 of 120 rows" in err


def test_a_column_that_looks_numeric_and_is_not_used_is_named(run, file):
    code, _, err = run("solve", file(table_with("unknown")), "--drop", 1)
    assert code == 0
    assert "not used: age has 'unknown' in row 17, not a number (--missing unknown)" in err
    code, _, err = run("pairwise", file(table_with("unknown")), "--drop", 1)
    assert code == 0
    assert "not used: age has" in err
    code, _, err = run("solve", file(table_with("4")), "--x", "visits", "--y", "age", "--drop", 1)
    assert "not used" not in err


def test_a_formula_says_that_an_odd_cell_makes_a_column_text(run, file):
    path = file(table_with("unknown", 12).replace(",unknown", ",5") + "13,39,unknown\n")
    _, _, err = run("solve", path, "--formula", "sales ~ visits + age", "--drop", 1)
    assert "read as text: age has 'unknown' in row 13" in err
    _, _, err = run("solve", path, "--formula", "sales ~ visits", "--drop", 1)
    assert "read as text" not in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--x", "visits", "--y", "visits"], "--x and --y are the same column, 'visits'"),
        (["--x", "visits,age", "--y", "sales"], "for several give --x visits --x age"),
        (["--x", "city", "--y", "sales"], "a column of text is for --formula, as C(city)"),
    ],
)
def test_slips_get_a_hint(run, file, options, says):
    rows = "".join(f"{i},{3 * i},{i % 4},{'Rome' if i % 2 else 'Oslo'}\n" for i in range(9))
    code, out, err = run("solve", file(f"visits,sales,age,city\n{rows}"), *options, "--drop", 1)
    assert (code, out) == (2, "")
    assert says in err


DOUBLED = "a,b,a\n1,1,9\n2,2,8\n3,9,7\n4,4,6\n5,5,4\n"


def test_duplicate_headers_are_called_that_and_taken_by_number(run, file, tmp_path):
    code, _, err = run("solve", file(DOUBLED), "--x", "a", "--y", "b", "--drop", 1)
    assert code == 2
    assert "has duplicate headers: columns 1 and 3 are called 'a'; give the number of one" in err
    for column, slope in (("1", 1.0), ("3", None)):
        _, out, _ = run("solve", file(DOUBLED), "--x", column, "--y", "b", "--drop", 1, "--json")
        answer = json.loads(out)
        assert answer["x"] == f"a (column {column})"
        if slope is not None:
            assert answer["slope"] == pytest.approx(slope)
        else:
            third = qs.solve([9, 8, 7, 6, 4], [1, 2, 9, 4, 5], drop=1)
            assert answer["slope"] == pytest.approx(third.slope)
    flagged = tmp_path / "flagged.csv"
    run("solve", file(DOUBLED), "--x", "1", "--y", "b", "--drop", 1, "-o", flagged)
    assert flagged.read_text().splitlines()[0] == "a (column 1),b,a (column 3),inlier"


def test_the_sheets_of_a_workbook_are_listed_where_the_first_has_no_table(run, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    data = pd.DataFrame({"a": [1, 2, 3, 5], "b": [1, 2, 9, 5]})
    for cover in (pd.DataFrame(), pd.DataFrame({"Report": ["of 2020", "by us"]})):
        with pd.ExcelWriter(path) as writer:
            cover.to_excel(writer, sheet_name="Cover", index=False)
            data.to_excel(writer, sheet_name="Data 2020", index=False)
        code, _, err = run("solve", path, "--drop", 1)
        assert code == 2
        assert "the sheets are Cover, Data 2020: --sheet 'Data 2020'" in err
    assert run("solve", path, "--sheet", "Data 2020", "--drop", 1)[0] == 0
    _, _, err = run("solve", path, "--sheet", "Date", "--drop", 1)
    assert "has no sheet 'Date'; its sheets are Cover, Data 2020" in err


DAYS = [f"2022-12-{d:02d}" for d in range(20, 32)]


def test_dates_keep_their_axis_and_their_name(run, file, tmp_path):
    pytest.importorskip("matplotlib")
    rows = "".join(f"{day},{i if i != 4 else 30}\n" for i, day in enumerate(DAYS))
    picture = tmp_path / "p.svg"
    _, out, _ = run("solve", file(f"day,level\n{rows}"), "--drop", 1, "--plot", picture)
    assert "level = 1 · day" in out
    assert "day in days since 1970-01-01" in " ".join(out.split())
    drawn = picture.read_text(encoding="utf-8")
    assert "<!-- 19350 -->" not in drawn
    assert "2022-Dec" in drawn or "<!-- 22 -->" in drawn


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_of_frames_keep_their_axis(library):
    frames = pytest.importorskip(library)
    pytest.importorskip("matplotlib")
    level = [float(i) if i != 4 else 30.0 for i in range(len(DAYS))]
    days = np.array(DAYS, dtype="datetime64[ms]")
    frame = frames.DataFrame({"day": days, "level": level})
    result = qs.solve(frame, x="day", y="level", drop=1)
    assert result.dates == ("day",)
    from matplotlib.dates import ConciseDateFormatter
    from matplotlib.figure import Figure

    ax = result.plot(ax=Figure().subplots())
    assert isinstance(ax.xaxis.get_major_formatter(), ConciseDateFormatter)
    assert not isinstance(ax.yaxis.get_major_formatter(), ConciseDateFormatter)


def wide(rows, first=""):
    return first + "".join(f"{row}\n" for row in rows)


SEMICOLONS = ["1,000;5", "2,125;6", "3,250;9", "4,500;8", "7,125;12"]


def test_three_decimals_behind_a_comma_are_decimals_in_a_file_of_semicolons(run, file):
    path = file(wide(SEMICOLONS, "a;b\n"))
    _, out, err = run("solve", path, "--x", "a", "--y", "b", "--drop", 1, "--json")
    assert (
        json.loads(out)["slope"]
        == qs.solve([1, 2.125, 3.25, 4.5, 7.125], [5, 6, 9, 8, 12], drop=1).coef[0]
    )
    assert "1,000 is read as 1 (--decimal . says otherwise)" in err
    options = ("--x", "a", "--y", "b", "--drop", 1, "--json", "--decimal", ".")
    _, out, err = run("solve", path, *options)
    assert json.loads(out)["slope"] < 0.01
    assert "is read as" not in err


def test_a_comma_that_first_comes_late_is_read_as_it_would_be_early(run, file):
    rows = [f"{i};{i % 7}" for i in range(1500)] + SEMICOLONS
    path = file(wide(rows, "a;b\n"))
    _, out, err = run("solve", path, "--x", "a", "--y", "b", "--drop", 1, "--json")
    a = [*range(1500), 1, 2.125, 3.25, 4.5, 7.125]
    b = [*(i % 7 for i in range(1500)), 5, 6, 9, 8, 12]
    assert json.loads(out)["slope"] == qs.solve(a, b, drop=1).coef[0]
    assert "1,000 is read as 1 (--decimal . says otherwise)" in err


def test_a_thousand_in_a_file_of_tabs_is_one_and_said_so(run, file):
    path = file(wide(SEMICOLONS, "a;b\n").replace(";", "\t"), "t.tsv")
    _, out, err = run("solve", path, "--x", "a", "--y", "b", "--drop", 1, "--json")
    assert json.loads(out)["slope"] < 0.01
    assert "1,000 is read as 1000 (--decimal , says otherwise)" in err


LABELLED = ["id1,1.5,2.5", "id2,2.5,3.7", "id3,3.5,4.1", "id4,4.7,9.2", "id5,5.5,6.2"]


@pytest.mark.parametrize(
    ("first", "rows", "options", "says", "n"),
    [
        ("", LABELLED, [], "the first row is read as data (--header says otherwise)", 5),
        ("", LABELLED, ["--header"], "", 4),
        ("", LABELLED, ["--no-header"], "", 5),
        ("site,2000,2010\n", LABELLED, [], "read as names (--no-header says otherwise)", 5),
        ("site,low,high\n", LABELLED, [], "", 5),
        (",low,high\n", LABELLED, [], "", 5),
        ("", ["a,inf,nan", *LABELLED], [], "the first row is read as data", 6),
        ("", ["1.5,NA", "2,3", "3,4", "4,9", "5,6", "6,6.5"], [], "", 6),
    ],
)  # fmt: skip
def test_a_first_row_is_names_or_data_and_never_lost(run, file, first, rows, options, says, n):
    path = file(wide(rows, first))
    last = len(rows[0].split(","))
    columns = ("--x", last - 1, "--y", last)
    _, out, err = run("solve", path, *columns, "--drop", 1, "--json", *options)
    answer = json.loads(out)
    assert answer["n"] + len(answer["omitted"]) == n
    assert len(answer["omitted"]) == (rows[0] in ("1.5,NA", "a,inf,nan"))
    assert says in err
    assert says or "the first row" not in err


def test_infinite_values_are_not_called_missing(run, file):
    rows = ["1,2", "2,3", "inf,4", "4,4.5", ",7", "6,6.5", "7,9"]
    _, out, err = run("solve", file(wide(rows, "a,b\n")), "--drop", 1)
    assert "skipped 2 of 7 rows with missing values, 1 of them with infinite ones" in err
    assert "rows 3, 5 (numbered from 1; missing or infinite)" in out
    _, out, err = run("solve", file(wide(rows, "a,b\n").replace(",7", "5,7")), "--drop", 1)
    assert "skipped 1 of 7 rows with infinite values" in err


@pytest.mark.parametrize("arguments", [[], ["--x", "nowhere"]])
def test_names_do_not_reach_the_terminal_as_commands(run, file, arguments):
    escape, turned = "\x1b]0;owned\x07", "\u202e"
    rows = "".join(f"row{escape}{i},{i},{(i * i) % 7},z\n" for i in range(8))
    path = file(f"who,{escape}a,b{turned},{escape}c\n{rows}")
    for command in ("solve", "audit", "significance", "compare", "pairwise", "path"):
        drop = [] if command == "audit" else ["--drop", 1]
        _, out, err = run(command, path, *arguments, *drop)
        assert not set(out + err) & {"\x1b", "\x07", turned}


def test_summaries_show_control_characters_as_text():
    frame = pd.DataFrame({"a\x1b[31m": [1.0, 2, 3, 4, 5], "b": [1.0, 2, 9, 4, 5]}, list("pqrst"))
    frame.index = [f"{name}\x1b[2J" for name in frame.index]
    said = str(qs.solve(frame, drop=1))
    assert "\x1b" not in said
    assert "r\\x1b[2J" in said

"""Files as analysts have them: R's row numbers, other alphabets, decimal commas, Excel, dates."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest

from quadsweep.cli import main, points
from quadsweep.cli.ending import BadInput
from quadsweep.cli.tables import FileOptions, text


def read_points(file, x=None, y=None, label=None, **options):
    return points.read_points(FileOptions(file, **options), x, y, label)


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.fixture
def trial(tmp_path):
    """As R writes it: row numbers without a name, and a column that begins with 1,200 NA."""
    rows = [f'"{i}",{"NA" if i <= 1200 else i % 2},{i % 7}.5' for i in range(1, 1501)]
    return written(tmp_path / "trial.csv", "\n".join(['"","treat","profit"', *rows]))


def test_row_numbers_without_a_name_are_never_guessed(trial, capsys):
    table = read_points(trial)
    assert table.names == ("treat", "profit")
    assert np.isnan(table.x[:1200]).all()
    assert "x is 'treat'" in capsys.readouterr().err


def test_the_audit_of_such_a_file_is_about_the_treatment(trial, capsys):
    assert main(["audit", trial]) == 0
    assert "profit against treat" in capsys.readouterr().out


def test_a_column_that_counts_the_rows_is_never_guessed(tmp_path):
    lines = [f"{i},{i * i % 7},{i % 5}" for i in range(1, 2001)]
    file = written(tmp_path / "t.csv", "\n".join(["id,a,b", *lines]))
    assert read_points(file).names == ("a", "b")
    nearly = [*lines[:-1], "77,3,4"]  # not a count after all
    file = written(tmp_path / "u.csv", "\n".join(["id,a,b", *nearly]))
    with pytest.raises(BadInput, match=r"id \(1 to 1999\), a \(0 to 4\), b \(0 to 4\)"):
        read_points(file)


def test_text_that_is_not_utf8_is_read_as_western_european_and_said_so(tmp_path, capsys):
    file = written(
        tmp_path / "t.csv", "Straße,x,y\nBäckerstraße,1,2\nc,2,3\nd,5,5\n".encode("cp1252")
    )
    table = read_points(file)
    assert table.labels[0] == "Bäckerstraße"
    assert "is not UTF-8; read as cp1252" in capsys.readouterr().err
    assert read_points(file, encoding="latin-1").labels[0] == "Bäckerstraße"
    assert "UTF-8" not in capsys.readouterr().err


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    for encoding in ("utf-8-sig", "utf-16"):
        file = written(tmp_path / "t.csv", "x,y\n1,2\n2,3\n5,5\n".encode(encoding))
        assert read_points(file, "x", "y").x.tolist() == [1, 2, 5]


def test_decimal_commas_are_recognised_beside_semicolons(tmp_path):
    file = written(tmp_path / "t.csv", "x;y\n1,5;1.000,25\n2;3\n-3,25;0,5\n")
    table = read_points(file)
    assert table.x.tolist() == [1.5, 2, -3.25]
    assert table.y.tolist() == [1000.25, 3, 0.5]
    tabs = written(tmp_path / "t.tsv", "x\ty\n1.5\t2\n2.5\t3\n9\t4\n")
    assert read_points(tabs).x.tolist() == [1.5, 2.5, 9]
    commas = written(tmp_path / "u.tsv", "x\ty\n1,5\t2\n2,5\t3\n9\t4\n")
    assert read_points(commas, decimal=",").x[0] == 1.5


def test_marks_between_thousands_and_percentages_are_numbers(tmp_path, capsys):
    file = written(tmp_path / "t.csv", 'x,y\n"1,234",10%\n"2,345,678.5",20 %\n7,3%\n')
    table = read_points(file)
    assert table.x.tolist() == [1234, 2345678.5, 7]
    assert table.y == pytest.approx([0.1, 0.2, 0.03])
    assert "10% is read as 0.1" in capsys.readouterr().err


def test_remarks_before_the_header_are_passed_over(tmp_path):
    file = written(tmp_path / "t.csv", "# from the lab, 2024\n# again\nx,y\n1,2\n2,3\n5,5\n")
    assert read_points(file).names == ("x", "y")


PLAIN = b"x,y\n1,2\n2,3\n5,5\n"


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


PACKED = {
    "gz": gzip.compress(PLAIN),
    "bz2": bz2.compress(PLAIN),
    "xz": lzma.compress(PLAIN),
    "zip": zipped(t_csv=PLAIN),
}


@pytest.mark.parametrize("kind", PACKED)
def test_packed_text_is_unpacked_from_files_and_standard_input(tmp_path, monkeypatch, kind):
    file = written(tmp_path / f"t.csv.{kind}", PACKED[kind])
    assert read_points(file).x.tolist() == [1, 2, 5]

    class Input:
        buffer = io.BytesIO(PACKED[kind])

    monkeypatch.setattr("sys.stdin", Input)
    assert read_points("-").x.tolist() == [1, 2, 5]


def test_packed_files_that_are_cut_or_several_are_refused(tmp_path):
    for kind, name in (("gz", "gzip"), ("bz2", "bzip2"), ("xz", "xz")):
        with pytest.raises(BadInput, match=f"not a whole {name} file"):
            read_points(written(tmp_path / f"u.csv.{kind}", PACKED[kind][:20]))
    two = zipped(a_csv=PLAIN, b_csv=PLAIN)
    with pytest.raises(BadInput, match="has 2 files; one table is read from a zip"):
        read_points(written(tmp_path / "two.zip", two))


def test_lines_above_the_table_are_skipped(tmp_path):
    file = written(tmp_path / "t.csv", "Report, of today\n\nx,y\n1,2\n2,3\n5,5\n")
    assert read_points(file, skip_rows=2).x.tolist() == [1, 2, 5]
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame([["of today", None], ["x", "y"], [1, 2], [2, 3], [5, 5]])
    frame.to_excel(tmp_path / "t.xlsx", index=False, header=False)
    assert read_points(str(tmp_path / "t.xlsx"), skip_rows=1).x.tolist() == [1, 2, 5]


def test_true_and_false_are_numbers_where_they_are_asked_for(tmp_path, capsys):
    rows = "".join(f"{str(i % 2 == 0).upper()},{i},{i * i}\n" for i in range(6))
    file = written(tmp_path / "t.csv", f"treated,a,b\n{rows}NA,1,2\n")
    assert read_points(file).names == ("a", "b")
    np.testing.assert_array_equal(read_points(file, "treated", "b").x, [1, 0, 1, 0, 1, 0, np.nan])
    assert main(["audit", file, "--formula", "b ~ treated", "--term", "treated"]) == 0
    assert "treated" in capsys.readouterr().out


def test_a_unit_behind_every_number_is_read_and_said(tmp_path, capsys):
    file = written(tmp_path / "t.csv", "w,h\n12 kg,1.5 m\n7.5 kg,2 m\n9 kg,3 m\n")
    assert read_points(file).x.tolist() == [12, 7.5, 9]
    assert "'w' is read in kg" in capsys.readouterr().err
    mixed = written(tmp_path / "u.csv", "w,h\n12 kg,1.5\n750 g,2\n9 kg,3\n")
    with pytest.raises(BadInput, match=r"columns of .* are: h"):
        read_points(mixed)


def test_dates_and_times_are_days(tmp_path, capsys):
    file = written(
        tmp_path / "t.csv", "when,y\n1970-01-02,1\n1970-01-03T12:00,2\nNA,3\n1970-02-01,9\n"
    )
    table = read_points(file)
    np.testing.assert_array_equal(table.x, [1, 2.5, np.nan, 31])
    assert "days since 1970" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written_as", "days"),
    [
        ("31.01.1970", 30),
        ("1.2.1970", 31),
        ("1970/02/03", 33),
        ("01/31/1970 12:00", 30.5),
        ("31/01/1970", 30),
        ("1970-03", 59),
    ],
)
def test_dates_are_read_as_people_write_them(tmp_path, written_as, days):
    file = written(tmp_path / "t.csv", f"when,y\n{written_as},1\n,2\n{written_as},4\n")
    np.testing.assert_array_equal(read_points(file).x, [days, np.nan, days])


def test_dates_that_could_be_read_two_ways_are_not_guessed(tmp_path):
    file = written(tmp_path / "t.csv", "when,y\n01/02/1970,1\n03/04/1970,2\n05/06/1970,4\n")
    with pytest.raises(BadInput, match="in when day and month could change places"):
        read_points(file)


def test_marks_for_nothing_are_missing_and_other_text_among_numbers_is_named(tmp_path):
    marks = ["..", "-", "?", "n.a.", "#DIV/0!", "NaT", "<NA>"]
    rows = [f"{mark},{i}" for i, mark in enumerate(marks)]
    file = written(tmp_path / "t.csv", "\n".join(["gdp,life", *rows, "7.5,8", "9,1"]))
    assert np.isnan(read_points(file).x[: len(marks)]).all()
    file = written(tmp_path / "u.csv", "gdp,life\n1,2\nunknown,3\n4,5\n5,6\n")
    with pytest.raises(BadInput, match="gdp has 'unknown' in row 2, not a number"):
        read_points(file)


@pytest.mark.parametrize("kind", ["xlsx", "dta", "sav", "feather", "parquet"])
def test_other_programs_files_are_read_through_pandas(tmp_path, kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.5, 2.0, None, 5.0], "y": [2, 3, 4, 5], "name": list("abcd")})
    file = str(tmp_path / f"t.{kind}")
    if kind == "dta":
        frame.to_stata(file, write_index=False)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(file, index=False)
    elif kind == "sav":
        pytest.importorskip("pyreadstat").write_sav(frame, file)
    else:
        getattr(frame, f"to_{kind}")(file)
    table = read_points(file)
    np.testing.assert_array_equal(table.x, [1.5, 2, np.nan, 5])
    assert table.names == ("x", "y")
    assert list(table.labels) == list("abcd")


def test_a_sheet_is_chosen_by_name_or_number(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    file = str(tmp_path / "book.xlsx")
    with pd.ExcelWriter(file) as book:
        pd.DataFrame({"x": [1, 2, 5], "y": [2, 3, 4]}).to_excel(book, sheet_name="one", index=False)
        pd.DataFrame({"x": [7, 8, 9.5], "y": [2, 3, 4]}).to_excel(
            book, sheet_name="two", index=False
        )
    assert read_points(file).x[0] == 1
    for sheet in ("two", "2"):
        assert read_points(file, sheet=sheet).x[0] == 7
    with pytest.raises(BadInput, match="its sheets are one, two"):
        read_points(file, sheet="three")


@pytest.mark.parametrize("odd", ["", "NA", '"1,234"', " 5", "5 ", ",", "1e3", "TRUE", "1_0", "inf"])
def test_a_large_file_is_read_by_the_column_with_the_same_result(tmp_path, monkeypatch, odd):
    pytest.importorskip("pyarrow")
    lines = [f"{i % 13},{i * i % 7}.5,{i % 5}" for i in range(3000)]
    lines[2000] = f"3,4,{odd}" if odd != "," else ",,"
    lines[2001] = "9007199254740992,4,1"
    file = written(tmp_path / "t.csv", "\n".join(["a,b,c", *lines]))
    slow = read_points(file, "a", "c", label="b")
    monkeypatch.setattr(text, "_BY_ARROW", 0)
    fast = read_points(file, "a", "c", label="b")
    np.testing.assert_array_equal(slow.x, fast.x)
    np.testing.assert_array_equal(slow.y, fast.y)
    assert slow.labels == fast.labels
    assert len(slow.x) == 3000 - (odd == ",")
    file = written(tmp_path / "u.csv", "\n".join(["a,b,c", *lines, "1,2,3,4"]))
    with pytest.raises(BadInput, match=r"row 30[0-9]+ has 4 fields where there are 3 columns"):
        read_points(file, "a", "c")


@pytest.mark.parametrize("by", ["csv", "arrow"])
def test_whole_numbers_that_a_double_rounds_are_refused(tmp_path, monkeypatch, by):
    monkeypatch.setattr(text, "_BY_ARROW", 0 if by == "arrow" else 10**9)
    rows = "\n".join(f"{1_700_000_000_000_000_001 + i},{i * i}" for i in range(9))
    with pytest.raises(BadInput, match=r"1700000000000000001.*which a double rounds"):
        read_points(written(tmp_path / "t.csv", f"when,y\n{rows}"), "when", "y")


def test_standard_input_is_read_as_a_file_is(monkeypatch, capsys):
    class Input:
        buffer = io.BytesIO(b"x;y\n1,5;2\n2;3\n5;5\n7;1\n")

    monkeypatch.setattr("sys.stdin", Input)
    assert main(["solve", "-", "--drop", "1"]) == 0
    assert "kept" in capsys.readouterr().out

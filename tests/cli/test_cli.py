"""The command line as people use it: files in, one answer out, errors in one line."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import quadsweep as qs
import quadsweep.paper.counterexample_proofs
from quadsweep.paper.counterexample_proofs import SHIPPED

TABLE = """Species name,Group,body mass (kg),"brain, g"
Cow,mammal,465,423
Goat,mammal,27.66,115
Wolf,mammal,36.33,NA
Diplodocus,dinosaur,11700,50
Horse,mammal,521,655
Cat,mammal,3.3,25.6
Gorilla,mammal,207,406
Sheep,mammal,55.5,175
Rabbit,mammal,2.5,12.1
Pig,mammal,,180
Jaguar,mammal,100,157
Mole,mammal,0.122,n/a
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "animals of farm.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_a_file_with_text_spaces_and_gaps_is_answered_by_label(run, table):
    code, out, err = run("solve", table, "--drop", "1")
    assert code == 0
    assert "8 of 9 points" in out
    assert "Diplodocus" in out
    assert "Wolf, Pig, Mole (missing or infinite)" in out
    assert "skipped 3 of 12 rows" in err
    assert "x is 'body mass (kg)' and y is 'brain, g'" in err
    assert "\x1b" not in out + err
    assert all(len(line) <= 80 and line == line.rstrip() for line in out.splitlines())


def test_json_is_one_object_and_the_same_answer_as_in_python(run, table):
    code, out, _ = run("solve", table, "--x", "body mass (kg)", "--y", "4", "--drop", "1", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["dropped"] == ["Diplodocus"]
    assert answer["skipped"] == ["Wolf", "Pig", "Mole"]
    assert answer["x"] == "body mass (kg)"
    rows = [0, 1, 3, 4, 5, 6, 7, 8, 10]
    x = [465, 27.66, 11700, 521, 3.3, 207, 55.5, 2.5, 100]
    y = [423, 115, 50, 655, 25.6, 406, 175, 12.1, 157]
    here = qs.solve(x, y, drop=1)
    assert answer["value"] == here.value
    assert [rows[i] for i in here.outliers] == [3]  # from 0, in Python
    assert answer["rows"] == "label"
    assert answer["outliers"] == answer["dropped"]
    assert answer["omitted"] == answer["skipped"]


@pytest.mark.parametrize("keep", [("--keep", "8"), ("--keep", "0.85"), ("--drop", "11.2%")])
def test_counts_shares_and_percentages(run, table, keep):
    _, out, _ = run("solve", table, *keep, "--json")
    assert json.loads(out)["k"] == 8


def test_a_label_column_can_be_chosen(run, table):
    _, out, _ = run("solve", table, "--drop", "1", "--label", "group")
    assert "dinosaur" in out


@pytest.mark.parametrize("suffix", ["tsv", "txt", "csv", "jsonl", "json", "parquet"])
def test_every_format_gives_the_same_answer(run, table, tmp_path, suffix):
    import pandas as pd

    frame = pd.read_csv(table)
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix in ("jsonl", "json"):
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    else:
        frame.to_csv(path, sep={"tsv": "\t", "txt": ";", "csv": ","}[suffix], index=False)
    _, out, _ = run("solve", path, "--drop", "1", "--json")
    answer = json.loads(out)
    assert answer["dropped"] == ["Diplodocus"]
    assert answer["skipped"] == ["Wolf", "Pig", "Mole"]


def test_utf16_and_byte_order_marks_are_read(run, tmp_path):
    for encoding in ("utf-16", "utf-8-sig"):
        path = tmp_path / f"{encoding}.csv"
        path.write_text("größe,höhe\n1,1\n2,2\n3,9\n6,6\n", encoding=encoding)
        code, out, _ = run("solve", path, "--drop", "1", "--json")
        assert code == 0
        assert json.loads(out)["x"] == "größe"


def test_numbers_without_a_header_are_columns_by_number(run, tmp_path):
    path = tmp_path / "bare.txt"
    path.write_text("1 5 1\n2 5 2\n3 7 9\n4 5 4\n", encoding="utf-8")
    _, out, _ = run("solve", path, "--x", "1", "--y", "3", "--drop", "1", "--json")
    assert json.loads(out)["dropped"] == [3]


def test_built_in_data_knows_its_own_k(run):
    code, out, _ = run("solve", "phone-calls", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["dropped"] == ["1964", "1965", "1966", "1967", "1968", "1969"]


def test_standard_input_is_a_file_called_dash(table):
    command = [sys.executable, "-m", "quadsweep", "solve", "-", "--drop", "1", "--json"]
    done = subprocess.run(command, input=TABLE.encode(), capture_output=True, check=True)
    assert json.loads(done.stdout)["dropped"] == ["Diplodocus"]


def test_a_picture_is_written(run, table, tmp_path):
    picture = tmp_path / "out.svg"
    code, _, err = run("solve", table, "--drop", "1", "--plot", picture)
    assert code == 0
    assert f"wrote {picture}" in err
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_demo_prints_the_answer_and_writes_a_picture(run, tmp_path):
    picture = tmp_path / "demo.png"
    code, out, _ = run("demo", "--plot", picture)
    assert code == 0
    assert "Triceratops" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "arguments", "says"),
    [
        ("a,b\n1,2\n2,x1\n3,4\n4,9\n", ["--y", "b", "--x", "a"], "column 'b' has 'x1' in row 2"),
        ("a,b\n1,2\n", ["--x", "aa", "--y", "b"], "no column 'aa'; did you mean 'a'?"),
        ("alpha,beta\n1,2\n", ["--x", "bet", "--y", "1"], "did you mean 'beta'?"),
        ("a,b\n1,2\n", ["--x", "7", "--y", "b"], "no column 7; its columns are 1 to 2"),
        ("a,b,c\n1,2,3\n", [], r"are: a \(1 to 1\), b \(2 to 2\), c"),
        ("a,b\nx,y\n", [], "has no numeric columns"),
        ("a,a\n1,2\n", ["--x", "a", "--y", "2"], "columns 1 and 2 are called 'a'"),
        ("a,b\n1,2,3\n", [], "row 1 has 3 fields where there are 2 columns"),
        ("", [], "is empty"),
        ("\n\n", [], "is empty"),
        ("a,b\n", [], "a header and no rows"),
        (b"\x00\x01\x02a,b", [], "is a binary file"),
        (b"PK\x03\x04 workbook", [], "is a binary file of no kind known here"),
        (b"a,b\n\xe9,2\n", ["--encoding", "utf-8"], "is not utf-8 text"),
        (b"a,b\n1,2\n", ["--encoding", "klingon"], "no encoding 'klingon'"),
        (b"a,b\n1,2\n", ["--decimal", "!"], "--decimal must be"),
        ("id,b\n1,2\n2,3\n3,5\n", [], "give --x and --y"),
        (b"PAR1 broken", [], "is not a Parquet file"),
        ('{"a": 1\n', [], "is not JSON lines"),
        ("a,b\n1,2\n2,3\n5,5\n", ["--keep", "2"], "exactly one of --keep .* and --drop; got both"),
        ("a,b\n1,2\n2,2\n3,2\n5,2\n", [], "y is constant"),
        ("a,b\n1,2\n2,3\n", [], "2 points are too few: r2 needs at least 3"),
        ("a,b\n1,2\n2,3\n", ["--objective", "r3"], "objective must be one of r2"),
        ("a,b\n1,2\n2,3\n", ["--plot", "p.bmp"], "must end in .png, .svg or .pdf"),
        ("a,b\n1,2\n2,3\n", ["--plot", "no/such/p.png"], "is not a directory"),
        ("a,b\n1,2\n2,3\n", ["--jobs", "many"], "--jobs"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_code_2_and_one_line(run, tmp_path, content, arguments, says):
    import re

    path = write(tmp_path / "t.csv", content)
    code, out, err = run("solve", path, "--drop", "1", *arguments)
    assert code == 2
    assert out == ""
    errors = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(errors) == 1
    assert errors[0].startswith("error: ")
    assert re.search(says, errors[0]), errors[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve", "nowhere.csv", "--drop", "1"], "nowhere.csv does not exist"),
        (["solve", "anscomb-3"], "did you mean the built-in data set anscombe-3?"),
        (["solve", ".", "--drop", "1"], "is a directory"),
        (["solve", "animals", "--drop", "few"], "--drop must be a number"),
        (["solve", "animals", "--frob"], "No such option"),
        (["slove"], "No such command 'slove'"),
        (["solve"], "Missing argument 'FILE'"),
    ],
)
def test_wrong_usage_ends_with_code_2_and_one_line(run, arguments, says):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err


def test_a_time_limit_that_stops_the_proof_ends_with_code_3(run, tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 60))
    path = tmp_path / "t.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b", comments="")
    code, out, _ = run(
        "solve", path, "--keep", "30", "--method", "exhaustive", "--time-limit", "0.05", "--json"
    )
    assert code == 3
    assert json.loads(out)["status"] == "time_limit"


def test_an_interrupt_ends_with_code_130_and_the_best_so_far(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 60))
    path = tmp_path / "t.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b", comments="")
    command = [sys.executable, "-m", "quadsweep", "solve", str(path)]
    command += ["--keep", "30", "--method", "exhaustive", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"x is 'a'" in process.stderr.readline()  # the file is read, the search begins
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted"
    assert len(json.loads(out)["inliers"]) == 30


def test_every_command_has_help_with_an_example(run):
    from quadsweep.cli.application import app

    for command in (registered.name for registered in app.registered_commands):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"Example: quadsweep {command}" in out
        assert all(len(line) <= 80 for line in out.splitlines())


def test_the_shell_can_complete_commands():
    environment = {
        **os.environ,
        "_QUADSWEEP_COMPLETE": "complete_bash",
        "COMP_WORDS": "quadsweep sol",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", "from quadsweep.cli import main; main([])"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["solve"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("quadsweep solve animals --objective l", ["lts"]),
        ("quadsweep datasets phone", ["phone-calls"]),
        ("quadsweep solve {file} --x Sp", ["Species name"]),
        ("quadsweep audit {file} --x brain,", ["brain, g"]),
        ("quadsweep solve first-row.csv --x 1", ["1"]),
    ],
)
def test_the_shell_completes_objectives_data_sets_and_columns(table, typed, offered):
    (table.parent / "first-row.csv").write_text("id,1.5,2.5\nid2,1,2\n", encoding="utf-8")
    file = table.rename(table.parent / "farm.csv").name
    words = typed.format(file=file)
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from quadsweep.cli import main; main([])"],
        env={
            **os.environ, "_QUADSWEEP_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": words,
        },
        capture_output=True, text=True, check=False, cwd=table.parent,
    )  # fmt: skip
    assert done.stderr == ""
    assert all(f'"{name}"' in done.stdout or name in done.stdout for name in offered)


def test_nothing_heavy_is_imported_before_it_is_needed():
    program = (
        "import sys; from quadsweep.cli import main; main(['solve', 'animals', '--drop', '3']);"
        "heavy = {'pandas', 'polars', 'matplotlib', 'scipy', 'sklearn', 'pyarrow', 'narwhals',"
        " 'rich'};"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_separate_decides_whether_a_conic_cuts_the_best_subset_off(run):
    code, out, _ = run("separate", "nonseparable-r2")
    assert code == 0
    assert "no, under L5" in out
    code, out, _ = run("separate", "anscombe-3", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["separation"]["separable"] is True
    assert answer["separation"]["inliers"] == answer["inliers"]


def test_separate_maps_the_certificate_back_over_skipped_rows(run, tmp_path):
    data = qs.datasets.load("nonseparable-r2")
    path = tmp_path / "gap.csv"
    rows = ["a,b", "1,", *(f"{x:.0f},{y:.0f}" for x, y in zip(data.x, data.y, strict=True))]
    path.write_text("\n".join(rows), encoding="utf-8")
    _, out, _ = run("separate", path, "--keep", "8", "--json")
    answer = json.loads(out)
    assert answer["separation"]["separable"] is False
    assert set(answer["separation"]["weights"]) <= {str(i) for i in range(2, 13)}
    assert answer["rows"] == "number from 1"
    assert answer["inliers"] == answer["separation"]["inliers"] == [2, 3, 4, 5, 6, 7, 9, 11]


def test_counterexamples_are_proved(run):
    code, out, _ = run("counterexamples")
    assert code == 0
    assert out.count("So it is a counterexample.") == len(SHIPPED)


def test_path_gives_every_size_and_those_that_stand_out(run, tmp_path):
    picture = tmp_path / "path.png"
    code, out, _ = run("path", "stars-cyg", "--drop", "6", "--plot", picture)
    assert code == 0
    assert "7 of 7 sizes proved optimal" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    _, out, _ = run("path", "stars-cyg", "--drop", "6", "--permutations", "9", "--json")
    answer = json.loads(out)
    assert answer["k"] == [47, 46, 45, 44, 43, 42, 41]
    assert answer["suggestions"]["gain"] == 43
    assert len(answer["noise"]["p_value"]) == 7


def test_significance_says_how_often_noise_does_as_well(run, tmp_path):
    picture = tmp_path / "null.svg"
    arguments = ("significance", "stars-cyg", "--permutations", "19", "--seed", "1")
    code, out, _ = run(*arguments, "--plot", picture)
    assert code == 0
    assert "more than noise gives" in out
    assert "<svg" in picture.read_text(encoding="utf-8")
    _, out, _ = run(*arguments, "--json")
    assert json.loads(out)["p_value"] == 0.05


def test_audit_names_the_rows_that_carry_the_finding(run, table, tmp_path):
    picture = tmp_path / "audit.png"
    code, out, err = run("audit", table, "--plot", picture)
    assert code == 0
    assert picture.exists()
    assert "Removing 1 of 9 rows (11%) reverses the sign." in " ".join(out.split())
    assert "Diplodocus" in out
    assert "skipped 3 of 12 rows" in err
    _, out, _ = run("audit", table, "--claim", "slope", "--threshold=-1,1", "--json")
    answer = json.loads(out)
    assert answer["dropped"] == ["Diplodocus"]
    assert answer["threshold"] == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit", "animals", "--claim", "magic"], "claim"),
        (["audit", "animals", "--claim", "r2", "--threshold", "a,b"], "--threshold must be"),
        (["audit", "animals", "--level", "2"], "level"),
        (["significance", "animals", "--permutations", "0"], "permutations"),
        (["path", "animals", "--drop", "64"], "drop"),
    ],
)
def test_what_the_other_commands_cannot_do_is_refused_in_one_line(run, arguments, says):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err


def test_compare_puts_other_methods_beside_the_optimum(run, tmp_path):
    picture = tmp_path / "lines.png"
    methods = ("compare", "stars-cyg", "--methods", "pearson, theil_sen")
    code, out, _ = run(*methods, "--plot", picture)
    assert code == 0
    assert picture.exists()
    assert "certified" in out
    assert "theil sen" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    _, out, _ = run(*methods, "--json")
    assert json.loads(out)["rows"][0]["method"] == "certified"
    code, _, err = run("compare", "stars-cyg", "--methods", "magic")
    assert code == 2
    assert "magic" in err


def test_an_interrupt_that_python_swallows_comes_again(tmp_path):
    code = """if True:
        import os, signal, sys, time
        from quadsweep import cli
        import quadsweep.cli.application as application
        class Last:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
        def run(arguments):
            Last()
            time.sleep(60)
        application.run = run
        sys.exit(cli.main([]))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["solve", "path", "report", "significance", "audit"])
def test_an_interrupt_at_any_moment_ends_with_code_130(tmp_path, command):
    """At random moments from the imports on; what had ended before keeps its code."""
    path, rng = tmp_path / "noise.csv", np.random.default_rng(5)
    np.savetxt(path, rng.normal(size=(400, 2)), delimiter=",", header="x,y", comments="")
    more = {"audit": ["--claim", "r2", "--threshold", "0.5"], "report": ["-o", tmp_path / "r.html"]}
    options = more.get(command, []) + ["--drop", "120"] * (command != "audit")
    code = """if True:
        import signal, sys
        from quadsweep.cli import main
        put = signal.signal
        def put_and_say(*arguments):
            put(*arguments)
            signal.signal = put
            print("on", flush=True)
        signal.signal = put_and_say
        sys.exit(main(sys.argv[1:]))
    """
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6):
        process = subprocess.Popen(
            [sys.executable, "-c", code, command, path, "--x", "x", "--y", "y", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout.readline() == "on\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        ended = (0, 130, -signal.SIGINT)  # the last while Python ends: 130 for a shell
        assert process.returncode in ended, f"after {delay} s: {process.returncode}, {err}"
        assert "Traceback" not in err


def test_a_report_that_is_interrupted_ends_with_code_130(monkeypatch, run, table, tmp_path):
    from quadsweep.report import content

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(content, "path", interrupted)
    page = tmp_path / "r.html"
    code, _, err = run("report", table, "--drop", 1, "-o", page)
    assert code == 130
    assert "error: interrupted" in err
    assert not page.exists()

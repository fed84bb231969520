"""The command line at its edges: long fields, deep nesting, pipes, full disks, odd names."""

import json
import os
import subprocess
import sys

import pytest

ROWS = "x,y\n1,1\n2,2\n3,9\n4,4\n6,6.1\n"
SOLVE = [sys.executable, "-m", "quadsweep", "solve"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def json_rows(value):
    return "\n".join(f'{{"x": {2 * i}, "y": {value if i == 3 else i * i}}}' for i in range(1, 7))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("long.csv", "x,y\n1,2\n" + "7" * 140_000 + ",3\n", "more than 131,072 characters"),
        ("open.csv", 'x,y\n1,2\n"' + "7\n" * 140_000, "is a quotation mark not closed?"),
        ("big.jsonl", json_rows("1" + "0" * 400), "column 'y' has 10000000000000000000...00000 in "
         "row 3, beyond the largest number"),
        ("bigger.jsonl", json_rows("1" + "0" * 5000), "is not JSON lines"),
        ("deep.json", "[" * 100_000, "nested too deeply"),
        ("deep.jsonl", '{"x": ' + "[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_files_beyond_the_limits_end_with_code_2_and_one_line(run, tmp_path, name, content, says):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    code, out, err = run("solve", path, "--x", "x", "--y", "y", "--drop", "1")
    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
    assert len(err) < 300 + len(str(path))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--x", "²"], "has no column '²'; there are: x, y"),
        (["--x", "9" * 5000], "has no column"),
        (["--seed", str(2**64)], "seed must be below 2**64; got 18446744073709551616"),
        (["--seed", "-1"], "seed must be at least 0; got -1"),
        (["--drop", "²"], "--drop must be a number, a share or a percentage; got '²'"),
        (["--drop", "9" * 5000], "--drop must be a number, a share or a percentage"),
    ],
)
def test_odd_options_end_with_code_2_and_one_line(run, table, arguments, says):
    code, out, err = run("solve", table, *([] if "--drop" in arguments else ["--drop", 1]),
                         *arguments)  # fmt: skip
    assert code == 2
    assert out == ""
    assert says in err
    assert [line.split(":")[0] for line in err.splitlines() if "note" not in line] == ["error"]


def test_the_largest_seed_is_as_good_as_any(run, table):
    assert run("solve", table, "--drop", "1", "--seed", 2**64 - 1)[0] == 0


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_pipe_in_place_of_a_file_is_read(table, tmp_path, suffix):
    if suffix == "jsonl":
        table = tmp_path / "table.jsonl"
        rows = [line.split(",") for line in ROWS.split()[1:]]
        table.write_text("\n".join(json.dumps({"x": float(u), "y": float(w)}) for u, w in rows))
    script = f"{sys.executable} -m quadsweep solve <(cat '{table}') --x x --y y --drop 1 --json"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["outliers"] == [3]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
@pytest.mark.parametrize("arguments", [["--json"], []])
def test_a_full_standard_output_ends_with_code_2_and_one_line(table, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*SOLVE, table, "--x", "x", "--y", "y", "--drop", "1", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize(("closed", "code"), [(">&-", 2), (">&- 2>&-", 2), ("2>&-", 0)])
def test_closed_streams_do_no_harm(table, closed, code):
    script = f"{sys.executable} -m quadsweep solve '{table}' --drop 1 {closed}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr == ("error: standard output is closed\n" if closed == ">&-" else "")


def test_a_reader_who_has_seen_enough_is_not_an_error(table):
    script = f"{sys.executable} -m quadsweep solve '{table}' --x x --y y --drop 1 | true"
    done = subprocess.run(
        ["bash", "-c", f"{script}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", [r"$\frac{1$", "$", "$a$", r"\$", "a_b^{", "%"])
@pytest.mark.parametrize("command", ["solve", "audit"])
def test_column_names_are_drawn_as_they_are(run, tmp_path, name, command):
    path, picture = tmp_path / "odd.csv", tmp_path / "odd.svg"
    rows = [line.split(",") for line in ROWS.split()[1:]]
    path.write_text(
        f"who,{name},y\n" + "".join(f"{name}{u},{u},{w}\n" for u, w in rows), encoding="utf-8"
    )
    options = ["--drop", "1"] if command == "solve" else []
    code, _, err = run(command, path, "--x", name, "--y", "y", *options, "--plot", picture)
    assert code == 0
    assert err.endswith(f"wrote {picture}\n")
    assert picture.stat().st_size > 1000

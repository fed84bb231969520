"""The live line: late, short, gone at the end."""

import io
import math
import re
import sys

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.objectives import get
from quadsweep.progress import counting, watching


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_terminal(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    return sys.stderr


def screen(stream):
    """What a terminal line shows after all rewrites."""
    line = re.split(r"\r|\x1b\[2K|\x1b\[1A|\n", stream.getvalue())[-1]
    return re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", line).rstrip()


def test_one_line_appears_after_half_a_second_is_rewritten_and_cleared(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with watching(True, get("r2")) as display:
        display(0.5, 0.7, 100, 0.4)
        assert terminal.getvalue() == ""
        display(0.5, 0.75, 1000, 1.0)
        assert screen(terminal) == "R² 0.5, bound 0.75, gap 0.25, 1,000 nodes, 1 s"
        display(0.51, 0.75, 3000, 2.0)
        assert screen(terminal) == "R² 0.51, bound 0.75, gap 0.24, 3,000 nodes, 2 s"
    assert screen(terminal) == ""


def test_never_wraps_on_a_narrow_terminal(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "30")
    with watching(True, get("r2")) as display:
        display(0.5, 0.75, 1000, 1.0)
        assert screen(terminal) == "R² 0.5, bound 0.75, gap 0.25,"


def test_a_bound_that_stands_still_has_a_count_that_moves_and_no_forecast(monkeypatch):
    terminal = open_terminal(monkeypatch)
    seen = []
    with watching(True, get("r2")) as display:
        for second in range(1, 60):
            display(0.98, 1.0, 5_000 * second, float(second))
            seen.append(screen(terminal))
    assert len(set(seen)) == len(seen), "every line differs from the one before"
    assert seen[2] == "R² 0.98, bound 1, gap 0.02, 15,000 nodes, 3 s"
    assert seen[-1].endswith("295,000 nodes, 59 s, time left: cannot tell")


def test_a_gap_that_closes_has_a_forecast(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with watching(True, get("lts")) as display:
        for second in range(1, 11):
            display(100.0, 100.0 - 80.0 + 4 * second, second, float(second))
        assert screen(terminal).endswith("gap 40, 10 nodes, 10 s, about 10 s left")


def test_prints_sparse_lines_where_there_is_no_terminal(capfd):
    with watching(True, get("lts")) as display:
        display(math.nan, math.inf, 10, 0.6)  # what is not known yet is left out
        for tenth in range(6, 250):
            display(3.0, 1.0, tenth, tenth / 10)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0] == "10 nodes, 1 s"
    assert lines[1].startswith("residual sum of squares 3, bound 1, gap 2")


def test_solve_shows_progress_on_standard_error(capfd):
    x, y = np.random.default_rng(0).normal(size=(2, 45))
    result = qs.solve(x, y, 22, method="exhaustive", progress=True, time_limit=0.8)
    assert result.status == "time_limit"
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("R² 0.")


def test_is_cleared_when_the_search_fails(monkeypatch):
    terminal = open_terminal(monkeypatch)

    def search():
        with watching(True, get("r2")) as display:
            display(0.5, 0.75, 1000, 1.0)
            raise RuntimeError("lost")

    with pytest.raises(RuntimeError):
        search()
    assert screen(terminal) == ""


def test_counts_are_shown_with_the_time_they_still_take_and_cleared(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with counting(True, "permutations") as count:
        count(10, 999, 0.2)
        assert terminal.getvalue() == ""
        count(333, 999, 2.0)
        assert screen(terminal) == "333 of 999 permutations, 2 s, about 4 s to go"
    assert screen(terminal) == ""
    with pytest.raises(TypeError, match="progress must be"), counting(3, "sizes"):
        pass


@pytest.mark.parametrize("no", [False, np.False_])
def test_a_callback_that_returns_false_stops_whichever_false_it_is(no):
    x, y = np.random.default_rng(0).uniform(size=(2, 60))
    stop = {"progress": lambda *_: no}
    assert qs.solve(x[:45], y[:45], 22, method="exhaustive", **stop).status == "interrupted"
    assert qs.audit(x, y, **stop).status == "interrupted"
    assert qs.significance(x, y, 40, permutations=10**6, **stop).status == "interrupted"
    assert qs.stability(x, y, 40, resamples=10**6, **stop).status == "interrupted"
    many = np.random.default_rng(0).uniform(size=(2, 2000))
    assert "interrupted" in qs.path(*many, drop=1000, **stop).status


@pytest.mark.parametrize("go_on", [None, 0, True, np.True_, np.int64(0), ""])
def test_any_other_answer_of_a_callback_goes_on(go_on):
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    assert qs.audit(x, y, progress=lambda *_: go_on).success


def test_a_false_of_numpy_shows_nothing_and_a_true_does(monkeypatch):
    terminal = open_terminal(monkeypatch)
    for shown in (np.False_, np.True_):
        with counting(shown, "sizes") as tick:
            tick(3, 9, 1.0)
        assert ("3 of 9 sizes" in terminal.getvalue()) == shown


def test_by_default_a_terminal_sees_what_takes_two_seconds_and_a_log_does_not(monkeypatch):
    for stream, seen in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        with counting(None, "sizes") as tick:
            tick(1, 9, 1.9)
            assert not stream.getvalue()
            tick(3, 9, 2.1)
        assert ("3 of 9 sizes" in stream.getvalue()) == seen
        with watching(None, get("r2")) as callback:
            assert (callback is not None) == seen

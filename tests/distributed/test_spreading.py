"""Threads, joblib, a dask client; parts kept on disk: the same answers, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import quadsweep as qs

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(2, 20))
XS, YS = RNG.normal(size=(2, 1500, 20))


def asked(**how):
    """The three questions; everything that must not depend on who answers."""
    batch = qs.solve_many(XS, YS, drop=4, **how.get("many", how))
    test = qs.significance(X, Y, drop=4, permutations=40, **how.get("test", how))
    firm = qs.stability(X, Y, drop=4, resamples=40, **how.get("firm", how))
    return [
        batch.values.tobytes(), batch.masks.tobytes(), batch.bounds.tobytes(),
        batch.nodes.tobytes(), batch.status.tolist(), test.null.tobytes(), test.p_value,
        firm.dropped.tobytes(), firm.status, test.status,
    ]  # fmt: skip


EXPECTED = asked(n_jobs=1)


@pytest.mark.parametrize("how", [{"n_jobs": 2}, {"workers": "joblib", "n_jobs": 2}])
def test_answers_do_not_depend_on_workers(how):
    assert asked(**how) == EXPECTED


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_by_client_and_by_name():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        assert asked(client=client) == EXPECTED
        assert asked(client=cluster.scheduler_address) == EXPECTED
        assert client.status == "running"


def test_kept_parts_are_used_again_and_nothing_else_is(tmp_path, monkeypatch):
    from quadsweep.solving.methods import spreading

    made = []
    work = spreading.solve_part
    monkeypatch.setattr(
        spreading, "solve_part", lambda part, **k: made.append(1) or work(part, **k)
    )
    first = qs.solve_many(XS, YS, drop=4, out=tmp_path)
    assert len(made) == 3
    again = qs.solve_many(XS, YS, drop=4, out=tmp_path, resume=True)
    assert len(made) == 3
    assert first.masks.tobytes() == again.masks.tobytes()
    assert first.status.tolist() == again.status.tolist()
    assert again.success
    changed = XS.copy()
    changed[700, 3] += 1e-9
    qs.solve_many(changed, YS, drop=4, out=tmp_path, resume=True)
    assert len(made) == 4
    qs.solve_many(XS, YS, drop=3, out=tmp_path, resume=True)
    assert len(made) == 7
    with pytest.raises(ValueError, match="already holds finished chunks"):
        qs.solve_many(XS, YS, drop=4, out=tmp_path)


def test_parts_cut_short_by_a_limit_are_not_kept(tmp_path):
    stopped = qs.solve_many(XS, YS, drop=4, out=tmp_path, time_limit=0)
    assert not stopped.success
    assert not list(tmp_path.glob("*.parquet"))
    whole = qs.solve_many(XS, YS, drop=4, out=tmp_path, resume=True)
    assert whole.values.tobytes() == EXPECTED[0]


def test_several_predictors_and_decisions_are_spread_too(tmp_path):
    table = RNG.normal(size=(14, 2))
    y = table @ [1, 2] + RNG.normal(size=14)
    here = qs.significance(table, y, drop=2, permutations=9)
    there = qs.significance(table, y, drop=2, permutations=9, workers="joblib", out=tmp_path)
    assert here.null.tobytes() == there.null.tobytes()
    few = qs.significance(X, Y, drop=4, permutations=40, null="decisions")
    for _ in range(2):
        spread = qs.significance(
            X, Y, drop=4, permutations=40, null="decisions", out=tmp_path, resume=True
        )
        assert spread.reached.tolist() == few.reached.tolist()


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({"workers": "hands"}, ValueError, "workers must be 'threads' or 'joblib'"),
        ({"client": 3}, TypeError, "client must be a dask Client"),
        ({"resume": True}, ValueError, "give out, a directory"),
    ],
)
def test_bad_helpers_are_refused_in_one_sentence(how, error, says):
    with pytest.raises(error, match=says):
        qs.solve_many(XS, YS, drop=4, **how)
    with pytest.raises(error, match=says):
        qs.pairwise(XS[:, :6], drop=4, **how)


# Wide tables, in files.


def wide(columns=80, seed=2):
    data = np.random.default_rng(seed).normal(size=(12, columns))
    data[:3, 5] = np.nan
    data[:10, 6] = np.nan
    data[:, 7] = 1.0
    return data


def contents(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.glob("*.parquet"))}


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return qs.pairwise(*arguments, **options)


@pytest.mark.parametrize("objective", ["r2", "r", "cov"])
@pytest.mark.parametrize("p_values", [None, "own", "pooled"])
def test_files_hold_what_the_matrices_do(objective, p_values, tmp_path):
    if p_values == "pooled" and objective == "cov":
        return
    options = {"drop": 2, "objective": objective, "p_values": p_values, "permutations": 5}
    data = wide(20)
    there = quiet(data, **options, out=tmp_path)
    here, back = quiet(data, **options), there.collected()
    for name in ("values", "r", "pearson", "kept", "p_values"):
        if getattr(here, name) is None:
            assert getattr(back, name) is None
        else:
            np.testing.assert_array_equal(getattr(here, name), getattr(back, name), err_msg=name)
    assert (there.too_few, there.undefined) == (here.too_few, here.undefined) == (19, 18)
    assert there.status == here.status == "finished"
    assert len(there.to_frame()) == there.pairs == 190
    upper = here.values[np.triu_indices(20, 1)]
    assert (there.low, there.high) == (np.nanmin(upper), np.nanmax(upper))
    strongest = there.strongest(3)
    assert (
        np.abs(strongest["r"]).tolist()
        == sorted(np.abs(here.r[np.triu_indices(20, 1)][np.isfinite(upper)]), reverse=True)[:3]
    )
    if p_values:
        expected = here.adjusted("bh")[np.triu_indices(20, 1)]
        np.testing.assert_array_equal(there.adjusted("bh"), expected)


def test_files_are_the_same_bytes_for_any_workers(tmp_path):
    data = wide()
    quiet(data, drop=2, p_values=None, out=tmp_path / "one", n_jobs=1)
    expected = contents(tmp_path / "one")
    assert len(expected) == 2
    for name, how in {
        "two": {"n_jobs": 2},
        "joblib": {"workers": "joblib", "n_jobs": 2},
    }.items():
        quiet(data, drop=2, p_values=None, out=tmp_path / name, **how)
        assert contents(tmp_path / name) == expected


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    data = wide()
    quiet(data, drop=2, p_values=None, out=tmp_path / "whole")
    stopped = quiet(
        data, drop=2, p_values=None, out=tmp_path / "part", progress=lambda done, *_: done == 0
    )
    assert stopped.status == "interrupted"
    assert 0 < stopped.done < stopped.pairs
    assert "go on with resume=True" in stopped.summary()
    with pytest.raises(ValueError, match="already holds finished chunks"):
        quiet(data, drop=2, p_values=None, out=tmp_path / "part")
    with pytest.raises(ValueError, match="another table, question or version"):
        quiet(data, drop=3, p_values=None, out=tmp_path / "part", resume=True)
    counts = []
    finished = quiet(
        data, drop=2, p_values=None, out=tmp_path / "part", resume=True,
        progress=lambda done, *_: counts.append(done),
    )  # fmt: skip
    assert counts[0] == stopped.done
    assert finished.status == "finished"
    assert contents(tmp_path / "part") == contents(tmp_path / "whole")


PROGRAM = """
import sys, warnings, numpy as np, quadsweep as qs
warnings.simplefilter("ignore")
data = np.random.default_rng(3).normal(size=(40, 130))
qs.pairwise(data, drop=4, p_values=None, out=sys.argv[1], resume=True)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path):
    def start(directory):
        return subprocess.Popen([sys.executable, "-c", PROGRAM, str(directory)])

    assert start(tmp_path / "whole").wait(timeout=300) == 0
    process = start(tmp_path / "killed")
    deadline = time.monotonic() + 120
    while not list((tmp_path / "killed").glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -9
    kept = contents(tmp_path / "killed")
    assert 0 < len(kept) < len(contents(tmp_path / "whole")) == 5
    assert start(tmp_path / "killed").wait(timeout=300) == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert kept.items() <= contents(tmp_path / "killed").items()


def test_any_reader_of_parquet_takes_the_directory(tmp_path):
    import polars as pl
    import pyarrow.dataset as ds

    answer = quiet(wide(20), drop=2, p_values=None, out=tmp_path)
    assert pl.scan_parquet(str(tmp_path / "*.parquet")).collect().height == answer.pairs
    assert ds.dataset(tmp_path).count_rows() == answer.pairs


def test_the_command_writes_files_and_goes_on_with_them(tmp_path, capsys):
    from quadsweep.cli.application import run

    table, out = tmp_path / "wide.csv", tmp_path / "out"
    data = np.random.default_rng(2).normal(size=(12, 5))
    np.savetxt(table, data, delimiter=",", header="a,b,c,d,e", comments="")
    command = ["pairwise", str(table), "--drop", "2", "--p-values", "none", "--out", str(out)]
    assert run(command) == 0
    assert "10 of 5 columns" in capsys.readouterr().out
    assert run(command) == 2
    assert "--resume" in capsys.readouterr().err
    assert run([*command, "--resume"]) == 0
    assert run(["pairwise", str(table), "--drop", "2", "--resume"]) == 2
    assert "give out" in capsys.readouterr().err


@pytest.mark.slow
def test_the_commands_take_a_cluster(capsys):
    from quadsweep.cli.application import run

    given = ["stars-cyg", "--drop", "4", "--dask", "local", "--jobs", "1", "--json"]
    assert run(["significance", *given, "--permutations", "9"]) == 0
    there = capsys.readouterr().out
    assert run(["significance", *given[:3], "--permutations", "9", "--json"]) == 0
    here = capsys.readouterr().out
    assert json.loads(there)["null"] == json.loads(here)["null"]

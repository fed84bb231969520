"""Threads, joblib, a dask client; parts kept on disk: the same answers, to the last bit."""

from __future__ import annotations

import json

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
    from quadsweep.solving.methods import parallel_batches

    made = []
    work = parallel_batches.solve_part
    monkeypatch.setattr(
        parallel_batches, "solve_part", lambda part, **k: made.append(1) or work(part, **k)
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


def test_several_predictors_are_spread_too(tmp_path):
    table = RNG.normal(size=(14, 2))
    y = table @ [1, 2] + RNG.normal(size=14)
    here = qs.significance(table, y, drop=2, permutations=9)
    there = qs.significance(table, y, drop=2, permutations=9, workers="joblib", out=tmp_path)
    assert here.null.tobytes() == there.null.tobytes()


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


@pytest.mark.slow
def test_the_commands_take_a_cluster(capsys):
    from quadsweep.cli.application import run

    given = ["stars-cyg", "--drop", "4", "--dask", "local", "--jobs", "1", "--json"]
    assert run(["significance", *given, "--permutations", "9"]) == 0
    there = capsys.readouterr().out
    assert run(["significance", *given[:3], "--permutations", "9", "--json"]) == 0
    here = capsys.readouterr().out
    assert json.loads(there)["null"] == json.loads(here)["null"]

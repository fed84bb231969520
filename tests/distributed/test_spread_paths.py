"""Paths on a cluster, and with finished runs on disk: the same answers as threads here give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from points_in_parts import some_points, written

import quadsweep as qs
from quadsweep.choosing import walk

RNG = np.random.default_rng(8)
X, NOISE = RNG.normal(size=(2, 40))
Y = X + NOISE
TABLE = RNG.normal(size=(30, 2))
LEVEL = TABLE @ [1, 2] + RNG.normal(size=30)
QUESTIONS: dict[str, tuple[tuple[Any, Any], dict[str, Any]]] = {
    "one predictor": ((X, Y), {"drop": 19}),
    "a line": ((X, Y), {"drop": 5, "null": "line", "permutations": 19}),
    "shuffles": ((X, Y), {"drop": 5, "permutations": 9, "objective": "cov"}),
    "x alone": ((X, None), {"drop": 9, "objective": "var"}),
    "several predictors": ((TABLE, LEVEL), {"drop": 3}),
    "weights": ((TABLE, LEVEL), {"drop": 2, "weights": np.arange(1.0, 31.0)}),
}


def contents(answer: qs.Path) -> list[Any]:
    """Everything that must not depend on who searches."""
    noise = [] if answer.noise is None else [answer.noise.null.tobytes(), answer.noise.status]
    arrays = (answer.k, answer.value, answer.bound, answer.masks, answer.nodes, answer.coef)
    return [*(a.tobytes() for a in arrays), answer.status.tolist(), *noise]


def asked(name: str, **how: Any) -> qs.Path:
    points, question = QUESTIONS[name]
    return qs.path(*points, **question, **how)


@pytest.mark.parametrize("name", QUESTIONS)
def test_runs_kept_on_disk_have_the_answers_of_threads(name: str, tmp_path: Path) -> None:
    here = asked(name, n_jobs=1)
    assert here.success
    assert contents(asked(name, n_jobs=1, out=tmp_path)) == contents(here)
    assert list(tmp_path.glob("sizes-*.parquet"))


def test_finished_runs_are_used_again_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    search = walk.search
    monkeypatch.setattr(walk, "search", lambda *a, **k: made.append(1) or search(*a, **k))
    first = qs.path(X, Y, drop=19, out=tmp_path, progress=lambda done, *_: done < 6)
    assert set(first.status) == {"optimal", "interrupted"}
    before = len(made)
    assert 6 <= before < 20
    whole = qs.path(X, Y, drop=19, out=tmp_path, resume=True)
    assert whole.success
    assert len(made) == 20
    assert whole.masks.tobytes() == qs.path(X, Y, drop=19).masks.tobytes()
    qs.path(X, Y, drop=19, out=tmp_path, resume=True)
    made.clear()
    qs.path(X, Y, drop=19, out=tmp_path, resume=True, tol=1e-6)
    assert len(made) == 20
    with pytest.raises(ValueError, match="already holds finished chunks"):
        qs.path(X, Y, drop=19, out=tmp_path)


def test_runs_cut_short_by_a_limit_are_not_kept(tmp_path: Path) -> None:
    stopped = qs.path(X, Y, drop=19, out=tmp_path, time_limit=0)
    assert set(stopped.status) == {"time_limit"}
    assert np.isnan(stopped.value).all()
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({"client": 3}, TypeError, "client must be a dask Client"),
        ({"resume": True}, ValueError, "give out, a directory"),
    ],
)
def test_bad_helpers_are_refused_in_one_sentence(
    how: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        qs.path(X, Y, drop=4, **how)


@pytest.mark.slow
def test_a_cluster_gives_the_same_paths() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for name in QUESTIONS:
            assert contents(asked(name, client=client)) == contents(asked(name, n_jobs=1)), name
        limited = asked("one predictor", client=client, time_limit=0)
        assert set(limited.status) == {"time_limit"}


@pytest.mark.slow
def test_the_command_starts_a_cluster(tmp_path: Path) -> None:
    file = written(tmp_path / "points.parquet", *some_points(0, 3000))
    command = [sys.executable, "-m", "quadsweep", "path", str(file), "--x", "a", "--y", "b"]
    command += ["--drop", "3", "--json", "--jobs", "2"]
    answers = []
    for how in ([], ["--dask", "local", "--work", str(tmp_path / "work")]):
        done = subprocess.run([*command, *how], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    here, there = answers
    assert there["value"] == here["value"]
    assert there["status"] == ["optimal"] * 4
    assert list((tmp_path / "work").glob("*.parquet"))

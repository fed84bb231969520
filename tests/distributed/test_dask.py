"""The same chunks on a dask cluster, one started here or a scheduler with two workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tiny_reproduction import TINY
from toy_chunks import square_chunks

from quadsweep.distributed.store import ChunkStore
from quadsweep.distributed.workers import cluster, one_by_one
from quadsweep.paper.experiments import table1
from quadsweep.paper.experiments.campaign import chunk_directory, reproduce
from quadsweep.paper.experiments.runner import run

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]


def assert_squares(results, chunks: int) -> None:
    assert list(results) == [chunk.name for chunk in square_chunks(chunks)]
    squares = [value for columns in results.values() for value in columns["square"]]
    assert squares == [i * i for i in range(5 * chunks)]


def test_a_cluster_started_here_does_all_chunks(tmp_path):
    results = run("x", square_chunks(6), ChunkStore(tmp_path), cluster("local", 2), resume=False)
    assert_squares(results, 6)


@pytest.fixture
def dask_processes(tmp_path):
    """A scheduler and two workers, each a process; yields its address, them and a starter."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    contact = tmp_path / "scheduler.json"

    def start(*arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(contact)],
            env=environment, cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
    workers = [start("worker", *options) for _ in range(2)]
    try:
        yield _address(contact), workers, lambda: workers.append(start("worker", *options))
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def _address(contact: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if contact.exists() and (text := contact.read_text()):
            return str(json.loads(text)["address"])
        time.sleep(0.05)
    raise AssertionError("the scheduler did not start")


def test_losing_one_of_two_workers_gives_the_same_table(dask_processes, tmp_path, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(table1, "CHUNK", 1)
    address, workers, _ = dask_processes
    with Client(address) as client:
        client.wait_for_workers(2, timeout=60)
    chunks = chunk_directory(tmp_path / "dask", TINY, "table1")

    def kill_one_when_under_way() -> None:
        deadline = time.monotonic() + 60
        while len(list(chunks.glob("*.parquet"))) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        workers[0].kill()

    killer = threading.Thread(target=kill_one_when_under_way)
    killer.start()
    reproduce("table1", TINY, tmp_path / "dask", cluster(address, 2), resume=False)
    killer.join()
    assert workers[0].wait() == -9
    assert len(list(chunks.glob("*.parquet"))) == 7 * TINY.separability
    reproduce("table1", TINY, tmp_path / "here", one_by_one, resume=False)
    for name in ("table1.md", "table1.csv", "table1-2.csv"):
        assert (tmp_path / "dask" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_a_worker_lost_at_any_of_20_random_moments_changes_no_answer(dask_processes):
    import numpy as np
    from distributed import Client

    import quadsweep as qs

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 300))
    address, workers, start_another = dask_processes
    alone = qs.path(x, y, drop=60, n_jobs=1)
    with Client(address) as client:
        for trial in range(20):
            client.wait_for_workers(2, timeout=60)
            moment = rng.uniform(0, 1.5)
            print(f"trial {trial}: killed after {moment:.3f} s")
            killer = threading.Timer(moment, workers[-1].kill)
            killer.start()
            spread = qs.path(x, y, drop=60, client=client)
            killer.join()
            np.testing.assert_array_equal(spread.value, alone.value)
            while len(client.scheduler_info()["workers"]) > 1:
                time.sleep(0.05)
            start_another()


@pytest.mark.parametrize("lost", [False, True])
def test_passes_on_two_workers_give_the_same_bytes_also_if_one_is_lost_in_the_second(
    lost, dask_processes, tmp_path, monkeypatch
):
    from contextlib import contextmanager

    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from distributed import Client

    import quadsweep as qs
    from quadsweep.outofcore import solve as passes

    x, noise = np.random.default_rng(1).normal(size=(2, 20_000))
    y = x + np.where(np.arange(20_000) % 5 == 0, 3, 0.3) * noise
    file = tmp_path / "points.parquet"
    pq.write_table(pa.table({"a": x, "b": y}), file, row_group_size=700)
    asked = {"x": "a", "y": "b", "drop": 0.2, "memory_limit": 2e-3, "n_jobs": 1}
    address, workers, _ = dask_processes

    @contextmanager
    def killing(_):
        def tick(what: str, done: int, *_: object) -> None:
            if lost and "2: sums" in what and done > 0 and workers[0].poll() is None:
                workers[0].kill()

        yield tick

    with Client(address) as client, monkeypatch.context() as patched:
        client.wait_for_workers(2, timeout=60)
        patched.setattr(passes, "report_passes", killing)
        there = qs.solve(file, **asked, client=client, out=tmp_path / "there")
    assert (workers[0].poll() == -9) is lost
    here = qs.solve(file, **asked, out=tmp_path / "here")
    assert there.status == "optimal"
    assert there.value == here.value
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.parquet")}
        for name in ("there", "here")
    )
    assert one == other
    assert len(one) == 16 + -(-20_000 // 700)  # samples of 16 row groups, the sums of every one
    for flags, same in zip(there.flag(), here.flag(), strict=True):
        assert flags.equals(same)

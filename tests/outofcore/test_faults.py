"""Runs out of core that are killed, whose disk is full, or that may not write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quadsweep as qs

ROWS = 60_000
RUN = """
import json, sys
import quadsweep as qs
kind, folder, work = sys.argv[1:]
asked = dict(data=folder, memory_limit=2e-3, n_jobs=1, out=work, resume=True, progress=False)
if kind == "solve":
    r = qs.solve("x", "y", drop=600, **asked)
    print(json.dumps([r.value, r.bound, r.status, r.k, r.outliers.tolist()]))
else:
    r = qs.audit("x", "y", **asked)
    print(json.dumps([r.lower, r.upper, r.status, r.outliers.tolist()]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=(2, ROWS))
    y = 0.02 * x + noise
    where = tmp_path_factory.mktemp("rows")
    for i, part in enumerate(np.array_split(np.arange(ROWS), 12)):
        pq.write_table(pa.table({"x": x[part], "y": y[part]}), where / f"{i:02d}.parquet")
    return where


def start(kind: str, folder: Path, work: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, kind, str(folder), str(work)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(run: subprocess.Popen[str]) -> Any:
    out, err = run.communicate()
    assert run.returncode == 0, err
    return json.loads(out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["solve", "audit"])
def test_runs_that_are_killed_at_any_moment_resume_to_the_same_answer(kind, folder, tmp_path):
    rng = np.random.default_rng(7)
    begun = time.perf_counter()
    usual = ended(start(kind, folder, tmp_path / "whole"))
    took = time.perf_counter() - begun
    for trial in range(9):
        work, kills = tmp_path / f"work{trial}", 0
        while True:
            run = start(kind, folder, work)
            try:
                run.wait(float(rng.uniform(0.1, 1.2)) * took if kills < 3 else None)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.communicate()
                kills += 1
                continue
            assert ended(run) == usual, (trial, kills)
            break


class FullDisk:
    """A file system that takes so many files and then no more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, files: int) -> None:
        self.left = files
        self._sync = os.fsync
        monkeypatch.setattr(os, "fsync", self.sync)

    def sync(self, handle: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")
        self._sync(handle)


def ask(folder: Path, work: Path, drop: int = 600, memory: float = 2e-3, **more: Any) -> Any:
    return qs.solve(
        "x", "y", drop=drop, data=folder, memory_limit=memory, n_jobs=1, out=work, progress=False,
        **more,
    )  # fmt: skip


@pytest.mark.parametrize("files", [0, 9])
def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_space(
    folder, tmp_path, monkeypatch, files
):
    with monkeypatch.context() as patched:
        FullDisk(patched, files)
        with pytest.raises(OSError, match="No space left on device"):
            ask(folder, tmp_path / "work")
    assert not list((tmp_path / "work").glob(".*.unfinished"))
    found = ask(folder, tmp_path / "work", resume=True)
    assert found.status == "optimal"
    assert found.value == ask(folder, tmp_path / "other").value


@contextmanager
def as_somebody() -> Iterator[None]:
    """As somebody who is not root: root may write anywhere."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_folder_that_may_not_be_written_is_said():
    with tempfile.TemporaryDirectory() as top:
        folder, work = Path(top), Path(top) / "work"
        folder.chmod(0o755)
        x = np.arange(100.0)
        pq.write_table(pa.table({"x": x, "y": np.sin(x)}), folder / "rows.parquet")
        ask(folder / "rows.parquet", folder / "other", drop=3, memory=1e-6)  # imports what it needs
        work.mkdir(mode=0o555)
        with as_somebody(), pytest.raises(PermissionError, match="work"):
            ask(folder / "rows.parquet", work, drop=3, memory=1e-6)

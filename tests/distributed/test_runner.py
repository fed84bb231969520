"""Chunks on disk before they count; kills, damage and lost workers change nothing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from toy_chunks import fails_on_the_second, square_chunks

from quadsweep.distributed.runner import AlreadyStarted
from quadsweep.distributed.store import Chunk, ChunkStore
from quadsweep.distributed.workers import local, one_by_one
from quadsweep.paper.experiments.runner import run

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]


def contents(results):
    return {
        name: {column: values.tolist() for column, values in columns.items()}
        for name, columns in results.items()
    }


def bytes_of(store: ChunkStore):
    return {path.name: path.read_bytes() for path in store.directory.glob("*.parquet")}


@pytest.fixture
def expected(tmp_path):
    return contents(
        run("x", square_chunks(6), ChunkStore(tmp_path / "ref"), one_by_one, resume=False)
    )


@pytest.mark.parametrize(
    "workers", [one_by_one, local(1), local(2, "threads"), local(3, "threads"), local(2)]
)
def test_any_number_of_threads_or_processes_gives_the_same_files(workers, expected, tmp_path):
    store, reference = ChunkStore(tmp_path / "c"), ChunkStore(tmp_path / "ref")
    assert contents(run("x", square_chunks(6), store, workers, resume=False)) == expected
    assert bytes_of(store) == bytes_of(reference)


def test_times_are_kept_beside_the_chunks_and_not_in_them(tmp_path):
    store = ChunkStore(tmp_path)
    chunks = square_chunks(3)
    assert store.times() == {}
    run("x", chunks, store, local(2, "threads"), resume=False)
    times = store.times()
    assert set(times) == {chunk.name for chunk in chunks}
    assert all(processor >= 0 and finished > 0 for processor, finished in times.values())


def test_keys_differ_where_the_work_or_its_arguments_do():
    few, many = square_chunks(2), square_chunks(3)
    other = Chunk(few[0].name, square_chunks, few[0].arguments)
    assert [chunk.key for chunk in few] == [chunk.key for chunk in many[:2]]
    assert len({chunk.key for chunk in [*many, other]}) == 4


def test_results_are_in_the_order_of_the_chunks(tmp_path):
    chunks = square_chunks(6)
    results = run("x", chunks, ChunkStore(tmp_path), local(3, "threads"), resume=False)
    assert list(results) == [chunk.name for chunk in chunks]


def test_finished_chunks_are_not_done_again(tmp_path):
    log = tmp_path / "log"
    store = ChunkStore(tmp_path / "c")
    run("x", square_chunks(4, log=str(log)), store, one_by_one, resume=False)
    run("x", square_chunks(7, log=str(log)), store, one_by_one, resume=True)
    assert sorted(log.read_text().split(), key=int) == ["0", "5", "10", "15", "20", "25", "30"]


def test_refuses_to_start_over_finished_chunks(tmp_path):
    store = ChunkStore(tmp_path)
    run("x", square_chunks(2), store, one_by_one, resume=False)
    before = bytes_of(store)
    with pytest.raises(AlreadyStarted, match="--resume"):
        run("x", square_chunks(2), store, one_by_one, resume=False)
    assert bytes_of(store) == before


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "append", "swap", "garbage"])
def test_a_damaged_chunk_is_found_and_done_again(damage, expected, tmp_path, capsys):
    store = ChunkStore(tmp_path / "c")
    chunks = square_chunks(6)
    run("x", chunks, store, one_by_one, resume=False)
    whole = bytes_of(store)
    [victim] = store.files(chunks[3])
    [other] = store.files(chunks[1])
    content = bytearray(victim.read_bytes())
    if damage == "flip":
        rng = random.Random(len(content))
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    content = {
        "flip": content,
        "truncate": content[: len(content) // 2],
        "empty": b"",
        "append": content + b"x",
        "swap": other.read_bytes(),
        "garbage": b"PAR1" + bytes(1000) + b"PAR1",
    }[damage]
    victim.write_bytes(content)
    assert store.load(chunks[3]) is None
    assert contents(run("x", chunks, store, one_by_one, resume=True)) == expected
    assert bytes_of(store) == whole
    assert "squares-0003" in capsys.readouterr().err


def test_every_single_flipped_bit_is_found(tmp_path):
    store = ChunkStore(tmp_path)
    [chunk] = square_chunks(1)
    run("x", [chunk], store, one_by_one, resume=False)
    [path] = store.files(chunk)
    whole = path.read_bytes()
    for i in range(0, len(whole), 7):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :])
        assert store.load(chunk) is None, i
    path.write_bytes(whole)
    assert store.load(chunk) is not None


def test_a_chunk_of_other_arguments_or_another_version_does_not_count(tmp_path, monkeypatch):
    store = ChunkStore(tmp_path)
    [chunk] = square_chunks(1)
    store.save(chunk, chunk.perform())
    [longer] = square_chunks(1, size=9)
    assert longer.name == chunk.name
    assert store.load(longer) is None
    monkeypatch.setattr("quadsweep.__version__", "9.9.9")
    assert store.load(chunk) is None


def test_what_a_killed_writer_left_is_removed_and_never_read(tmp_path):
    store = ChunkStore(tmp_path)
    [chunk] = square_chunks(1)
    left = tmp_path / f".{chunk.name}.4711.unfinished"
    left.write_bytes(b"half")
    assert store.load(chunk) is None
    run("x", [chunk], store, one_by_one, resume=False)
    assert not left.exists()


def test_a_failed_write_leaves_no_chunk_behind(tmp_path, monkeypatch):
    store = ChunkStore(tmp_path)
    [chunk] = square_chunks(1)

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        store.save(chunk, chunk.perform())
    assert list(tmp_path.iterdir()) == []


def test_chunks_finished_before_an_error_are_kept(tmp_path):
    store = ChunkStore(tmp_path)
    chunks = [Chunk(f"c{i}", fails_on_the_second, {"first": i}) for i in range(3)]
    with pytest.raises(RuntimeError, match="no second"):
        run("x", chunks, store, one_by_one, resume=False)
    assert store.load(chunks[0]) is not None
    assert store.load(chunks[1]) is None


def test_types_and_special_values_survive_the_disk(tmp_path):
    store = ChunkStore(tmp_path)
    [chunk] = square_chunks(1)
    columns = {
        "floats": np.array([np.nan, np.inf, -0.0, 5e-324, 0.1]),
        "small": np.array([-1, 0, 1, 2, 3], dtype=np.int8),
        "flags": np.array([True, False, True, True, False]),
        "big": np.array([2**63, 0, 1, 2, 3], dtype=np.uint64),
    }
    store.save(chunk, columns)
    loaded = store.load(chunk)
    assert loaded is not None
    for name, values in columns.items():
        assert loaded[name].dtype == values.dtype
        assert loaded[name].tobytes() == values.tobytes()


def start_squares(directory: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(TESTS / "toy_chunks.py"), str(directory)],
        stderr=subprocess.DEVNULL,
    )


def test_five_kills_lose_and_repeat_no_finished_chunk(tmp_path):
    rng = random.Random(7)
    store, log = ChunkStore(tmp_path / "c"), tmp_path / "log"
    finished_before: set[str] = set()
    for _ in range(5):
        lines = len(log.read_text().split()) if log.exists() else 0
        process = start_squares(tmp_path)
        _wait_for_more(log, lines, rng.randrange(1, 5))
        time.sleep(rng.random() * 0.05)
        process.kill()
        process.wait()
        time.sleep(0.2)  # workers of a killed run end by themselves; let them
        kept = {
            chunk.name
            for chunk in square_chunks(30, pause=0.03, log=str(log))
            if store.load(chunk) is not None
        }
        assert finished_before <= kept
        redone = {f"squares-{int(first) // 5:04d}" for first in log.read_text().split()[lines:]}
        assert not redone & finished_before
        finished_before = kept
    assert start_squares(tmp_path).wait(timeout=60) == 0
    assert (tmp_path / "total").read_text() == repr(float(sum(i * i for i in range(150))))


def _wait_for_more(log: Path, lines: int, more: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if log.exists() and len(log.read_text().split()) >= lines + more:
            return
        time.sleep(0.005)
    raise AssertionError("the run did not get going")

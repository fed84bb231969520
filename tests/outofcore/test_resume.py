"""Resuming: with equal rows the same answer, with any others none that is not theirs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import quadsweep as qs
from quadsweep.outofcore.sources import PartFailed

KINDS = ("parquet", "folder", "dataset", "lazy", "dask")
CHANGES = ("equal", "changed", "reordered", "truncated")
ASKED: dict[str, Any] = {"drop": 30, "memory_limit": 2e-4, "n_jobs": 1, "progress": False}


def some_rows(seed: int, n: int = 2400) -> tuple[np.ndarray, np.ndarray]:
    x, noise = np.random.default_rng(seed).normal(size=(2, n))
    return x, x + 0.5 * noise


def make_source(kind: str, x: np.ndarray, y: np.ndarray, folder: Path) -> Any:
    """The rows as a source; files keep their names and times, whatever is in them."""
    table = pa.table({"x": x, "y": y})
    if kind == "dataset":
        return ds.dataset(table.to_batches(max_chunksize=400), schema=table.schema)
    if kind == "dask":
        pytest.importorskip("dask")
        import dask.dataframe as dd

        return dd.from_pandas(table.to_pandas(), npartitions=6)
    folder.mkdir(exist_ok=True)
    if kind == "lazy":
        pl = pytest.importorskip("polars")
        pl.from_arrow(table).write_csv(folder / "rows.csv")
        return pl.scan_csv(folder / "rows.csv")
    for i, part in enumerate(np.array_split(np.arange(len(x)), 3 if kind == "folder" else 1)):
        path = folder / f"rows{i}.parquet"
        pq.write_table(table.take(part), path, row_group_size=400, compression="none")
        os.utime(path, ns=(10**18, 10**18))
    return folder if kind == "folder" else folder / "rows0.parquet"


def change(how: str, x: np.ndarray, y: np.ndarray, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    x, y = x.copy(), y.copy()
    if how == "changed":
        y[rng.integers(len(y), size=int(rng.choice([1, 40])))] += rng.normal()
    elif how == "reordered":
        i, j = rng.choice(len(x), size=2, replace=False)
        for v in (x, y):
            v[[i, j]] = v[[j, i]]
    elif how == "truncated":
        size = int(rng.integers(1900, 2400))
        x, y = x[:size], y[:size]
    return x, y


def check_resumed(seed: int, kind: str, how: str, folder: Path) -> bool:
    """Whether a run that is resumed answers; its answer is that of the rows as they are."""
    rng = np.random.default_rng(seed)
    x, y = some_rows(seed)
    work = folder / "work"
    first = qs.solve("x", "y", data=make_source(kind, x, y, folder / "rows"), out=work, **ASKED)
    chunks = sorted(work.glob("*.parquet"))
    for path in rng.permutation(chunks)[: int(rng.integers(len(chunks) + 1))]:
        os.unlink(path)  # what a run that was killed has not finished
    x, y = change(how, x, y, rng)
    source = make_source(kind, x, y, folder / "rows")
    try:
        again = qs.solve("x", "y", data=source, out=work, resume=True, **ASKED)
    except PartFailed:
        if how == "equal":
            raise
        return False
    here = qs.solve(x, y, drop=30)
    assert again.status == "optimal", (seed, kind, how)
    assert again.value == pytest.approx(here.value, abs=1e-9), (seed, kind, how)
    assert again.outliers.tolist() == here.outliers.tolist(), (seed, kind, how)
    if how == "equal":
        assert again.value == first.value, (seed, kind, how)
    return True


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_resumed_never_answers_for_other_rows(kind, how, tmp_path):
    assert check_resumed(1, kind, how, tmp_path) or how != "equal"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_resumes(kind, tmp_path):
    for seed in range(40):
        check_resumed(100 + seed, kind, CHANGES[seed % 4], tmp_path)
        shutil.rmtree(tmp_path / "work")


def test_rows_that_change_between_two_passes_are_named(tmp_path, monkeypatch):
    """Nothing is proved of some rows of one file and some of another."""
    x, y = some_rows(0)
    source = make_source("parquet", x, y, tmp_path)
    work = "quadsweep.outofcore.search.pick_parts"
    from quadsweep.outofcore import search
    from quadsweep.outofcore import work as module

    def replaced(*args: Any, **named: Any) -> Any:
        make_source("parquet", *some_rows(1), tmp_path)
        return module.pick_parts(*args, **named)

    replaced.__module__, replaced.__qualname__ = module.__name__, "pick_parts"
    monkeypatch.setattr(work, replaced)
    monkeypatch.setattr(search.MemoryPlan, "prefetch_rows", 0)
    with pytest.raises(PartFailed, match=r"rows0.parquet have changed since they were first read"):
        qs.solve("x", "y", data=source, **ASKED)


def test_a_file_written_during_a_pass_is_named(tmp_path, monkeypatch):
    source = make_source("folder", *some_rows(0), tmp_path)
    from quadsweep.outofcore import search
    from quadsweep.outofcore import work as module

    def touched(*args: Any, **named: Any) -> Any:
        os.utime(tmp_path / "rows2.parquet")
        return module.tally_parts(*args, **named)

    monkeypatch.setattr(search, "tally_parts", touched)
    with pytest.raises(PartFailed, match=r"rows2.parquet was written during pass 2: sums"):
        qs.solve("x", "y", data=source, **ASKED)

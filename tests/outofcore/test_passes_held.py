"""Rows that the pass for sums brings along: whole leaves, within their limit, never trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quadsweep as qs
from quadsweep import _core
from quadsweep.outofcore.flags import RowSelection, _left_out_at_hand
from quadsweep.outofcore.held import Held, Likely
from quadsweep.outofcore.search import _SAMPLED_PARTS, Leaves, MemoryPlan
from quadsweep.outofcore.work import empty_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 60_000


def a_line(seed: int, n: int = N) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = x + 0.3 * rng.normal(size=n)
    wrong = rng.random(n) < 0.2
    y[wrong] = 3 * rng.normal(size=wrong.sum())
    return x, y


def in_passes(
    folder: Path, x: Any, y: Any, parts: int, bytes_a_row: float = 100, **more: Any
) -> Any:
    pq.write_table(pa.table({"a": x, "b": y}), folder / "t.parquet", row_group_size=len(x) // parts)
    limit = bytes_a_row * 1e-9 * len(x)
    return qs.solve(
        folder / "t.parquet", x="a", y="b", drop=0.2, memory_limit=limit, n_jobs=1, **more
    )


def kept(result: Any) -> Any:
    return np.concatenate([f.to_numpy(zero_copy_only=False) for f in result.flags.arrays()])


@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
def test_where_the_sample_is_right_two_passes_are_enough(objective: str, tmp_path: Path) -> None:
    x, y = a_line(1)
    found = in_passes(tmp_path, x, y, 20, objective=objective)
    sampled = N // 20 * _SAMPLED_PARTS
    assert (found.status, found.passes, found.rows_read) == ("optimal", 2, sampled + N)
    assert 0 < found.loaded < N
    here = qs.solve(x, y, drop=0.2, objective=objective)
    assert found.value == pytest.approx(here.value, rel=2e-9)


def test_rows_that_are_held_are_those_that_a_pass_would_bring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = a_line(2)
    monkeypatch.setattr(Leaves, "add_likely", lambda self, wanted: wanted)
    with_them = in_passes(tmp_path, x, y, 20)
    monkeypatch.setattr(MemoryPlan, "prefetch_rows", 0.0)
    without = in_passes(tmp_path, x, y, 20)
    assert (with_them.passes, without.passes) == (2, 3)
    for name in ("value", "bound", "loaded", "nodes", "slope"):
        assert getattr(with_them, name) == getattr(without, name), name
    assert np.array_equal(kept(with_them), kept(without))


def test_the_likeliest_leaves_are_loaded_beside_those_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    beside = Leaves.add_likely

    def noted(self: Leaves, wanted: Any) -> Any:
        both = beside(self, wanted)
        assert self.held is not None
        rank, held = self.held.likely.rank, self.held.flags == 1
        first = {int(i) for i in np.flatnonzero(held) if rank[i] < len(wanted)}
        seen.append(len(both) - len(wanted))
        assert set(both.tolist()) == set(wanted.tolist()) | first
        assert len(set(both.tolist())) == len(both)
        return both

    monkeypatch.setattr(Leaves, "add_likely", noted)
    x, y = a_line(8)
    found = in_passes(tmp_path, x, y, 20, objective="cov")
    assert (found.status, found.passes) == ("optimal", 2)
    assert seen[0] > 0


@pytest.mark.parametrize("objective", ["r2", "cov", "dv", "tv", "lts"])
@pytest.mark.parametrize("drop", [3, 40, 2000])
def test_few_rows_left_out_are_listed_without_a_pass_of_their_own(
    objective: str, drop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = a_line(9)
    x[5:5000:100] = np.nan
    asked = {"x": "a", "y": "b", "drop": drop, "objective": objective, "nan_policy": "omit"}
    pq.write_table(pa.table({"a": x, "b": y}), tmp_path / "t.parquet", row_group_size=3000)
    found = qs.solve(tmp_path / "t.parquet", **asked, memory_limit=1e-7 * N, n_jobs=1)
    assert (found.status, found.passes) == ("optimal", 2)
    expected = np.flatnonzero(~kept(found).astype(bool) & np.isfinite(x))
    assert len(expected) == drop
    assert np.array_equal(found.outliers, expected)
    monkeypatch.setattr(MemoryPlan, "prefetch_rows", 0.0)
    again = qs.solve(tmp_path / "t.parquet", **asked, memory_limit=1e-7 * N, n_jobs=1)
    assert again.passes > 2
    assert np.array_equal(found.outliers, again.outliers)


def test_a_decision_about_other_leaves_lists_nothing_at_hand() -> None:
    x, y = a_line(10, 3000)
    one, other = (_core.Partition((0.0, 0.0, 0, 0, 0.0), x[i::9], y[i::9], 16) for i in range(2))
    row = np.arange(3000)
    leaves = Leaves(
        one, empty_table(16), [], row[:0], (0.0, 0.0), np.ones(16, dtype=np.uint8),
        row=row, leaf=one.locate(x, y), x=x, y=y,
    )  # fmt: skip
    state = np.arange(16, dtype=np.uint8) % 3  # out, in, row by row
    decision = RowSelection(one, state, row[::2], np.zeros(16, dtype=np.int64))
    flagged = decision.flags(x, y, row)[0]
    assert np.array_equal(_left_out_at_hand(decision, leaves), np.flatnonzero(~flagged))
    elsewhere = RowSelection(other, state, row[::2], np.zeros(16, dtype=np.int64))
    assert len(_left_out_at_hand(elsewhere, leaves)) == 0


def test_a_sample_that_misleads_costs_a_pass_and_no_more(tmp_path: Path) -> None:
    parts = 150
    x, y = a_line(3)
    read = np.linspace(0, parts - 1, _SAMPLED_PARTS).round().astype(int)  # by the first pass
    part = np.arange(N) // (N // parts)
    elsewhere = ~np.isin(part, read)
    y[elsewhere] = -x[elsewhere] + 0.1 * y[elsewhere]
    found = in_passes(tmp_path, x, y, parts)
    here = qs.solve(x, y, drop=0.2)
    assert found.passes > 2
    assert (found.status, found.k) == ("optimal", here.k)
    assert found.value == pytest.approx(here.value, rel=2e-9)
    assert np.array_equal(kept(found), here.mask)


def test_rows_in_order_of_time_or_of_the_boundary_itself_change_nothing(tmp_path: Path) -> None:
    x, y = a_line(4)
    here = qs.solve(x, y, drop=0.2)
    for order in (np.argsort(x), np.argsort(np.abs(y - x))):
        found = in_passes(tmp_path, x[order], y[order], 20)
        assert found.status == "optimal"
        assert found.value == pytest.approx(here.value, rel=2e-9)
        assert np.array_equal(kept(found), here.mask[order])


@pytest.mark.parametrize("bytes_a_row", [1, 5, 20])
def test_little_memory_holds_few_rows(bytes_a_row: float, tmp_path: Path) -> None:
    x, y = a_line(5, 20_000)
    found = in_passes(tmp_path, x, y, 20, bytes_a_row)
    assert 100 * found.loaded <= bytes_a_row * len(x)
    here = qs.solve(x, y, drop=0.2)
    if found.status == "optimal":
        assert found.value == pytest.approx(here.value, rel=2e-9)
    assert found.bound >= here.value * (1 - 2e-9)


def test_adding_and_picking_at_once_is_both() -> None:
    x, y = a_line(6, 5000)
    x[::50] = np.nan
    partition: Any = _core.Partition((0.0, 0.0, 0, 0, 0.0), x[1::50], y[1::50], 64)
    wanted = (np.arange(partition.leaves) % 5 == 2).astype(np.uint8)
    table, other = empty_table(partition.leaves), empty_table(partition.leaves)
    missing, rows = partition.add_and_pick(x, y, wanted, table)
    assert missing == partition.add(x, y, np.zeros(0, dtype=np.uint8), other) == 100
    assert np.array_equal(table, other)
    for one, twin in zip(rows, partition.pick(x, y, wanted), strict=True):
        assert np.array_equal(one, twin)
    assert len(rows[0]) == table[wanted == 1, 0].sum()


def summed_one_by_one(x: Any, y: Any, leaf: Any, leaves: int) -> Any:
    """Count, extent and sums of every leaf, with what each addition rounds away (Knuth)."""
    table = empty_table(leaves)
    for px, py, at in zip(x.tolist(), y.tolist(), leaf.tolist(), strict=True):
        if at < 0:
            continue
        row = table[at]
        row[0] += 1
        row[1:5] = min(row[1], px), max(row[2], px), min(row[3], py), max(row[4], py)
        for i, term in enumerate((px, py, px * px, px * py, py * py)):
            before = float(row[5 + i])
            after = before + term
            added = after - before
            row[10 + i] += (before - (after - added)) + (term - added)
            row[5 + i] = after
    return table


@pytest.mark.parametrize("missing", [0, 10])
def test_rows_have_the_same_leaves_and_sums_on_every_processor(missing: int) -> None:
    x, y = a_line(7, 5000)
    x[:20], y[10:30], x[30 : 30 + missing] = 1e30, -1e100, np.nan
    x[40:60] = -x[:20]
    partition = _core.Partition((0.1, -0.2, 1, -2, 0.0), x[60::2], y[60::2], 512)
    leaf = partition.locate(x, y)
    assert (leaf == -1).sum() == missing
    expected = summed_one_by_one((x - 0.1) / 2, (y + 0.2) * 4, leaf, partition.leaves)
    try:
        for name in ("baseline", "avx2", "avx512", "auto"):
            if not _core.choose_instruction_set(name):
                continue
            table = empty_table(partition.leaves)
            assert partition.add(x, y, np.zeros(0, dtype=np.uint8), table) == missing
            assert np.array_equal(partition.locate(x, y), leaf), name
            assert np.array_equal(table, expected), name
    finally:
        _core.choose_instruction_set("auto")


@pytest.mark.parametrize("leaves", [1, 5, 4096])
def test_tables_of_leaves_begin_where_a_line_of_the_cache_does(leaves: int) -> None:
    table = empty_table(leaves)
    assert table.ctypes.data % 64 == 0
    assert table.shape == (leaves, 16)
    assert table.flags.c_contiguous


@pytest.mark.parametrize("seed", range(20))
def test_of_a_leaf_all_rows_are_held_or_none_and_never_too_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    leaves, runs = 30, 8
    rank = rng.permutation(leaves).astype(np.int32)
    likely = Likely(rank, int(rng.integers(1, leaves)), int(rng.integers(0, 400)))
    leaf = rng.choice(leaves, 1000, p=rng.dirichlet(np.full(leaves, 0.3))).astype(np.int32)
    numbers = np.arange(1000)
    held = Held(likely)
    for run in np.array_split(numbers, runs):
        one = Held(likely.share(runs))
        for part in np.array_split(run, 3):
            chosen = part[one.flags[leaf[part]] == 1]
            one.add((chosen, leaf[chosen], 1.0 * chosen, -1.0 * chosen), one.likely.until)
            assert one.size <= one.likely.most
        held.add_arrays(one.arrays())
        assert held.size <= likely.most
    row = np.concatenate([run[0] for run in held.runs])
    assert row.tolist() == numbers[held.flags[leaf] == 1].tolist()
    assert np.flatnonzero(held.flags).tolist() == np.flatnonzero(rank < held.likely.until).tolist()
    half = held.flags * (np.arange(leaves) % 2 == 0).astype(np.uint8)
    some = np.concatenate([run[0] for run in held.select_rows(half)])
    assert some.tolist() == numbers[half[leaf] == 1].tolist()

"""Data in parts give the answer that they give in memory, proved all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from points_in_parts import some_points, written

import quadsweep as qs
from quadsweep import _core
from quadsweep.objectives import OBJECTIVES
from quadsweep.outofcore.result import OutOfCoreResult
from quadsweep.outofcore.solve import IN_PASSES, columns_of
from quadsweep.outofcore.sources import PartFailed, open_source
from quadsweep.outofcore.work import empty_table
from quadsweep.results.boundary import NO_BOUNDARY, TOO_LARGE, TWINS, gradient_conic

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EVERY = np.zeros(0, dtype=np.uint8)


def kept(result: OutOfCoreResult) -> Any:
    return np.concatenate(
        [np.asarray(flags.to_numpy(zero_copy_only=False)) for flags in result.flags.arrays()]
    )


def assert_same(seed: int, n: int, folder: Path) -> OutOfCoreResult:
    x, y = some_points(seed, n)
    objective = IN_PASSES[seed // 4 % len(IN_PASSES)]
    drop = [0.05, 0.2, 0.5][seed // 24 % 3 if seed >= 24 else seed % 3]
    asked = {"drop": drop, "objective": objective}
    file = written(folder / "points.parquet", x, y)
    limit = 100e-9 * n  # a row takes 200 bytes in memory
    here = qs.solve(x, y, **asked)
    result: Any = qs.solve(file, x="a", y="b", memory_limit=limit, seed=seed, **asked)
    told = f"seed {seed}, n {n}, {objective}, drop {drop}: {result.status}"
    assert isinstance(result, OutOfCoreResult), told
    assert (result.status, result.n, result.k) == ("optimal", here.n, here.k), told
    goal = OBJECTIVES[objective]
    slack = 2e-9 * max(abs(here.value), 1.0 if objective in ("r2", "r") else 0.0)
    slack += 2e-12 * float(np.var(x) + np.var(y)) if objective in ("cov", "dv") else 0.0
    assert abs(result.value - here.value) <= slack, told
    mask = kept(result)
    assert mask.sum() == here.k, told
    assert abs(goal.value(x[mask], y[mask]) - result.value) <= slack, told
    assert goal.sense * (result.bound - here.value) >= -slack, told
    assert dict(result.summary_items())["caution"] == here.caution(), told
    return result


@pytest.mark.parametrize("seed", range(24))
def test_passes_give_the_answer_of_memory(seed: int, tmp_path: Path) -> None:
    result = assert_same(seed, [1000, 1000, 5000, 20000][seed % 4], tmp_path)
    assert result.passes >= 2


@pytest.mark.parametrize("seed", range(24))
def test_the_conic_is_that_of_memory_where_the_gradient_has_one(seed: int, tmp_path: Path) -> None:
    n = [1000, 5000][seed % 2]
    result = assert_same(seed, n, tmp_path)
    (x, y), mask = some_points(seed, n), kept(result)
    expected = gradient_conic(x, y, mask, OBJECTIVES[result.objective])
    found, reason = result.boundary
    assert result.conic is found
    assert (found is None) == bool(reason)
    if expected is None or not expected.separates(x, y, mask):
        assert found is None
        assert reason in (TWINS, TOO_LARGE)
        return
    assert found is not None
    assert found.separates(x, y, mask)
    for one, other in zip(found.local, expected.local, strict=True):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9)
    assert np.allclose([found.origin, found.scale], [expected.origin, expected.scale], rtol=1e-6)


def test_where_all_rows_are_kept_there_is_no_conic(tmp_path: Path) -> None:
    file = written(tmp_path / "t.parquet", *some_points(0, 3000))
    result: Any = qs.solve(file, x="a", y="b", drop=0, memory_limit=2e-4)
    assert result.boundary == (None, NO_BOUNDARY)


def test_a_row_on_the_wrong_side_leaves_no_conic(tmp_path: Path) -> None:
    x, y = some_points(0, 3000)
    file = written(tmp_path / "t.parquet", x, y)
    result: Any = qs.solve(file, x="a", y="b", drop=300, memory_limit=2e-4)
    assert result.conic is not None
    decision = result.flags.decision
    rows = np.sort(np.concatenate([decision.rows[1:], result.outliers[:1]]))
    for wrong in (decision.rows[1:], rows):  # one row less; one for another
        flags = replace(result.flags, decision=replace(decision, rows=wrong))
        assert replace(result, flags=flags).boundary == (None, TOO_LARGE)


@pytest.mark.slow
def test_passes_give_the_answer_of_memory_on_120_data_sets(tmp_path: Path) -> None:
    sizes = [1000] * 50 + [3000] * 40 + [10_000] * 18 + [30_000] * 8 + [10**5] * 3 + [10**6]
    for seed, n in enumerate(sizes):
        assert_same(seed, n, tmp_path)


def test_leaves_hold_count_extent_and_sums_of_their_rows() -> None:
    x, y = some_points(3, 3000)
    x[::100] = np.nan
    partition = _core.Partition((0.5, -0.25, 1, -1, 0.0), x[1::3], y[1::3], 64)
    table = empty_table(partition.leaves)
    assert partition.add(x, y, EVERY, table) == 30
    leaf = partition.locate(x, y)
    assert (leaf == -1).sum() == 30
    px, py = (x - 0.5) / 2, (y + 0.25) * 2
    for one in range(partition.leaves):
        rows = leaf == one
        assert table[one, 0] == rows.sum()
        if rows.any():
            u, v = px[rows], py[rows]
            assert table[one, 1:5].tolist() == [u.min(), u.max(), v.min(), v.max()]
            sums = table[one, 5:10] + table[one, 10:15]
            assert np.allclose(
                sums, [u.sum(), v.sum(), u @ u, u @ v, v @ v], rtol=1e-13, atol=1e-15
            )


@pytest.mark.parametrize("kind", range(6))
def test_every_row_ends_where_the_thresholds_send_it(kind: int) -> None:
    x, y = some_points(kind, 6000)
    x[:50], y[50:100] = 1e30, -1e100  # far from all thresholds
    partition = _core.Partition((0.0, 0.0, 0, 0, 0.0), x[::2], y[::2], 2048)
    _, threshold, child, axis, leaf = partition.__getstate__()
    found = partition.locate(x, y)
    for i, point in enumerate(zip(x, y, strict=True)):
        node = 0
        while leaf[node] < 0:
            node = child[node] + (point[axis[node]] >= threshold[node])
        assert found[i] == leaf[node], i
    wanted = (np.arange(partition.leaves) % 7 == 3).astype(np.uint8)
    position, at, px, _ = partition.pick(x, y, wanted)
    assert np.array_equal(position, np.flatnonzero(wanted[found]))
    assert np.array_equal(at, found[position])
    assert np.array_equal(px, x[position])
    table, every = empty_table(partition.leaves), empty_table(partition.leaves)
    partition.add(x, y, wanted, table)
    partition.add(x, y, EVERY, every)
    assert np.array_equal(every[:, 0], np.bincount(found, minlength=partition.leaves))
    assert np.array_equal(table[wanted == 1], every[wanted == 1])
    assert not table[wanted == 0, 0].any()


def test_leaves_are_smallest_where_good_subsets_end() -> None:
    x, y = np.random.default_rng(5).normal(size=(2, 20_000))
    here = (0.0, 0.0, 0, 0, 0.0)
    r = np.hypot(x, y)
    inside = r <= np.quantile(r, 0.5)
    start = [float(np.mean(v[inside])) for v in (x, y, x * x, x * y, y * y)]
    edge = np.abs(r - r[inside].max()) < 0.02
    rows = []
    for starts in ([], [start]):
        partition = _core.Partition(here, x, y, 256, "tv", 0.5, starts)
        table = empty_table(partition.leaves)
        partition.add(x, y, EVERY, table)
        assert partition.leaves == 256
        assert table[:, 0].sum() == len(x)
        rows.append(np.median(table[partition.locate(x[edge], y[edge]), 0]))
    assert rows[1] < 0.6 * rows[0]


def test_rows_next_to_zero_are_on_the_side_of_their_sign() -> None:
    tiny = 5e-324
    x = np.array([-tiny, 0.0, tiny, -1e3, 1e3] * 8)
    y = np.repeat([-tiny, 0.0, tiny, -1e3, 1e3, 1.0, -1.0, 2.0], 5)
    partition = _core.Partition((0.0, 0.0, 0, 0, 0.0), np.repeat(x, 4), np.repeat(y, 4), 4000)
    table = empty_table(partition.leaves)
    partition.add(x, y, EVERY, table)
    assert table[:, 0].max() == 1


def test_sums_do_not_lose_small_rows_beside_large_ones() -> None:
    x = np.tile([1e8, 1.0, -1e8], 100_000)
    partition = _core.Partition((0.0, 0.0, 0, 0, 0.0), x[:3], x[:3], 1)
    table = empty_table(1)
    partition.add(x, x, EVERY, table)
    assert table[0, 5] + table[0, 10] == 100_000


def test_identical_points_are_never_parted_and_common_ones_have_a_leaf_of_their_own() -> None:
    rng = np.random.default_rng(0)
    x, y = np.round(rng.normal(size=(2, 5000)), 1)
    x[:2000] = y[:2000] = 0.25
    partition = _core.Partition((0.0, 0.0, 0, 0, 0.0), x[::5], y[::5], 128)
    leaf = partition.locate(x, y)
    pairs = {}
    for point, one in zip(zip(x, y, strict=True), leaf, strict=True):
        assert pairs.setdefault(point, one) == one
    alone = leaf == pairs[0.25, 0.25]
    assert alone.sum() == 2000


def test_a_refined_leaf_keeps_its_rows_and_the_others_keep_their_numbers() -> None:
    x, y = some_points(0, 2000)
    partition = _core.Partition((0.0, 0.0, 0, 0, 0.0), x[:200], y[:200], 16)
    table = empty_table(partition.leaves)
    partition.add(x, y, EVERY, table)
    before = partition.locate(x, y)
    finer = partition.refined(np.array([3, 5], dtype=np.int32), table, 3)
    after = finer.locate(x, y)
    cut = np.isin(before, [3, 5])
    assert np.array_equal(before[~cut], after[~cut])
    assert len(np.unique(after[cut])) > 10
    assert np.isin(after[cut], [3, 5, *range(16, finer.leaves)]).all()


def test_the_same_bytes_for_any_number_of_threads(tmp_path: Path) -> None:
    file = written(tmp_path / "t.parquet", *some_points(0, 20_000))
    asked = {"x": "a", "y": "b", "drop": 0.2, "memory_limit": 1.6e-3}
    one, two = (qs.solve(file, n_jobs=jobs, **asked) for jobs in (1, 2))
    assert one.value == two.value
    assert np.array_equal(kept(one), kept(two))  # type: ignore[arg-type]


def test_rows_with_missing_values_are_counted_and_left_out_or_named(tmp_path: Path) -> None:
    x, y = some_points(0, 3000)
    x[[5, 2000]] = np.nan
    file = written(tmp_path / "t.parquet", x, y, 10)
    asked = {"x": "a", "y": "b", "drop": 100, "memory_limit": 2e-4}
    with pytest.raises(ValueError, match=r"2 of 3,000 rows .* row group 0 of .*t.parquet"):
        qs.solve(file, **asked)
    result: Any = qs.solve(file, nan_policy="omit", **asked)
    here = qs.solve(x, y, drop=100, nan_policy="omit")
    assert (result.n, result.k, result.missing) == (2998, 2898, 2)
    assert np.array_equal(result.outliers, here.outliers)
    assert result.outliers.tolist() == result.to_frame().index.tolist()
    flags = [flag for part in result.flag() for flag in part.to_pylist()]
    assert [flags[5], flags[2000], flags.count(True)] == [None, None, 2898]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # dask with the newest pandas
def test_every_kind_of_source_gives_the_same_rows(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    dd = pytest.importorskip("dask.dataframe")
    import pyarrow.dataset as ds

    x, y = some_points(0, 2000)
    (tmp_path / "logs").mkdir()
    for i in range(4):
        written(tmp_path / "logs" / f"{i}.parquet", x[500 * i :][:500], y[500 * i :][:500], 3)
    folder = tmp_path / "logs"
    sources = [
        str(folder),
        folder,
        str(folder / "*.parquet"),
        ds.dataset(str(folder), format="parquet"),
        pl.scan_parquet(str(folder / "*.parquet")),
        dd.read_parquet(str(folder)),
    ]
    for source in sources:
        found = columns_of(open_source(source, "a", "b"))
        assert np.array_equal(found[0], x), source
        assert np.array_equal(found[1], y), source
    values = {
        float(qs.solve(s, x="a", y="b", drop=0.1, memory_limit=1.5e-4).value) for s in sources[3:]
    }
    assert max(values) - min(values) < 1e-12


def copies_and_gaps() -> tuple[Any, Any]:
    """Rows of which copies are divided, some without a value."""
    x, y = some_points(1, 3000)
    x[[5, 2000]] = np.nan
    return x, y


def test_of_copies_the_first_ones_are_kept(tmp_path: Path) -> None:
    x, y = copies_and_gaps()
    file = written(tmp_path / "t.parquet", x, y, 30)
    asked = {"x": "a", "y": "b", "drop": 0.2, "memory_limit": 2e-4, "nan_policy": "omit"}
    result: Any = qs.solve(file, **asked)
    decision, mask = result.flags.decision, [f for part in result.flag() for f in part.to_pylist()]
    assert len(decision.divided)
    for one in decision.divided:
        copies = np.flatnonzero(decision.partition.locate(x, y) == one)
        first = copies[: decision.copies[one]]
        assert [i for i in copies if mask[i]] == first.tolist()
        assert len(first) < len(copies)
    assert mask.count(True) == result.k
    assert np.flatnonzero(np.equal(mask, False)).tolist() == result.outliers.tolist()


def test_a_polars_frame_is_given_a_lazy_column(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    x, y = copies_and_gaps()
    frame = pl.scan_parquet(written(tmp_path / "t.parquet", x, y, 30))
    asked = {"x": "a", "y": "b", "drop": 0.2, "memory_limit": 2e-4, "nan_policy": "omit"}
    result: Any = qs.solve(frame, **asked)
    usual = [f for part in result.flags.arrays() for f in part.to_pylist()]
    assert (usual.count(True), usual.count(None)) == (result.k, 2)
    for flagged in (result.flag(), result.flag(frame)):
        assert isinstance(flagged, pl.LazyFrame)
        for engine in ("in-memory", "streaming"):
            whole = flagged.collect(engine=engine)
            assert whole.columns == ["a", "b", "number", "inlier"]
            assert whole["inlier"].to_list() == usual
            some = flagged.filter(pl.col("number") % 7 == 3).select("inlier").collect(engine=engine)
            assert some["inlier"].to_list() == usual[3::7]
            assert (
                flagged.slice(1000, 500).collect(engine=engine)["inlier"].to_list()
                == (usual[1000:1500])
            )
            left_out = flagged.filter(~pl.col("inlier")).collect(engine=engine)
            assert left_out["number"].to_list() == result.outliers.tolist()
    again = result.flag(result.flag())
    assert again.collect_schema().names() == ["a", "b", "number", "inlier", "inlier_"]
    assert result.flag(column="kept").collect()["kept"].to_list() == usual


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # dask with the newest pandas
def test_a_dask_frame_is_given_a_lazy_column(tmp_path: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    x, y = copies_and_gaps()
    rows = pd.DataFrame({"a": x, "b": y, "number": np.arange(len(x))})
    frame = dd.from_pandas(rows, npartitions=11)
    asked = {"x": "a", "y": "b", "drop": 0.2, "memory_limit": 2e-4, "nan_policy": "omit"}
    result: Any = qs.solve(frame, **asked)
    usual = [f for part in result.flags.arrays() for f in part.to_pylist()]
    for flagged in (result.flag(), result.flag(frame)):
        assert flagged.columns.tolist() == ["a", "b", "number", "inlier"]
        whole = flagged.compute(scheduler="synchronous")
        assert [None if f is pd.NA else f for f in whole["inlier"]] == usual
        some = flagged.partitions[4:6].compute(scheduler="synchronous")
        at = some["number"].to_numpy()
        assert [None if f is pd.NA else f for f in some["inlier"]] == [usual[i] for i in at]
        left_out = flagged[~flagged["inlier"]]["number"].compute(scheduler="synchronous")
        assert left_out.tolist() == result.outliers.tolist()


def test_data_that_fit_are_solved_in_memory(tmp_path: Path) -> None:
    x, y = some_points(0, 1000)
    file = written(tmp_path / "t.parquet", x, y)
    result = qs.solve(file, x="a", y="b", drop=30)
    assert np.array_equal(result.outliers, qs.solve(x, y, drop=30).outliers)
    assert result.names == ("a", "b")


def test_the_answer_tells_itself_and_writes_its_flags(tmp_path: Path) -> None:
    x, y = some_points(0, 3000)
    file = written(tmp_path / "t.parquet", x, y)
    result: Any = qs.solve(file, x="a", y="b", drop=0.1, memory_limit=2e-4)
    assert "proved: no other 2,700 of these 3,000 points do better" in str(result)
    assert "passes" in result._repr_html_()
    assert result.to_dict()["passes"] == result.passes
    result.write(tmp_path / "flagged.parquet")
    back = pq.read_table(tmp_path / "flagged.parquet")
    assert back.column_names == ["a", "b", "number", "inlier"]
    assert np.array_equal(back["inlier"].to_numpy(), kept(result))
    mask = kept(result)
    slope, intercept = np.polyfit(x[mask], y[mask], 1)
    assert np.allclose([result.slope, result.intercept], [slope, intercept])


def test_a_damaged_row_group_is_named_and_a_rerun_goes_on_with_the_finished_parts(
    tmp_path: Path,
) -> None:
    x, y = some_points(0, 3000)
    folder = tmp_path / "logs"
    folder.mkdir()
    for i in range(10):
        written(folder / f"{i}.parquet", x[300 * i :][:300], y[300 * i :][:300], 1)
    asked: dict[str, Any] = {"x": "a", "y": "b", "drop": 0.1, "memory_limit": 3e-4, "n_jobs": 1}
    usual = qs.solve(folder, **asked)
    damaged = folder / "7.parquet"
    whole = damaged.read_bytes()
    page = pq.ParquetFile(damaged).metadata.row_group(0).column(0).data_page_offset
    damaged.write_bytes(whole[:page] + b"\xff" * 400 + whole[page + 400 :])
    kept_here = tmp_path / "work"
    with pytest.raises(PartFailed, match=r"row group 0 of .*7.parquet cannot be read"):
        qs.solve(folder, **asked, out=kept_here)
    finished = {path.name for path in kept_here.glob("*.parquet")}
    assert len(finished) == 7
    damaged.write_bytes(whole)
    with pytest.raises(ValueError, match="already holds finished chunks"):
        qs.solve(folder, **asked, out=kept_here)
    times = {path: path.stat().st_mtime_ns for path in kept_here.glob("*.parquet")}
    again = qs.solve(folder, **asked, out=kept_here, resume=True)
    assert again.value == usual.value
    assert all(path.stat().st_mtime_ns == then for path, then in times.items())


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"x": "a", "y": "c"}, "no column 'c'"),
        ({"x": 1, "y": "b"}, "x must be the name of a column"),
        ({"x": "a", "y": "b", "objective": "mcd"}, "mcd cannot be searched out of core"),
        ({"x": "a", "y": "b", "method": "sweep"}, "out-of-core data support only method='auto'"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(
    asked: dict[str, Any], words: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "t.parquet", *some_points(0, 1000))
    with pytest.raises((ValueError, TypeError), match=words):
        qs.solve(file, drop=10, memory_limit=1e-5, **asked)


def test_the_command_line_reads_a_pattern_and_writes_the_flags(tmp_path: Path, run: Any) -> None:
    import json

    x, y = some_points(0, 4000)
    for i in range(2):
        written(tmp_path / f"log{i}.parquet", x[i::2], y[i::2])
    pattern, flagged = str(tmp_path / "log*.parquet"), str(tmp_path / "flagged.parquet")
    asked = ["solve", pattern, "--x", "a", "--y", "b", "--drop", "1%", "--json"]
    few = ["--memory-limit", "0.0004"]
    code, out, _ = run(*asked, *few, "-o", flagged)
    told = json.loads(out)
    assert (code, told["k"], told["status"]) == (0, 3960, "optimal")
    flags = pq.read_table(flagged)["inlier"].to_numpy()
    assert np.flatnonzero(~flags).tolist() == told["outliers"]
    code, out, _ = run(*asked)
    assert abs(json.loads(out)["value"] - told["value"]) < 1e-12
    code, out, err = run("solve", str(tmp_path / "nothing*.parquet"), *asked[2:])
    assert (code, out) == (2, "")
    assert "no file matches" in err


@pytest.mark.parametrize("objective", ["r2", "cov", "tv", "lts"])
def test_rows_beyond_32_bits_are_counted(objective: str) -> None:
    x, y = some_points(0, 400)
    partition = _core.Partition((0.0, 0.0, 0, 0, 0.0), np.repeat(x, 5), np.repeat(y, 5), 4000)
    values = []
    for copies in (1e4, 1e8):
        table = empty_table(partition.leaves)
        partition.add(x, y, EVERY, table)
        assert table[:, 0].max() == 1  # every point has a leaf of its own
        table[:, 0] *= copies
        table[:, 5:15] *= copies
        none = np.zeros(0)
        ground = _core.LoadedPartition(partition, table, none.astype(np.int32), none, none)
        best = qs.solve(x, y, k=320, objective=objective).mask
        starts = [[float(v[best].mean()) for v in (x, y, x * x, x * y, y * y)]]
        found = ground.search(
            objective, int(320 * copies), 1e-6, starts, 0.0, 0.0, 0.0, np.inf, np.inf, 60.0, 1, None
        )
        assert found["status"] == "optimal"
        kept = table[found["leaves"], 0].sum() + found["copies"].sum()
        assert kept == 320 * copies
        sizes = copies if objective == "lts" else 1.0
        values.append(found["score"] / sizes)
    assert abs(values[0] - values[1]) <= 1e-5 * abs(values[0])


@pytest.mark.parametrize("objective", ["lts", "r2", "tv"])
@pytest.mark.parametrize("far", [1e5, 1e10, 1e12, 1e18, 1e100])
def test_sentinels_are_proved_around_or_refused(objective, far, tmp_path):
    """Beside them sums in doubles say nothing about the other rows."""
    for seed in range(2 if far > 1e9 else 1):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=120)
        y = x + 0.1 * rng.normal(size=120)
        x[:4], y[:4] = -far + rng.normal(size=4), far + rng.normal(size=4)
        file = written(tmp_path / "points.parquet", x, y, 3)
        asked: Any = {"k": 110, "objective": objective}
        if far > 1e9:
            with pytest.raises(ValueError, match=r"'a' has values .* leave out rows with such"):
                qs.solve(file, x="a", y="b", memory_limit=1e-6, n_jobs=1, **asked)
            continue
        result = qs.solve(file, x="a", y="b", memory_limit=1e-6, n_jobs=1, **asked)
        assert isinstance(result, OutOfCoreResult)
        assert result.status == "optimal"
        assert result.value == pytest.approx(qs.solve(x, y, **asked).value, rel=1e-8)


def test_far_rows_that_are_kept_leave_a_residual_sum_unproved(tmp_path):
    """Sums in doubles cannot tell it to the tolerance there; an exact fit they can."""
    rng = np.random.default_rng(1)
    x = np.append(rng.normal(size=99), 1e8)
    y = np.append(rng.normal(size=99), 1e8)
    file = written(tmp_path / "points.parquet", x, y, 3)
    result: Any = qs.solve(
        file, x="a", y="b", k=99, objective="lts", memory_limit=1e-6, time_limit=20, n_jobs=1
    )
    best = qs.solve(x, y, 99, objective="lts").value
    assert result.bound <= best * (1 + 1e-9)
    assert result.status != "optimal" or result.value == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("kind", ["date32", "timestamp", "zone", "lazy"])
@pytest.mark.parametrize("memory", [None, 1e-6])
def test_dates_in_files_and_lazy_frames_are_days(kind, memory, tmp_path):
    rng = np.random.default_rng(3)
    day = rng.integers(18000, 19000, 80)
    y = 0.5 * day + rng.normal(size=80)
    dates = day.astype("datetime64[D]")
    units = {"date32": pa.date32(), "zone": pa.timestamp("ms", tz="UTC")}
    column = pa.array(dates.astype("datetime64[ms]"), type=pa.timestamp("ms"))
    column = column.cast(units.get(kind, pa.timestamp("ms")))
    pq.write_table(pa.table({"a": column, "b": y}), tmp_path / "dates.parquet", row_group_size=20)
    source: Any = str(tmp_path / "dates.parquet")
    if kind == "lazy":
        source = pytest.importorskip("polars").scan_parquet(source)
    result = qs.solve(source, x="a", y="b", k=60, memory_limit=memory, n_jobs=1)
    here = qs.solve(day.astype(float), y, 60)
    assert result.status == "optimal"
    assert result.value == pytest.approx(here.value, abs=1e-9)
    assert result.slope == pytest.approx(here.slope, rel=1e-9)

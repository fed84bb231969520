"""A path of data in parts has the values of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from points_in_parts import some_points, written

import quadsweep as qs
from quadsweep.choosing.curve import sizes_meant
from quadsweep.choosing.outofcore import OutOfCorePath
from quadsweep.cli.ending import LIMITED
from quadsweep.objectives import OBJECTIVES
from quadsweep.outofcore.search import Leaves
from quadsweep.outofcore.solve import IN_PASSES

pytest.importorskip("pyarrow.parquet")


def assert_same_path(
    seed: int, n: int, folder: Path, asked: dict[str, Any], bytes_a_row: float = 100
) -> OutOfCorePath:
    x, y = some_points(seed, n)
    objective = IN_PASSES[seed % len(IN_PASSES)]
    here = qs.path(x, y, objective=objective, **asked)
    file = written(folder / "points.parquet", x, y)
    limit = bytes_a_row * 1e-9 * n
    found = qs.path(file, x="a", y="b", objective=objective, memory_limit=limit, **asked)
    told = f"seed {seed}, n {n}, {objective}, {asked}: {found}"
    assert isinstance(found, OutOfCorePath), told
    assert found.success, told
    assert found.k.tolist() == here.k.tolist(), told
    slack = 2e-9 * np.maximum(np.abs(here.value), 1.0 if objective in ("r2", "r") else 0.0)
    slack += 2e-12 * float(np.var(x) + np.var(y)) if objective in ("cov", "dv") else 0.0
    assert (np.abs(found.value - here.value) <= slack).all(), told
    assert (OBJECTIVES[objective].sense * (found.bound - here.value) >= -slack).all(), told
    return found


@pytest.mark.parametrize("seed", range(12))
def test_a_path_in_passes_has_the_values_of_memory(seed: int, tmp_path: Path) -> None:
    asked = [{"drop": 5}, {"drop": [10, 0.05, 0.2, 0.5]}][seed // 6]
    assert_same_path(seed, [1000, 3000][seed % 2], tmp_path, asked)


def test_rows_of_earlier_sizes_make_room_for_those_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten = []
    forget = Leaves.forget
    monkeypatch.setattr(Leaves, "forget", lambda self: (forgotten.append(1), forget(self)))
    assert_same_path(0, 20_000, tmp_path, {"drop": np.linspace(0.02, 0.38, 7).tolist()}, 60)
    assert forgotten


def test_sizes_that_share_their_rows_share_the_passes(tmp_path: Path) -> None:
    file = written(tmp_path / "t.parquet", *some_points(0, 20_000))
    found: Any = qs.path(file, x="a", y="b", drop=5, memory_limit=1.6e-3)
    one: Any = qs.solve(file, x="a", y="b", drop=5, memory_limit=1.6e-3)
    assert found.passes < one.passes + 5
    assert found.k.tolist() == [20_000 - i for i in range(6)]


def test_a_path_in_passes_tells_itself(tmp_path: Path) -> None:
    x, y = some_points(0, 3000)
    x[7] = np.nan
    file = written(tmp_path / "t.parquet", x, y)
    asked: dict[str, Any] = {"x": "a", "y": "b", "drop": 3, "nan_policy": "omit"}
    found: Any = qs.path(file, memory_limit=2e-4, **asked)
    assert "4 of 4 sizes proved optimal" in str(found)
    assert found.to_frame()["drop"].tolist() == [0, 1, 2, 3]
    assert (found.to_dict()["missing"], found.to_dict()["k"][0]) == (1, 2999)
    assert "4 sizes of 2,999 points" in found.plot().get_title(loc="left")
    assert np.allclose(found.value, qs.path(file, **asked).value)
    with pytest.raises(ValueError, match="out of core has no null, proof or weights"):
        qs.path(file, memory_limit=2e-4, proof=True, **asked)
    with pytest.raises(ValueError, match="mcd cannot be searched out of core"):
        qs.path(file, memory_limit=2e-4, objective="mcd", **asked)
    late: Any = qs.path(file, memory_limit=2e-4, time_limit=0, **asked)
    assert late.status.tolist() == ["time_limit"] * 4
    assert np.isnan(late.value).all()


def test_the_command_line_takes_the_path_of_a_pattern(tmp_path: Path, run: Any) -> None:
    import json

    x, y = some_points(0, 2000)
    for i in range(2):
        written(tmp_path / f"log{i}.parquet", x[i::2], y[i::2])
    asked = ["path", str(tmp_path / "log*.parquet"), "--x", "a", "--y", "b", "--drop", "3"]
    code, out, _ = run(*asked, "--json", "--memory-limit", "0.0002")
    told = json.loads(out)
    assert (code, told["k"], told["status"]) == (0, [2000, 1999, 1998, 1997], ["optimal"] * 4)
    code, out, _ = run(*asked, "--json")
    assert code == 0
    assert np.allclose(json.loads(out)["value"], told["value"])
    code, _, _ = run(*asked, "--memory-limit", "0.0002", "--time-limit", "0")
    assert code == LIMITED
    proof = ("--proof", str(tmp_path / "proof"))
    code, _, err = run(*asked, *proof, "--memory-limit", "0.0002")
    assert code == 2
    assert "out of core has no null, proof" in err
    assert run(*asked, *proof)[0] == 0  # they fit in memory
    assert (tmp_path / "proof").exists()


def test_a_long_range_of_sizes_is_spaced_out() -> None:
    sizes = sizes_meant(10**10, None, 0.2, OBJECTIVES["r2"], 501)
    assert (len(sizes), sizes[0], sizes[-1]) == (501, 10**10, 8 * 10**9)

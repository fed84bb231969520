"""An audit of data in parts gives the answer of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from points_in_parts import some_points, written

import quadsweep as qs
from quadsweep.auditing.fit import fit
from quadsweep.auditing.oracles.outofcore import least_past

pq = pytest.importorskip("pyarrow.parquet")


AUDITS: list[dict[str, Any]] = [
    {"claim": "sign"},
    {"claim": "significance"},
    {"claim": "significance", "level": 1e-6},
    {"claim": "reverse"},
    {"claim": "slope", "threshold": (-0.5, 1.2)},
    {"claim": "r2", "threshold": 0.3},
    {"claim": "sign", "max_drop": 20},
]


@pytest.mark.parametrize(
    ("seed", "n", "claim", "max_drop"),
    [(8, 60, 1, 6), (36, 120, 0, 4), (37, 200, 0, 2), (30, 1000, 5, 1)],
)
def test_no_more_rows_are_removed_than_allowed(
    seed: int, n: int, claim: int, max_drop: int, tmp_path: Path
) -> None:
    asked = AUDITS[claim] | {"max_drop": max_drop}
    assert_nothing_false_with_few_removals(seed, n, asked, tmp_path)


@pytest.mark.slow
def test_limits_on_removals_hold_on_many_data_sets(tmp_path: Path) -> None:
    for seed in range(500):
        rng = np.random.default_rng(seed)
        asked = AUDITS[seed // 6 % 6] | {"max_drop": int(rng.integers(1, 9))}
        assert_nothing_false_with_few_removals(seed, int(rng.integers(40, 400)), asked, tmp_path)


def assert_nothing_false_with_few_removals(
    seed: int, n: int, asked: dict[str, Any], folder: Path
) -> None:
    """Against the audit in memory with the same limit: rounding may leave an audit out of core
    undecided, but its bounds hold."""
    x, y = some_points(seed, n)
    file = written(folder / "points.parquet", x, y)
    here = qs.audit(x, y, **asked)
    found = qs.audit(file, x="a", y="b", memory_limit=1e-7 * n, **asked)
    told = f"seed {seed}, n {n}, {asked}: {found.message} In memory: {here.message}"
    assert isinstance(found, qs.OutOfCoreAudit), told
    assert found.drop is None or found.drop <= asked["max_drop"], told
    assert here.lower == (asked["max_drop"] + 1 if here.upper is None else here.upper), told
    assert found.lower <= here.lower, told
    assert found.upper is None or found.upper == len(found.outliers) >= here.lower, told


def assert_same_audit(seed: int, n: int, asked: dict[str, Any], folder: Path) -> qs.OutOfCoreAudit:
    x, y = some_points(seed, n)
    file = written(folder / "points.parquet", x, y)
    here = qs.audit(x, y, **asked)
    found = qs.audit(file, x="a", y="b", memory_limit=100e-9 * n, **asked)
    told = f"seed {seed}, n {n}, {asked}: {found.message}"
    assert isinstance(found, qs.OutOfCoreAudit), told
    for name in ("status", "lower", "upper", "drop", "message", "n", "max_drop"):
        assert getattr(found, name) == getattr(here, name), (name, told)
    assert np.allclose(list(found.before.to_dict().values()), list(here.before.to_dict().values()))
    if found.upper:
        assert found.outliers is not None
        assert len(found.outliers) == found.upper, told
        rest = np.delete(np.arange(n), found.outliers)
        after = fit(x[rest], y[rest])
        assert found.after is not None
        assert np.allclose(list(found.after.to_dict().values()), list(after.to_dict().values()))
        assert any(case.broken(found.outliers) for case in here.problems), told
    return found


@pytest.mark.parametrize("asked", AUDITS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_audits_in_passes_give_the_answer_of_memory(
    seed: int, asked: dict[str, Any], tmp_path: Path
) -> None:
    found = assert_same_audit(seed, [1000, 3000][seed % 2], asked, tmp_path)
    assert found.passes >= 2


@pytest.mark.slow
def test_audits_in_passes_give_the_answer_of_memory_on_many_data_sets(tmp_path: Path) -> None:
    for seed in range(6, 36):
        n = [1000, 1000, 3000, 10_000][seed % 4]
        assert_same_audit(seed, n, AUDITS[seed % len(AUDITS)], tmp_path)


def test_an_audit_of_a_source_that_fits_is_the_usual_one(tmp_path: Path) -> None:
    x, y = some_points(0, 300)
    file = written(tmp_path / "t.parquet", x, y)
    found = qs.audit(file, x="a", y="b")
    assert isinstance(found, qs.Audit)
    assert np.array_equal(found.outliers, qs.audit(x, y).outliers)
    assert found.names == ("a", "b")
    with pytest.raises(ValueError, match="about two columns: no controls"):
        qs.audit(file, x="a", y="b", controls="number")


def test_an_audit_in_passes_tells_itself_and_its_rows(tmp_path: Path) -> None:
    x, y = some_points(0, 3000)
    x[17] = np.nan
    file = written(tmp_path / "t.parquet", x, y)
    found = qs.audit(file, x="a", y="b", memory_limit=2e-4, nan_policy="omit")
    assert isinstance(found, qs.OutOfCoreAudit)
    assert "reverses the sign" in str(found)
    assert dict(found.summary_items())["certificate"] == "proved: no smaller set of rows does"
    assert found.to_dict()["missing"] == 1
    assert found.to_frame().index.tolist() == found.outliers.tolist()
    found.write(tmp_path / "flagged.parquet")
    flags = pq.read_table(tmp_path / "flagged.parquet")["inlier"].to_pylist()
    assert [i for i, flag in enumerate(flags) if flag is False] == found.outliers.tolist()
    assert flags[17] is None
    assert "rows" in found.plot().get_title(loc="left")


def test_a_limit_on_time_leaves_an_audit_in_passes_with_what_is_proved(tmp_path: Path) -> None:
    file = written(tmp_path / "t.parquet", *some_points(0, 3000))
    found = qs.audit(file, x="a", y="b", memory_limit=2e-4, time_limit=0)
    assert (found.status, found.lower, found.drop) == ("time_limit", 1, None)


def test_the_command_line_audits_a_pattern(tmp_path: Path, run: Any) -> None:
    import json

    x, y = some_points(0, 2000)
    for i in range(2):
        written(tmp_path / f"log{i}.parquet", x[i::2], y[i::2])
    asked = ["audit", str(tmp_path / "log*.parquet"), "--x", "a", "--y", "b", "--json"]
    code, out, _ = run(*asked, "--memory-limit", "0.0002")
    told = json.loads(out)
    assert (code, told["status"]) == (0, "optimal")
    assert told["passes"] > 2
    code, out, _ = run(*asked)
    assert code == 0
    assert [json.loads(out)[name] for name in ("lower", "upper")] == [told["lower"], told["upper"]]


def test_the_least_number_past_a_threshold_is_that_of_trying_all() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        steps = rng.exponential(size=60) ** rng.choice([1, 4])
        value = np.cumsum(steps) - rng.uniform(0, 1.1 * steps.sum())
        value[: rng.integers(0, 20)] = rng.choice([value[0], -np.inf])
        most, near = (int(m) for m in rng.integers(1, 60, size=2))
        passing = [m for m in range(1, most + 1) if value[m - 1] > 0]
        found = least_past(most, lambda m, v=value: float(v[m - 1]), near)
        assert found == (passing[0] if passing else None)

"""The experiments at a tiny scale: same tables whoever computes them, kills and all."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tiny_reproduction import TINY

from quadsweep import solve
from quadsweep.distributed.workers import local, one_by_one
from quadsweep.paper.experiments import figures, table1, table2, timing
from quadsweep.paper.experiments.campaign import chunk_directory, reproduce
from quadsweep.paper.experiments.randomness import trials
from quadsweep.paper.experiments.scale import PAPER, QUICK
from quadsweep.solving.methods.batch import correlations

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]


def tables_in(directory: Path) -> dict[str, bytes]:
    paths = [*directory.glob("*.md"), *directory.glob("*.csv")]
    return {path.name: path.read_bytes() for path in paths}


def small_chunks(monkeypatch):
    monkeypatch.setattr(table1, "CHUNK", 2)
    monkeypatch.setattr(table2, "SWEEP_CHUNK", {15: 7, 20: 3, 25: 1})
    monkeypatch.setattr(table2, "METHODS_CHUNK", 1)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_tables_are_the_same_byte_for_byte_whatever_the_workers(name, tmp_path, monkeypatch):
    small_chunks(monkeypatch)
    teams = {"one": one_by_one, "threads": local(3, "threads"), "processes": local(2)}
    found = {}
    for label, workers in teams.items():
        reproduce(name, TINY, tmp_path / label, workers, resume=False)
        found[label] = tables_in(tmp_path / label)
    assert found["one"]
    assert found["threads"] == found["one"]
    assert found["processes"] == found["one"]


def test_five_kills_at_random_moments_give_the_same_table(tmp_path):
    rng = random.Random(5)
    program = [sys.executable, str(TESTS / "tiny_reproduction.py")]
    start = time.monotonic()
    subprocess.run([*program, str(tmp_path / "quiet")], check=True, capture_output=True)
    whole = time.monotonic() - start
    disturbed = tmp_path / "disturbed"
    chunks = chunk_directory(disturbed, TINY, "table1")
    finished: set[str] = set()
    for _ in range(5):
        process = subprocess.Popen([*program, str(disturbed)], stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.3, 1.0) * whole)
        process.kill()
        process.wait()
        now = {path.name for path in chunks.glob("*.parquet")}
        assert finished <= now
        finished = now
    subprocess.run([*program, str(disturbed)], check=True, capture_output=True)
    assert tables_in(disturbed) == tables_in(tmp_path / "quiet")
    assert tables_in(disturbed)


def test_table_1_has_every_objective_and_lift_with_both_decisions():
    results = {chunk.name: chunk.perform() for chunk in table1.chunks(TINY)}
    table, uncentred = table1.tables(results, TINY)
    rows = {(row[0], row[1]): row for row in table.rows}
    assert len(rows) == 13
    for (objective, lift), row in rows.items():
        if lift == "L4" and objective in ("r", "R²", "covariance"):
            assert float(row[2]) < 0.6
        else:
            assert row[2] == "1.000", (objective, lift)
        assert row[2] == row[4], (objective, lift)
    products = [row for row in uncentred.rows if row[0] == "Sxy"]
    assert [row[2] for row in products] == ["1.000", "1.000"]


def fake_results(rng, misses):
    """Chunks of table 2 in which the sweep missed the given trials at n = 15."""
    results = {}
    for chunk in table2.chunks(TINY):
        part = chunk.name.split("-")[0]
        first, count = chunk.arguments["first"], chunk.arguments["count"]
        best = rng.uniform(0.5, 1, count)
        names = {"sweep": ["sweep"], "one_direction": ["sweep"]}.get(part)
        names = names or [row.column for row in (*table2.ROWS, *table2.EXTRA_ROWS)]
        results[chunk.name] = {"best": best, **{name: best.copy() for name in names}}
        if part == "sweep" and chunk.arguments["n"] == 15:
            for t in misses:
                if first <= t < first + count:
                    results[chunk.name]["sweep"][t - first] -= 1e-6
    return results


def test_table_2_counts_misses_and_names_their_trials(monkeypatch):
    small_chunks(monkeypatch)
    main, extra = table2.tables(fake_results(np.random.default_rng(0), [3, 28]), TINY)
    first = main.rows[0]
    assert first[:4] == ["Quadratic sweep", "15", "30", "0.933"]
    assert first[-1] == "2"
    assert first[5] != "1.000"
    assert any("trials 3, 28." in note for note in main.notes)
    assert main.rows[1][-1] == "0"
    assert main.rows[1][5] == "1.000"
    assert {row[0] for row in extra.rows} == {row.title for row in table2.EXTRA_ROWS}


def test_a_rate_just_below_one_is_not_rounded_to_one():
    assert table2._rate(2, 1_000_000) == "0.999998"
    assert table2._rate(0, 1_000_000) == "1.000"
    assert table2._rate(1, 10) == "0.900"
    almost = np.ones(1_000_000)
    almost[17] = 0.99
    assert table2._mean_with_error(almost, 3) == "1 - 1.0e-08"
    assert table2._mean_with_error(np.ones(5), 3) == "1.000"
    assert table2._mean_with_error(np.array([0.99, 1.0]), 3) == "0.995000 ± 0.005000"
    assert table2._mean_with_error(np.array([0.5, 0.7, np.nan]), 3) == "0.600 ± 0.100"


def test_the_r2_of_a_line_is_what_scikit_learn_scores():
    from sklearn.linear_model import RANSACRegressor, TheilSenRegressor

    [x], [y] = trials(5, 1, 15)
    found = table2._single_methods(x, y, 11)
    line = RANSACRegressor(min_samples=8, random_state=11).fit(x[:, None], y)
    assert found["ransac"] == pytest.approx(line.score(x[:, None], y))
    median = TheilSenRegressor(random_state=11).fit(x[:, None], y)
    assert found["theil_sen"] == pytest.approx(median.score(x[:, None], y))


def test_work_of_table_2_never_beats_the_best_and_the_engines_reach_it():
    columns = table2.methods_work(15, 40, 3)
    for name, values in columns.items():
        assert (values <= columns["best"] + 1e-9).all(), name
    for name in ("certified", "concentrate"):
        assert columns[name] == pytest.approx(columns["best"], abs=1e-9), name
    assert columns["lts"] == pytest.approx(columns["lts_certified"], abs=1e-9)
    for work in (table2.sweep_work, table2.one_direction_work):
        columns = work(15, 40, 3)
        assert (columns["sweep"] <= columns["best"] + 1e-9).all()


def test_r2_of_many_subsets_is_r2_of_each():
    x, y = trials(0, 20, 15)
    masks = np.array([solve(x[t], y[t], k=8).mask for t in range(20)])
    expected = [np.corrcoef(x[t][masks[t]], y[t][masks[t]])[0, 1] ** 2 for t in range(20)]
    assert correlations(x, y, masks) ** 2 == pytest.approx(expected)


def test_timing_writes_both_tables_and_the_figure(tmp_path):
    text = reproduce("timing", TINY, tmp_path, one_by_one, resume=False)["timing"]
    assert "the best subset was missed by: naive sweep 0, sweep 0, certified 0" in text
    assert "20.2" in text
    for name in ("timing.pdf", "timing.png", "timing.csv", "timing-2.csv", "run.json"):
        assert (tmp_path / name).stat().st_size > 0, name
    note = json.loads((tmp_path / "run.json").read_text())
    timing = note["experiments"]["timing"]
    assert timing["seconds"] > 0
    reproduce("timing", TINY, tmp_path, one_by_one, resume=True)
    timing = json.loads((tmp_path / "run.json").read_text())["experiments"]["timing"]
    assert "seconds" not in timing


def test_every_conic_in_the_figures_separates_and_pictures_are_the_same_each_time(tmp_path):
    for result in figures.boundary_results():
        assert result.conic is not None
        assert result.conic.separates(result.x, result.y, result.mask)
        assert result.status == "optimal"
    figures.draw(tmp_path / "a")
    figures.draw(tmp_path / "b")
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {"lift.pdf", "lift.png", "boundaries.pdf", "boundaries.png"}
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_paper_scale_has_the_papers_counts():
    assert PAPER.sweep == {15: 1_000_000, 20: 100_000, 25: 10_000}
    assert (PAPER.separability, PAPER.methods, PAPER.timing) == (1_000, 1_000, 100)
    assert PAPER.timing_sizes == tuple(range(10, 31))
    for scale in (QUICK, PAPER):
        for part in (table1, table2, timing):
            names = [chunk.name for chunk in part.chunks(scale)]
            assert len(set(names)) == len(names)
    total = sum(chunk.trials for chunk in table2.chunks(PAPER) if chunk.name.startswith("sweep"))
    assert total == 1_110_000

"""``quadsweep reproduce`` as it is typed."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from quadsweep.paper.experiments import campaign, command

pytestmark = pytest.mark.slow


def run(*arguments: str):
    return CliRunner().invoke(command.app, list(arguments))


def test_figures_are_written_where_asked(tmp_path):
    result = run("figures", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "boundaries.pdf").exists()
    assert "tables and figures are in" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [("table9",), ("figures", "--scale", "huge"), ("table1", "--jobs", "0"), ()],
)
def test_wrong_usage_ends_with_2(arguments, tmp_path):
    out = ("--out", str(tmp_path)) if arguments else ()
    assert run(*arguments, *out).exit_code == 2


def test_finished_chunks_are_not_thrown_away_without_resume(tmp_path):
    store = tmp_path / "chunks" / "quick" / "table1"
    store.mkdir(parents=True)
    (store / "something.parquet").write_bytes(b"")
    result = run("table1", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "--resume" in result.stderr
    assert (store / "something.parquet").exists()


def test_an_interrupt_ends_with_130_and_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run", interrupted)
    result = run("table1", "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "--resume" in result.stderr


def test_an_unknown_dask_scheduler_is_reported_in_one_line(tmp_path):
    import dask
    import distributed  # noqa: F401  (its settings, or leaving the block would take all of them away)

    with dask.config.set({"distributed.comm.timeouts.connect": "200ms"}):
        result = run("table1", "--out", str(tmp_path), "--dask", "tcp://127.0.0.1:9")
    assert result.exit_code == 2
    assert "127.0.0.1:9" in result.stderr

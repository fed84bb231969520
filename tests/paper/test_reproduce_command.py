"""``quadsweep reproduce`` as it is typed."""

from __future__ import annotations

import pytest

from quadsweep.cli import main
from quadsweep.paper.experiments import campaign

pytestmark = pytest.mark.slow


@pytest.fixture
def run(capsys):
    """The exit code of the command, and what it says on standard error."""

    def ended(*arguments: str) -> tuple[int, str]:
        code = main(["reproduce", *arguments])
        return code, capsys.readouterr().err

    return ended


def test_figures_are_written_where_asked(run, tmp_path):
    code, said = run("figures", "--out", str(tmp_path))
    assert code == 0, said
    assert (tmp_path / "boundaries.pdf").exists()
    assert "tables and figures are in" in said


@pytest.mark.parametrize(
    "arguments",
    [("table9",), ("figures", "--scale", "huge"), ("table1", "--jobs", "0")],
)
def test_wrong_usage_ends_with_2(run, arguments, tmp_path):
    assert run(*arguments, "--out", str(tmp_path))[0] == 2


def test_finished_chunks_are_not_thrown_away_without_resume(run, tmp_path):
    store = tmp_path / "chunks" / "quick" / "table1"
    store.mkdir(parents=True)
    (store / "something.parquet").write_bytes(b"")
    code, said = run("table1", "--no-resume", "--out", str(tmp_path))
    assert code == 2
    assert "go on with --resume" in said
    assert (store / "something.parquet").exists()


def test_an_interrupt_ends_with_130_and_says_how_to_go_on(run, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run", interrupted)
    code, said = run("table1", "--out", str(tmp_path))
    assert code == 130
    assert "the same command goes on" in said


def test_tables_of_finished_experiments_stand_at_the_end_and_a_second_run_goes_on(
    capsys, tmp_path, monkeypatch
):
    from tiny_reproduction import TINY

    from quadsweep.paper.experiments import scale

    monkeypatch.setitem(scale.SCALES, "quick", TINY)
    arguments = ["reproduce", "table1", "--out", str(tmp_path), "--jobs", "1"]
    assert main(arguments) == 0
    first = capsys.readouterr()
    assert "table1 (1 of 1)" in first.err
    assert "paper" in first.out
    chunks = sorted((tmp_path / "chunks" / TINY.name / "table1").glob("*.parquet"))
    times = [path.stat().st_mtime_ns for path in chunks]
    assert main(arguments) == 0
    assert capsys.readouterr().out == first.out
    assert [path.stat().st_mtime_ns for path in chunks] == times


def test_an_unknown_dask_scheduler_is_reported_in_one_line(run, tmp_path):
    import dask
    import distributed  # noqa: F401  (its settings, or leaving the block would take all of them away)

    with dask.config.set({"distributed.comm.timeouts.connect": "200ms"}):
        code, said = run("table1", "--out", str(tmp_path), "--dask", "tcp://127.0.0.1:9")
    assert code == 2
    assert "127.0.0.1:9" in said


def test_what_is_not_installed_is_named_before_anything_is_computed(run, tmp_path, monkeypatch):
    there = campaign.find_spec
    gone = {"piqp", "matplotlib"}
    monkeypatch.setattr(
        campaign, "find_spec", lambda library: None if library in gone else there(library)
    )
    code, said = run("all", "--out", str(tmp_path))
    assert code == 2
    assert 'need piqp, matplotlib: pip install "quadsweep[experiments]"' in said
    assert not any(tmp_path.iterdir())

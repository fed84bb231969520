"""What an interior point method returns where hulls meet."""

import numpy as np
import pytest

from quadsweep.paper.experiments import stopping_error

pytest.importorskip("casadi")


def test_the_value_of_separate_hulls_is_their_squared_distance_and_of_meeting_ones_an_error():
    program = stopping_error.HullDistance(1e-8)
    x = np.concatenate([np.linspace(0, 1, 10), np.linspace(3, 4, 10)])
    inside = np.arange(20) < 10
    from quadsweep.paper.separability.separate import hull_distance

    y = np.random.default_rng(0).random(20)
    ours = hull_distance(x[None], y[None], inside[None], "L4").primal[0]
    assert program.squared(x, y, inside) == pytest.approx(ours, rel=1e-5)
    mixed = np.arange(20) % 2 == 0
    assert 0 < program.squared(np.linspace(0, 1, 20), y, mixed) < 1e-8


def test_the_table_has_the_paper_beside_the_exact_shares(tmp_path, capsys):
    stopping_error.main(["--out", str(tmp_path), "--trials", "4"])
    table = (tmp_path / "stopping-error.md").read_text()
    assert "N = 4" in table
    assert "| r         | 0.326 |" in table
    assert "| R²        | 0.216 |" in table

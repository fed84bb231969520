"""The search around scores in audits: refutes nothing that a refit shows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from fuzzing.fuzz_score_search import KINDS, check

import quadsweep as qs


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(KINDS)), ids=KINDS)
def test_levels_at_the_edge_of_the_truth(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(seed, 2 * len(KINDS), len(KINDS)):
        counts.update(check(number))
    assert not [what for what in counts if "wrong" in what], counts
    assert counts.total() > 0


def panel(units: int, periods: int) -> pd.DataFrame:
    """A panel in which some rows carry the coefficient of x."""
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(units), periods)
    x, z = rng.normal(size=(2, len(unit)))
    y = 0.12 * x + z + rng.normal(size=len(unit)) + 3 * rng.normal(size=units)[unit]
    return pd.DataFrame({"y": y, "x": x, "z": z, "unit": unit.astype(str)})


def test_rows_of_a_panel_are_proved() -> None:
    frame = panel(80, 6)
    found = qs.audit("y ~ x + z | unit", frame, term="x", vcov={"CRV1": "unit"}, time_limit=60.0)
    assert found.status == "optimal"
    assert found.lower == found.upper
    assert found.lower > 2


def test_rows_of_units_with_many_rows_are_bounded() -> None:
    found = qs.audit(
        "y ~ x + z | unit", panel(4, 80), term="x", vcov={"CRV1": "unit"}, time_limit=20.0
    )
    assert 2 < found.lower <= found.upper


@pytest.mark.parametrize("kind", ["HC2", "HC3"])
def test_rows_are_proved_with_leverages(kind: str) -> None:
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 400))
    y = 0.15 * x + z + rng.normal(size=400)
    found = qs.audit(x, y, controls=z, vcov=kind, claim="significance", time_limit=60.0)
    assert found.status == "optimal"
    assert found.lower == found.upper
    assert found.lower > 2


def test_many_controls_are_bounded_beyond_what_can_be_refitted() -> None:
    rng = np.random.default_rng(0)
    z = np.column_stack([rng.normal(size=(400, 11)), rng.random(400) < 0.4]).astype(float)
    x = rng.normal(size=400) + 0.5 * z[:, 0]
    y = rng.uniform(2, 12) * x + z @ rng.normal(size=12) + rng.normal(size=400)
    found = qs.audit(x, y, controls=z, claim="significance", vcov="HC1", max_drop=11, n_jobs=1)
    assert (found.status, found.lower) == ("robust", 12)

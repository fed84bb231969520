"""The study of separability: its tests of an instance, its counts, tables and picture."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.results.boundary import gradient_conic

pytestmark = pytest.mark.slow

STUDY = Path(__file__).parents[2] / "docs/studies/separability_rate.py"
spec = spec_from_file_location("separability_rate", STUDY)
rate = sys.modules["separability_rate"] = module_from_spec(spec)
spec.loader.exec_module(rate)


@pytest.mark.parametrize("objective", rate.TRIED)
@pytest.mark.parametrize("family", rate.FAMILIES)
def test_the_gradient_test_agrees_with_the_gradients_conic(objective, family):
    rng = np.random.default_rng(3)
    x, y = rate.FAMILIES[family](rng, (60, 9))
    masks = qs.solve_many(x, y, k=6, objective=objective, method="exhaustive").masks
    fast = rate.gradient_separates(x, y, masks, objective)
    goal = qs.objectives.get(objective)
    slow = [
        (conic := gradient_conic(x[t], y[t], masks[t], goal)) is not None
        and conic.separates(x[t], y[t], masks[t])
        for t in range(60)
    ]
    np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize(("lift", "together"), [("L4", rate.TOGETHER), ("L3c", 0.0), ("L5", 0.0)])
def test_screened_separability_is_the_exact_one(lift, together):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 80, 10))
    masks = qs.solve_many(x, y, k=6, objective="cov", method="exhaustive").masks
    masks[40:] = rng.permuted(masks[40:], axis=1)
    found = rate.separable(x, y, masks, lift, together)
    exact = [qs.separate(x[t], y[t], masks[t], lift=lift).separable for t in range(80)]
    np.testing.assert_array_equal(found, exact)
    assert 0 < found.sum() < 80


def test_the_shipped_counterexamples_would_be_counted():
    for name, lift in (
        ("nonseparable-r2", "L5"), ("nonseparable-dv", "L4"), ("nonseparable-cov", "L3c"),
    ):  # fmt: skip
        data = qs.datasets.load(name)
        x, y = data.x[None], data.y[None]
        found = qs.solve_many(x, y, k=data.k, objective=data.objective, method="exhaustive")
        assert not rate.gradient_separates(x, y, found.masks, data.objective)[0]
        assert not rate.separable(x, y, found.masks, lift, 0.0)[0]


def test_the_default_study_has_a_million_instances_over_the_whole_range():
    work = rate.cells(rate.INSTANCES)
    assert sum(cell.count for cell in work) >= 1_000_000
    assert {cell.family for cell in work} == set(rate.FAMILIES)
    assert {cell.n for cell in work} == set(range(8, 17))
    shares = [cell.k / cell.n for cell in work]
    assert min(shares) <= 0.25
    assert max(shares) >= 0.9


def test_a_small_study_counts_and_draws():
    results = {cell: rate.count_failures(cell) for cell in rate.cells(4_000) if cell.n == 8}
    counts = rate.totals(results)
    total = sum(cell.count for cell in results)
    for objective in ("tv", "dv"):
        for test in (rate.GRADIENT, *rate.CONTAINING[objective]):
            assert counts[objective, test, "tested"] == total
    assert all(counts["tv", test, "failed"] == 0 for test in (rate.GRADIENT, "L3t", "L4", "L5"))
    assert counts["cov", "L4", "failed"] > 0
    text = "\n".join(table.markdown() for table in rate.tables(results))
    assert f"({total:,} instances)" in text
    assert "near a circle" in text
    figure = rate.draw(results)
    assert len(figure.axes) == 2
    assert [len(ax.lines) for ax in figure.axes] == [4, 3]

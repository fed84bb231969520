"""The study of separability and the table of sizes: tests, counts, tables, picture, resuming."""

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.distributed.store import ChunkStore
from quadsweep.distributed.workers import one_by_one
from quadsweep.paper.experiments import separability_rate as rate
from quadsweep.paper.experiments.runner import run
from quadsweep.results.boundary import gradient_conic

pytestmark = pytest.mark.slow


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
    work = rate.chunks(rate.INSTANCES)
    assert sum(chunk.trials for chunk in work) >= 1_000_000
    assert {c.arguments["family"] for c in work} == set(rate.FAMILIES)
    assert {c.arguments["n"] for c in work} == set(range(8, 17))
    shares = [c.arguments["k"] / c.arguments["n"] for c in work]
    assert min(shares) <= 0.25
    assert max(shares) >= 0.9


def test_a_small_study_counts_draws_and_resumes(tmp_path):
    work = [c for c in rate.chunks(4_000) if c.arguments["n"] == 8]
    store = ChunkStore(tmp_path)
    results = run("study", work, store, one_by_one, resume=True)
    again = run("study", work, store, lambda chunks: iter(()), resume=True)
    assert rate.totals(results, work) == rate.totals(again, work)
    counts = rate.totals(results, work)
    total = sum(chunk.trials for chunk in work)
    for objective in ("tv", "dv"):
        for test in (rate.GRADIENT, *rate.CONTAINING[objective]):
            assert counts[objective, test][0] == total
    assert all(counts["tv", test][1] == 0 for test in (rate.GRADIENT, "L3t", "L4", "L5"))
    assert counts["cov", "L4"][1] > 0
    text = "\n".join(table.markdown() for table in rate.tables(results, work))
    assert f"({total:,} instances)" in text
    assert "near a circle" in text
    figure = rate.draw(results, work)
    assert len(figure.axes) == 2
    assert [len(ax.lines) for ax in figure.axes] == [4, 3]

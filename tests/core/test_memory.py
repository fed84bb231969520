"""The search in little memory: the same answer depth first, or an honest gap."""

from __future__ import annotations

import numpy as np
import pytest

import quadsweep as qs
from quadsweep.objectives import get
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem


def noise(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(seed).random((2, n))
    return x, y


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["r2", "r", "cov", "dv", "tv", "lts"])
def test_depth_first_finds_the_same_optimum(objective: str) -> None:
    for seed in range(3):
        x, y = noise(seed, 2000)
        plain = search(Problem(x, y, 700, get(objective)))
        narrow = search(Problem(x, y, 700, get(objective), memory_limit=150_000.0))
        assert plain.status == "optimal", seed
        assert narrow.status == "optimal", seed
        assert narrow.value == pytest.approx(plain.value, abs=2e-9, rel=1e-8), seed


@pytest.mark.slow
def test_both_threads_go_depth_first() -> None:
    x, y = noise(5, 20_000)
    plain = search(Problem(x, y, 8000, get("tv")))
    narrow = search(Problem(x, y, 8000, get("tv"), n_jobs=2, memory_limit=2e6))
    assert narrow.status == "optimal"
    assert narrow.value == pytest.approx(plain.value, rel=1e-8)


def test_without_memory_the_gap_is_honest_and_the_message_says_why() -> None:
    x, y = noise(1, 2000)
    best = qs.solve(x, y, 1000)
    stopped = qs.solve(x, y, 1000, memory_limit=1e-6)
    assert stopped.status == "memory_limit"
    assert "memory limit" in stopped.message
    assert "memory limit" in stopped.summary()
    assert stopped.value <= best.value + 1e-9
    assert stopped.bound >= best.value - 1e-12


@pytest.mark.parametrize("given", [0, -1, "2", True, float("nan")])
def test_a_limit_is_a_positive_number_of_gigabytes(given: object) -> None:
    with pytest.raises(ValueError, match="memory_limit must be None or gigabytes > 0; got"):
        qs.solve([1, 2, 3, 4], [1, 3, 2, 4], 3, memory_limit=given)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_sample_that_shows_the_wrong_sign_does_not_mislead() -> None:
    """Half a uniform square: both signs of r are nearly as good, a sample cannot tell which."""
    for seed in (1006, 3, 8):
        x, y = noise(seed, 100_000)
        found = search(Problem(x, y, 50_000, get("r2")))
        by_sign = [search(Problem(x, s * y, 50_000, get("r"))).value ** 2 for s in (1, -1)]
        assert found.status == "optimal", seed
        assert found.value == pytest.approx(max(by_sign), abs=3e-9), seed


def test_at_most_is_listed_where_boxes_do_not_end() -> None:
    """Five points within 1e-17 of each other: the boxes around them never close."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, y = rng.random((2, 10))
        x[:5], y[:5] = 1e-17 * np.arange(5), 1e-17 * rng.random(5)
        found = search(Problem(x, y, 6, get("cov"), tol=0.0), k_or_more=True)
        listed = [
            qs.solve(x, y, k, objective="cov", method="exhaustive").value for k in range(6, 11)
        ]
        assert found.status == "optimal", seed
        assert found.value == pytest.approx(max(listed), rel=1e-12), seed

"""The one search, asked through the smallest relaxation there is (compiled/least_variance.hpp)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from quadsweep import _core, _core_parts

KINDS = ("uniform", "normal", "lattice", "clusters", "far away")


def numbers(kind: str, seed: int, n: int) -> list[float]:
    rng = np.random.default_rng([KINDS.index(kind), seed])
    x = {
        "uniform": rng.random(n),
        "normal": rng.normal(size=n),
        "lattice": rng.integers(0, n, n).astype(float),
        "clusters": rng.integers(0, 3, n) + 1e-6 * rng.normal(size=n),
        "far away": 1e6 + rng.random(n),
    }[kind]
    return x.tolist()


def squares(x: list[float]) -> float:
    mean = math.fsum(x) / len(x)
    return math.fsum((v - mean) ** 2 for v in x)


def least(x: list[float], k: int) -> float:
    """Of k neighbours in order: no other k numbers vary less."""
    ordered = sorted(x)
    return min(squares(ordered[i : i + k]) for i in range(len(x) - k + 1))


def test_k_neighbours_vary_least() -> None:
    for seed in range(20):
        x = numbers(KINDS[seed % 5], seed, 8)
        listed = min(squares(list(some)) for some in itertools.combinations(x, 4))
        assert least(x, 4) == pytest.approx(listed, rel=1e-9, abs=1e-12), seed


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_an_example_of_a_relaxation_finds_and_proves_the_least(kind: str, jobs: int) -> None:
    for seed in range(40):
        n = 5 + seed
        x, k = numbers(kind, seed, n), 2 + seed % (n - 3)
        alone = float(seed % 3) * 100
        rows, value, bound, status, _ = _core_parts.vary_least(
            x, k, n_jobs=jobs, serial_evaluations=alone
        )
        told = f"seed {seed}"
        assert status == "optimal", told
        assert len(set(rows.tolist())) == k, told
        assert value == pytest.approx(squares([x[i] for i in rows]), rel=1e-6, abs=1e-9), told
        assert value == pytest.approx(least(x, k), rel=1e-6, abs=1e-9), told
        assert value * (1 - 2e-9) <= bound <= value, told


@pytest.mark.parametrize("jobs", [1, 2])
def test_depth_first_is_the_same_answer(jobs: int) -> None:
    x = numbers("uniform", 7, 300)
    plain = _core_parts.vary_least(x, 100)
    narrow = _core_parts.vary_least(x, 100, n_jobs=jobs, depth_first_at=0.0)
    assert (narrow[1], narrow[3]) == (plain[1], "optimal")
    assert plain[4] > 10


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({"memory_limit": 1000.0}, "memory_limit"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"most_boxes": 3.0}, "heuristic"),
        ({"callback": lambda *_: False}, "interrupted"),
    ],
)
def test_what_stops_a_search_is_its_status_and_the_bound_holds(limits: dict, status: str) -> None:
    x = numbers("uniform", 3, 200_000)  # long enough for a callback on any machine
    _, value, bound, said, _ = _core_parts.vary_least(x, 150_000, **limits)
    best = least(sorted(x)[:150_001], 150_000)  # of some of them: no less than the least
    assert said == status
    assert bound <= best
    assert value >= bound


def test_the_bound_on_the_way_counts_the_boxes_that_threads_hold() -> None:
    """One box, so large that a thread holds it while the other one, with nothing to do, reports."""
    x = numbers("uniform", 5, 200_000)
    best = squares(sorted(x)[1000:151_000])
    seen: list[tuple[float, float]] = []
    for _ in range(3):
        _core_parts.vary_least(
            x, 150_000, n_jobs=2, time_limit=1.0,
            callback=lambda value, bound, *_: seen.append((value, bound)),
        )  # fmt: skip
    assert len(seen) > 3
    assert all(bound <= best for _, bound in seen)


def test_a_search_that_halts_for_a_failing_callback_raises_its_error() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _core_parts.vary_least(numbers("uniform", 1, 200_000), 150_000, n_jobs=2, callback=fail)


def test_a_callback_may_search_itself() -> None:
    """It runs while nothing is locked."""
    x = numbers("uniform", 2, 200_000)
    inner = []

    def ask(*_: object) -> bool:
        inner.append(_core_parts.vary_least([1.0, 2.0, 4.0, 8.0], 2)[1])
        return len(inner) < 3

    _core_parts.vary_least(x, 150_000, n_jobs=2, callback=ask)
    assert inner[0] == 0.5


def regression(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    x = rng.normal(size=(n, 3))
    return x, rng.normal(size=n)


def test_multiple_regression_keeps_to_its_memory() -> None:
    x, y = regression(60)
    found = _core.regression_fit(x, y, 30, memory_limit=1e4, time_limit=60.0)
    assert found["status"] == "memory_limit"
    kept = found["inliers"]
    design = np.hstack([np.ones((30, 1)), x[kept]])
    rest = y[kept] - design @ np.linalg.lstsq(design, y[kept], rcond=None)[0]
    value = 1 - rest @ rest / ((y[kept] - y[kept].mean()) @ (y[kept] - y[kept].mean()))
    assert found["value"] == pytest.approx(value, abs=1e-9)
    assert value < found["bound"] <= 1


def test_multiple_regression_promises_nothing_before_it_has_boxes() -> None:
    x, y = regression(4000)
    seen: list[tuple[float, float, int]] = []
    _core.regression_fit(
        x, y, 2000, time_limit=1.0, n_jobs=2,
        progress=lambda value, bound, nodes, _: seen.append((value, bound, nodes)),
    )  # fmt: skip
    assert len(seen) > 3
    assert all(bound == 1 for _, bound, nodes in seen if nodes == 0)
    assert not any(bound < value for value, bound, _ in seen)

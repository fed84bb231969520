"""What it costs to choose k with open eyes, each beside the plain way to the same answer.

    python benchmarks/choosing.py [--quick]

All sizes of a range at once, against one solve a size. The two of a ratio take turns in one
process, the best of several; time on the clock and of the processor (on a busy machine the clock
shows the others). Values are checked to be the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import quadsweep as qs


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    clock, processor = time.perf_counter(), time.process_time()
    answer = work()
    return time.perf_counter() - clock, time.process_time() - processor, answer


def race(entrants: dict[str, Callable[[], Any]], rounds: int) -> dict[str, Any]:
    """Each in turn, the best of several; prints all of them and the ratio to the last."""
    best = {name: (float("inf"), float("inf")) for name in entrants}
    answers = {}
    for _ in range(rounds):
        for name, work in entrants.items():
            clock, processor, answers[name] = timed(work)
            best[name] = min(best[name][0], clock), min(best[name][1], processor)
    last = best[list(entrants)[-1]]
    for name, (clock, processor) in best.items():
        share = f"{clock / last[0]:6.2f} of the last ({processor / last[1]:.2f} of its processor)"
        print(f"  {name:<34}{clock:9.3f} s{processor:9.3f} s of the processor{share:>44}")
    return answers


def line_with_noise(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    x = rng.uniform(size=n)
    scattered = rng.uniform(size=n) < 0.3
    return x, np.where(scattered, rng.uniform(size=n), x + 0.1 * rng.normal(size=n))


def path(n: int, rounds: int) -> None:
    rng = np.random.default_rng(0)
    for kind, (x, y) in {
        "uniform": rng.uniform(size=(2, n)),
        "line, 30% scattered": line_with_noise(n, rng),
    }.items():
        print(f"path, {kind}, n = {n}, drop 0 to {n // 2}")
        answers = race(
            {
                "path": lambda x=x, y=y: qs.path(x, y, drop=n // 2).value,
                "path, one thread": lambda x=x, y=y: qs.path(x, y, drop=n // 2, n_jobs=1).value,
                f"{n // 2 + 1} solves": lambda x=x, y=y: np.array(
                    [qs.solve(x, y, drop=d).value for d in range(n // 2 + 1)]
                ),
            },
            rounds,
        )
        first, *others = answers.values()
        largest = max(np.abs(first - other).max() for other in others)
        print(f"  largest difference of values: {largest:.1e}")
        assert largest <= 2e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, once each")
    quick = parser.parse_args().quick
    path(100 if quick else 1000, 1 if quick else 3)


if __name__ == "__main__":
    main()

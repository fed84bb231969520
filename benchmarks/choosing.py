"""What it costs to choose k with open eyes, each beside the plain way to the same answer.

    python benchmarks/choosing.py [--quick] [--only path|significance]

path          all sizes of a range at once, against one solve a size
significance  decisions about shuffled data, against full solves of the same shuffles

The two of a ratio take turns in one process, the best of several; time on the clock and of the
processor (on a busy machine the clock shows the others). Values are checked to be the same.
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


def significance(n: int, permutations: int, rounds: int) -> None:
    x, y = np.random.default_rng(1).uniform(size=(2, n))
    for k in (n // 2, 9 * n // 10):
        print(f"significance, uniform, n = {n}, k = {k}, {permutations} shuffles")

        def test(k: int = k, **options: Any) -> list[bool]:
            answer = qs.significance(x, y, k, permutations=permutations, **options)
            return answer.reached.tolist()

        answers = race(
            {
                "decisions, stop after 10": lambda test=test: test(null="decisions", stop_after=10),
                "decisions": lambda test=test: test(null="decisions"),
                "full solves": test,
            },
            rounds,
        )
        early, decisions, full = answers.values()
        assert decisions == full
        assert early == full[: len(early)]
        print(f"  p = {(1 + sum(full)) / (1 + len(full)):.3f}; early stop after {len(early)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, once each")
    parser.add_argument("--only", choices=["path", "significance"])
    options = parser.parse_args()
    rounds = 1 if options.quick else 3
    chosen = [options.only] if options.only else ["path", "significance"]
    if "path" in chosen:
        path(100 if options.quick else 1000, rounds)
    if "significance" in chosen:
        significance(50 if options.quick else 200, 99 if options.quick else 999, rounds)


if __name__ == "__main__":
    main()

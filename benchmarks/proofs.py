"""What a proof costs: time to solve, to write and to check, and its size, for n up to 10,000.

    python benchmarks/proofs.py
    python benchmarks/proofs.py --predictors 2 3 4 5 --repeat 1

Normal data, a quarter of the points dropped, every objective. With several predictors a tenth of 30
to 200 rows is dropped, of noise and of a plane with as many outliers, for R2 and lts; writing
includes a check. Each time is the best of --repeat runs (checking once beyond n = 1,000); the last
columns are the ratio of checking to solving and the size of the file.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

import quadsweep as qs

OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts")


def best_of(repeat: int, call: Callable[[], Any]) -> tuple[float, Any]:
    best, found = np.inf, None
    for _ in range(repeat):
        start = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - start)
    return best, found


def measure(n: int, objective: str, repeat: int) -> str:
    x, y = np.random.default_rng(n).normal(size=(2, n))
    return f"{n:6} {objective:>4}" + costs(x, y, n - n // 4, objective, repeat)


def measure_several(n: int, p: int, astray: bool, objective: str, repeat: int) -> str:
    rng = np.random.default_rng([n, p])
    x, y = rng.normal(size=(n, p)), rng.normal(size=n)
    if astray:
        y = x.sum(axis=1) + 0.3 * y
        y[: n // 10] += 5
        x[: n // 10] += 2
    kind = f"{p} {'outliers' if astray else 'noise':>8}"
    return f"{n:6} {objective:>4} {kind}" + costs(x, y, n - n // 10, objective, repeat)


def costs(x: np.ndarray, y: np.ndarray, k: int, objective: str, repeat: int) -> str:
    n, asked = len(y), {"k": k, "objective": objective, "method": "certified", "n_jobs": 1}
    solving, _ = best_of(repeat, lambda: qs.solve(x, y, **asked))
    both, result = best_of(repeat, lambda: qs.solve(x, y, **asked, proof=True))
    checking, found = best_of(1 if n > 1000 else repeat, lambda: qs.check(result.proof, x, y))
    assert found.proved, found
    size = len(result.proof.to_bytes())
    return (
        f" {1e3 * solving:9.1f} {1e3 * (both - solving):9.1f} "
        f"{1e3 * checking:9.0f} {found.nodes:7} {checking / solving:8.0f} {size / 1e3:8.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*", default=[30, 100, 1000, 10_000])
    parser.add_argument("--predictors", type=int, nargs="*", default=[], metavar="P")
    parser.add_argument("--quick", action="store_true", help="n = 30 and 100, once")
    options = parser.parse_args()
    if options.predictors:
        print("     n      p          solve ms  write ms  check ms   nodes    ratio       kB")
        for p, objective, astray, n in product(
            options.predictors, ("lts", "r2"), (False, True), (30, 60, 100, 200)
        ):
            print(measure_several(n, p, astray, objective, options.repeat), flush=True)
        return
    if options.quick:
        options.sizes, options.repeat = [30, 100], 1
    print("     n      solve ms  write ms  check ms   nodes    ratio       kB")
    for n in options.sizes:
        for objective in OBJECTIVES:
            print(measure(n, objective, options.repeat), flush=True)


if __name__ == "__main__":
    main()

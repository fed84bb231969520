"""The paper's algorithms: what a subset costs, how much the sweep gains, how both grow.

    python benchmarks/paper_methods.py [--quick]

Two things are compared by timing them in turn, in this process, on one thread, and taking the best
of several; both times are printed with their ratio. --quick only shows that everything runs.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np

import quadsweep as qs
from quadsweep import _core


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng([n, seed]).normal(size=(2, n))
    return x, y


def solver(method: str, n: int, k: int, seed: int = 0) -> Callable[[], object]:
    x, y = sample(n, seed)
    return lambda: _core.solve(x, y, k, "r2", method, 1e-9, math.inf, 1, 0, None)


def best_times(repeats: int, *runs: Callable[[], object]) -> list[float]:
    """Seconds of each, the best of several, in turn so that a busy moment hits all of them."""
    best = [math.inf] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def numpy_exhaustive(x: np.ndarray, y: np.ndarray, k: int) -> float:
    """All subsets in NumPy, a block at a time: the twin, without exact arithmetic."""
    subsets = itertools.combinations(range(len(x)), k)
    best = 0.0
    while block := list(itertools.islice(subsets, 100_000)):
        u, w = x[np.array(block)], y[np.array(block)]
        u = u - u.mean(axis=1, keepdims=True)
        w = w - w.mean(axis=1, keepdims=True)
        c = (u * w).sum(axis=1)
        best = max(best, float((c * c / ((u * u).sum(axis=1) * (w * w).sum(axis=1))).max()))
    return best


def exhaustive_cost(quick: bool) -> None:
    n, k = (16, 8) if quick else (25, 13)
    small, repeats = (12, 6) if quick else (20, 10), 1 if quick else 5
    x, y = sample(small[0])
    ours, twin, whole = best_times(
        repeats,
        solver("exhaustive", *small),
        lambda: numpy_exhaustive(x, y, small[1]),
        solver("exhaustive", n, k),
    )
    count = math.comb(*small)
    print("exhaustive, one thread")
    print(f"  n={n} k={k}: {whole * 1e3:.1f} ms, {whole / math.comb(n, k) * 1e9:.2f} ns a subset "
          "(goal: at most 8)")  # fmt: skip
    print(f"  n={small[0]} k={small[1]}: {ours / count * 1e9:.2f} ns a subset, its NumPy twin "
          f"{twin / count * 1e9:.0f} ns, ratio {twin / ours:.0f}")  # fmt: skip


def sweep_against_naive(quick: bool) -> None:
    n, seeds = (15, 2) if quick else (30, 20)
    times = np.array(
        [
            best_times(1 if quick else 9, *(solver(m, n, n // 2, s) for m in ("sweep", "naive")))
            for s in range(seeds)
        ]
    )
    ratios = times[:, 1] / times[:, 0]
    sweep, naive = np.median(times, axis=0)
    print(f"sweep and naive under L5, n={n} k={n // 2}, one thread, {seeds} samples")
    print(f"  sweep {sweep * 1e3:.2f} ms, naive {naive * 1e3:.2f} ms (goal: at most 150), ratio "
          f"{np.median(ratios):.1f}, least {ratios.min():.1f} (goal: at least 20)")  # fmt: skip


def growth(quick: bool) -> None:
    """Exponents of n by least squares of log time on log n."""
    sizes = (10, 12) if quick else (15, 20, 25, 30, 35, 40)
    times = {"naive": [], "sweep": []}
    for n in sizes:
        measured = best_times(
            1 if quick else 3, *(solver(m, n, n // 2) for m in times)
        )  # fmt: skip
        for method, seconds in zip(times, measured, strict=True):
            times[method].append(seconds)
    print(f"growth under L5 (d = 5), n = {sizes[0]}..{sizes[-1]}, k = n/2")
    for method, theory in (("naive", 6), ("sweep", 5)):
        exponent = np.polyfit(np.log(sizes), np.log(times[method]), 1)[0]
        shown = ", ".join(f"{t * 1e3:.2f}" for t in times[method])
        print(f"  {method}: n^{exponent:.2f} (theory: n^{theory} log n), ms: {shown}")


def batches(quick: bool) -> None:
    count = 20 if quick else 10_000
    X, Y = np.random.default_rng(1).normal(size=(2, count, 15))
    print(f"solve_many, {count} data sets, n=15 k=8")
    for method in ("sweep", "exhaustive"):
        one, two = best_times(
            1 if quick else 2,
            *(lambda j=j, m=method: qs.solve_many(X, Y, 8, method=m, n_jobs=j) for j in (1, 2)),
        )
        print(f"  {method}: {count / one:,.0f} a second with one thread, {count / two:,.0f} with "
              f"two, ratio {one / two:.2f}")  # fmt: skip


def stopping(quick: bool) -> None:
    """How long after a time limit, and after Ctrl-C, the answer is back."""
    print("stopping, seconds late (goal: at most 0.2)")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    sizes = {"exhaustive": 60, "naive": 90, "sweep": 150, "concentrate": 1_000_000}
    if quick:
        sizes.pop("concentrate")
    for method, n in sizes.items():
        x, y = sample(n)
        limit = 0.05 if quick else 0.3
        start = time.perf_counter()
        _core.solve(x, y, n // 2, "r2", method, 1e-9, limit, 1, 0, None)
        late = time.perf_counter() - start - limit
        timer = threading.Timer(limit, os.kill, (os.getpid(), signal.SIGINT))
        start = time.perf_counter()
        timer.start()
        _core.solve(x, y, n // 2, "r2", method, 1e-9, math.inf, 1, 0, None)
        interrupted = time.perf_counter() - start - limit
        timer.join()
        print(f"  {method}: time limit {late:.3f}, Ctrl-C {interrupted:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    quick = parser.parse_args().quick
    print(f"quadsweep {qs.__version__}, instruction set {_core.instruction_set()}")
    for part in (exhaustive_cost, sweep_against_naive, growth, batches, stopping):
        part(quick)


if __name__ == "__main__":
    main()

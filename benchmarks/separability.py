"""The hull distance in batches against one by one, the exact decision against it, and slabs.

    python benchmarks/separability.py [--quick]

Each pair is timed in turn, in this process, best of several; both times and the ratio are printed.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time

import numpy as np
from paper_methods import best_times

import quadsweep as qs
from quadsweep.paper.separability.hulls.exact import decide
from quadsweep.paper.separability.separate import hull_distance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    quick = parser.parse_args().quick
    count, repeats = (20, 1) if quick else (400, 7)
    x, y = np.random.default_rng(0).random((2, count, 20))
    masks = qs.solve_many(x, y, k=10, method="exhaustive").masks
    mixed = np.random.default_rng(1).permuted(masks, axis=1)
    for name, chosen in (("best subsets", masks), ("random subsets", mixed)):
        batch, single, exact = best_times(
            repeats,
            lambda m=chosen: hull_distance(x, y, m),
            lambda m=chosen: [hull_distance(x[t], y[t], m[t]) for t in range(count)],
            lambda m=chosen: [decide(x[t], y[t], m[t], "L5") for t in range(count)],
        )
        print(
            f"{name}, n = 20, 10 and 10, L5: batch {batch / count * 1e3:.3f} ms, "
            f"one by one {single / count * 1e3:.3f} ms ({single / batch:.1f} times), "
            f"exact {exact / count * 1e3:.2f} ms ({exact / batch:.1f} times)"
        )
    slowest = max(best_times(repeats, *(
        lambda t=t: decide(x[t], y[t], mixed[t], "L5") for t in range(min(count, 50))
    )))  # fmt: skip
    print(f"exact, the slowest of {min(count, 50)} random subsets: {slowest * 1e3:.2f} ms")
    slabs(*((5, (20,)) if quick else (100, (20, 30, 60))))


def slabs(trials: int, sizes: tuple[int, ...]) -> None:
    """How often random hyperplanes with slabs find the best subset, and in what time."""
    print(
        "| n | hyperplanes | slab | optimum found | ms | all hyperplanes |\n"
        "|---|---|---|---|---|---|"
    )
    for n in sizes:
        x, y = np.random.default_rng(n).random((2, trials, n))
        best = qs.solve_many(x, y, k=n // 2).values
        for planes, width in itertools.product((300, 1000), (0.0, 0.1, 0.3)):
            start = time.perf_counter()
            found = [
                qs.naive_sweep(x[t], y[t], n // 2, slab=width, planes=planes).value
                for t in range(trials)
            ]
            each = (time.perf_counter() - start) / trials
            hits = int((np.array(found) >= best - 1e-9).sum())
            print(f"| {n} | {planes:,} | {width:g} | {hits} of {trials} | {1e3 * each:.0f} "
                  f"| {math.comb(n, 5):,} |")  # fmt: skip


if __name__ == "__main__":
    main()

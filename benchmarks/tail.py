"""The long tail: how much slower and larger the worst data sets are than the usual ones.

    python benchmarks/tail.py [--quick] [--points N] [--seeds S] [--seconds T] [--keep SHARE]
                              [--objective NAME] [--predictors P] [--state FILE]

Families of N points (uniform, normal, two lines, circle, a line with outliers, heavy tails,
clusters) and S seeds of each, half of the points kept (four fifths on the line with outliers) or
SHARE of them, two threads, through the public call. With P predictors the first one is the
family's, the others are columns of the same kind that have nothing to do with y. Each runs in a
process of its own, so that its peak of memory can be seen; T seconds are its limit. Every run is
written to FILE as a line of JSON, and a run that is there is not repeated: stop and start as you
like. Printed for each family: how many were proved, the median and slowest time, their ratio (goal:
4), and the peak (goals: 1 GB at 10^6 points, 4 GB at 10^7).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import quadsweep as qs

Points = tuple[np.ndarray, np.ndarray]
Generator = np.random.Generator


def uniform(rng: Generator, n: int) -> Points:
    return rng.random(n), rng.random(n)


def normal(rng: Generator, n: int) -> Points:
    return rng.normal(size=n), rng.normal(size=n)


def two_lines(rng: Generator, n: int) -> Points:
    x = rng.normal(size=n)
    rising = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return x, rising * x + 0.1 * rng.normal(size=n)


def circle(rng: Generator, n: int) -> Points:
    angle, radius = 2 * np.pi * rng.random(n), 1 + 0.05 * rng.normal(size=n)
    return radius * np.cos(angle), radius * np.sin(angle)


def line_with_outliers(rng: Generator, n: int) -> Points:
    x = rng.normal(size=n)
    y = x + 0.1 * rng.normal(size=n)
    astray = rng.random(n) < 0.2
    y[astray] = 3 * rng.normal(size=int(astray.sum()))
    return x, y


def heavy_tails(rng: Generator, n: int) -> Points:
    return rng.standard_t(3, n), rng.standard_t(3, n)


def clusters(rng: Generator, n: int) -> Points:
    centres, which = 3 * rng.normal(size=(2, 5)), rng.integers(0, 5, n)
    x, y = centres[:, which] + 0.5 * rng.normal(size=(2, n))
    return x, y


FAMILIES: dict[str, Callable[[Generator, int], Points]] = {
    "uniform": uniform,
    "normal": normal,
    "two lines": two_lines,
    "circle": circle,
    "line with outliers": line_with_outliers,
    "heavy tails": heavy_tails,
    "clusters": clusters,
}


def run(
    family: str, seed: int, n: int, objective: str, seconds: float, share: float | None, p: int
) -> dict[str, Any]:
    """One data set in this process: status, seconds by the wall and of both threads, peak."""
    import resource

    rng = np.random.default_rng(seed)
    x, y = FAMILIES[family](rng, n)
    if p > 1:
        x = np.column_stack([x, *(FAMILIES[family](rng, n)[0] for _ in range(p - 1))])
    keep = share or (0.8 if family == "line with outliers" else 0.5)
    wall, own = time.perf_counter(), time.process_time()
    found = qs.solve(x, y, keep, objective=objective, n_jobs=2, time_limit=seconds)
    took = time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "status": found.status,
        "value": found.value,
        "gap": found.gap,
        "nodes": found.nodes,
        "seconds": took,
        "processor": time.process_time() - own,
        "megabytes": (peak / 1024 if sys.platform == "darwin" else peak) / 1024,
    }


def in_its_own_process(*asked: Any) -> dict[str, Any]:
    child = [sys.executable, __file__, "--alone", json.dumps(asked)]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def report(family: str, runs: list[dict[str, Any]]) -> str:
    proved = sum(r["status"] == "optimal" for r in runs)
    texts = [f"{family:<20} {proved}/{len(runs)} proved"]
    for clock, name in (("seconds", "wall"), ("processor", "processor")):
        times = [r[clock] for r in runs]
        middle, most = statistics.median(times), max(times)
        texts.append(f"{name}: median {middle:.2f} s, slowest {most:.2f} s, {most / middle:.1f}x")
    texts.append(f"peak {max(r['megabytes'] for r in runs) / 1e3:.2f} GB")
    return ", ".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument("--points", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--seeds", type=int, default=40, metavar="S", help="of each family")
    parser.add_argument("--seconds", type=float, default=60, metavar="T", help="for a data set")
    parser.add_argument("--keep", type=float, metavar="SHARE", help="of the points")
    parser.add_argument("--objective", default="r2", metavar="NAME")
    parser.add_argument("--predictors", type=int, default=1, metavar="P")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keeps what is done")
    parser.add_argument("--alone", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone is not None:
        print(json.dumps(run(*given.alone)))
        return
    n, seeds = (2_000, 2) if given.quick else (given.points, given.seeds)
    kept = "" if given.keep is None else f" {given.keep}"
    if given.predictors > 1:
        kept += f" {given.predictors} predictors"
    done: dict[str, dict[str, Any]] = {}
    if given.state is not None and given.state.exists():
        for line in given.state.read_text().splitlines():
            done.update(json.loads(line))
    for seed in range(1000, 1000 + seeds):
        for family in FAMILIES:
            key = f"{family} {seed} {n} {given.objective}{kept}"
            if key in done:
                continue
            done[key] = in_its_own_process(
                family, seed, n, given.objective, given.seconds, given.keep, given.predictors
            )
            if given.state is not None:
                with given.state.open("a") as file:
                    file.write(json.dumps({key: done[key]}) + "\n")
    for family in FAMILIES:
        keys = [f"{family} {s} {n} {given.objective}{kept}" for s in range(1000, 1000 + seeds)]
        print(report(family, [done[key] for key in keys]), flush=True)


if __name__ == "__main__":
    main()

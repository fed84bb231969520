"""Two builds of the package, one question after the other in turn: before and after a change.

    python benchmarks/builds.py --old OLD/bin/python [--seeds S] [--only TEXT] [--quick]

OLD is an environment in which another version is installed; this interpreter has the new one. Every
run is a process of its own, which makes the data from the seed, asks once (questions of
milliseconds many times, the best counts) and prints its seconds; the two builds take turns. Printed
for each question: the least and the most over the seeds, by the clock, on two threads unless it
says one; `open` counts the runs that ended without a proof, after a minute at most. Without --old
the new build runs alone.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import quadsweep as qs

LIMIT = 60.0  # seconds for a question
BRIEF = 0.3  # seconds below which a question is asked again
Question = Callable[[np.random.Generator], Callable[[], Any]]
QUESTIONS: dict[str, Question] = {}


def question(name: str) -> Callable[[Question], Question]:
    def register(asked: Question) -> Question:
        QUESTIONS[name] = asked
        return asked

    return register


def fit(n: int, p: int, share: float, objective: str, outliers: float = 0.0) -> None:
    """Noise, or a plane with this share of the rows astray; the share of the rows is dropped."""
    kind = "plane" if outliers else "noise"

    @question(f"{objective} {kind} {n:,} x {p}, {share:.0%} dropped")
    def asked(rng: np.random.Generator) -> Callable[[], Any]:
        x, y = rng.normal(size=(n, p)), rng.normal(size=n)
        if outliers:
            y += x.sum(axis=1)
            y[: int(outliers * n)] += 20 + 5 * rng.normal(size=int(outliers * n))
        return lambda: qs.solve(x, y, drop=share, objective=objective, time_limit=LIMIT)


def points(
    n: int, keep: float, family: str = "uniform", objective: str = "r2", n_jobs: int = 2
) -> None:
    @question(f"{objective} {family} {n:,}, {keep:g} kept" + ", one thread" * (n_jobs == 1))
    def asked(rng: np.random.Generator) -> Callable[[], Any]:
        x, y = rng.random((2, n)) if family == "uniform" else rng.normal(size=(2, n))
        wanted = {"objective": objective, "n_jobs": n_jobs, "time_limit": LIMIT}
        return lambda: qs.solve(x, y, keep, **wanted)


@question("np.corrcoef of 1,000,000")
def reference(rng: np.random.Generator) -> Callable[[], Any]:
    x, y = rng.random((2, 1_000_000))
    return lambda: np.corrcoef(x, y)


@question("naive 30, 15 kept")
def naive(rng: np.random.Generator) -> Callable[[], Any]:
    x, y = rng.random((2, 30))
    return lambda: qs.solve(x, y, 15, method="naive", n_jobs=1)


@question("the paper's sweep 30, 15 kept")
def sweep(rng: np.random.Generator) -> Callable[[], Any]:
    x, y = rng.random((2, 30))
    return lambda: qs.solve(x, y, 15, method="sweep", n_jobs=1)


@question("audit of the sign, 1,000,000 rows")
def audit(rng: np.random.Generator) -> Callable[[], Any]:
    x, e = rng.normal(size=(2, 1_000_000))
    return lambda: qs.audit(x, 0.1 * x + e, time_limit=LIMIT)


@question("audit of significance, 1,000,000 rows")
def significance(rng: np.random.Generator) -> Callable[[], Any]:
    x, e = rng.normal(size=(2, 1_000_000))
    return lambda: qs.audit(x, 0.1 * x + e, claim="significance", time_limit=LIMIT)


def parquet(name: str, ask: Callable[[str], Any]) -> None:
    @question(f"{name} of 20,000,000 rows of Parquet, 0.2 GB")
    def asked(rng: np.random.Generator) -> Callable[[], Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        n = 20_000_000
        x = rng.normal(size=n)
        y = x + 0.3 * rng.normal(size=n)
        wrong = rng.random(n) < 0.2
        y[wrong] = 3 * rng.normal(size=int(wrong.sum()))
        folder = tempfile.TemporaryDirectory()
        file = Path(folder.name) / "rows.parquet"
        pq.write_table(pa.table({"a": x, "b": y}), file, row_group_size=1_000_000)
        return lambda kept=folder: ask(str(file))  # the folder lasts as long as the question


OUT_OF_CORE = {"x": "a", "y": "b", "memory_limit": 0.2, "time_limit": LIMIT}
for _objective in ("lts", "r2"):
    fit(1_000, 4, 0.1, _objective)
    fit(1_000, 5, 0.1, _objective)
    fit(200, 6, 0.1, _objective)
    fit(200, 8, 0.1, _objective)
fit(200, 10, 0.1, "lts")
fit(100_000, 3, 0.1, "lts")
fit(5_000, 20, 0.05, "lts", outliers=0.05)
points(1_000_000, 0.003)
points(100_000, 0.01)
points(100_000, 0.05)
points(100_000, 0.05, "normal")
points(100_000, 0.05, "normal", "lts")
points(1_000_000, 0.05)
points(1_000_000, 0.99)
for _jobs in (1, 2):
    points(100_000, 0.5, n_jobs=_jobs)
    points(1_000_000, 0.5, n_jobs=_jobs)
    points(1_000_000, 0.9, "normal", n_jobs=_jobs)
points(30, 0.5, n_jobs=1)
points(100_000, 0.75, "normal", "mcd")
points(1_000_000, 0.75, "normal", "mcd")
parquet("solve", lambda file: qs.solve(file, drop=0.2, **OUT_OF_CORE))
parquet("covariance", lambda file: qs.solve(file, drop=0.2, objective="cov", **OUT_OF_CORE))
parquet("audit of the sign", lambda file: qs.audit(file, **OUT_OF_CORE))


def run(name: str, seed: int) -> dict[str, Any]:
    """One question in this process, with a smaller one before it for what is imported late."""
    call = QUESTIONS[name](np.random.default_rng(seed))
    qs.solve([0, 1, 2, 3], [0, 1, 2, 5], 3)
    seconds, found = math.inf, None
    begin = time.perf_counter()
    while True:
        calls = max(1, min(100, int(0.02 / seconds)))
        start = time.perf_counter()
        for _ in range(calls):
            found = call()
        seconds = min(seconds, (time.perf_counter() - start) / calls)
        if time.perf_counter() - begin > BRIEF:
            break
    open_ = getattr(found, "status", "optimal") not in ("optimal", "best_separable")
    return {"seconds": seconds, "open": open_}


def in_its_own_process(python: str, name: str, seed: int) -> dict[str, Any]:
    done = subprocess.run(
        [python, __file__, "--alone", json.dumps([name, seed])], capture_output=True, text=True
    )
    if done.returncode:
        return {"seconds": math.nan, "open": True, "error": done.stderr.strip().splitlines()[-1]}
    return dict(json.loads(done.stdout))


def told(runs: list[dict[str, Any]]) -> str:
    if any("error" in r for r in runs):
        return next(r["error"] for r in runs if "error" in r)[:40]
    times, unproved = [r["seconds"] for r in runs], sum(r["open"] for r in runs)
    texts = (f"{t:.3g} s" if t >= 0.1 else f"{t * 1e3:.3g} ms" for t in (min(times), max(times)))
    return " to ".join(texts) + (f", {unproved} open" if unproved else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", metavar="PYTHON", help="of the environment with the old build")
    parser.add_argument("--seeds", type=int, default=3, metavar="S")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="questions with this in the name"
    )
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument("--alone", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone is not None:
        print(json.dumps(run(*given.alone)))
        return
    builds = [given.old] * bool(given.old) + [sys.executable]
    only, seeds = ("30, 15 kept", 1) if given.quick else (given.only, given.seeds)
    print("| question | " + "before | " * bool(given.old) + "after |")
    for name in (name for name in QUESTIONS if only in name):
        runs: list[list[dict[str, Any]]] = [[] for _ in builds]
        for seed in range(seeds):
            for python, of_build in zip(builds, runs, strict=True):
                of_build.append(in_its_own_process(python, name, seed))
        print(f"| {name} | " + " | ".join(map(told, runs)) + " |", flush=True)


if __name__ == "__main__":
    main()

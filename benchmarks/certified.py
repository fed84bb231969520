"""The certified engine: what it must reach and what it reaches.

    python benchmarks/certified.py [--quick] [--plot FILE | --where]

Two things are compared by timing them in turn, in this process, and taking the best of five (short
calls many at a time). Every row prints its goal, what was measured, and what the search took:
boxes, passes over the data (points and cells costed, divided by n) and seconds. All data come from
fixed seeds. --plot draws time against n instead, beside the times the paper gives; --where shows
what a call spends on reading, the tree, the first subsets and the proof. One thread is timed by the
processor's clock, so that what else the machine does is not counted; two threads by the wall's.
--quick only shows that everything runs. SCIP comes with the extra `benchmarks`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import quadsweep as qs
from quadsweep import _core
from quadsweep.paper.experiments.timing import PAPER
from quadsweep.solving.methods import METHODS
from quadsweep.solving.methods.certified import SearchOutcome, search
from quadsweep.solving.methods.problem import Problem

REPEATS = 5
AT_LEAST = 0.02  # seconds between two looks at the clock, where a call takes less
SCIP_LIMIT = 300.0  # seconds
Points = tuple[np.ndarray, np.ndarray]
Run = Callable[[], object]


# ---- data -----------------------------------------------------------------------------------


def uniform(n: int, seed: int = 0) -> Points:
    x, y = np.random.default_rng([n, seed]).random((2, n))
    return x, y


def line_with_outliers(n: int) -> Points:
    """A line with noise of a tenth of its spread; one point in five anywhere."""
    rng = np.random.default_rng([n, 2])
    x = rng.normal(size=n)
    y = x + 0.1 * rng.normal(size=n)
    astray = rng.random(n) < 0.2
    y[astray] = 3 * rng.normal(size=int(astray.sum()))
    return x, y


# ---- measuring ------------------------------------------------------------------------------


def best_times(
    repeats: int, *runs: Run, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """Seconds of each, the best of several, in turn so that a busy moment hits all of them.

    What takes less than a few milliseconds is called many times in a row and the mean taken.
    """
    best = [math.inf] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            calls = max(1, min(100, int(AT_LEAST / best[i])))
            start = clock()
            for _ in range(calls):
                run()
            best[i] = min(best[i], (clock() - start) / calls)
    return best


class Ours:
    """The engine on one sample; keeps the last outcome, for what it took."""

    def __init__(self, points: Points, k: int, n_jobs: int = 1) -> None:
        self.problem = Problem(*points, k, qs.objectives.get("r2"), n_jobs=n_jobs)
        self.outcome: SearchOutcome | None = None

    def __call__(self) -> None:
        self.outcome = search(self.problem)

    def took(self, seconds: float) -> str:
        assert self.outcome is not None
        assert self.outcome.status == "optimal"
        passes = self.outcome.n_evaluations / self.problem.n
        return f"{self.outcome.nodes:,} boxes, {passes:,.0f} passes, {readable(seconds)}"


def readable(t: float) -> str:
    return f"{t:.3g} s" if t >= 1 else f"{t * 1e3:.3g} ms" if t >= 1e-3 else f"{t * 1e6:.0f} us"


@dataclass(frozen=True)
class Row:
    what: str
    must: str
    measured: str
    took: str

    def __str__(self) -> str:
        return f"| {self.what:<52} | {self.must:<11} | {self.measured:<44} | {self.took}"


HEAD = Row("what", "must", "measured", "what the search took")


# ---- the rows -------------------------------------------------------------------------------


def against_naive(quick: bool) -> Row:
    n = 12 if quick else 30
    ours = Ours(uniform(n), n // 2)
    mine, theirs = best_times(1 if quick else REPEATS, ours, lambda: METHODS["naive"](ours.problem))
    return Row(
        f"n = {n}, k = {n // 2}, uniform, against naive in C++",
        ">= 400x",
        f"{theirs / mine:,.0f}x (naive {readable(theirs)})",
        ours.took(mine),
    )


def against_scip(quick: bool) -> Row:
    n = 6 if quick else 20
    ours = Ours(uniform(n), n // 2)
    what = f"n = {n}, k = {n // 2}, uniform, against SCIP"
    missing = "left out by --quick" if quick else without_scip()
    if missing:
        (mine,) = best_times(REPEATS, ours)
        return Row(what, ">= 5,000x", missing, ours.took(mine))
    values: list[float] = []
    mine, theirs = best_times(REPEATS, ours, lambda: values.append(scip_value(ours.problem)))
    assert ours.outcome is not None
    assert all(abs(v - ours.outcome.value) < 1e-4 for v in values), values
    measured = f"{theirs / mine:,.0f}x (SCIP {readable(theirs)})"
    return Row(what, ">= 5,000x", measured, ours.took(mine))


def without_scip() -> str:
    try:
        import pyscipopt  # noqa: F401
    except ImportError:
        return "PySCIPOpt is not installed"
    return ""


def scip_value(asked: Problem) -> float:
    """max t with t a b <= c^2 over binaries z: the model a user of a solver would write."""
    from pyscipopt import Model, quicksum

    x = (asked.x - asked.x.mean()) / asked.x.std()
    y = (asked.y - asked.y.mean()) / asked.y.std()
    k = asked.k
    model = Model()
    model.hideOutput()
    model.setParam("conflict/enable", False)
    model.setParam("limits/time", SCIP_LIMIT)
    z = [model.addVar(vtype="B") for _ in x]
    model.addCons(quicksum(z) == k)

    def total(column: np.ndarray) -> object:
        s = model.addVar(lb=None)
        model.addCons(s == quicksum(float(w) * take for w, take in zip(column, z, strict=True)))
        return s

    sx, sy, sxx, sxy, syy = (total(w) for w in (x, y, x * x, x * y, y * y))
    a, b, c = model.addVar(lb=0), model.addVar(lb=0), model.addVar(lb=None)
    t = model.addVar(lb=0, ub=1)
    model.addCons(a == sxx - sx * sx / k)
    model.addCons(b == syy - sy * sy / k)
    model.addCons(c == sxy - sx * sy / k)
    model.addCons(t * a * b <= c * c)
    model.setObjective(t, "maximize")
    model.optimize()
    return float(model.getObjVal())


class Call:
    """The public call on one sample: what a user waits for."""

    def __init__(self, points: Points, k: int, n_jobs: int = 1) -> None:
        self.points, self.k, self.n_jobs = points, k, n_jobs
        self.result: qs.Result | None = None

    def __call__(self) -> None:
        self.result = qs.solve(*self.points, self.k, n_jobs=self.n_jobs, method="certified")

    def took(self, seconds: float) -> str:
        assert self.result is not None
        assert self.result.status == "optimal"
        return f"{self.result.nodes:,} boxes, {readable(seconds)}"


def whole_call(quick: bool) -> list[Row]:
    """quadsweep.solve itself, input checked and answer made, against the same two rivals."""
    n, repeats = 12 if quick else 30, 1 if quick else REPEATS
    small = Call(uniform(n), n // 2)
    problem = Ours(uniform(n), n // 2).problem
    mine, theirs = best_times(repeats, small, lambda: METHODS["naive"](problem))
    measured = f"{theirs / mine:,.0f}x (naive {readable(theirs)})"
    rows = [Row(f"n = {n}, the whole call, against naive", ">= 500x", measured, small.took(mine))]
    n = 10_000 if quick else 1_000_000
    for k in (3 * n // 1000, n // 20, n // 10, n // 2, 99 * n // 100):
        points = uniform(n)
        large = Call(points, k, n_jobs=2)
        mine, theirs = best_times(
            1 if quick or k < n // 20 else 3,
            large,
            lambda p=points: np.corrcoef(*p),
            clock=time.perf_counter,
        )
        measured = f"{mine / theirs:,.0f}x (np.corrcoef {readable(theirs)})"
        what = f"n = {n:,}, k = {k:,}, the whole call, two threads"
        must = "<= 100x" if k == n // 2 else ""
        rows.append(Row(what, must, measured, large.took(mine)))
    return rows


def a_thousand(quick: bool) -> Row:
    n = 100 if quick else 1000
    ours = Ours(uniform(n), n // 2)
    (mine,) = best_times(1 if quick else REPEATS, ours)
    what = f"n = {n:,}, k = {n // 2}, uniform, one thread"
    return Row(what, "<= 10 ms", readable(mine), ours.took(mine))


def against_corrcoef(quick: bool) -> list[Row]:
    n = 10_000 if quick else 1_000_000
    rows = []
    for name, points, share, must in (
        ("uniform, keep 50%", uniform(n), 0.5, 100),
        ("line and 20% outliers, keep 80%", line_with_outliers(n), 0.8, 60),
    ):
        ours = Ours(points, int(share * n), n_jobs=2)
        mine, theirs = best_times(
            1 if quick else REPEATS, ours, lambda p=points: np.corrcoef(*p), clock=time.perf_counter
        )
        rows.append(
            Row(
                f"n = {n:,}, {name}, two threads",
                f"<= {must}x",
                f"{mine / theirs:,.0f}x (np.corrcoef {readable(theirs)})",
                ours.took(mine),
            )
        )
    return rows


def threads(quick: bool) -> Row:
    n = 5_000 if quick else 100_000
    one, two = Ours(uniform(n), n // 2), Ours(uniform(n), n // 2, n_jobs=2)
    alone, together = best_times(1 if quick else REPEATS, one, two, clock=time.perf_counter)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Row(
        f"n = {n:,}, uniform, two threads against one ({cores} cores)",
        ">= 1.6x",
        f"{alone / together:.2f}x (one thread {readable(alone)})",
        two.took(together),
    )


def few_and_most(quick: bool) -> list[Row]:
    n = 100 if quick else 1000
    rows = []
    for k in (3 * n // 100, 97 * n // 100):
        ours = Ours(uniform(n), k)
        (mine,) = best_times(1 if quick else REPEATS, ours)
        what = f"n = {n:,}, k = {k}, uniform, one thread"
        rows.append(Row(what, "<= 5 s", readable(mine), ours.took(mine)))
    return rows


def growth(quick: bool) -> list[Row]:
    """Each size in a process of its own, so that its peak of memory can be seen."""
    sizes = (1_000, 10_000) if quick else (10_000, 100_000, 1_000_000, 10_000_000)
    per_point, rows = {}, []
    for n in sizes:
        child = [sys.executable, __file__, "--alone", str(n)]
        done = subprocess.run(child, capture_output=True, text=True, check=True)
        alone = json.loads(done.stdout)
        per_point[n] = alone["seconds"] / n
        first = per_point[sizes[0]]
        rows.append(
            Row(
                f"n = {n:,}, uniform, one thread, its own process",
                "<= 1.5x" if n > sizes[0] else "",
                f"{per_point[n] * 1e9:,.0f} ns a point, {per_point[n] / first:.2f}x, "
                f"{alone['megabytes'] / 1e3:.2f} GB" + (" (must: < 4)" if n == 10_000_000 else ""),
                alone["took"],
            )
        )
    return rows


def alone(n: int) -> str:
    """One size: seconds, what it took, and the most memory the process ever held."""
    import resource

    ours = Ours(uniform(n), n // 2)
    (mine,) = best_times(3 if n > 1_000_000 else REPEATS, ours)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kilobytes = peak / 1024 if sys.platform == "darwin" else peak
    return json.dumps({"seconds": mine, "took": ours.took(mine), "megabytes": kilobytes / 1024})


# ---- where the time goes --------------------------------------------------------------------


def stages(n: int, n_jobs: int, repeats: int) -> dict[str, float]:
    """Seconds of each stage of a call, as differences of calls that end earlier and earlier.

    A question whether any subset is above 0 ends with the first subsets, one with a single line to
    start from hardly gets beyond the tree, and one that keeps all points has none.
    """
    x = np.random.default_rng(n).normal(size=n)
    points = x, 0.5 * x + np.random.default_rng(n + 1).normal(size=n)
    part, everything = Ours(points, 9 * n // 10, n_jobs), Ours(points, n, n_jobs)
    whole, proved, started, placed, read, reference = best_times(
        repeats,
        Call(points, 9 * n // 10, n_jobs),
        part,
        lambda: search(part.problem, above=0.0),
        lambda: search(part.problem, above=0.0, starting_lines=1),
        everything,
        lambda: np.corrcoef(*points),
        clock=time.process_time if n_jobs == 1 else time.perf_counter,
    )
    return {
        "checking, answer": whole - proved,
        "scaling, exact score": read,
        "tree": placed - read,
        "first subsets": started - placed,
        "proof": proved - started,
        "whole call": whole,
        "in np.corrcoef": whole / reference,
    }


def where(quick: bool) -> None:
    sizes = (10_000,) if quick else (100_000, 1_000_000)
    asked = [(n, n_jobs) for n in sizes for n_jobs in (1, 2)]
    columns = [stages(n, n_jobs, 1 if quick else REPEATS) for n, n_jobs in asked]
    print("milliseconds, normal points, nine tenths kept")
    heads = (f"{n:,}, {n_jobs} thread{'s' * (n_jobs - 1)}" for n, n_jobs in asked)
    print(f"| {'':<20} | " + " | ".join(f"{head:>20}" for head in heads))
    for name in columns[0]:
        unit = 1 if name.startswith("in ") else 1e3
        print(f"| {name:<20} | " + " | ".join(f"{unit * c[name]:>20.1f}" for c in columns))


# ---- the picture ----------------------------------------------------------------------------


def times_by_n(run: Callable[[Problem], object], sizes: list[int]) -> list[float]:
    """The middle of three samples' best times, one sample where n is large; k = n/2."""
    times = []
    for n in sizes:
        samples, repeats = (3, 3) if n <= 100_000 else (1, 2)
        problems = [Ours(uniform(n, seed), n // 2).problem for seed in range(samples)]
        each = best_times(repeats, *(lambda p=p: run(p) for p in problems))
        times.append(sorted(each)[samples // 2])
        print(f"n = {n:,}: {readable(times[-1])}", flush=True)
    return times


def draw(path: Path, largest: int) -> None:
    from matplotlib.figure import Figure

    wide = [n for n in (round(10 ** (e / 2)) for e in range(2, 15)) if n <= largest]
    narrow = [n for n in (10, 15, 20, 25, 30, 40) if n <= largest]
    curves = [
        ("naive sweep, the paper's algorithm in C++", METHODS["naive"], narrow, "C1", "s"),
        ("exhaustive", METHODS["exhaustive"], narrow[:5], "C2", "^"),
        ("certified, with its proof", METHODS["certified"], wide, "C0", "o"),
        ("one np.corrcoef", lambda p: np.corrcoef(p.x, p.y), wide, "0.6", None),
    ]
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.subplots()
    ax.plot(
        list(PAPER), [ms / 1e3 for ms in PAPER.values()], "*", color="C3", markersize=13, ls="none",
        label="naive sweep as published", zorder=5,
    )  # fmt: skip
    for label, run, sizes, colour, marker in curves:
        print(label)
        times = times_by_n(run, sizes)
        ax.plot(sizes, times, marker=marker, color=colour, markersize=4.5, label=label)
    ax.set(xscale="log", yscale="log", xlabel="points n, half of them kept", ylabel="seconds")
    ax.set_title("Time to the best half of n uniform points, one thread", fontsize=11)
    ax.grid(which="major", color="0.92")
    ax.set_ylim(top=200)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        fontsize=9, loc="upper left", bbox_to_anchor=(0.24, 1.0), edgecolor="none", framealpha=1
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(path)


PARTS: tuple[Callable[[bool], Row | list[Row]], ...] = (
    against_naive, against_scip, a_thousand, against_corrcoef, whole_call, threads, few_and_most,
    growth,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw time against n")
    parser.add_argument("--where", action="store_true", help="what a call spends its time on")
    parser.add_argument("--largest", type=int, default=10_000_000, metavar="N", help="of the plot")
    parser.add_argument("--alone", type=int, metavar="N", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone is not None:
        print(alone(given.alone))
    elif given.plot is not None:
        draw(given.plot, 12 if given.quick else given.largest)
    elif given.where:
        where(given.quick)
    else:
        print(f"quadsweep {qs.__version__}, instruction set {_core.instruction_set()}")
        print(HEAD)
        for part in PARTS:
            rows = part(given.quick)
            for row in rows if isinstance(rows, list) else [rows]:
                print(row, flush=True)


if __name__ == "__main__":
    main()

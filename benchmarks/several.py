"""Several predictors: how the proof grows with rows and columns, and beside a general solver.

    python benchmarks/several.py [--quick] [--many] [--plot docs/images/several_growth.png]
    python benchmarks/several.py --beyond [--seconds 60] [--rows 500 5000] [--predictors 6 10 20]

A plane with a fifth of the rows astray, and pure noise, keep 80%. Every row prints its goal, the
seconds, and the boxes it took; noise may take six times the goal, and stops there.
Against SCIP both are timed on the same instance in this process, by the processor's clock; where
SCIP stops at its limit the ratio is a lower bound. All data come from fixed seeds; two threads, the
wall's clock for the rest. --plot draws time against n at two predictors and against the number of
predictors at n = 1000, from the same run; --many is six to ten predictors and few rows alone,
--beyond what `solve` says about more predictors in so many seconds, by the clock and by the
processor's: the rows of the guide's table, or so many rows and predictors. --quick only shows that
everything runs. SCIP comes with the extra `benchmarks`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

import numpy as np

import quadsweep as qs
from quadsweep import _core

SCIP_LIMIT = 40.0  # seconds
LIMIT = 90.0
ROWS = (1_000, 10_000, 100_000, 1_000_000)  # with two predictors
PREDICTORS = (1, 2, 3, 4, 5)  # with a thousand rows
GOALS = {  # rows, predictors: seconds on two cores
    (1_000, 2): 0.1, (100_000, 2): 5, (1_000_000, 2): 60, (1_000, 3): 0.5, (100_000, 3): 60,
    (1_000, 4): 6, (300, 5): 30,
}  # fmt: skip
BEYOND = (  # objective, rows, predictors, dropped
    ("lts", 200, 12, 20), ("lts", 200, 15, 20), ("lts", 1_000, 10, 100), ("lts", 1_000, 30, 50),
    ("r2", 300, 12, 10), ("r2", 1_599, 11, 80), ("r2", 1_000, 30, 20), ("r2", 200, 12, 20),
)  # fmt: skip


def plane(n: int, p: int, share: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """A plane with noise; one row in five, or another share, elsewhere."""
    rng = np.random.default_rng([n, p])
    x = rng.normal(size=(n, p))
    y = x.sum(axis=1) + 0.5 * rng.normal(size=n)
    astray = rng.random(n) < share
    y[astray] = 10 + 5 * rng.normal(size=int(astray.sum()))
    return x, y


def noise(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([n, p, 1])
    return rng.normal(size=(n, p)), rng.normal(size=n)


def proof(
    data, n: int, p: int, objective: str, limit: float = LIMIT, clock=time.perf_counter
) -> tuple[float, dict]:
    x, y = data(n, p)
    start = clock()
    found = _core.regression_fit(
        x, y, int(0.8 * n), objective=objective, n_jobs=2, time_limit=limit
    )
    return clock() - start, found


Seconds = dict[tuple[int, int, str], float]  # rows, predictors, objective: of the plane


def growth(quick: bool) -> Seconds:
    """Prints a table; what the plane took comes back."""
    print("rows predictors objective data   seconds goal boxes status")
    sizes = {(n, 2) for n in ROWS} | {(1_000, p) for p in PREDICTORS} | set(GOALS)
    taken: Seconds = {}
    for n, p in [(200, 2), (100, 3)] if quick else sorted(sizes):
        for data in (plane, noise):
            for objective in ("r2", "lts"):
                goal = GOALS.get((n, p))
                if data is noise and (goal is None or objective == "lts"):
                    continue
                limit = 6 * goal if data is noise else LIMIT
                seconds, found = proof(data, n, p, objective, limit)
                if data is plane:
                    taken[n, p, objective] = seconds
                asked = "-" if goal is None else f"{goal * (6 if data is noise else 1):g}"
                print(
                    f"{n} {p} {objective} {data.__name__} {seconds:.3f} {asked} "
                    f"{found['nodes']} {found['status']}",
                    flush=True,
                )
    return taken


def many(quick: bool) -> None:
    """Six to ten predictors and few rows, as `solve` takes them without being asked."""
    print("rows predictors objective   seconds of solve, status, gap; noise, a tenth dropped")
    for n in (30,) if quick else (200, 400):
        for p in (6,) if quick else (6, 7, 8, 10):
            for objective in ("lts", "r2"):
                start = time.perf_counter()
                found = qs.solve(*noise(n, p), drop=n // 10, objective=objective, n_jobs=2)
                seconds = time.perf_counter() - start
                print(
                    f"{n} {p} {objective} {seconds:.2f} {found.status} {found.gap:.3g}", flush=True
                )


def beyond(rows: list[int], predictors: list[int], seconds: float) -> None:
    """What is known of many predictors after so many seconds; the gap of lts as a share of it."""
    print("rows predictors data dropped objective   value bound gap status seconds processor")
    for n, p, data in itertools.product(rows, predictors, (plane, noise)):
        for share, objective in itertools.product((0.01, 0.05, 0.1, 0.2), ("lts", "r2")):
            x, y = plane(n, p, share) if data is plane else noise(n, p)
            show_bound(f"{data.__name__} {share:.0%}", x, y, round(share * n), objective, seconds)


def show_bound(name: str, x, y, drop: int, objective: str, seconds: float) -> None:
    """Print a row: value, bound, gap, status, seconds by the clock and of the processor."""
    start, used = time.perf_counter(), time.process_time()
    found = qs.solve(x, y, drop=drop, objective=objective, n_jobs=2, time_limit=seconds)
    unit = found.value if objective == "lts" else 1.0
    print(
        f"{x.shape[0]} {x.shape[1]} {name} {objective} {found.value:.5g} {found.bound:.5g} "
        f"{abs(found.bound - found.value) / unit:.2g} {found.status} "
        f"{time.perf_counter() - start:.1f} {time.process_time() - used:.1f}",
        flush=True,
    )


def standard_noise(seconds: float) -> None:
    """The rows of the guide's table: standard normal x and y, seed 0."""
    print("rows predictors dropped objective   value bound gap status seconds processor")
    for objective, n, p, drop in BEYOND:
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((n, p)), rng.standard_normal(n)
        show_bound(str(drop), x, y, drop, objective, seconds)


def scip_value(x: np.ndarray, y: np.ndarray, k: int) -> tuple[float, str]:
    """The least residual sum of squares of k rows as a mixed-integer program."""
    from pyscipopt import Model, quicksum

    n, p = x.shape
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", SCIP_LIMIT)
    beta = [model.addVar(lb=-100, ub=100) for _ in range(p + 1)]
    keep = [model.addVar(vtype="B") for _ in range(n)]
    most = 100 * (1 + np.abs(x).sum(axis=1)) + np.abs(y)
    left = [model.addVar(lb=0, ub=most[i]) for i in range(n)]
    total = model.addVar(lb=0)
    for i in range(n):
        fit = beta[0] + quicksum(float(x[i, j]) * beta[j + 1] for j in range(p))
        slack = float(most[i]) * (1 - keep[i])
        model.addCons(float(y[i]) - fit <= left[i] + slack)
        model.addCons(fit - float(y[i]) <= left[i] + slack)
    model.addCons(quicksum(keep) == k)
    model.addCons(quicksum(v * v for v in left) <= total)
    model.setObjective(total)
    model.optimize()
    return model.getObjVal(), model.getStatus()


def against_scip(quick: bool) -> None:
    try:
        import pyscipopt  # noqa: F401
    except ImportError:
        print("SCIP is not installed: left out")
        return
    print("rows predictors   ours SCIP ratio values")
    for n, p in [(12, 2)] if quick else [(20, 2), (30, 2), (40, 2), (20, 3), (30, 3), (40, 3)]:
        x, y = plane(n, p)
        k = int(0.8 * n)
        clock = time.process_time
        timed = (proof(plane, n, p, "lts", clock=clock) for _ in range(5))
        ours, found = min(timed, key=lambda r: r[0])
        start = clock()
        value, status = scip_value(x, y, k)
        theirs = clock() - start
        print(
            f"{n} {p} {ours:.5f} {theirs:.2f} ({status}) {theirs / ours:.0f} "
            f"{found['value']:.6f} {value:.6f}",
            flush=True,
        )


def draw(file: Path, taken: Seconds) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for objective, title in (("r2", "R²"), ("lts", "least trimmed squares")):
        of = {(n, p): s for (n, p, which), s in sorted(taken.items()) if which == objective}
        by_rows = [(n, s) for (n, p), s in of.items() if p == 2]
        by_columns = [(p, s) for (n, p), s in of.items() if n == ROWS[0]]
        left.loglog(*zip(*by_rows, strict=True), "o-", label=title)
        if by_columns:
            right.semilogy(*zip(*by_columns, strict=True), "o-", label=title)
    left.set(title="two predictors", xlabel="rows", ylabel="seconds to proof")
    right.set(title=f"{ROWS[0]:,} rows", xlabel="predictors", ylabel="seconds to proof")
    right.set(xticks=PREDICTORS, yticks=[0.003, 0.01, 0.03], yticklabels=["0.003", "0.01", "0.03"])
    right.minorticks_off()
    left.legend()
    figure.savefig(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--beyond", action="store_true")
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--predictors", type=int, nargs="+", default=[6, 10, 20])
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    if options.beyond:
        if options.rows:
            beyond(options.rows, options.predictors, options.seconds)
        else:
            standard_noise(options.seconds)
        return 0
    if options.quick:
        beyond([40], [6], 0.5)
    many(options.quick)
    if options.many:
        return 0
    taken = growth(options.quick)
    if options.plot:
        draw(options.plot, taken)
    against_scip(options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())

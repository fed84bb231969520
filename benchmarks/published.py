"""Audits of published regressions, and of simulated ones of the sizes of others, in a minute each.

    python benchmarks/published.py                    # all of them
    python benchmarks/published.py --seconds 20 --only wine

Columns: the interval [lower, upper], seconds, the peak of memory (each runs in a process of its
own), and beside them the best removal and lower bound that others publish (docs/audit-peers.md).
A twin has the rows, the columns and the kind of columns of a regression whose data are not public
here: what it shows is what to expect of that size, not what holds there.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

PUBLISHED = {  # what others publish: best removal, best lower bound
    "voting rights": ("28", "1 (Gurobi), 13 (ACRE/OHARE)"),
    "red wine, alcohol": ("", ""),
    "ruggedness": ("5", ""),
    "twin 10,781 x 18": ("", "55 (ACRE/OHARE, the original)"),
    "twin 3,895 x 208 dummies": ("", "29 (ACRE/OHARE, the original)"),
    "twin 1,276 x 486 dummies": ("", ""),
}


def dummies(labels):
    return (labels[:, None] == np.unique(labels)[1:]).astype(float)


def twin(rows, columns, seed=0, t=6.0):
    """Numbers with heavy tails and dummies as controls, a skewed outcome, a binary term."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_t(4, size=(rows, columns // 2))
    rare = rng.uniform(0.05, 0.5, columns - columns // 2 - 2)
    controls = np.column_stack([numbers, rng.random((rows, len(rare))) < rare])
    x = (rng.random(rows) < 0.6).astype(float)
    noise = np.exp(rng.normal(0, 0.8, rows))
    slope = t * noise.std() / np.sqrt(rows) / x.std()
    return x, x * slope + controls @ rng.normal(0, 0.3, columns - 2) + noise, controls


def fixed_effects(rows, classes, seed=0, t=4.0):
    """As many dummies, a few numbers beside them, a term that varies inside of classes."""
    rng = np.random.default_rng(seed)
    of_row = np.concatenate(
        [np.arange(classes + 1), rng.integers(0, classes + 1, rows - classes - 1)]
    )
    controls = np.column_stack([rng.normal(size=(rows, 3)), dummies(of_row)])
    x = rng.normal(size=rows)
    y = x * t / np.sqrt(rows) + rng.normal(size=classes + 1)[of_row] + rng.standard_t(5, rows)
    return x, y, controls


def asked(name, seconds):
    """The audit of that name."""
    import quadsweep as qs

    settings = {"time_limit": seconds, "n_jobs": 2}
    if name.startswith("twin"):
        rows = int(name.split()[1].replace(",", ""))
        columns = int(name.split()[3])
        make = fixed_effects if "dummies" in name else twin
        x, y, controls = make(rows, columns)
        return qs.audit(x, y, controls=controls, **settings)
    data = {"voting rights": "voting-rights", "red wine, alcohol": "red-wine"}.get(name, name)
    table = qs.datasets.load(data)
    formula, term = table.formula, table.term
    if name == "voting rights":
        formula = "incarceration_rate ~ covered_after_1965 + urban_share + C(state) + C(year)"
        term = "covered_after_1965"
    return qs.audit(formula, data=table.table, term=term, **settings)


def run(name, seconds):
    """In this process; one line of JSON."""
    start, used = time.perf_counter(), time.process_time()
    found = asked(name, seconds)
    print(json.dumps({
        "name": name, "n": found.n, "lower": found.lower, "upper": found.upper,
        "status": found.status, "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used, "nodes": found.nodes,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }))  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="", help="those whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="a second each, small tables only")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run, given.seconds)
        return 0
    print(f"{'regression':26} {'lower':>6} {'upper':>6} {'seconds':>8} {'proc.':>7} {'MB':>5} "
          f"{'nodes':>7}  best removal, best lower bound published")  # fmt: skip
    for name, others in PUBLISHED.items():
        if given.only not in name or (given.quick and name.startswith("twin")):
            continue
        command = [
            sys.executable,
            __file__,
            "--run",
            name,
            "--seconds",
            str(1.0 if given.quick else given.seconds),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        r = json.loads(done.stdout.splitlines()[-1])
        upper = "" if r["upper"] is None else r["upper"]
        print(f"{name:26} {r['lower']:6} {upper:>6} {r['seconds']:8.1f} {r['processor']:7.1f} "
              f"{r['megabytes']:5.0f} {r['nodes']:7}  {'; '.join(o for o in others if o)}",
              flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())

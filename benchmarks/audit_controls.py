"""How long an audit with controls takes, how far bounds go with many, and SCIP on small data.

    python benchmarks/audit_controls.py [--quick] [--scip] [--limit 50]

Normal columns with a signal such that about the share named must go if the controls were held
fixed; the answer is with controls refitted. `one-step` and `greedy` are the removals that AMIP
(what zaminfluence computes) and greedy deletion need; a dash where they fail or gave up.
`benchmarks/audit.py` runs these lines after its own.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import quadsweep as qs
from quadsweep.arrays import Floats, Ints


def simulated(n: int, controls: int, share: float, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """x, y and controls; the coefficient of x is such that about that share carries its sign."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, controls))
    x, e = rng.normal(size=(2, n))
    low, high = 0.0, 5.0
    for _ in range(40):
        beta = (low + high) / 2
        products = np.sort(x * (beta * x + e))
        low, high = (beta, high) if products[: round(n * (1 - share))].sum() < 0 else (low, beta)
    return x + z @ rng.normal(size=controls), beta * x + e + z.sum(axis=1), z


def dummies(codes: Ints) -> Floats:
    return np.asarray(codes[:, None] == np.unique(codes)[1:], dtype=float)


def panel(n: int, countries: int, years: int, others: int) -> tuple[Floats, Floats, Floats]:
    """A table of countries and years, with dummies for both and a few more controls."""
    x, y, z = simulated(n, others, 0.06)
    rng = np.random.default_rng(1)
    country = np.arange(n) % countries
    year = rng.integers(0, years, size=n)
    return x, y, np.column_stack([z, dummies(country), dummies(year)])


@dataclass(frozen=True)
class Line:
    name: str
    n: int
    controls: int
    share: float = 0.0
    claim: str = "sign"
    pairs: bool = False
    asked: str = ""


LINES = [
    *(Line("normal", 1_000, q, share) for q in range(1, 6) for share in (0.02, 0.1)),
    *(Line("normal", 1_000, q, 0.4, asked="3 s" if q == 3 else "") for q in range(1, 6)),
    *(Line("normal", 1_000, 3, 0.1, claim) for claim in ("significance", "reverse")),
    Line("normal, 400 pairs", 800, 3, 0.1, pairs=True),
    Line("normal", 10_000, 3, 0.02, asked="20 s"),
    Line("normal", 100_000, 1, 0.02, asked="20 s"),
    Line("normal", 100_000, 2, 0.02),
    Line("countries, years", 500, 50, asked="60 s"),
    Line("countries, years", 4_000, 200, asked="60 s"),
]
QUICK = [Line("normal", 200, 2, 0.1), Line("normal, 400 pairs", 80, 1, 0.1, pairs=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data only")
    parser.add_argument("--scip", action="store_true", help="mixed-integer programming beside it")
    parser.add_argument("--limit", type=float, default=50.0, help="seconds for each audit")
    options = parser.parse_args()
    run(options.quick, options.limit)
    if options.scip:
        beside_scip(options.limit)


def run(quick: bool, limit: float) -> None:
    print(
        f"{'data':<20}{'n':>8}{'controls':>9}  {'claim':<13}{'answer':>12}{'one-step':>10}"
        f"{'greedy':>8}{'nodes':>10}{'audit':>11}  asked"
    )
    for line in QUICK if quick else LINES:
        report(line, limit)


def report(line: Line, limit: float) -> None:
    if line.share:
        x, y, z = simulated(line.n, line.controls, line.share)
    else:
        x, y, z = panel(line.n, countries=line.controls - 12, years=10, others=4)
    groups = np.arange(line.n) // 2 if line.pairs else None
    start = time.perf_counter()
    found = qs.audit(x, y, controls=z, groups=groups, claim=line.claim, time_limit=limit)
    seconds = time.perf_counter() - start
    one_step, greedy = found.approximations
    answer = str(found.drop) if found.drop is not None else f"{found.lower}..{found.upper}"
    print(
        f"{line.name:<20}{line.n:>8,}{z.shape[1]:>9}  {line.claim:<13}{answer:>12}"
        f"{one_step.needed or '-':>10}{greedy.needed or '-':>8}{found.nodes:>10,}"
        f"{seconds:>9.2f} s  {line.asked}",
        flush=True,
    )


# ---- mixed-integer programming -----------------------------------------------------------------


def beside_scip(limit: float) -> None:
    """n = 30, two controls: the same question to both, in one process."""
    print(f"\n{'seed':>6}{'audit':>8}{'seconds':>10}{'SCIP':>12}{'seconds':>10}")
    for seed in range(3):
        x, y, z = simulated(30, 2, 0.1, seed)
        start = time.perf_counter()
        found = qs.audit(x, y, controls=z)
        middle = time.perf_counter()
        answer = scip(x, y, z, limit)
        print(
            f"{seed:>6}{found.drop!s:>8}{middle - start:>8.3f} s{answer:>12}"
            f"{time.perf_counter() - middle:>8.1f} s",
            flush=True,
        )


def scip(x: Floats, y: Floats, z: Floats, limit: float) -> str:
    """Fewest rows removed such that least squares on the others has the other sign.

    With kept k_i and residuals r_i: u_i = k_i r_i by a big M, and the normal equations
    sum c_ij u_i = 0 for every column c_j.
    """
    from pyscipopt import Model, quicksum

    columns = np.column_stack([np.ones(len(x)), z, x])
    full = np.linalg.lstsq(columns, y, rcond=None)[0]
    reach, big = 10 * float(np.abs(full).max()) + 10, 0.0
    model: Any = Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    beta = [model.addVar(lb=-reach, ub=reach) for _ in full]
    for row in columns:
        big = max(big, float(np.abs(row).sum()) * reach)
    big += float(np.abs(y).max())
    kept = [model.addVar(vtype="B") for _ in x]
    held = [model.addVar(lb=-big, ub=big) for _ in x]
    for i, row in enumerate(columns):
        rest = y[i] - quicksum(c * b for c, b in zip(row, beta, strict=True))
        model.addCons(held[i] <= big * kept[i])
        model.addCons(held[i] >= -big * kept[i])
        model.addCons(held[i] - rest <= 2 * big * (1 - kept[i]))
        model.addCons(held[i] - rest >= -2 * big * (1 - kept[i]))
    for column in columns.T:
        model.addCons(quicksum(c * u for c, u in zip(column, held, strict=True)) == 0)
    model.addCons(quicksum(kept) >= columns.shape[1] + 1)
    sign = 1 if full[-1] > 0 else -1
    model.addCons(sign * beta[-1] <= -1e-6)
    model.setObjective(len(x) - quicksum(kept), "minimize")
    model.optimize()
    low = int(np.ceil(model.getDualbound() - 1e-6))
    if model.getNSols() == 0:
        return f"{low}.."
    high = round(model.getObjVal())
    return str(high) if model.getStatus() == "optimal" else f"{low}..{high}"


if __name__ == "__main__":
    main()

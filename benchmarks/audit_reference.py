"""Is "is that few?" calibrated? The p-values of clean regressions, and of such with planted rows.

    python benchmarks/audit_reference.py --clean 300 --planted 100

A clean data set has 50 rows, y = x / 2 + e. Families: normal errors; heavy-tailed ones (Student's
t with three degrees of freedom); heteroskedastic ones, times exp(x / 2); a binary x (30% ones).
Planted are three rows at x = 4 which lie 5 above the line. With 39 draws, a p-value at most 5%
means that at most one and a half draws, ties halved, need as few rows. Counts of few rows tie, and
a test cannot have its level then; beside it stands the share where lots are drawn among ties, as if
counts were finer: whether the draws are right, whatever the ties.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import quadsweep as qs
from quadsweep.auditing.reference import ERRORS

ROWS, DRAWS, LEVEL = 50, 39, 0.05
FAMILIES = ("normal", "heavy-tailed", "heteroskedastic", "binary x")


def sample(family: str, planted: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One data set."""
    x, e = rng.normal(size=ROWS), rng.normal(size=ROWS)
    if family == "binary x":
        x = (rng.random(ROWS) < 0.3).astype(float)
    elif family == "heavy-tailed":
        e = rng.standard_t(3, size=ROWS)
    elif family == "heteroskedastic":
        e *= np.exp(x / 2)
    y = x / 2 + e
    if planted:
        x[:3] = 4.0
        y[:3] = x[:3] / 2 + 5
    return x, y


def below(task: tuple[str, bool, str, str, int]) -> tuple[float, float]:
    """Of one data set: whether p <= 5% with ties halved, and the chance of it with lots drawn."""
    family, planted, claim, errors, seed = task
    rng = np.random.default_rng([seed, FAMILIES.index(family), int(planted)])
    audit = qs.audit(*sample(family, planted, rng), claim=claim, n_jobs=1)
    found = audit.reference(DRAWS, seed=seed, errors=errors, n_jobs=1)
    observed = np.inf if audit.upper is None else audit.upper
    fewer, ties = (found.lower < observed).sum(), (found.lower == observed).sum()
    by_lot = np.clip((LEVEL * (DRAWS + 1) - fewer) / (ties + 1), 0, 1)
    return float(found.p_value <= LEVEL), float(by_lot)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clean", type=int, default=300, help="data sets a family")
    parser.add_argument("--planted", type=int, default=100, help="data sets a family")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--claims", nargs="+", default=["sign"])
    parser.add_argument("--errors", nargs="+", default=list(ERRORS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two data sets a family")
    asked = parser.parse_args()
    if asked.quick:
        asked.clean, asked.planted = 2, 0
    print("| claim | errors drawn | family | clean: p <= 5%, ties halved (by lot) "
          "| three planted rows: the same | seconds |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    with ProcessPoolExecutor(asked.jobs) as pool:
        for claim in asked.claims:
            for errors in asked.errors:
                for family in asked.families:
                    start = time.perf_counter()
                    shares = []
                    for planted, number in ((False, asked.clean), (True, asked.planted)):
                        tasks = [(family, planted, claim, errors, i) for i in range(number)]
                        found = list(pool.map(below, tasks, chunksize=5))
                        halved, by_lot = 100 * np.mean(found, axis=0) if found else (0, 0)
                        shares.append(f"{halved:.1f}% ({by_lot:.1f}%) of {number}")
                    gone = time.perf_counter() - start
                    print(f"| {claim} | {errors} | {family} | {' | '.join(shares)} | {gone:.0f} |",
                          flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

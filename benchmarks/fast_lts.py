"""How often FAST-LTS misses the optimum, beside R's ``ltsReg``.

    python benchmarks/fast_lts.py [--sets 200] [--quick]

Data sets with bad leverage points: a plane with normal noise, and a share of rows moved far out in
the predictors to where y has nothing to do with them. R's robustbase (Debian: r-cran-robustbase)
runs ``ltsReg`` with its default of 500 starts; the rows of its best subset are scored
here, beside the optimum for the same number of rows with its proof. Both times are of one process
each and include no start-up. Where R is missing it says so and ends.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import quadsweep as qs
from quadsweep.least_squares import fit

SCRIPT = """
suppressMessages(library(robustbase))
args <- commandArgs(TRUE)
data <- read.csv(args[1])
p <- ncol(data) - 2
out <- file(args[2], "w")
for (s in unique(data$set)) {
  d <- data[data$set == s, ]
  set.seed(s)
  took <- system.time(fit <- ltsReg(as.matrix(d[, 2:(p + 1)]), d$y, intercept = TRUE,
                      alpha = as.numeric(args[3])))
  writeLines(paste(c(s, took[["elapsed"]], fit$quan, fit$best), collapse = ","), out)
}
close(out)
"""


def contaminated(seed: int, n: int, p: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """A plane with noise, and bad leverage points in two clusters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X.sum(axis=1) + rng.normal(size=n)
    bad = rng.permutation(n)[: int(share * n)]
    side = np.where(rng.random(len(bad)) < 0.5, 1.0, -1.0)
    X[bad] = 5 * side[:, None] + 0.5 * rng.normal(size=(len(bad), p))
    y[bad] = -4 * side + rng.normal(size=len(bad))
    return X, y


def run_r(
    tables: list[tuple[np.ndarray, np.ndarray]], alpha: float
) -> list[tuple[float, int, list[int]]]:
    """Seconds, rows kept and the rows themselves, for each data set."""
    with tempfile.TemporaryDirectory() as folder:
        script, given, out = (Path(folder) / name for name in ("lts.R", "data.csv", "out.csv"))
        script.write_text(SCRIPT)
        with given.open("w", newline="") as stream:
            writer = csv.writer(stream)
            p = tables[0][0].shape[1]
            writer.writerow(["set", *(f"x{j}" for j in range(p)), "y"])
            for s, (X, y) in enumerate(tables):
                writer.writerows([s, *map(repr, row)] for row in np.column_stack([X, y]).tolist())
        subprocess.run(["Rscript", *map(str, (script, given, out, alpha))], check=True)
        found = []
        for line in out.read_text().splitlines():
            _, seconds, kept, *rows = line.split(",")
            found.append((float(seconds), int(kept), [int(i) - 1 for i in rows]))
        return found


def compare(sets: int, n: int, p: int, share: float, alpha: float) -> None:
    tables = [contaminated(seed, n, p, share) for seed in range(sets)]
    theirs = run_r(tables, alpha)
    missed, worst, proved, ours = 0, 0.0, 0, 0.0
    for (X, y), (_, k, rows) in zip(tables, theirs, strict=True):
        start = time.perf_counter()
        best = qs.solve(X, y, k, objective="lts", time_limit=60, n_jobs=1)
        ours += time.perf_counter() - start
        proved += best.success
        reached = fit(X[rows], y[rows]).rss
        excess = reached / best.value - 1
        missed += excess > 1e-7
        worst = max(worst, excess)
    seconds = sum(t for t, _, _ in theirs)
    print(
        f"n = {n}, p = {p}, {share:.0%} bad, alpha {alpha:g}, keep {theirs[0][1]}: "
        f"FAST-LTS misses {missed} of {sets} optima (at most {worst:.1%} above), "
        f"{1000 * seconds / sets:.1f} ms each; "
        f"certified proves {proved} of {sets}, {1000 * ours / sets:.1f} ms each",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="a few small data sets")
    options = parser.parse_args()
    check = ["Rscript", "-e", "library(robustbase)"]
    if shutil.which("Rscript") is None or subprocess.run(check, capture_output=True).returncode:
        print("R with robustbase is not installed (Debian: r-cran-robustbase); nothing to compare")
        return
    if options.quick:
        compare(5, 30, 2, 0.2, 0.75)
        return
    for n, p, share, alpha in ((50, 2, 0.3, 0.5), (100, 2, 0.2, 0.75), (60, 3, 0.2, 0.75)):
        compare(options.sets, n, p, share, alpha)


if __name__ == "__main__":
    main()

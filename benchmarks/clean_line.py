"""How the null of a clean line is calibrated: how often rows are said to stand out, and rightly.

    python benchmarks/clean_line.py            300 clean lines, 100 with three planted outliers
    python benchmarks/clean_line.py --quick    a few of each
    python benchmarks/clean_line.py --time     n = 1,460, 20 sizes, 99 draws: seconds
    python benchmarks/clean_line.py --null normal     noise that is known to be normal
    python benchmarks/clean_line.py --predictors 2    the same with planes
    python benchmarks/clean_line.py --stream 28       other data

Clean lines have normal errors, errors from Student's t with 5 degrees of freedom, or whole numbers
for y over a uniform x, a third each; a path of 0 to 5 rows dropped, 99 draws, n = 60.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import quadsweep as qs


def line(family: str, stream: int, seed: int, p: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([stream, seed])
    x = rng.uniform(0, 10, size=(n, p))
    errors = rng.standard_t(5, size=n) if family == "t5" else rng.standard_normal(n)
    y = 2 * x.sum(axis=1) + errors
    if family == "whole numbers":
        y = np.round(y)
    if family == "three planted":
        y[:3] += 6 * rng.choice([-1, 1], size=3)
    return x, y


def share(
    family: str, count: int, objective: str, null: str, stream: int, p: int
) -> tuple[int, int]:
    """How many of ``count`` lines have rows that stand out, and exactly the planted three."""
    some = three = 0
    for seed in range(count):
        x, y = line(family, stream, seed, p)
        path = qs.path(x, y, drop=5, objective=objective, null=null, permutations=99, seed=seed)
        some += path.noise.overall <= 0.05
        three += path.noise.n_outliers == 3
    return some, three


def timing(n: int = 1460) -> None:
    """Twenty sizes up to 19 rows, then up to 190, on a clean line and beside 12 outliers."""
    rng = np.random.default_rng(5)
    x = np.exp(rng.normal(7.27, 0.33, size=n))
    clean = 110 * x + rng.normal(0, 40_000, size=n)
    spoilt = clean.copy()
    spoilt[:12] += 400_000
    for objective in ("r2", "lts"):
        for title, y in (("clean", clean), ("12 outliers", spoilt)):
            for step in (1, 10):
                sizes = [step * i for i in range(20)]
                start, work = time.perf_counter(), time.process_time()
                path = qs.path(x, y, drop=sizes, objective=objective, null="line", permutations=99)
                took, work = time.perf_counter() - start, time.process_time() - work
                found = path.noise.n_outliers
                print(
                    f"{objective}, n = {n:,}, {title}, 20 sizes up to {sizes[-1]} dropped, "
                    f"99 draws: {took:.1f} s ({work:.1f} s of processors), {found} stand out",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--null", choices=["line", "normal"], default="line")
    parser.add_argument("--predictors", type=int, default=1, metavar="P")
    parser.add_argument("--stream", type=int, default=27, metavar="N")
    options = parser.parse_args()
    if options.time:
        timing()
        return
    count = 3 if options.quick else 100
    how = (options.null, options.stream, options.predictors)
    for objective in ("r2", "lts"):
        clean = {f: share(f, count, objective, *how)[0] for f in ("normal", "t5", "whole numbers")}
        listed = ", ".join(f"{family} {hits}" for family, hits in clean.items())
        total = sum(clean.values())
        print(f"{objective}: something stands out in {total} of {3 * count} clean lines ({listed})")
        found, exact = share("three planted", count, objective, *how)
        print(f"{objective}: in {found} of {count} with three at 6 sigma, exactly three in {exact}")


if __name__ == "__main__":
    main()

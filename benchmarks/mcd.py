"""The exact minimum covariance determinant beside scikit-learn's MinCovDet, and times to proof.

    python benchmarks/mcd.py            all of it, some minutes
    python benchmarks/mcd.py --quick    fewer and smaller
    python benchmarks/mcd.py --rows 1000000 --jobs 1    only the times to proof, of so many points

First, data sets with a cluster of outliers (10% to 45% of the points, near or far, tight or wide):
how often FAST-MCD misses the optimum, by how much, how often it flags other rows, and the time of
both, alternating in one process. Then the time to a proof for n points of the same kind.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.covariance import MinCovDet

import quadsweep as qs
from quadsweep.sklearn import ExactMinCovDet

MISSED = 1e-8  # relative: a determinant above the optimum by more than tol and rounding


def contaminated(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
    """A normal sample with a cluster of outliers, and their share."""
    share = rng.uniform(0.10, 0.45)
    points = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 2))
    m = int(share * n)
    angle, away = 2 * np.pi * rng.random(), rng.uniform(2, 10) * points.std()
    centre = away * np.array([np.cos(angle), np.sin(angle)])
    points[:m] = centre + rng.uniform(0.1, 1) * points.std() * rng.normal(size=(m, 2))
    return points[rng.permutation(n)], share


def timed(model, points):
    began = time.perf_counter()
    model.fit(points)
    return time.perf_counter() - began


def beside_fast_mcd(sets: int, sizes: tuple[int, ...]) -> None:
    print(f"{sets} data sets with clusters of outliers, 10% to 45%; support (n + 3) / 2")
    print(
        f"{'n':>6s}{'sets':>6s}{'proved':>8s}{'missed':>8s}{'median':>10s}{'most':>10s}"
        f"{'other rows':>12s}{'exact':>10s}{'FAST-MCD':>10s}{'ratio':>8s}"
    )
    for n in sizes:
        rng = np.random.default_rng([n, 20])
        count = sets // len(sizes)
        excess, other, proved, seconds = [], 0, 0, np.zeros(2)
        for seed in range(count):
            points, _ = contaminated(rng, n)
            exact, fast = ExactMinCovDet(), MinCovDet(random_state=seed)
            seconds += timed(exact, points), timed(fast, points)
            proved += exact.status_ == "optimal"
            excess.append(np.linalg.det(fast.raw_covariance_) / exact.determinant_ - 1)
            other += not np.array_equal(exact.support_, fast.support_)
        missed = [e for e in excess if e > MISSED]
        print(
            f"{n:6d}{count:6d}{proved:8d}{len(missed):8d}{np.median(missed or [0]):10.2%}"
            f"{max(missed or [0]):10.2%}{other:12d}{seconds[0] / count:9.4f}s"
            f"{seconds[1] / count:9.4f}s{seconds[0] / seconds[1]:8.2f}",
            flush=True,
        )


def times_to_proof(sizes: tuple[int, ...], n_jobs: int) -> None:
    print(f"\ntime to proof, {n_jobs} threads")
    print(
        f"{'n':>9s}{'data':>26s}{'kept':>9s}{'boxes':>9s}{'seconds':>10s}{'processor':>10s}  status"
    )
    for n in sizes:
        rng = np.random.default_rng(n)
        for name, points, keep in (
            ("normal", rng.normal(size=(n, 2)), 0.75),
            ("normal", rng.normal(size=(n, 2)), 0.5),
            ("cluster of outliers", contaminated(rng, n)[0], 0.5),
        ):
            began = time.process_time()
            result = qs.solve(points[:, 0], points[:, 1], keep, objective="mcd", n_jobs=n_jobs)
            print(
                f"{n:9,d}{name:>26s}{result.k:9,d}{result.nodes:9,d}{result.seconds:10.3f}"
                f"{time.process_time() - began:10.3f}  {result.status}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller")
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2, help="threads of the times to proof")
    parser.add_argument("--rows", type=int, nargs="+", help="only the times to proof of these n")
    given = parser.parse_args()
    if given.rows:
        times_to_proof(tuple(given.rows), given.jobs)
        return
    if given.quick:
        beside_fast_mcd(20, (50, 100))
        times_to_proof((100, 1000), given.jobs)
        return
    beside_fast_mcd(given.sets, (50, 100, 200, 500, 1000))
    times_to_proof((100, 1000, 10_000, 100_000), given.jobs)


if __name__ == "__main__":
    main()

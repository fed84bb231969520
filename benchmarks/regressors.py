"""TrimmedRegressor beside the robust regressors of scikit-learn, on clean and contaminated data.

    python benchmarks/regressors.py [--sets 200] [--rows 200] [--quick]

For a slope of one and normal noise of size one: bias and standard deviation of the slope, how often
its 95% interval holds the truth, and seconds of processor time for a fit. A share of the rows is
replaced by outliers of one of three kinds. scikit-learn's regressors have no intervals. The line
"ltsReg (its rule)" has the coefficients of the reweighted fit, which are those of R's ltsReg (the
tests compare them with its printed figures), and the interval that its summary prints: least
squares on the rows of weight one, as if nobody had chosen them. How often ltsReg's random starts
miss the optimum and how long they take is measured by ``benchmarks/fast_lts.py``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import t as student
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    RANSACRegressor,
    TheilSenRegressor,
)

from quadsweep.least_squares import fit
from quadsweep.sklearn import TrimmedRegressor

Fit = Callable[[np.ndarray, np.ndarray], tuple[float, tuple[float, float] | None]]


def clean(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=n)
    return x, x + rng.normal(size=n)


def upright(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """10% of the rows are ten too high."""
    x, y = clean(rng, n)
    y[: n // 10] += 10
    return x, y


def leverage(rng: np.random.Generator, n: int, share: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Some of the rows lie far out in x, where the line is not."""
    x, y = clean(rng, n)
    bad = int(share * n)
    x[:bad] = 5 + 0.5 * x[:bad]
    y[:bad] = -5 + rng.normal(size=bad)
    return x, y


DATA: dict[str, Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]] = {
    "clean": clean,
    "10% ten too high": upright,
    "10% bad leverage": leverage,
    "30% bad leverage": lambda rng, n: leverage(rng, n, 0.3),
}


def least_squares(x: np.ndarray, y: np.ndarray) -> tuple[float, tuple[float, float]]:
    line = fit(x[:, None], y)
    error = np.sqrt(line.rss / (len(y) - 2) / np.sum((x - x.mean()) ** 2))
    reach = float(student.ppf(0.975, len(y) - 2)) * error
    return float(line.coef[0]), (line.coef[0] - reach, line.coef[0] + reach)


def trimmed(x: np.ndarray, y: np.ndarray) -> tuple[float, tuple[float, float]]:
    model = TrimmedRegressor().fit(x[:, None], y)
    low, high = model.confidence_intervals()[0]
    return float(model.coef_[0]), (low, high)


def as_ltsreg(x: np.ndarray, y: np.ndarray) -> tuple[float, tuple[float, float]]:
    kept = TrimmedRegressor().fit(x[:, None], y).inlier_mask_
    return least_squares(x[kept], y[kept])


def of_scikit_learn(make: Callable[[], object]) -> Fit:
    def run(x: np.ndarray, y: np.ndarray) -> tuple[float, None]:
        model = make().fit(x[:, None], y)  # type: ignore[attr-defined]
        return float(getattr(model, "estimator_", model).coef_[0]), None

    return run


FITS: dict[str, Fit] = {
    "least squares": least_squares,
    "TrimmedRegressor": trimmed,
    "ltsReg (its rule)": as_ltsreg,
    "HuberRegressor": of_scikit_learn(HuberRegressor),
    "RANSACRegressor": of_scikit_learn(lambda: RANSACRegressor(LinearRegression(), random_state=0)),
    "TheilSenRegressor": of_scikit_learn(lambda: TheilSenRegressor(random_state=0)),
}


def measure(run: Fit, tables: list[tuple[np.ndarray, np.ndarray]]) -> tuple[str, ...]:
    slopes, covered, seconds = [], [], []
    for x, y in tables:
        start = time.process_time()
        slope, interval = run(x, y)
        seconds.append(time.process_time() - start)
        slopes.append(slope)
        if interval is not None:
            covered.append(interval[0] <= 1 <= interval[1])
    found = np.array(slopes)
    cover = f"{np.mean(covered):.0%}" if covered else ""
    return (
        f"{found.mean() - 1:+.3f}",
        f"{found.std():.3f}",
        cover,
        f"{1000 * np.median(seconds):.1f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="ten data sets of each kind")
    given = parser.parse_args()
    sets = 10 if given.quick else given.sets
    warnings.simplefilter("ignore")
    print(f"{sets} data sets of {given.rows} rows each; ms of processor time, median")
    print("| data | estimator | bias | sd | 95% interval covers | ms |")
    print("|---|---|---|---|---|---|")
    for kind, draw in DATA.items():
        tables = [draw(np.random.default_rng(seed), given.rows) for seed in range(sets)]
        for name, run in FITS.items():
            print(f"| {kind} | {name} | {' | '.join(measure(run, tables))} |", flush=True)


if __name__ == "__main__":
    main()

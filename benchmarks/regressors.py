"""TrimmedRegressor beside other regressors, on clean and on contaminated data.

    python benchmarks/regressors.py [--seeds 100] [--rows 100 1000] [--features 1 5 20] [--quick]
    python benchmarks/regressors.py --real

Slopes of one and errors of size one. For each kind of data: root mean square error of the slopes
over that of least squares on clean data of the same size, how often 95% intervals hold the truth,
and the median of the processor time of a fit, beside that of least squares. ``--real`` has the
median absolute error of predictions by 5-fold cross-validation over that of least squares. That
the answer does not depend on how busy the machine is, the tests show.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    RANSACRegressor,
    TheilSenRegressor,
)
from sklearn.model_selection import cross_val_score
from statsmodels.api import OLS, RLM, add_constant
from statsmodels.robust.norms import TukeyBiweight

from quadsweep.sklearn import TrimmedRegressor

Table = tuple[np.ndarray, np.ndarray]


def make(kind: str, seed: int, n: int, p: int) -> Table:
    """Returns a table whose slopes are one."""
    rng = np.random.default_rng(seed)
    X, errors = rng.normal(size=(n, p)), rng.normal(size=n)
    if kind == "dummies":
        X[:, 1:] = rng.random((n, p - 1)) < 0.2
    elif kind == "errors grow with |x|":
        errors *= 0.3 + np.abs(X[:, 0])
    elif kind in ("t2", "t3"):
        errors = rng.standard_t(int(kind[1]), size=n)
    elif kind == "skewed":
        errors = rng.exponential(size=n) - 1
    y = X.sum(axis=1) + errors
    bad = n // 10
    if kind == "10% ten too high":
        y[:bad] += 10
    elif kind == "10% bad leverage":
        X[:bad, 0], y[:bad] = 8 + 0.5 * X[:bad, 0], -10 + errors[:bad]
    elif kind == "40% far in every column":
        X[: 4 * bad] += 4
        y[: 4 * bad] = -10 + errors[: 4 * bad]
    return X, y


KINDS = (
    *("clean", "10% ten too high", "10% bad leverage", "40% far in every column"),
    *("errors grow with |x|", "t2", "t3", "skewed", "dummies"),
)


def by_scikit_learn(build: Callable[[], object]) -> Callable[[Table], tuple]:
    def run(table: Table) -> tuple[np.ndarray, None]:
        model = build().fit(*table)
        return getattr(model, "estimator_", model).coef_, None

    return run


def by_quadsweep(table: Table) -> tuple[np.ndarray, np.ndarray]:
    model = TrimmedRegressor().fit(*table)
    return model.coef_, model.confidence_intervals()


def by_statsmodels(model: str) -> Callable[[Table], tuple]:
    def run(table: Table) -> tuple[np.ndarray, np.ndarray]:
        X, y = table
        design = add_constant(X)
        fit = (
            OLS(y, design).fit()
            if model == "OLS"
            else RLM(y, design, M=TukeyBiweight()).fit(maxiter=200)
        )
        return fit.params[1:], fit.conf_int()[1:]

    return run


REGRESSORS: dict[str, Callable[[Table], tuple]] = {
    "least squares": by_statsmodels("OLS"),
    "TrimmedRegressor": by_quadsweep,
    "HuberRegressor": by_scikit_learn(lambda: HuberRegressor(max_iter=1000)),
    "RANSACRegressor": by_scikit_learn(lambda: RANSACRegressor(LinearRegression(), random_state=0)),
    "TheilSenRegressor": by_scikit_learn(lambda: TheilSenRegressor(random_state=0)),
    "RLM (bisquare)": by_statsmodels("RLM"),
}


def measure(run: Callable[[Table], tuple], kind: str, n: int, p: int, seeds: int) -> tuple:
    """Returns root mean square error, share of intervals that hold one, median seconds."""
    errors, covered, seconds = [], [], []
    for seed in range(seeds):
        table = make(kind, seed, n, p)
        start = time.process_time()
        coef, intervals = run(table)
        seconds.append(time.process_time() - start)
        errors.append(np.mean((coef - 1) ** 2))
        if intervals is not None:
            covered.append(np.mean((intervals[:, 0] <= 1) & (intervals[:, 1] >= 1)))
    cover = float(np.mean(covered)) if covered else np.nan
    return float(np.sqrt(np.mean(errors))), cover, float(np.median(seconds))


def print_simulated(rows: list[int], features: list[int], seeds: int) -> None:
    for n in rows:
        for p in features:
            clean, _, base = measure(REGRESSORS["least squares"], "clean", n, p, seeds)
            print(f"\n{n:,} rows, {p} feature{'s' * (p > 1)}, {seeds} tables of each kind\n")
            print("| data | " + " | ".join(REGRESSORS) + " |")
            print("|---" * (1 + len(REGRESSORS)) + "|")
            took: dict[str, list[float]] = {name: [] for name in REGRESSORS}
            for kind in KINDS:
                cells = []
                for name, run in REGRESSORS.items():
                    error, cover, seconds = measure(run, kind, n, p, seeds)
                    took[name].append(seconds)
                    held = "" if np.isnan(cover) else f" ({cover:.0%})"
                    cells.append(f"{error / clean:.2f}{held}")
                print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
            times = [f"{np.median(took[name]) / base:.0f}" for name in REGRESSORS]
            print("| time | " + " | ".join(times) + " |", flush=True)


def print_real() -> None:
    print("| data | " + " | ".join(name for name in REGRESSORS if name != "RLM (bisquare)") + " |")
    print("|---" * len(REGRESSORS) + "|")
    models = [
        LinearRegression(),
        TrimmedRegressor(method="concentrate"),
        HuberRegressor(max_iter=2000),
        RANSACRegressor(random_state=0),
        TheilSenRegressor(random_state=0),
    ]
    wine = load_wine().data
    tables = {"diabetes": load_diabetes(return_X_y=True), "wine": (wine[:, 1:], wine[:, 0])}
    for name, (X, y) in tables.items():
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        scores = [
            -cross_val_score(m, X, y, cv=5, scoring="neg_median_absolute_error").mean()
            for m in models
        ]
        print(f"| {name} | " + " | ".join(f"{s / scores[0]:.3f}" for s in scores) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--features", type=int, nargs="*", default=[1, 5, 20])
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--quick", action="store_true", help="three tables of each kind")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.real:
        print_real()
    elif given.quick:
        print_simulated([60], [1], 3)
    else:
        print_simulated(given.rows, given.features, given.seeds)


if __name__ == "__main__":
    main()

"""Methods against each other and against rational arithmetic where predictors nearly depend on each
other.

    python tests/fuzzing/fuzz_dependence.py --instances 10000 --jobs 1 --state fuzz_dependence.jsonl

Instance i of a seed is always the same: 1 to 7 predictors, some of them combinations of others up
to 1e-6 to 1e-14 of their size, on all rows or on some, a few rows times 1e10 now and then, with or
without an intercept, no weights, ordinary ones or such as differ by up to 40 powers of ten, R2 or
lts. `certified` (up to five predictors), `exhaustive`, `auto` and `concentrate` answer. Every value
must be that of its own rows, and what `residuals`, `coef` and `intercept` say; every bound must
hold for the best of all subsets; what is called optimal must be; two that are must agree. Counted
as not closed: an instance that no method calls optimal.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from pathlib import Path

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

import quadsweep as qs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import naive_several
import naive_whole

TOL = 1e-9
MOST_SUBSETS = 400
METHODS = ("certified", "exhaustive", "auto", "concentrate")
ROUNDED = 1e-12  # of R2 or of a residual sum of squares in 32 digits; doubles have fewer
IN_DOUBLES = 1e-9


@dataclass(frozen=True)
class Instance:
    number: int
    family: str
    x: np.ndarray
    y: np.ndarray
    k: int
    weights: np.ndarray | None
    intercept: bool
    objective: str

    def __str__(self) -> str:
        n, p = self.x.shape
        spread = 1.0 if self.weights is None else self.weights.max() / self.weights.min()
        return (
            f"{self.number}: {self.objective} {self.family} n={n} p={p} k={self.k} "
            f"intercept={self.intercept} weights over {spread:.0e}"
        )


def draw(seed: int, number: int) -> Instance:
    rng = np.random.default_rng([seed, number])
    p = int(rng.integers(1, 8))
    intercept = bool(rng.integers(0, 3) > 0)
    n = int(rng.integers(p + 4, p + 8))
    k = int(rng.integers(p + 1 + intercept, n))
    while comb(n, k) > MOST_SUBSETS:
        k += 1
    x, z = rng.normal(size=(n, p)), rng.normal(size=n)
    family = str(rng.choice(["one", "several", "some rows", "large rows", "rounded"]))
    distance = 10 ** rng.uniform(-14, -6)
    nearly(rng, x, z, family, distance)
    y = z + 0.3 * rng.normal(size=n) + x @ rng.integers(-1, 2, p)
    weights = None
    kind = int(rng.integers(0, 4))
    if kind == 2:
        weights = rng.uniform(0.5, 2, n)
    if kind == 3:
        weights = 10 ** rng.uniform(-1, 1, n)
        weights[: int(rng.integers(1, 4))] *= 10 ** rng.uniform(0, 40)
    objective = str(rng.choice(["r2", "lts"]))
    return Instance(number, family, x, y, k, weights, intercept, objective)


def nearly(
    rng: np.random.Generator, x: np.ndarray, z: np.ndarray, family: str, distance: float
) -> None:
    """Make columns combinations of others, but for as much."""
    n, p = x.shape
    if p == 1:
        x[:, 0] = 1 + distance * z if rng.integers(0, 2) else z
        return
    last = p - 1
    x[:, last] = x[:, 0] + distance * z
    if family == "several" and p > 2:
        x[:, last] = x[:, 0] - x[:, 1] + distance * z
        x[:, 1] = x[:, 0] * 2 + distance * rng.normal(size=n)
    if family == "some rows":
        x[: n // 3, last] = rng.normal(size=n // 3)
    if family == "large rows":
        x[:3] *= 10 ** rng.uniform(2, 10)
    if family == "rounded":
        x[:, last] = x[:, :last].sum(axis=1)  # to the last digit, and some rows not
        x[: int(rng.integers(0, n)), last] += distance


class Exact:
    """All subsets of an instance with the columns that take part, in whole numbers."""

    def __init__(self, it: Instance, searched: np.ndarray) -> None:
        self.it = it
        ones = [np.ones(len(it.y))] if it.intercept else []
        columns = [c.tolist() for c in (*ones, *it.x[:, searched].T, it.y)]
        weights = None if it.weights is None else it.weights.tolist()
        self.table = naive_whole.Table(columns, weights)
        self.unit = Fraction(self.table.units[-1] ** 2 * self.table.weight_unit)

    def value(self, rows) -> Fraction | None:
        """R2 or minus the residual sum of squares."""
        products = self.table.products(rows)
        ((rss,),), scale, _ = naive_whole.eliminated(products, self.table.size - 1)
        if self.it.objective == "lts":
            return -Fraction(rss, scale) / self.unit
        ((tss,),), about, _ = naive_whole.eliminated(
            [[products[0][0], products[0][-1]], [products[-1][0], products[-1][-1]]]
            if self.it.intercept
            else [[0, 0], [0, products[-1][-1]]],
            1,
        )
        return None if tss == 0 else 1 - Fraction(rss, scale) / Fraction(tss, about)

    @cached_property
    def best(self) -> Fraction | None:
        found = map(self.value, naive_several.subsets(len(self.it.y), self.it.k))
        return max((v for v in found if v is not None), default=None)


def check(it: Instance, result: qs.Result, exact: Exact) -> str | None:
    """What is wrong with one answer."""
    sense = 1 if it.objective == "r2" else -1
    value, bound = sense * result.value, sense * result.bound
    own, best = exact.value(result.inliers.tolist()), exact.best
    if own is None or best is None:
        return f"{result.method}: its own rows have no value, it says {result.value}"
    scale = 1.0 if sense > 0 else abs(float(own))
    digits = IN_DOUBLES if result.method == "concentrate" else ROUNDED
    if abs(value - float(own)) > digits * scale + 1e-300:
        return f"{result.method}: its own rows have {float(own)}, it says {value}"
    if bound < float(best) - ROUNDED * max(abs(float(best)), 1.0 if sense > 0 else 0):
        return f"{result.method}: the best has {float(best)}, above the bound {bound}"
    exact_fit = sense < 0 and bound == 0
    if result.status == "optimal" and not exact_fit:
        allowed = 1.01 * TOL * (1.0 if sense > 0 else abs(float(best)))
        if float(best - Fraction(value)) > allowed + 1e-300:
            return f"{result.method}: optimal at {value}, the best has {float(best)}"
    return contradiction(it, result, own)


def contradiction(it: Instance, result: qs.Result, own: Fraction) -> str | None:
    """Whether residuals, or coefficients and intercept, tell another value than the rows."""
    rows, w = result.inliers, it.weights
    weight = [Fraction(1)] * len(rows) if w is None else [Fraction(v) for v in w[rows]]
    y = [Fraction(v) for v in it.y[rows]]
    given = [Fraction(v) for v in result.residuals[rows]]
    rss = sum(a * e * e for a, e in zip(weight, given, strict=True))
    total = tss(y, weight, it.intercept)
    left = -own if it.objective == "lts" else (1 - own) * total
    if abs(float(rss - left)) > 1e-9 * float(left) + 1e-30 * float(total):
        return (
            f"{result.method}: residuals have a sum of squares of {float(rss)}, not {float(left)}"
        )
    for i, e in zip(rows, given, strict=True):
        terms = [Fraction(result.intercept)]
        terms += [Fraction(c) * Fraction(v) for c, v in zip(result.coef, it.x[i], strict=True)]
        off = abs(Fraction(it.y[i]) - sum(terms) - e)
        size = sum(map(abs, terms)) + abs(Fraction(it.y[i]))
        if off > Fraction(1e-12) * size:
            return f"{result.method}: coefficients leave another residual in row {i}"
    return None


def tss(y: list[Fraction], weight: list[Fraction], intercept: bool) -> Fraction:
    total = sum((a * v * v for a, v in zip(weight, y, strict=True)), Fraction(0))
    if intercept:
        total -= sum(a * v for a, v in zip(weight, y, strict=True)) ** 2 / sum(weight)
    return total


def left_out_wrongly(it: Instance, result: qs.Result) -> str | None:
    """A column may be left out of the search if all rows say that it is a combination; with an
    intercept, of values about the columns' medians, which are rounded as those given are."""
    searched = result.searched
    assert searched is not None
    x = it.x - np.median(it.x, axis=0) if it.intercept else it.x
    for j in np.setdiff1d(np.arange(x.shape[1]), searched):
        before = x[:, searched[searched < j]]
        design = np.column_stack([np.ones(len(it.y)), before]) if it.intercept else before
        size = np.abs(design).max(axis=1, initial=0) + np.abs(x[:, j])
        coef = np.linalg.lstsq(design / size[:, None], x[:, j] / size, rcond=None)[0]
        parts = np.abs(design) @ np.abs(coef) + np.abs(x[:, j])
        given = np.abs(it.x[:, searched[searched < j]]) @ np.abs(coef[it.intercept :])
        rounded = 1e-13 * (given + np.abs(it.x[:, j]))
        if np.any(np.abs(design @ coef - x[:, j]) > 1e-11 * parts + rounded):
            return f"column {j} is no combination of those before it"
    return None


def judge(seed: int, number: int) -> Verdict:
    it = draw(seed, number)
    found: dict[str, qs.Result] = {}
    for method in METHODS:
        if method == "certified" and it.x.shape[1] > 5:
            continue
        found[method] = qs.solve(
            it.x, it.y, it.k, objective=it.objective, method=method, tol=TOL, n_jobs=1,
            weights=it.weights, fit_intercept=it.intercept, time_limit=20.0,
        )  # fmt: skip
    searched = next(iter(found.values())).searched
    exact = Exact(it, np.arange(it.x.shape[1]) if searched is None else searched)
    if searched is not None and (trouble := left_out_wrongly(it, found["auto"])):
        return Verdict(it.family, fuzz_runs.WRONG, f"{it}: {trouble}")
    for result in found.values():
        trouble = check(it, result, exact)
        if trouble is not None:
            return Verdict(it.family, fuzz_runs.WRONG, f"{it}: {trouble}")
    proved = {m: r.value for m, r in found.items() if r.status == "optimal"}
    scale = max(map(abs, proved.values()), default=0.0) if it.objective == "lts" else 1.0
    if proved and max(proved.values()) - min(proved.values()) > 1.01 * TOL * scale:
        return Verdict(it.family, fuzz_runs.WRONG, f"{it}: optimal with different values {proved}")
    marks = tuple(f"{m} proves" for m in proved)
    outcome = fuzz_runs.RIGHT if "auto" in proved else fuzz_runs.OPEN
    return Verdict(it.family, outcome, str(it), marks)


def main() -> int:
    parser = fuzz_runs.parser(__doc__.split("\n\n")[0], instances=10_000, quick=50, seed=27)
    return fuzz_runs.main(judge, parser.parse_args(), chunk=20, options={})


if __name__ == "__main__":
    sys.exit(main())

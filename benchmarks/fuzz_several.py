"""The engine for several predictors against enumeration, on as many small samples as there is time
for.

    python benchmarks/fuzz_several.py --instances 100000 --state fuzz_several.json

Instance i of a seed is always the same: a family of data, 2 to 4 predictors (or 0 to 3 controls
and an intercept), a few rows, k, the question (R2, lts, partial correlation above or below t),
exactly or at least k, rows or groups, and a limit on listing, often so low that the bounds must do
the work. All subsets are scored by QR on columns orthogonalised in long double; those that come
near the engine's answer, or on which columns depend on each other, are scored again in rational
arithmetic (tests/naive_several.py). With a state file a run goes on where the last one ended;
Ctrl-C ends it between two instances. Exit code 1 if any answer was wrong; an instance not closed in
--patience seconds is counted apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from math import comb
from pathlib import Path

import numpy as np

from quadsweep import _core

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import naive_several
from families_several import FAMILIES

TOL = 1e-9
NEAR = 1e-6  # how far rounding may move what QR says of a subset without dependent columns
THIN = 1e-7  # a column of which less is left may depend on the others
MOST_SUBSETS = 1500


@dataclass(frozen=True)
class Instance:
    number: int
    family: str
    question: str  # r2, lts, partial
    x: np.ndarray
    y: np.ndarray
    k: int
    at_least: bool
    intercept: bool
    groups: np.ndarray | None
    t: float
    side: str
    listed: int

    @property
    def units(self) -> int:
        return len(self.y) if self.groups is None else int(self.groups.max()) + 1

    @property
    def design(self) -> np.ndarray:
        """The fitted columns: the predictors, or for a partial correlation all but the last."""
        columns = self.x[:, :-1] if self.question == "partial" else self.x
        ones = np.ones((len(self.y), 1))
        return np.hstack([ones, columns]) if self.intercept else columns

    def __str__(self) -> str:
        n, p = self.x.shape
        return (
            f"{self.number}: {self.question} {self.family} n={n} columns={p} k={self.k} "
            f"at_least={self.at_least} intercept={self.intercept} "
            f"groups={self.groups is not None} {self.side} t={self.t} listed={self.listed}"
        )


def draw(seed: int, number: int) -> Instance:
    rng = np.random.default_rng([seed, number])
    question = ("r2", "lts", "partial", "partial")[number % 4]
    family = list(FAMILIES)[(number // 4) % len(FAMILIES)]
    p = int(rng.integers(2, 5)) if question != "partial" else int(rng.integers(1, 5))
    at_least = bool(rng.integers(0, 4) == 0)
    grouped = bool(rng.integers(0, 4) == 0)
    n = int(rng.integers(p + 4, 15))
    x, y = FAMILIES[family](rng, n, p)
    groups = rng.permutation(np.arange(n) // 2) if grouped else None
    units = n if groups is None else (n + 1) // 2
    k = int(rng.integers(2 if grouped else p + 2, units + 1))
    while count(units, k, at_least) > MOST_SUBSETS:
        k += 1
    t = float(rng.choice([0, 0, 0, 0.3, -0.3, 0.7, -0.7, 0.95]))
    side = str(rng.choice(["above", "below"]))
    listed = int(rng.choice([2, 20, 200, 200]))
    intercept = bool(rng.integers(0, 4) > 0)
    if question == "partial" and p == 1:
        intercept = True
    return Instance(number, family, question, x, y, k, at_least, intercept, groups, t, side, listed)


def count(units: int, k: int, at_least: bool) -> int:
    return sum(comb(units, size) for size in range(k, (units if at_least else k) + 1))


# ---- all subsets ----------------------------------------------------------------------------


def orthogonalised(design: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Columns that span the same, orthonormal over all rows; dependent ones are left out."""
    kept: list[np.ndarray] = []
    out = []
    for j, column in enumerate(np.hstack([design, targets]).astype(np.longdouble).T):
        left, size = column, np.sqrt(column @ column)
        for _ in range(2):
            for before in kept:
                left = left - (before @ left) * before
        length = np.sqrt(left @ left)
        if j < design.shape[1]:
            if length > 1e-15 * size:
                kept.append(left / length)
                out.append(left / length)
        else:
            out.append(left / length if length > 0 else left)
    return np.array(out, dtype=np.float64).T


def triangles(instance: Instance, targets: np.ndarray) -> tuple[list, np.ndarray, np.ndarray, int]:
    """For every subset the triangular factor, and whether a column is nearly dependent."""
    columns = orthogonalised(instance.design, targets)
    fitted = columns.shape[1] - targets.shape[1]
    subsets = list(naive_several.subsets(instance.units, instance.k, instance.at_least))
    groups = None if instance.groups is None else instance.groups.tolist()
    stacked = np.zeros((len(subsets), len(instance.y) + columns.shape[1], columns.shape[1]))
    for s, chosen in enumerate(subsets):
        rows = naive_several.rows_of(chosen, groups)
        stacked[s, : len(rows)] = columns[rows]
    factor = np.linalg.qr(stacked, mode="r")
    size = np.sqrt(np.sum(stacked**2, axis=1))
    diagonal = np.abs(np.diagonal(factor, axis1=1, axis2=2))
    thin = np.any(diagonal[:, :fitted] <= THIN * size[:, :fitted] + 1e-300, axis=1)
    return subsets, factor, thin, fitted


def rows_of(instance: Instance, chosen) -> list[int]:
    groups = None if instance.groups is None else instance.groups.tolist()
    return naive_several.rows_of(chosen, groups)


def exact_fit(instance: Instance, chosen):
    """R2, or minus the residual sum of squares, in rational arithmetic."""
    rows = rows_of(instance, chosen)
    design, y = instance.design[rows].tolist(), instance.y[rows].tolist()
    if instance.question == "lts":
        return -naive_several.rss(design, y)
    return naive_several.r2(design, y, intercept=instance.intercept)


def exact_exceeds(instance: Instance, chosen) -> bool:
    rows = rows_of(instance, chosen)
    sign = 1 if instance.side == "above" else -1
    return bool(
        naive_several.partial_exceeds(
            instance.x[rows, -1].tolist(),
            (sign * instance.y[rows]).tolist(),
            instance.design[rows].tolist(),
            sign * instance.t,
        )
    )


# ---- checks ---------------------------------------------------------------------------------


def check_fit(instance: Instance, patience: float) -> str | None:
    """What is wrong with the engine's answer; "open" if it did not finish."""
    found = _core.several_fit(
        instance.x, instance.y, instance.k, objective=instance.question,
        intercept=instance.intercept, tol=TOL, at_least=instance.at_least,
        groups=instance.groups, enumerate=instance.listed, time_limit=patience,
    )  # fmt: skip
    sign = 1 if instance.question == "r2" else -1
    closed = found["status"] == "optimal"
    if len(found["inliers"]) == 0:
        if not closed:
            return "open"
        all_subsets = naive_several.subsets(instance.units, instance.k, instance.at_least)
        return next(
            ("a subset has a value" for s in all_subsets if exact_fit(instance, s) is not None),
            None,
        )
    value, bound = sign * found["value"], sign * found["bound"]
    own = exact_fit(instance, found["inliers"].tolist())
    rounding = 1e-12 * (1 if instance.question == "r2" else abs(value)) + 1e-300
    if own is None or abs(float(own) - value) > rounding:
        return f"its own subset has {own and float(own)}, not {value}"
    subsets, factor, thin, _ = triangles(instance, instance.y[:, None])
    limit = bound if closed else max(bound, value)
    rss = factor[:, -1, -1] ** 2
    if instance.question == "lts":
        length = left_of_all(instance)
        near = -rss * length >= limit - NEAR * (abs(limit) + 1e-6 * length)
    else:
        near = np.ones(len(subsets), dtype=bool)
        total = totals(instance, subsets)
        defined = total > 0
        share = rss * left_of_all(instance) / np.where(defined, total, 1)
        near = defined & (1 - share >= limit - NEAR)
    own_key = tuple(found["inliers"].tolist())
    for s in np.flatnonzero(near | thin):
        if subsets[s] == own_key:
            continue
        exact = exact_fit(instance, subsets[s])
        if exact is not None and float(exact) > limit + rounding:
            return f"subset {subsets[s]} has {float(exact)}, above the bound {limit}"
    return None if closed else "open"


def left_of_all(instance: Instance) -> float:
    """What is left of y's sum of squares on all rows: the unit of the orthogonalised y."""
    rows = range(len(instance.y))
    design = instance.design[list(rows)].tolist()
    return float(naive_several.rss(design, instance.y.tolist())) or 1.0


def totals(instance: Instance, subsets) -> np.ndarray:
    """The total sum of squares of y on each subset."""
    y = instance.y.astype(np.longdouble)
    if instance.intercept:
        y = y - np.sort(y)[len(y) // 2]
    out = []
    for chosen in subsets:
        some = y[rows_of(instance, chosen)]
        centred = some - some.mean() if instance.intercept else some
        total = centred @ centred
        out.append(float(total) if total > 1e-30 * (some @ some) else 0.0)
    return np.array(out)


def check_partial(instance: Instance, patience: float) -> str | None:
    x = np.ascontiguousarray(instance.x[:, -1])
    found = _core.several_partial(
        x, instance.y, np.ascontiguousarray(instance.design), instance.k, side=instance.side,
        t=instance.t, at_least=instance.at_least, groups=instance.groups,
        enumerate=instance.listed, time_limit=patience,
    )  # fmt: skip
    if len(found["inliers"]) > 0:
        right = exact_exceeds(instance, found["inliers"].tolist())
        return None if right else "the subset found is not on that side"
    targets = np.stack([x, instance.y], axis=1)
    subsets, factor, thin, fitted = triangles(instance, targets)
    # y's column was made orthogonal to Z alone, and so was x's: both are as they were, given Z.
    a = np.abs(factor[:, fitted, fitted])
    along = np.where(factor[:, fitted, fitted] < 0, -1, 1) * factor[:, fitted, fitted + 1]
    length = np.hypot(along, factor[:, fitted + 1, fitted + 1])
    doubtful = thin | (a < 1e-6) | (length < 1e-6)
    r = along / np.where(length > 0, length, 1)
    sign = 1 if instance.side == "above" else -1
    near = sign * (r - instance.t) > -NEAR
    for s in np.flatnonzero(near | doubtful):
        if exact_exceeds(instance, subsets[s]):
            return f"subset {subsets[s]} is on that side" if found["decided"] else "open"
    return None if found["decided"] else "open"


def check(instance: Instance, patience: float) -> str | None:
    asked = check_partial if instance.question == "partial" else check_fit
    return asked(instance, patience)


# ---- runs -----------------------------------------------------------------------------------


@dataclass
class State:
    seed: int = 2026
    patience: float = 2.0
    next: int = 0
    wrong: list[str] = field(default_factory=list)
    not_closed: list[str] = field(default_factory=list)


def run(state: State, until: int, save=lambda: None, every: float = 5.0) -> None:
    saved = time.monotonic()
    while state.next < until:
        instance = draw(state.seed, state.next)
        trouble = check(instance, state.patience)
        if trouble == "open":
            state.not_closed.append(str(instance))
        elif trouble is not None:
            state.wrong.append(f"{instance}: {trouble}")
            print("WRONG", state.wrong[-1], flush=True)
        state.next += 1
        if time.monotonic() - saved > every:
            saved = time.monotonic()
            save()
    save()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--instances", type=int, default=2000)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--patience", type=float, default=2.0)
    parser.add_argument("--only", type=int, help="one instance, by its number")
    parser.add_argument("--quick", action="store_true", help="20 instances")
    options = parser.parse_args()
    if options.quick:
        options.instances = 20
    if options.only is not None:
        instance = draw(options.seed, options.only)
        print(instance, "->", check(instance, options.patience))
        return 0
    state = State(options.seed, options.patience)
    if options.state and options.state.exists():
        state = State(**json.loads(options.state.read_text()))

    def save() -> None:
        if options.state:
            options.state.write_text(json.dumps(asdict(state)))

    try:
        run(state, options.instances, save)
    except KeyboardInterrupt:
        save()
    print(f"{state.next} instances, {len(state.wrong)} wrong, {len(state.not_closed)} not closed")
    return 1 if state.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

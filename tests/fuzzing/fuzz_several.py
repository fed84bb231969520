"""The engine for several predictors against enumeration, on as many small samples as there is time
for.

    python tests/fuzzing/fuzz_several.py --instances 100000 --jobs 2 --state fuzz_several.jsonl

Instance i of a seed is always the same: a family of data, 2 to 4 predictors (or 0 to 3 controls
and an intercept), in every third instance one that is another up to 1e-6 to 1e-14 of its size, a
few rows, in every third fit with weights, half of them over up to 40 powers of ten, k, often as few
as a fit needs, the question (R2, lts, partial correlation above or below t; or only whether R2 or
lts passes a value, often that of some subset),
exactly or at least k, rows or groups, a limit on listing, often so low that the bounds must do the
work, and every other time a tree of cells over rows that would need none. Intervals tell most
subsets from the engine's answer, whole numbers the others (tests/naive_intervals.py). Exit code 1
if any answer was wrong; counted apart are instances not closed in --patience seconds. What the
bounds alone, with next to no listing, do not close in BOUNDS_ALONE seconds is asked again with the
engine's own limit; both answers are checked.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import comb
from pathlib import Path
from typing import Any

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

from quadsweep import _core
from quadsweep.least_squares import hides_rows, independent

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import naive_several
import naive_whole
from families_several import FAMILIES
from naive_intervals import Intervals, unit_table

TOL = 1e-9
LISTING = 200  # subsets that a box of the engine lists where nobody says otherwise
TREE_FROM = 4096  # rows from which on its boxes hold cells, likewise
QUESTIONS = ("r2", "lts", "r2", "lts", "partial")
BOUNDS_ALONE = 0.03  # seconds, where it may list fewer
MOST_SUBSETS = 1500
ROUNDED = 4e-16  # what "none" leaves open about a partial correlation (docs/theory/audit.md)


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
    above: float | None  # of r2 and lts: only whether it is passed
    listed: int
    tree_from: int  # rows from which on the engine's boxes hold cells
    weights: np.ndarray | None = None

    @property
    def units(self) -> int:
        return len(self.y) if self.groups is None else int(self.groups.max()) + 1

    @cached_property
    def design(self) -> np.ndarray:
        """The fitted columns: the predictors, or for a partial correlation all but the last."""
        columns = self.x[:, :-1] if self.question == "partial" else self.x
        ones = np.ones((len(self.y), 1))
        return np.hstack([ones, columns]) if self.intercept else columns

    @property
    def targets(self) -> np.ndarray:
        """What is left of these is asked for: y, or for a partial correlation x and y."""
        if self.question == "partial":
            return np.stack([self.x[:, -1], self.y], axis=1)
        return self.y[:, None]

    @cached_property
    def whole(self) -> naive_whole.Table:
        weights = None if self.weights is None else self.weights.tolist()
        return naive_whole.Table(np.hstack([self.design, self.targets]).T.tolist(), weights)

    @cached_property
    def beyond(self) -> bool:
        """Whether the engine's answer is not called optimal, whatever it says: weights hide rows,
        or beside weights there is a column that callers leave out since others make it up."""
        rows, p = self.k - self.x.shape[1] - 1, self.x.shape[1]
        return self.weights is not None and (
            hides_rows(self.x, self.y, self.weights, self.intercept, rows)
            or len(independent(self.x, self.intercept)) < p
        )

    def __str__(self) -> str:
        n, p = self.x.shape
        return (
            f"{self.number}: {self.question} {self.family} n={n} columns={p} k={self.k} "
            f"at_least={self.at_least} intercept={self.intercept} "
            f"groups={self.groups is not None} {self.side} t={self.t} above={self.above} "
            f"listed={self.listed} tree_from={self.tree_from} weights={self.weights is not None}"
        )


def draw(seed: int, number: int) -> Instance:
    rng = np.random.default_rng([seed, number, 1])
    it = harder(rng, plain(seed, number))
    if it.question == "partial" or rng.integers(0, 3):
        return it
    return replace(it, above=value_to_pass(rng, it))


def harder(rng: np.random.Generator, it: Instance) -> Instance:
    """Now and then with columns that nearly depend on each other, or with weights."""
    n, p = it.x.shape
    if p > 1 and rng.integers(0, 3) == 0:
        x, (one, other) = it.x.copy(), rng.permutation(p)[:2]
        x[:, one] = x[:, other] + 10 ** rng.uniform(-14, -6) * rng.normal(size=n)
        it = replace(it, x=x)
    if it.question != "partial" and rng.integers(0, 3) == 0:
        weights = 10 ** rng.uniform(-1, 1, n)
        if rng.integers(0, 2):
            weights[rng.permutation(n)[: int(rng.integers(1, 4))]] *= 10 ** rng.uniform(0, 40)
        it = replace(it, weights=weights)
    return it


def plain(seed: int, number: int) -> Instance:
    """An instance that asks for the best, without weights."""
    rng = np.random.default_rng([seed, number])
    question = QUESTIONS[number % len(QUESTIONS)]
    family = list(FAMILIES)[(number // len(QUESTIONS)) % len(FAMILIES)]
    p = int(rng.integers(2, 5)) if question != "partial" else int(rng.integers(1, 5))
    at_least = bool(rng.integers(0, 4) == 0)
    grouped = bool(rng.integers(0, 4) == 0)
    n = int(rng.integers(p + 4, 15))
    x, y = FAMILIES[family](rng, n, p)
    groups = rng.permutation(np.arange(n) // 2) if grouped else None
    units = n if groups is None else (n + 1) // 2
    least = 2 if grouped else p + 1 + int(question != "partial" or rng.integers(0, 2))
    most = units if rng.integers(0, 2) else min(least + 2, units)
    k = int(rng.integers(least, most + 1))
    while count(units, k, at_least) > MOST_SUBSETS:
        k += 1
    t = float(rng.choice([0, 0, 0, 0.3, -0.3, 0.7, -0.7, 0.95, 0.997, -0.997]))
    side = str(rng.choice(["above", "below"]))
    listed = int(rng.choice([2, 20, 200, 200]))
    intercept = bool(rng.integers(0, 4) > 0)
    if question == "partial" and p == 1:
        intercept = True
    tree_from = int(rng.choice([1, TREE_FROM]))
    return Instance(
        number, family, question, x, y, k, at_least, intercept, groups, t, side, None, listed,
        tree_from,
    )  # fmt: skip


def value_to_pass(rng: np.random.Generator, it: Instance) -> float:
    """That of a good subset, hardly less, hardly more, or what nobody can pass."""
    sign = 1 if it.question == "r2" else -1
    chosen = [rng.permutation(it.units)[: it.k].tolist() for _ in range(5)]
    values = [v for v in (exact_fit(it, s) for s in chosen) if v is not None]
    best = max(values, default=0.0)
    return sign * best * float(rng.choice([1, 1, 1 - 1e-6, 1 + 1e-6, 0.9, 0]))


def count(units: int, k: int, at_least: bool) -> int:
    return sum(comb(units, size) for size in range(k, (units if at_least else k) + 1))


# ---- one subset -----------------------------------------------------------------------------


def rows_of(instance: Instance, chosen) -> list[int]:
    groups = None if instance.groups is None else instance.groups.tolist()
    return naive_several.rows_of(chosen, groups)


def exact_fit(instance: Instance, chosen) -> float | None:
    """R2, or minus the residual sum of squares, rounded once; None where it has no value."""
    products = instance.whole.products(rows_of(instance, chosen))
    fitted = instance.design.shape[1]
    ((rss,),), scale, _ = naive_whole.eliminated(products, fitted)
    if instance.question == "lts":
        unit = instance.whole.units[-1] ** 2 * instance.whole.weight_unit
        return -naive_whole.rounded(rss, scale * unit)
    total, about = products[-1][-1], 1
    if instance.intercept:
        about = products[0][0]
        total = total * about - products[0][-1] ** 2
    if total == 0:
        return None
    return naive_whole.rounded(total * scale - rss * about, total * scale)


def exact_exceeds(instance: Instance, chosen, by: float = 0.0) -> bool:
    """Whether the partial correlation is on the side of t that is asked for, by as much."""
    products = instance.whole.products(rows_of(instance, chosen))
    ((a, c), (_, b)), _, _ = naive_whole.eliminated(products, instance.design.shape[1])
    if a == 0 or b == 0:
        return False
    sign = 1 if instance.side == "above" else -1
    over, under = (sign * instance.t + by).as_integer_ratio()
    # c / sqrt(a b) > over / under
    left, right = sign * c * abs(c) * under * under, over * abs(over) * a * b
    return left > right


# ---- checks ---------------------------------------------------------------------------------


def subsets_of(instance: Instance) -> list[tuple[int, ...]]:
    return list(naive_several.subsets(instance.units, instance.k, instance.at_least))


def fit(instance: Instance, patience: float) -> dict[str, Any]:
    """The engine's answer, and what exact arithmetic says of the subsets that it leaves to that."""
    found = _core.regression_fit(
        instance.x, instance.y, instance.k, objective=instance.question,
        intercept=instance.intercept, tol=TOL, k_or_more=instance.at_least, above=instance.above,
        groups=instance.groups, enumeration_limit=instance.listed, time_limit=patience,
        tree_from=instance.tree_from, weights=instance.weights,
    )  # fmt: skip
    sign = 1 if instance.question == "r2" else -1
    for rows in found.get("unclear", []):
        exact = exact_fit(instance, rows)
        if exact is not None and not exact < sign * found["value"]:
            bound = sign * max(sign * found["bound"], exact)
            found |= {"inliers": np.array(rows), "value": sign * exact, "bound": bound}
    if instance.beyond:  # 32 digits do not tell; a result's value is that of its rows' exact fit
        if instance.above is None and len(found["inliers"]) > 0:
            own = exact_fit(instance, found["inliers"].tolist())
            found |= {} if own is None else {"value": sign * own}
        best = 1.0 if instance.question == "r2" else 0.0
        found |= {"status": "heuristic", "decided": False, "bound": best}
    return found


def check_passing(instance: Instance, patience: float) -> str | None:
    """Whether the engine is right that some subset passes a value, or that none does by TOL."""
    found = fit(instance, patience)
    assert instance.above is not None
    above = instance.above if instance.question == "r2" else -instance.above
    if len(found["inliers"]) > 0:
        exact = exact_fit(instance, found["inliers"].tolist())
        if exact is not None and exact >= above:
            return None
        # The value asked about says that 32 digits do not tell, and leaves it to whoever asked.
        if found["value"] == instance.above:
            return "open"
        return f"its own subset has {exact}, not above {above}"
    if not found["decided"]:
        return "open"
    limit = above + TOL * (1 if instance.question == "r2" else abs(above)) * (1 + 1e-6)
    return passing(instance, subsets_of(instance), limit)


def passing(instance: Instance, subsets, limit: float) -> str | None:
    """A subset above the limit, if there is one."""
    for s in may_pass(instance, subsets, limit):
        exact = exact_fit(instance, subsets[s])
        if exact is not None and exact > limit:
            return f"subset {subsets[s]} has {exact}, above the bound {limit}"
    return None


def check_fit(instance: Instance, patience: float) -> str | None:
    """What is wrong with the engine's answer; "open" if it did not finish."""
    found = fit(instance, patience)
    sign = 1 if instance.question == "r2" else -1
    closed = found["status"] == "optimal"
    subsets = subsets_of(instance)
    if len(found["inliers"]) == 0:
        if not closed:
            return "open"
        with_value = (s for s in subsets if exact_fit(instance, s) is not None)
        return next((f"subset {s} has a value" for s in with_value), None)
    value, bound = sign * found["value"], sign * found["bound"]
    own = exact_fit(instance, found["inliers"].tolist())
    rounding = 1e-12 * (1 if instance.question == "r2" else abs(value)) + 1e-300
    if own is None or abs(own - value) > rounding:
        return f"its own subset has {own}, not {value}"
    limit = bound if closed else max(bound, value)
    best = 1.0 if instance.question == "r2" else 0.0
    if limit + rounding < best:
        better = passing(instance, subsets, limit + rounding)
        if better is not None:
            return better
    return None if closed else "open"


def may_pass(instance: Instance, subsets, limit: float) -> np.ndarray:
    """The subsets whose value may be above this, as far as intervals can tell."""
    if instance.weights is not None:
        return np.arange(len(subsets))
    given = Intervals(
        unit_table(instance.design, instance.y[:, None]), row_masks(instance, subsets)
    )
    least = given.left[0, 0] - given.off
    if instance.question == "lts":
        unit = given.units[0]
        return np.flatnonzero(given.unclear | (least * unit * unit * (1 - 1e-12) < -limit))
    ones = instance.design[:, :1] if instance.intercept else instance.design[:, :0]
    about = Intervals(unit_table(ones, instance.y[:, None]), given.masks)
    most = about.left[0, 0] + about.off
    share = (given.units[0] / about.units[0]) ** 2
    beyond = least * share * (1 - 1e-12) < (1 - limit) * most
    return np.flatnonzero(given.unclear | about.unclear | beyond)


def row_masks(instance: Instance, subsets) -> np.ndarray:
    """A row of zeros and ones for each subset."""
    masks = np.zeros((len(subsets), instance.units))
    sizes = np.fromiter(map(len, subsets), dtype=np.int64, count=len(subsets))
    chosen = np.fromiter(chain.from_iterable(subsets), dtype=np.int64, count=sizes.sum())
    masks[np.repeat(np.arange(len(subsets)), sizes), chosen] = 1
    return masks if instance.groups is None else masks[:, instance.groups]


def check_partial(instance: Instance, patience: float) -> str | None:
    found = _core.regression_partial(
        np.ascontiguousarray(instance.x[:, -1]), instance.y, np.ascontiguousarray(instance.design),
        instance.k, side=instance.side, t=instance.t, k_or_more=instance.at_least,
        groups=instance.groups, enumeration_limit=instance.listed, time_limit=patience,
        tree_from=instance.tree_from,
    )  # fmt: skip
    if len(found["inliers"]) > 0:
        if exact_exceeds(instance, found["inliers"].tolist()):
            return None
        # The value of t itself says that 32 digits do not tell, and leaves it to whoever asked.
        unclear = found["value"] == instance.t
        return "open" if unclear else "the subset found is not on that side"
    subsets = subsets_of(instance)
    for s in may_exceed(instance, subsets):
        if exact_exceeds(instance, subsets[s], ROUNDED):
            return f"subset {subsets[s]} is on that side" if found["decided"] else "open"
    return None if found["decided"] else "open"


def may_exceed(instance: Instance, subsets) -> np.ndarray:
    """The subsets whose partial correlation may be on that side, as far as intervals can tell."""
    given = Intervals(unit_table(instance.design, instance.targets), row_masks(instance, subsets))
    sign = 1 if instance.side == "above" else -1
    t, off = sign * instance.t, given.off
    a, b, c = given.left[0, 0], given.left[1, 1], sign * given.left[0, 1]
    away = -off if t >= 0 else off
    size = np.sqrt(np.maximum(a + away, 0) * np.maximum(b + away, 0))
    return np.flatnonzero(given.unclear | (c + off > t * size * (1 - np.sign(t) * 1e-12)))


def check(instance: Instance, patience: float) -> str | None:
    if instance.question == "partial":
        return check_partial(instance, patience)
    return (check_fit if instance.above is None else check_passing)(instance, patience)


# ---- runs -----------------------------------------------------------------------------------


def check_patiently(instance: Instance, patience: float) -> str | None:
    """Again where the clock ran out but the processor was elsewhere: a machine at rest, or busy."""
    for _ in range(3):
        start = time.process_time()
        trouble = check(instance, patience)
        if trouble != "open" or time.process_time() - start > patience / 2:
            break
    return trouble


def judge(seed: int, number: int, patience: float = 10.0) -> Verdict:
    """Of an instance that is drawn."""
    return judge_one(draw(seed, number), patience)


def judge_one(it: Instance, patience: float = 10.0) -> Verdict:
    """Where the bounds alone do not close it, what they say must hold and listing must do."""
    marks: tuple[str, ...] = ()
    trouble = "open"
    if it.listed < LISTING:
        trouble = check(it, min(patience, BOUNDS_ALONE))
        if trouble == "open":
            marks = (f"not closed by bounds alone, {it.family}",)
    if trouble == "open":
        trouble = check_patiently(replace(it, listed=LISTING), patience)
    if trouble is None:
        return Verdict(it.family, fuzz_runs.RIGHT, marks=marks)
    if trouble == "open" and it.beyond:
        return Verdict(it.family, fuzz_runs.RIGHT, marks=(*marks, "beyond 32 digits: not proved"))
    if trouble == "open":
        return Verdict(it.family, fuzz_runs.OPEN, str(it), marks)
    return Verdict(it.family, fuzz_runs.WRONG, f"{it}: {trouble}")


def main() -> int:
    parser = fuzz_runs.parser(__doc__.split("\n\n")[0], instances=2000, quick=20, seed=2026)
    parser.add_argument("--patience", type=float, default=10.0, help="seconds for an instance")
    given = parser.parse_args()
    return fuzz_runs.main(judge, given, chunk=100, options={"patience": given.patience})


if __name__ == "__main__":
    sys.exit(main())

"""The certified engine against listing all subsets, on as many small samples as there is time for.

Small samples are listed in rational arithmetic, larger ones by the compiled core; every value and
every comparison that decides is rational, at the tolerance that docs/certificate.md states.

    python benchmarks/fuzz.py --instances 300000 --state fuzz.json

Instance i of a seed is always the same, whatever came before it: a family of data, 4 to 16 points,
k, objective, a form of the question and settings of the search, among them a limit on listing so
low that the bounds must do the work. With a state file the run goes on where the last one ended;
Ctrl-C ends it between two instances. Wrong answers are printed with what is needed to repeat them:

    python benchmarks/fuzz.py --only I

Exit code 1 if any answer was wrong. An instance that is not closed in --patience seconds is counted
apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

import quadsweep as qs
from quadsweep import _core
from quadsweep.methods.certified import SearchOutcome, search
from quadsweep.methods.problem import Problem
from quadsweep.objectives import Objective

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import families
import naive

OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts")
TOL = 1e-9
FINEST = 1e-14  # of a tolerance
LAST_DIGITS = 1e-15  # of a value: what its own arithmetic may lose
LARGEST = Fraction(sys.float_info.max)
RATIONAL = 260  # subsets that are listed in rational arithmetic


# ---- data -----------------------------------------------------------------------------------


def cauchy(rng, n):
    return rng.standard_cauchy(n), rng.standard_cauchy(n)


def close_clusters(rng, n):
    centres = 5 * rng.normal(size=(2, 3))[:, rng.integers(0, 3, n)]
    return tuple(centres + 0.1 * rng.normal(size=(2, n)))


def nearly_collinear(rng, n):
    x = rng.normal(size=n)
    return x, 2 * x + 10 ** rng.uniform(-9, -2) * rng.normal(size=n)


def crossing_lines(rng, n):
    x = rng.normal(size=n)
    return x, np.where(rng.random(n) < 0.5, x, -x) + 0.01 * rng.normal(size=n)


def on_a_circle(rng, n):
    angle = 2 * np.pi * rng.random(n)
    return np.cos(angle), np.sin(angle)


def on_a_hyperbola(rng, n):
    x = rng.uniform(0.2, 5, n) * np.where(rng.random(n) < 0.7, 1, -1)
    return x, 1 / x


def near_a_counterexample(rng, n):
    sample = qs.datasets.load(
        ("nonseparable-r2", "nonseparable-dv", "nonseparable-cov")[rng.integers(3)]
    )
    chosen = rng.permutation(len(sample.x))[:n]
    shake = 10 ** rng.uniform(-6, 0.3)
    return tuple(
        np.asarray(c, float)[chosen] + shake * rng.normal(size=len(chosen))
        for c in (sample.x, sample.y)
    )


def far_away(rng, n):
    offset = 10 ** rng.uniform(0, 9, 2)
    return rng.random(n) + offset[0], rng.random(n) - offset[1]


def any_scale(rng, n):
    scale = 10 ** rng.uniform(-9, 9, 2)
    return scale[0] * rng.normal(size=n), scale[1] * rng.normal(size=n)


def counts(rng, n):
    """Half of them zero, as where most things do not happen."""
    x, y = rng.poisson(1.5, (2, n)) * (rng.random((2, n)) < 0.5)
    return x.astype(float), y.astype(float)


def one_decimal(rng, n):
    x = rng.random(n)
    return x, np.round(x + rng.normal(size=n), 1)


def tripled(rng, n):
    x, y = rng.normal(size=(2, -(-n // 3)))
    return np.repeat(x, 3)[:n], np.repeat(y, 3)[:n]


# Where double precision ends: few points, so that all is rational.


def few(rng, n):
    return min(n, int(rng.integers(5, 11)))


def tight_clusters(rng, n):
    """Two or three clusters, each as tight as it likes."""
    n = few(rng, n)
    which = rng.integers(0, int(rng.integers(2, 4)), n)
    centres, size = rng.normal(size=(2, 3)), 10 ** rng.uniform(-20, -5, 3)
    centres[:, 0] = 0
    return tuple(centres[:, which] + size[which] * rng.normal(size=(2, n)))


def tight_lines(rng, n):
    """Two near-exact lines, far from the origin or not."""
    n = few(rng, n)
    x, first = rng.normal(size=n), rng.random(n) < 0.5
    size, (a, b) = 10 ** rng.uniform(-16, -5, 2), rng.normal(size=2)
    y = np.where(first, a * x, b * x + 1) + np.where(first, *size) * rng.normal(size=n)
    return x, y * 10 ** rng.uniform(0, 8)


def sentinels(rng, n):
    n = few(rng, n)
    table = rng.normal(size=(2, n))
    for _ in range(rng.integers(1, 3)):
        far = 10 ** rng.uniform(10, 300) * rng.choice([-1, 1])
        table[rng.integers(2), rng.integers(n)] = far
    return tuple(table)


def subnormal(rng, n):
    n = few(rng, n)
    return tuple(rng.integers(-60, 60, (2, n)) * 5e-324 * 2.0 ** rng.integers(0, 60, (2, 1)))


def tiny_next_to_ordinary(rng, n):
    n = few(rng, n)
    size = np.where(rng.random(n) < 0.6, 10 ** rng.uniform(-320, -20), 1)
    return tuple(size * rng.normal(size=(2, n)))


def far_offset(rng, n):
    n = few(rng, n)
    return tuple(rng.normal(size=(2, n)) + 10 ** rng.uniform(6, 15, (2, 1)))


def a_part_far_off(rng, n):
    n = few(rng, n)
    table = rng.normal(size=(2, n))
    table[:, rng.random(n) < 0.4] += 10 ** rng.uniform(6, 15, (2, 1))
    return tuple(table)


def exact_fits(rng, n):
    """Decimals on a line: what is left is the rounding of y."""
    n = few(rng, n)
    x = np.round(rng.uniform(0, 10, n), 1)
    y = np.where(rng.random(n) < 0.7, 2.3 * x + 0.7, np.round(rng.uniform(0, 10, n), 1))
    return x, y


def both_signs_tied(rng, n):
    """Every point with its mirror image."""
    half = max(2, few(rng, n) // 2)
    x, y = np.round(rng.normal(size=(2, half)), 2)
    return np.concatenate([x, x]), np.concatenate([y, -y])


def last_digit(rng, n):
    """Points that differ in the last digit only."""
    n = few(rng, n)
    table = np.round(rng.normal(size=(2, n)), 1)[:, rng.integers(0, n, n)]
    return tuple(table + rng.integers(0, 3, (2, n)) * np.spacing(table))


EDGES = (
    tight_clusters, tight_lines, sentinels, subnormal, tiny_next_to_ordinary, far_offset,
    a_part_far_off, exact_fits, both_signs_tied, last_digit,
)  # fmt: skip

FAMILIES: dict[str, families.Family] = families.FAMILIES | {
    f.__name__: f
    for f in (
        cauchy, close_clusters, nearly_collinear, crossing_lines, on_a_circle, on_a_hyperbola,
        near_a_counterexample, far_away, any_scale, counts, one_decimal, tripled, *EDGES,
    )
}  # fmt: skip


# ---- an instance ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Instance:
    number: int
    family: str
    form: str
    x: np.ndarray
    y: np.ndarray
    k: int
    objective: Objective
    enumerate_up_to: int
    cells: bool
    n_jobs: int
    patience: float
    rng: np.random.Generator

    def __str__(self) -> str:
        return (
            f"{self.number}: {self.form} {self.objective.name}, {self.family} n={len(self.x)} "
            f"k={self.k} enumerate_up_to={self.enumerate_up_to} cells={self.cells} "
            f"n_jobs={self.n_jobs}"
        )

    def problem(self, **changes) -> Problem:
        options = {"tol": TOL, "time_limit": self.patience, "n_jobs": self.n_jobs} | changes
        return Problem(self.x, self.y, self.k, self.objective, **options)

    def search(self, problem: Problem | None = None, **form) -> SearchOutcome:
        settings = {"enumerate_up_to": self.enumerate_up_to, "cells": self.cells}
        return search(problem or self.problem(), **settings, **form)

    def listed(self, k: int) -> tuple[np.ndarray, float]:
        """The best subset of k points and its value, by listing all; empty if none has one."""
        if math.comb(len(self.x), k) <= RATIONAL:
            best = max(
                ((score, s) for s in combinations(range(len(self.x)), k)
                 if (score := self.score(s)) is not None),
                key=lambda pair: pair[0], default=None,
            )  # fmt: skip
            subset = np.array([] if best is None else best[1], dtype=np.int64)
        else:
            subset, *_ = _core.solve(
                self.x, self.y, k, self.objective.name, "exhaustive", 0.0, math.inf, 1, 0, None
            )
        return subset, self.exact(subset) if len(subset) else math.nan

    @cached_property
    def whole_numbers(self) -> tuple[list[int], list[int], int, int]:
        """The columns as whole numbers and what they were multiplied by."""
        columns = [[Fraction(v) for v in column.tolist()] for column in (self.x, self.y)]
        unit = [max(v.denominator for v in column) for column in columns]
        whole = [[int(v * u) for v in c] for c, u in zip(columns, unit, strict=True)]
        return whole[0], whole[1], unit[0], unit[1]

    def sums(self, subset) -> tuple[Fraction, Fraction, Fraction]:
        """a, b and c of DESIGN, exactly."""
        xs, ys, ux, uy = self.whole_numbers
        k = len(subset)
        x, y = [xs[i] for i in subset], [ys[i] for i in subset]
        sx, sy = sum(x), sum(y)
        a = k * sum(u * u for u in x) - sx * sx
        b = k * sum(w * w for w in y) - sy * sy
        c = k * sum(u * w for u, w in zip(x, y, strict=True)) - sx * sy
        return Fraction(a, k * ux * ux), Fraction(b, k * uy * uy), Fraction(c, k * ux * uy)

    def score(self, subset) -> Fraction | None:
        """As `naive.score`: larger is better; for r it is r |r|."""
        return naive.score_of_sums(*self.sums(subset), len(subset), self.objective.name)

    def exact(self, subset: np.ndarray) -> float:
        """The value of a subset, rounded once from rational arithmetic."""
        score = self.score(subset.tolist())
        if score is not None and abs(score) > LARGEST:
            return math.inf if self.objective.sense * score > 0 else -math.inf
        return naive.value_of_score(score, self.objective.name)

    def made_of(self, subset) -> float:
        """The scale of what cancels in the value."""
        a, b, _ = (as_float(v) for v in self.sums(subset))
        name = self.objective.name
        if name in ("r2", "r"):
            return 1.0
        return {"cov": math.sqrt(a) * math.sqrt(b) / len(subset), "lts": b}.get(
            name, (a + b) / len(subset)
        )

    def allowed(self, subset, value: float) -> float:
        """What `tol` means for a subset: docs/certificate.md."""
        share = max(TOL, FINEST)
        if self.objective.name in ("r2", "r"):
            return share
        if self.objective.name in ("cov", "dv"):
            return max(share * abs(value), 1e-12 * self.made_of(subset))
        fits = self.objective.name == "lts" and value <= 2.0**-100 * self.made_of(subset)
        return value if fits else share * abs(value)

    @cached_property
    def scale(self) -> float:
        """What tol is multiplied by: 1 for a correlation, squares of the spread otherwise."""
        sx, sy = spread(self.x), spread(self.y)
        both = max(sx, sy) * max(sx, sy)
        name = self.objective.name
        return {"cov": sx * sy, "dv": both, "tv": both, "lts": self.k * sy * sy}.get(name, 1.0)

    def ahead(self, better: float, than: float) -> float:
        """By how much one value is better than another."""
        return self.objective.sense * (better - than)

    def last_digits(self, value: float, subset) -> float:
        """What a value may be off: an ulp or two, and where it cancels 2^-90 of what does."""
        return LAST_DIGITS * abs(value) + 2.0**-90 * self.made_of(subset)


def as_float(value: Fraction) -> float:
    return math.inf if abs(value) > LARGEST else float(value)


def spread(column: np.ndarray) -> float:
    """Median distance from the median, or the mean one where that is zero."""
    middle = np.sort(column)[(len(column) - 1) // 2]
    distance = np.abs(column - middle)
    found = float(np.sort(distance)[(len(column) - 1) // 2]) or float(distance.mean())
    return found or 1.0


def draw(seed: int, number: int, patience: float = 10.0) -> Instance:
    rng = np.random.default_rng([seed, number])
    family = list(FAMILIES)[rng.integers(len(FAMILIES))]
    x, y = FAMILIES[family](rng, int(rng.integers(4, 17)))
    objective = qs.objectives.get(OBJECTIVES[rng.integers(len(OBJECTIVES))])
    return Instance(
        number=number,
        family=family,
        form=list(FORMS)[rng.choice(len(FORMS), p=[0.5, 0.15, 0.1, 0.15, 0.1])],
        x=np.ascontiguousarray(x),
        y=np.ascontiguousarray(y),
        k=int(rng.integers(objective.min_k, len(x) + 1)),
        objective=objective,
        enumerate_up_to=int((1, 20, 2000)[rng.integers(3)]),
        cells=bool(rng.random() < 0.7),
        n_jobs=2 if rng.random() < 0.05 else 1,
        patience=patience,
        rng=rng,
    )


# ---- what must hold -------------------------------------------------------------------------


class Wrong(AssertionError):
    """An answer that is not true."""


class NotClosed(Exception):
    """No proof in the time given."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


def check_value(it: Instance, found: SearchOutcome) -> None:
    """The value given is that of the subset given, and the bound is on its right side."""
    require(bool(np.all(np.diff(found.inliers) > 0)), "inliers are not sorted and distinct")
    true = it.exact(found.inliers)
    close = true == found.value or (
        abs(true - found.value) <= it.last_digits(true, found.inliers.tolist())
    )
    require(close, f"value {found.value!r}, of the subset {true!r}")
    gap = it.ahead(found.bound, found.value)
    require(not gap < 0, f"bound {found.bound!r} behind {found.value!r}")


def check_bound(it: Instance, found: SearchOutcome, best_subset: np.ndarray, best: float) -> None:
    """No subset beats the bound."""
    short = it.ahead(best, found.bound)
    rounded = it.last_digits(best, best_subset.tolist())
    require(not short > rounded, f"bound {found.bound!r} but a subset has {best!r}")


def check_best(it: Instance, found: SearchOutcome, best_subset: np.ndarray, best: float) -> None:
    """The proof is complete and nothing is better, to the tolerance."""
    if found.status == "time_limit":
        check_stopped(it, found, best_subset, best)
        raise NotClosed
    require(found.status == "optimal", f"status {found.status}")
    if len(best_subset) == 0:
        require(len(found.inliers) == 0, "a subset although none has a value")
        return
    require(len(found.inliers) > 0, f"no subset although one has {best!r}")
    check_value(it, found)
    check_bound(it, found, best_subset, best)
    subset = found.inliers.tolist()
    within = it.allowed(subset, found.value)
    gap = it.ahead(found.bound, found.value)
    require(not gap > within * (1 + 1e-12), f"gap {gap!r} of {within!r}")
    short = it.ahead(best, it.exact(found.inliers))
    most = within + it.last_digits(best, subset)
    require(not short > most, f"{found.value!r} but a subset has {best!r}")


def check_stopped(it: Instance, found: SearchOutcome, best_subset: np.ndarray, best: float) -> None:
    """What a stopped search says is true."""
    if len(best_subset):
        check_bound(it, found, best_subset, best)
    if len(found.inliers):
        check_value(it, found)


# ---- forms of the question ------------------------------------------------------------------


def exactly(it: Instance) -> None:
    found = it.search()
    check_best(it, found, *it.listed(it.k))
    require(len(found.inliers) in (0, it.k), f"{len(found.inliers)} inliers")


def at_most(it: Instance) -> None:
    """k or more points."""
    found = it.search(at_most=True)
    answers = [it.listed(k) for k in range(it.k, len(it.x) + 1)]
    known = [a for a in answers if len(a[0])] or answers[:1]
    check_best(it, found, *max(known, key=lambda a: it.objective.sense * a[1]))
    require(len(found.inliers) == 0 or len(found.inliers) >= it.k, f"{len(found.inliers)} inliers")


def warm(it: Instance) -> None:
    """From subsets given: random ones, or the best itself."""
    subset, best = it.listed(it.k)
    starts = [np.sort(it.rng.permutation(len(it.x))[: it.k]) for _ in range(it.rng.integers(1, 3))]
    if len(subset) and it.rng.random() < 0.5:
        starts.append(subset)
    found = it.search(starts=starts, starting_lines=1)
    check_best(it, found, subset, best)
    require(len(found.inliers) in (0, it.k), f"{len(found.inliers)} inliers")


def above(it: Instance) -> None:
    """Is any subset better than t? Both answers, also for t next to the best value."""
    subset, best = it.listed(it.k)
    if len(subset) == 0:
        best = 0.0
    if not math.isfinite(best + it.scale):
        return
    away = it.rng.choice([0.0, TOL, 1e-7, 1e-3, 0.1]) * it.rng.choice([-3, -1, 1, 3])
    t = best + away * max(it.scale, abs(best))
    found = it.search(above=t)
    if not found.decided:
        check_stopped(it, found, subset, best)
        raise NotClosed
    if len(found.inliers):
        require(len(found.inliers) == it.k, f"{len(found.inliers)} inliers")
        check_value(it, found)
        check_bound(it, found, subset, best)
        reached = it.exact(found.inliers)
        rounded = it.last_digits(t, found.inliers.tolist())
        require(it.ahead(reached, t) >= -rounded, f"{reached!r} is not above {t!r}")
    elif len(subset):
        passed = it.ahead(best, t)
        share = 1 if it.objective.name in ("r2", "r") else abs(t)
        most = 1.01 * TOL * share + it.last_digits(best, subset.tolist())
        if it.objective.name in ("cov", "dv"):
            most += 8e-12 * it.scale
        require(not passed > most, f"no, but {best!r} is above {t!r}")


def stopped(it: Instance) -> None:
    """With next to no time: whatever comes back is true."""
    limit = 0.0 if it.rng.random() < 0.5 else 10 ** it.rng.uniform(-5, -3)
    found = it.search(it.problem(time_limit=limit))
    subset, best = it.listed(it.k)
    require(found.status in ("optimal", "time_limit"), f"status {found.status}")
    if found.status == "optimal":
        check_best(it, found, subset, best)
    else:
        check_stopped(it, found, subset, best)


FORMS: dict[str, Callable[[Instance], None]] = {
    f.__name__: f for f in (exactly, at_most, warm, above, stopped)
}


# ---- the run --------------------------------------------------------------------------------


@dataclass
class State:
    """What a run has seen; the builds are digests of the compiled core, with their instances."""

    seed: int = 0
    patience: float = 10.0
    next: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    not_closed: list[str] = field(default_factory=list)
    builds: dict[str, int] = field(default_factory=dict)
    families: dict[str, list[int]] = field(default_factory=dict)  # instances, wrong, not closed

    @classmethod
    def load(cls, path: Path | None, seed: int, patience: float) -> State:
        if path is None or not path.exists():
            return cls(seed=seed, patience=patience)
        state = cls(**json.loads(path.read_text()))
        if state.seed != seed:
            raise SystemExit(f"{path} belongs to seed {state.seed}; got --seed {seed}")
        state.patience = patience
        return state

    def save(self, path: Path | None) -> None:
        if path is None:
            return
        fresh = path.with_suffix(path.suffix + ".new")
        fresh.write_text(json.dumps(asdict(self), indent=1))
        os.replace(fresh, path)

    def report(self) -> str:
        rate = self.next / self.seconds if self.seconds else 0.0
        return (
            f"{self.next:,} instances, {len(self.wrong)} wrong, {len(self.not_closed)} not closed "
            f"in {self.patience:g} s, {rate:,.0f} a second"
        )

    def by_family(self) -> str:
        rows = [f"{'family':24s}{'instances':>10s}{'wrong':>8s}{'not closed':>12s}"]
        for name, (instances, wrong, open_) in sorted(self.families.items()):
            rows.append(f"{name:24s}{instances:10,d}{wrong:8d}{open_:12d}")
        return "\n".join(rows)


def try_one(state: State, number: int) -> None:
    instance = draw(state.seed, number, state.patience)
    counted = state.families.setdefault(instance.family, [0, 0, 0])
    counted[0] += 1
    try:
        FORMS[instance.form](instance)
    except NotClosed:
        counted[2] += 1
        state.not_closed.append(str(instance))
        print(f"not closed {instance}", flush=True)
    except Wrong as wrong:
        counted[1] += 1
        state.wrong.append(f"{instance}: {wrong}")
        print(f"WRONG {instance}: {wrong}", flush=True)


def run(state: State, until: int, path: Path | None = None, every: float = 10.0) -> State:
    """Instances up to `until`, unless Ctrl-C comes first."""
    asked_to_stop = []
    before = signal.signal(signal.SIGINT, lambda *_: asked_to_stop.append(True))
    build = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:12]
    last = shown = time.perf_counter()
    try:
        while state.next < until and not asked_to_stop:
            try_one(state, state.next)
            state.next += 1
            state.builds[build] = state.builds.get(build, 0) + 1
            now = time.perf_counter()
            state.seconds += now - last
            last = now
            if now - shown > every:
                shown = now
                state.save(path)
                print(state.report(), flush=True)
    finally:
        signal.signal(signal.SIGINT, before)
        state.save(path)
    return state


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=10_000, help="in all, earlier runs too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--patience", type=float, default=10.0, help="seconds for an instance")
    parser.add_argument("--state", type=Path, help="file that keeps where the run is")
    parser.add_argument("--only", type=int, metavar="I", help="instance I alone")
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    given = parser.parse_args()
    state = State.load(given.state, given.seed, given.patience)
    if given.only is not None:
        print(draw(given.seed, given.only))
        try_one(state, given.only)
    else:
        run(state, 200 if given.quick else given.instances, given.state)
        print(state.by_family())
        print(state.report())
    return 1 if state.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""The certified engine against listing all subsets, on as many small samples as there is time for.

    python tests/fuzzing/fuzz.py --instances 1000000 --jobs 2 --state fuzz.jsonl
    python tests/fuzzing/fuzz.py --instances 20000 --objectives mcd

Instance i of a seed is always the same, whatever came before it: a family of data, 4 to 16 points,
k, objective, a form of the question and settings of the search, among them a limit on listing so
low that the bounds must do the work. Larger ones have a planted optimum, or k so near to n or to
nothing that the subsets can be listed. The check shares no code with the engine: intervals tell
most subsets from the best, whole numbers the others (tests/naive_listing.py), and the tolerance is
what docs/certificate.md states. Wrong answers are printed with what is needed to repeat them:

    python tests/fuzzing/fuzz.py --only I

Exit code 1 if any answer was wrong. Counted apart are instances not closed in --patience seconds,
and those that the bounds alone, listing switched off, do not close in BOUNDS_ALONE.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

import quadsweep as qs
from quadsweep import _core
from quadsweep.objectives import Objective
from quadsweep.solving.methods.certified import SearchOutcome, search
from quadsweep.solving.methods.problem import Problem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from families_edges import FAMILIES
from families_planted import PLANTED
from naive_listing import best_subset
from naive_whole import Plane

OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts")
TOL = 1e-9
FINEST = 1e-14  # of a tolerance
LAST_DIGITS = 1e-15  # of a value: what its own arithmetic may lose
STEP = 5e-324  # between two doubles where they are subnormal
LISTING = 200  # subsets that a box of the engine lists where nobody says otherwise
BOUNDS_ALONE = 0.2  # seconds, where it may list fewer
GUARDED = hasattr(_core, "set_debug_solution")  # a build with QUADSWEEP_DEBUG_SOLUTION
DRAWN = (*FAMILIES, *PLANTED)


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
    planted: list[int] | None = None

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
        if GUARDED:
            _core.set_debug_solution(self.listed(self.k)[0].tolist())
            search(problem or self.problem(), **settings, **form)  # raises where a box loses it
            _core.set_debug_solution([])
        return search(problem or self.problem(), **settings, **form)

    @cached_property
    def exactly_summed(self) -> Plane:
        return Plane(self.x.tolist(), self.y.tolist())

    def listed(self, k: int) -> tuple[np.ndarray, float]:
        """The best subset of k points and its value; empty if none has one."""
        if self.planted is not None:
            return np.array(self.planted), self.exact(self.planted)
        subset, value = best_subset(self.x, self.y, k, self.objective.name, self.exactly_summed)
        return np.array(subset, dtype=np.int64), value

    def exact(self, subset) -> float:
        """The value of a subset, rounded once from whole numbers."""
        return self.exactly_summed.rounded_value([int(i) for i in subset], self.objective.name)

    def made_of(self, subset) -> float:
        """The scale of what cancels in the value."""
        a, b = self.exactly_summed.squares([int(i) for i in subset])
        name = self.objective.name
        if name in ("r2", "r"):
            return 1.0
        k = len(subset)
        return {"cov": math.sqrt(a) * math.sqrt(b) / k, "lts": b, "mcd": a / k * (b / k)}.get(
            name, (a + b) / k
        )

    def allowed(self, subset, value: float) -> float:
        """What `tol` means for a subset: docs/certificate.md."""
        share = max(TOL, FINEST)
        if self.objective.name in ("r2", "r"):
            return share
        if self.objective.name in ("cov", "dv"):
            return max(share * abs(value), 1e-12 * self.made_of(subset))
        fits = self.objective.name in ("lts", "mcd") and value <= 2.0**-99 * self.made_of(subset)
        return value if fits else share * abs(value)

    @cached_property
    def scale(self) -> float:
        """What tol is multiplied by: 1 for a correlation, squares of the spread otherwise."""
        sx, sy = spread(self.x), spread(self.y)
        both = max(sx, sy) * max(sx, sy)
        name = self.objective.name
        return {
            "cov": sx * sy,
            "dv": both,
            "tv": both,
            "lts": self.k * sy * sy,
            "mcd": sx * sy * (sx * sy),
        }.get(name, 1.0)

    def ahead(self, better: float, than: float) -> float:
        """By how much one value is better than another."""
        return self.objective.sense * (better - than)

    def last_digits(self, value: float, subset) -> float:
        """What a value may be off: an ulp or two, and where it cancels 2^-90 of what does."""
        return LAST_DIGITS * abs(value) + 2.0**-90 * self.made_of(subset) + STEP


def spread(column: np.ndarray) -> float:
    """Median distance from the median, or the mean one where that is zero."""
    middle = np.sort(column)[(len(column) - 1) // 2]
    distance = np.abs(column - middle)
    found = float(np.sort(distance)[(len(column) - 1) // 2]) or float(distance.mean())
    return found or 1.0


def draw(
    seed: int, number: int, patience: float = 10.0, objectives: Sequence[str] = OBJECTIVES
) -> Instance:
    rng = np.random.default_rng([seed, number])
    family = DRAWN[rng.integers(len(DRAWN))]
    objective = qs.objectives.get(objectives[rng.integers(len(objectives))])
    form = FORM_NAMES[np.searchsorted(FORM_SHARES, rng.random(), side="right")]
    planted = None
    if family in PLANTED:
        x, y, k, planted = PLANTED[family](rng, objective.name)
        form = "exactly" if form == "at_most" else form
    else:
        x, y = FAMILIES[family](rng, int(rng.integers(4, 17)))
        k = int(rng.integers(objective.min_k, len(x) + 1))
    listing = int((1, 20, 2000)[rng.integers(3)])
    return Instance(
        number=number,
        family=family,
        form=form,
        x=np.ascontiguousarray(x),
        y=np.ascontiguousarray(y),
        k=k,
        objective=objective,
        enumerate_up_to=listing,
        cells=bool(rng.random() < 0.7),
        n_jobs=2 if rng.random() < 0.05 else 1,
        patience=patience if listing >= LISTING else min(patience, BOUNDS_ALONE),
        rng=rng,
        planted=planted,
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
    require(not gap > within * (1 + 1e-12) + STEP, f"gap {gap!r} of {within!r}")
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
    found = it.search(k_or_more=True)
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
FORM_NAMES = tuple(FORMS)
FORM_SHARES = np.cumsum([0.5, 0.15, 0.1, 0.15, 0.1])


# ---- the run --------------------------------------------------------------------------------


def judge(
    seed: int, number: int, patience: float = 10.0, objectives: Sequence[str] = OBJECTIVES
) -> Verdict:
    it = draw(seed, number, patience, objectives)
    try:
        FORMS[it.form](it)
    except ValueError as refusal:
        if "powers of ten" not in str(refusal):
            raise
        return Verdict(it.family, fuzz_runs.NONE, marks=(f"refused, {it.family}",))
    except NotClosed:
        by = "with listing" if it.enumerate_up_to >= LISTING else "by bounds alone"
        return Verdict(it.family, fuzz_runs.OPEN, str(it), (f"not closed {by}, {it.family}",))
    except Wrong as wrong:
        return Verdict(it.family, fuzz_runs.WRONG, f"{it}: {wrong}")
    return Verdict(it.family, fuzz_runs.RIGHT)


def main() -> int:
    parser = fuzz_runs.parser(__doc__.splitlines()[0], instances=10_000, quick=200)
    parser.add_argument("--patience", type=float, default=10.0, help="seconds for an instance")
    parser.add_argument(
        "--objectives", nargs="+", choices=(*OBJECTIVES, "mcd"), metavar="NAME",
        help="what is asked for; mcd has a search of its own and is not among those by default",
    )  # fmt: skip
    given = parser.parse_args()
    options = {"patience": given.patience}
    if given.objectives:
        options["objectives"] = given.objectives
    return fuzz_runs.main(judge, given, chunk=500, options=options)


if __name__ == "__main__":
    sys.exit(main())

"""Audits with controls against every refit, on seeded regressions.

    python tests/fuzzing/fuzz_controls.py --instances 20000 --jobs 2 --state fuzz_controls.jsonl

Four in six have n = 8 to 14 and 0 to 3 controls, dummies and copies among them, with and without
groups and weights; the answer must be the least number. One in six has n = 12 to 16 and 5 to 8
controls; there the interval must hold the truth. The last is hostile: columns that nearly depend on
each other, on all rows or on some, offsets, scales, weights and rare dummies to match.

At these sizes an audit may try all removals of some number of rows where its proofs do not reach;
how often is counted. Every second audit must do without (``--listing always`` or ``never`` for all
of them): then the boxes and the bound for any number of controls stand alone, and the engine splits
its boxes instead of listing what is in them. With ``--listing bound`` that bound is the only
oracle.

Intervals tell which subsets may break the claim (tests/naive_intervals.py); these are refitted in
whole numbers, as tests/naive_controls.py does in fractions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import naive_controls
import naive_whole
from control_instances import CLAIMS, Instance, hostile, instance
from naive_intervals import Intervals, UnitTable, unit_table

import quadsweep as qs
from quadsweep import _core
from quadsweep.arrays import Floats, Mask
from quadsweep.auditing.oracles import choice
from quadsweep.auditing.oracles.enumeration import Enumeration
from quadsweep.auditing.oracles.regression import ManyControls

MANY, HOSTILE = 4, 5  # of six blocks of claims
SECONDS = 20.0  # for one audit
SECONDS_UNLISTED = 0.1  # for one that may stay open
SAFELY = 1e-12  # for the roundings of a comparison
AT_ONCE = 2048


def draw(seed: int, number: int) -> tuple[Instance | None, str]:
    """An audit, None where there is no coefficient to ask about, and its kind."""
    claim, block = CLAIMS[number % len(CLAIMS)], number // len(CLAIMS) % 6
    own = number if seed == 0 else (seed << 32) + number
    case: Instance | None
    if block == HOSTILE:
        return hostile(own, claim), f"{claim}, hostile"
    sizes, controls = ((12, 16), (5, 8)) if block == MANY else ((8, 14), (0, 3))
    case = instance(own, claim, sizes, controls)
    if case is not None and len(case.x) < case.controls.shape[1] + 4:
        case = None
    return case, f"{claim}, {'many' if block == MANY else 'few'} controls"


def judge(seed: int, number: int, listing: str = "half") -> Verdict:
    case, kind = draw(seed, number)
    if case is None:
        return Verdict(kind, fuzz_runs.NONE)
    alone = listing == "bound"
    boxes = (
        alone or listing == "never" or (listing == "half" and number // (6 * len(CLAIMS)) % 2 == 1)
    )
    kind += ", bound alone" if alone else ", not listed" if boxes else ""
    try:
        usual = without_listing if boxes else listings
        with bound_alone() if alone else usual() as listed:
            limit = SECONDS_UNLISTED if boxes else SECONDS
            found = qs.audit(case.x, case.y, n_jobs=1, time_limit=limit, **case.keywords)
    except ValueError:  # no coefficient, or too few rows
        return Verdict(kind, fuzz_runs.NONE)
    marks = (f"all removals tried, {kind}",) if listed else ()
    if not is_right(case, found):
        return Verdict(kind, fuzz_runs.WRONG, f"question {number}, {case}: {found}", marks)
    if not found.success:
        return Verdict(kind, fuzz_runs.OPEN, f"question {number}, {kind}: {found.message}", marks)
    return Verdict(kind, fuzz_runs.RIGHT, marks=marks)


@contextmanager
def replaced(owner: Any, **others: Any) -> Iterator[None]:
    usual = {name: getattr(owner, name) for name in others}
    for name, other in others.items():
        setattr(owner, name, other)
    try:
        yield
    finally:
        for name, own in usual.items():
            setattr(owner, name, own)


@contextmanager
def listings() -> Iterator[list[int]]:
    """Which numbers of removals are listed meanwhile."""
    listed: list[int] = []
    usual = Enumeration.decide

    def counted(self: Enumeration, fewest: int, most: int, patience: float):
        if fewest == most and self.is_feasible(most):
            listed.append(most)
        return usual(self, fewest, most, patience)

    with replaced(Enumeration, decide=counted):
        yield listed


@contextmanager
def without_listing() -> Iterator[list[int]]:
    """Audits that try no removals one by one, and boxes of which only single subsets are listed."""
    split = {
        name: partial(getattr(_core, name), enumeration_limit=1)
        for name in ("regression_partial", "regression_fit")
    }
    with replaced(Enumeration, is_feasible=lambda self, m: False), replaced(_core, **split):
        yield []


@contextmanager
def bound_alone() -> Iterator[list[int]]:
    """Audits that ask nothing but the bound for any number of controls."""
    with replaced(choice, OF_LEAST_SQUARES=(ManyControls,)):
        yield []


def is_right(case: Instance, found: qs.Audit) -> bool:
    """Whether the interval holds the truth, and a number is the least."""
    most = found.max_drop if found.upper is None else found.upper
    refits = Refits(case, found)
    truth = least_removals(case, refits, most)
    if found.upper is None:
        right = found.lower <= (most + 1 if truth is None else truth)
        return right and (truth is None or not found.success)
    right = truth is not None and found.lower <= truth <= found.upper
    right &= found.drop is None or truth == found.drop
    return right and refits.broken(np.flatnonzero(found.mask).tolist())


def least_removals(case: Instance, refits: Refits, most: int) -> int | None:
    """The fewest groups whose removal breaks the claim, up to ``most``."""
    groups = np.array(case.regression.groups)
    names = sorted(set(groups.tolist()))
    for m in range(most + 1):
        ways = combinations(names, m)
        while chunk := list(islice(ways, AT_ONCE)):
            gone = np.array(chunk, dtype=np.int64).reshape(len(chunk), m)
            kept = ~(groups[None, :, None] == gone[:, None, :]).any(axis=2)
            for rows in kept[refits.may_break(kept)]:
                if refits.broken(np.flatnonzero(rows).tolist()):
                    return m
    return None


class Refits:
    """The regression on subsets of its rows: by intervals for many, exactly for one."""

    def __init__(self, case: Instance, found: qs.Audit) -> None:
        n = len(case.x)
        self.found = found
        self.design = np.array(case.regression.controls).T
        self.targets = np.column_stack([case.x, case.y])
        self.weights = np.ones(n) if case.weights is None else case.weights
        columns = np.hstack([self.design, self.targets])
        self.table = naive_whole.Table(columns.T.tolist(), self.weights.tolist())
        self.full = self.exact(list(range(n)))
        self.critical = {f: naive_controls.critical_r(f + 2, found.level) for f in range(1, n)}

    @cached_property
    def given_controls(self) -> UnitTable:
        return unit_table(self.design, self.targets)

    @cached_property
    def about_the_mean(self) -> UnitTable:
        return unit_table(self.design[:, :1], self.targets[:, 1:])

    def exact(self, rows: list[int]) -> naive_controls.Subset:
        """naive_controls.refit, in whole numbers."""
        products, fitted = self.table.products(rows), self.table.size - 2
        left, scale, rank = naive_whole.eliminated(products, fitted)
        *_, x_unit, y_unit = self.table.units

        def in_units(value: int, scale: int, unit: int) -> Fraction:
            return Fraction(value, scale * unit * self.table.weight_unit)

        total = products[0][0] * products[-1][-1] - products[0][-1] ** 2
        return naive_controls.Subset(
            len(rows), rank,
            in_units(left[0][0], scale, x_unit**2),
            in_units(left[1][1], scale, y_unit**2),
            in_units(left[0][1], scale, x_unit * y_unit),
            in_units(total, products[0][0] or 1, y_unit**2),
        )  # fmt: skip

    def broken(self, rows: list[int]) -> bool:
        if not rows:
            return False
        found = self.found
        return naive_controls.breaks(
            self.exact(rows), self.full, found.claim, found.level, found.threshold, found.tol
        )

    def may_break(self, kept: Mask) -> Mask:
        """Of many subsets, those that may break the claim as far as intervals can tell."""
        weight = self.weights / 2.0 ** math.ceil(math.log2(self.weights.max()))
        masks = kept * weight
        given = Intervals(self.given_controls, masks)
        freedom = kept.sum(axis=1) - given.fitted - 1
        past = self.past(given, np.array([self.critical.get(int(f), 1.0) for f in freedom]))
        return given.unclear | (past & (freedom >= 1))

    def past(self, given: Intervals, limit: Floats) -> Mask:
        found, full, off = self.found, self.full, given.off
        a, b, c = given.left[0, 0], given.left[1, 1], given.left[0, 1]
        size = np.sqrt(np.maximum(a - off, 0) * np.maximum(b - off, 0)) * (1 - SAFELY)
        against = -c if full.c > 0 else c
        if found.claim == "sign":
            return against + off > 0
        if found.claim == "reverse":
            return against + off > limit * size
        if found.claim == "significance":
            at = Fraction(self.critical[full.k - full.rank - 1])
            if full.c**2 < at**2 * full.a * full.b:
                return np.abs(c) + off > limit * size
            return np.abs(c) - off < limit * np.sqrt((a + off) * (b + off)) * (1 + SAFELY)
        if found.claim == "r2":
            return self.past_r2(given)
        assert isinstance(found.threshold, tuple)
        unit = given.units[1] / given.units[0]
        past = np.zeros(len(a), dtype=bool)
        for end, sign in ((found.threshold[1], 1), (found.threshold[0], -1)):
            if math.isfinite(end):
                lean = end / unit
                loose = off * (1 + abs(lean)) + SAFELY * (np.abs(c) + abs(lean) * np.abs(a))
                past |= sign * (c - lean * a) + loose > 0
        return past

    def past_r2(self, given: Intervals) -> Mask:
        a, b, c, off = given.left[0, 0], given.left[1, 1], given.left[0, 1], given.off
        about = Intervals(self.about_the_mean, given.masks)
        total, more = about.left[0, 0], about.off
        share = (given.units[1] / about.units[0]) ** 2
        assert isinstance(self.found.threshold, float)
        room, least = 1 - self.found.threshold, np.maximum(a - off, 0)
        unknown = least <= 0
        fitted = (np.abs(c) + off) ** 2 / np.where(unknown, 1, least)
        if naive_controls.r2(self.full) < Fraction(self.found.threshold):
            lowest = np.where(unknown, 0, b - off - fitted)
            return lowest * share < (room + 2 * self.found.tol) * (total + more)
        most = b + off - np.maximum(np.abs(c) - off, 0) ** 2 / (a + off)
        return (most * share > (room - 2 * self.found.tol) * (total - more)) | about.unclear


def main() -> int:
    parser = fuzz_runs.parser(__doc__.splitlines()[0], instances=20_000, quick=60)
    parser.add_argument("--listing", choices=("half", "always", "never", "bound"), default="half")
    given = parser.parse_args()
    return fuzz_runs.main(judge, given, chunk=120, options={"listing": given.listing})


if __name__ == "__main__":
    sys.exit(main())

"""Audits against every subset, on seeded questions over all families of data, n = 6 to 14.

    python tests/fuzzing/fuzz_audit.py --instances 20000 --jobs 2 --state fuzz_audit.jsonl

A wrong answer is printed with its number, and the run ends with an error.

Every subset is tried in floating point, and those within 1e-6 of a threshold once more in rational
arithmetic (tests/naive_audit.py).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import naive_audit
from audit_instances import CLAIMS, Instance, instance
from naive_whole import Plane

import quadsweep as qs

Floats = NDArray[np.float64]
Sums = Callable[[int, Floats, Floats, Floats], Floats]

NEAR = 1e-6


def judge(seed: int, number: int) -> Verdict:
    """Wrong, or open where the audit says that it does not know."""
    claim = CLAIMS[number % len(CLAIMS)]
    drawn = number // len(CLAIMS)
    case = instance(drawn if seed == 0 else (seed << 32) + drawn, claim, sizes=(6, 14))
    if case is None:
        return Verdict("no slope", fuzz_runs.NONE)
    found = qs.audit(case.x, case.y, n_jobs=1, **case.arguments)
    marks = (f"compared, {claim}",)
    what = f"question {number}, {case}: {found.message}"
    if not is_right(case, found):
        return Verdict(case.family, fuzz_runs.WRONG, what, marks)
    outcome = fuzz_runs.RIGHT if found.success else fuzz_runs.OPEN
    return Verdict(case.family, outcome, what, marks)


def is_right(case: Instance, found: qs.Audit) -> bool:
    x, y, n = case.x, case.y, len(case.x)
    condition = naive_audit.broken(found.claim, x, y, found.level, found.threshold, found.tol)
    least = least_removals(case, condition)
    upper = n - 2 if found.upper is None else found.upper
    if not found.lower <= (n - 2 if least is None else least) <= upper:
        return False
    if found.upper is not None:
        kept = np.flatnonzero(found.mask).tolist()
        if not naive_audit.breaks(x, y, kept, condition):
            return False
    return not found.success or found.drop == least


def least_removals(case: Instance, condition: naive_audit.Broken) -> int | None:
    n, excess = len(case.x), distance_past(case)
    exact = Plane(case.x.tolist(), case.y.tolist())
    for m in range(n - 2):
        kept = np.array(list(combinations(range(n), n - m)))
        u, w = case.x[kept], case.y[kept]
        for _ in range(2):
            u, w = u - u.mean(axis=1, keepdims=True), w - w.mean(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            past = excess(n - m, (u * u).sum(axis=1), (w * w).sum(axis=1), (u * w).sum(axis=1))
        if np.any(past > NEAR):
            return m
        near = kept[~(past < -NEAR)]
        if any(condition(n - m, *exact_sums(exact, rows.tolist())) for rows in near):
            return m
    return None


def exact_sums(exact: Plane, rows: list[int]) -> tuple[Fraction, Fraction, Fraction]:
    """a, b, c of naive.centred_sums, from whole numbers."""
    (a, b, c), k, u, v = exact.sums(rows), len(rows), exact.x_unit, exact.y_unit
    return Fraction(a, k * u * u), Fraction(b, k * v * v), Fraction(c, k * u * v)


def distance_past(case: Instance) -> Sums:
    """How far past its threshold the statistic is, about; NaN where undefined."""
    terms, full = case.arguments, float(np.corrcoef(case.x, case.y)[0, 1])
    claim, level, threshold = terms["claim"], terms["level"], terms.get("threshold")
    way = math.copysign(1, full)

    def critical(k: int) -> float:
        return naive_audit.critical_r(k, level)

    def r(a: Floats, b: Floats, c: Floats) -> Floats:
        return c / np.sqrt(a) / np.sqrt(b)

    if claim == "sign":
        return lambda k, a, b, c: -way * r(a, b, c)
    if claim == "reverse":
        return lambda k, a, b, c: -way * r(a, b, c) - critical(k)
    if claim == "significance":
        sense = -1 if abs(full) >= critical(len(case.x)) else 1
        return lambda k, a, b, c: sense * (np.abs(r(a, b, c)) - critical(k))
    if claim == "r2":
        sense = -1 if full**2 >= threshold else 1
        return lambda k, a, b, c: sense * (r(a, b, c) ** 2 - threshold)
    return lambda k, a, b, c: past_an_end(threshold, a, b, c)


def past_an_end(ends: Any, a: Floats, b: Floats, c: Floats) -> Floats:
    past = [(c - ends[1] * a), (ends[0] * a - c)]
    scale = np.sqrt(a) * np.sqrt(b)
    return np.max(
        [
            d / (scale + abs(end) * a)
            for d, end in zip(past, (ends[1], ends[0]), strict=True)
            if math.isfinite(end)
        ],
        axis=0,
    )


def main() -> int:
    parser = fuzz_runs.parser(__doc__.splitlines()[0], instances=20_000, quick=100)
    return fuzz_runs.main(judge, parser.parse_args(), chunk=100, options={})


if __name__ == "__main__":
    sys.exit(main())

"""Audits against every subset, on seeded questions over all families of data, n = 6 to 14.

    python benchmarks/fuzz_audit.py [--instances 20000] [--out fuzz_audit.jsonl]

Every question has its number, and every finished hundred is written down at once: started again
with the same file, the run goes on where it stopped. A wrong answer is printed with its number and
the run ends with an error.

Every subset is tried in floating point, and those within 1e-6 of a threshold once more in rational
arithmetic (tests/naive_audit.py).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import naive_audit
from audit_instances import CLAIMS, Instance, instance

import quadsweep as qs

Floats = NDArray[np.float64]
Sums = Callable[[int, Floats, Floats, Floats], Floats]

CHUNK = 100
NEAR = 1e-6
TOL = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("fuzz_audit.jsonl"))
    parser.add_argument("--quick", action="store_true", help="one chunk, and nothing kept")
    options = parser.parse_args()
    if options.quick:
        options.instances, options.out = CHUNK, Path(os.devnull)
    chunks = -(-options.instances // CHUNK)
    done = {} if options.quick else read(options.out)
    for chunk in range(chunks):
        if chunk not in done:
            done[chunk] = run(chunk)
            with options.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"chunk": chunk, **done[chunk]}) + "\n")
            if sys.stderr.isatty():
                print(f"\r{len(done)} of {chunks} chunks", end="", file=sys.stderr, flush=True)
    total: Counter[str] = Counter()
    for chunk in range(chunks):
        total.update(done[chunk])
    print()
    for name, count in sorted(total.items()):
        print(f"{name:<24}{count:>8,}")
    sys.exit(1 if total["wrong"] or total["open"] else 0)


def read(path: Path) -> dict[int, dict[str, int]]:
    """Finished chunks; a line cut short by a kill is not one."""
    done = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            chunk = json.loads(line)
        except json.JSONDecodeError:
            continue
        done[chunk.pop("chunk")] = chunk
    return done


def run(chunk: int) -> dict[str, int]:
    tally: Counter[str] = Counter(compared=0, wrong=0, open=0, no_slope=0)
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        claim = CLAIMS[number % len(CLAIMS)]
        case = instance(number // len(CLAIMS), claim, sizes=(6, 14))
        if case is None:
            tally["no_slope"] += 1
            continue
        tally["compared"] += 1
        tally[f"compared, {claim}"] += 1
        verdict = judge(case)
        if verdict != "right":
            tally[verdict] += 1
            print(f"\n{verdict}: question {number}, {case}", file=sys.stderr)
    return dict(tally)


def judge(case: Instance) -> str:
    """right, wrong, or open where the audit says that it does not know."""
    x, y, n = case.x, case.y, len(case.x)
    found = qs.audit(x, y, n_jobs=1, **case.arguments)
    condition = naive_audit.broken(found.claim, x, y, found.level, found.threshold, found.tol)
    least = least_removals(case, condition)
    upper = n - 2 if found.upper is None else found.upper
    if not found.lower <= (n - 2 if least is None else least) <= upper:
        return "wrong"
    if found.upper is not None:
        kept = np.flatnonzero(found.mask).tolist()
        if not naive_audit.breaks(x, y, kept, condition):
            return "wrong"
    if not found.success:
        return "open"
    return "right" if found.drop == least else "wrong"


def least_removals(case: Instance, condition: naive_audit.Broken) -> int | None:
    n, excess = len(case.x), distance_past(case)
    whole = whole_numbers(case.x), whole_numbers(case.y)
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
        if any(condition(n - m, *exact_sums(whole, rows.tolist())) for rows in near):
            return m
    return None


def whole_numbers(column: Floats) -> tuple[list[int], int]:
    """The column times the least common denominator of its values, and that denominator."""
    exact = [Fraction(v) for v in column.tolist()]
    common = math.lcm(*(v.denominator for v in exact))
    return [int(v * common) for v in exact], common


def exact_sums(
    whole: tuple[tuple[list[int], int], tuple[list[int], int]], rows: list[int]
) -> tuple[Fraction, Fraction, Fraction]:
    """a, b, c of naive.centred_sums, from whole numbers."""
    (xs, dx), (ys, dy) = whole
    u, w, k = [xs[i] for i in rows], [ys[i] for i in rows], len(rows)
    su, sw = sum(u), sum(w)
    return (
        Fraction(k * sum(v * v for v in u) - su * su, k * dx * dx),
        Fraction(k * sum(v * v for v in w) - sw * sw, k * dy * dy),
        Fraction(k * sum(v * z for v, z in zip(u, w, strict=True)) - su * sw, k * dx * dy),
    )


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


if __name__ == "__main__":
    main()

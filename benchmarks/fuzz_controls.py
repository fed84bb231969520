"""Audits with controls against every refit, on seeded regressions.

    python benchmarks/fuzz_controls.py [--instances 20000] [--out fuzz_controls.jsonl]

Three in four have n = 8 to 14 and 0 to 3 controls, dummies and copies among them, with and without
groups and weights; the answer must be the least number. One in four has n = 12 to 16 and 5 to 8
controls; there the interval must hold the truth. Every finished hundred is written down at once:
started again with the same file, the run goes on where it stopped. A wrong answer is printed with
its number and the run ends with an error.

Every subset is refitted in floating point, and those within 1e-6 of a threshold, or on which the
controls are nearly dependent, once more in rational arithmetic (as tests/naive_controls.py does,
but from whole numbers).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

import json

import naive_controls
from control_instances import CLAIMS, Instance, instance
from fuzz_audit import CHUNK, read

import quadsweep as qs
from quadsweep.arrays import Floats, Mask

NEAR = 1e-6
_DENOMINATOR = 1024
MANY = 3  # of four instances, the last has many controls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("fuzz_controls.jsonl"))
    parser.add_argument("--part", default="0/1", help="every j-th chunk from the i-th: i/j")
    parser.add_argument("--quick", action="store_true", help="a few, and nothing kept")
    options = parser.parse_args()
    chunks = range(-(-options.instances // CHUNK))
    if options.quick:
        options.out, chunks = Path(os.devnull), range(1)
    first, step = (int(part) for part in options.part.split("/"))
    done = {} if options.quick else read(options.out)
    for chunk in chunks[first::step]:
        if chunk not in done:
            done[chunk] = run(chunk, 20 if options.quick else CHUNK)
            with options.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"chunk": chunk, **done[chunk]}) + "\n")
    total: Counter[str] = Counter()
    for chunk in done:
        total.update(done[chunk])
    for name, count in sorted(total.items()):
        print(f"{name:<32}{count:>8,}")
    sys.exit(1 if total["wrong"] else 0)


def run(chunk: int, size: int) -> dict[str, int]:
    tally: Counter[str] = Counter(compared=0, wrong=0, open=0, no_coefficient=0)
    for number in range(chunk * CHUNK, chunk * CHUNK + size):
        claim = CLAIMS[number % len(CLAIMS)]
        many = number // len(CLAIMS) % 4 == MANY
        case = (
            instance(number, claim, sizes=(12, 16), controls=(5, 8))
            if many
            else instance(number, claim, sizes=(8, 14), controls=(0, 3))
        )
        if case is None or len(case.x) < case.controls.shape[1] + 4:
            tally["no_coefficient"] += 1
            continue
        verdict = judge(case)
        tally["compared"] += 1
        tally[f"compared, {claim}"] += 1
        tally["compared, many controls" if many else "compared, few controls"] += 1
        if verdict != "right":
            tally[verdict] += 1
            if verdict == "open":
                tally[f"open, {'many' if many else 'few'} controls"] += 1
            else:
                print(f"{verdict}: question {number}, {case}", file=sys.stderr)
    return dict(tally)


def judge(case: Instance) -> str:
    """right, wrong, or open where the audit gives an interval."""
    found = qs.audit(case.x, case.y, n_jobs=1, **case.keywords)
    data = case.regression
    last = found.max_drop
    most = last if found.upper is None else found.upper
    truth = least_removals(case, found, most)
    if found.upper is None:
        right = found.lower <= (last + 1 if truth is None else truth)
        right &= truth is None or not found.success
    else:
        right = truth is not None and found.lower <= truth <= found.upper
        right &= found.drop is None or truth == found.drop
        kept = np.flatnonzero(found.mask).tolist()
        right &= naive_controls.breaks(
            naive_controls.refit(data, kept),
            naive_controls.refit(data, range(len(case.x))),
            found.claim, found.level, found.threshold, found.tol,
        )  # fmt: skip
    if not right:
        return "wrong"
    return "right" if found.success else "open"


def least_removals(case: Instance, found: qs.Audit, most: int) -> int | None:
    """The fewest groups whose removal breaks the claim, up to ``most``."""
    data = case.regression
    n, names = len(case.x), sorted(set(data.groups))
    groups = np.array(data.groups)
    full = naive_controls.refit(data, range(n))
    near = Near(case, found, full)
    for m in range(most + 1):
        ways = combinations(names, m)
        while chunk := list(islice(ways, 2048)):
            gone = np.array(chunk, dtype=np.int64).reshape(len(chunk), m)
            kept = ~(groups[None, :, None] == gone[:, None, :]).any(axis=2)
            for rows in kept[near(kept)]:
                subset = near.exact(np.flatnonzero(rows).tolist())
                if naive_controls.breaks(
                    subset, full, found.claim, found.level, found.threshold, found.tol
                ):
                    return m
    return None


def whole(values: Floats) -> list[int]:
    """The column times a common denominator."""
    scaled = values * _DENOMINATOR
    assert np.all(scaled == np.rint(scaled))
    return [int(v) for v in scaled]


def independent(columns: Floats) -> Floats:
    """Without columns that those before them explain."""
    kept: list[int] = []
    for j in range(columns.shape[1]):
        if np.linalg.matrix_rank(columns[:, [*kept, j]]) > len(kept):
            kept.append(j)
    return columns[:, kept]


class Near:
    """Of many subsets at once, which may break the claim as far as floating point can tell."""

    def __init__(self, case: Instance, found: qs.Audit, full: naive_controls.Subset) -> None:
        n = len(case.x)
        root = np.ones(n) if case.weights is None else np.sqrt(case.weights)
        self.ones = root
        self.y = root * case.y
        controls = independent(np.column_stack([np.ones(n), case.controls]))
        columns = np.column_stack([controls, case.x, case.y]) * root[:, None]
        scale = np.sqrt((columns**2).sum(axis=0))
        self.columns = columns / np.where(scale > 0, scale, 1)
        self.unit = scale[-1] / scale[-2]  # of a slope
        self.found, self.full = found, full
        self.critical = {f: naive_controls.critical_r(f + 2, found.level) for f in range(1, n)}

        self.whole = [whole(v) for v in (np.ones(n), *case.controls.T, case.x, case.y)]
        self.weights = whole(np.ones(n) if case.weights is None else case.weights)

    def exact(self, rows: list[int]) -> naive_controls.Subset:
        """naive_controls.refit by eliminating the controls from a Gram matrix of whole numbers."""
        picked = [[v[i] for i in rows] for v in self.whole]
        w = [self.weights[i] for i in rows]
        size = len(picked)
        g = [
            [Fraction(sum(a * b * c for a, b, c in zip(u, v, w, strict=True))) for v in picked]
            for u in picked
        ]
        given = [g[j][j] for j in range(size)]
        total = g[-1][-1] - g[0][-1] ** 2 / g[0][0] if g[0][0] else g[-1][-1]
        rank = 0
        for j in range(size - 2):
            if g[j][j] * 10**40 <= given[j]:
                continue
            rank += 1
            for i in range(j + 1, size):
                factor = g[i][j] / g[j][j]
                if factor:
                    for k in range(j + 1, size):
                        g[i][k] -= factor * g[j][k]
        a, b, c = (
            value if g[j][j] * 10**40 > given[j] and g[i][i] * 10**40 > given[i] else Fraction(0)
            for value, i, j in ((g[-2][-2], -2, -2), (g[-1][-1], -1, -1), (g[-2][-1], -2, -1))
        )
        unit = Fraction(1, _DENOMINATOR)
        return naive_controls.Subset(
            len(rows), rank, a * unit**3, b * unit**3, c * unit**3, total * unit**3
        )

    def __call__(self, kept: Mask) -> Mask:
        masked = self.columns[None] * kept[:, :, None]
        gram = masked.transpose(0, 2, 1) @ masked
        q = gram.shape[1] - 2
        inner = gram[:, :q, :q]
        fine = np.linalg.eigvalsh(inner)[:, 0] > 1e-5
        may = ~fine
        inner = inner[fine]
        rest = gram[fine][:, q:, q:] - gram[fine][:, q:, :q] @ np.linalg.solve(
            inner, gram[fine][:, :q, q:]
        )
        a, b, c = rest[:, 0, 0], rest[:, 1, 1], rest[:, 0, 1]
        k = kept[fine].sum(axis=1)
        freedom = k - q - 1
        good = (a > 1e-5) & (b > 1e-5)
        with np.errstate(divide="ignore", invalid="ignore"):
            past = self.excess(a, b, c, freedom, kept[fine])
        may[fine] = np.where(good, ~(past < -NEAR), True) & (freedom >= 1)
        return may

    def excess(self, a: Floats, b: Floats, c: Floats, freedom: Any, kept: Mask) -> Floats:
        found, full = self.found, self.full
        way = 1 if full.c > 0 else -1
        r = c / np.sqrt(a * b)
        limit = np.array([self.critical.get(int(f), 1.0) for f in freedom])
        if found.claim == "sign":
            return np.asarray(-way * r)
        if found.claim == "reverse":
            return np.asarray(-way * r - limit)
        if found.claim == "significance":
            at = self.critical[full.k - full.rank - 1]
            lost = float(full.c**2) >= at**2 * float(full.a * full.b) * (1 - 1e-12)
            return np.asarray((1 if not lost else -1) * (np.abs(r) - limit))
        if found.claim == "r2":
            y, ones = self.y[None] * kept, self.ones[None] * kept
            mean = (y * ones).sum(axis=1) / (ones**2).sum(axis=1)
            total = ((y - mean[:, None] * ones) ** 2).sum(axis=1)
            scale = float(self.y @ self.y)
            r2 = 1 - (b - c * c / a) * scale / total
            assert isinstance(found.threshold, float)
            sense = 1 if float(naive_controls.r2(full)) < found.threshold else -1
            return np.asarray(np.where(total > 1e-9 * scale, sense * (r2 - found.threshold), 1.0))
        assert isinstance(found.threshold, tuple)
        past = np.full(len(a), -np.inf)
        for end, sign in ((found.threshold[1], 1), (found.threshold[0], -1)):
            if math.isfinite(end):
                lean = end / self.unit
                past = np.maximum(
                    past,
                    sign * (c - lean * a) / (np.sqrt(a * b) + abs(lean) * a),
                )
        return past


if __name__ == "__main__":
    main()

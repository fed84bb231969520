"""The search around scores against every removal of small instances, at the edge of the truth.

    python tests/fuzzing/fuzz_scores.py [instances] [--seed N]

Half of the instances are panels with effects; clusters empty, units have one row or go as a whole,
rows have weights. The extreme of C / |S| over all removals is found by projections, row by row; a
threshold just past it must not be refuted, one just before it should be.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from quadsweep import _core

EDGE = 1e-6  # of the threshold


@dataclass(frozen=True)
class Instance:
    """Rows in the order of their items, units and clusters."""

    z: np.ndarray  # controls, without the units' effects
    x: np.ndarray
    y: np.ndarray
    root: np.ndarray  # of the weights
    item: np.ndarray
    unit: np.ndarray
    cluster: np.ndarray  # whole units, or inside of an item
    effects: bool
    exponent: float
    gained: bool
    most: int
    most_sets: float  # of a unit's items, before they are looked at singly


def instance(seed: int) -> Instance:
    """A small regression of one of the kinds that the search knows."""
    rng = np.random.default_rng([seed, 51])
    panel = seed % 2 == 1
    if panel:
        sizes = rng.integers(1, 6, size=rng.integers(4, 7))
        if rng.random() < 0.3:
            sizes = rng.integers(6, 10, size=rng.integers(2, 4))
        unit = np.repeat(np.arange(len(sizes)), sizes)
        cluster = unit // 2 if rng.random() < 0.35 else unit
        item = np.arange(len(unit))
    else:
        n = int(rng.integers(12, 20))
        kind = rng.integers(4)
        item = unit = np.arange(n)
        cluster = unit
        if kind == 1:
            cluster = np.sort(rng.integers(0, 5, n))
        if kind == 2:
            item = unit = cluster = np.sort(rng.integers(0, 8, n))
            if rng.random() < 0.5:
                cluster = 2 * item + (np.arange(n) % 3 == 0)
                cluster = cluster if rng.random() < 0.5 else np.arange(n)
                order = np.lexsort((cluster, item))
                item, cluster = item[order], cluster[order]
                unit = item
    n = len(unit)
    numbered = [np.unique(v, return_inverse=True)[1] for v in (item, unit, cluster)]
    q = int(rng.integers(0, 3))
    z = rng.standard_t(3, (n, q)) if rng.random() < 0.3 else rng.normal(size=(n, q))
    if q and rng.random() < 0.3:
        z[:, 0] = rng.random(n) < 0.4
    x = rng.normal(size=n) + 0.4 * z.sum(axis=1)
    if panel:
        x += rng.normal(size=unit.max() + 1)[unit]
    elif rng.random() < 0.9:
        z = np.column_stack([np.ones(n), z])
    if rng.random() < 0.2:
        x = (x > np.median(x)).astype(float)
    if rng.random() < 0.2:
        x[rng.integers(n)] *= 4
    gained = bool(rng.random() < 0.35)
    slope = rng.uniform(-0.2, 0.3) if gained else rng.uniform(0.3, 3)
    spread = 0.4 + abs(x) * (rng.random() < 0.3)
    y = slope * x + z.sum(axis=1) + rng.standard_t(4, n) * spread
    if panel:
        y += 2 * rng.normal(size=unit.max() + 1)[unit]
        y += rng.normal(size=cluster.max() + 1)[cluster] * x * 0.5
    weighted = rng.random() < 0.25
    root = np.sqrt(rng.uniform(0.2, 3, n)) if weighted else np.ones(n)
    by_row = len(np.unique(numbered[2])) == n and not panel
    exponent = float(rng.choice([0.0, 0.5, 1.0])) if by_row else 0.0
    most = int(rng.integers(1, 4 if n < 16 else 3))
    most_sets = float(rng.choice([1.0, 4.0, 100.0]))
    return Instance(z, x, y, root, *numbered, panel, exponent, gained, most, most_sets)


def ratios(case: Instance, kept: np.ndarray) -> np.ndarray:
    """C / |S| of each of these sets of rows, NaN where it has none: by projections."""
    columns = case.z
    if case.effects:
        columns = np.column_stack([columns, case.unit[:, None] == np.arange(case.unit.max() + 1)])
    columns = case.root[:, None] * columns
    z = columns[kept]
    x, y = (case.root * case.x)[kept], (case.root * case.y)[kept]
    basis, values, _ = np.linalg.svd(z, full_matrices=False)
    present = values > 1e-9 * np.linalg.norm(columns)
    basis = basis * present[:, None, :]

    def without(of: np.ndarray, v: np.ndarray) -> np.ndarray:
        return v - np.einsum("sij,sj->si", of, np.einsum("sij,si->sj", of, v))

    u, w = without(basis, x), without(basis, y)
    a = (u * u).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        e = w - ((u * w).sum(axis=1) / a)[:, None] * u
        score = u * e
        if case.exponent:
            left = 1 - (basis**2).sum(axis=2) - u * u / a[:, None]
            score = np.where(left > 1e-10, score / left**case.exponent, 0.0)
        g = case.cluster[kept]
        square = sum((score * (g == c)).sum(axis=1) ** 2 for c in range(case.cluster.max() + 1))
        c = (u * w).sum(axis=1)
        ratio = c / np.sqrt(square)
    unclear = (a < 1e-9 * ((case.root * case.x) ** 2).sum()) | (square < 1e-18)
    return np.where(unclear, np.nan, ratio)


def truth(case: Instance) -> tuple[float, float]:
    """C / |S| on all rows, and its extreme over all removals of up to ``most`` items."""
    n, items = len(case.x), case.item.max() + 1
    worst = float(ratios(case, np.arange(n)[None])[0])
    start = worst
    by_size: dict[int, list[np.ndarray]] = {}
    for m in range(1, case.most + 1):
        for gone in itertools.combinations(range(items), m):
            kept = np.flatnonzero(~np.isin(case.item, gone))
            by_size.setdefault(len(kept), []).append(kept)
    for size, sets in by_size.items():
        if size < 3:
            continue
        found = ratios(case, np.array(sets))
        found = found[np.isfinite(found)]
        if len(found):
            worst = max(worst, found.max()) if case.gained else min(worst, found.min())
    return start, float(worst)


def first(labels: np.ndarray) -> list[int]:
    """Where runs of labels begin, and the end."""
    return [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]


def parts(case: Instance) -> tuple[np.ndarray, np.ndarray, list[list[int]]] | None:
    """Columns, effects, and where items, units, clusters and parts of items begin; None where
    columns depend on each other."""
    columns = np.column_stack([case.z, case.x, case.y]) * case.root[:, None]
    if case.effects:
        for u in range(case.unit.max() + 1):
            rows, r = case.unit == u, case.root
            mean = r[rows] @ columns[rows] / (r[rows] @ r[rows])
            columns[rows] -= r[rows, None] * mean
    values = np.linalg.svd(columns[:, :-1] / (np.linalg.norm(columns[:, :-1], axis=0) + 1e-300))[1]
    if values[-1] < 1e-6 or len(columns) < columns.shape[1]:
        return None
    z = np.linalg.qr(columns[:, :-2])[0]
    left = columns[:, -2:] - z @ (z.T @ columns[:, -2:])
    left /= np.linalg.norm(left, axis=0)
    items, units = first(case.item), first(case.unit)
    clusters, inside = first(case.cluster), []
    if not case.effects and set(items) <= set(clusters):
        clusters, inside = units, clusters
    firsts = [
        items,
        np.searchsorted(np.array(items), units).tolist(),
        np.searchsorted(np.array(units), clusters).tolist(),
        inside,
    ]
    effect = case.root if case.effects else np.zeros(len(case.x))
    return np.ascontiguousarray(np.column_stack([z, left])), effect, firsts


def score_test(case: Instance) -> _core.ScoreTest | None:
    """The instance as the compiled half wants it."""
    found = parts(case)
    if found is None:
        return None
    columns, effect, (items, units, clusters, inside) = found
    return _core.ScoreTest(
        columns, effect, item_first=items, unit_first=units, cluster_first=clusters,
        part_first=inside,
        exponent=case.exponent, gained=case.gained, error=1e-15, most_sets=case.most_sets,
    )  # fmt: skip


def check(seed: int, seconds: float = 20.0) -> str:
    """What became of one instance: ``exact``, ``open``, ``none``; or ``wrong`` and why."""
    case = instance(seed)
    if len(np.unique(case.item)) <= case.most:
        return "none"
    test = score_test(case)
    start, worst = truth(case) if test is not None else (np.nan, np.nan)
    if test is None or not np.isfinite(start) or worst <= 0.02 or (not case.gained and start <= 0):
        return "none"
    side = 1 if case.gained else -1
    past, before = worst * (1 - side * EDGE), worst * (1 + side * EDGE)
    found = _core.decide_scores(test, case.most, past, time_limit=seconds)
    if found["complete"] and not found["unclear"]:
        return f"wrong: {case.most} items at {past!r} are refuted, and the truth is {worst!r}"
    gone = found["breaking"]
    if gone:
        kept = np.flatnonzero(~np.isin(case.item, gone))
        ratio = ratios(case, kept[None])[0]
        if np.isfinite(ratio) and (side * ratio < side * past - 1e-7 * abs(past)):
            return f"wrong: {gone} has {ratio!r}, not past {past!r}"
    proved = _core.decide_scores(test, case.most, before, time_limit=seconds)
    if proved["breaking"]:
        ratio = ratios(case, np.flatnonzero(~np.isin(case.item, proved["breaking"]))[None])[0]
        if np.isfinite(ratio):
            return f"wrong: {proved['breaking']} has {ratio!r}, not past {before!r}"
    return "exact" if proved["complete"] and gone else "open"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instances", type=int, nargs="?", default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_const", const=40, dest="instances")
    given = parser.parse_args()
    begin, counts = time.perf_counter(), Counter[str]()
    for seed in range(given.seed, given.seed + given.instances):
        said = check(seed)
        counts[said.split(":")[0]] += 1
        if said.startswith("wrong"):
            print(f"seed {seed}: {said}", flush=True)
    print(f"{dict(counts)} in {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()

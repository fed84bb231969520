"""The answers of every search, bit for bit as they were.

A change that is not meant to change a search must leave every value, bound, status and subset of
these instances as it is; how many nodes it takes is for benchmarks. They are the fuzzers' families
and forms of the question, small and large enough for the tree of moments, on one thread; none is
stopped by a clock.

    python tests/fuzzing/golden.py                   # compares, exit code 1 where anything differs
    python tests/fuzzing/golden.py --isa avx2
    python tests/fuzzing/golden.py --write regression   # after a change that is meant to change it

The records are of x86-64 on Linux, compiled by GCC. Wider registers add up in another order, which
moves nodes and none of what is recorded. Where another C library draws other data, the digests of
the data say so.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fuzz
import numpy as np

import quadsweep as qs
from quadsweep import _core
from quadsweep.outofcore.work import empty_table
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from families_several import FAMILIES as REGRESSIONS

RECORDS = Path(__file__).with_name("golden_records")
SLOWEST = 0.5  # seconds: what takes longer is left out of the record
PATIENCE = 60.0  # seconds: what takes longer has changed
WITH_TREE = ("uniform", "normal", "crossing_lines", "one_decimal", "clustered")
FORMS = ("exactly", "exactly", "exactly", "at_most", "above", "warm")
STATUS = ("optimal", "heuristic")
FIELDS = ("data", "value", "bound", "status", "rows")
TYPES = ("u4", "f8", "f8", "u1", "u4")

Row = tuple[float | int, ...]
EVERY_LEAF = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Instance:
    """A question to a search, with its data; `ask` takes the seconds that it may take."""

    label: str
    data: tuple[np.ndarray | int, ...]
    ask: Callable[[float], tuple[float, float, str, tuple[np.ndarray, ...]] | None]

    def answer(self, patience: float) -> Row | None:
        """One row of the record; None if refused, or without a proof in `patience` seconds."""
        try:
            found = self.ask(patience)
        except ValueError as refusal:
            if "powers of ten" in str(refusal):
                return None
            raise
        if found is None or found[2] == "time_limit":
            return None
        value, bound, status, rows = found
        kept = b"".join(np.asarray(part).astype(np.int64).tobytes() for part in rows)
        parts = (p % 256 if isinstance(p, int) else p for p in self.data)
        data = b"".join(bytes([p]) if isinstance(p, int) else p.tobytes() for p in parts)
        return (
            zlib.crc32(data), value, bound, STATUS.index(status), zlib.crc32(kept),
        )  # fmt: skip


# ---- the plane, and the determinant of a covariance matrix ----------------------------------


def in_the_plane(number: int, families: list[str]) -> Instance:
    rng = np.random.default_rng([20261116, number])
    large = number >= SEARCHES["plane"].small
    names = list(WITH_TREE) if large else families
    family = names[number % len(names)]
    n = int(rng.choice([600, 1500, 4000])) if large else int(rng.integers(4, 25))
    x, y = fuzz.FAMILIES[family](rng, n)
    objective = qs.objectives.get(fuzz.OBJECTIVES[number // len(names) % 6])
    return planar(number, family, rng, x, y, objective, large)


def determinants(number: int, families: list[str]) -> Instance:
    rng = np.random.default_rng([20261117, number])
    large = number >= SEARCHES["mcd"].small
    names = list(WITH_TREE) if large else families
    family = names[number % len(names)]
    x, y = fuzz.FAMILIES[family](rng, int(rng.integers(40, 80) if large else rng.integers(4, 15)))
    return planar(number, family, rng, x, y, qs.objectives.get("mcd"), large)


def planar(
    number: int,
    family: str,
    rng: np.random.Generator,
    x: np.ndarray,
    y: np.ndarray,
    objective: qs.objectives.Objective,
    large: bool,
) -> Instance:
    least = max(objective.min_k, len(x) // 20)
    if large and objective.name == "mcd":
        least = 9 * len(x) // 10
    form = FORMS[rng.integers(len(FORMS))]
    k = int(rng.integers(least, len(x) + 1))
    problem = Problem(np.ascontiguousarray(x), np.ascontiguousarray(y), k, objective)
    settings: dict[str, Any] = {} if large else {
        "enumerate_up_to": int((1, 20, 200)[rng.integers(3)]),
        "cells": bool(rng.random() < 0.7),
    }  # fmt: skip
    if form == "at_most":
        settings["k_or_more"] = True
    elif form == "warm":
        settings["starts"] = [np.sort(rng.permutation(len(x))[:k])]
    side = rng.choice([-1e-3, 1e-3]) if form == "above" else 0.0

    def ask(patience: float) -> tuple[float, float, str, tuple[np.ndarray, ...]] | None:
        limited, asked = replace(problem, time_limit=patience), dict(settings)
        if form == "above":
            known = search(limited, **asked)
            if known.status == "time_limit":
                return None
            asked["above"] = (0.0 if math.isnan(known.value) else known.value) * (1 + side)
        found = search(limited, **asked)
        return found.value, found.bound, found.status, (found.inliers,)

    label = f"{number}: {form} {objective.name}, {family} n={len(x)} k={k} {settings}"
    return Instance(label, (problem.x, problem.y, k), ask)


# ---- multiple regression ---------------------------------------------------------------------


def regressions(number: int, families: list[str]) -> Instance:
    """R2, lts and partial correlations: rows or groups, k or more, weights, a tree of cells."""
    rng = np.random.default_rng([20261118, number])
    large = number >= SEARCHES["regression"].small
    question = ("r2", "lts", "partial")[number % 3]
    family = "plane" if large else families[number // 3 % len(families)]
    p = 2 if large else int(rng.integers(1 if question == "partial" else 2, 4))
    n = int(rng.integers(150, 900)) if large else int(rng.integers(p + 5, 16))
    x, y = REGRESSIONS[family](rng, n, p)
    groups = rng.permutation(np.arange(n) // 2) if not large and rng.random() < 0.2 else None
    units = n if groups is None else (n + 1) // 2
    least = 9 * n // 10 if large else min(p + 2, units)
    k = int(rng.integers(least, units + 1))
    asked: dict[str, Any] = {
        "k_or_more": bool(rng.random() < 0.25),
        "groups": groups,
        "weights": rng.uniform(0.5, 2, n) if rng.random() < 0.2 else None,
        "enumeration_limit": int((2, 20, 200)[rng.integers(3)]),
        "tree_from": int((1, 4096)[rng.integers(2)]) if not large else 64,
    }
    t = float(rng.choice([0, 0.3, -0.3, 0.9, 0.997]))
    side = str(rng.choice(["above", "below"]))
    near = float(rng.choice([0.5, 0.9, 1.1])) if rng.random() < 0.2 else None

    def ask(patience: float) -> tuple[float, float, str, tuple[np.ndarray, ...]]:
        limited = {**asked, "time_limit": patience}
        if question == "partial":
            z = np.hstack([np.ones((n, 1)), x[:, :-1]])
            last = np.ascontiguousarray(x[:, -1])
            found = _core.regression_partial(last, y, z, k, side=side, t=t, **limited)
        else:
            whole = float(np.var(y)) * (1 if question == "r2" else n)
            above = None if near is None else near * (0.7 if question == "r2" else whole / 2)
            found = _core.regression_fit(x, y, k, objective=question, above=above, **limited)
        rows = (found["inliers"], np.array([found["decided"]]))
        return found["value"], found["bound"], found["status"], rows

    shown = {name: value for name, value in asked.items() if name not in ("groups", "weights")}
    label = f"{number}: {question} {family} n={n} columns={p} k={k} {side} {t} {near} {shown}"
    return Instance(label, (np.ascontiguousarray(x), y, k), ask)


# ---- rows that are not in memory ---------------------------------------------------------------


def out_of_core(number: int, families: list[str]) -> Instance:
    """Leaves of a partition, some of them loaded; the best, a threshold, or the starts alone."""
    rng = np.random.default_rng([20261119, number])
    family = families[number % len(families)]
    n = int(rng.integers(20, 600))
    x, y = fuzz.FAMILIES[family](rng, n)
    n = len(x)
    scale = max(float(np.abs(x).max()), float(np.abs(y).max()))
    exponent = math.frexp(scale)[1] if 0 < scale < math.inf else 0
    placing = (0.0, 0.0, exponent, exponent, 0.0)
    objective = fuzz.OBJECTIVES[number // len(families) % 6]
    k = int(rng.integers(min(max(5, n // 4), n), n + 1))
    partition = _core.Partition(placing, x[::2].copy(), y[::2].copy(), int(rng.integers(4, 64)))
    table = empty_table(partition.leaves)
    partition.add(x, y, EVERY_LEAF, table)
    loaded = (rng.random(partition.leaves) < rng.choice([0.0, 0.5, 1.0])).astype(np.uint8)
    _, leaf, px, py = partition.pick(x, y, loaded)
    until = (*("proved",) * 5, *("decided",) * 4, "begun")[rng.integers(10)]
    most = float(rng.choice([n / 2, math.inf]))  # rows that may be asked for
    some = np.sort(rng.permutation(n)[:k])
    u, v = np.ldexp(x[some], -exponent), np.ldexp(y[some], -exponent)
    starts = [[float(m.mean()) for m in (u, v, u * u, u * v, v * v)]]
    gaps = [least_gap(np.ldexp(column, -exponent)) for column in (x, y)]
    above = float(rng.choice([-0.5, 0.0, 0.05, 0.5, 0.9])) if until == "decided" else None
    at_most = bool(rng.random() < 0.3) and until == "decided"

    def ask(patience: float) -> tuple[float, float, str, tuple[np.ndarray, ...]]:
        at = _core.LoadedPartition(partition, table, leaf, px, py)
        found = at.search(
            objective, k, 1e-9, starts, *gaps, 0.0, most, math.inf, patience, 1, None, until,
            *(() if above is None else (above, at_most)),
        )  # fmt: skip
        kept = (*(found[name] for name in ("leaves", "rows", "copies", "wanted")),)
        rows = (*kept, np.array([found["real"], found["refuted"]]))
        return found["score"], found["bound"], found["status"], rows

    label = f"{number}: {until} {objective}, {family} n={n} k={k} above={above} at_most={at_most}"
    return Instance(label, (x, y, k), ask)


def least_gap(column: np.ndarray) -> float:
    """Between two different values."""
    values = np.unique(column)
    return float(np.diff(values).min()) if len(values) > 1 else 0.0


# ---- the records --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """Instances 0 to small + large of a search; the large ones are more than a listing."""

    draw: Callable[[int, list[str]], Instance]
    families: list[str]
    small: int
    large: int = 0


SEARCHES = {
    "plane": Record(in_the_plane, list(fuzz.FAMILIES), 3600, 180),
    "mcd": Record(determinants, list(fuzz.FAMILIES), 2400, 60),
    "regression": Record(regressions, list(REGRESSIONS), 2400, 120),
    "outofcore": Record(out_of_core, list(fuzz.FAMILIES), 1800),
}


def path_of(name: str) -> Path:
    return RECORDS / f"{name}.npz"


def columns_of(rows: list[Row]) -> dict[str, np.ndarray]:
    names = zip(("number", *FIELDS), ("i4", *TYPES), strict=True)
    return {
        name: np.array([row[i] for row in rows], dtype=kind) for i, (name, kind) in enumerate(names)
    }


def same(was: float, now: float) -> bool:
    return was == now or (was != was and now != now)


def write(name: str) -> None:
    """Record the answers with the loops of the baseline."""
    subject = SEARCHES[name]
    rows = []
    for number in range(subject.small + subject.large):
        it = subject.draw(number, subject.families)
        with instruction_set("baseline"):
            row = it.answer(SLOWEST)
        if row is None:
            print(f"left out {it.label}")
            continue
        rows.append((number, *row))
    path = path_of(name)
    np.savez_compressed(path, families=subject.families, **columns_of(rows))
    print(f"{name}: {len(rows)} instances, {path.stat().st_size:,} bytes")


def differences(name: str, step: int = 1, path: Path | None = None) -> Iterator[str]:
    """What is not as recorded, for every `step`-th instance."""
    record = dict(np.load(path or path_of(name)))
    families = record["families"].tolist()
    numbers = record["number"].tolist()
    columns = zip(*(record[field].tolist() for field in FIELDS), strict=True)
    for number, was in list(zip(numbers, columns, strict=True))[::step]:
        it = SEARCHES[name].draw(number, families)
        row = it.answer(PATIENCE)
        if row is None:
            yield f"{name} {it.label}: no proof in {PATIENCE} seconds"
            continue
        for field, before, now in zip(FIELDS, was, row, strict=True):
            if not same(before, now):
                yield f"{name} {it.label}: {field} was {before!r}, is {now!r}"


@contextmanager
def instruction_set(name: str) -> Iterator[None]:
    before = _core.instruction_set()
    if not _core.choose_instruction_set(name):
        raise SystemExit(f"this processor has no {name}")
    try:
        yield
    finally:
        _core.choose_instruction_set(before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("searches", nargs="*", default=list(SEARCHES), help=", ".join(SEARCHES))
    parser.add_argument("--write", action="store_true", help="record the answers as they are now")
    parser.add_argument("--isa", default="baseline", help="baseline or avx2")
    parser.add_argument("--quick", action="store_true", help="every 20th instance")
    given = parser.parse_args()
    if given.write:
        for name in given.searches:
            write(name)
        return 0
    wrong = []
    with instruction_set(given.isa):
        for name in given.searches:
            wrong += differences(name, 20 if given.quick else 1)
    print(*wrong, f"{len(wrong)} differences on {given.isa}", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""The certified engine's answers, bit for bit as they were.

A change that is not meant to change the search must leave every value, bound, status, node count
and subset of these instances as it is. They are the fuzzer's families, objectives and forms of the
question, small and large enough for the tree of moments, on one thread; none is stopped by a clock.

    python tests/fuzzing/golden.py            # compares, exit code 1 where anything differs
    python tests/fuzzing/golden.py --write    # after a change that is meant to change the search

The record is of x86-64 on Linux, compiled by GCC, with the hot loops of the baseline: wider
registers add up in another order, which moves last digits and now and then a node. `--isa avx2`
with a `--record` of its own holds those loops to their past as well. Where another C library draws
other data, the digests of the data say so.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import fuzz
import numpy as np

import quadsweep as qs
from quadsweep import _core
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

RECORD = Path(__file__).with_name("golden.npz")
SMALL, LARGE = 3600, 180
SLOWEST = 0.5  # seconds: what takes longer is left out of the record
PATIENCE = 60.0  # seconds: what takes longer has changed
LARGEST_FAMILIES = ("uniform", "normal", "crossing_lines", "one_decimal", "clustered")
FORMS = ("exactly", "exactly", "exactly", "at_most", "above", "warm")
STATUS = ("optimal", "heuristic")
FIELDS = ("data", "value", "bound", "status", "nodes", "rows")


@dataclass(frozen=True)
class Instance:
    """A problem and a form of the question; `number` alone decides what it is."""

    number: int
    family: str
    form: str
    problem: Problem
    settings: dict[str, object]
    rng: np.random.Generator

    def __str__(self) -> str:
        p = self.problem
        return (
            f"{self.number}: {self.form} {p.objective.name}, {self.family} n={p.n} k={p.k} "
            f"{self.settings}"
        )


def draw(number: int, families: list[str]) -> Instance:
    rng = np.random.default_rng([20261116, number])
    large = number >= SMALL
    names = LARGEST_FAMILIES if large else families
    family = names[number % len(names)]
    n = int(rng.choice([600, 1500, 4000])) if large else int(rng.integers(4, 25))
    x, y = fuzz.FAMILIES[family](rng, n)
    objective = qs.objectives.get(fuzz.OBJECTIVES[number // len(names) % 6])
    least = max(objective.min_k, len(x) // 20)
    return Instance(
        number,
        family,
        FORMS[rng.integers(len(FORMS))],
        Problem(
            np.ascontiguousarray(x), np.ascontiguousarray(y),
            int(rng.integers(least, len(x) + 1)), objective,
        ),
        {} if large else {
            "enumerate_up_to": int((1, 20, 200)[rng.integers(3)]),
            "cells": bool(rng.random() < 0.7),
        },
        rng,
    )  # fmt: skip


def answer(it: Instance, patience: float = math.inf) -> tuple[float | int, ...] | None:
    """One row of the record; None if there is no proof in `patience` seconds."""
    p, settings = replace(it.problem, time_limit=patience), dict(it.settings)
    if it.form == "at_most":
        settings["at_most"] = True
    elif it.form == "warm":
        settings["starts"] = [np.sort(it.rng.permutation(p.n)[: p.k])]
    elif it.form == "above":
        known = search(p, **settings)
        if known.status == "time_limit":
            return None
        near = 0.0 if math.isnan(known.value) else known.value
        settings["above"] = near * (1 + it.rng.choice([-1e-3, 1e-3]))
    found = search(p, **settings)
    if found.status == "time_limit":
        return None
    data = zlib.crc32(p.x.tobytes() + p.y.tobytes() + bytes([p.k % 256]))
    rows = zlib.crc32(found.inliers.astype(np.int64).tobytes())
    return data, found.value, found.bound, STATUS.index(found.status), found.nodes, rows


def write(path: Path) -> None:
    families = list(fuzz.FAMILIES)
    rows = []
    for number in range(SMALL + LARGE):
        it = draw(number, families)
        row = answer(it, SLOWEST)
        if row is None:
            print(f"left out {it}")
        else:
            rows.append((number, *row))
    types = ("i4", "u4", "f8", "f8", "u1", "i8", "u4")
    columns = {
        name: np.array([row[i] for row in rows], dtype=types[i])
        for i, name in enumerate(("number", *FIELDS))
    }
    np.savez_compressed(path, families=families, **columns)
    print(f"{len(rows)} instances, {path.stat().st_size:,} bytes")


def differences(step: int = 1, path: Path = RECORD) -> Iterator[str]:
    """What is not as recorded, for every `step`-th instance."""
    record = dict(np.load(path))
    families = record["families"].tolist()
    for at in range(0, len(record["number"]), step):
        it = draw(int(record["number"][at]), families)
        row = answer(it, PATIENCE)
        if row is None:
            yield f"{it}: no proof in {PATIENCE} seconds"
            continue
        for name, now in zip(FIELDS, row, strict=True):
            was = record[name][at].item()
            if not (was == now or (was != was and now != now)):
                yield f"{it}: {name} was {was!r}, is {now!r}"


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
    parser.add_argument("--write", action="store_true", help="record the answers as they are now")
    parser.add_argument("--isa", default="baseline", help="baseline, avx2 or avx512")
    parser.add_argument("--record", type=Path, default=RECORD, help="another file")
    parser.add_argument("--quick", action="store_true", help="every 20th instance")
    given = parser.parse_args()
    with instruction_set(given.isa):
        if given.write:
            write(given.record)
            return 0
        wrong = list(differences(20 if given.quick else 1, given.record))
    print(*wrong, f"{len(wrong)} differences on {given.isa}", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Does rounding matter? Proofs by bounds that ignore it, beside the engine's own.

    python tests/fuzzing/rounding_proofs.py --instances 400

For data whose values nearly tie far from the origin, the proof is written twice with no room
between aim and threshold and a tolerance near the values' own rounding: once with the rounding term
of every bound and decision, once without. The checker, which does not round, refuses what is false.
Prints how many of each it refused, and exits with 1 if it refused any written with the term.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fuzz_proofs

from quadsweep import objectives
from quadsweep.proofs.writer import Statement, Unproved, write
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem


def tied(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int, str]:
    """Points of a lattice far away, some moved by the last digits that are left."""
    n = int(rng.integers(10, 26))
    offset = 10 ** rng.uniform(7, 10, 2)
    x, y = rng.integers(0, 4, (2, n)) * 10.0 ** rng.integers(-2, 3)
    ulps = rng.integers(-2, 3, (2, n)) * (rng.random((2, n)) < 0.3)
    x, y = x + offset[0], y - offset[1]
    x, y = x + ulps[0] * np.spacing(x), y + ulps[1] * np.spacing(y)
    return x, y, int(rng.integers(3, n - 1)), fuzz_proofs.OBJECTIVES[rng.integers(6)]


def statement(x: np.ndarray, y: np.ndarray, k: int, objective: str) -> Statement | None:
    found = search(
        Problem(x, y, k, objectives.get(objective), tol=1e-15, time_limit=0.5),
    )
    if found.status != "optimal" or len(found.inliers) == 0:
        return None
    good = found.inliers.tolist()
    return Statement(x, y, k, objective, found.bound, good, found.value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="20 instances")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for number in range(20 if options.quick else options.instances):
        x, y, k, objective = tied(np.random.default_rng([options.seed, number]))
        asked = statement(x, y, k, objective)
        it = fuzz_proofs.Instance(number, "tied", x, y, k, objective, False)
        for rounding in (True, False):
            name = "with" if rounding else "without"
            if asked is None:
                counts[f"{name} the term: no answer"] += 1
                continue
            try:
                proof = write(
                    asked, list_up_to=0, enumerate_up_to=1, most_nodes=2000, rounding=rounding,
                    slack=False,
                )  # fmt: skip
            except Unproved:
                counts[f"{name} the term: not closed"] += 1
                continue
            refused = fuzz_proofs.verdict(it, proof) is not None
            counts[f"{name} the term: {'refused' if refused else 'proved'}"] += 1
            if refused:
                print(f"refused, {name} the term: {it}")
    for kind, count in sorted(counts.items()):
        print(f"{kind:32} {count:6}")
    return 1 if counts["with the term: refused"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Proves every counterexample of ``counterexample-sizes.json`` and prints the table of their sizes.

python docs/studies/counterexample_sizes.py
"""

from __future__ import annotations

import json
from pathlib import Path

from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.counterexample_proofs import Counterexample, verify
from quadsweep.paper.experiments.runner import TextTable

FILE = Path(__file__).with_name("counterexample-sizes.json")
KEPT = range(3, 9)
NOTES = [
    "Constructions on the hyperbola of the gradient, improved at random and rounded to integers, "
    "for each n up to 11 that has at most 210 subsets. A dash says that none was found, not that "
    "there is none. Each one found is proved in rational arithmetic; the points are in "
    "`counterexample-sizes.json`.",
    "Made by `python docs/studies/counterexample_sizes.py`.",
]


def examples(text: str) -> list[Counterexample]:
    """Those of the file, each of them proved."""
    found = [
        Counterexample(
            entry["name"], entry["objective"], (entry["lift"],),
            tuple(map(tuple, entry["points"])), tuple(entry["inliers"]),
        )
        for entry in json.loads(text)
    ]  # fmt: skip
    for proof in verify(found):
        if not proof.valid:
            raise ArithmeticError(f"{proof.example.name} does not verify: {proof.reason}")
    return found


def table(found: list[Counterexample]) -> TextTable:
    """The least n by objective, lift and k."""
    sizes: dict[tuple[str, str], dict[int, int]] = {}
    for one in found:
        of_pair = sizes.setdefault((one.objective, one.lifts[0]), {})
        of_pair[one.k] = min(one.n, of_pair.get(one.k, one.n))
    rows = [
        [OBJECTIVES[name].title, lift, *(str(n.get(k, "-")) for k in KEPT), str(min(n.values()))]
        for (name, lift), n in sizes.items()
    ]
    columns = ["Objective", "Lift", *(f"k = {k}" for k in KEPT), "least n"]
    return TextTable("Least n by objective, lift and k", columns, rows, NOTES)


if __name__ == "__main__":
    proved = examples(FILE.read_text(encoding="utf-8"))
    print(f"# The smallest counterexamples found\n\n{table(proved).markdown()}", end="")

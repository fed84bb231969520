"""The smallest counterexamples that the search finds, by objective, lift and k.

For each objective, lift and k the search is run with growing n until it finds one, a given number
of constructions for each n. Nothing is proved about the sizes that stay empty. Run as

    python -m quadsweep.paper.experiments.counterexample_sizes --out DIRECTORY
"""

from __future__ import annotations

import json
import math

import numpy as np

from quadsweep.distributed.store import Chunk, Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.counterexamples import Counterexample, search, verify
from quadsweep.paper.experiments.runner import Results, TextTable, study

PAIRS = (
    ("r2", "L5"), ("r2", "L4"), ("r", "L5"), ("r", "L4"), ("cov", "L3c"), ("cov", "L4"),
    ("cov", "L5"), ("dv", "L3d"), ("dv", "L4"), ("dv", "L5"),
)  # fmt: skip
KEPT = (3, 4, 5, 6, 7, 8)
LARGEST, MOST_SUBSETS = 11, 210
NAME = "counterexample-sizes"


def size_work(objective: str, lift: str, k: int, attempts: int) -> Columns:
    """The points and inliers of the first counterexample found with growing n, or no rows."""
    for n in range(max(k + 1, 4), LARGEST + 1):
        if math.comb(n, k) > MOST_SUBSETS:
            break
        found = search(math.inf, objective, n, k, lift=lift, attempts=attempts)
        if found is not None:
            points = np.array(found.points, dtype=np.int64)
            inside = np.isin(np.arange(n), found.inliers)
            return {"x": points[:, 0], "y": points[:, 1], "inlier": inside}
    nothing = np.empty(0, dtype=np.int64)
    return {"x": nothing, "y": nothing, "inlier": nothing.astype(bool)}


def chunks(attempts: int) -> list[Chunk]:
    return [
        Chunk(
            f"{objective}-{lift}-{k}",
            size_work,
            {"objective": objective, "lift": lift, "k": k, "attempts": attempts},
        )
        for objective, lift in PAIRS
        for k in KEPT
    ]


def examples(results: Results) -> dict[tuple[str, str, int], Counterexample]:
    """What was found, proved once more."""
    found = {}
    for objective, lift in PAIRS:
        for k in KEPT:
            columns = results[f"{objective}-{lift}-{k}"]
            if len(columns["x"]):
                xy = zip(columns["x"].tolist(), columns["y"].tolist(), strict=True)
                inliers = tuple(np.flatnonzero(columns["inlier"]).tolist())
                name = f"{objective}-{lift}-n{len(columns['x'])}-k{k}"
                example = Counterexample(name, objective, (lift,), tuple(xy), inliers)
                if not verify([example], show=None)[0].valid:
                    raise ArithmeticError(f"{name} does not verify")
                found[objective, lift, k] = example
    return found


def tables(results: Results, work: list[Chunk]) -> list[TextTable]:
    found, attempts, rows = examples(results), work[0].arguments["attempts"], []
    for objective, lift in PAIRS:
        sizes = [found[objective, lift, k].n for k in KEPT if (objective, lift, k) in found]
        cells = [
            str(found[objective, lift, k].n) if (objective, lift, k) in found else "-" for k in KEPT
        ]
        smallest = str(min(sizes)) if sizes else "-"
        rows.append([OBJECTIVES[objective].title, lift, *cells, smallest])
    return [
        TextTable(
            "Least n by objective, lift and k",
            ["Objective", "Lift", *(f"k = {k}" for k in KEPT), "least n"],
            rows,
            [
                f"The search made {attempts} crowd(s) of constructions for each n up to {LARGEST} "
                f"that has at most {MOST_SUBSETS} subsets, from seed 0. A dash says that it found "
                "none, not that there is none. Each one found was proved in rational arithmetic; "
                f"the points are in `{NAME}.json`.",
                "Made by `python -m quadsweep.paper.experiments.counterexample_sizes --out "
                "DIRECTORY`.",
            ],
        )
    ]


def main(arguments: list[str] | None = None) -> None:
    title = "The smallest counterexamples found"
    results, _, out = study(
        __doc__, NAME, title, "attempts", 1, "for each n", chunks, tables, arguments
    )
    listed = [
        {"name": e.name, "objective": e.objective, "lift": e.lifts[0], "points": e.points,
         "inliers": e.inliers}
        for e in examples(results).values()
    ]  # fmt: skip
    text = ",\n".join(json.dumps(entry) for entry in listed)
    (out / f"{NAME}.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()

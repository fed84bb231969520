"""Proofs of answers with several predictors, each checked in exact arithmetic.

    python benchmarks/fuzz_proofs_several.py --instances 500 --jobs 2 --state several.jsonl

Instance i of a seed is always the same: a family of data, 2 or 3 predictors, up to --high rows, k,
R2 or lts. The engine answers, the proof is written by boxes alone, and checked. Refused proofs are
printed; exit code 1 if there are any. Answers without a proof in --nodes nodes are counted apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

from quadsweep import _core
from quadsweep.proofs import checker
from quadsweep.proofs.writer import Statement, Unproved, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from families_several import FAMILIES

PATIENCE = 5.0  # seconds for an answer


def draw(seed: int, number: int, high: int) -> tuple[str, np.ndarray, np.ndarray, int, str]:
    rng = np.random.default_rng([seed, number])
    family = list(FAMILIES)[number % len(FAMILIES)]
    p = 2 if rng.random() < 0.8 else 3
    n = int(rng.integers(p + 5, max(p + 6, high)))
    x, y = FAMILIES[family](rng, n, p)
    return family, x, y, int(rng.integers(p + 3, n)), str(rng.choice(["r2", "lts"]))


def judge(seed: int, number: int, high: int = 30, nodes: int = 3000) -> Verdict:
    family, x, y, k, objective = draw(seed, number, high)
    what = f"{number}: {objective}, {family}, {k} of {len(y)}, {x.shape[1]} predictors"
    found = _core.several_fit(x, y, k, objective=objective, tol=1e-9, time_limit=PATIENCE)
    if found["status"] != "optimal" or len(found["inliers"]) == 0:
        return Verdict(family, fuzz_runs.NONE)
    asked = Statement(x, y, k, objective, found["bound"], found["inliers"].tolist(), found["value"])
    try:
        proof = write(asked, list_up_to=0, most_nodes=nodes)
    except Unproved as why:
        short = why.reason.split(":")[0]
        return Verdict(family, fuzz_runs.OPEN, f"{what}: {why}", (f"no proof: {short}, {family}",))
    try:
        checker.Checker(proof.content).check(*x.T.tolist(), y.tolist())
    except (checker.Refuted, checker.Unreadable) as why:
        return Verdict(family, fuzz_runs.WRONG, f"{what}: {why}")
    return Verdict(family, fuzz_runs.RIGHT, marks=(f"proofs checked, {objective}",))


def main() -> int:
    parser = fuzz_runs.parser(__doc__.splitlines()[0], instances=500, quick=12)
    parser.add_argument("--high", type=int, default=30, help="rows")
    parser.add_argument("--nodes", type=int, default=3000, help="of a proof")
    given = parser.parse_args()
    options = {"high": given.high, "nodes": given.nodes}
    if given.quick:
        options = {"high": 10, "nodes": 300}
    return fuzz_runs.main(judge, given, chunk=10, options=options)


if __name__ == "__main__":
    sys.exit(main())

"""Proofs of answers with several predictors or with controls, each checked in exact arithmetic.

    python tests/fuzzing/fuzz_proofs_several.py --instances 500 --jobs 2 --state several.jsonl

Instance i of a seed is always the same: a family of data, 2 or 3 predictors, up to --high rows, k,
R2 or lts; or the audit of the last one's coefficient given the others. The engine answers, the
proof is written by boxes alone, and checked. Refused proofs are printed, and those of an audit that
are also accepted, or written, for a number of removals that does break the claim; exit code 1 if
there are any.
Answers without a proof in --nodes nodes are counted apart.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

import quadsweep as qs
from quadsweep import _core
from quadsweep.auditing.proving import refutation
from quadsweep.proofs import checker
from quadsweep.proofs.writer import Statement, Unproved, prove

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from families_several import FAMILIES

PATIENCE = 5.0  # seconds for an answer
CLAIMS = ("sign", "slope")  # of an audit


def draw(seed: int, number: int, high: int) -> tuple[str, np.ndarray, np.ndarray, int, str]:
    rng = np.random.default_rng([seed, number])
    family = list(FAMILIES)[number % len(FAMILIES)]
    p = 2 if rng.random() < 0.8 else 3
    n = int(rng.integers(p + 5, max(p + 6, high)))
    x, y = FAMILIES[family](rng, n, p)
    return family, x, y, int(rng.integers(p + 3, n)), str(rng.choice(["r2", "lts", *CLAIMS]))


def judge(seed: int, number: int, high: int = 30, nodes: int = 3000) -> Verdict:
    family, x, y, k, objective = draw(seed, number, high)
    what = f"{number}: {objective}, {family}, {k} of {len(y)}, {x.shape[1]} predictors"
    if objective in CLAIMS:
        return judge_audit(family, what, x, y, objective, nodes)
    found = _core.regression_fit(x, y, k, objective=objective, tol=1e-9, time_limit=PATIENCE)
    if found["status"] != "optimal" or len(found["inliers"]) == 0:
        return Verdict(family, fuzz_runs.NONE)
    asked = Statement(x, y, k, objective, found["bound"], found["inliers"].tolist(), found["value"])
    try:
        proof = prove(asked, list_up_to=0, most_nodes=nodes)
    except Unproved as why:
        short = why.reason.split(":")[0]
        return Verdict(family, fuzz_runs.OPEN, f"{what}: {why}", (f"no proof: {short}, {family}",))
    try:
        checker.Checker(proof.content).check(*x.T.tolist(), y.tolist())
    except (checker.Refuted, ValueError) as why:
        return Verdict(family, fuzz_runs.WRONG, f"{what}: {why}")
    return Verdict(family, fuzz_runs.RIGHT, marks=(f"proofs checked, {objective}",))


def judge_audit(
    family: str, what: str, z: np.ndarray, y: np.ndarray, claim: str, nodes: int
) -> Verdict:
    """Of the last column given the others: the lower bound, and that no more than it is proved."""
    z, x = z[:, :-1], z[:, -1]
    y = y + x * (np.std(y) / np.std(x) if np.std(x) > 0 else 1.0)  # or one removal often does it
    asked = {"controls": z, "claim": claim, "time_limit": PATIENCE}
    try:
        if claim == "slope":
            slope = qs.audit(x, y, controls=z, max_drop=1).before.slope
            asked["threshold"] = (slope - abs(slope) / 2, slope + abs(slope) / 2)
        found = qs.audit(x, y, **asked)
    except ValueError:  # nothing to audit
        return Verdict(family, fuzz_runs.NONE)
    ways, design = [case.condition for case in found.problems], found.design
    varying = np.delete(design.controls, design.intercept, axis=1)
    columns = [*varying.T.tolist(), x.tolist(), y.tolist()]
    limits = {"list_up_to": 0, "most_nodes": nodes}
    false = None
    if found.upper:
        false = refutation(design, ways, found.upper, PATIENCE, list_up_to=0, most_nodes=300)
    if false is not None:
        return Verdict(family, fuzz_runs.WRONG, f"{what}: {found.upper} removals do break it")
    if found.lower < 2:
        return Verdict(family, fuzz_runs.NONE)
    proof = refutation(design, ways, found.lower - 1, PATIENCE, **limits)
    if proof is None:
        return Verdict(family, fuzz_runs.OPEN, f"{what}: no proof", (f"no proof: audit, {family}",))
    for more in range(1 + (found.upper == found.lower)):
        content = copy.deepcopy(proof.content)
        for part in content["parts"]:
            part["claim"]["keep"] -= more
        try:
            checker.Checker(content).check(*columns)
        except (checker.Refuted, ValueError) as why:
            if not more:
                return Verdict(family, fuzz_runs.WRONG, f"{what}: {why}")
        else:
            if more:
                return Verdict(family, fuzz_runs.WRONG, f"{what}: also for {found.upper}")
    return Verdict(family, fuzz_runs.RIGHT, marks=("proofs checked, audit",))


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

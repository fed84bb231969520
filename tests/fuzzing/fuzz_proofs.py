"""Proofs of many answers, each checked in exact arithmetic: where listing cannot reach.

    python tests/fuzzing/fuzz_proofs.py --instances 20000 --jobs 2 --state fuzz_proofs.jsonl

Instance i of a seed is always the same: a family of data (ties, clusters, offsets, near-ties far
from the origin), --low to --high points (every fifth instance 30 to 1,000), k, objective, exactly k
points or k and more. The engine answers, the proof is written and checked. Refused proofs are
printed; exit code 1 if there are any.

    python tests/fuzzing/fuzz_proofs.py --only I

repeats one. Instances that the engine does not close in --patience seconds, or whose proof has more
than --nodes nodes, are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import fuzz
import fuzz_runs
import numpy as np
from fuzz_runs import Verdict

import quadsweep as qs
from quadsweep.proofs import checker
from quadsweep.proofs.proof import Proof
from quadsweep.proofs.writer import Statement, Unproved, write
from quadsweep.solving.methods.certified import search
from quadsweep.solving.methods.problem import Problem

OBJECTIVES = fuzz.OBJECTIVES
NO_VALUE = "no subset has a value"
LARGE = (30, 1000)  # points


def near_ties_far_away(rng, n):
    """A lattice whose points are shaken in the last digits that its offset leaves."""
    offset = 10 ** rng.uniform(7, 9, 2)
    shake = 10 ** rng.uniform(-9, -5)
    x, y = rng.integers(0, 6, (2, n)) + shake * rng.normal(size=(2, n))
    return x + offset[0], y - offset[1]


def one_line_far_away(rng, n):
    """Nearly a line, so that values tie to nine digits, away from the origin."""
    x = rng.permutation(n) + 10 ** rng.uniform(6, 8)
    return x, 3 * x + 10 ** rng.uniform(-4, 0) * rng.normal(size=n)


FAMILIES = fuzz.FAMILIES | {
    f.__name__: f for f in (near_ties_far_away, one_line_far_away)
}  # fmt: skip


@dataclass(frozen=True)
class Instance:
    number: int
    family: str
    x: np.ndarray
    y: np.ndarray
    k: int
    objective: str
    or_more: bool

    def __str__(self) -> str:
        size = f"{self.k} or more" if self.or_more else self.k
        return f"{self.number}: {self.objective}, {self.family}, {size} of {len(self.x)}"


def draw(seed: int, number: int, low: int, high: int) -> Instance:
    rng = np.random.default_rng([seed, number])
    family = list(FAMILIES)[rng.integers(len(FAMILIES))]
    n = round(np.exp(rng.uniform(np.log(low), np.log(high))))
    x, y = (np.ascontiguousarray(v, dtype=float) for v in FAMILIES[family](rng, n))
    objective = OBJECTIVES[rng.integers(len(OBJECTIVES))]
    k = int(rng.integers(min(3, len(x)), len(x) + 1))
    return Instance(number, family, x, y, k, objective, bool(rng.random() < 0.2))


class NotClosed(Exception):
    """No answer, or no proof, in the time and size given."""


def statement(it: Instance, patience: float) -> Statement:
    """The engine's answer as something to be proved."""
    problem = Problem(it.x, it.y, it.k, qs.objectives.get(it.objective), time_limit=patience)
    try:
        found = search(problem, k_or_more=it.or_more)
    except ValueError as refused:
        if "60 powers of ten" not in str(refused):
            raise
        raise NotClosed(NO_VALUE) from None
    if found.status != "optimal":
        raise NotClosed(found.status)
    if len(found.inliers) == 0:
        raise NotClosed(NO_VALUE)
    return Statement(
        it.x, it.y, it.k, it.objective, found.bound, found.inliers.tolist(), found.value,
        or_more=it.or_more,
    )  # fmt: skip


def proof_of(it: Instance, patience: float, nodes: int, **options) -> Proof:
    try:
        return write(statement(it, patience), most_nodes=nodes, **options)
    except Unproved as wrong:
        if wrong.better:
            raise
        raise NotClosed(wrong.reason) from None


def verdict(it: Instance, proof: Proof) -> str | None:
    """What the checker has against it, None if nothing."""
    try:
        checker.Checker(proof.content).check(it.x.tolist(), it.y.tolist())
    except (checker.Refuted, ValueError) as wrong:
        return str(wrong)
    return None


def judge(
    seed: int, number: int, low: int, high: int, patience: float = 2.0, nodes: int = 3000,
    large_every: int = 0,
) -> Verdict:  # fmt: skip
    large = large_every > 0 and number % large_every == 0
    it = draw(seed, number, *(LARGE if large else (low, high)))
    try:
        wrong = verdict(it, proof_of(it, patience, nodes))
    except NotClosed as why:
        mark = f"no proof: {why}, {it.family}"
        if str(why) == NO_VALUE:
            return Verdict(it.family, fuzz_runs.NONE)
        return Verdict(it.family, fuzz_runs.OPEN, f"{it}: {why}", (mark,))
    except Unproved as why:
        wrong = f"{why}: {why.better}"
    if wrong is not None:
        return Verdict(it.family, fuzz_runs.WRONG, f"{it}: {wrong}")
    return Verdict(it.family, fuzz_runs.RIGHT, marks=(f"proofs checked, {it.objective}",))


def main() -> int:
    parser = fuzz_runs.parser(__doc__.splitlines()[0], instances=20_000, quick=20)
    parser.add_argument("--low", type=int, default=30, help="points")
    parser.add_argument("--high", type=int, default=1000, help="points")
    parser.add_argument("--patience", type=float, default=2.0, help="seconds for an answer")
    parser.add_argument("--nodes", type=int, default=3000, help="of a proof")
    parser.add_argument("--large-every", type=int, default=5, help="0: none beyond --high")
    given = parser.parse_args()
    names = ("low", "high", "patience", "nodes", "large_every")
    options = {name: getattr(given, name) for name in names}
    if given.quick:
        options |= {"high": 100, "large_every": 0}
    return fuzz_runs.main(judge, given, chunk=20, options=options)


if __name__ == "__main__":
    raise SystemExit(main())

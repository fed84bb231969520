"""Proofs of many answers, each checked in exact arithmetic: where listing cannot reach.

    python benchmarks/fuzz_proofs.py --instances 20000 --state fuzz-proofs.json

Instance i of a seed is always the same: a family of data (ties, clusters, offsets, near-ties far
from the origin), 30 to 1,000 points, k, objective, exactly k points or k and more. The engine
answers, the proof is written and checked. With a state file the run goes on where the last one
ended; Ctrl-C ends it between two instances. Refused proofs are printed; exit code 1 if there are
any.

    python benchmarks/fuzz_proofs.py --only I

repeats one. Instances that the engine does not close in --patience seconds, or whose proof has more
than --nodes nodes, are counted apart.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import quadsweep as qs
from quadsweep.methods.certified import search
from quadsweep.methods.problem import Problem
from quadsweep.proofs import checker
from quadsweep.proofs.proof import Proof
from quadsweep.proofs.writer import Statement, Unproved, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import fuzz

OBJECTIVES = fuzz.OBJECTIVES


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
    found = search(problem, at_most=it.or_more)
    if found.status != "optimal":
        raise NotClosed(found.status)
    if len(found.inliers) == 0:
        raise NotClosed("no subset has a value")
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
    except (checker.Refuted, checker.Unreadable) as wrong:
        return str(wrong)
    return None


@dataclass
class State:
    seed: int = 0
    low: int = 30
    high: int = 1000
    next: int = 0
    checked: int = 0
    nodes: int = 0
    refused: list[str] = field(default_factory=list)
    not_closed: dict[str, int] = field(default_factory=dict)

    def count(self, why: str) -> None:
        self.not_closed[why] = self.not_closed.get(why, 0) + 1


def run(state: State, until: int, patience: float = 2.0, nodes: int = 3000, note=None) -> None:
    while state.next < until:
        it = draw(state.seed, state.next, state.low, state.high)
        try:
            proof = proof_of(it, patience, nodes)
            wrong = verdict(it, proof)
            state.checked += wrong is None
            state.nodes += proof.nodes
        except NotClosed as why:
            state.count(str(why))
            wrong = None
        except Unproved as why:
            wrong = f"{why}: {why.better}"
        if wrong is not None:
            state.refused.append(f"{it}: {wrong}")
            print(f"refused {it}: {wrong}", flush=True)
        state.next += 1
        if note:
            note(state)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=20000)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--low", type=int, default=30)
    parser.add_argument("--high", type=int, default=1000)
    parser.add_argument("--patience", type=float, default=2.0)
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--quick", action="store_true", help="20 instances of up to 100 points")
    options = parser.parse_args()
    if options.quick:
        options.instances, options.high = 20, 100
    state = State(options.seed, options.low, options.high)
    if options.state and options.state.exists():
        state = State(**json.loads(options.state.read_text()))
    if options.only is not None:
        state.next, options.instances = options.only, options.only + 1
    saved = time.perf_counter()

    def save(state: State) -> None:
        nonlocal saved
        if options.state and (time.perf_counter() > saved + 5 or state.next >= options.instances):
            saved = time.perf_counter()
            options.state.write_text(json.dumps(asdict(state)))

    with contextlib.suppress(KeyboardInterrupt):
        run(state, options.instances, options.patience, options.nodes, save)
    apart = ", ".join(f"{count} {why}" for why, count in Counter(state.not_closed).items())
    print(
        f"{state.next} instances, {state.checked} proofs checked ({state.nodes} nodes), "
        f"{len(state.refused)} refused" + (f"; apart: {apart}" if apart else "")
    )
    return 1 if state.refused else 0


if __name__ == "__main__":
    raise SystemExit(main())

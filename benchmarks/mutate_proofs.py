"""Valid proofs with one number, index or split changed: refused, or still valid.

    python benchmarks/mutate_proofs.py --mutations 2400

Mutation i of a seed is always the same. What the checker still accepts must be true: its claim is
held against all subsets, listed in rational arithmetic. Prints how many were refused and which
kinds were accepted; exit code 1 if a false claim was accepted.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections import Counter
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np

from quadsweep.proofs.proof import Proof

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import fuzz_proofs
import naive

POOL = 60  # proofs that are mutated
WORDS = ("bound", "list", "split", "copies", "y", "y-", "x1", "x1-", "x2", "means", "all",
         "r2", "r", "cov", "dv", "tv", "lts")  # fmt: skip


@cache
def pool(seed: int) -> list[tuple[fuzz_proofs.Instance, Proof]]:
    """Proofs by boxes, ten of every objective, of data small enough to list."""
    found: list[tuple[fuzz_proofs.Instance, Proof]] = []
    wanted = Counter(dict.fromkeys(fuzz_proofs.OBJECTIVES, POOL // 6))
    number = 0
    while wanted:
        it = fuzz_proofs.draw(seed, number, 8, 13)
        number += 1
        if not wanted[it.objective] or it.or_more or it.k > len(it.x) - 2:
            continue
        try:
            proof = fuzz_proofs.proof_of(it, 2.0, 150, list_up_to=0, enumerate_up_to=4)
        except fuzz_proofs.NotClosed:
            continue
        if proof.nodes > 3:
            found.append((it, proof))
            wanted -= Counter([it.objective])
    return found


def places(content: object, path: tuple = ()) -> list[tuple]:
    """Where a number, a word or a list stands."""
    if isinstance(content, dict):
        return [p for key in content for p in places(content[key], (*path, key))]
    if isinstance(content, (list, tuple)):
        inside = [p for i, part in enumerate(content) for p in places(part, (*path, i))]
        return [path, *inside] if path else inside
    return [path]


def changed(value: object, rng: np.random.Generator) -> object:
    """Something else in its place."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return WORDS[rng.integers(len(WORDS))]
    if isinstance(value, int):
        return value + int(rng.choice([-2, -1, 1, 2, 7]))
    if isinstance(value, float):
        by = float(10.0 ** rng.integers(-12, 1))
        return (value * (1 + by), value * (1 - by), value + by, value - by, -value, 0.0)[
            rng.integers(6)
        ]
    part = list(value)  # type: ignore[call-overload]
    if not part:
        return [0.0]
    at = int(rng.integers(len(part)))
    if rng.random() < 0.3 and len(part) > 1:
        part[at], part[at - 1] = part[at - 1], part[at]
    elif rng.random() < 0.5:
        del part[at]
    else:
        part.insert(at, part[at])
    return part


def mutated(proof: Proof, rng: np.random.Generator) -> tuple[str, Proof]:
    """A copy with one thing changed, and the kind of thing."""
    content = copy.deepcopy(proof.content)
    while True:
        everywhere = places(content)
        top = [p for p in everywhere if p[0] != "roots" or len(p) < 4]
        some = top if rng.random() < 0.4 else everywhere
        at = some[int(rng.integers(len(some)))]
        home = content
        for key in at[:-1]:
            if isinstance(home[key], tuple):
                home[key] = list(home[key])
            home = home[key]
        new = changed(home[at[-1]], rng)
        if new != home[at[-1]]:
            kind = node_kind(content, at) or ".".join(str(k) for k in at if isinstance(k, str))
            home[at[-1]] = new
            return kind, Proof(content)


def node_kind(content: dict, at: tuple) -> str | None:
    if at[0] != "roots" or len(at) < 4 or at[2] != "nodes":
        return None
    node = content["roots"][at[1]]["nodes"][at[3]]
    what = "the node" if len(at) == 4 else "a hint" if len(at) > 5 else "its details"
    if len(at) == 5 and isinstance(node[at[4]], (list, tuple)):
        what = "its list of hints"
    return f"roots.nodes, {node[0]}: {what}"


def claim_is_true(it: fuzz_proofs.Instance, proof: Proof) -> bool:
    """Against all subsets, in rational arithmetic (rounded once)."""
    claim = proof.content["claim"]
    name, k, t = claim["objective"], claim["keep"], claim["threshold"]
    sizes = range(k, len(it.x) + 1) if claim["or_more"] else [k]
    values = {s: v for size in sizes for s, v in listed(it.number, name, size, it).items()}
    sense = -1 if name in ("tv", "lts") else 1
    best = max((sense * v for v in values.values()), default=-np.inf)
    slack = 4 * np.spacing(abs(t))
    if claim["subset"] is not None:
        given = sense * values.get(tuple(sorted(claim["subset"])), -sense * np.inf)
        if given < sense * t - claim["tol"] - slack:
            return False
    return best <= sense * t + slack


@lru_cache(maxsize=256)
def _listed(key: tuple, x: tuple, y: tuple) -> dict[tuple, float]:
    _, name, k = key
    out = {}
    for subset in combinations(range(len(x)), k):
        value = naive.value(np.array(x), np.array(y), list(subset), name)
        if value == value:
            out[subset] = value
    return out


def listed(number: int, name: str, k: int, it: fuzz_proofs.Instance) -> dict[tuple, float]:
    return _listed((number, name, k), tuple(it.x.tolist()), tuple(it.y.tolist()))


def run(seed: int, mutations: int) -> tuple[Counter, Counter, list[str]]:
    """Kinds refused, kinds accepted, and false claims that were accepted."""
    proofs = pool(seed)
    refused: Counter = Counter()
    accepted: Counter = Counter()
    false = []
    for number in range(mutations):
        rng = np.random.default_rng([seed, number])
        it, proof = proofs[number % len(proofs)]
        kind, other = mutated(proof, rng)
        if fuzz_proofs.verdict(it, other) is not None:
            refused[kind] += 1
            continue
        accepted[kind] += 1
        if not claim_is_true(it, other):
            false.append(f"mutation {number} of {it}: {kind}")
    return refused, accepted, false


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="60 mutations")
    options = parser.parse_args()
    refused, accepted, false = run(options.seed, 60 if options.quick else options.mutations)
    print(f"{refused.total()} refused, {accepted.total()} accepted, {len(false)} of them false")
    for kind in sorted(refused | accepted):
        print(f"  {kind:45} refused {refused[kind]:5}   accepted {accepted[kind]:5}")
    for line in false:
        print(f"FALSE: {line}")
    return 1 if false else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Valid proofs with one number, index or split changed: refused, or still valid.

    python tests/fuzzing/mutate_proofs.py --mutations 2400

Proofs by boxes of every objective, of k rows and of k or more, with two predictors, and of an
audit's slope, alone and given a control. In one of six the threshold is first moved past the best
value (given a control: one row more may go), so that what is changed was false already. Mutation i
of a seed is always the same. What the checker still accepts must be true: its claim is held against
all subsets, listed in rational arithmetic. Prints how many were refused and which kinds were
accepted; exit code 1 if a false claim was accepted. --only takes proofs of one objective.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import quadsweep as qs
from quadsweep.proofs import checker
from quadsweep.proofs.proof import Proof
from quadsweep.proofs.writer import Statement, Unproved, largest_covariance, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fuzz_proofs
import naive
import naive_several

EACH = 6  # proofs of each objective, fewer of other kinds
WORDS = ("bound", "list", "split", "copies", "r2", "r", "cov", "dv", "tv", "lts")
ODD: tuple[Any, ...] = (math.nan, math.inf, 10**400, True, None, "", [], {})

Column = tuple[float, ...]


class Subject(NamedTuple):
    """What is mutated: a proof, as its file has it, and the columns it is about."""

    name: str
    columns: tuple[Column, ...]
    content: dict[str, Any]


@cache
def pool(seed: int, only: str = "") -> list[Subject]:
    """Proofs by boxes, of data small enough to list."""
    wanted = [
        (alone, dict.fromkeys(fuzz_proofs.OBJECTIVES, EACH)),
        (several, {"r2": 2, "lts": 2}),
        (audited, {"cov": 4}),
        (controlled, {"cov": 4}),
    ]
    counts = [
        (make, Counter({o: n for o, n in of.items() if only in ("", o)})) for make, of in wanted
    ]
    return [subject for make, of in counts if of for subject in drawn(seed, make, of)]


def drawn(
    seed: int, make: Callable[[int, int], Statement | None], wanted: Counter[str]
) -> Iterator[Subject]:
    """So many of every objective."""
    how = {"enumerate_up_to": 4, "list_up_to": 0, "most_nodes": 400}
    for number in itertools.count():
        try:
            asked = make(seed, number)
            if asked is None or not wanted[asked.objective]:
                continue
            proof = write(asked, **how)
        except (Unproved, fuzz_proofs.NotClosed):
            continue
        if proof.nodes > 3:
            name = f"{make.__name__} {asked.objective}"
            yield Subject(name, tuple(map(tuple, asked.columns)), as_read(proof))
            wanted -= Counter([asked.objective])
        if not wanted:
            return


def as_read(proof: Proof) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(gzip.decompress(proof.to_bytes()))
    return content


def alone(seed: int, number: int) -> Statement | None:
    """With one predictor."""
    it = fuzz_proofs.draw(seed, number, 8, 11)
    return None if it.k > len(it.x) - 2 else fuzz_proofs.statement(it, 2.0)


def several(seed: int, number: int) -> Statement | None:
    """A plane with an outlier."""
    rng, n, objective = np.random.default_rng([seed, number]), 11, ("r2", "lts")[number % 2]
    x = rng.normal(size=(n, 2))
    y = x.sum(axis=1) + 0.3 * rng.normal(size=n)
    y[0] += 4
    best = qs.solve(x, y, 8, objective=objective)
    return Statement(x, y, 8, objective, best.bound, best.inliers.tolist(), best.value)


def audited(seed: int, number: int) -> Statement | None:
    """That no fewer removals than the fewest turn the slope's sign."""
    rng, n = np.random.default_rng([seed, number]), 11
    x, noise = rng.normal(size=(2, n))
    y = x + noise
    found = qs.audit(x, y)
    if found.lower < 3:
        return None
    k = n - found.lower + 1
    t, sign = largest_covariance(x, y, k, found.tol), -1 if x @ y > 0 else 1
    asked = {"best": False, "or_more": True, "margin": found.tol}
    return Statement(x, y, k, "cov", t, range(n), 0.0, sign=sign, **asked)


def controlled(seed: int, number: int) -> Statement | None:
    """That no fewer removals than the fewest turn a coefficient's sign, given a control or two."""
    rng, n = np.random.default_rng([seed, number]), 11
    z = rng.normal(size=(n, 1 + number % 2))
    x = rng.normal(size=n) + z[:, 0]
    if number % 3 == 0:  # all rows on which it is not 0 may go
        x = 2.0 * (np.arange(n) < 3)
    y = x + z.sum(axis=1) + rng.normal(size=n)
    found = qs.audit(x, y, controls=z)
    if found.drop is None or found.drop < 3:
        return None
    sign, k = -1 if found.before.slope > 0 else 1, n - found.drop + 1
    asked = {"best": False, "or_more": True, "sign": sign}
    return Statement(np.column_stack([z, x]), y, k, "cov", 0.0, range(n), 0.0, **asked)


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
    if rng.random() < 0.05:
        return ODD[rng.integers(len(ODD))]
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


def mutated(content: dict[str, Any], rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """A copy with one thing changed, and the kind of thing."""
    content = copy.deepcopy(content)
    false = rng.random() < 1 / 6
    if false:
        falsify(content, rng)
    while True:
        everywhere = places(content)
        top = [p for p in everywhere if not in_node(p)]
        some = top if rng.random() < 0.4 else everywhere
        at = some[int(rng.integers(len(some)))]
        home = content
        for key in at[:-1]:
            home = home[key]
        new = changed(home[at[-1]], rng)
        if repr(new) != repr(home[at[-1]]):
            words = [str(k) for k in at if isinstance(k, str)]
            kind = node_kind(content, at) or ".".join(words[1:] or words)
            home[at[-1]] = new
            return f"false, {kind}" if false else kind, content


def falsify(content: dict[str, Any], rng: np.random.Generator) -> None:
    """Move the threshold past the best value; of a sign, the size."""
    (part,) = content["parts"]
    claim = part["claim"]
    if content["data"]["predictors"] > 1 and claim["objective"] == "cov":
        claim["keep"] -= 1
        return
    sense = -1 if claim["objective"] in ("tv", "lts") else 1
    by = float(10.0 ** rng.integers(-6, 0)) * (abs(claim["threshold"]) or 1.0)
    claim |= {"subset": None, "threshold": claim["threshold"] - sense * by}


def in_node(at: tuple) -> bool:
    """("parts", i, "roots", j, "nodes", number of the node, ...)"""
    return len(at) > 5 and at[4] == "nodes"


def node_kind(content: dict, at: tuple) -> str | None:
    if not in_node(at):
        return None
    node = content["parts"][at[1]]["roots"][at[3]]["nodes"][at[5]]
    what = "the node" if len(at) == 6 else "a hint" if len(at) > 7 else "its details"
    if len(at) == 7 and at[6] in (1, 2):
        what = "its list of hints"
    return f"roots.nodes, {node[0]}: {what}"


def claim_is_true(columns: tuple[Column, ...], claim: dict[str, Any]) -> bool:
    """Against all subsets, in rational arithmetic."""
    name, k, sense = claim["objective"], claim["keep"], 1
    if name in ("tv", "lts"):
        sense = -1
    sizes = range(k, len(columns[0]) + 1) if claim["or_more"] else [k]
    sign, beta = claim["sign"], claim["beta"]
    scores = {s: v for size in sizes for s, v in listed(columns, name, size, sign, beta).items()}
    t = Fraction(claim["threshold"])
    if any(score > on_scale(sense * t, name) for score in scores.values()):
        return False
    if claim["margin"] is not None and passes_margin(columns, claim):
        return False
    if claim["subset"] is None:
        return True
    given = scores.get(tuple(sorted(claim["subset"])))
    return given is not None and given > on_scale(sense * t - Fraction(claim["tol"]), name)


def on_scale(value: Fraction, name: str) -> Fraction:
    """As the listing scores it."""
    return value * abs(value) if name == "r" else value


def passes_margin(columns: tuple[Column, ...], claim: dict[str, Any]) -> bool:
    """Whether some k rows or more have a slope beyond beta by the margin of a correlation."""
    xs, ys = map(naive.exact, columns)
    sign, beta = claim["sign"], Fraction(claim["beta"])
    for size in range(claim["keep"], len(xs) + 1):
        for subset in combinations(range(len(xs)), size):
            a, b, c = naive.centred_sums([xs[i] for i in subset], [ys[i] for i in subset])
            beyond = sign * (c - beta * a)
            if beyond > 0 and beyond**2 > Fraction(claim["margin"]) ** 2 * a * b:
                return True
    return False


@lru_cache(maxsize=512)
def listed(
    columns: tuple[Column, ...], name: str, k: int, sign: int, beta: float
) -> dict[tuple[int, ...], Fraction]:
    """The scores of all subsets that have one; the larger the better."""
    *xs, ys = map(naive.exact, columns)
    ys = [sign * (w - Fraction(beta) * v) for v, w in zip(xs[-1], ys, strict=True)]
    out = {}
    for subset in combinations(range(len(ys)), k):
        score = score_of([[x[i] for x in xs] for i in subset], [ys[i] for i in subset], name)
        if score is not None:
            out[subset] = score
    return out


def score_of(rows: list[list[Fraction]], ys: list[Fraction], name: str) -> Fraction | None:
    if len(rows[0]) == 1:
        return naive.score([row[0] for row in rows], ys, name)
    if name == "cov":
        controls = [[1.0, *row[:-1]] for row in rows]
        return naive_several.partial_sums([row[-1] for row in rows], ys, controls)[2] / len(ys)
    design = [[1.0, *row] for row in rows]
    return -naive_several.rss(design, ys) if name == "lts" else naive_several.r2(design, ys)


def refusal(columns: tuple[Column, ...], content: dict[str, Any]) -> str | None:
    """What the checker has against it, None if nothing."""
    try:
        checker.Checker(content).check(*columns)
    except (checker.Refuted, ValueError) as wrong:
        return str(wrong)
    return None


def run(seed: int, mutations: int, only: str = "") -> tuple[Counter, Counter, list[str]]:
    """Kinds refused, kinds accepted, and false claims that were accepted."""
    subjects = pool(seed, only)
    refused: Counter = Counter()
    accepted: Counter = Counter()
    false = []
    for number in range(mutations):
        subject = subjects[number % len(subjects)]
        kind, content = mutated(subject.content, np.random.default_rng([seed, number]))
        if refusal(subject.columns, content) is not None:
            refused[kind] += 1
            continue
        accepted[kind] += 1
        if not all(claim_is_true(subject.columns, part["claim"]) for part in content["parts"]):
            false.append(f"mutation {number} of {subject.name}: {kind}")
    return refused, accepted, false


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="60 mutations")
    parser.add_argument("--only", default="", metavar="CLAIM", help="proofs of it alone")
    given = parser.parse_args()
    refused, accepted, false = run(given.seed, 60 if given.quick else given.mutations, given.only)
    print(f"{refused.total()} refused, {accepted.total()} accepted, {len(false)} of them false")
    for kind in sorted(refused | accepted):
        print(f"  {kind:45} refused {refused[kind]:5}   accepted {accepted[kind]:5}")
    for line in false:
        print(f"FALSE: {line}")
    return 1 if false else 0


if __name__ == "__main__":
    raise SystemExit(main())

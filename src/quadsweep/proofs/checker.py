"""Checks a proof that no k rows beat a threshold, in exact arithmetic: the walk of its tree.

    python checker.py PROOF DATA.csv [XCOLUMN ... YCOLUMN]

runs by itself, beside theorem.py, which states what is checked; the two import nothing but the
standard library. The format is in docs/proof-format.md. A node of the tree stands for the subsets
whose parameters lie in a box, that keep what is decided and `need` of the open rows (or more, if
larger subsets count). At a corner of the box, for every lambda, the costs of such a subset have

    sum  >=  V  =  base + cost of the decided + need lambda - sum over the open (lambda - cost)^+ .

V >= 0 at all corners closes the box. V + j (cost - lambda)^+ >= 0 at all corners: no subset of the
box that beats the threshold keeps j copies of the row; V + j (lambda - cost)^+ >= 0: none leaves
out j copies. Every number of the file is a hint: a false one can only make an inequality fail.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from operator import mul
from typing import Any, NamedTuple

if __package__:
    from quadsweep.proofs import theorem
else:  # run by itself
    import theorem  # type: ignore[import-not-found, no-redef]

Refuted, Unreadable = theorem.Refuted, theorem.Unreadable
require, number, whole = theorem.require, theorem.number, theorem.whole

FORMAT, VERSION = "quadsweep proof", 1
MOST_LISTED = 10**7  # subsets that a proof may ask to be listed
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


class State(NamedTuple):
    """What a node stands for."""

    frame: str
    box: theorem.Box | None  # None: whatever the parameters
    open: list[theorem.Row]
    kept: theorem.Sums
    need: int

    def emptied(self) -> State:
        """Without any subset."""
        return self._replace(open=[], need=1)


class Corner(NamedTuple):
    """At one corner, all in one whole unit: V, lambda, the costs of the open rows."""

    value: int
    level: int
    costs: list[int]


class Checker:
    def __init__(self, proof: dict[str, Any]) -> None:
        self.proof = proof
        self.nodes = self.listed = 0

    def check(self, *given: Sequence[float]) -> None:
        """Raises Refuted, with the place, unless the proof shows what it claims about the columns.

        The last column is y. Rows with a value that is not finite are left out; the others are
        counted from 0.
        """
        complete = [row for row in zip(*given, strict=True) if all(map(isfinite, row))]
        columns = [list(map(float, column)) for column in zip(*complete, strict=True)]
        proof = self.proof
        try:
            if (proof["format"], proof["version"]) != (FORMAT, VERSION):
                raise Unreadable(f"not a {FORMAT} of version {VERSION}")
            about = (proof["predictors"], proof["data"]["rows"], proof["data"]["sha256"])
            if about != (len(columns) - 1, len(complete), columns and theorem.digest(columns)):
                raise Unreadable("the proof is about other data: their digest differs")
            for part in parts(proof):
                self.check_part(part, columns)
        except MALFORMED as wrong:
            raise Unreadable(f"the proof is malformed: {wrong!r}") from None

    def check_part(self, part: dict[str, Any], columns: Sequence[Sequence[float]]) -> None:
        self.claim = theorem.Claim(part, columns)
        self.claim.check_subset(part["claim"])
        if self.claim.trivial():
            return
        roots = part["roots"]
        start = State("all", None, self.claim.rows, self.claim.sums([]), self.claim.k)
        if len(roots) == 1 and roots[0]["frame"] == "all":
            self.walk(start, roots[0]["nodes"])
            return
        self.criterion = theorem.criterion(self.claim, part["criterion"])
        boxes = [(root["frame"], box_of(root["box"])) for root in roots]
        self.criterion.cover(boxes)
        for (frame, box), root in zip(boxes, roots, strict=True):
            self.walk(start._replace(frame=frame, box=box), root["nodes"])

    def walk(self, root: State, nodes: Iterable[Sequence[Any]]) -> None:
        """The tree below a root, given in the order in which it is met."""
        pending, given = [root], iter(nodes)
        while pending:
            node = next(given, None)
            require(node is not None, "the tree ends before all its boxes are closed")
            state, self.nodes = pending.pop(), self.nodes + 1
            try:
                pending.extend(reversed(self.visit(state, *(node or ()))))
            except Refuted as wrong:
                raise Refuted(f"node {self.nodes} ({place(state)}): {wrong}") from None
        require(next(given, None) is None, "the tree goes on after all its boxes are closed")

    def visit(self, state: State, kind: str, *details: Any) -> list[State]:
        """The states that remain to be shown empty of better subsets."""
        if kind == "bound":
            (hints,) = details
            closed = self.impossible(state) or all(c.value >= 0 for c in self.corners(state, hints))
            require(closed, "the bound is negative")
            return []
        if details and isinstance(details[-1], (list, tuple)):
            state, details = self.decide(state, details[-1]), details[:-1]
        match kind, *details:
            case ["list"]:
                self.list_all(state)
                return []
            case ["copies", row, z]:
                n = len(self.claim.columns[0])
                return self.branch(state, whole(row, 0, n - 1, "a row"), whole(z, 0, n, "copies"))
            case ["split", i]:
                return self.split(state, whole(i, 1, len(state.box or ()), "a parameter") - 1)
        raise Unreadable(f"no node is like {[kind, *details]!r}")

    def impossible(self, state: State) -> bool:
        """Whether no choice among the open rows makes up the size."""
        too_few = state.need > sum(row.copies for row in state.open)
        return too_few or (state.need < 0 and not self.claim.or_more)

    def corners(self, state: State, hints: Sequence[Any]) -> list[Corner]:
        require(state.box is not None, "a bound needs a box")
        assert state.box is not None
        numbers, count = [number(hint) for hint in hints], self.criterion.multipliers
        costs = self.criterion.costs(state.frame, state.box, numbers[:count])
        return [self.corner(state, cost, at)
                for cost, at in zip(costs, numbers[count:], strict=True)]  # fmt: skip

    def corner(self, state: State, cost: theorem.Cost, at: Fraction) -> Corner:
        """Everything in the finest unit of these numbers, times that of a product of columns."""
        require(at >= 0 or not self.claim.or_more, "lambda may not be negative here")
        (*factors, once, level), _ = theorem.in_units([*cost.of_row, cost.base, at])
        once, level = once << 2 * self.claim.unit, level << 2 * self.claim.unit
        value = once + sum(map(mul, factors, state.kept.products)) + state.need * level
        costs = [sum(map(mul, factors, row.products)) for row in state.open]
        below = sum(row.copies * (level - c)
                    for c, row in zip(costs, state.open, strict=True) if c < level)  # fmt: skip
        return Corner(value - below, level, costs)

    def decide(self, state: State, hints: Sequence[Any]) -> State:
        """Rows that subsets of the box that beat t must keep, or cannot keep."""
        if self.impossible(state):
            return state
        corners = self.corners(state, hints)
        free, kept, need = [], state.kept, state.need
        for i, row in enumerate(state.open):
            h = row.copies
            most = fewest(((c.value, c.costs[i] - c.level) for c in corners), h) - 1
            least = h + 1 - fewest(((c.value, c.level - c.costs[i]) for c in corners), h)
            if least > most:
                return state.emptied()
            if least > 0:
                kept, need = kept.plus(row, least), need - least
            if most > least:
                free.append(row if most - least == h else row._replace(copies=most - least))
        return state._replace(open=free, kept=kept, need=need)

    def split(self, state: State, i: int) -> list[State]:
        """The lower and the upper half of a parameter."""
        *before, (low, high) = (state.box or ())[: i + 1]
        middle, after = (low + high) / 2, (state.box or ())[i + 1 :]
        return [state._replace(box=(*before, half, *after))
                for half in ((low, middle), (middle, high))]  # fmt: skip

    def branch(self, state: State, name: int, z: int) -> list[State]:
        """More than z of the open copies of a row are kept, or at most z."""
        row = next((row for row in state.open if row.name == name), None)
        if row is None or row.copies <= z:
            return [state.emptied(), state]
        others = [other for other in state.open if other is not row]
        more, fewer = row._replace(copies=row.copies - z - 1), row._replace(copies=z)
        kept = state.kept.plus(row, z + 1)
        return [state._replace(open=[*others, more], kept=kept, need=state.need - z - 1),
                state._replace(open=[*others, fewer])]  # fmt: skip

    def list_all(self, state: State) -> None:
        """Scores every subset that is left."""
        left = [0]
        for row in reversed(state.open):
            left.append(left[-1] + row.copies)
        left.reverse()
        stack = [(0, state.kept, state.need)]
        while stack:
            i, sums, need = stack.pop()
            if need > left[i] or (need < 0 and not self.claim.or_more):
                continue
            if i == len(state.open) or (need == 0 and not self.claim.or_more):
                self.listed += 1
                require(self.listed <= MOST_LISTED, "too many subsets to list")
                require(not self.claim.beats(sums, self.claim.t), "a subset listed is better")
                continue
            row = state.open[i]
            stack += [(i + 1, sums.plus(row, z), need - z) for z in range(row.copies + 1)]


def fewest(corners: Iterable[tuple[int, int]], copies: int) -> int:
    """The least j >= 1 with value + j gain^+ >= 0 at every corner, copies + 1 if there is none."""
    least = 1
    for value, gain in corners:
        if value < 0:
            if gain <= 0:
                return copies + 1
            least = max(least, -(value // gain))
    return min(least, copies + 1)


def box_of(ends: Sequence[Any]) -> theorem.Box:
    numbers = [number(end) for end in ends]
    box = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    require(all(low <= high for low, high in box), "a root has its ends exchanged")
    return box


def place(state: State) -> str:
    if state.box is None:
        return "all parameters"
    ends = (f"{float(p):.9g} <= p{i} <= {float(q):.9g}" for i, (p, q) in enumerate(state.box, 1))
    return ", ".join([state.frame, *ends])


# ---- files ----------------------------------------------------------------------------------


def load(path: str) -> dict[str, Any]:
    """A proof from a file, compressed or not."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        proof = json.loads(text)
    except (ValueError, EOFError, OSError, RecursionError, zlib.error) as wrong:
        raise Unreadable(f"{path} is not a proof: {wrong}") from None
    if not isinstance(proof, dict):
        raise Unreadable(f"{path} is not a proof")
    return proof


def parts(proof: dict[str, Any]) -> list[dict[str, Any]]:
    """A file may prove several statements about the same data."""
    if "parts" not in proof:
        return [proof]
    if not proof["parts"] or "claim" in proof:
        raise Unreadable("a proof has a claim or parts")
    return list(proof["parts"])


def sentence(proof: dict[str, Any]) -> str:
    """What the proof shows, in words."""
    return "; ".join(_statement(part["claim"], proof["data"]["rows"]) for part in parts(proof))


def _statement(claim: dict[str, Any], n: int) -> str:
    better = "below" if claim["objective"] in ("tv", "lts") else "above"
    what = f"{claim['objective']} {better} {claim['threshold']!r}"
    sign, beta = claim.get("sign", 1), claim.get("beta", 0)
    if "margin" in claim:
        side = "above" if sign > 0 else "below"
        what = f"a slope {side} {beta!r} (by {claim['margin']!r} of a correlation or more)"
    elif sign != 1 or beta != 0:
        what += f" with {sign:+d} (y - {beta!r} x) for y"
    rows = f"{claim['keep']} {'or more ' if claim['or_more'] else ''}of {n} rows"
    within = f"; the subset given comes within {claim['tol']!r} of it" if claim["subset"] else ""
    return f"no {rows} have {what}{within}"


def read_columns(path: str, names: Sequence[str], wanted: int) -> list[list[float]]:
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    at = [header.index(name) for name in names] if names else range(wanted)

    def value(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return float("nan")

    return [[value(row[j]) for row in rows] for j in at]


def main(arguments: Sequence[str]) -> int:
    try:
        proof_file, data_file, *names = arguments
        proof = load(proof_file)
        checker = Checker(proof)
        checker.check(
            *read_columns(data_file, names, 1 + whole(proof.get("predictors"), 1, 99, "predictors"))
        )
    except Refuted as wrong:
        print(f"refuted: {wrong}")
        return 1
    except (Unreadable, OSError, ValueError, IndexError) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    print(f"proved: {sentence(proof)} ({checker.nodes} nodes, {checker.listed} subsets listed)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

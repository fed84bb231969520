"""From a claim to a proof: what the file says, around the tree that the compiled core writes.

The claim is "no k (or more) rows have a value better than ``threshold``". The tree is written for
an ``aim`` a little nearer to the best value known, so that every inequality of the claim holds with
room to spare: the core's arithmetic rounds, the checker's does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep import _core
from quadsweep.clock import Clock
from quadsweep.proofs import checker, several
from quadsweep.proofs.proof import Proof

Floats = NDArray[np.float64]

FEW = 20_000  # subsets that are listed without further ado
MANY = 10**6  # subsets that are listed where boxes do not end
MOST_NODES = 50_000  # of a proof with several predictors
LISTED = {"roots": [{"frame": "all", "nodes": [["list"]]}]}
ROOM = 0.25  # of the distance between value and threshold: between aim and threshold
_KINDS = ("bound", "list", "split", "copies")
_FRAMES = ("flat+", "steep+", "flat-", "steep-")


class Unproved(Exception):
    """There is no proof: a limit ended its writing, or (``better``) the claim is false."""

    def __init__(self, reason: str, better: Sequence[int] = ()) -> None:
        super().__init__(reason)
        self.reason, self.better = reason, list(better)


@dataclass(frozen=True)
class Statement:
    """What is to be proved of the complete rows x, y; x has a column for each predictor where there
    are several. With one of them y stands for sign * (y - beta x).

    ``good`` are the positions of a good subset, ``value`` its value; claimed to come within a
    tolerance of the threshold if ``best``.
    """

    x: Floats
    y: Floats
    k: int
    objective: str
    threshold: float
    good: Sequence[int]
    value: float
    best: bool = True
    or_more: bool = False
    sign: int = 1
    beta: float = 0.0
    margin: float | None = None  # of a slope: the threshold is one of the covariance

    @property
    def columns(self) -> list[list[float]]:
        """x and y as the checker has them."""
        predictors = self.x.T if self.x.ndim == 2 else [self.x]
        return [column.tolist() for column in (*predictors, self.y)]

    @property
    def sense(self) -> int:
        return -1 if self.objective in ("tv", "lts") else 1

    @property
    def aim(self) -> float:
        """Between the value and the threshold, nearer to the threshold."""
        aim = self.threshold + ROOM * (self.value - self.threshold)
        return aim if (aim > 0) == (self.threshold > 0) else self.threshold

    def claim(self) -> dict[str, Any]:
        """As the file has it."""
        claim: dict[str, Any] = {
            "objective": self.objective,
            "keep": self.k,
            "or_more": self.or_more,
            "threshold": self.threshold,
            "subset": sorted(int(i) for i in self.good) if self.best else None,
        }
        if self.sign != 1:
            claim["sign"] = self.sign
        if self.beta != 0:
            claim["beta"] = self.beta
        if self.margin is not None:
            claim["margin"] = self.margin
        return claim


def write(
    statement: Statement,
    *,
    time_limit: float = math.inf,
    callback: Callable[[float, float, int, float], object] | None = None,
    enumerate_up_to: int = 100,
    most_nodes: int = 0,
    list_up_to: int = FEW,
    rounding: bool = True,
    room: bool = True,
) -> Proof:
    """The proof of a statement, or Unproved: also where it has more nodes than ``most_nodes``.

    Up to ``list_up_to`` subsets are listed without boxes. ``rounding=False`` and ``room=False`` are
    for the tests: bounds that ignore rounding, and no room between aim and threshold.
    """
    if not (math.isfinite(statement.threshold) and math.isfinite(statement.value)):
        raise Unproved("the value is beyond the doubles")
    columns = statement.columns
    content: dict[str, Any] = {
        "format": checker.FORMAT,
        "version": checker.VERSION,
        "predictors": len(columns) - 1,
        "data": {"rows": len(statement.x), "sha256": checker.digest(columns)},
        "claim": statement.claim(),
        "placement": _as_given(len(columns) - 1),
        "criterion": {},
        "roots": [],
    }
    exact = _exact(statement, content)
    if exact.trivial():
        return Proof(content)
    subsets = _subsets(statement) if list_up_to > 0 else math.inf
    if subsets <= list_up_to:
        return Proof(content | LISTED)
    if subsets > MANY and any(_wide(np.array(v)) for v in columns):
        raise Unproved("the squares of a column are beyond the doubles")
    statement = replace(statement, threshold=content["claim"]["threshold"])
    if len(columns) > 2:
        return _with_several(statement, content, most_nodes, time_limit)
    y = statement.sign * (statement.y - statement.beta * statement.x)
    tree = _core.prove(
        statement.x,
        np.ascontiguousarray(y),
        statement.k,
        statement.objective,
        statement.or_more,
        statement.aim if room else statement.threshold,
        statement.threshold,
        [int(i) for i in statement.good],
        enumerate_up_to,
        int(1000 + subsets / 100) if subsets <= MANY else most_nodes,
        rounding,
        time_limit,
        callback,
    )
    if len(tree["better"]):
        raise Unproved("a subset is better than the threshold", tree["better"])
    if tree["status"] == "heuristic":  # more nodes than that
        if subsets > MANY:
            raise Unproved("too many nodes")
        return Proof(content | LISTED)
    if tree["status"] != "optimal":
        raise Unproved(tree["status"])
    content["placement"] = {part: tree[part] for part in ("shift", "scale")}
    content["placement"]["tilt"] = [tree["tilt"]]
    content["criterion"] = _hints(statement, tree["constant"])
    content["roots"] = list(_roots(statement, tree))
    return Proof(content)


def _as_given(p: int) -> dict[str, Any]:
    """The placement of columns that stay where they are."""
    place: dict[str, Any] = {"shift": [0.0] * (p + 1), "scale": [0] * (p + 1), "tilt": [0.0] * p}
    if p > 1:
        place["mix"] = [[0.0] * j + [1.0] for j in range(p)]
    return place


def _with_several(
    statement: Statement, content: dict[str, Any], most_nodes: int, time_limit: float
) -> Proof:
    """The tree of several predictors. It is written in floating point with something to spare for
    rounding, not with a bound on it: so it is checked before it is handed out."""
    clock = Clock(time_limit)
    squared = statement.objective == "r2"
    place = several.Placement.about(statement.x, statement.y, np.array(sorted(statement.good)))
    tree = several.Tree(place, statement.k, statement.aim, squared, most_nodes or MOST_NODES, clock)
    try:
        roots = list(tree.roots())
    except several.TooMany as wrong:
        raise Unproved(str(wrong)) from None
    rho = 1 - statement.threshold
    while squared and Fraction(rho) < 1 - Fraction(statement.threshold):
        rho = math.nextafter(rho, math.inf)
    criterion = {"rho": rho} if squared else {}
    content = content | {"placement": place.content(), "criterion": criterion, "roots": roots}
    try:
        checker.Checker(content).check(*statement.columns)
    except checker.Refuted as wrong:
        raise Unproved(f"rounding hides a step: {wrong}") from None
    return Proof(content)


def _exact(statement: Statement, content: dict[str, Any]) -> checker.Claim:
    """The claim in exact arithmetic. Its threshold and tolerance make room for what the rounding of
    the value and of the threshold may hide."""
    claim, rows = content["claim"], list(statement.good)
    step = math.ulp(max(abs(statement.threshold), abs(statement.value)))
    exact = checker.Claim(content, statement.columns)
    while statement.best and exact.beats(exact.sums(rows), exact.t):
        claim["threshold"] += statement.sense * step
        exact.threshold = Fraction(claim["threshold"])
        exact.t = exact.threshold * exact.scale
        step *= 2
    if statement.best:
        claim["tol"] = abs(claim["threshold"] - statement.value)
        while not exact.comes_within(Fraction(claim["tol"]), rows):
            claim["tol"] += step
            step *= 2
    return exact


def largest_covariance(x: Floats, y: Floats, k: int, margin: float) -> float:
    """The largest T with n T <= margin sqrt(ab) for any k rows or more, or just below it."""
    (xs, ys), unit = checker.in_whole_units([[Fraction(v) for v in c.tolist()] for c in (x, y)])
    a, b = (checker.Column(c, k).least / 4**unit for c in (xs, ys))
    most = Fraction(margin) ** 2 * a * b / len(x) ** 2
    t = math.sqrt(a) * math.sqrt(b) * margin / len(x)
    while Fraction(t) ** 2 > most:
        t *= 1 - 2**-52
    return t


def _wide(column: Floats) -> bool:
    """Whether squares of the scaled column may overflow, so that no bound means anything."""
    away = np.abs(column / 4 - np.median(column / 4))
    away = away[away > 0]
    return len(away) > 0 and bool(away.max() / 2.0**190 > np.median(away))


def _subsets(statement: Statement) -> float:
    """How many there are, infinity if more than can be listed."""
    n, k = len(statement.x), statement.k
    if min(k, n - k) > 60:
        return math.inf
    count = sum(comb(n, j) for j in (range(k, n + 1) if statement.or_more else [k]))
    return count if count <= MANY else math.inf


def _hints(statement: Statement, constant: float) -> dict[str, Any]:
    if statement.objective in ("cov", "dv"):
        return {"balance": [1 / constant, constant]}
    if statement.objective in ("r", "r2"):
        return {"rho": rho_of(statement.threshold, statement.objective == "r2")}
    return {}


def rho_of(threshold: float, squared: bool) -> float:
    """(1 - t)/(1 + t) of t = |threshold|, or its root, rounded to the side that proves enough."""
    t = math.sqrt(threshold) if squared else abs(threshold)
    # 1 - threshold is exact where it is small, 1 - its root is not.
    near = (1 - threshold) / (1 + t) ** 2 if squared else (1 - t) / (1 + t)
    power, way = 2 if squared else 1, 1 if threshold >= 0 else -1
    rho, step = near, math.ulp(near)
    while True:
        left = (1 - Fraction(rho)) ** power
        right = Fraction(abs(threshold)) * (1 + Fraction(rho)) ** power
        if way * left <= way * right:
            return rho
        rho, step = near + way * step, 2 * step


def _roots(statement: Statement, tree: dict[str, Any]) -> list[dict[str, Any]]:
    numbers = iter(tree["numbers"].tolist())
    nodes = [_node(statement, node, numbers, tree["corners"]) for node in tree["nodes"]]
    ends = [*(first for _, _, first in tree["roots"][1:]), len(nodes)]
    return [
        {"frame": _frame(statement, frame), "box": list(box), "nodes": nodes[first:end]}
        for (frame, box, first), end in zip(tree["roots"], ends, strict=True)
    ]


def _frame(statement: Statement, frame: int) -> str:
    if statement.objective == "lts":
        return _FRAMES[min(frame, 1)]
    if statement.objective == "r2" or (statement.objective == "r" and statement.threshold >= 0):
        return _FRAMES[frame]
    return "means"


def _node(statement: Statement, node: Any, numbers: Any, corners: int) -> list[Any]:
    kind, hinted, first, second = node
    name = _KINDS[kind]
    out: list[Any] = [name]
    if name == "split":
        out.append(first + 1)
    elif name == "copies":
        out += [first, second]
    if hinted:
        low, high, at, tau, *lambdas = next(numbers)
        free = {"r2": [low, high], "r": [low, high], "cov": [at], "dv": [at]}
        multipliers = free.get(statement.objective, [])
        if statement.objective == "r" and statement.threshold < 0:
            multipliers = [at, tau]
        out.append([*multipliers, *lambdas[:corners]])
    return out

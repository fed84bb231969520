"""From a claim to a proof: what the file says, around the tree that the compiled core writes.

The claim is "no k (or more) rows have a value better than ``threshold``". The tree is written for
an ``aim`` a little nearer to the best value known, so that every inequality of the claim holds with
slack: the core's arithmetic rounds, the checker's does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats
from quadsweep.clock import Clock
from quadsweep.proofs import checker, partial, several
from quadsweep.proofs.proof import Proof

FEW = 20_000  # subsets that are listed without further ado
MANY = 10**6  # subsets that are listed where boxes do not end
MOST_NODES = 50_000  # of a proof with several predictors
SLACK = 0.25  # of the distance between value and threshold: between aim and threshold
_KINDS = ("bound", "list", "split", "copies")


class Unproved(Exception):
    """There is no proof: a limit ended its writing, or the claim is false.

    ``better`` are rows that beat the threshold, [] where they are not known; None unless it is
    false.
    """

    def __init__(self, reason: str, better: Sequence[int] | None = None) -> None:
        super().__init__(reason)
        self.reason, self.better = reason, better


@dataclass(frozen=True)
class Statement:
    """What is to be proved of the complete rows x, y; x has a column for each predictor where there
    are several. y stands for sign * (y - beta x), x the last of them; their covariance is that
    given the other predictors, of which only the sign has a proof by boxes.

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
        aim = self.threshold + SLACK * (self.value - self.threshold)
        return aim if (aim > 0) == (self.threshold > 0) else self.threshold

    def claim(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "objective": self.objective,
            "keep": self.k,
            "or_more": self.or_more,
            "sign": self.sign,
            "beta": self.beta,
            "threshold": self.threshold,
            "margin": self.margin,
            "subset": sorted(int(i) for i in self.good) if self.best else None,
            "tol": None,
        }


def prove(statement: Statement, *, time_limit: float = math.inf, **options: Any) -> Proof:
    """The proof of a statement, written and checked; Unproved without one. Options are those of
    ``write``."""
    clock = Clock(time_limit)
    proof = write(statement, time_limit=time_limit, **options)
    try:
        _TimedChecker(proof.content, clock).check(*statement.columns)
    except checker.Refuted as wrong:
        false = isinstance(wrong, checker.Better)
        raise Unproved(f"the proof is refused: {wrong}", [] if false else None) from None
    return proof


class _TimedChecker(checker.Checker):
    """Stops when time is over."""

    def __init__(self, proof: dict[str, Any], clock: Clock) -> None:
        super().__init__(proof, math.inf)
        self.clock = clock

    def spend(self, steps: int) -> None:
        if self.clock.time_left() <= 0:
            raise Unproved("time_limit")


def write(
    statement: Statement,
    *,
    time_limit: float = math.inf,
    callback: Callable[[float, float, int, float], object] | None = None,
    enumerate_up_to: int = 100,
    most_nodes: int = 0,
    list_up_to: int = FEW,
    rounding: bool = True,
    slack: bool = True,
) -> Proof:
    """A proof that is yet to be checked, or Unproved: also beyond ``most_nodes``.

    Up to ``list_up_to`` subsets are listed without boxes. ``rounding=False`` and ``slack=False``
    are for the tests: bounds that ignore rounding, and no slack between aim and threshold.
    """
    if not (math.isfinite(statement.threshold) and math.isfinite(statement.value)):
        raise Unproved("the value is beyond the doubles")
    columns = statement.columns
    listed: dict[str, Any] = {
        "claim": statement.claim(),
        "placement": _as_given(len(columns) - 1),
        "roots": [],
    }
    exact = _exact(statement, listed)
    subsets = _subsets(statement) if list_up_to > 0 else math.inf
    if exact.trivial() or subsets <= list_up_to:
        return _proof(columns, listed)
    if subsets > MANY and any(_wide(np.array(v)) for v in columns):
        raise Unproved("the squares of a column are beyond the doubles")
    statement = replace(statement, threshold=listed["claim"]["threshold"])
    if len(columns) > 2:
        return _with_several(statement, listed, most_nodes, time_limit)
    y = statement.sign * (statement.y - statement.beta * statement.x)
    tree = _core.prove(
        statement.x,
        np.ascontiguousarray(y),
        statement.k,
        statement.objective,
        statement.or_more,
        statement.aim if slack else statement.threshold,
        statement.threshold,
        [int(i) for i in statement.good],
        enumerate_up_to,
        int(1000 + subsets / 100) if subsets <= MANY else most_nodes,
        rounding,
        time_limit,
        callback,
    )
    if len(tree["better"]):
        raise Unproved("a subset is better than the threshold", list(tree["better"]))
    if tree["status"] == "heuristic":  # more nodes than that
        if subsets > MANY:
            raise Unproved("too many nodes")
        return _proof(columns, listed)
    if tree["status"] != "optimal":
        raise Unproved(tree["status"])
    kind = _Kind.from_statement(statement, tree["constant"])
    tree_part = {"placement": _placement(tree, kind.balance), "roots": _roots(kind, tree)}
    return _proof(columns, listed | tree_part)


def _proof(columns: list[list[float]], part: dict[str, Any]) -> Proof:
    shared = {"format": checker.FORMAT, "version": checker.VERSION}
    return Proof(shared | {"data": checker.describe_data(columns), "parts": [part]})


def _as_given(p: int) -> dict[str, Any]:
    """The placement of columns that stay where they are."""
    return {"shift": [0.0] * (p + 1), "matrix": [[0.0] * j + [1.0] for j in range(p + 1)]}


def _placement(tree: dict[str, Any], balance: float) -> dict[str, Any]:
    """The core's: powers of two, and a line taken off y; of cov and dv y is multiplied by more."""
    try:
        of_x, of_y = (math.ldexp(1.0, e) for e in tree["scale"])
        of_y *= balance**2
        return {"shift": tree["shift"], "matrix": [[of_x], [-tree["tilt"] * of_y, of_y]]}
    except OverflowError:
        raise Unproved("the scale of a column is beyond the doubles") from None


def _with_several(
    statement: Statement, listed: dict[str, Any], most_nodes: int, time_limit: float
) -> Proof:
    """The tree of several predictors, written in floating point with something to spare for
    rounding, not with a bound on it."""
    place, tree = _boxes(statement, most_nodes or MOST_NODES, Clock(time_limit))
    try:
        roots = list(tree.roots())
    except several.TooMany as wrong:
        raise Unproved(str(wrong)) from None
    return _proof(statement.columns, listed | {"placement": place.content(), "roots": roots})


def _boxes(
    statement: Statement, most_nodes: int, clock: Clock
) -> tuple[partial.PartialPlacement | several.Placement, several.Tree]:
    """Where the columns are placed, and the tree that is to be written."""
    x, y, k = statement.x, statement.y, statement.k
    if statement.objective == "cov":
        y = statement.sign * (y - statement.beta * x[:, -1])
        at = partial.PartialPlacement.whiten(x[:, :-1], x[:, -1], y)
        return at, partial.SignTree(at, (x[:, -1], y), k, most_nodes, clock)
    place = several.Placement.whiten(x, y, np.array(sorted(statement.good)))
    squared = statement.objective == "r2"
    return place, several.Optimum(place, k, statement.aim, squared, most_nodes, clock)


def _exact(statement: Statement, part: dict[str, Any]) -> checker.StatedClaim:
    """The claim in exact arithmetic. Its threshold and tolerance allow for what the rounding of
    the value and of the threshold may hide."""
    claim, exact = part["claim"], checker.StatedClaim(part, statement.columns)
    if not statement.best:
        return exact
    step = math.ulp(max(abs(statement.threshold), abs(statement.value)))
    sums, sense = exact.sums(statement.good), statement.sense
    while exact.beats(sums, exact.t):
        claim["threshold"] += sense * step
        exact.t = Fraction(claim["threshold"]) * exact.scale
        step *= 2
    claim["tol"] = abs(claim["threshold"] - statement.value)
    while not exact.beats(sums, exact.t - sense * Fraction(claim["tol"]) * exact.scale):
        claim["tol"] += step
        step *= 2
    return exact


def largest_covariance(x: Floats, y: Floats, k: int, margin: float) -> float:
    """The largest T with n T <= margin sqrt(ab) for any k rows or more, or just below it."""
    numbers, unit = checker.in_units([list(map(Fraction, c.tolist())) for c in (x, y)])
    (a, *_), (b, *_) = (checker.spread(column, unit, k) for column in numbers)
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


def _roots(kind: _Kind, tree: dict[str, Any]) -> list[dict[str, Any]]:
    numbers, roots = iter(tree["numbers"].tolist()), []
    ends = [*(first for _, _, first in tree["roots"][1:]), len(tree["nodes"])]
    for (number, box, first), end in zip(tree["roots"], ends, strict=True):
        frame = kind.frame(number)
        nodes = [frame.node(node, numbers, tree["corners"]) for node in tree["nodes"][first:end]]
        roots.append({"frame": frame.column, "box": frame.box(box), "nodes": nodes})
    return roots


@dataclass(frozen=True)
class _Kind:
    """How the core's criteria are those of ``checker.py``."""

    name: str  # line, residual, product, below or spread
    by: float = 1.0  # what the core's costs are multiplied by
    balance: float = 1.0  # and its means, of a product

    @classmethod
    def from_statement(cls, statement: Statement, balance: float) -> _Kind:
        t, objective = statement.threshold, statement.objective
        if objective in ("cov", "dv"):
            return cls("product", balance**2, balance)
        if objective == "r" and t < 0:
            return cls("below", 1 - t)
        if objective in ("r", "r2"):
            return cls("line", 1 + (t if objective == "r" else math.sqrt(t)))
        return cls("spread" if objective == "tv" else "residual")

    def frame(self, number: int) -> _Notation:
        """Of lines: w is y or x, and y or -y. Turned over, the slopes have the other sign."""
        lines = ((1, 1, 1), (0, 1, 1), (1, -1, -1), (0, -1, 1))
        others = {"residual": (int(number == 0), 1, 1), "below": (0, -1, -1)}
        means = (0, 1, self.balance)
        return _Notation(
            self, *(lines[number] if self.name == "line" else others.get(self.name, means))
        )


@dataclass(frozen=True)
class _Notation:
    """How boxes and hints are written; ends change places where signs do, corners keep theirs."""

    kind: _Kind
    column: int
    slope: float  # what the core's first parameter is multiplied by
    mean: float  # and its second

    def box(self, ends: Sequence[float]) -> list[list[float]]:
        """A product has one parameter, the core's second."""
        second = [self.mean * end for end in ends[2:]]
        if self.kind.name == "product":
            return [second]
        return [[self.slope * end for end in ends[:2]], second]

    def node(self, node: Any, numbers: Iterator[list[float]], corners: int) -> list[Any]:
        kind, hinted, first, second = node
        hints = self.hints(*next(numbers), corners=corners) if hinted else ([], [])
        if _KINDS[kind] == "split":
            return ["split", *hints, 1 if self.kind.name == "product" else first + 1]
        return [_KINDS[kind], *hints, *([first, second] if _KINDS[kind] == "copies" else [])]

    def hints(
        self, low: float, high: float, at: float, tau: float, *lambdas: float, corners: int
    ) -> tuple[list[float], list[float]]:
        """The multipliers, and a lambda a corner."""
        g = [self.mean * v for v in (low, high, at)]
        free = {"line": g[:2], "below": [g[2], tau], "product": g[2:]}
        return free.get(self.kind.name, []), [self.kind.by * v for v in lambdas[:corners]]

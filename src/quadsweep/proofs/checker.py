"""Checks a proof that no k rows (or no k or more) beat a threshold t, in exact arithmetic.

    python checker.py PROOF DATA.csv [XCOLUMN ... YCOLUMN]

This file runs by itself and needs the standard library only; docs/proof-format.md describes what
it reads. Every number of a proof is a hint: it is used as the exact rational it is, and a false one
can only make an inequality fail.

**Criteria.** Z = (X_1 .. X_p, Y) are the columns, placed as the file says. In the frame of one of
them, w, with v the others, e = p v - w + alpha is the distance from a plane. A subset that beats t,
with centred sums a, b, c of X and Y, has for its own parameters and whatever g and tau > 0

    sum over the subset of cost  +  base  <  0 :

    claim             cost of a row                                        parameters    base
    r, R2 > t         e^2 - rho (p v + w - g)^2                            p, alpha
    R2 > t            e^2 - rho e_Y^2 (y - g)^2      several predictors    p, alpha
    lts < t           e^2                                                  p, alpha      -t e_Y^2
    r > t, t < 0      (tau X - Y - m)^2 - rho (-tau X - Y - g)^2           m
    cov > t           (X - beta Y - m)^2 - (X + beta Y - g)^2 + 4 beta t   m
    tv < t            (X - m_1)^2 + (Y - m_2)^2 - t                        m_1, m_2

alpha and m are means: with them the sum of the squares is least. e_Y is the coefficient of Y in e;
in the first line p = sqrt(b/a), in the next two e = 0 is the least squares plane.

**Boxes.** In a box of parameters the first squares lie above their tangents at its middle; what is
left is concave, so least at a corner. There, for subsets that keep some rows for certain and `need`
of the open ones (or more, if larger subsets count), and for every lambda,

    sum  >=  V  =  base + cost of the kept + need lambda - sum over the open (lambda - cost)^+ .

V >= 0 at all corners: nothing in the box beats t. V + j (cost - lambda)^+ >= 0 at all corners:
nothing that keeps j copies of the row; V + j (lambda - cost)^+ >= 0: nothing that leaves out j.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, pairwise, product
from math import isfinite, isqrt, lcm
from operator import add, mul
from typing import Any, NamedTuple

FORMAT, VERSION = "quadsweep proof", 2
OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts")
MOST_LISTED = 10**7  # subsets that a proof may ask to be listed
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)

Ends = tuple[Fraction, Fraction]
Box = Sequence[Ends]  # of each parameter
Number = Fraction | int
Form = Sequence[Number]  # coefficients of the columns and of 1
Frame = tuple[int, ...]  # of a plane: the column w, and a sign of Y; none for means
Forms = tuple[Sequence[Form], Form, Number, Number]
Cost = tuple[Form, Number]  # of a row, in terms of its products; and the base
Ints = tuple[int, ...]
Part = dict[str, Any]  # of the file


class Refuted(Exception):
    """An inequality that does not hold, or a part of the proof that is missing."""


class Unreadable(Exception):
    """Not a proof at all, or not one about these data."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Refuted(what)


def number(value: Any) -> Fraction:
    """A number of the file, as the rational it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise Unreadable(f"{value!r} is not a number")
    return Fraction(value)


def whole(value: Any, low: int, high: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Unreadable(f"{what} must be a whole number between {low} and {high}; got {value!r}")
    return value


def in_units(values: Form) -> tuple[list[int], int]:
    """Dyadic rationals as whole multiples of 2^-unit, and unit."""
    unit = max(v.denominator for v in values).bit_length() - 1
    return [v.numerator << unit + 1 - v.denominator.bit_length() for v in values], unit


def root(square: Fraction) -> Fraction:
    """A number just below the root."""
    top, bottom = square.as_integer_ratio()
    return Fraction(isqrt(top * bottom << 128), bottom << 64)


def times(f: Form, g: Form) -> list[Number]:
    """The product of two forms: what multiplies the products (0, 0), (0, 1) .. (1, 1) .."""
    pairs = combinations_with_replacement(range(len(f)), 2)
    return [f[i] * g[j] + f[j] * g[i] if i < j else f[i] * g[i] for i, j in pairs]


def spread(values: Sequence[int], unit: int, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """Of k or more of these, the centred sum of squares: least, least but not 0, most."""
    v, n = sorted(values), len(values)
    s, ss = [0, *accumulate(v)], [0, *accumulate(t * t for t in v)]
    # The least is attained by neighbours; if it is not 0, two values differ by the least gap.
    least = min(k * (ss[i + k] - ss[i]) - (s[i + k] - s[i]) ** 2 for i in range(n - k + 1))
    gap = min((t - u for u, t in pairwise(v) if t > u), default=0)
    in_k, in_n = k << 2 * unit, n << 2 * unit
    positive = max(least, (k - 1) * gap * gap)
    return Fraction(least, in_k), Fraction(positive, in_k), Fraction(n * ss[n] - s[n] ** 2, in_n)


# ---- the claim ------------------------------------------------------------------------------


class Row(NamedTuple):
    """A point that occurs up to `copies` times, and the products of its columns and of 1."""

    products: Ints
    copies: int
    name: int  # the first row of the data that holds it


def plus(sums: Ints, row: Row, copies: int) -> Ints:
    return tuple(map(add, sums, (copies * p for p in row.products)))


class Claim:
    """What is to be shown, and the placed columns in whole units 2^-unit.

    Z = M (z - shift) for z = (x_1 .. x_p, sign (y - beta x_1)) and a triangle M. Where R2 is of
    several predictors, y itself, moved and scaled, is one more column. dv is the cov of X - Y and
    X + Y.
    """

    def __init__(self, part: Part, columns: Sequence[Sequence[float]]) -> None:
        claim, self.p, self.n = part["claim"], len(columns) - 1, len(columns[0])
        self.objective, self.or_more = claim["objective"], claim["or_more"]
        if self.objective not in (OBJECTIVES if self.p == 1 else ("r2", "lts")):
            raise Unreadable(f"unknown objective {self.objective!r}")
        if not isinstance(self.or_more, bool):
            raise Unreadable(f"or_more must be true or false; got {self.or_more!r}")
        self.k = whole(claim["keep"], 2, self.n, "keep")
        self.threshold = number(claim["threshold"])
        given = [[Fraction(v) for v in column] for column in columns]
        if claim["margin"] is not None:
            self.check_margin(number(claim["margin"]), given)
        placed = self.placed(claim, part["placement"], given)
        self.t = self.threshold * self.scale
        numbers, self.unit = in_units([v for column in placed for v in column])
        self.columns = [numbers[i : i + self.n] for i in range(0, len(numbers), self.n)]
        rows = zip(*self.columns, [1 << self.unit] * self.n, strict=True)
        pairs = (combinations_with_replacement(row, 2) for row in rows)
        self.products = [tuple(u * v for u, v in row) for row in pairs]
        self.nothing = (0,) * len(self.products[0])
        positions = enumerate(combinations_with_replacement(range(len(placed) + 1), 2))
        self.at = {pair: at for at, (i, j) in positions for pair in ((i, j), (j, i))}
        # k copies of one point have no correlation, so at most k - 1 of them are kept.
        capped = self.objective in ("r", "r2") and not self.or_more
        most = self.k - 1 if capped else self.n
        first = {point: i for i, point in reversed(list(enumerate(self.products)))}
        self.rows = [Row(point, min(count, most), first[point])
                     for point, count in Counter(self.products).items()]  # fmt: skip

    def placed(self, claim: Part, place: Part, given: list[list[Fraction]]) -> list[list[Fraction]]:
        sign, beta = whole(claim["sign"], -1, 1, "sign"), number(claim["beta"])
        require(sign != 0, "sign must be 1 or -1")
        given[-1] = [sign * (y - beta * x) for x, y in zip(given[0], given[-1], strict=True)]
        m, shift = [list(map(number, row)) for row in place["matrix"]], map(number, place["shift"])
        moved = [[v - s for v in column] for column, s in zip(given, shift, strict=True)]
        require([len(row) for row in m] == list(range(1, self.p + 2)), "no triangle of columns")
        require(all(row[-1] > 0 for row in m), "the triangle's diagonal must be positive")
        of_x, of_y = m[0][0], m[-1][-1]
        if self.p == 1 and self.objective != "lts":  # not about planes alone
            require(m[1][0] == 0, "columns may not be mixed here")
        if self.objective in ("dv", "tv"):
            require(of_x == of_y, "x and y must be scaled alike")
        by = {"cov": of_x * of_y, "dv": of_x**2, "tv": of_x**2, "lts": of_y**2}
        self.scale = by.get(self.objective, Fraction(1))
        rows = list(zip(*moved, strict=True))
        placed = [[sum(map(mul, factors, z), Fraction(0)) for z in rows] for factors in m]
        if self.objective == "dv":
            self.objective = "cov"
            return [[x + s * y for x, y in zip(*placed, strict=True)] for s in (-1, 1)]
        itself = [[of_y * y for y in moved[-1]]] if self.p > 1 and self.objective == "r2" else []
        return placed + itself

    def check_margin(self, margin: Fraction, given: list[list[Fraction]]) -> None:
        """A slope that passes beta by the margin has sign (c - beta a) > margin sqrt(ab), so a
        covariance above the threshold: n threshold is no more than that for any k rows or more."""
        require(self.objective == "cov" and self.or_more, "a margin is for slopes")
        (a, *_), (b, *_) = (spread(*in_units(column), self.k) for column in given)
        reach = self.n * self.threshold
        require(margin >= 0 and reach >= 0, "a margin must not be negative")
        require(reach**2 <= margin**2 * a * b, "the threshold passes the margin")

    def check_subset(self, rows: Sequence[Any], tol: Fraction) -> None:
        """The subset has the size claimed and comes within the tolerance of the threshold."""
        named = {whole(i, 0, self.n - 1, "a row") for i in rows}
        require(len(rows) == len(named), "the subset names a row twice")
        right = len(rows) >= self.k if self.or_more else len(rows) == self.k
        require(right, f"the subset has {len(rows)} rows, not {self.k}")
        require(self.comes_within(tol, rows), "the subset is further from the threshold than tol")

    def comes_within(self, tol: Fraction, rows: Iterable[int]) -> bool:
        worse = tol if self.objective in ("tv", "lts") else -tol
        return self.beats(self.sums(rows), (self.threshold + worse) * self.scale)

    def sums(self, rows: Iterable[int]) -> Ints:
        return tuple(map(sum, zip(self.nothing, *(self.products[i] for i in rows), strict=True)))

    def beats(self, sums: Ints, t: Fraction) -> bool:
        """Whether a subset has a value, and a better one than t."""
        (top, bottom), n, one, at = t.as_integer_ratio(), sums[-1], len(self.columns), self.at
        columns = (*range(self.p), one - 1)
        m = [[n * sums[at[i, j]] - sums[at[i, one]] * sums[at[j, one]] for j in columns]
             for i in columns]  # fmt: skip
        (a, c), b = m[0][:2], m[-1][-1]
        if self.objective == "cov":
            return bottom * c > top * n * n
        if self.objective == "tv":
            return bottom * (a + b) < top * n * n
        if self.objective == "r":
            return a > 0 and b > 0 and bottom**2 * c * abs(c) > top * abs(top) * a * b
        rss, below = left(m)
        if self.objective == "lts":
            return rss * bottom < top * below * n << 2 * self.unit
        return b > 0 and rss * bottom < (bottom - top) * b * below

    def trivial(self) -> bool:
        """No correlation is above 1, no sum of squares below 0."""
        if self.objective in ("r", "r2"):
            return self.t >= 1
        return self.objective in ("tv", "lts") and self.t <= 0


def left(m: list[list[int]]) -> tuple[int, int]:
    """Of sums of squares and products: what the columns before it leave of the last, a quotient."""
    before = 1
    for j in range(len(m) - 1):  # by elimination without fractions
        pivot = m[j][j]
        if pivot == 0:  # depends on those before it
            continue
        for i in range(j + 1, len(m)):
            for k in range(len(m) - 1, j, -1):
                m[i][k] = (m[i][k] * pivot - m[i][j] * m[j][k]) // before
        before = pivot
    return m[-1][-1], before


# ---- the criterion --------------------------------------------------------------------------


class Criterion:
    """The costs at the corners of a box, and the boxes that hold all subsets that beat t."""

    def __init__(self, claim: Claim, hints: Part) -> None:
        self.claim, self.t, self.p, self.kind = claim, claim.t, claim.p, claim.objective
        self.rho, self.beta, self.turn = (number(hints.get(h, 1)) for h in ("rho", "beta", "turn"))
        require(min(self.rho, self.beta, self.turn) > 0, "rho, beta and turn must be positive")
        t, rho = self.t, self.rho
        if self.kind not in ("r", "r2"):
            self.rho = Fraction(1)
        elif self.p > 1:
            self.kind = "r2 of several"
            require(rho >= 1 - t, "rho is too small")
        elif self.kind == "r2":  # SS(w - p v) : SS(w + p v) is 1 - r : 1 + r
            require(rho <= 1 and (1 - rho) ** 2 <= t * (1 + rho) ** 2, "rho is too small")
        else:
            self.kind = "r" if t >= 0 else "r below 0"
            require(1 - rho <= t * (1 + rho), "rho is too small")

    def forms(self, frame: Frame, p: Form, g: Number, tau: Number) -> Forms:
        """At a point, with coefficients that are affine in it: what is squared; what is squared and
        taken off rho times; what is added to a row; what is added once."""
        t, beta, none = self.t, self.beta, [0] * (len(self.claim.columns) + 1)
        match self.kind:
            case "tv":
                return [[1, 0, -p[0]], [0, 1, -p[1]]], none, -t, 0
            case "cov":
                return [[1, -beta, -p[0]]], [1, beta, -g], 4 * beta * t, 0
            case "r below 0":
                return [[tau, -1, -p[0]]], [-tau, -1, -g], 0, 0
        *slopes, alpha = p
        e = [*self.plane(frame, slopes, -1), alpha]
        of_y = e[self.p]
        match self.kind:
            case "lts":
                return [e], none, 0, -t * of_y**2
            case "r2 of several":
                e.insert(-1, 0)
                return [e], [*none[:-2], of_y, -of_y * g], 0, 0
        return [e], [*self.plane(frame, slopes, 1), -g], 0, 0

    def plane(self, frame: Frame, slopes: Form, own: int) -> list[Number]:
        """The coefficients of the columns: slopes, and own for w itself."""
        w, sign = frame
        f = [*slopes[:w], own, *slopes[w:]]
        f[-1] *= sign
        return f

    def costs(self, frame: Frame, box: Box, free: Form) -> Iterator[Cost]:
        """At the corners, the last parameter running fastest. g is affine between the ends of the
        first parameter."""
        *g, tau = free
        require(g[0] == g[1] or self.kind != "r2 of several", "g must be one number here")
        if self.kind == "r below 0":  # the box is of the means of -Y - X and -Y + X
            require(tau > 0, "tau must be positive")
            ends = [((1 - tau) * p1 + (1 + tau) * p2) / 2 for p1, p2 in product(*box)]
            box = [(min(ends), max(ends))]
        middle, *_ = self.forms(frame, [(low + high) / 2 for low, high in box], 0, tau)
        for corner in product((0, 1), repeat=len(box)):
            point = [ends[at] for ends, at in zip(box, corner, strict=True)]
            squared, taken, each, base = self.forms(frame, point, g[corner[0]], tau)
            cost = [-self.rho * q for q in times(taken, taken)]
            for e, f in zip(middle, squared, strict=True):  # e^2 + 2 e (f - e)
                tangent = times(e, [2 * v - u for u, v in zip(e, f, strict=True)])
                cost = list(map(add, cost, tangent))
            cost[-1] += each
            yield cost, base

    def cover(self, roots: Sequence[tuple[Frame, Box]]) -> None:
        """Refuted unless every subset that beats t has its own parameters in one of the roots."""
        for frame, box in self.needed():
            held = any(own == frame and holds(given, box) for own, given in roots)
            require(held, f"the roots leave out {place(frame, box)}")

    def needed(self) -> Iterator[tuple[Frame, Box]]:
        """Ranges of means, or of slopes and of the means that belong to them."""
        means: dict[str, list[Form]] = {
            "tv": [(1, 0), (0, 1)], "cov": [(1, -self.beta)], "r below 0": [(-1, -1), (1, -1)]
        }  # fmt: skip
        if self.kind in means:
            yield (), [self.mean(form) for form in means[self.kind]]
            return
        for frame, slopes in self.slopes():
            corners = ([-p for p in corner] for corner in product(*slopes))
            yield frame, [*slopes, self.mean(*(self.plane(frame, c, 1) for c in corners))]

    def slopes(self) -> Iterator[tuple[Frame, list[Ends]]]:
        """Whatever the plane, one coefficient is the largest: it is divided by that. With one
        predictor lines count as steep from `turn`; sqrt(b/a) has a range, and for lts |p| is at
        most that; where X does not vary in a subset, slope 0 has its residuals."""
        if self.p > 1:
            yield from (((w, 1), [(Fraction(-1), Fraction(1))] * self.p) for w in range(self.p + 1))
            return
        spreads = (spread(v, self.claim.unit, self.claim.k) for v in self.claim.columns)
        (_, a, a_most), (_, b, b_most) = spreads
        turn, steep = self.turn, root(a / b_most)
        if self.kind == "lts":
            yield (1, 1), [(-turn, turn)]
            if 0 < steep <= 1 / turn:
                yield (0, 1), [(steep, 1 / turn)]
                yield (0, 1), [(-1 / turn, -steep)]
            return
        flat = root(b / a_most)
        for sign in (1, -1) if self.kind == "r2" else (1,):
            if flat <= turn:
                yield (1, sign), [(flat, min(turn, 1 / steep))]
            if steep <= 1 / turn:
                yield (0, sign), [(steep, min(1 / turn, 1 / flat))]

    def mean(self, *forms: Form) -> Ends:
        """Of what lies between these combinations of the columns, the range of the mean of k rows
        or more: of the lowest k, of the highest k."""
        ends = []
        for form in forms:
            unit = lcm(*(q.denominator for q in form))
            factors = [int(q * unit) for q in form]
            v = sorted(sum(map(mul, factors, z)) for z in zip(*self.claim.columns, strict=True))
            for some in (v[: self.claim.k], v[-self.claim.k :]):
                ends.append(Fraction(sum(some), len(some) * unit << self.claim.unit))
        return min(ends), max(ends)


def root_of(root: Part, p: int) -> tuple[Frame, Box]:
    """Its frame and its box, as the file has them."""
    ends = iter([number(end) for end in root["box"]])
    frame = tuple(whole(i, -1, p, "a frame's number") for i in root["frame"])
    return frame, tuple(zip(ends, ends, strict=True))


def holds(box: Box, part: Box) -> bool:
    pairs = zip(box, part, strict=True)
    return all(low <= start and end <= high for (low, high), (start, end) in pairs)


def place(frame: Frame, box: Box) -> str:
    """A box in words."""
    ends = (f"{float(p):.9g} <= p{i} <= {float(q):.9g}" for i, (p, q) in enumerate(box, 1))
    return ", ".join([f"frame {frame}" if frame else "means", *ends])


# ---- the tree -------------------------------------------------------------------------------


class State(NamedTuple):
    """What a node stands for."""

    frame: Frame
    box: Box
    open: list[Row]
    kept: Ints
    need: int

    def emptied(self) -> State:
        """Without any subset."""
        return self._replace(open=[], need=1)


class Checker:
    def __init__(self, proof: Part) -> None:
        self.proof = proof
        self.nodes = self.listed = 0

    def check(self, *given: Sequence[float]) -> None:
        """Raises Refuted, with the place, unless the proof shows what it claims about the columns.

        The last column is y. Rows with a value that is not finite are left out; the others are
        counted from 0.
        """
        complete = [row for row in zip(*given, strict=True) if all(map(isfinite, row))]
        columns = [list(map(float, column)) for column in zip(*complete, strict=True)]
        try:
            if (self.proof["format"], self.proof["version"]) != (FORMAT, VERSION):
                raise Unreadable(f"not a {FORMAT} of version {VERSION}")
            if self.proof["data"] != about(columns):
                raise Unreadable("the proof is about other data: their digest differs")
            require(len(self.proof["parts"]) > 0, "a proof has parts")
            for part in self.proof["parts"]:
                self.check_part(part, columns)
        except MALFORMED as wrong:
            raise Unreadable(f"the proof is malformed: {wrong!r}") from None

    def check_part(self, part: Part, columns: Sequence[Sequence[float]]) -> None:
        self.claim = claim = Claim(part, columns)
        subset, tol = part["claim"]["subset"], part["claim"]["tol"]
        if subset is not None:
            claim.check_subset(subset, number(tol))
        start = State((), (), claim.rows, claim.nothing, claim.k)
        roots = [root_of(root, claim.p) for root in part["roots"]]
        if claim.trivial():
            return
        if not roots:
            self.list_all(start)
            return
        self.criterion = Criterion(claim, part["criterion"])
        self.criterion.cover(roots)
        for (frame, box), root in zip(roots, part["roots"], strict=True):
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
                where = place(state.frame, state.box)
                raise Refuted(f"node {self.nodes} ({where}): {wrong}") from None
        require(next(given, None) is None, "the tree goes on after all its boxes are closed")

    def visit(self, state: State, kind: str, hints: Sequence[Any], *more: Any) -> list[State]:
        """The states that remain to be shown empty of better subsets."""
        if hints:
            corners = [*self.corners(state, hints)]
            if kind == "bound" and not more:
                require(all(value >= 0 for value, _ in corners), "the bound is negative")
                return []
            state = self.decide(state, corners)
        match kind, *more:
            case ["list"]:
                self.list_all(state)
                return []
            case ["copies", row, z]:
                return self.branch(state, row, whole(z, 0, self.claim.n, "copies"))
            case ["split", i]:
                return self.split(state, whole(i, 1, len(state.box), "a parameter") - 1)
        raise Unreadable(f"no node is like {[kind, *more]!r}")

    def corners(self, state: State, hints: Sequence[Any]) -> Iterator[tuple[int, list[int]]]:
        """V, and the costs of the open rows less lambda, all in one whole unit. No corner, so that
        everything holds, where no choice among the open rows makes up the size."""
        unit, or_more = 2 * self.claim.unit, self.claim.or_more
        if state.need > sum(row.copies for row in state.open) or (state.need < 0 and not or_more):
            return
        *free, lambdas = *map(number, hints[:3]), map(number, hints[3:])
        costs = self.criterion.costs(state.frame, state.box, free)
        for (cost, base), at in zip(costs, lambdas, strict=True):
            require(at >= 0 or not or_more, "lambda may not be negative here")
            (*factors, once, level), _ = in_units([*cost, base * 2**unit, at * 2**unit])
            gains = [sum(map(mul, factors, row.products)) - level for row in state.open]
            below = sum(row.copies * g for row, g in zip(state.open, gains, strict=True) if g < 0)
            kept = sum(map(mul, factors, state.kept))
            yield once + kept + state.need * level + below, gains

    def decide(self, state: State, corners: list[tuple[int, list[int]]]) -> State:
        """Rows that subsets of the box that beat t must keep, or cannot keep."""
        free, kept, need = [], state.kept, state.need
        values = [value for value, _ in corners]
        for row, *gains in zip(state.open, *(gains for _, gains in corners), strict=True):
            most = fewest(values, gains, row.copies) - 1
            least = row.copies + 1 - fewest(values, [-gain for gain in gains], row.copies)
            if least > most:
                return state.emptied()
            if least > 0:
                kept, need = plus(kept, row, least), need - least
            if most > least:
                free.append(row._replace(copies=most - least))
        return state._replace(open=free, kept=kept, need=need)

    def split(self, state: State, i: int) -> list[State]:
        """The lower and the upper half of a parameter."""
        low, high = state.box[i]
        halves = ((low, (low + high) / 2), ((low + high) / 2, high))
        return [state._replace(box=(*state.box[:i], h, *state.box[i + 1 :])) for h in halves]

    def branch(self, state: State, name: int, z: int) -> list[State]:
        """More than z of the open copies of a row are kept, or at most z."""
        row = next((row for row in state.open if row.name == name), None)
        if row is None or row.copies <= z:
            return [state.emptied(), state]
        others = [other for other in state.open if other is not row]
        more, fewer = row._replace(copies=row.copies - z - 1), row._replace(copies=z)
        kept, need = plus(state.kept, row, z + 1), state.need - z - 1
        return [state._replace(open=[*others, more], kept=kept, need=need),
                state._replace(open=[*others, fewer])]  # fmt: skip

    def list_all(self, state: State) -> None:
        """Scores every subset that is left."""
        exactly = not self.claim.or_more
        after = list(accumulate((row.copies for row in reversed(state.open)), initial=0))[::-1]
        stack = [(0, state.kept, state.need)]
        while stack:
            i, sums, need = stack.pop()
            if need > after[i] or (need < 0 and exactly):
                continue
            if i == len(state.open) or (need == 0 and exactly):
                self.listed += 1
                require(self.listed <= MOST_LISTED, "too many subsets to list")
                require(not self.claim.beats(sums, self.claim.t), "a subset listed is better")
                continue
            row = state.open[i]
            stack += [(i + 1, plus(sums, row, z), need - z) for z in range(row.copies + 1)]


def fewest(values: list[int], gains: list[int], copies: int) -> int:
    """The least j >= 1 with value + j gain^+ >= 0 at every corner, copies + 1 if there is none."""
    least = 1
    for value, gain in zip(values, gains, strict=True):
        if value < 0:
            if gain <= 0:
                return copies + 1
            least = max(least, -(value // gain))
    return min(least, copies + 1)


# ---- the file -------------------------------------------------------------------------------


def about(columns: Sequence[Sequence[float]]) -> Part:
    """How much data, and SHA-256 of the columns as doubles, little end first."""
    rows = len(columns[0]) if columns else 0
    content = b"".join(struct.pack(f"<{rows}d", *column) for column in columns)
    digest = hashlib.sha256(content).hexdigest()
    return {"predictors": len(columns) - 1, "rows": rows, "sha256": digest}


def main(proof_file: str, data_file: str, *names: str) -> int:
    try:
        with gzip.open(proof_file) as file:
            proof = json.load(file)
        with open(data_file, newline="", encoding="utf-8") as table:
            header, *rows = csv.reader(table)
        at = [header.index(name) for name in names] or range(proof["data"]["predictors"] + 1)
        complete = []
        for row in rows:
            with suppress(ValueError):  # something missing
                complete.append([float(row[j]) for j in at])
        Checker(proof).check(*zip(*complete, strict=True))
    except Refuted as wrong:
        print(f"refuted: {wrong}")
        return 1
    except (Unreadable, OSError, EOFError, zlib.error, *MALFORMED) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    for part in proof["parts"]:
        print(f"proved, of {proof['data']['rows']} rows: {json.dumps(part['claim'])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)

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
    partial > 0       e^2 - e_D^2 (S - g - G Z)^2                          p, alpha
    lts < t           e^2                                                  p, alpha      -t e_Y^2
    r > t, t < 0      (tau X - Y - m)^2 - rho (tau X + Y + g)^2            m
    cov > t           (X - beta Y - m)^2 - (X + beta Y - g)^2 + 4 beta t   m
    tv < t            (X - m_1)^2 + (Y - m_2)^2 - t                        m_1, m_2

alpha and m are means: with them the sum of the squares is least. e_Y is the coefficient of Y in e;
in the first line p = sqrt(b/a), in the next three e = 0 is the least squares plane. The partial
covariance c|Z of x_p and y, the other predictors Z held fixed, has 4 c|Z = SS(S|Z) - SS(D|Z) for
D = X_p - Y, S = X_p + Y: e is a plane in Z and D, and G is free as g is. It is 0 on all subsets of
rows on which Z explains X_p or Y.

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, chain, pairwise, product
from itertools import combinations_with_replacement as combinations
from math import isfinite, isqrt
from operator import add, mul
from typing import Any, NamedTuple

FORMAT, VERSION = "quadsweep proof", 2
MOST_LISTED = 10**7  # subsets that a proof may ask to be listed
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)

Part = dict[str, Any]  # of the file
Number = Fraction | int
Form = Sequence[Number]  # coefficients of the columns and of 1, or of their products
Ints = Sequence[int]
Ends = tuple[Fraction, Fraction]
Box = Sequence[Ends]  # of each parameter
Frame = tuple[int, ...]  # of a plane: the column w, and a sign of Y; none for means


class Refuted(Exception):
    """An inequality that does not hold, or a part of the proof that is missing."""


class Unreadable(Exception):
    """Not a proof at all, or not one about these data."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Refuted(what)


def number(value: Any) -> Fraction:
    """A number of the file, as the rational it is."""
    if type(value) not in (int, float) or not isfinite(value):
        raise Unreadable(f"{value!r} is not a number")
    return Fraction(value)


def whole(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise Unreadable(f"{value!r} is not a whole number from {low} to {high}")
    return value


def in_units(values: Form) -> tuple[list[int], int]:
    """Dyadic rationals as whole multiples of 2^-unit, and unit."""
    unit = max(v.denominator for v in values).bit_length() - 1
    return [v.numerator << unit + 1 - v.denominator.bit_length() for v in values], unit


def times(f: Ints, g: Ints) -> list[int]:
    """The product of two forms: what multiplies the products of a row."""
    pairs = combinations(range(len(f)), 2)
    return [f[i] * g[j] + f[j] * g[i] if i < j else f[i] * g[i] for i, j in pairs]


def plus(sums: Ints, more: Ints, copies: int = 1) -> Ints:
    return tuple(map(add, sums, more if copies == 1 else [copies * m for m in more]))


def spread(values: Ints, unit: int, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """Of k or more of these, the centred sum of squares: least, least but not 0, most."""
    v, n, one = sorted(values), len(values), 1 << 2 * unit
    s, ss = [0, *accumulate(v)], [0, *accumulate(t * t for t in v)]
    # The least is attained by neighbours; if it is not 0, two values differ by the least gap.
    least = min(k * (ss[i + k] - ss[i]) - (s[i + k] - s[i]) ** 2 for i in range(n - k + 1))
    gap = min((t - u for u, t in pairwise(v) if t > u), default=0)
    positive, most = max(least, (k - 1) * gap * gap), n * ss[n] - s[n] ** 2
    return Fraction(least, k * one), Fraction(positive, k * one), Fraction(most, n * one)


class Row(NamedTuple):
    """A point that occurs up to `copies` times, first as the row `name` of the data."""

    products: Ints  # of its columns and of 1
    copies: int
    name: int


class Claim:
    """What is to be shown, and the placed columns in whole units 2^-unit."""

    def __init__(self, part: Part, columns: Sequence[Sequence[float]]) -> None:
        claim, self.p, self.n = part["claim"], len(columns) - 1, len(columns[0])
        self.objective, self.or_more = claim["objective"], claim["or_more"]
        known = ("r2", "lts", "partial") if self.p > 1 else ("r2", "r", "cov", "dv", "tv", "lts")
        if self.objective not in known or not isinstance(self.or_more, bool):
            raise Unreadable(f"no claim about {self.objective!r}, or_more {self.or_more!r}")
        self.k, self.threshold = whole(claim["keep"], 2, self.n), number(claim["threshold"])
        given = [list(map(Fraction, column)) for column in columns]
        if claim["margin"] is not None:
            self.check_margin(number(claim["margin"]), given)
        placed = self.placed(claim, part["placement"], given)
        self.t = self.threshold * self.scale
        numbers, self.unit = in_units([*chain(*placed)])
        self.columns = [numbers[i : i + self.n] for i in range(0, len(numbers), self.n)]
        rows = zip(*self.columns, [1 << self.unit] * self.n, strict=True)
        self.products = [tuple(u * v for u, v in combinations(row, 2)) for row in rows]
        # k copies of one point have no correlation, so at most k - 1 of them are kept.
        most = self.k - 1 if self.objective in ("r", "r2") and not self.or_more else self.n
        same: dict[Ints, list[int]] = {}
        for i, point in enumerate(self.products):
            same.setdefault(point, []).append(i)
        self.rows = [Row(point, min(len(at), most), at[0]) for point, at in same.items()]

    def placed(self, claim: Part, place: Part, given: list[list[Fraction]]) -> list[list[Fraction]]:
        """M (z - shift) for z = (x_1 .. x_p, sign (y - beta x_p)) and a triangle M."""
        sign, beta = whole(claim["sign"], -1, 1), number(claim["beta"])
        given[-1] = [sign * (y - beta * x) for x, y in zip(given[-2], given[-1], strict=True)]
        m, shift = [list(map(number, row)) for row in place["matrix"]], map(number, place["shift"])
        moved = [[v - s for v in column] for column, s in zip(given, shift, strict=True)]
        sizes, diagonal = [len(row) for row in m], [row[-1] for row in m]
        require(sizes == [*range(1, self.p + 2)] and min(diagonal) > 0, "no triangle of columns")
        require(sign != 0, "sign must be 1 or -1")
        of_x, of_y, partial = diagonal[0], diagonal[-1], self.objective == "partial"
        about_planes = self.objective == "lts" or (self.p > 1 and not partial)
        require(about_planes or m[-1][-2] == 0, "columns may not be mixed here")
        sign_alone = self.threshold == 0 and claim["subset"] is None
        require(sign_alone or not partial, "of a partial covariance only the sign is claimed")
        alike = of_x == of_y or self.objective not in ("dv", "tv")
        require(alike, "x and y must be scaled alike")
        by = {"r": Fraction(1), "r2": Fraction(1), "lts": of_y**2}
        self.scale = by.get(self.objective, of_x * of_y)  # of the threshold
        if self.objective == "dv" or partial:  # X - Y and X + Y; dv is their cov
            self.objective = "partial" if partial else "cov"
            x, y = [*m[-2], Fraction(0)], m[-1]
            m[-2:] = [[u - v for u, v in zip(x, y, strict=True)], [*map(add, x, y)]]
        elif self.objective == "r2" and self.p > 1:  # y itself is one more column
            m.append([Fraction(0)] * self.p + [of_y])
        rows = [*zip(*moved, strict=True)]
        return [[sum(map(mul, factors, z), Fraction(0)) for z in rows] for factors in m]

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
        size = len({whole(i, 0, self.n - 1) for i in rows})
        right = size == len(rows) and (size == self.k or (size > self.k and self.or_more))
        require(right, f"the subset has {size} different rows, not {self.k}")
        worse = tol if self.objective in ("tv", "lts") else -tol
        near = self.beats(self.sums(rows), (self.threshold + worse) * self.scale)
        require(near, "the subset is further from the threshold than tol")

    def sums(self, rows: Iterable[int]) -> Ints:
        return tuple(map(sum, zip(*(self.products[i] for i in rows), strict=True)))

    def beats(self, sums: Ints, t: Fraction) -> bool:
        """Whether a subset has a value, and a better one than t."""
        (top, bottom), n, one = t.as_integer_ratio(), sums[-1], len(self.columns)
        m, columns = self.centred(sums), (*range(self.p), one - 1)
        a, b, c = m[0, 0], m[one - 1, one - 1], m[0, columns[1]]
        if self.objective == "cov":
            return bottom * c > top * n * n
        if self.objective == "tv":
            return bottom * (a + b) < top * n * n
        if self.objective == "r":
            return a > 0 and b > 0 and bottom**2 * c * abs(c) > top * abs(top) * a * b
        below = self.eliminate(m)
        if self.objective == "partial":
            return m[self.p - 1, self.p - 1] < m[self.p, self.p]
        most = top * n << 2 * self.unit if self.objective == "lts" else (bottom - top) * b
        return (b > 0 or self.objective == "lts") and m[one - 1, one - 1] * bottom < most * below

    def centred(self, sums: Ints) -> dict[tuple[int, ...], int]:
        """n times the centred products of the predictors and of the last column, y itself."""
        n, one = sums[-1], len(self.columns)
        s = dict(zip(combinations(range(one + 1), 2), sums, strict=True))
        columns = combinations((*range(self.p), one - 1), 2)
        return {(i, j): n * s[i, j] - s[i, one] * s[j, one] for i, j in columns}

    def eliminate(self, m: dict[tuple[int, ...], int]) -> int:
        """Without fractions: the x, or the controls, leave (last of m) / below of y."""
        below, columns = 1, (*range(self.p), len(self.columns) - 1)
        for j in columns[: -2 if self.objective == "partial" else -1]:
            if m[j, j] > 0:  # or it depends on those before it
                for i, k in combinations(columns[j + 1 :], 2):
                    m[i, k] = (m[i, k] * m[j, j] - m[j, i] * m[j, k]) // below
                below = m[j, j]
        return below

    def signless(self, sums: Ints) -> bool:
        """Whether the controls explain X_p or Y on these rows: then c|Z = 0 on any of them."""
        self.eliminate(m := self.centred(sums))
        return m[self.p - 1, self.p - 1] + m[self.p, self.p] == 2 * abs(m[self.p - 1, self.p])

    def trivial(self) -> bool:
        """No correlation is above 1, no sum of squares below 0."""
        above, below = self.t >= 1, self.t <= 0
        return {"r": above, "r2": above, "tv": below, "lts": below}.get(self.objective, False)


class Criterion:
    """The costs at the corners of a box, and the boxes that hold all subsets that beat t."""

    def __init__(self, claim: Claim, hints: Part) -> None:
        self.claim, self.p, self.kind, t = claim, claim.p, claim.objective, claim.t
        if self.kind == "r2" and self.p > 1:
            self.kind = "r2 of several"
        elif self.kind == "partial":
            self.p -= 1
        elif self.kind == "r" and t < 0:
            self.kind = "r below 0"
        rho, self.beta, self.turn = (number(hints.get(h, 1)) for h in ("rho", "beta", "turn"))
        require(min(rho, self.beta, self.turn) > 0, "rho, beta and turn must be positive")
        above = 1 - rho <= t * (1 + rho)  # SS(w - p v) : SS(w + p v) is 1 - r : 1 + r
        squared = rho <= 1 and (1 - rho) ** 2 <= t * (1 + rho) ** 2
        shown = {"r2": squared, "r": above, "r below 0": above, "r2 of several": rho >= 1 - t}
        require(shown.get(self.kind, True), "rho is too small")
        self.rho = rho if self.kind in shown else Fraction(self.kind in ("cov", "partial"))
        self.each = {"cov": 4 * self.beta * t, "tv": -t}.get(self.kind, 0)  # added to every cost
        self.base = -t if self.kind == "lts" else Fraction(0)  # times e_Y^2
        self.of_y = self.kind in ("lts", "r2 of several", "partial")
        self.multipliers = 3 + self.p if self.kind == "partial" else 3  # then G

    def forms(self, frame: Frame, p: Ints, one: int, g: int, tau: int, *more: int) -> list[Ints]:
        """At a point, in units 1/one: what is squared and taken off, and what is squared."""
        match self.kind:
            case "tv":
                return [[0, 0, 0], [one, 0, -p[0]], [0, one, -p[1]]]
            case "cov":  # beta is in the place of tau
                return [[one, tau, -g], [one, -tau, -p[0]]]
            case "r below 0":
                return [[tau, one, g], [tau, -one, -p[0]]]
        e, alpha = plane(frame, p[:-1], -one), p[-1]
        if self.kind in ("r2 of several", "partial"):
            of_z = [-v for v in more] or [0] * self.p
            return [[*of_z, 0, one, -g], [*e, 0, alpha]]
        return [[*plane(frame, p[:-1], one), -g], [*e, alpha]]

    def costs(self, frame: Frame, box: Box, *free: Fraction) -> Iterator[tuple[Form, Number, int]]:
        """At the corners, the last parameter running fastest, g affine between the ends of the
        first: in some unit, the form that is the cost of a row; the base; and 1."""
        g_low, g_high, tau, *more = free
        one_g = self.kind in ("r2 of several", "partial")
        require(g_low == g_high or not one_g, "g must be one number here")
        if self.kind == "r below 0":  # the box is of the means of -Y - X and -Y + X
            require(tau > 0, "tau must be positive")
            means = [((1 - tau) * p1 + (1 + tau) * p2) / 2 for p1, p2 in product(*box)]
            box = [(min(means), max(means))]
        by = self.beta if self.kind == "cov" else tau
        (low, high, factor, *ends), unit = in_units([g_low, g_high, by, *chain(*box), *more])
        ends, gz = ends[: 2 * len(box)], ends[2 * len(box) :]
        points = [*product(*zip(ends[::2], ends[1::2], strict=True))]
        forms = [self.forms(frame, p, 1 << unit, low if 2 * i < len(points) else high, factor, *gz)
                 for i, p in enumerate(points)]  # fmt: skip
        middle = [[*map(add, e, f)] for e, f in zip(forms[0], forms[-1], strict=True)]  # twice
        for taken, *squared in forms:
            of_y = Fraction(squared[0][self.p], 1 << unit) ** 2 if self.of_y else Fraction(1)
            top, bottom = (self.rho * of_y).as_integer_ratio()
            cost: list[Number] = [-4 * top * q for q in times(taken, taken)]
            for m, f in zip(middle[1:], squared, strict=True):  # 4 (e^2 + 2 e (f - e)) for m = 2 e
                tangent = times(m, [4 * v - u for u, v in zip(m, f, strict=True)])
                cost = [c + bottom * q for c, q in zip(cost, tangent, strict=True)]
            one = bottom << 2 * unit + 2
            cost[-1] += one * self.each
            one <<= 2 * self.claim.unit
            yield cost, one * of_y * self.base, one

    def cover(self, roots: Iterable[State]) -> None:
        """Refuted unless every subset that beats t has its own parameters in one of the roots."""
        for frame, box in self.needed():
            boxes = [zip(root.box, box, strict=True) for root in roots if root.frame == frame]
            held = any(all(a <= b and c <= d for (a, d), (b, c) in both) for both in boxes)
            require(held, f"the roots leave out {place(frame, box)}")

    def needed(self) -> Iterator[tuple[Frame, Box]]:
        """Ranges of means, or of slopes and of the means that belong to them."""
        means: dict[str, list[Form]] = {"tv": [(1, 0), (0, 1)], "cov": [(1, -self.beta)]}
        means["r below 0"] = [(-1, -1), (1, -1)]
        if self.kind in means:
            yield (), [self.mean(form) for form in means[self.kind]]
            return
        for frame, slopes in self.slopes():
            corners = ([-p for p in corner] for corner in product(*slopes))
            yield frame, [*slopes, self.mean(*(plane(frame, c, 1) for c in corners))]

    def slopes(self) -> Iterator[tuple[Frame, Box]]:
        """Whatever the plane, one coefficient is the largest: it is divided by that. With one
        predictor lines count as steep from `turn`, and sqrt(b/a) has a range; for lts |p| is at
        most that, and where X does not vary in a subset, slope 0 has its residuals."""
        if self.p > 1 or self.kind == "partial":
            for w in range(self.p + 1):
                yield (w, 1), [(Fraction(-1), Fraction(1))] * self.p
            return
        spreads = (spread(v, self.claim.unit, self.claim.k) for v in self.claim.columns)
        (_, a, a_most), (_, b, b_most) = spreads
        turn, steep = self.turn, below_root(a / b_most)
        if self.kind == "lts":
            ranges = [(1, 1, -turn, turn)]
            if a > 0:
                ranges += [(0, 1, steep, 1 / turn), (0, 1, -1 / turn, -steep)]
        else:
            flat = below_root(b / a_most)
            ranges = [(1, 1, flat, min(turn, 1 / steep)), (0, 1, steep, 1 / max(turn, flat))]
            if self.kind == "r2":
                ranges += [(w, -1, low, high) for w, _, low, high in ranges]
        yield from (((w, sign), [(low, high)]) for w, sign, low, high in ranges if low <= high)

    def mean(self, *forms: Form) -> Ends:
        """Of what lies between these combinations of the columns, the range of the mean of k rows
        or more: of the lowest k, of the highest k."""
        k, unit, rows = self.claim.k, self.claim.unit, [*zip(*self.claim.columns, strict=True)]
        ends: list[Fraction] = []
        for form in forms:
            values = sorted(sum(map(mul, form, row)) for row in rows)
            ends += (Fraction(sum(some), k << unit) for some in (values[:k], values[-k:]))
        return min(ends), max(ends)


def plane(frame: Frame, slopes: Sequence[Any], own: int) -> list[Any]:
    """The coefficients of the columns: slopes, and own for w itself."""
    w, sign = frame
    form = [*slopes[:w], own, *slopes[w:]]
    form[-1] *= sign
    return form


def below_root(square: Fraction) -> Fraction:
    top, bottom = square.as_integer_ratio()
    return Fraction(isqrt(top * bottom << 128), bottom << 64)


def place(frame: Frame, box: Box) -> str:
    """A box in words."""
    ends = (f"{float(p):.9g} <= p{i} <= {float(q):.9g}" for i, (p, q) in enumerate(box, 1))
    return ", ".join([f"frame {frame}" if frame else "means", *ends])


class State(NamedTuple):
    """What a node stands for: with more to choose than there is, for nothing."""

    frame: Frame
    box: Box
    open: list[Row]
    kept: Ints
    need: int


class Checker:
    def __init__(self, proof: Part) -> None:
        self.proof = proof
        self.nodes = self.listed = 0

    def check(self, *given: Sequence[float]) -> None:
        """Raises Refuted, with the place, unless the proof shows what it claims about the columns,
        y last. Rows with a value that is not finite are left out; the others count from 0."""
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
        if part["claim"]["subset"] is not None:
            claim.check_subset(part["claim"]["subset"], number(part["claim"]["tol"]))
        start = State((), (), claim.rows, (0,) * len(claim.products[0]), claim.k)
        roots = []
        for root in part["roots"]:
            frame = tuple(whole(i, -1, claim.p) for i in root["frame"])
            ends = iter([number(end) for end in root["box"]])
            roots.append(start._replace(frame=frame, box=[*zip(ends, ends, strict=True)]))
        if claim.trivial():
            return
        if not roots:
            self.list_all(start)
            return
        self.criterion = Criterion(claim, part["criterion"])
        self.criterion.cover(roots)
        for state, root in zip(roots, part["roots"], strict=True):
            self.walk(state, root["nodes"])

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
                return self.branch(state, row, whole(z, 0, self.claim.n))
            case ["split", i]:
                *before, (low, high) = state.box[: whole(i, 1, len(state.box))]
                halves = ((low, (low + high) / 2), ((low + high) / 2, high))
                return [state._replace(box=[*before, half, *state.box[i:]]) for half in halves]
        raise Unreadable(f"no node is like {[kind, *more]!r}")

    def corners(self, state: State, hints: Sequence[Any]) -> Iterator[tuple[int, list[int]]]:
        """V, and the costs of the open rows less lambda, in some unit. No corner, so that
        everything holds, where no choice among the open rows makes up the size."""
        if self.impossible(state.need, sum(row.copies for row in state.open)):
            return
        numbers, first = list(map(number, hints)), self.criterion.multipliers
        costs = self.criterion.costs(state.frame, state.box, *numbers[:first])
        for (cost, base, one), at in zip(costs, numbers[first:], strict=True):
            require(at >= 0 or not self.claim.or_more, "lambda may not be negative here")
            (*form, once, level), _ = in_units([*cost, base, at * one])
            gains = [sum(map(mul, form, row.products)) - level for row in state.open]
            below = sum(row.copies * g for row, g in zip(state.open, gains, strict=True) if g < 0)
            yield once + sum(map(mul, form, state.kept)) + state.need * level + below, gains

    def impossible(self, need: int, left: int) -> bool:
        return need > left or (need < 0 and not self.claim.or_more)

    def decide(self, state: State, corners: list[tuple[int, list[int]]]) -> State:
        """Rows that subsets of the box that beat t must keep, or cannot keep."""
        free, kept, need = [], state.kept, state.need
        short = [corner for corner in corners if corner[0] < 0]
        values = [value for value, _ in short]
        for row, *gains in zip(state.open, *(gains for _, gains in short), strict=True):
            most = fewest(values, gains, row.copies) - 1
            least = row.copies + 1 - fewest(values, [-gain for gain in gains], row.copies)
            if least > most:
                return state._replace(open=[], need=1)
            if least > 0:
                kept, need = plus(kept, row.products, least), need - least
            if most > least:
                free.append(row._replace(copies=most - least))
        return state._replace(open=free, kept=kept, need=need)

    def branch(self, state: State, name: int, z: int) -> list[State]:
        """More than z of the open copies of a row are kept, or at most z."""
        row = next((row for row in state.open if row.name == name), None)
        if row is None or row.copies <= z:
            return [state._replace(open=[], need=1), state]
        others = [other for other in state.open if other is not row]
        more, fewer = row._replace(copies=row.copies - z - 1), row._replace(copies=z)
        kept = plus(state.kept, row.products, z + 1)
        return [state._replace(open=[*others, more], kept=kept, need=state.need - z - 1),
                state._replace(open=[*others, fewer])]  # fmt: skip

    def list_all(self, state: State) -> None:
        """Scores every subset that is left, unless they all have c|Z = 0."""
        rows, exactly, every = state.open, not self.claim.or_more, state.kept
        if self.claim.objective == "partial":
            for row in rows:
                every = plus(every, row.products, row.copies)
            if self.claim.signless(every):
                return
        left = [*accumulate((row.copies for row in reversed(rows)), initial=0)][::-1]
        stack = [(0, state.kept, state.need)]
        while stack:
            i, sums, need = stack.pop()
            if self.impossible(need, left[i]):
                continue
            if i == len(rows) or (need == 0 and exactly):
                self.listed += 1
                require(self.listed <= MOST_LISTED, "too many subsets to list")
                require(not self.claim.beats(sums, self.claim.t), "a subset listed is better")
                continue
            for z in range(rows[i].copies + 1):
                stack.append((i + 1, sums, need - z))
                sums = plus(sums, rows[i].products)


def fewest(values: list[int], gains: list[int], copies: int) -> int:
    """The least j >= 1 with value + j gain^+ >= 0 for these values below 0; or copies + 1."""
    if min(gains, default=1) <= 0:
        return copies + 1
    least = (-(value // gain) for value, gain in zip(values, gains, strict=True))
    return min(max(least, default=1), copies + 1)


def about(columns: Sequence[Sequence[float]]) -> Part:
    """How much data, and SHA-256 of the columns as doubles, little end first."""
    rows = len(columns[0]) if columns else 0
    content = b"".join(struct.pack(f"<{rows}d", *column) for column in columns)
    digest = hashlib.sha256(content).hexdigest()
    return {"predictors": len(columns) - 1, "rows": rows, "sha256": digest}


def main(proof_file: str, data_file: str, *names: str) -> int:
    try:
        with gzip.open(proof_file) as file, open(data_file, newline="", encoding="utf-8") as table:
            proof, (header, *rows) = json.load(file), csv.reader(table)
        at = [header.index(name) for name in names] or range(proof["data"]["predictors"] + 1)
        complete = []
        for row in rows:
            with suppress(ValueError):  # something missing
                complete.append([float(row[j]) for j in at])
        Checker(proof).check(*zip(*complete, strict=True))
    except Refuted as wrong:
        print(f"refuted: {wrong}")
        return 1
    except Exception as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    for part in proof["parts"]:
        print(f"proved, of {proof['data']['rows']} rows: {json.dumps(part['claim'])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)

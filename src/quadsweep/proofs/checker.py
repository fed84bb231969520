"""Checks a proof that no k rows (or no k or more) beat a threshold t, in exact arithmetic.

    python checker.py PROOF DATA.csv [XCOLUMN ... YCOLUMN]

This file runs by itself and needs the standard library only; docs/proof-format.md describes what it
reads and shows what is stated here. Every number of a proof is a hint: it is used as the exact
rational it is, and a false one can only make an inequality fail.

**Criteria.** X_1 .. X_p, Y are the columns, placed as the file says. In the frame of one of them,
w, with v the others, e = p v - w + alpha is the distance from a plane. A subset that beats t has,
for its own parameters and whatever g, G and l,  sum over it of cost  +  base  <  0 :

    claim                 cost of a row                               parameters   base
    r > t, R2 > t^2       (1 + t) e^2 - (1 - t) (p v + w - g)^2       p, alpha
    cov(X, Y) > t         (alpha - X + Y)^2 - (X + Y - g)^2 + 4 t     alpha
    lts < t               e^2                                         p, alpha     -t e_Y^2
    tv < t                (X - p_1)^2 + (Y - p_2)^2 - t               p_1, p_2
    of several columns:
    R2 > t                l e - (1 - t) |e_Y| (y - g)^2               p, alpha
    lts < t               l e                                         p, alpha     -t |e_Y|
    cov(X_p, Y | Z) > t   l e + t |e_Y|                               p, alpha

alpha, p_1 and p_2 are means. In the first line p = sqrt(b/a), a and b the centred sums of squares
of X and Y, or any p > 0 if t < 0. For lts and below e = 0 is a least squares plane, e_Y its last
coefficient: of Y on all X, or on Z = (X_1 .. X_{p-1}). With several columns e is turned so that
e_Y > 0, and l = Y - G X - g is what any plane leaves of Y, or -X_p - G Z - g: least squares leave
of Y what is at right angles to 1 and all that is fitted, so that sum l e = e_Y RSS whatever G and
g, or -e_Y times the sum of products that Z leaves of X_p and Y. e_Y has one sign in a box.

**Boxes.** In a box of parameters e^2 lies above its tangent m (2 e - m), m being e at its middle;
what is left is concave, so least at a corner. There the cost is a sum of products of two forms, and
for subsets that keep some rows for certain and `need` of the open ones (or more, if larger subsets
count), and for every lambda,

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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import accumulate, chain, islice, pairwise, product
from itertools import combinations_with_replacement as combinations
from math import isfinite, isqrt
from operator import add, mul
from typing import Any, BinaryIO, NamedTuple

FORMAT, VERSION = "quadsweep proof", 4
MAX_BYTES = 2**26  # of a file, unpacked: in memory it takes some twenty times that
MAX_STEPS = 10**8  # costs of rows and subsets listed: some minutes
MAX_BITS = 5000  # of the ends of a box: a double has 1,074 at most, every halving adds one
TURN = Fraction(7, 4)  # slopes from which lines count as steep
MALFORMED = (LookupError, TypeError, AttributeError, ArithmeticError)

Part = dict[str, Any]  # of the file
Ints = Sequence[int]
Form = Sequence[Any]  # coefficients of 1 and the columns: int or Fraction
Product = tuple[Form, Form]
Box = Sequence[tuple[Fraction, Fraction]]  # the ends of each parameter, in either order


class Refuted(Exception):
    """An inequality that does not hold, or a part of the proof that is missing."""


class Better(Refuted):
    """A subset is better than the threshold: the claim is false."""


class TooMuch(ValueError):
    """What a limit on bytes or steps does not allow."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Refuted(what)


def number(value: Any) -> Fraction:
    """A number of the file, as the rational it is."""
    if type(value) not in (int, float) or not isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return Fraction(value)


def whole(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{value!r} is not a whole number from {low} to {high}")
    return value


def in_units(forms: Sequence[Form]) -> tuple[list[tuple[int, ...]], int]:
    """Dyadic rationals as whole multiples of 2^-unit, and unit."""
    unit = max(v.denominator for form in forms for v in form).bit_length() - 1
    return [
        tuple(v.numerator << unit + 1 - v.denominator.bit_length() for v in form) for form in forms
    ], unit


def below_root(square: Fraction) -> Fraction:
    """To 64 binary digits or so."""
    top, bottom = square.as_integer_ratio()
    digits = 64 + max(0, bottom.bit_length() - top.bit_length()) // 2
    return Fraction(isqrt((top << 2 * digits) // bottom), 1 << digits)


def mixed(columns: Sequence[Form], matrix: Sequence[Form]) -> list[list[Any]]:
    """For every row of the matrix, that combination of the columns."""
    rows = [*zip(*columns, strict=True)]
    return [[sum(map(mul, factors, row)) for row in rows] for factors in matrix]


def dot(f: Form, values: Form) -> Any:
    return sum(map(mul, f, values))


def times(f: Form, g: Form) -> list[Any]:
    """The product of two forms: what multiplies the products of a row."""
    pairs = combinations(range(len(f)), 2)
    return [f[i] * g[j] + f[j] * g[i] if i < j else f[i] * g[i] for i, j in pairs]


def plane(w: int, p: Form, own: int) -> list[Any]:
    """The coefficients of the columns: p, and own for w itself."""
    return [*p[:w], own, *p[w:]]


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

    point: Ints  # 1 and its columns
    products: Ints  # of these
    copies: int
    name: int


class StatedClaim:
    """What is to be shown, and the placed columns in whole units 2^-unit."""

    def __init__(self, part: Part, given: Sequence[Sequence[float]]) -> None:
        claim, self.p, self.n = part["claim"], len(given) - 1, len(given[0])
        self.objective, self.or_more = claim["objective"], claim["or_more"]
        known = ("r2", "lts", "cov") if self.p > 1 else ("r2", "lts", "cov", "r", "dv", "tv")
        if self.objective not in known or not isinstance(self.or_more, bool):
            raise ValueError(f"no claim about {self.objective!r}, or_more {self.or_more!r}")
        self.k, self.threshold = whole(claim["keep"], 2, self.n), number(claim["threshold"])
        columns = [list(map(Fraction, column)) for column in given]
        if claim["margin"] is not None:
            self.check_margin(number(claim["margin"]), columns)
        sign, beta = whole(claim["sign"], -1, 1), number(claim["beta"])
        require(sign != 0, "sign must be 1 or -1")
        columns[-1:] = mixed(columns[-2:], [(-sign * beta, sign)])
        self.columns, self.unit = in_units(self.placed(columns, **part["placement"]))
        same: dict[Ints, list[int]] = {}
        for i, row in enumerate(zip([1 << self.unit] * self.n, *self.columns, strict=True)):
            same.setdefault(row, []).append(i)
        # k copies of one point have no correlation, so at most k - 1 of them are kept.
        most = self.k - 1 if self.objective in ("r", "r2") and not self.or_more else self.n
        products = {point: [u * v for u, v in combinations(point, 2)] for point in same}
        self.rows = [Row(z, products[z], min(len(at), most), at[0]) for z, at in same.items()]
        self.products = {i: products[point] for point, at in same.items() for i in at}

    def placed(self, z: list[list[Fraction]], shift: list[Any], matrix: list[Any]) -> list[Any]:
        """M (z - shift) for a triangle M; of a covariance Y before X; of R2 also y itself."""
        m = [list(map(number, row)) for row in matrix]
        whole_triangle = [len(row) for row in m] == [*range(1, self.p + 2)]
        require(whole_triangle and all(row[-1] > 0 for row in m), "no triangle of columns")
        z = [[v - number(s) for v in column] for column, s in zip(z, shift, strict=True)]
        if self.objective == "dv":  # the covariance of x - y and x + y
            self.objective, z = "cov", mixed(z, [(1, -1), (1, 1)])
        of_x, of_y, several = m[-2][-1], m[-1][-1], self.objective == "r2" and self.p > 1
        require(several or self.objective == "lts" or m[-1][-2] == 0, "x_p is mixed into y")
        require(of_x == of_y or self.objective != "tv", "x and y must be scaled alike")
        scale = {"r": Fraction(1), "r2": Fraction(1), "lts": of_y**2}  # of the threshold
        self.scale = scale.get(self.objective, of_x * of_y)
        self.t, placed = self.threshold * self.scale, mixed(z, m)
        if self.objective == "cov":
            placed[-2:] = placed[:-3:-1]
        return placed + mixed(z[-1:], [(of_y,)]) if several else placed

    def check_margin(self, margin: Fraction, columns: list[list[Fraction]]) -> None:
        """A slope that passes beta by the margin has sign (c - beta a) > margin sqrt(ab), so a
        covariance above the threshold: n threshold is no more than that for any k rows or more."""
        require((self.objective, self.p, self.or_more) == ("cov", 1, True), "no margin of a slope")
        numbers, unit = in_units(columns)
        (a, *_), (b, *_) = (spread(column, unit, self.k) for column in numbers)
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

    def sums(self, rows: Sequence[int]) -> Ints:
        return [*map(sum, zip(*(self.products[i] for i in rows), strict=True))]

    def residual_products(
        self, sums: Ints, regressors: int
    ) -> tuple[dict[tuple[int, int], int], int]:
        """What 1 and so many columns leave of the sums of products: whole numbers m, over below."""
        columns, below = range(len(self.columns) + 1), 1
        m = dict(zip(combinations(columns, 2), sums, strict=True))
        for j in columns[: regressors + 1]:
            if m[j, j] > 0:  # or it depends on those before it
                for i, k in combinations(columns[j + 1 :], 2):
                    m[i, k] = (m[i, k] * m[j, j] - m[j, i] * m[j, k]) // below
                below = m[j, j]
        return m, below

    def beats(self, sums: Ints, t: Fraction) -> bool:
        """Whether a subset has a value, and a better one than t."""
        regressors = {"r": 0, "tv": 0, "cov": self.p - 1}.get(self.objective, self.p)
        (m, below), n, y = self.residual_products(sums, regressors), sums[0], len(self.columns)
        if self.objective == "r":
            a, b, c = m[1, 1], m[2, 2], m[1, 2]
            return a > 0 and b > 0 and c * abs(c) > t * abs(t) * a * b
        if self.objective == "tv":
            return m[1, 1] + m[2, 2] < t * n * below
        if self.objective == "cov":
            return m[y - 1, y] > t * n * below
        if self.objective == "lts":
            return m[y, y] < t * (below << 2 * self.unit)
        b = n * sums[-1] - sums[y] ** 2
        return b > 0 and n * m[y, y] < (1 - t) * b * below

    def hopeless(self, sums: Ints) -> bool:
        """Whether Z explains X_p or Y on all these rows, and therefore on some of them: then the
        covariance is 0 and no better than t."""
        if self.objective != "cov" or self.t < 0:
            return False
        m, y, x = self.residual_products(sums, self.p - 1)[0], self.p, self.p + 1
        return m[y, y] == 0 or m[x, x] == 0

    def trivial(self) -> bool:
        """No correlation is above 1, no sum of squares below 0."""
        above, below = self.t >= 1, self.t <= 0
        return {"r": above, "r2": above, "tv": below, "lts": below}.get(self.objective, False)


class Node(NamedTuple):
    """What a node stands for: with more to choose than there is, for nothing."""

    frame: int
    box: Box
    open: list[Row]
    kept: Ints
    need: int

    def __str__(self) -> str:
        ends = [[float(end) for end in sorted(p)] for p in self.box]
        words = (f", {low:.9g} <= p{i} <= {high:.9g}" for i, (low, high) in enumerate(ends, 1))
        return f"frame {self.frame}{''.join(words)}"

    def between(self, copies: Sequence[tuple[int, int]]) -> Node:
        """With at least and at most so many copies of the open rows."""
        free, kept, need = [], self.kept, self.need
        for row, (least, most) in zip(self.open, copies, strict=True):
            if least > most:
                return self._replace(open=[], need=1)
            if least > 0:
                kept = [v + least * u for v, u in zip(kept, row.products, strict=True)]
                need -= least
            if most > least:
                free.append(row._replace(copies=most - least))
        return self._replace(open=free, kept=kept, need=need)

    def branch(self, name: int, z: int) -> list[Node]:
        """More than z of the open copies of a row are kept, or at most z."""
        copies = [(row.copies, row.name == name) for row in self.open]
        more = [(z + 1 if here else 0, most) for most, here in copies]
        return [self.between(more), self.between([(0, min(z, c) if h else c) for c, h in copies])]


class Criterion:
    """The costs at the corners of a box, and the boxes that hold all subsets that beat t."""

    def __init__(self, claim: StatedClaim) -> None:
        self.claim, self.kind, self.t = claim, claim.objective, claim.t
        self.several = claim.p > 1
        if self.kind == "r" or (self.kind == "r2" and not self.several):
            require(self.t > -1 if self.kind == "r" else self.t >= 0, "no correlation is that")
            self.t, self.kind = self.t if self.kind == "r" else below_root(self.t), "line"
        self.any_slope = self.kind == "line" and self.t < 0

    def costs(self, w: int, box: Box, free: Form) -> Iterator[tuple[list[Product], Any]]:
        """At the corners, the last parameter running fastest: products of two forms that add up to
        the cost of a row, and the base."""
        points = [*product(*box)]
        return (self.equations if self.several else self.tangents)(w, points, free)

    def equations(self, w: int, points: Sequence[Form], free: Form) -> Iterator[Any]:
        """What any plane leaves of Y, or of -X_p, times what the own one leaves of Y."""
        planes = [[at[-1], *plane(w, at[:-1], -1)] for at in points]
        signs = {e[-1] > 0 for e in planes if e[-1] != 0}
        require(len(signs) < 2, "the coefficient of Y has both signs")
        wide = len(self.claim.columns) + 1 - len(planes[0])
        *any_plane, g = free if self.kind == "r2" else [*free, 0]
        require(len(any_plane) == len(planes[0]) - 1, "a multiplier for 1 and each fitted column")
        left = [*any_plane, 0, -1] if self.kind == "cov" else [*any_plane, 1, *[0] * wide]
        for plain in planes:
            e = [*([-v for v in plain] if False in signs else plain), *[0] * wide]
            of_y = abs(plain[-1])
            if self.kind == "lts":
                yield [(left, e)], -self.t * of_y
            elif self.kind == "cov":
                yield [(left, e), self.constant(self.t * of_y)], 0
            else:
                away = [-g, *[0] * (len(e) - 2), 1]
                yield [(left, e), (away, [(self.t - 1) * of_y * v for v in away])], 0

    def tangents(self, w: int, points: Sequence[Form], free: Form) -> Iterator[Any]:
        """Squares to be added are replaced by their tangents at the middle."""
        multipliers = {"line": 2, "cov": 1}.get(self.kind, 0)
        require(len(free) == multipliers, f"{multipliers} multipliers, not {len(free)}")
        if self.any_slope:  # the box is of the means of Y + X and of Y - X
            g, p = free
            require(p > 0, "p must be positive")
            alphas = [((1 - p) * u + (1 + p) * v) / 2 for u, v in points]
            w, points, free = 1, [(p, max(alphas)), (p, min(alphas))], (g, g)
        middle = [(u + v) / 2 for u, v in zip(points[0], points[-1], strict=True)]
        at_middle, *_ = self.squares(w, middle, free[:1])
        for i, point in enumerate(points):
            squares, each, base = self.squares(w, point, free[i * len(free) // len(points) :])
            products = [self.constant(each)]
            for (factor, f), (_, m) in zip(squares, at_middle, strict=True):
                tangent = [2 * v - u for u, v in zip(m, f, strict=True)]  # f^2 >= m (2 f - m)
                one, other = (m, tangent) if factor > 0 else (f, f)
                products.append((one, [factor * v for v in other]))
            yield products, base

    def squares(self, w: int, point: Form, g: Form) -> tuple[list[tuple[Any, Form]], Any, Any]:
        """Squares and what multiplies them; what is added to each cost, and once."""
        if self.kind == "tv":
            return [(1, (-point[0], 1, 0)), (1, (-point[1], 0, 1))], -self.t, 0
        if self.kind == "cov":
            return [(1, (point[0], 1, -1)), (-1, (-g[0], 1, 1))], 4 * self.t, 0
        e = [point[-1], *plane(w, point[:-1], -1)]
        if self.kind == "lts":
            return [(1, e)], 0, -self.t * e[-1] ** 2
        mirrored = [-g[0], *plane(w, point[:-1], 1)]
        return [(1 + self.t, e), (self.t - 1, mirrored)], 0, 0

    def constant(self, value: Any) -> Product:
        nothing = [0] * len(self.claim.columns)
        return [value, *nothing], [1, *nothing]

    def needed(self) -> Iterator[tuple[int, Box]]:
        """Boxes for the own parameters of all subsets that beat t: of means, or of slopes and of
        the means that belong to them."""
        means = {"tv": [(1, 0), (0, 1)]}
        if self.any_slope:
            means["line"] = [(1, 1), (-1, 1)]
        if not self.several:
            means["cov"] = [(-1, 1)]
        if self.kind in means:
            yield 0, [self.mean(form) for form in means[self.kind]]
            return
        for w, slopes in self.planes():
            corners = ([-p for p in corner] for corner in product(*slopes))
            yield w, [*slopes, self.mean(*(plane(w, corner, 1) for corner in corners))]

    def planes(self) -> Iterator[tuple[int, Box]]:
        """Whatever the plane, one coefficient is the largest: it is divided by that. With one
        predictor lines count as steep from TURN, and sqrt(b/a) has a range; for lts |p| is at most
        that, and where X does not vary in a subset, slope 0 has its residuals."""
        if self.several:
            count = self.claim.p - (self.kind == "cov")
            for w in range(count + 1):
                yield w, [(Fraction(-1), Fraction(1))] * count
            return
        spreads = (spread(v, self.claim.unit, self.claim.k) for v in self.claim.columns)
        (_, a, a_most), (_, b, b_most) = spreads
        steep = below_root(a / b_most) if b_most else Fraction(0)
        flat = below_root(b / a_most) if self.kind == "line" else Fraction(0)
        ranges = [(1, flat, 1 / max(steep, 1 / TURN)), (0, steep, 1 / max(flat, TURN))]
        for w, low, high in ranges if steep else ranges[:1]:
            if low <= high:
                yield w, [(low, high)]
                if self.claim.objective != "r":
                    yield w, [(-high, -low)]

    def mean(self, *forms: Form) -> tuple[Fraction, Fraction]:
        """Of what lies between these combinations of the columns, the range of the mean of k rows
        or more: of the lowest k, of the highest k."""
        k, ordered = self.claim.k, [sorted(v) for v in mixed(self.claim.columns, forms)]
        ends = [Fraction(sum(v), k << self.claim.unit) for o in ordered for v in (o[:k], o[-k:])]
        return min(ends), max(ends)


class Checker:
    def __init__(self, proof: Part, max_steps: float = MAX_STEPS) -> None:
        self.proof, self.max_steps = proof, max_steps
        self.nodes = self.listed = self.steps = 0

    def spend(self, steps: int) -> None:
        """Ends what takes too long: a proof of a few bytes may ask for years of work."""
        self.steps += steps
        if self.steps > self.max_steps:
            raise TooMuch(f"not checked to the end: it takes more than {self.max_steps:,} steps")

    def check(self, *given: Sequence[float]) -> None:
        """Raises Refuted, with the place, unless the proof shows what it claims about the columns,
        y last; ValueError if it is none, or about others. Rows with a value that is not finite are
        left out; the others count from 0."""
        complete = [row for row in zip(*given, strict=True) if all(map(isfinite, row))]
        columns = [list(map(float, column)) for column in zip(*complete, strict=True)]
        try:
            if (self.proof["format"], self.proof["version"]) != (FORMAT, VERSION):
                raise ValueError(f"not a {FORMAT} of version {VERSION}")
            if self.proof["data"] != describe_data(columns):
                raise ValueError("it is about other data, their digest differs")
            require(len(self.proof["parts"]) > 0, "a proof has parts")
            for part in self.proof["parts"]:
                self.check_part(part, columns)
        except TooMuch:
            raise
        except ValueError as wrong:
            raise ValueError(f"no proof about these data: {wrong}") from None
        except MALFORMED as wrong:
            raise ValueError(f"the proof is malformed: {wrong!r}") from None

    def check_part(self, part: Part, columns: Sequence[Sequence[float]]) -> None:
        self.spend(len(columns) ** 2 * len(columns[0]))
        self.claim = claim = StatedClaim(part, columns)
        if part["claim"]["subset"] is not None:
            claim.check_subset(part["claim"]["subset"], number(part["claim"]["tol"]))
        start = Node(0, (), claim.rows, [0] * len(claim.products[0]), claim.k)
        roots = []
        for root in part["roots"]:
            box = [(number(low), number(high)) for low, high in root["box"]]
            roots.append(start._replace(frame=whole(root["frame"], 0, claim.p), box=box))
        if claim.trivial():
            return
        if not roots:
            self.list_all(start)
            return
        self.spend(len(claim.rows) << claim.p)
        self.criterion = Criterion(claim)
        for w, needed in self.criterion.needed():
            boxes = [[*zip(r.box, needed, strict=True)] for r in roots if r.frame == w]
            held = any(all(min(a) <= b[0] and b[1] <= max(a) for a, b in both) for both in boxes)
            require(held, f"the roots leave out {start._replace(frame=w, box=needed)}")
        require(all(len(r.box) == len(needed) for r in roots), "a root has other parameters")
        for state, root in zip(roots, part["roots"], strict=True):
            self.walk(state, root["nodes"])

    def walk(self, root: Node, nodes: Sequence[Sequence[Any]]) -> None:
        """The tree below a root, given in the order in which it is met."""
        pending = [root]
        for node in nodes:
            require(len(pending) > 0, "the tree goes on after all its boxes are closed")
            state, self.nodes = pending.pop(), self.nodes + 1
            try:
                pending.extend(reversed(self.visit(state, *node)))
            except Refuted as wrong:
                raise type(wrong)(f"node {self.nodes} ({state}): {wrong}") from None
        require(not pending, "the tree ends before all its boxes are closed")

    def visit(self, state: Node, kind: str, free: Form, lambdas: Form, *more: Any) -> list[Node]:
        """The states that remain to be shown empty of better subsets."""
        if lambdas:
            state = self.decide(state, free, lambdas)
        match kind, *more:
            case ["bound"]:
                require(self.impossible(state), "the bound is negative")
            case ["list"]:
                self.list_all(state)
            case ["copies", name, z]:
                self.spend(len(state.open))
                return state.branch(name, whole(z, 0, self.claim.n))
            case ["split", i]:
                *before, (low, high) = state.box[: whole(i, 1, len(state.box))]
                middle = (low + high) / 2
                require(middle.denominator.bit_length() < MAX_BITS, "a box is halved too often")
                halves = ((low, middle), (middle, high))
                return [state._replace(box=[*before, half, *state.box[i:]]) for half in halves]
            case _:
                raise ValueError(f"no node is like {[kind, *more]!r}")
        return []

    def impossible(self, state: Node) -> bool:
        left = sum(row.copies for row in state.open)
        return state.need > left or (state.need < 0 and not self.claim.or_more)

    def decide(self, state: Node, free: Form, lambdas: Form) -> Node:
        """Without what cannot beat t: rows that must be kept, or cannot be; or nothing is left."""
        if self.impossible(state):
            return state
        self.spend(len(state.open) * len(lambdas) + 1)
        corners = []
        costs = self.criterion.costs(state.frame, state.box, [*map(number, free)])
        for (products, base), at in zip(costs, map(number, lambdas), strict=True):
            require(at >= 0 or not self.claim.or_more, "lambda may not be negative here")
            corners.append([*products, *map(self.criterion.constant, (base, at))])
        sides = (in_units(side)[0] for side in zip(*chain(*corners), strict=True))
        wholes = zip(*sides, strict=True)
        at_rows = cache(lambda form: [dot(form, row.point) for row in state.open])
        values, gains, one = [], [], 1 << 2 * self.claim.unit  # of corners where V is below 0
        for corner in corners:
            *products, (base, once), (at, each) = islice(wholes, len(corner))
            base, at = base[0] * once[0] * one, at[0] * each[0] * one
            parts = (map(mul, at_rows(f), at_rows(g)) for f, g in products)
            above = [cost - at for cost in map(sum, zip(*parts, strict=True))]
            below = sum(row.copies * g for row, g in zip(state.open, above, strict=True) if g < 0)
            kept = sum(dot(times(f, g), state.kept) for f, g in products)
            value = base + kept + state.need * at + below
            if value < 0:
                values.append(value)
                gains.append(above)
        if not values:
            return state._replace(open=[], need=1)
        copies = []
        for row, *of_row in zip(state.open, *gains, strict=True):
            most = fewest(values, of_row, row.copies) - 1
            left_out = fewest(values, [-gain for gain in of_row], row.copies) - 1
            copies.append((row.copies - left_out, most))
        return state.between(copies)

    def list_all(self, state: Node) -> None:
        """Scores every subset that is left, unless none can be better."""
        rows, exactly = state.open, not self.claim.or_more
        if self.claim.hopeless(state.between([(row.copies, row.copies) for row in rows]).kept):
            return
        left = [*accumulate((row.copies for row in reversed(rows)), initial=0)][::-1]
        stack = [(0, state.kept, state.need)]
        while stack:
            i, sums, need = stack.pop()
            if need > left[i] or (need < 0 and exactly):
                continue
            if i == len(rows) or (need == 0 and exactly):
                self.listed += 1
                if self.claim.beats(sums, self.claim.t):
                    raise Better("a subset listed is better")
                continue
            self.spend(rows[i].copies + 1)
            for z in range(rows[i].copies + 1):
                stack.append((i + 1, sums, need - z))
                sums = [*map(add, sums, rows[i].products)]


def fewest(values: Ints, gains: Ints, copies: int) -> int:
    """The least j >= 1 with value + j gain^+ >= 0 for these values below 0; or copies + 1."""
    if min(gains) <= 0:
        return copies + 1
    return min(copies + 1, max(-(v // gain) for v, gain in zip(values, gains, strict=True)))


def describe_data(columns: Sequence[Sequence[float]]) -> Part:
    """How much data, and SHA-256 of the columns as doubles, little end first."""
    rows = len(columns[0]) if columns else 0
    content = b"".join(struct.pack(f"<{rows}d", *column) for column in columns)
    digest = hashlib.sha256(content).hexdigest()
    return {"predictors": len(columns) - 1, "rows": rows, "sha256": digest}


def read(file: BinaryIO, max_bytes: int = MAX_BYTES) -> Part:
    """What a file holds, compressed with gzip, if that is no more than so many bytes."""
    with gzip.GzipFile(fileobj=file) as unpacked:
        content = unpacked.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise TooMuch(f"not read: unpacked it has more than {max_bytes:,} bytes")
    proof: Part = json.loads(content)
    return proof


def main(proof_file: str, data_file: str, *names: str) -> int:
    try:
        with open(proof_file, "rb") as file, open(data_file, newline="", encoding="utf-8") as table:
            proof, (header, *rows) = read(file), csv.reader(table)
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

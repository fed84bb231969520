"""The theorem that a proof is checked against, in exact arithmetic: what is claimed, when a subset
would break it, and which boxes of parameters hold every subset. checker.py walks the boxes.

Z = (X_1 .. X_p, Y) are the columns, moved and scaled as the file says. In the frame of one of them,
w, with v the others, e = w - p v - alpha is the distance from a plane. A subset of k rows, with
centred sums a, b, c, beats the threshold t only if its own parameters give

    sum over the subset of cost  +  base  <  0          whatever the multipliers g and tau:

    claim            cost of a row                                        parameters    base
    r, R2 > t >= 0   e^2 - rho (w + p v - g)^2                            p, alpha
    R2 > t           e^2 - rho e_Y^2 (y - g)^2      several predictors    p, alpha
    lts < t          e^2                                                  p, alpha      -t e_Y^2
    r > t, t < 0     (tau X - Y - m)^2 - rho (-tau X - Y - g)^2           m
    cov > t          (X - beta Y - m)^2 - (X + beta Y - g)^2 + 4 beta t   m
    dv > t           the same, with X - Y for X and X + Y for Y           m
    tv < t           (X - m_1)^2 + (Y - m_2)^2 - t                        m_1, m_2

alpha and m are the subset's means of what they are taken from; e_Y is the coefficient of Y in e; in
the first line p = sqrt(b/a), in the next two e = 0 is the least squares plane. In a box of
parameters the first squares lie above their tangents at its middle; what is left is concave, so
least at a corner: the costs there are all that the checker needs.

This file imports nothing but the standard library. Every number of a proof is a hint: it is used as
the exact rational it is, and a false one can only make an inequality fail.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import isfinite
from operator import add, mul
from typing import Any, NamedTuple

OBJECTIVES = ("r2", "r", "cov", "dv", "tv", "lts")

Number = Fraction | int
Ends = tuple[Fraction, Fraction]
Box = Sequence[Ends]  # of each parameter
Point = Sequence[Fraction]
Affine = Sequence[Number]  # coefficients of the columns and of 1; or of their products
Ints = tuple[int, ...]


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


# ---- the data -------------------------------------------------------------------------------


def digest(columns: Sequence[Sequence[float]]) -> str:
    """SHA-256 of the columns as doubles, little end first."""
    pack = struct.Struct(f"<{len(columns[0])}d").pack
    return hashlib.sha256(b"".join(pack(*column) for column in columns)).hexdigest()


def in_units(values: Affine) -> tuple[list[int], int]:
    """Dyadic rationals as whole multiples of 2^-unit, and unit."""
    unit = max(v.denominator for v in values).bit_length() - 1
    return [v.numerator << unit + 1 - v.denominator.bit_length() for v in values], unit


def combined(factors: Affine, columns: Sequence[Point], by: Fraction) -> list[Fraction]:
    return [by * sum(map(mul, factors, row)) for row in zip(*columns, strict=True)]


class Row(NamedTuple):
    """A point that occurs up to `copies` times, and the products of its columns and of 1."""

    products: Ints
    copies: int
    name: int  # the first row of the data that holds it


class Sums(NamedTuple):
    """Of a subset: the sums of its products, in whole units."""

    products: Ints

    def plus(self, row: Row, copies: int) -> Sums:
        more = row.products if copies == 1 else [copies * p for p in row.products]
        return Sums(tuple(map(add, self.products, more)))

    def centred(self) -> tuple[int, int, int, int]:
        """Of two columns: a, b, c times n, and n."""
        xx, xy, x, yy, y, n = self.products
        return n * xx - x * x, n * yy - y * y, n * xy - x * y, n

    def left(self, places: Sequence[Sequence[int]]) -> tuple[int, int]:
        """The sum of squares that all columns but the last leave of it, as a quotient; the places
        say where the columns' products stand."""
        m = [[self.products[at] for at in row] for row in places]
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


class Column:
    """Over all subsets of k or more rows: range of the mean, of the centred sum of squares."""

    def __init__(self, values: Sequence[int], unit: int, k: int) -> None:
        v, n = sorted(values), len(values)
        sums, squares = [0], [0]
        for t in v:
            sums.append(sums[-1] + t)
            squares.append(squares[-1] + t * t)
        self.mean = Fraction(sums[k], k << unit), Fraction(sums[n] - sums[n - k], k << unit)
        # The least is attained by neighbours; if it is not 0, two values differ by the least gap.
        least = min(
            k * (squares[i + k] - squares[i]) - (sums[i + k] - sums[i]) ** 2
            for i in range(n - k + 1)
        )
        gap = min((t - s for s, t in pairwise(v) if t > s), default=0)
        self.least = Fraction(least, k << 2 * unit)
        self.least_positive = Fraction(max(least, (k - 1) * gap * gap), k << 2 * unit)
        self.most = Fraction(n * squares[n] - sums[n] ** 2, n << 2 * unit)
        self.reach = Fraction(v[-1] - v[0], 1 << unit)


# ---- the claim ------------------------------------------------------------------------------


class Claim:
    """What is to be shown, and the placed columns in whole units 2^-unit:

    X_j = 2^scale_j times the combination `mix` of x_1 - shift_1 .. x_j - shift_j, and
    Y = 2^scale (y - shift - tilt (x - shift)); with several predictors y - shift comes after it.
    With one predictor ``y`` stands for sign (y - beta x).
    """

    def __init__(self, proof: dict[str, Any], columns: Sequence[Sequence[float]]) -> None:
        claim, self.p, n = proof["claim"], len(columns) - 1, len(columns[0])
        self.objective, self.or_more = claim["objective"], claim["or_more"]
        if self.objective not in (OBJECTIVES if self.p == 1 else ("r2", "lts")):
            raise Unreadable(f"unknown objective {self.objective!r}")
        if not isinstance(self.or_more, bool):
            raise Unreadable(f"or_more must be true or false; got {self.or_more!r}")
        self.k = whole(claim["keep"], 2, n, "keep")
        self.threshold = number(claim["threshold"])
        given = [[Fraction(v) for v in column] for column in columns]
        if "margin" in claim:
            self.check_margin(claim, given)
        placed, scale = self.placed(claim, proof["placement"], given)
        numbers, self.unit = in_units([v for column in placed for v in column])
        self.columns = [numbers[i : i + n] for i in range(0, len(numbers), n)]
        self.ranges = [Column(c, self.unit, self.k) for c in self.columns[: self.p + 1]]
        # The threshold in the units of the placed columns.
        by = {"cov": scale[0] * scale[-1], "dv": scale[0] ** 2, "tv": scale[0] ** 2,
              "lts": scale[-1] ** 2}  # fmt: skip
        self.scale = by.get(self.objective, Fraction(1))
        self.t = self.threshold * self.scale
        # What a plane, and what the mean alone, leaves of y.
        one = len(self.columns)
        self.fitted, self.about = (
            self.places([one, *range(self.p + 1)]),
            self.places([one, one - 1]),
        )
        self.rows = self.distinct()

    def places(self, order: Sequence[int]) -> list[list[int]]:
        pairs = list(combinations_with_replacement(range(len(self.columns) + 1), 2))
        return [[pairs.index((min(i, j), max(i, j))) for j in order] for i in order]

    def placed(
        self, claim: dict[str, Any], place: dict[str, Any], given: list[list[Fraction]]
    ) -> tuple[list[list[Fraction]], list[Fraction]]:
        p = self.p
        scale = [Fraction(2) ** whole(e, -4000, 4000, "scale") for e in place["scale"]]
        shift, tilt = [number(s) for s in place["shift"]], [number(t) for t in place["tilt"]]
        mix = [[number(m) for m in row] for row in place["mix"]]
        sign, beta = whole(claim.get("sign", 1), -1, 1, "sign"), number(claim.get("beta", 0))
        sizes = (len(scale), len(shift), len(tilt), len(mix))
        require(sizes == (p + 1, p + 1, p, p), "the placement is of other columns")
        require(sign != 0, "sign must be 1 or -1")
        # A triangle without a zero on its diagonal can be inverted.
        require(all(len(row) == j + 1 and row[j] != 0 for j, row in enumerate(mix)),
                "the mix must be a triangle")  # fmt: skip
        if p > 1:
            require(sign == 1 and beta == 0, "y stands for itself with several predictors")
        else:
            require(mix == [[1]], "one predictor is not mixed")
            require(self.objective == "lts" or tilt == [0], "y may not be tilted here")
        if self.objective in ("dv", "tv"):
            require(scale[0] == scale[1], "x and y must be scaled alike")
        moved = [[v - s for v in c] for c, s in zip(given[:p], shift, strict=False)]
        y = [sign * (w - beta * v) - shift[p] for v, w in zip(given[0], given[p], strict=True)]
        placed = [combined(row, moved, by) for row, by in zip(mix, scale, strict=False)]
        placed.append(combined([1, *(-t for t in tilt)], [y, *moved], scale[p]))
        if p > 1:  # R2 is about y itself
            placed.append(combined([1], [y], scale[p]))
        return placed, scale

    def check_margin(self, claim: dict[str, Any], given: list[list[Fraction]]) -> None:
        """A slope that passes beta by the margin has sign (c - beta a) > margin sqrt(ab), so a
        covariance above the threshold: n threshold is no more than that for any k rows or more."""
        require(self.objective == "cov" and self.or_more, "a margin is for slopes")
        a, b = (Column(*in_units(column), self.k).least for column in given)
        margin, reach = number(claim["margin"]), len(given[0]) * self.threshold
        require(margin >= 0 and reach >= 0, "a margin must not be negative")
        require(reach**2 <= margin**2 * a * b, "the threshold passes the margin")

    def distinct(self) -> list[Row]:
        copies: dict[Ints, list[int]] = {}
        for i, point in enumerate(zip(*self.columns, strict=True)):
            copies.setdefault(point, []).append(i)
        # k copies of one point have no correlation, so at most k - 1 of them are kept.
        capped = self.objective in ("r", "r2") and not self.or_more
        most = self.k - 1 if capped else len(self.columns[0])
        return [self.row(at[0], min(len(at), most)) for at in copies.values()]

    def row(self, i: int, copies: int = 1) -> Row:
        pairs = combinations_with_replacement([*(c[i] for c in self.columns), 1 << self.unit], 2)
        return Row(tuple(u * v for u, v in pairs), copies, i)

    def sums(self, rows: Iterable[int]) -> Sums:
        width = len(self.columns) + 1
        total = Sums((0,) * (width * (width + 1) // 2))
        for i in rows:
            total = total.plus(self.row(i), 1)
        return total

    def beats(self, sums: Sums, t: Fraction) -> bool:
        """Whether a subset has a value, and a better one than t."""
        top, bottom = t.numerator, t.denominator
        if self.objective in ("lts", "r2"):
            rss, below = sums.left(self.fitted)
            if self.objective == "lts":
                return rss * bottom < (top * below) << 2 * self.unit
            tss, under = sums.left(self.about)
            return tss > 0 and rss * under * bottom < (bottom - top) * tss * below
        a, b, c, n = sums.centred()
        if self.objective == "r":
            square, limit = bottom * bottom * c * c, top * top * a * b
            better = c > 0 and square > limit if t >= 0 else c >= 0 or square < limit
            return a > 0 and b > 0 and better
        if self.objective == "tv":
            return bottom * (a + b) < top * n * n
        return bottom * (c if self.objective == "cov" else a - b) > top * n * n

    def trivial(self) -> bool:
        """No correlation is above 1 and no sum of squares below 0; a column within 2h of itself has
        variance at most h^2; where a column is constant nothing has a correlation."""
        (X, *_, Y), t = self.ranges, self.t
        if self.objective in ("r", "r2"):
            return t >= 1 or (self.p == 1 and (X.most == 0 or Y.most == 0))
        if self.objective in ("tv", "lts"):
            return t <= 0
        return 4 * t >= X.reach * (Y if self.objective == "cov" else X).reach

    def comes_within(self, tol: Fraction, rows: Iterable[int]) -> bool:
        worse = tol if self.objective in ("tv", "lts") else -tol
        return self.beats(self.sums(rows), (self.threshold + worse) * self.scale)

    def check_subset(self, claim: dict[str, Any]) -> None:
        """The subset has the size claimed and comes within the tolerance of the threshold."""
        if claim["subset"] is None:
            return
        rows = [whole(i, 0, len(self.columns[0]) - 1, "a row") for i in claim["subset"]]
        require(len(rows) == len(set(rows)), "the subset names a row twice")
        right = len(rows) >= self.k if self.or_more else len(rows) == self.k
        require(right, f"the subset has {len(rows)} rows, not {self.k}")
        require(self.comes_within(number(claim["tol"]), rows),
                "the subset is further from the threshold than tol")  # fmt: skip


# ---- the criteria: costs at the corners of a box, and which boxes hold every subset ------------


def times(f: Affine, g: Affine) -> list[Fraction | int]:
    """The product of two functions: what multiplies the products (0, 0), (0, 1) .. (1, 1) .."""
    pairs = combinations_with_replacement(range(len(f)), 2)
    return [f[i] * g[j] + f[j] * g[i] if i < j else f[i] * g[i] for i, j in pairs]


def holds(box: Box, part: Box) -> bool:
    pairs = zip(box, part, strict=True)
    return all(low <= start and end <= high for (low, high), (start, end) in pairs)


class Forms(NamedTuple):
    """A criterion at a point: what is squared, what is squared and taken off rho times, and the
    constants, of a row and once."""

    plus: list[Affine]
    minus: Affine
    row: Number = 0
    base: Number = 0


class Cost(NamedTuple):
    """Of a row, in terms of its products; and the base."""

    of_row: Affine
    base: Number


class Criterion:
    """Subclasses say what is searched, and its forms: their coefficients are affine in it."""

    multipliers = 2  # g at both ends of the first parameter, affine between them

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        self.claim, self.t, self.p, self.rho = claim, claim.t, claim.p, Fraction(1)
        if claim.objective in ("r", "r2"):
            self.rho = number(hints["rho"])

    def forms(self, frame: str, p: Point, g: Number, tau: Fraction) -> Forms:
        raise NotImplementedError

    def searched(self, box: Box, tau: Fraction) -> Box:
        return box

    def costs(self, frame: str, box: Box, free: Point) -> Iterator[Cost]:
        """At the corners of what is searched, the last parameter running fastest."""
        g, tau = free[:2] or (0, 0), free[2] if len(free) > 2 else Fraction(0)
        ends = self.searched(box, tau)
        middle = self.forms(frame, [(low + high) / 2 for low, high in ends], 0, tau)
        for corner in product((0, 1), repeat=len(ends)):
            point = [pair[at] for pair, at in zip(ends, corner, strict=True)]
            plus, minus, row, base = self.forms(frame, point, g[corner[0]], tau)
            cost = [-self.rho * q for q in times(minus, minus)]
            for e, moved in zip(middle.plus, plus, strict=True):  # e^2 + 2 e (moved - e)
                tangent = times(e, [2 * s - t for s, t in zip(moved, e, strict=True)])
                cost = list(map(add, cost, tangent))
            cost[-1] += row
            yield Cost(cost, base)

    def means(self) -> list[Affine]:
        """Combinations of the columns whose means are searched."""
        raise NotImplementedError

    def cover(self, roots: Sequence[tuple[str, Box]]) -> None:
        """Refuted unless every subset that beats t has its own parameters in one of the roots."""
        every = [self.along([(Fraction(q),) * 2 for q in f]) for f in self.means()]
        require(any(frame == "means" and holds(box, every) for frame, box in roots),
                "the roots leave out means")  # fmt: skip

    def along(self, factors: Box) -> Ends:
        """The range of the mean of a combination whose factors have these ranges."""
        columns = zip(factors, self.claim.ranges, strict=True)
        every = [[q * m for q in ends for m in column.mean] for ends, column in columns]
        return sum(map(min, every), Fraction(0)), sum(map(max, every), Fraction(0))


class Spread(Criterion):
    """tv < t."""

    multipliers = 0

    def forms(self, frame: str, p: Point, g: Number, tau: Fraction) -> Forms:
        return Forms([(1, 0, -p[0]), (0, 1, -p[1])], (0, 0, 0), -self.t)

    def means(self) -> list[Affine]:
        return [(1, 0), (0, 1)]


class Difference(Criterion):
    """cov > t and dv > t: SS(f + beta h) - SS(f - beta h) = 4 beta c, for c that of f and h."""

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        self.beta = beta = number(hints["balance"])
        require(beta > 0, "the balance must be positive")
        cov = claim.objective == "cov"
        self.apart = (1, -beta) if cov else (1 - beta, -1 - beta)
        self.summed = (1, beta) if cov else (1 + beta, -1 + beta)

    def forms(self, frame: str, p: Point, g: Number, tau: Fraction) -> Forms:
        return Forms([(*self.apart, -p[0])], (*self.summed, -g), 4 * self.beta * self.t)

    def means(self) -> list[Affine]:
        return [self.apart]


class Below(Criterion):
    """r > t, t < 0: for V = -Y and every tau > 0, as rho > 1,

    SS(V + tau X) - rho SS(V - tau X)  <=  2 tau sqrt(ab) (1 - rho - r (1 + rho)).

    Searched are the means of V - X and V + X, which give that of V + tau X for all tau.
    """

    multipliers = 3

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        # No subset has r > (1 - rho)/(1 + rho), and that is no more than t.
        enough = self.rho > 1 and 1 - self.rho <= self.t * (1 + self.rho)
        require(enough, "rho is too small")

    def searched(self, box: Box, tau: Fraction) -> Box:
        require(tau > 0, "tau must be positive")
        ends = [((1 - tau) * p1 + (1 + tau) * p2) / 2 for p1, p2 in product(*box)]
        return [(min(ends), max(ends))]

    def forms(self, frame: str, p: Point, g: Number, tau: Fraction) -> Forms:
        return Forms([(tau, -1, -p[0])], (-tau, -1, -g))

    def means(self) -> list[Affine]:
        return [(-1, -1), (1, -1)]


class Plane(Criterion):
    """r, R2 > t and lts < t: e = w - p v - alpha, searched are p and alpha. The frame names w; a
    minus after it turns Y over, for negative correlations."""

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        self.frames = [*(f"x{j + 1}" for j in range(self.p)), "y"]
        rho, power = self.rho, {"lts": 0, "r": 1, "r2": 2}[claim.objective]
        self.multipliers = 2 if power else 0
        if power and self.p > 1:
            require(rho >= 1 - self.t, "rho is too small")
        elif power:  # SS(w - p v) : SS(w + p v) is 1 - r : 1 + r
            enough = (1 - rho) ** power <= self.t * (1 + rho) ** power
            require(0 < rho <= 1 and enough, "rho is too small")

    def plane(self, frame: str, p: Point, mean: Number) -> list[Fraction]:
        name = frame.removesuffix("-")
        may_turn = self.claim.objective == "r2" and self.p == 1
        require(name in self.frames and (name == frame or may_turn), f"no frame {frame!r} here")
        own = self.frames.index(name)
        f = [*(-q for q in p[:own]), Fraction(1), *(-q for q in p[own:])]
        if name != frame:
            f[-1] = -f[-1]
        y_itself = [Fraction(0)] * (self.p > 1)
        return [*f, *y_itself, Fraction(-mean)]

    def forms(self, frame: str, p: Point, g: Number, tau: Fraction) -> Forms:
        *slopes, alpha = p
        e = self.plane(frame, slopes, alpha)
        of_y = e[self.p]
        if self.claim.objective == "lts":
            return Forms([e], [0] * len(e), base=-self.t * of_y**2)
        if self.p == 1:
            return Forms([e], self.plane(frame, [-q for q in slopes], g))
        return Forms([e], [*[0] * (self.p + 1), of_y, -of_y * g])

    def cover(self, roots: Sequence[tuple[str, Box]]) -> None:
        """Whatever the plane, one of its coefficients is the largest: it is divided by that."""
        for frame, (*slopes, alpha) in roots:
            ends = (self.plane(frame, p, 0)[: self.p + 1] for p in zip(*slopes, strict=True))
            require(holds([alpha], [self.along(list(zip(*ends, strict=True)))]),
                    f"the root {frame} leaves out means")  # fmt: skip
        if self.p == 1:
            for turned in (False, True) if self.claim.objective == "r2" else (False,):
                self.cover_slopes([root for root in roots if root[0].endswith("-") == turned])
            return
        for name in self.frames:
            every = [(Fraction(-1), Fraction(1))] * self.p
            held = (holds(box[:-1], every) for frame, box in roots if frame == name)
            require(any(held), f"the roots leave out planes of the frame {name}")

    def cover_slopes(self, roots: Sequence[tuple[str, Box]]) -> None:
        """The slopes s with low <= s|s| <= high, from one root to the next. For lts s|s| is at most
        b/a either way; where X does not vary in a subset, slope 0 has its residuals."""
        x, y = self.claim.ranges
        high = y.most / x.least_positive if x.least_positive else Fraction(0)
        low = -high if self.claim.objective == "lts" else y.least_positive / x.most
        covered = []
        for frame, box in roots:
            start, end = (s * abs(s) for s in box[0])
            if frame.startswith("x"):
                require(start * end > 0, "a steep root may not hold slope 0")
                start, end = 1 / end, 1 / start
            covered.append((start, end))
        reached, any_root = low, False
        for start, end in sorted(covered):
            if start <= reached <= end:
                reached, any_root = end, True
        require(any_root and reached >= high, "the roots leave out slopes")


def criterion(claim: Claim, hints: dict[str, Any]) -> Criterion:
    kinds = {"cov": Difference, "dv": Difference, "tv": Spread}
    below = claim.objective == "r" and claim.t < 0
    return (Below if below else kinds.get(claim.objective, Plane))(claim, hints)

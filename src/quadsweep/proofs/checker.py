"""Checks a proof that no k rows beat a threshold, in exact arithmetic. The format is in
docs/proof-format.md; this file imports nothing but the standard library and runs by itself:

    python checker.py PROOF DATA.csv [XCOLUMN ... YCOLUMN]

The theorem. Let X, Y be the columns, shifted and multiplied by powers of two. With centred sums
a, b, c of a subset I and rho = (1 - t)/(1 + t), a subset beats the threshold t only if

    sum over I of cost_i(p) + base(p) < 0     whatever the multipliers g, tau, alpha,

where p are the subset's own parameters:

    r > t >= 0   (Y - p1 X - p2)^2 - rho (Y + p1 X - g)^2    p1 = sqrt(b/a), p2 = mean(Y - p1 X)
    r > t < 0    rho (V + tau X - m)^2 - (V - tau X - alpha)^2   V = -Y, rho of -t, m = the mean
    cov, dv > t  (f - h - p2)^2 - (f + h - g)^2 + 4 t            p2 = mean(f - h)
    tv < t       (X - p1)^2 + (Y - p2)^2 - t                     p = the means
    lts < t      (Y - p1 X - p2)^2, base -t                      p = the least squares line

(or, for steep lines, with X and Y exchanged). With several predictors X are combinations of them
that can be undone, Y is y less a combination, and theta are the coefficients of the least squares
plane divided by the largest of them; p are the other coefficients and alpha, the plane's mean:

    R2 > t       (theta (X, Y) - alpha)^2 - rho theta_Y^2 (y - g)^2      rho = 1 - t
    lts < t      (theta (X, Y) - alpha)^2, base -t theta_Y^2

In a box of parameters the convex squares lie above
their tangents at its middle m; what is left is concave in p, so least at a corner of the box. And
at a corner, for every lambda, a subset that keeps what is decided and `need` of the open rows has

    sum  >=  V  =  base + cost of the decided + need lambda - sum over the open (lambda - cost)^+ .

V >= 0 at all corners closes the box. V + j (cost - lambda)^+ >= 0 at all corners: no subset of the
box that beats t keeps j copies of the row; V + j (lambda - cost)^+ >= 0: none leaves out j copies.

Every number of the file is a hint: it is used as the exact rational it is, and a false one can only
make an inequality fail.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import isfinite
from operator import add, mul
from typing import Any, NamedTuple

FORMAT, VERSION = "quadsweep proof", 1
MOST_LISTED = 10**7  # subsets that a proof may ask to be listed

Ends = tuple[Fraction, Fraction]
Box = tuple[Ends, ...]  # of each parameter


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


def in_whole_units(columns: Sequence[Sequence[Fraction]]) -> tuple[list[list[int]], int]:
    """Dyadic columns as whole multiples of 2^-unit, and unit."""
    unit = max(v.denominator for column in columns for v in column).bit_length() - 1
    return [[v.numerator * (2**unit // v.denominator) for v in c] for c in columns], unit


class Row(NamedTuple):
    """A point that occurs up to `copies` times. Its products are those of its columns and of one
    more that is 1 everywhere, in the order (0, 0), (0, 1), ... (1, 1), ..., in whole units."""

    products: tuple[int, ...]
    copies: int
    name: int  # the first row of the data that holds it


class Sums(NamedTuple):
    """Of a subset: how many rows, and the sums of their products."""

    n: int
    products: tuple[int, ...]

    def plus(self, row: Row, copies: int) -> Sums:
        more = row.products if copies == 1 else [copies * p for p in row.products]
        return Sums(self.n + copies, tuple(map(add, self.products, more)))

    def centred(self) -> tuple[int, int, int, int]:
        """Of two columns: a, b, c times w, and w = n in units."""
        xx, xy, x, yy, y, w = self.products
        return w * xx - x * x, w * yy - y * y, w * xy - x * y, w

    def left(self, places: list[list[int]]) -> tuple[int, int]:
        """The sum of squares that all columns but the last leave of it, as a quotient; the places
        say where the products of the columns stand."""
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

    def __init__(self, values: Sequence[int], k: int) -> None:
        v, n = sorted(values), len(values)
        sums, squares = [0], [0]
        for t in v:
            sums.append(sums[-1] + t)
            squares.append(squares[-1] + t * t)
        self.low, self.high = Fraction(sums[k], k), Fraction(sums[n] - sums[n - k], k)
        # The least is attained by neighbours; if it is not 0, two values differ by the least gap.
        window = (
            k * (squares[i + k] - squares[i]) - (sums[i + k] - sums[i]) ** 2
            for i in range(n - k + 1)
        )
        gap = min((t - s for s, t in pairwise(v) if t > s), default=0)
        least = min(window)
        self.least = Fraction(least, k)
        self.least_positive = Fraction(max(least, (k - 1) * gap * gap), k)
        self.most = Fraction(n * squares[n] - sums[n] ** 2, n)
        self.reach = v[-1] - v[0]


# ---- the claim ------------------------------------------------------------------------------


class Claim:
    """What is to be shown, on placed columns in whole units 2^-unit:

    X_j = 2^scale_j times the combination `mix` of x_1 - shift_1 .. x_j - shift_j (of itself, with
    one predictor), Y = 2^scale (y - shift - tilt (x - shift)). With one predictor ``y`` stands for
    sign * (y - beta x), with sign 1 and beta 0 unless the claim says otherwise.
    """

    def __init__(self, proof: dict[str, Any], columns: Sequence[Sequence[float]]) -> None:
        claim, place = proof["claim"], proof["placement"]
        self.objective, self.p, n = claim["objective"], len(columns) - 1, len(columns[0])
        if self.objective not in (CRITERIA if self.p == 1 else ("r2", "lts")):
            raise Unreadable(f"unknown objective {self.objective!r}")
        self.k = whole(claim["keep"], 2, n, "keep")
        self.or_more = claim["or_more"]
        if not isinstance(self.or_more, bool):
            raise Unreadable(f"or_more must be true or false; got {self.or_more!r}")
        self.threshold = number(claim["threshold"])
        given = [[Fraction(v) for v in column] for column in columns]
        if "margin" in claim:
            self._check_margin(claim, given)
        placed, exponents = self._placed(claim, place, given)
        self.columns, self.unit = in_whole_units(placed)
        self.ranges = [Column(c, self.k) for c in self.columns[: self.p + 1]]
        # The threshold in the units of the placed columns.
        by_x = {"cov": 1, "dv": 2, "tv": 2}.get(self.objective, 0)
        by_y = {"cov": 1, "lts": 2}.get(self.objective, 0)
        self.scale = Fraction(2) ** (by_x * exponents[0] + by_y * exponents[-1])
        self.t = self.threshold * self.scale
        if self.objective in ("dv", "tv"):
            require(exponents[0] == exponents[1], "x and y must be scaled alike")
        # The residuals of Y on X and 1, and what 1 leaves of y.
        p, one = self.p, len(self.columns)
        self.fitted = self._places([one, *range(p), p])
        self.about = self._places([one, one - 1])
        self.rows = self._rows()

    def _placed(
        self, claim: dict[str, Any], place: dict[str, Any], given: list[list[Fraction]]
    ) -> tuple[list[list[Fraction]], list[int]]:
        p = self.p
        exponents = [whole(e, -4000, 4000, "scale") for e in place["scale"]]
        shift, tilt = [number(s) for s in place["shift"]], [number(t) for t in place["tilt"]]
        mix = [[number(m) for m in row] for row in place["mix"]] if p > 1 else [[Fraction(1)]]
        sign, beta = whole(claim.get("sign", 1), -1, 1, "sign"), number(claim.get("beta", 0))
        require(p == 1 or (sign == 1 and beta == 0), "y stands for itself with several predictors")
        # With several predictors, or for lts, what a plane explains may be taken off y.
        require(p > 1 or self.objective == "lts" or tilt == [0], "y may not be tilted here")
        sizes = (len(exponents), len(shift), len(tilt), len(mix))
        require(sizes == (p + 1, p + 1, p, p), "the placement is of other columns")
        # A triangle without a zero on its diagonal can be inverted.
        require(all(len(row) == j + 1 and row[j] != 0 for j, row in enumerate(mix)),
                "the mix must be a triangle")  # fmt: skip
        moved = [[v - s for v in c] for c, s in zip(given[:p], shift, strict=False)]
        y = [sign * (w - beta * v) - shift[p] for v, w in zip(given[0], given[p], strict=True)]
        *scales, scale = (Fraction(2) ** e for e in exponents)
        out = [combination(row, moved, by_x) for row, by_x in zip(mix, scales, strict=True)]
        out.append(combination([1, *(-t for t in tilt)], [y, *moved], scale))
        if p > 1:  # R2 is about y itself
            out.append(combination([1], [y], scale))
        return out, exponents

    def _check_margin(self, claim: dict[str, Any], given: list[list[Fraction]]) -> None:
        """A slope that passes beta by the margin has sign (c - beta a) > margin sqrt(ab), so a
        covariance above the threshold: n threshold is no more than that for any k rows or more."""
        require(claim["objective"] == "cov" and claim["or_more"], "a margin is for slopes")
        (x, y), unit = in_whole_units(given)
        a, b = (Column(c, self.k).least / 4**unit for c in (x, y))
        reach = len(x) * self.threshold
        require(number(claim["margin"]) >= 0 and reach >= 0, "a margin must not be negative")
        require(reach**2 <= number(claim["margin"]) ** 2 * a * b, "the threshold passes the margin")

    def _places(self, order: list[int]) -> list[list[int]]:
        """Where a row's products of these columns stand."""
        pairs = list(combinations_with_replacement(range(len(self.columns) + 1), 2))
        return [[pairs.index((min(i, j), max(i, j))) for j in order] for i in order]

    def _rows(self) -> list[Row]:
        copies: dict[tuple[int, ...], list[int]] = {}
        for i, point in enumerate(zip(*self.columns, strict=True)):
            copies.setdefault(point, []).append(i)
        # k copies of one point have no correlation, so at most k - 1 of them are kept.
        capped = self.objective in ("r", "r2") and not self.or_more
        most = self.k - 1 if capped else len(self.columns[0])
        return [self._row(point, min(len(at), most), at[0]) for point, at in copies.items()]

    def _row(self, point: Iterable[int], copies: int, name: int) -> Row:
        pairs = combinations_with_replacement((*point, 1 << self.unit), 2)
        return Row(tuple(u * v for u, v in pairs), copies, name)

    def beats(self, sums: Sums, t: Fraction) -> bool:
        """Whether a subset has a value, and a better one than t."""
        p, q = t.numerator, t.denominator
        if self.objective in ("lts", "r2"):
            rss, below = sums.left(self.fitted)
            if self.objective == "lts":
                return rss * q < (p * below) << 2 * self.unit
            tss, under = sums.left(self.about)
            return tss > 0 and rss * under * q < (q - p) * tss * below
        a, b, c, w = sums.centred()
        if self.objective == "r":
            if a == 0 or b == 0:
                return False
            square, limit = q * q * c * c, p * p * a * b
            return c > 0 and square > limit if t >= 0 else c >= 0 or square < limit
        if self.objective == "tv":
            return q * (a + b) < p * w * w
        return q * (c if self.objective == "cov" else a - b) > p * w * w

    def none(self) -> Sums:
        width = len(self.columns) + 1
        return Sums(0, (0,) * (width * (width + 1) // 2))

    def sums(self, rows: Iterable[int]) -> Sums:
        total = self.none()
        for i in rows:
            total = total.plus(self._row((c[i] for c in self.columns), 1, i), 1)
        return total

    def comes_within(self, tol: Fraction, rows: Iterable[int]) -> bool:
        worse = tol if self.objective in ("tv", "lts") else -tol
        return self.beats(self.sums(rows), (self.threshold + worse) * self.scale)

    def trivial(self) -> bool:
        """No correlation is above 1 and no sum of squares below 0; a column within 2h of itself has
        variance at most h^2; where a column is constant nothing has a correlation."""
        (X, *_, Y), t = self.ranges, self.t
        if self.objective in ("r", "r2"):
            return t >= 1 or (self.p == 1 and (X.most == 0 or Y.most == 0))
        if self.objective in ("tv", "lts"):
            return t <= 0
        other = Y if self.objective == "cov" else X
        return t >= Fraction(X.reach * other.reach, 4 ** (self.unit + 1))


# ---- affine functions of the columns and their products, in whole numbers ----------------------

Affine = tuple[int, ...]  # coefficients of the columns and of 1
Quadratic = tuple[int, ...]  # of their products
Cost = tuple[Quadratic, int, int]  # a row's cost and the base, in units of 2^-e, and e


def in_units(*values: Fraction) -> tuple[list[int], int]:
    """Dyadic rationals as whole multiples of 2^-e, and e; the middle of any two is whole, too."""
    e = max(v.denominator for v in values).bit_length()
    return [v.numerator << e + 1 - v.denominator.bit_length() for v in values], e


def combination(
    factors: Sequence[Fraction | int], columns: Sequence[Sequence[Fraction]], scale: Fraction
) -> list[Fraction]:
    return [scale * Fraction(sum(map(mul, factors, row))) for row in zip(*columns, strict=True)]


def combine(f: Affine, p: int, g: Affine, q: int = 0) -> Affine:
    """f + p g + q."""
    *out, last = (s + p * t for s, t in zip(f, g, strict=True))
    return (*out, last + q)


def times(p: int, f: Affine) -> Affine:
    return tuple(p * s for s in f)


def by(f: Affine, g: Affine) -> Quadratic:
    """The product of two."""
    pairs = combinations_with_replacement(range(len(f)), 2)
    return tuple(f[i] * g[j] + f[j] * g[i] if i < j else f[i] * g[i] for i, j in pairs)


def total(p: int, f: Quadratic, q: int, g: Quadratic) -> Quadratic:
    return tuple(p * s + q * t for s, t in zip(f, g, strict=True))


def tangent(e: Affine, change: Affine) -> Quadratic:
    """(e - change)^2 from below: e (e - 2 change)."""
    return by(e, combine(e, -2, change))


X_AXIS, Y_AXIS, NOTHING = (1, 0, 0), (0, 1, 0), (0, 0, 0)


# ---- the criteria: costs at the corners of a box, and which boxes hold every subset ------------


class Criterion:
    """One objective's costs. Subclasses say what is searched and what is free."""

    multipliers = 0

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        self.claim, self.t = claim, claim.t

    def corners(self, frame: str, box: Box, free: Sequence[Fraction]) -> Iterator[Cost]:
        """The costs at each corner of the box: (lo1, lo2), (lo1, hi2), (hi1, lo2), (hi1, hi2)."""
        raise NotImplementedError

    def cover(self, roots: list[tuple[str, Box]]) -> None:
        """Refuted unless every subset that beats t has its own parameters in one of the roots."""
        require(all(frame == "means" for frame, _ in roots), "the roots must be boxes of means")
        require(any(holds(box, self.every_mean()) for _, box in roots), "means are left out")

    def every_mean(self) -> Box:
        raise NotImplementedError

    def means(self) -> Box:
        """Ranges of the means of the placed columns."""
        unit = 2**self.claim.unit
        return tuple((c.low / unit, c.high / unit) for c in self.claim.ranges)


class Line(Criterion):
    """(w - p1 wx - p2)^2 - rho (w + p1 wx - g)^2, with w = Y, wx = X or (steep) exchanged, and Y
    turned over in frames that end in a minus; g is affine in p1, given at both ends of p1."""

    rho = Fraction(0)

    def axes(self, frame: str) -> tuple[Affine, Affine]:
        require(frame in ("flat+", "flat-", "steep+", "steep-"), f"no frame {frame!r} here")
        y = Y_AXIS if frame.endswith("+") else times(-1, Y_AXIS)
        return (y, X_AXIS) if frame.startswith("flat") else (X_AXIS, y)

    def corners(self, frame: str, box: Box, free: Sequence[Fraction]) -> Iterator[Cost]:
        w, wx = self.axes(frame)
        once = 0 * self.t if free else self.t
        (lo1, hi1, lo2, hi2, rho, t, *g), e = in_units(*flat(box), self.rho, once, *free)
        one = 1 << e
        m1, m2 = (lo1 + hi1) // 2, (lo2 + hi2) // 2
        residual = combine(times(one, w), -m1, wx, -m2)
        for i, p1 in enumerate((lo1, hi1)):
            # In lts the threshold counts once; a steep line's residuals are p1 times those in Y.
            base = -t * (p1 * p1 if frame.startswith("steep") else one * one)
            u = combine(times(one, w), p1, wx, -g[i]) if g else NOTHING
            for p2 in (lo2, hi2):
                moved = combine(times(p1 - m1, wx), 1, (0, 0, p2 - m2))
                yield total(one, tangent(residual, moved), -rho, by(u, u)), base, 3 * e

    def cover_slopes(self, roots: list[tuple[str, Box]], low: Fraction, high: Fraction) -> None:
        """The slopes s of Y on X with low <= s|s| <= high, each with all its intercepts."""
        x_ends, (y_low, y_high) = self.means()
        covered = []
        for frame, ((lo1, hi1), (lo2, hi2)) in roots:
            self.axes(frame)
            is_flat = frame.startswith("flat")
            y_ends = (y_low, y_high) if frame.endswith("+") else (-y_high, -y_low)
            of_x, of_w = (x_ends, y_ends) if is_flat else (y_ends, x_ends)
            steps = [p * mean for p in (lo1, hi1) for mean in of_x]
            require(lo2 <= of_w[0] - max(steps) and of_w[1] - min(steps) <= hi2,
                    f"the root {frame} leaves out intercepts")  # fmt: skip
            require(is_flat or lo1 > 0 or hi1 < 0, "a steep root may not hold slope 0")
            covered.append((lo1 * abs(lo1), hi1 * abs(hi1)) if is_flat
                           else (1 / (hi1 * abs(hi1)), 1 / (lo1 * abs(lo1))))  # fmt: skip
        require(any(start <= low for start, _ in covered), "slopes are left out")
        reached = low
        for start, end in sorted(covered):
            if start <= reached:
                reached = max(reached, end)
        require(reached >= high, "slopes are left out")


class Above(Line):
    """r > t >= 0; for r2 both signs of Y."""

    multipliers = 2

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        self.rho = number(hints["rho"])
        # No subset has r > (1 - rho)/(1 + rho), and that is no more than t.
        require(0 < self.rho <= 1, "rho must be in (0, 1]")
        power = 2 if claim.objective == "r2" else 1
        require((1 - self.rho) ** power <= self.t * (1 + self.rho) ** power, "rho is too small")

    def cover(self, roots: list[tuple[str, Box]]) -> None:
        a, b = self.claim.ranges
        for sign in ("+", "-") if self.claim.objective == "r2" else ("+",):
            signed = [root for root in roots if root[0].endswith(sign)]
            self.cover_slopes(signed, b.least_positive / a.most, b.most / a.least_positive)


class Residual(Line):
    """lts < t: rho = 0."""

    def cover(self, roots: list[tuple[str, Box]]) -> None:
        """Where X does not vary in the subset, slope 0 has its residuals."""
        a, b = self.claim.ranges
        most = b.most / a.least_positive if a.least_positive else Fraction(0)
        require(all(frame.endswith("+") for frame, _ in roots), "Y is not turned over here")
        require(any(frame == "flat+" and box[0][0] <= 0 <= box[0][1] for frame, box in roots),
                "slope 0 is left out")  # fmt: skip
        self.cover_slopes(roots, -most, most)


class Below(Criterion):
    """r > t, t < 0: for V = -Y, r(X, V) < -t. Searched are p1 = mean(V - X) and p2 = mean(V + X),
    which give m = (p1 + p2)/2 + tau (p2 - p1)/2 for every tau; free are alpha and tau."""

    multipliers = 2

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        self.rho = number(hints["rho"])
        # No subset has r(X, V) < (1 - rho)/(1 + rho), and that is no less than -t.
        require(0 <= self.rho < 1, "rho must be in [0, 1)")
        require(1 - self.rho >= -self.t * (1 + self.rho), "rho is too large")

    def corners(self, frame: str, box: Box, free: Sequence[Fraction]) -> Iterator[Cost]:
        """Two are enough: the ends of m."""
        (lo1, hi1, lo2, hi2, rho, alpha, tau), e = in_units(*flat(box), self.rho, *free)
        require(tau > 0, "tau must be positive")
        one, v = 1 << e, times(-1, Y_AXIS)
        # In units of 2^-2e, twice over: 2 m = (1 - tau) p1 + (1 + tau) p2.
        ends = [(one - tau) * p1 + (one + tau) * p2 for p1 in (lo1, hi1) for p2 in (lo2, hi2)]
        low, high = min(ends), max(ends)
        u = combine(times(4 * one * one, v), 4 * one * tau, X_AXIS, -low - high)
        w = combine(times(one, v), -tau, X_AXIS, -alpha)
        for m in (low, high):
            moved = (0, 0, 2 * m - low - high)
            yield total(rho, tangent(u, moved), -16 * one**3, by(w, w)), 0, 5 * e + 4

    def every_mean(self) -> Box:
        (x_low, x_high), (y_low, y_high) = self.means()
        return (-y_high - x_high, -y_low - x_low), (-y_high + x_low, -y_low + x_high)


class Difference(Criterion):
    """cov > t, and dv > t, the covariance of X - Y and X + Y: with f and h multiples of the two,
    4 c(f, h) = SS(f + h) - SS(f - h). Searched is p2 = mean(f - h)."""

    multipliers = 1

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        self.balance = [number(b) for b in hints["balance"]]
        require(len(self.balance) == 2 and min(self.balance) > 0, "the balance must be positive")

    def both(self, by_f: int, by_h: int) -> tuple[Affine, Affine]:
        """f - h and f + h."""
        f, h = (X_AXIS, Y_AXIS) if self.claim.objective == "cov" else ((1, -1, 0), (1, 1, 0))
        return combine(times(by_f, f), -by_h, h), combine(times(by_f, f), by_h, h)

    def corners(self, frame: str, box: Box, free: Sequence[Fraction]) -> Iterator[Cost]:
        (lo2, hi2, by_f, by_h, t, g), e = in_units(*box[1], *self.balance, self.t, *free)
        minus, plus = self.both(by_f, by_h)
        m2 = (lo2 + hi2) // 2
        residual, u = combine(minus, -m2, (0, 0, 1)), combine(plus, -g, (0, 0, 1))
        for p2 in (lo2, hi2):
            cost = list(total(1, tangent(residual, (0, 0, p2 - m2)), -1, by(u, u)))
            cost = [q << e for q in cost]
            cost[5] += 4 * by_f * by_h * t
            yield tuple(cost), 0, 3 * e

    def every_mean(self) -> Box:
        (by_f, by_h), e = in_units(*self.balance)
        (of_x, of_y, _), _ = self.both(by_f, by_h)
        xs, ys = ([f * m for m in ends] for f, ends in zip((of_x, of_y), self.means(), strict=True))
        xs, ys = sorted(xs), sorted(ys)
        return (Fraction(0), Fraction(0)), ((xs[0] + ys[0]) / 2**e, (xs[1] + ys[1]) / 2**e)


class Spread(Criterion):
    """tv < t. Searched are the means."""

    def corners(self, frame: str, box: Box, free: Sequence[Fraction]) -> Iterator[Cost]:
        (lo1, hi1, lo2, hi2, t), e = in_units(*flat(box), self.t)
        one, m1, m2 = 1 << e, (lo1 + hi1) // 2, (lo2 + hi2) // 2
        x, y = (one, 0, -m1), (0, one, -m2)
        for p1 in (lo1, hi1):
            for p2 in (lo2, hi2):
                moved = tangent(x, (0, 0, p1 - m1)), tangent(y, (0, 0, p2 - m2))
                cost = list(total(1, moved[0], 1, moved[1]))
                cost[5] -= t * one
                yield tuple(cost), 0, 2 * e

    def every_mean(self) -> Box:
        return self.means()


class Hyperplane(Criterion):
    """R2 > t and lts < t with several predictors. The frame names the column whose coefficient is
    1; the box has the others' coefficients, in [-1, 1], then alpha."""

    def __init__(self, claim: Claim, hints: dict[str, Any]) -> None:
        super().__init__(claim, hints)
        self.multipliers = 1 if claim.objective == "r2" else 0
        self.frames = [*(f"x{j + 1}" for j in range(claim.p)), "y"]
        self.rho = number(hints["rho"]) if self.multipliers else Fraction(0)
        require(not self.multipliers or self.rho >= 1 - self.t, "rho is too small")

    def corners(self, frame: str, box: Box, free: Sequence[Fraction]) -> Iterator[Cost]:
        require(frame in self.frames, f"no frame {frame!r} here")
        own, p = self.frames.index(frame), self.claim.p
        once = 0 * self.t if free else self.t
        (rho, t, *rest), e = in_units(self.rho, once, *flat(box), *free)
        ends, g, one = list(zip(*[iter(rest)] * 2, strict=False)), rest[len(rest) - 1], 1 << e

        def plane(at: Sequence[int]) -> Affine:
            return (*at[:own], one, *at[own:-1], 0, -at[-1])

        residual = plane([(low + high) // 2 for low, high in ends])
        for corner in product(*ends):
            at = plane(corner)
            below = by(residual, combine(times(2, at), -1, residual))
            # In lts the threshold counts once; residuals are theta_y times those of y.
            base = -t * at[p] * at[p]
            if not free:
                yield times(one, below), base, 3 * e
                continue
            u = times(at[p], (*[0] * (p + 1), one, -g))
            yield total(one**3, below, -rho, by(u, u)), 0, 5 * e

    def cover(self, roots: list[tuple[str, Box]]) -> None:
        """Whatever the plane, one of its coefficients is the largest; its mean is alpha."""
        one, means = Fraction(1), self.means()
        for own, frame in enumerate(self.frames):
            away = sum(max(-low, high) for j, (low, high) in enumerate(means) if j != own)
            low, high = means[own]
            every = *[(-one, one)] * self.claim.p, (low - away, high + away)
            require(any(f == frame and holds(box, every) for f, box in roots),
                    f"the roots leave out planes of the frame {frame}")  # fmt: skip


CRITERIA = {"r2": Above, "r": Above, "cov": Difference, "dv": Difference, "tv": Spread,
            "lts": Residual}  # fmt: skip


def holds(box: Box, part: Box) -> bool:
    pairs = zip(box, part, strict=True)
    return all(low <= start and end <= high for (low, high), (start, end) in pairs)


def flat(box: Box) -> Iterator[Fraction]:
    return (end for ends in box for end in ends)


# ---- the tree -------------------------------------------------------------------------------


class State(NamedTuple):
    """Subsets with their parameters in a box that keep what is decided, and of the open rows
    anything that makes up the size."""

    frame: str
    box: Box | None  # None: whatever the parameters
    open: list[Row]
    kept: Sums
    need: int


class Corner(NamedTuple):
    """At one corner, all in one whole unit: V, lambda, the costs of the open rows."""

    value: int
    threshold: int
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
            if about != (len(columns) - 1, len(complete), columns and digest(columns)):
                raise Unreadable("the proof is about other data: their digest differs")
            for self.proof in parts(proof):
                self.claim = Claim(self.proof, columns)
                self.run()
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as wrong:
            raise Unreadable(f"the proof is malformed: {wrong!r}") from None

    def run(self) -> None:
        self.check_subset()
        if self.claim.trivial():
            return
        roots = self.proof["roots"]
        start = State("all", None, self.claim.rows, self.claim.none(), self.claim.k)
        if len(roots) == 1 and roots[0]["frame"] == "all":
            self.walk(start, roots[0]["nodes"])
            return
        hints = self.proof["criterion"]
        kind = CRITERIA[self.claim.objective] if self.claim.p == 1 else Hyperplane
        if self.claim.objective == "r" and self.claim.threshold < 0:
            kind = Below
        self.criterion: Criterion = kind(self.claim, hints)
        boxes: list[tuple[str, Box]] = []
        for root in roots:
            ends = [number(end) for end in root["box"]]
            require(len(ends) == 2 * self.claim.p + 2, "a root has other parameters")
            box = tuple(zip(ends[::2], ends[1::2], strict=True))
            require(all(low <= high for low, high in box), "a root has its ends exchanged")
            boxes.append((root["frame"], box))
        self.criterion.cover(boxes)
        for (frame, box), root in zip(boxes, roots, strict=True):
            self.walk(start._replace(frame=frame, box=box), root["nodes"])

    def check_subset(self) -> None:
        """The subset has the size claimed and comes within the tolerance of the threshold."""
        claim, subset = self.claim, self.proof["claim"]["subset"]
        if subset is None:
            return
        rows = [whole(i, 0, len(claim.columns[0]) - 1, "a row") for i in subset]
        require(len(rows) == len(set(rows)), "the subset names a row twice")
        right = len(rows) >= claim.k if claim.or_more else len(rows) == claim.k
        require(right, f"the subset has {len(rows)} rows, not {claim.k}")
        require(claim.comes_within(number(self.proof["claim"]["tol"]), rows),
                "the subset is further from the threshold than tol")  # fmt: skip

    def walk(self, root: State, nodes: Sequence[Sequence[Any]]) -> None:
        """The tree below a root, given in the order in which it is met."""
        pending, given = [root], iter(nodes)
        while pending:
            node = next(given, None)
            require(node is not None, "the tree ends before all its boxes are closed")
            assert node is not None
            state, self.nodes = pending.pop(), self.nodes + 1
            try:
                pending.extend(reversed(self.visit(state, list(node))))
            except Refuted as wrong:
                raise Refuted(f"node {self.nodes} ({place(state)}): {wrong}") from None
        require(next(given, None) is None, "the tree goes on after all its boxes are closed")

    def visit(self, state: State, node: list[Any]) -> list[State]:
        """The states that remain to be shown empty of better subsets."""
        kind, *details = node
        if kind == "bound":
            (hints,) = details
            closed = not self.possible(state) or all(
                corner.value >= 0 for corner in self.corners(state, hints)
            )
            require(closed, "the bound is negative")
            return []
        wants = {"list": 0, "split": 1, "copies": 2}.get(kind, -1)
        if len(details) not in (wants, wants + 1):
            raise Unreadable(f"no node is like {node!r}")
        if len(details) > wants:
            state = self.decide(state, details[-1])
        if kind == "list":
            self.list_all(state)
            return []
        if kind == "copies":
            n = len(self.claim.columns[0])
            row, z = whole(details[0], 0, n - 1, "a row"), whole(details[1], 0, n, "copies")
            return self.branch(state, row, z)
        require(state.box is not None, "there is nothing to split")
        assert state.box is not None
        at = whole(details[0], 1, len(state.box), "a parameter") - 1
        low, high = state.box[at]
        middle = (low + high) / 2
        return [
            state._replace(box=(*state.box[:at], half, *state.box[at + 1 :]))
            for half in ((low, middle), (middle, high))
        ]

    def possible(self, state: State) -> bool:
        """Whether any choice among the open rows makes up the size."""
        enough = state.need <= sum(row.copies for row in state.open)
        return enough and (state.need >= 0 or self.claim.or_more)

    def corners(self, state: State, hints: list[Any]) -> list[Corner]:
        require(state.box is not None, "a bound needs a box")
        assert state.box is not None
        count = self.criterion.multipliers
        free, lambdas = [number(g) for g in hints[:count]], [number(at) for at in hints[count:]]
        costs = list(self.criterion.corners(state.frame, state.box, free))
        if len(costs) != len(lambdas):
            raise Unreadable(f"not one lambda a corner in {hints!r}")
        return [self.corner(state, *cost, at) for cost, at in zip(costs, lambdas, strict=True)]

    def corner(self, state: State, cost: Quadratic, base: int, e: int, at: Fraction) -> Corner:
        """Everything in units of 2^-(e + 2 unit)."""
        require(at >= 0 or not self.claim.or_more, "lambda may not be negative here")
        unit = self.claim.unit
        finer = max(at.denominator.bit_length() - 1 - e, 0)
        cost = tuple(q << finer for q in cost)
        level = at.numerator << e + finer + 2 * unit + 1 - at.denominator.bit_length()
        offset = (base << finer + 2 * unit) + sum(map(mul, cost, state.kept.products))
        costs = [sum(map(mul, cost, row.products)) for row in state.open]
        below = sum(row.copies * (level - c)
                    for c, row in zip(costs, state.open, strict=True) if c < level)  # fmt: skip
        return Corner(offset + state.need * level - below, level, costs)

    def decide(self, state: State, hints: list[Any]) -> State:
        """Rows that subsets of the box that beat t must keep, or cannot keep."""
        if not self.possible(state):
            return state
        corners = self.corners(state, hints)
        free, kept, need = [], state.kept, state.need
        for i, row in enumerate(state.open):
            h = row.copies
            most = min(h, fewest(((c.value, c.costs[i] - c.threshold) for c in corners), h) - 1)
            least = h + 1 - fewest(((c.value, c.threshold - c.costs[i]) for c in corners), h)
            if least > most:
                return state._replace(open=[], need=1)
            if least > 0:
                kept, need = kept.plus(row, least), need - least
            if most > least:
                free.append(row if most - least == h else row._replace(copies=most - least))
        return state._replace(open=free, kept=kept, need=need)

    def branch(self, state: State, name: int, z: int) -> list[State]:
        """At most z more copies of a row, or more than z."""
        others = [row for row in state.open if row.name != name]
        found = [row for row in state.open if row.name == name]
        copies = found[0].copies if found else 0
        fewer, more = list(others), list(others)
        if min(z, copies) > 0:
            fewer.append(found[0]._replace(copies=min(z, copies)))
        states = [state._replace(open=fewer)]
        if copies > z:
            if copies > z + 1:
                more.append(found[0]._replace(copies=copies - z - 1))
            kept = state.kept.plus(found[0], z + 1)
            states.insert(0, state._replace(open=more, kept=kept, need=state.need - z - 1))
        else:  # decided already: nothing keeps more than z
            states.insert(0, state._replace(open=[], need=1))
        return states

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
    except (ValueError, EOFError, OSError) as wrong:
        raise Unreadable(f"{path} is not a proof: {wrong}") from None
    if not isinstance(proof, dict):
        raise Unreadable(f"{path} is not a proof")
    return proof


def parts(proof: dict[str, Any]) -> list[dict[str, Any]]:
    """A file may prove several statements about the same data."""
    return [proof | part for part in proof["parts"]] if "parts" in proof else [proof]


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
        checker.check(*read_columns(data_file, names, proof.get("predictors", 1) + 1))
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

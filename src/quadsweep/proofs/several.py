"""The proof of a claim about several predictors: a tree of boxes of hyperplanes.

The search is the engine's in small, in NumPy, depth first, with the threshold known. Columns are
placed about the subset found: X whitened by a triangle, Y what its plane leaves of y. In the frame
of a column w, with v the others, e = w - p v - alpha with p in [-1, 1]; with theta the coefficients
of e and alpha the plane's mean, a subset that beats t has

    sum over it of  e^2 - rho theta_Y^2 (y - g)^2  <  0          rho = 1 - t, any g    (R2)
    sum over it of  e^2  -  t theta_Y^2  <  0                                          (lts)

In a box e^2 lies above its tangent at the middle, so that the least value is at a corner, where the
sum of the `need` smallest costs is  need lambda - sum (lambda - cost)^+  with lambda the last of
them. What rounding may hide is taken off (`_SAFE`); the checker does it all again exactly.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import comb
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.clock import Clock

Nodes = list[list[Any]]
Hints = tuple[list[float], list[float]]  # multipliers, and a lambda a corner

MOST = 3  # predictors: with more the checker takes too long
_SAFE = 1e-12  # of the sums of absolute values
_NARROW = 1e-7  # sides of a box below which rows are branched on
_LISTED = 60  # subsets left that are listed
_STEPS = 9  # towards the best multiplier of a box


class TooMany(Exception):
    """More nodes than the proof may have, or no time left."""


def short(values: Floats) -> Floats:
    """In few binary digits: a placement need not be precise, and the checker is faster for it."""
    return values.astype(np.float32).astype(np.float64)


def whitening(x: Floats, good: Ints | slice = slice(None)) -> Floats:
    """A triangle that makes the good rows of x, which is about their centre, spread alike."""
    scale = np.sqrt(np.diag(x.T @ x) / len(x))
    scale = np.where(scale > 0, scale, 1)
    spread = x[good].T @ x[good] / len(x[good])
    spread = spread + 1e-9 * np.diag(scale**2)  # dummies may be constant there
    return np.asarray(np.tril(np.linalg.inv(np.linalg.cholesky(spread))))


@dataclass(frozen=True)
class Placement:
    """As the file has it, and the placed columns in floating point."""

    shift: Floats
    mix: Floats  # a triangle
    tilt: Floats
    power: int  # of two, that y is multiplied by
    columns: Floats  # n by p + 1
    y: Floats

    @classmethod
    def about(cls, x: Floats, y: Floats, good: Ints) -> Placement:
        """Whitened by the good rows, y less their plane."""
        p = x.shape[1]
        centre, middle = x[good].mean(axis=0), y[good].mean()
        mix = whitening(x - centre, good)
        shift = short(np.append(centre, middle))
        moved = x - shift[:p]
        tilt = short(np.linalg.lstsq(moved[good] - moved[good].mean(axis=0),
                                     y[good] - middle, rcond=None)[0])  # fmt: skip
        left = y - shift[p] - moved @ tilt
        size = float(np.sqrt(np.mean(left[good] ** 2))) or float(np.sqrt(np.mean(left**2))) or 1.0
        power = -math.frexp(size)[1]
        mix = short(mix)
        placed = np.column_stack([moved @ mix.T, np.ldexp(left, power)])
        return cls(shift, mix, tilt, power, placed, np.ldexp(y - shift[p], power))

    def content(self) -> dict[str, Any]:
        last = np.ldexp(np.append(-self.tilt, 1.0), self.power)
        mix = [row[: j + 1].tolist() for j, row in enumerate(self.mix)]
        return {"shift": self.shift.tolist(), "matrix": [*mix, last.tolist()]}


@dataclass(frozen=True)
class Part:
    """Subsets with parameters in a box that keep some rows and choose `need` of the open ones."""

    box: Floats  # D by 2
    open: Ints
    copies: Ints  # of each open row
    kept: Ints  # rows, with repetition
    need: int
    or_more: bool = False
    free: tuple[float, ...] = ()  # multipliers to start from

    def ways(self) -> int:
        """Subsets left, about: copies counted as rows."""
        left = int(self.copies.sum())
        if self.or_more:
            return sum(comb(left, j) for j in range(max(self.need, 0), left + 1))
        return comb(left, self.need) if self.need >= 0 else 0

    def impossible(self) -> bool:
        return (self.need < 0 and not self.or_more) or self.need > self.copies.sum()


class Tree(ABC):
    """Writes the nodes below the roots. What a row costs is for those to say that inherit."""

    or_more = False  # whether larger subsets count

    def __init__(self, z: Floats, y: Floats, k: int, most_nodes: int, clock: Clock) -> None:
        self.z, self.y, self.k, self.p = z, y, k, z.shape[1] - 1
        self.most, self.clock, self.count = most_nodes, clock, 0
        same: dict[bytes, list[int]] = {}
        for i, row in enumerate(np.column_stack([self.z, self.y])):
            same.setdefault(row.tobytes(), []).append(i)
        self.names = np.array([at[0] for at in same.values()], dtype=np.int64)
        self.copies = np.array([len(at) for at in same.values()], dtype=np.int64)

    def roots(self) -> Iterator[dict[str, Any]]:
        ordered = np.sort(self.z, axis=0)
        low, high = ordered[: self.k].mean(axis=0), ordered[-self.k :].mean(axis=0)
        for own in range(self.p + 1):
            away = sum(max(-low[j], high[j]) for j in range(self.p + 1) if j != own)
            slack = 1e-9 * (abs(low[own]) + abs(high[own]) + away) + 1e-300
            alpha = [low[own] - away - slack, high[own] + away + slack]
            box = np.array([[-1.0, 1.0]] * self.p + [alpha])
            nothing = np.zeros(0, dtype=np.int64)
            start = Part(box, self.names, self.copies, nothing, self.k, self.or_more)
            yield {"frame": own, "box": box.tolist(), "nodes": self.below(start, own)}

    def below(self, root: Part, own: int) -> Nodes:
        nodes, pending = [], [root]
        while pending:
            self.count += 1
            if self.count > self.most:
                raise TooMany("too many nodes")
            if self.clock.left() <= 0:
                raise TooMany("time_limit")
            node, parts = self.visit(pending.pop(), own)
            nodes.append(node)
            pending.extend(reversed(parts))
        return nodes

    def visit(self, part: Part, own: int) -> tuple[list[Any], list[Part]]:
        if part.impossible():
            return ["list", [], []], []
        costs, base, free = self.costs(part, own)
        lambdas, values, doubt = self.values(part, costs, base)
        hints = list(free), lambdas.tolist()
        if np.all(values > doubt):
            return ["bound", *hints], []
        part = self.decided(part, costs, lambdas, values - doubt)
        if part.impossible() or part.ways() <= _LISTED:
            return ["list", *hints], []
        width = part.box[:, 1] - part.box[:, 0]
        if np.max(width) < _NARROW:
            return self.branch(part, hints)
        at = self.longest(part, own, width)
        low, high = part.box[at]
        parts = []
        for half in ([low, (low + high) / 2], [(low + high) / 2, high]):
            box = part.box.copy()
            box[at] = half
            parts.append(replace(part, box=box, free=free))
        return ["split", *hints, at + 1], parts

    def plane(self, at: Floats, own: int) -> tuple[Floats, float]:
        """Coefficients of the columns, and alpha."""
        return np.insert(-at[:-1], own, 1.0), float(at[-1])

    @abstractmethod
    def costs(self, part: Part, own: int) -> tuple[Floats, Floats, tuple[float, ...]]:
        """At every corner, of kept rows and of open ones (side by side); bases; multipliers."""

    def squares(self, part: Part, own: int) -> tuple[Floats, Floats, Floats, float]:
        """At every corner tangents of e^2, and the last coefficient; at the middle e, and that."""
        z = self.z[np.concatenate([part.kept, part.open])]
        middle, alpha = self.plane(part.box.mean(axis=1), own)
        e = z @ middle - alpha
        ends = [self.plane(np.array(c), own) for c in product(*part.box)]
        theta = np.array([c for c, _ in ends])
        moved = theta @ z.T - np.array([a for _, a in ends])[:, None]
        return e * (2 * moved - e), theta[:, -1], e, float(middle[-1])

    def values(self, part: Part, costs: Floats, base: Floats) -> tuple[Floats, Floats, Floats]:
        """At every corner: lambda, V, and what rounding may hide of it."""
        fixed = len(part.kept)
        offset = base + costs[:, :fixed].sum(axis=1)
        free = costs[:, fixed:]
        order = np.argsort(free, axis=1)
        upto = np.cumsum(part.copies[order], axis=1)
        last = np.argmax(upto >= part.need, axis=1) if part.need > 0 else np.zeros(len(free), int)
        at = np.take_along_axis(order, last[:, None], axis=1)
        lambdas = np.take_along_axis(free, at, axis=1)[:, 0]
        if part.or_more:
            lambdas = np.maximum(lambdas, 0) if part.need > 0 else np.zeros(len(free))
        below = (np.maximum(lambdas[:, None] - free, 0) * part.copies).sum(axis=1)
        size = np.abs(costs).sum(axis=1) + self.k * np.abs(lambdas) + np.abs(base)
        return lambdas, offset + part.need * lambdas - below, _SAFE * size

    def decided(self, part: Part, costs: Floats, lambdas: Floats, values: Floats) -> Part:
        """Without the rows whose copies all corners keep, or leave out."""
        free = costs[:, len(part.kept) :]
        above = np.maximum(free - lambdas[:, None], 0)
        under = np.maximum(lambdas[:, None] - free, 0)
        out = np.all(values[:, None] + above >= 0, axis=0)
        kept = np.all(values[:, None] + under >= 0, axis=0) & ~out
        both = np.all(values[:, None] + under >= 0, axis=0) & out
        if np.any(both):  # nothing here is better
            return replace(part, open=part.open[:0], copies=part.copies[:0], need=1)
        stay = ~(out | kept)
        more = np.repeat(part.open[kept], part.copies[kept])
        return replace(
            part, open=part.open[stay], copies=part.copies[stay],
            kept=np.concatenate([part.kept, more]), need=part.need - len(more),
        )  # fmt: skip

    def longest(self, part: Part, own: int, width: Floats) -> int:
        """The parameter along which the tangents are furthest off, about."""
        rows = np.concatenate([part.kept, part.open])
        others = np.delete(self.z[rows], own, axis=1)
        squares = np.append((others**2).mean(axis=0), 1.0)
        return int(np.argmax(width * np.sqrt(squares)))

    def branch(self, part: Part, hints: Hints) -> tuple[list[Any], list[Part]]:
        """On the row that has most copies: more than half of them, or the others."""
        i = int(np.argmax(part.copies))
        return self.kept_or_not(part, hints, i, int(part.copies[i] - 1) // 2)

    def kept_or_not(self, part: Part, hints: Hints, i: int, z: int) -> tuple[list[Any], list[Part]]:
        """More than z copies of an open row, or at most z."""
        others = np.arange(len(part.open)) != i
        parts = []
        for copies, kept in ((part.copies[i] - z - 1, z + 1), (z, 0)):
            free, number = part.open[others], part.copies[others]
            if copies > 0:
                free, number = np.append(free, part.open[i]), np.append(number, copies)
            rows = np.concatenate([part.kept, np.repeat(part.open[i], kept)])
            parts.append(replace(part, open=free, copies=number, kept=rows, need=part.need - kept))
        return ["copies", *hints, int(part.open[i]), z], parts


class Optimum(Tree):
    """No k rows have a larger R2, or a smaller sum of squares, than t."""

    def __init__(
        self, place: Placement, k: int, t: float, squared: bool, most_nodes: int, clock: Clock
    ) -> None:
        super().__init__(place.columns, place.y, k, most_nodes, clock)
        self.squared, self.t = squared, t if squared else t * 4.0**place.power
        if squared:
            self.copies = np.minimum(self.copies, k - 1)

    def costs(self, part: Part, own: int) -> tuple[Floats, Floats, tuple[float, ...]]:
        below, of_y, e, middle = self.squares(part, own)
        if not self.squared:
            return below, -self.t * of_y**2, ()
        y = self.y[np.concatenate([part.kept, part.open])]
        g = self.multiplier(part, e, y, middle**2)
        taken = (1 - self.t) * of_y[:, None] ** 2 * (y - g) ** 2
        return below - taken, np.zeros(len(of_y)), (g,)

    def multiplier(self, part: Part, e: Floats, y: Floats, of_y: float) -> float:
        """Nearly the best one at the middle: the mean of y over the rows it makes one choose."""
        low, high = float(y.min()), float(y.max())
        fixed, rho = len(part.kept), (1 - self.t) * of_y
        g = part.free[0] if part.free and low <= part.free[0] <= high else (low + high) / 2
        for _ in range(_STEPS):
            cost = e[fixed:] ** 2 - rho * (y[fixed:] - g) ** 2
            order = np.argsort(cost, kind="stable")
            upto = np.cumsum(part.copies[order])
            taken = np.clip(part.need - (upto - part.copies[order]), 0, part.copies[order])
            mean = (y[:fixed].sum() + (taken * y[fixed:][order]).sum()) / self.k
            low, high = (g, high) if mean > g else (low, g)
            g = mean if low < mean < high and _ % 2 == 0 else (low + high) / 2
        return float(g)

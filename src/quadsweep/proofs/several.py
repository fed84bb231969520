"""The proof of a claim about several predictors: a tree of boxes of hyperplanes.

The search is the engine's in small, in NumPy, depth first, with the threshold known. Columns are
placed about the subset found: X whitened by a triangle, Y what its plane leaves of y. In the frame
of a column w, with v the others, e = w - p v - alpha with p in [-1, 1], turned so that theta_Y, its
coefficient of Y, is above 0. At a subset's own plane e is at right angles to 1 and X, so one that
beats t has, for any nu and g, with l = Y + nu (1, X),

    sum over it of  e l - rho theta_Y (y - g)^2  <  0          rho = 1 - t     (R2)
    sum over it of  e l  -  t theta_Y  <  0                                    (lts)

Each cost is affine in the parameters, so that the least value is at a corner of a box in which
theta_Y has one sign, where the sum of the `need` smallest costs is  need lambda - sum (lambda -
cost)^+  with lambda the last of them. What rounding may hide is taken off (`_SAFE`); the checker
does it all again exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.clock import Clock
from quadsweep.proofs.multipliers import Costs

Nodes = list[list[Any]]
Hints = tuple[list[float], list[float]]  # multipliers, and a lambda a corner

MOST = 5  # predictors: with more the checker takes too long
_SAFE = 1e-12  # of the sums of absolute values
_NARROW = 1e-7  # sides of a box below which rows are branched on
_POOR = 0.7  # of the worst corner: what the middle lacks, too, no halving of the box makes good
_LISTED = 60  # subsets left that are listed
_WIDTHS = (0.3, 0.1, 0.03)  # of smoothing, on the way to the best multipliers


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
    def whiten(cls, x: Floats, y: Floats, good: Ints) -> Placement:
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
class Subproblem:
    """Subsets with parameters in a box that keep some rows and choose `need` of the open ones."""

    box: Floats  # D by 2
    open: Ints
    copies: Ints  # of each open row
    kept: Ints  # rows, with repetition
    need: int
    or_more: bool = False
    free: Floats | None = None  # multipliers to start from

    def ways(self) -> int:
        """Subsets left, about: copies counted as rows."""
        left = int(self.copies.sum())
        if self.or_more:
            return sum(comb(left, j) for j in range(max(self.need, 0), left + 1))
        return comb(left, self.need) if self.need >= 0 else 0

    def impossible(self) -> bool:
        return (self.need < 0 and not self.or_more) or self.need > self.copies.sum()


class Bound(NamedTuple):
    """Of a box: at every corner what rows cost, kept and open ones side by side, lambda, V, and
    what rounding may hide of it."""

    costs: Floats
    lambdas: Floats
    values: Floats
    doubt: Floats

    @property
    def worst(self) -> float:
        return float(np.min(self.values - self.doubt))


class Tree:
    """Writes the nodes below the roots: of planes in the columns z, the last of them fitted on the
    others, and of l, which is `left` and any combination of those."""

    or_more = False  # whether larger subsets count
    y: Floats | None = None  # its square is taken off, rho times
    rho = 0.0
    base = 0.0  # times theta_Y, is taken off once

    def __init__(
        self, z: Floats, left: Floats, y: Floats, k: int, most_nodes: int, clock: Clock
    ) -> None:
        self.z, self.left, self.k, self.p = z, left, k, z.shape[1] - 1
        self.fitted = np.column_stack([np.ones(len(z)), z[:, :-1]])
        self.most, self.clock, self.count = most_nodes, clock, 0
        same: dict[bytes, list[int]] = {}
        for i, row in enumerate(np.column_stack([z, left, y])):
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
            start = Subproblem(box, self.names, self.copies, nothing, self.k, self.or_more)
            yield {"frame": own, "box": box.tolist(), "nodes": self.below(start, own)}

    def below(self, root: Subproblem, own: int) -> Nodes:
        nodes, pending = [], [root]
        while pending:
            self.count += 1
            if self.count > self.most:
                raise TooMany("too many nodes")
            if self.clock.time_left() <= 0:
                raise TooMany("time_limit")
            node, parts = self.visit(pending.pop(), own)
            nodes.append(node)
            pending.extend(reversed(parts))
        return nodes

    def visit(self, part: Subproblem, own: int) -> tuple[list[Any], list[Subproblem]]:
        if part.impossible():
            return ["list", [], []], []
        y = self.p - 1  # the parameter that is theta_Y, but in the frame of Y
        if own < self.p and part.box[y, 0] < 0 < part.box[y, 1]:
            return self.split(part, y, ([], []))
        costs = self.costs(part, own)
        free, bound = self.best(part, costs)
        hints = free.tolist(), bound.lambdas.tolist()
        if bound.worst > 0:
            return ["bound", *hints], []
        left = replace(self.decided(part, bound), free=free)
        if left.impossible() or left.ways() <= _LISTED:
            return ["list", *hints], []
        middle = self.bound(part, costs.in_middle(free)[None], -np.array([costs.base * costs.of_y]))
        if middle.worst < _POOR * bound.worst or np.max(np.diff(part.box)) < _NARROW:
            away = np.abs(middle.costs[0, len(part.kept) :] - middle.lambdas[0])
            away = away[np.isin(part.open, left.open)]
            return self.branch(left, hints, int(np.argmax(left.copies * away)))
        return self.split(left, int(np.argmax(costs.change(free))), hints)

    def split(self, part: Subproblem, at: int, hints: Hints) -> tuple[list[Any], list[Subproblem]]:
        low, high = part.box[at]
        parts = []
        for half in ([low, (low + high) / 2], [(low + high) / 2, high]):
            box = part.box.copy()
            box[at] = half
            parts.append(replace(part, box=box))
        return ["split", *hints, at + 1], parts

    def costs(self, part: Subproblem, own: int) -> Costs:
        rows = np.concatenate([part.kept, part.open])
        of_y = np.zeros(self.p + 1)  # what theta_Y is by the parameters
        of_y[self.p - 1] = -(own < self.p)
        middle, half = part.box.mean(axis=1), (part.box[:, 1] - part.box[:, 0]) / 2
        turned = np.sign(of_y @ middle + (own == self.p))
        others = np.column_stack([np.delete(self.z[rows], own, axis=1), np.ones(len(rows))])
        return Costs(
            self.fitted[rows], self.left[rows], None if self.y is None else self.y[rows],
            self.rho, self.base,
            np.concatenate([np.ones_like(part.kept), part.copies]),
            len(part.kept), part.need, part.or_more,
            e=turned * (self.z[rows, own] - others @ middle),
            of_y=turned * (of_y @ middle + (own == self.p)),
            e_by=-turned * half[:, None] * others.T,
            of_y_by=turned * half * of_y,
        )  # fmt: skip

    def best(self, part: Subproblem, costs: Costs) -> tuple[Floats, Bound]:
        """The multipliers with the best worst corner, until they close the box."""
        found = None
        for free in self.some(part, costs):
            bound = self.bound(part, *costs.at_corners(free))
            if found is None or bound.worst > found[1].worst:
                found = free, bound
            if bound.worst > 0:
                break
        assert found is not None
        return found

    def some(self, part: Subproblem, costs: Costs) -> Iterator[Floats]:
        """Multipliers from those of the box before, and from those of the plane in the middle:
        large ones, right where no subset has its own plane, are worthless where some have."""
        if part.free is not None:
            yield part.free
            yield from costs.climb(part.free, _WIDTHS[-1:])
        start = self.start(costs)
        yield start
        yield from costs.climb(start, _WIDTHS)

    def start(self, costs: Costs) -> Floats:
        return costs.own()

    def bound(self, part: Subproblem, costs: Floats, base: Floats) -> Bound:
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
        return Bound(costs, lambdas, offset + part.need * lambdas - below, _SAFE * size)

    def decided(self, part: Subproblem, bound: Bound) -> Subproblem:
        """Without the rows whose copies all corners keep, or leave out."""
        above = bound.costs[:, len(part.kept) :] - bound.lambdas[:, None]
        values = (bound.values - bound.doubt)[:, None]
        out = np.all(values + np.maximum(above, 0) >= 0, axis=0)
        kept = np.all(values + np.maximum(-above, 0) >= 0, axis=0)
        if np.any(kept & out):  # nothing here is better
            return replace(part, open=part.open[:0], copies=part.copies[:0], need=1)
        stay = ~(out | kept)
        more = np.repeat(part.open[kept], part.copies[kept])
        return replace(
            part, open=part.open[stay], copies=part.copies[stay],
            kept=np.concatenate([part.kept, more]), need=part.need - len(more),
        )  # fmt: skip

    def branch(self, part: Subproblem, hints: Hints, i: int) -> tuple[list[Any], list[Subproblem]]:
        """On an open row: more than half of its copies, or the others."""
        return self.kept_or_not(part, hints, i, int(part.copies[i] - 1) // 2)

    def kept_or_not(
        self, part: Subproblem, hints: Hints, i: int, z: int
    ) -> tuple[list[Any], list[Subproblem]]:
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
        z = place.columns
        super().__init__(z, z[:, -1], place.y, k, most_nodes, clock)
        if squared:
            self.y, self.rho = place.y, 1 - t
            self.copies = np.minimum(self.copies, k - 1)
        else:
            self.base = t * 4.0**place.power

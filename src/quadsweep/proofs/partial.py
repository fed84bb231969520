"""The proof that no k rows or more have a coefficient of x on the other side, given controls Z.

With X and Y what all rows leave of x and y, scaled alike, D = X - Y and S = X + Y, a subset whose
partial covariance c|Z is above 0 has, since 4 c|Z = SS(S|Z) - SS(D|Z), for its own plane e in Z and
D and for whatever g and G

    sum over it of  e^2 - theta_D^2 (S - g - G Z)^2  <  0 .

The boxes are those of ``several.py``; only what a row costs, and the multipliers, are different.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.clock import Clock
from quadsweep.proofs.several import Part, Tree, short, whitening

_STEPS = 8  # towards the best multipliers of a box
_WIDE = 0.3  # sides of a box down to which it is halved before rare rows are branched on


@dataclass(frozen=True)
class Placement:
    """As the file has it, and the placed columns in floating point."""

    shift: Floats
    mix: Floats  # of Z, a triangle
    of_x: Floats  # of Z and x
    of_y: Floats  # of Z and y
    z: Floats
    d: Floats
    s: Floats

    @classmethod
    def about(cls, z: Floats, x: Floats, y: Floats) -> Placement:
        """Z whitened, x and y less their planes in Z, by all rows; y is turned and tilted."""
        shift = short(np.array([column.mean() for column in (*z.T, x, y)]))
        moved, x, y = z - shift[:-2], x - shift[-2], y - shift[-1]
        mix = short(whitening(moved))
        of_x, of_y = _left(moved, x), _left(moved, y)
        placed = [np.column_stack([moved, v]) @ of for v, of in ((x, of_x), (y, of_y))]
        z = moved @ mix.T
        return cls(shift, mix, of_x, of_y, z, placed[0] - placed[1], placed[0] + placed[1])

    def content(self) -> dict[str, Any]:
        mix = [row[: j + 1].tolist() for j, row in enumerate(self.mix)]
        of_y = [*self.of_y[:-1].tolist(), 0.0, float(self.of_y[-1])]
        return {"shift": self.shift.tolist(), "matrix": [*mix, self.of_x.tolist(), of_y]}


def _left(z: Floats, v: Floats) -> Floats:
    """Coefficients of z and v that leave of v what z does not explain, as large as 1 or so."""
    slopes = np.linalg.lstsq(z - z.mean(axis=0), v - v.mean(), rcond=None)[0]
    left = v - z @ slopes
    size = float(np.std(left)) or float(np.std(v)) or 1.0
    return short(np.append(-slopes, 1.0) / size)


class SignTree(Tree):
    """No k rows or more have a partial covariance above 0."""

    or_more = True

    def __init__(
        self, place: Placement, given: tuple[Floats, Floats], k: int, most_nodes: int, clock: Clock
    ) -> None:
        super().__init__(np.column_stack([place.z, place.d]), place.s, k, most_nodes, clock)
        self.fitted = np.column_stack([np.ones(len(place.s)), place.z])
        rare = [_rare(column) for column in given]  # x and y
        self.rare = [rows for rows in rare if np.count_nonzero(rows) <= len(rows) - k]

    def visit(self, part: Part, own: int) -> tuple[list[Any], list[Part]]:
        """Where all rows may go on which x (or y) is another than usual, what is left has no
        coefficient: the sum of its costs is 0 and no bound above. So those rows are branched on."""
        leaving = [rare for rare in self.rare if not np.any(rare[part.kept])]
        if any(not np.any(rare[part.open]) for rare in leaving):
            return ["list", [], []], []
        node, parts = super().visit(part, own)
        if node[0] != "split" or np.max(part.box[:, 1] - part.box[:, 0]) > _WIDE:
            return node, parts
        part = replace(parts[0], box=part.box)
        leaving = [rare for rare in leaving if not np.any(rare[part.kept])]
        if not leaving:
            return node, parts
        among = np.flatnonzero(min((rare[part.open] for rare in leaving), key=np.count_nonzero))
        if len(among) == 0:
            return ["list", *node[1:3]], []
        return self.kept_or_not(part, (node[1], node[2]), int(among[0]), 0)

    def costs(self, part: Part, own: int) -> tuple[Floats, Floats, tuple[float, ...]]:
        below, of_d, e, middle = self.squares(part, own)
        rows = np.concatenate([part.kept, part.open])
        free = self.multipliers(part, e, self.y[rows], self.fitted[rows], middle**2)
        taken = (self.y[rows] - self.fitted[rows] @ free) ** 2
        return below - of_d[:, None] ** 2 * taken, np.zeros(len(of_d)), tuple(free.tolist())

    def multipliers(self, part: Part, e: Floats, s: Floats, fitted: Floats, of_d: float) -> Floats:
        """Nearly the best at the middle: what fits S on the rows that they make one choose."""
        fixed, copies, most = len(part.kept), part.copies, -np.inf
        free = best = np.array(part.free) if part.free else _fit(fitted, s)
        for step in range(_STEPS):
            cost = e**2 - of_d * (s - fitted @ free) ** 2
            order = np.argsort(cost[fixed:], kind="stable")
            upto = np.cumsum(copies[order])
            taken = np.clip(part.need - (upto - copies[order]), 0, copies[order])
            taken = np.where(cost[fixed:][order] < 0, copies[order], taken)
            weight = np.ones(len(s))
            weight[fixed + order] = taken
            if (value := float(weight @ cost)) > most:
                most, best = value, free
            chosen = weight > 0
            if np.count_nonzero(chosen) <= fitted.shape[1]:
                break
            root = np.sqrt(weight[chosen])
            aim = _fit(root[:, None] * fitted[chosen], root * s[chosen])
            free = free + (aim - free) / (1 + step / 2)
        return best


def _rare(column: Floats) -> Mask:
    """Rows on which it is not what it is most often."""
    values, count = np.unique(column, return_counts=True)
    return np.asarray(column != values[np.argmax(count)])


def _fit(columns: Floats, s: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(columns, s, rcond=None)[0])

"""The proof that no k rows or more have a coefficient of x on the other side, given controls Z.

With X and Y what all rows leave of x and y, and e a plane of Y on Z turned so that theta_Y is above
0, a subset whose partial covariance c|Z is above 0 has, for its own plane and whatever nu,

    sum over it of  e (nu (1, Z) - X)  =  -theta_Y c|Z  <  0 .

The boxes are those of ``several.py``; only what is left to multiply e with is different.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.clock import Clock
from quadsweep.proofs.multipliers import Costs
from quadsweep.proofs.several import Subproblem, Tree, short, whitening

_WIDE = 0.3  # sides of a box down to which it is halved before rare rows are branched on


@dataclass(frozen=True)
class PartialPlacement:
    """As the file has it, and the placed columns in floating point."""

    shift: Floats
    mix: Floats  # of Z, a triangle
    of_x: Floats  # of Z and x
    of_y: Floats  # of Z and y
    z: Floats
    x: Floats
    y: Floats

    @classmethod
    def whiten(cls, z: Floats, x: Floats, y: Floats) -> PartialPlacement:
        """Z whitened, x and y less their planes in Z, by all rows; y is turned and tilted."""
        shift = short(np.array([column.mean() for column in (*z.T, x, y)]))
        moved, x, y = z - shift[:-2], x - shift[-2], y - shift[-1]
        mix = short(whitening(moved))
        of_x, of_y = _residual_coefficients(moved, x), _residual_coefficients(moved, y)
        placed = [np.column_stack([moved, v]) @ of for v, of in ((x, of_x), (y, of_y))]
        return cls(shift, mix, of_x, of_y, moved @ mix.T, *placed)

    def content(self) -> dict[str, Any]:
        mix = [row[: j + 1].tolist() for j, row in enumerate(self.mix)]
        of_y = [*self.of_y[:-1].tolist(), 0.0, float(self.of_y[-1])]
        return {"shift": self.shift.tolist(), "matrix": [*mix, self.of_x.tolist(), of_y]}


def _residual_coefficients(z: Floats, v: Floats) -> Floats:
    """Coefficients of z and v that leave of v what z does not explain, as large as 1 or so."""
    slopes = np.linalg.lstsq(z - z.mean(axis=0), v - v.mean(), rcond=None)[0]
    left = v - z @ slopes
    size = float(np.std(left)) or float(np.std(v)) or 1.0
    return short(np.append(-slopes, 1.0) / size)


class SignTree(Tree):
    """No k rows or more have a partial covariance above 0."""

    or_more = True

    def __init__(
        self, place: PartialPlacement, given: tuple[Floats, Floats], k: int, most_nodes: int,
        clock: Clock,
    ) -> None:  # fmt: skip
        z = np.column_stack([place.z, place.y])
        super().__init__(z, -place.x, place.y, k, most_nodes, clock)
        rare = [_rare(column) for column in given]  # x and y
        self.rare = [rows for rows in rare if np.count_nonzero(rows) <= len(rows) - k]

    def visit(self, part: Subproblem, own: int) -> tuple[list[Any], list[Subproblem]]:
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

    def start(self, costs: Costs) -> Floats:
        """x is what is left of it by all rows."""
        return np.zeros(costs.fitted.shape[1])


def _rare(column: Floats) -> Mask:
    """Rows on which it is not what it is most often."""
    values, count = np.unique(column, return_counts=True)
    return np.asarray(column != values[np.argmax(count)])

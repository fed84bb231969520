"""Dummies of a partition among the controls (countries, firms; or the intercept alone).

The span of such dummies is that of the classes' indicators, so on the rows kept they are fitted by
taking the mean off in each class, whichever rows went, and a class that is gone just drops out.

With e the classes' unit vectors on all rows and O the rows removed, class c keeps kappa = 1 -
sum_O e^2 of its length. Of columns without the classes' means, v.w of the rows kept about their own
means is v.w of all rows less that of O and of one row more for each class, sum_O e v / sqrt(kappa).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask


def partition(controls: Floats, unit: Ints | None) -> tuple[Ints, Ints]:
    """For every row its class, or -1; and the controls that are not spanned by the classes.

    Dummies with disjoint rows, those with the fewest rows first, and what an intercept adds to
    them. With the rows' groups, only classes inside one of them: they go as a whole.
    """
    n = len(controls)
    of_row, dummies = np.full(n, -1, dtype=np.int64), _dummies(controls)
    if unit is not None:
        dummies = [j for j in dummies if _is_inside(controls[:, j] != 0, unit)]
    used: list[int] = []
    for j in dummies:
        rows = controls[:, j] != 0
        if rows.all():
            rows = of_row < 0  # the intercept, less the dummies
        if rows.any() and np.all(of_row[rows] < 0):
            of_row[rows] = len(used)
            used.append(j)
    broken = np.zeros(0, dtype=np.int64) if unit is None else broken_by(of_row, unit)
    of_row[np.isin(of_row, broken)] = -1
    kept = [j for c, j in enumerate(used) if c not in set(broken.tolist())]
    return of_row, np.setdiff1d(np.arange(controls.shape[1]), kept)


def _dummies(controls: Floats) -> list[int]:
    """Columns with one value besides 0, the rarest first."""
    found = []
    for j, column in enumerate(controls.T):
        seen = column[column != 0]
        if len(seen) and np.all(seen == seen[0]):
            found.append((len(seen), j))
    return [j for _, j in sorted(found)]


def _is_inside(rows: Mask, unit: Ints) -> bool:
    """Whether these rows are of one group, or all there are."""
    return bool(rows.all() or np.all(unit[rows] == unit[rows][0]))


def broken_by(of_row: Ints, unit: Ints) -> Ints:
    """Classes of which a group takes a part."""
    inside = of_row >= 0
    pairs = np.unique(np.column_stack([unit, of_row])[inside], axis=0)
    units = np.bincount(pairs[:, 1], minlength=1)
    return np.asarray(np.flatnonzero(units > 1))


@dataclass(frozen=True, eq=False)
class Classes:
    """A partition of some rows, with the roots of their weights; -1 for rows of no class."""

    of_row: Ints
    root: Floats

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.of_row[self.of_row >= 0], minlength=1)

    @cached_property
    def members(self) -> list[Ints]:
        """Their rows."""
        order = np.argsort(self.of_row, kind="stable")
        none = int((self.of_row < 0).sum())
        return np.split(order[none:], np.cumsum(self.sizes)[:-1])

    @cached_property
    def count(self) -> int:
        return int((self.sizes > 0).sum())

    @cached_property
    def e(self) -> Floats:
        """Of each class the unit vector, 0 for rows of none."""
        at = self.of_row + 1
        weight = np.bincount(at, self.root**2)
        return np.where(at > 0, self.root / np.sqrt(weight[at]), 0.0)

    def subtract_means(self, columns: Floats) -> Floats:
        """Without the classes' means."""
        e, at = self.e, np.maximum(self.of_row, 0)
        flat = columns.reshape(len(columns), -1)
        out = np.empty_like(flat)
        for j, column in enumerate(flat.T):
            for _ in range(2):
                column = column - e * np.bincount(at, e * column)[at]
            out[:, j] = column
        return out.reshape(columns.shape)

    def is_constant(self, column: Floats) -> bool:
        """In every class, and 0 in the rows of none."""
        value = np.zeros(len(self.sizes) + 1)
        value[self.of_row] = column  # of one row of the class; the last is for rows of none
        value[-1] = 0.0
        return bool(np.all(column == value[self.of_row]))

    def without(self, gone: Ints) -> Shortened:
        """What is left of the classes without some rows."""
        inside = gone[self.of_row[gone] >= 0]
        at, size = self.of_row[inside], len(self.sizes)
        kappa = 1 - np.bincount(at, self.e[inside] ** 2, minlength=size)
        fewer = np.bincount(at, minlength=size)
        emptied = (fewer > 0) & (fewer == self.sizes)
        return Shortened(self, inside, np.where(emptied, np.inf, kappa), fewer > 0, emptied)


@dataclass(frozen=True, eq=False)
class Shortened:
    """Classes without some rows; ``kappa`` is infinite where a class is emptied."""

    classes: Classes
    gone: Ints
    kappa: Floats
    touched: Mask
    emptied: Mask

    @property
    def least(self) -> float:
        """The least share of a class that is left of it."""
        return float(self.kappa[self.touched].min(initial=1.0))

    def sums(self, columns: Floats) -> Floats:
        """Of each class, sum_O e v / kappa: minus the mean of its rows that are kept, over e."""
        at, e = self.classes.of_row[self.gone], self.classes.e[self.gone]
        flat = columns.reshape(len(columns), -1)[self.gone]
        out = np.zeros((len(self.kappa), flat.shape[1]))
        for j, column in enumerate(flat.T):
            out[:, j] = np.bincount(at, e * column, minlength=len(out)) / self.kappa
        return out.reshape(len(out), *columns.shape[1:])

    def more(self, columns: Floats) -> Floats:
        """The rows that go in addition, one for each class that is touched and not emptied."""
        left = self.touched & ~self.emptied
        root = np.sqrt(self.kappa[left])
        return self.sums(columns)[left] * root.reshape(-1, *[1] * (columns.ndim - 1))

    def subtract_kept_means(self, columns: Floats) -> Floats:
        """All rows without the means of the rows kept of their classes."""
        e = self.classes.e.reshape(-1, *[1] * (columns.ndim - 1))
        return np.asarray(columns + e * self.sums(columns)[self.classes.of_row])

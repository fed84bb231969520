"""Dummies of a partition among the controls (countries, firms; or the intercept alone).

The span of such dummies is that of the classes' indicators, so on the rows kept they are fitted by
taking the mean off in each class, whichever rows went, and a class that is gone just drops out.
"""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Floats, Ints


def partition(controls: Floats, unit: Ints) -> tuple[Ints, Ints]:
    """For every row its class, or -1; and the controls that are not spanned by the classes.

    Dummies with disjoint rows, those with the fewest rows first, and what an intercept adds to
    them. Where units are groups, only classes inside one of them: they go as a whole.
    """
    n = len(controls)
    of_row, dummies = np.full(n, -1, dtype=np.int64), _dummies(controls)
    used: list[int] = []
    for j in dummies:
        rows = controls[:, j] != 0
        if rows.all():
            rows = of_row < 0  # the intercept, less the dummies
        if rows.any() and np.all(of_row[rows] < 0):
            of_row[rows] = len(used)
            used.append(j)
    broken = _broken(of_row, unit)
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


def _broken(of_row: Ints, unit: Ints) -> Ints:
    """Classes of which a group takes a part."""
    if len(unit) == int(unit.max(initial=-1)) + 1:
        return np.zeros(0, dtype=np.int64)
    inside = of_row >= 0
    pairs = np.unique(np.column_stack([unit, of_row])[inside], axis=0)
    units = np.bincount(pairs[:, 1], minlength=1)
    return np.asarray(np.flatnonzero(units > 1))

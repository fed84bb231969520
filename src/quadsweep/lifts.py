"""Lifts: maps of the plane under which a conic becomes a hyperplane.

======  =======================  =================================
name    coordinates              boundary in the plane
======  =======================  =================================
L2      x^2, x                   two vertical lines
L3c     xy, x, y                 hyperbola with axes-parallel asymptotes
L3d     x^2 - y^2, x, y          rectangular hyperbola
L3t     x^2 + y^2, x, y          circle
L4      x^2, y^2, x, y           conic without a tilt
L5      x^2, xy, y^2, x, y       any conic
======  =======================  =================================

With p predictors there is the general one, to all products of two of the m = p + 1 columns and the
columns themselves, under which a quadric becomes a hyperplane. It is called by its m (m + 3) / 2
coordinates: L9 for two predictors, L14 for three.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np

from quadsweep.arrays import Floats

Lift = Callable[[Floats, Floats], Floats]

# Each coordinate as its coefficients on (x^2, xy, y^2, x, y).
COORDINATES: dict[str, tuple[tuple[int, int, int, int, int], ...]] = {
    "L2": ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0)),
    "L3c": ((0, 1, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)),
    "L3d": ((1, 0, -1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)),
    "L3t": ((1, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)),
    "L4": ((1, 0, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)),
    "L5": (
        (1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1),
    ),
}  # fmt: skip

LIFTS: tuple[str, ...] = tuple(COORDINATES)


def general(p: int) -> str:
    """Name of the lift whose hyperplanes are all conics, or quadrics, of p predictors and y.

    >>> general(1), general(2), general(3)
    ('L5', 'L9', 'L14')
    """
    return f"L{(p + 1) * (p + 4) // 2}"


def pairs(p: int) -> list[tuple[int, int]]:
    """Columns of which to take products, in the order of all monomials.

    >>> pairs(1)
    [(0, 0), (0, 1), (1, 1)]
    """
    return list(combinations_with_replacement(range(p + 1), 2))


def coordinates(name: str, p: int = 1) -> tuple[tuple[int, ...], ...]:
    """Each coordinate as its coefficients on the products of ``pairs`` and the p + 1 columns.

    >>> coordinates("L2")
    ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0))
    """
    if p == 1:
        if not isinstance(name, str) or name not in COORDINATES:
            raise ValueError(f"lift must be a callable or one of {', '.join(LIFTS)}; got {name!r}")
        return COORDINATES[name]
    if name != general(p):
        raise ValueError(
            f"with {p} predictors lift must be {general(p)}, to all products and columns; "
            f"got {name!r}"
        )
    d = len(pairs(p)) + p + 1
    return tuple(tuple(int(i == j) for j in range(d)) for i in range(d))


def get(name: str, p: int = 1) -> Lift:
    """The lift of that name as a function of x, which has p columns, and y.

    >>> import numpy as np
    >>> get("L3t")(np.array([1.0, 2.0]), np.array([3.0, 0.0]))
    array([[10.,  1.,  3.],
           [ 4.,  2.,  0.]])
    """
    matrix = np.array(coordinates(name, p), dtype=float)

    def lift(x: Floats, y: Floats) -> Floats:
        columns = columns_of(x, y)
        products = [columns[i] * columns[j] for i, j in pairs(p)]
        return np.ascontiguousarray(np.column_stack([*products, *columns]) @ matrix.T)

    return lift


def columns_of(x: Floats, y: Floats) -> list[Floats]:
    """The predictors, of which x may hold one or several, and y."""
    return [*np.atleast_2d(x.T), y]


def dimension(name: str, p: int = 1) -> int:
    """Number of coordinates of a named lift."""
    return len(coordinates(name, p))

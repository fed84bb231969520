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
"""

from __future__ import annotations

from collections.abc import Callable

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


def get(name: str) -> Lift:
    """The lift of that name as a function of two columns.

    >>> import numpy as np
    >>> get("L3t")(np.array([1.0, 2.0]), np.array([3.0, 0.0]))
    array([[10.,  1.,  3.],
           [ 4.,  2.,  0.]])
    """
    if not isinstance(name, str) or name not in COORDINATES:
        raise ValueError(f"lift must be a callable or one of {', '.join(LIFTS)}; got {name!r}")
    matrix = np.array(COORDINATES[name], dtype=float)

    def lift(x: Floats, y: Floats) -> Floats:
        monomials = np.column_stack([x * x, x * y, y * y, x, y])
        return np.ascontiguousarray(monomials @ matrix.T)

    return lift


def dimension(name: str) -> int:
    """Number of coordinates of a named lift."""
    get(name)
    return len(COORDINATES[name])

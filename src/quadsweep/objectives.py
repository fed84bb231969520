"""The objectives as data: name, sense, natural lift, value from centred sums.

With k points kept and sums S over them,

    a = Sxx - Sx^2/k      b = Syy - Sy^2/k      c = Sxy - Sx*Sy/k

The same table stands in ``_core/shared/objectives.hpp``; what else a new objective needs is listed
in ``docs/architecture.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.messages import argument


class Score(Protocol):
    """What orders subsets: an objective of the table below, or a function of the user's."""

    @property
    def name(self) -> str: ...
    @property
    def sense(self) -> int: ...
    @property
    def min_k(self) -> int: ...
    def value(self, x: Floats, y: Floats) -> float: ...


@dataclass(frozen=True)
class Objective:
    """A criterion that ranks subsets.

    Attributes
    ----------
    name : str
        The name used everywhere: Python, the command line, the compiled core.
    title : str
        How people write it.
    sense : int
        +1 if the largest value is best, -1 if the smallest.
    lift : str
        The natural lift (see :mod:`quadsweep.lifts`).
    min_k : int
        The fewest points on which the value means anything.
    separable : bool
        True if a theorem says that some best subset is cut off by the lift.
    needs_x, needs_y : bool
        Whether the column must vary for any subset to have a value.
    """

    name: str
    title: str
    sense: int
    lift: str
    min_k: int
    separable: bool
    needs_x: bool
    needs_y: bool
    _value: Callable[[float, float, float, int], float]
    _gradient: Callable[[float, float, float], tuple[float, float, float]]

    def of_sums(self, a: float, b: float, c: float, k: int) -> float:
        """Value of k points by their sums of squares and products about the mean.

        >>> get("cov").of_sums(4.0, 9.0, 6.0, 3)
        2.0
        """
        return self._value(a, b, c, k)

    def value(self, x: Floats, y: Floats) -> float:
        """Value on all the given points, ``nan`` where it is undefined.

        >>> import numpy as np
        >>> get("r2").value(np.array([0.0, 1, 2]), np.array([0.0, 2, 4]))
        1.0
        """
        (x, ex), (y, ey) = _tamed(x), _tamed(y)
        a, b, c = centred_sums(x, y)
        if (ex or ey) and self.name not in ("r2", "r"):
            with np.errstate(over="ignore"):
                a, b, c = (float(np.ldexp(*t)) for t in ((a, 2 * ex), (b, 2 * ey), (c, ex + ey)))
        return self._value(a, b, c, len(x))

    def gradient(self, x: Floats, y: Floats) -> tuple[float, float, float]:
        """Coefficients (of u^2, uw, w^2) of the first-order gain from one more point.

        u and w are the point's coordinates from the mean of the given points. Points with a larger
        value of this quadratic raise the score more; its level set is the boundary the paper calls
        the decision boundary.
        """
        return self._gradient(*centred_sums(x, y))

    def gradient_of_sums(self, a: float, b: float, c: float) -> tuple[float, float, float]:
        """The same by their sums of squares and products about the mean.

        >>> get("cov").gradient_of_sums(4.0, 9.0, 6.0)
        (0.0, 1.0, 0.0)
        """
        return self._gradient(a, b, c)


def _tamed(column: Floats) -> tuple[Floats, int]:
    """The column times 2^-e, with e = 0 unless squares would leave the range of a double."""
    most = float(np.max(np.abs(column)))
    if most == 0 or 1e-70 < most < 1e70:
        return column, 0
    exponent = math.frexp(most)[1]
    return np.ldexp(column, -exponent), exponent


@np.errstate(over="ignore", invalid="ignore")
def centred_sums(x: Floats, y: Floats) -> tuple[float, float, float]:
    """The sums a, b, c about the mean, exactly zero for a column that does not vary."""
    u = x - x.mean()
    w = y - y.mean()
    u -= u.mean()
    w -= w.mean()
    a = float(u @ u) if np.any(x != x[0]) else 0.0
    b = float(w @ w) if np.any(y != y[0]) else 0.0
    return a, b, float(u @ w) if a > 0 and b > 0 else 0.0


def _r2(a: float, b: float, c: float, k: int) -> float:
    return min(c / a * (c / b), 1.0) if a > 0 and b > 0 else math.nan


def _r(a: float, b: float, c: float, k: int) -> float:
    return max(-1.0, min(c / math.sqrt(a) / math.sqrt(b), 1.0)) if a > 0 and b > 0 else math.nan


def _lts(a: float, b: float, c: float, k: int) -> float:
    return max(b - c * (c / a), 0.0) if a > 0 else b


def _r2_gradient(a: float, b: float, c: float) -> tuple[float, float, float]:
    # d log R2 = 2 dc/c - da/a - db/b; times |c|, so that c = 0 stays finite.
    s = math.copysign(1.0, c)
    return -abs(c) / a, 2.0 * s, -abs(c) / b


def _r_gradient(a: float, b: float, c: float) -> tuple[float, float, float]:
    return -c / a, 2.0, -c / b


def _lts_gradient(a: float, b: float, c: float) -> tuple[float, float, float]:
    slope = c / a if a > 0 else 0.0
    return -slope * slope, 2.0 * slope, -1.0


def _mcd(a: float, b: float, c: float, k: int) -> float:
    return max(a / k * (b / k) - c / k * (c / k), 0.0)


def _mcd_gradient(a: float, b: float, c: float) -> tuple[float, float, float]:
    # d log det = (b da - 2 c dc + a db) / (ab - c^2)
    return -b, 2.0 * c, -a


OBJECTIVES: dict[str, Objective] = {
    o.name: o
    for o in (
        Objective("r2", "R²", +1, "L5", 3, False, True, True, _r2, _r2_gradient),
        Objective("r", "r", +1, "L5", 3, False, True, True, _r, _r_gradient),
        Objective(
            "cov", "covariance", +1, "L3c", 2, False, False, False,
            lambda a, b, c, k: c / k, lambda a, b, c: (0.0, 1.0, 0.0),
        ),
        Objective(
            "dv", "difference of variances", +1, "L3d", 2, False, False, False,
            lambda a, b, c, k: (a - b) / k, lambda a, b, c: (1.0, 0.0, -1.0),
        ),
        Objective(
            "tv", "total variance", -1, "L3t", 2, True, False, False,
            lambda a, b, c, k: (a + b) / k, lambda a, b, c: (-1.0, 0.0, -1.0),
        ),
        Objective(
            "var", "variance of x", -1, "L2", 2, True, False, False,
            lambda a, b, c, k: a / k, lambda a, b, c: (-1.0, 0.0, 0.0),
        ),
        Objective(
            "lts", "residual sum of squares", -1, "L5", 3, True, False, False,
            _lts, _lts_gradient,
        ),
        Objective(
            "mcd", "determinant of the covariance", -1, "L5", 3, True, False, False,
            _mcd, _mcd_gradient,
        ),
    )
}  # fmt: skip


def get(name: str) -> Objective:
    """The objective of that name, or a ValueError that lists the known ones."""
    if not isinstance(name, str) or name not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise ValueError(f"{argument('objective')} must be one of {known}; got {name!r}")
    return OBJECTIVES[name]

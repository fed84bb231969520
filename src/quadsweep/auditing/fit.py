"""The line, the correlation and its t test on a set of points."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from quadsweep.arrays import Floats
from quadsweep.objectives import centred_sums
from quadsweep.results.formatting import chance, plain


@dataclass(frozen=True)
class Fit:
    """What a simple regression says.

    Attributes
    ----------
    n : int
    slope, intercept : float
        The least squares line.
    r, r2 : float
    p_value : float
        Of the two-sided t test of no correlation, n - 2 degrees of freedom.
    """

    n: int
    slope: float
    intercept: float
    r: float
    r2: float
    p_value: float

    def __str__(self) -> str:
        return (
            f"slope {self.slope:.4g}, r {self.r:.4g}, R² {self.r2:.4g}, {chance(self.p_value)}   "
            f"({self.n:,} rows)"
        )

    def to_dict(self) -> dict[str, float | None]:
        """Plain values, None where undefined."""
        return dict(plain(asdict(self)))


def fit(x: Floats, y: Floats) -> Fit:
    """The regression of y on x.

    Examples
    --------
    >>> import numpy as np
    >>> fit(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 1, 2])).slope
    0.6
    """
    a, b, c = centred_sums(x, y)
    slope = c / a if a > 0 else math.nan
    r = max(-1.0, min(c / math.sqrt(a) / math.sqrt(b), 1.0)) if a > 0 and b > 0 else math.nan
    intercept = float(y.mean() - slope * x.mean())
    return Fit(len(x), slope, intercept, r, r * r, p_value(r, len(x)))


def p_value(r: float, k: int) -> float:
    """Two-sided, of a correlation r among k points."""
    from scipy.special import betainc

    if math.isnan(r) or k < 3:
        return math.nan
    return float(betainc((k - 2) / 2, 0.5, (1 - r) * (1 + r)))


def critical_r(k: int, level: float) -> float:
    """The correlation whose p-value among k points is the level.

    Examples
    --------
    >>> round(critical_r(30, 0.05), 4)
    0.361
    """
    from scipy.special import stdtrit

    t = -float(stdtrit(k - 2, level / 2))
    return t / math.sqrt(k - 2 + t * t)

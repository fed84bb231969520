"""Sums of a subset in exact arithmetic.

A double is a whole number times a power of two, so with one power for the whole column

    k Sxx - Sx^2,   k Syy - Sy^2,   k Sxy - Sx Sy

are whole numbers: k a, k b and k c up to powers of two, with no rounding anywhere.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.rational import whole_numbers

# Floating point sums about the mean are good to far more digits than this; only statistics
# closer to their threshold are looked at in exact arithmetic.
_CLEAR = 1e-6


class ExactPoints:
    """The data, and the sums of any subset of them."""

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x, self.y = x, y
        self.n = len(x)
        self._whole: tuple[list[int], int, list[int], int] | None = None

    def turned(self) -> ExactPoints:
        """The same with y turned over."""
        return ExactPoints(self.x, -self.y)

    def floating(self, kept: Ints) -> tuple[float, float, float]:
        """a, b, c in floating point, exactly zero for a column that does not vary."""
        x, y = self.x[kept], self.y[kept]
        u, w = x - x.mean(), y - y.mean()
        u -= u.mean()
        w -= w.mean()
        # No dot products: the threads of a BLAS cost more than they gain here.
        a = float((u * u).sum()) if np.any(x != x[0]) else 0.0
        b = float((w * w).sum()) if np.any(y != y[0]) else 0.0
        return a, b, float((u * w).sum()) if a > 0 and b > 0 else 0.0

    def exact(self, kept: Ints) -> tuple[Fraction, Fraction, Fraction]:
        """a, b, c without rounding."""
        if self._whole is None:
            self._whole = (*whole_numbers(self.x), *whole_numbers(self.y))
        xs, ex, ys, ey = self._whole
        k = len(kept)
        sx = sy = sxx = sxy = syy = 0
        for i in kept.tolist():
            u, w = xs[i], ys[i]
            sx += u
            sy += w
            sxx += u * u
            sxy += u * w
            syy += w * w
        two = Fraction(2)
        return (
            Fraction(k * sxx - sx * sx, k) * two ** (2 * ex),
            Fraction(k * syy - sy * sy, k) * two ** (2 * ey),
            Fraction(k * sxy - sx * sy, k) * two ** (ex + ey),
        )

    def r_exceeds(self, kept: Ints, threshold: float, sign: int = 1) -> bool:
        """Whether sign * r > threshold >= 0; False where r is undefined."""
        return self.tilt_exceeds(kept, 0.0, threshold, sign)

    def tilt_exceeds(self, kept: Ints, slope: float, margin: float, sign: int = 1) -> bool:
        """Whether sign * (c - slope a) > margin sqrt(a b), with margin >= 0; False where either
        column is constant."""
        a, b, c = self.floating(kept)
        if a > 0 and b > 0:
            root = np.sqrt(a) * np.sqrt(b)
            excess = sign * (c - slope * a) / root - margin
            if abs(excess) > _CLEAR * (1 + abs(slope) * np.sqrt(a) / np.sqrt(b)):
                return bool(excess > 0)
        fa, fb, fc = self.exact(kept)
        d = sign * (fc - Fraction(slope) * fa)
        return fa > 0 and fb > 0 and d > 0 and d * d > Fraction(margin) ** 2 * fa * fb

    def r2_below(self, kept: Ints, threshold: float) -> bool:
        """Whether r^2 < threshold^2; False where r is undefined."""
        a, b, c = self.floating(kept)
        if a > 0 and b > 0:
            excess = abs(c) / np.sqrt(a) / np.sqrt(b) - threshold
            if abs(excess) > _CLEAR:
                return bool(excess < 0)
        fa, fb, fc = self.exact(kept)
        return threshold > 0 and fc * fc < Fraction(threshold) ** 2 * fa * fb

"""Conics: the boundary between inliers and outliers, as a curve that can be drawn.

A conic is  A x^2 + B xy + C y^2 + D x + E y + F = 0; points where the left side is positive are on
the inliers' side. It is kept about a centre and in units of the data, so that evaluating it far
from the origin loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quadsweep.arrays import Floats
from quadsweep.results.formatting import HasFields, drawn_by

_FLAT = 1e-12  # a discriminant or determinant below this share of its terms counts as zero


@dataclass(frozen=True)
class Conic(HasFields):
    """A conic, as coefficients in local coordinates u = (x - x0) / sx, w = (y - y0) / sy.

    Attributes
    ----------
    local : tuple of six floats
        Coefficients on (u^2, uw, w^2, u, w, 1).
    origin, scale : tuple of two floats
        (x0, y0) and (sx, sy).

    Examples
    --------
    >>> circle = Conic((-1.0, 0.0, -1.0, 0.0, 0.0, 4.0))
    >>> circle.kind, circle.center
    ('circle', (0.0, 0.0))
    >>> circle([0.0, 3.0], [0.0, 0.0])
    array([ 4., -5.])
    """

    json_fields = "kind coefficients center"

    local: tuple[float, float, float, float, float, float]
    origin: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (1.0, 1.0)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Left side of the equation; positive on the inliers' side."""
        u = (np.asarray(x, dtype=float) - self.origin[0]) / self.scale[0]
        w = (np.asarray(y, dtype=float) - self.origin[1]) / self.scale[1]
        a, b, c, d, e, f = self.local
        return np.asarray(a * u * u + b * u * w + c * w * w + d * u + e * w + f)

    @property
    def coefficients(self) -> tuple[float, float, float, float, float, float]:
        """(A, B, C, D, E, F) on (x^2, xy, y^2, x, y, 1), in the data's own coordinates."""
        return self.change_coordinates((0.0, 0.0), (1.0, 1.0)).local

    @property
    def kind(self) -> str:
        """``circle``, ``ellipse``, ``hyperbola``, ``parabola``, ``line``, ``line pair``, ``point``
        or ``empty`` (no real points)."""
        a, b, c, d, e, f = self.local
        quadratic = max(abs(a), abs(b), abs(c))
        if quadratic <= _FLAT * max(abs(d), abs(e), abs(f)):
            return "line" if max(abs(d), abs(e)) > _FLAT * abs(f) else "empty"
        disc = b * b - 4 * a * c
        matrix = np.array([[a, b / 2, d / 2], [b / 2, c, e / 2], [d / 2, e / 2, f]])
        size = float(np.prod(np.maximum(np.linalg.norm(matrix, axis=1), 1e-300)))
        degenerate = abs(float(np.linalg.det(matrix))) <= _FLAT * size
        if abs(disc) <= _FLAT * quadratic**2:
            return self._parallel_lines() if degenerate else "parabola"
        if disc > 0:
            return "line pair" if degenerate else "hyperbola"
        if degenerate:
            return "point"
        if (a + c) * float(np.linalg.det(matrix)) > 0:
            return "empty"
        sx, sy = self.scale
        A, B, C = a / sx**2, b / (sx * sy), c / sy**2
        return "circle" if max(abs(A - C), abs(B)) <= _FLAT * abs(A + C) else "ellipse"

    def _parallel_lines(self) -> str:
        """A quadratic in one direction only: two lines, one counted twice, or none."""
        a, _, c, d, e, f = self.local
        q, p = (a, d) if abs(a) >= abs(c) else (c, e)
        disc = p * p - 4 * q * f
        if abs(disc) <= _FLAT * max(p * p, abs(4 * q * f), q * q):
            return "line"
        return "line pair" if disc > 0 else "empty"

    @property
    def center(self) -> tuple[float, float] | None:
        """Centre of symmetry, or None for a parabola or parallel lines, which have none or many."""
        a, b, c, d, e, f = self.local
        quadratic = max(abs(a), abs(b), abs(c))
        disc = b * b - 4 * a * c
        if quadratic <= _FLAT * max(abs(d), abs(e), abs(f)) or abs(disc) <= _FLAT * quadratic**2:
            return None
        u = (2 * c * d - b * e) / disc
        w = (2 * a * e - b * d) / disc
        return self.origin[0] + u * self.scale[0] + 0.0, self.origin[1] + w * self.scale[1] + 0.0

    def separates(self, x: ArrayLike, y: ArrayLike, mask: ArrayLike) -> bool:
        """True if exactly the points of ``mask`` are on the positive side, none on the curve."""
        side = self(x, y)
        inside = np.asarray(mask, dtype=bool)
        return bool(np.all(side[inside] > 0) and np.all(side[~inside] < 0))

    def change_coordinates(self, origin: tuple[float, float], scale: tuple[float, float]) -> Conic:
        """The same conic with coefficients in u = (x - x0) / sx, w = (y - y0) / sy."""
        a, b, c, d, e, f = self.local
        p, q = scale[0] / self.scale[0], scale[1] / self.scale[1]
        u = (origin[0] - self.origin[0]) / self.scale[0]
        w = (origin[1] - self.origin[1]) / self.scale[1]
        linear = (2 * a * u + b * w + d) * p, (b * u + 2 * c * w + e) * q
        constant = a * u * u + b * u * w + c * w * w + d * u + e * w + f
        return Conic((a * p * p, b * p * q, c * q * q, *linear, constant), origin, scale)

    plot = drawn_by("conic.plot_conic", "Draw the curve on ``ax``, within its present limits.")

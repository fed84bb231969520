"""Conics: the boundary between inliers and outliers, as a curve that can be drawn.

A conic is  A x^2 + B xy + C y^2 + D x + E y + F = 0; points where the left side is positive are on
the inliers' side. It is kept about a centre and in units of the data, so that evaluating it far
from the origin loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_FLAT = 1e-12  # a discriminant or determinant below this share of its terms counts as zero


@dataclass(frozen=True)
class Conic:
    """A conic in local coordinates u = (x - x0) / sx, w = (y - y0) / sy.

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
        a, b, c, d, e, f = self.local
        (x0, y0), (sx, sy) = self.origin, self.scale
        A, B, C = a / sx**2, b / (sx * sy), c / sy**2
        D = d / sx - 2 * A * x0 - B * y0
        E = e / sy - 2 * C * y0 - B * x0
        F = f - d * x0 / sx - e * y0 / sy + A * x0**2 + B * x0 * y0 + C * y0**2
        return A, B, C, D, E, F

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
            return "line pair" if degenerate else "parabola"
        if disc > 0:
            return "line pair" if degenerate else "hyperbola"
        if degenerate:
            return "point"
        if (a + c) * float(np.linalg.det(matrix)) > 0:
            return "empty"
        sx, sy = self.scale
        A, B, C = a / sx**2, b / (sx * sy), c / sy**2
        return "circle" if max(abs(A - C), abs(B)) <= _FLAT * abs(A + C) else "ellipse"

    @property
    def center(self) -> tuple[float, float] | None:
        """Centre of symmetry, or None for a parabola or a line."""
        a, b, c, d, e, _ = self.local
        disc = b * b - 4 * a * c
        if abs(disc) <= _FLAT * max(abs(a), abs(b), abs(c), 1e-300) ** 2:
            return None
        u = (2 * c * d - b * e) / disc
        w = (2 * a * e - b * d) / disc
        return self.origin[0] + u * self.scale[0] + 0.0, self.origin[1] + w * self.scale[1] + 0.0

    def separates(self, x: ArrayLike, y: ArrayLike, mask: ArrayLike) -> bool:
        """True if exactly the points of ``mask`` are on the positive side, none on the curve."""
        side = self(x, y)
        inside = np.asarray(mask, dtype=bool)
        return bool(np.all(side[inside] > 0) and np.all(side[~inside] < 0))

    def curve(
        self, xlim: tuple[float, float], ylim: tuple[float, float], points: int = 400
    ) -> list[Floats]:
        """The parts of the curve inside a window, each an array of (x, y) rows, for drawing."""
        pieces = _branches(self, xlim, ylim, points, along_x=True)
        pieces += _branches(self, xlim, ylim, points, along_x=False)
        return pieces

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the curve on ``ax``, within its present limits."""
        from quadsweep.plotting.conic import plot_conic

        return plot_conic(self, ax=ax, **style)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        center = self.center
        return {
            "kind": self.kind,
            "coefficients": list(self.coefficients),
            "center": None if center is None else list(center),
        }


def _branches(
    conic: Conic,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
    points: int,
    along_x: bool,
) -> list[Floats]:
    """Solve the quadratic for the other coordinate along one axis; keep what lies in the window.

    Each axis gives only the part where the curve is flatter against it, so that the two together
    cover the curve once, without gaps at vertical tangents.
    """
    (x0, y0), (sx, sy) = conic.origin, conic.scale
    a, b, c, d, e, f = conic.local
    if along_x:
        t = (np.linspace(*xlim, points) - x0) / sx
        q, p, m = np.full_like(t, c), b * t + e, a * t * t + d * t + f
        lo, hi = (ylim[0] - y0) / sy, (ylim[1] - y0) / sy
        ratio = (xlim[1] - xlim[0]) / sx / max(hi - lo, 1e-300)
    else:
        t = (np.linspace(*ylim, points) - y0) / sy
        q, p, m = np.full_like(t, a), b * t + d, c * t * t + e * t + f
        lo, hi = (xlim[0] - x0) / sx, (xlim[1] - x0) / sx
        ratio = (ylim[1] - ylim[0]) / sy / max(hi - lo, 1e-300)
    pieces: list[Floats] = []
    for s in _roots(q, p, m):
        with np.errstate(invalid="ignore"):
            u, w = (t, s) if along_x else (s, t)
            gu, gw = 2 * a * u + b * w + d, b * u + 2 * c * w + e
            steep = np.abs(gu) * ratio if along_x else np.abs(gw) * ratio
            flat = np.abs(gw) if along_x else np.abs(gu)
            shown = np.isfinite(s) & (s >= lo) & (s <= hi) & (steep <= 1.02 * flat)
        xy = np.column_stack([x0 + u * sx, y0 + w * sy])
        edges = np.flatnonzero(np.diff(np.concatenate([[0], shown.view(np.int8), [0]])))
        for start, stop in edges.reshape(-1, 2):
            if stop - start > 1:
                pieces.append(xy[start:stop])
    return pieces


def _roots(q: Floats, p: Floats, m: Floats) -> tuple[Floats, Floats]:
    """Both roots of q s^2 + p s + m, NaN where there is none, without cancellation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        big = -(p + np.copysign(np.sqrt(p * p - 4 * q * m), p)) / 2
        first = np.where(q != 0, big / q, np.nan)
        second = np.where(big != 0, m / big, np.where(q != 0, 0.0, np.nan))
    return first, second

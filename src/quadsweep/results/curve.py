"""A conic as polylines inside the square [-1, 1]^2.

Where the curve runs flatter than the diagonal it is a function of the first coordinate, elsewhere
of the second; each is the root of a quadratic. The places where one description hands over to the
other, where the curve leaves the square, and where a root appears or vanishes are themselves roots
of quadratics. They are added to the grid, so that the pieces meet exactly and nothing is left out.
"""

from __future__ import annotations

import numpy as np

from quadsweep.arrays import Floats, Mask

Coefficients = tuple[float, float, float, float, float, float]

_MEET = 1e-6  # ends of pieces closer than this are the same point
_ROUNDING = 1e-13


def trace(conic: Coefficients, points: int) -> list[Floats]:
    """Polylines of (u, w) rows, about ``points`` of them along a side of the square."""
    size = max(abs(v) for v in conic)
    if size == 0 or not np.isfinite(size):
        return []
    a, b, c, d, e, f = (v / size for v in conic)
    flat = _flat_parts((a, b, c, d, e, f), points)
    steep = _flat_parts((c, b, a, e, d, f), points)
    return _join(flat + [piece[:, ::-1] for piece in steep])


def _flat_parts(conic: Coefficients, points: int) -> list[Floats]:
    """Where |dw/du| <= 1, as functions of u."""
    a, b, c, d, e, _ = conic
    u = _grid(conic, points)
    middle = (u[1:] + u[:-1]) / 2
    pieces: list[Floats] = []
    for sign in (1.0, -1.0):
        w, w_middle = _root(conic, u, sign), _root(conic, middle, sign)
        with np.errstate(invalid="ignore"):
            gu = np.abs(2 * a * middle + b * w_middle + d)
            gw = np.abs(b * middle + 2 * c * w_middle + e)
            shown = (np.abs(w_middle) <= 1) & (gu <= gw * (1 + 1e-9))
        shown &= np.isfinite(w[1:]) & np.isfinite(w[:-1])
        w = _within_slope_one(u, w, w_middle, shown)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], shown.view(np.int8), [0]])))
        for start, stop in edges.reshape(-1, 2):
            pieces.append(np.column_stack([u[start : stop + 1], w[start : stop + 1]]))
    return pieces


def _within_slope_one(u: Floats, w: Floats, w_middle: Floats, shown: Mask) -> Floats:
    """Ends of intervals held to the slope of their middles.

    At the crossing of two lines both roots are lost in rounding; their neighbours are not.
    """
    low, high = np.full_like(w, -np.inf), np.full_like(w, np.inf)
    reach = np.diff(u)[shown]
    for end in (slice(1, None), slice(None, -1)):
        low[end][shown] = np.maximum(low[end][shown], w_middle[shown] - reach)
        high[end][shown] = np.minimum(high[end][shown], w_middle[shown] + reach)
    return np.clip(w, low, high)


def _root(conic: Coefficients, u: Floats, sign: float) -> Floats:
    """The root (-p + sign sqrt(p^2 - 4qm)) / 2q in w, NaN where there is none, stably."""
    a, b, c, d, e, f = conic
    p, m = b * u + e, a * u * u + d * u + f
    disc = p * p - 4 * c * m
    disc[(disc < 0) & (disc > -_ROUNDING * (p * p + np.abs(4 * c * m)))] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(disc)
        far = -(p + np.copysign(root, p)) / 2
        plain = far / c if c != 0 else np.full_like(u, np.nan)
        other = np.where(far != 0, m / far, 0.0 if c != 0 else np.nan)
        return np.where(np.copysign(1.0, p) == -sign, plain, other)


def _grid(conic: Coefficients, points: int) -> Floats:
    a, b, c, d, e, f = conic
    special = [
        *_real_roots(b * b - 4 * a * c, 2 * b * e - 4 * c * d, e * e - 4 * c * f),
        *_real_roots(0.0, b, e),
    ]
    for edge in (-1.0, 1.0):
        special += _real_roots(a, b * edge + d, c + e * edge + f)
    for turn in (-1.0, 1.0):
        special += _on_line(conic, 2 * a + turn * b, b + turn * 2 * c, d + turn * e)
    inside = [u for u in special if -1 < u < 1]
    return np.unique(np.concatenate([np.linspace(-1.0, 1.0, points), inside]))


def _on_line(conic: Coefficients, p: float, q: float, r: float) -> list[float]:
    """First coordinates of the points where the conic meets p u + q w + r = 0."""
    a, b, c, d, e, f = conic
    if abs(q) >= abs(p):
        if q == 0:
            return []
        g, h = -p / q, -r / q  # w = g u + h
        return _real_roots(
            a + b * g + c * g * g, b * h + 2 * c * g * h + d + e * g, c * h * h + e * h + f
        )
    g, h = -q / p, -r / p  # u = g w + h
    roots = _real_roots(
        a * g * g + b * g + c, 2 * a * g * h + b * h + d * g + e, a * h * h + d * h + f
    )
    return [g * w + h for w in roots]


def _real_roots(q: float, p: float, m: float) -> list[float]:
    disc = p * p - 4 * q * m
    if disc < 0:
        if disc < -_ROUNDING * (p * p + abs(4 * q * m)):
            return []
        disc = 0.0
    far = -(p + np.copysign(np.sqrt(disc), p)) / 2
    roots = [far / q] if q != 0 else []
    return [float(t) for t in (*roots, *([m / far] if far != 0 else []))]


def _join(pieces: list[Floats]) -> list[Floats]:
    """Pieces whose ends meet, as one."""
    joined: list[Floats] = []
    waiting = list(pieces)
    while waiting:
        line = waiting.pop(0)
        while (found := _neighbour(line, waiting)) is not None:
            index, at_end, flipped = found
            piece = waiting.pop(index)
            piece = piece[::-1] if flipped else piece
            line = np.vstack([line, piece[1:]] if at_end else [piece[:-1], line])
        joined.append(line)
    return joined


def _neighbour(line: Floats, others: list[Floats]) -> tuple[int, bool, bool] | None:
    for index, other in enumerate(others):
        for at_end, tip in ((True, line[-1]), (False, line[0])):
            for flipped in (False, True):
                meets = other[0 if at_end != flipped else -1]
                if np.max(np.abs(tip - meets)) <= _MEET:
                    return index, at_end, flipped
    return None

"""The answer on the data: who is in, who is out, the line with and without trimming, the conic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.objectives import centred_sums
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE, axes_or_new, frame, literal, tidy
from quadsweep.plotting.conic import plot_conic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.answers.result import Result


_MOST_LABELS = 15
_MANY = 5_000
_SIDES = {
    "below": (0, -6, "center", "top"),
    "above": (0, 6, "center", "bottom"),
    "right": (6, 0, "left", "center"),
    "left": (-6, 0, "right", "center"),
}
_LINE_MATTERS = ("r2", "r", "lts")
_PROOF = {
    "optimal": "proved optimal",
    "best_separable": "best separable subset",
    "heuristic": "no proof",
    "time_limit": "time limit, gap {gap:.2g}",
    "interrupted": "interrupted, gap {gap:.2g}",
}


def plot_result(result: Result, ax: Axes | None = None) -> Axes:
    """Draw a result.

    Parameters
    ----------
    result : Result
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    ax = axes_or_new(ax)
    tidy(ax)
    everyone = result.used
    x, y = result.x, result.y
    frame(ax, x[everyone], y[everyone])
    if result.conic is not None:
        plot_conic(result.conic, ax=ax, label=f"boundary ({result.conic.kind})")
        _only_first_label(ax)
    _points(
        ax, x[result.inliers], y[result.inliers], "kept", len(everyone), marker="o", color=INLIER
    )
    _points(
        ax, x[result.outliers], y[result.outliers], "dropped", len(everyone),
        marker="X", color=OUTLIER,
    )  # fmt: skip
    if result.objective in _LINE_MATTERS:
        _line(ax, x[everyone], y[everyone], "line of all", color=PALE, linestyle=(0, (5, 3)))
        _line(ax, x[result.inliers], y[result.inliers], "line of kept", color=LINE)
    _name_outliers(ax, result)
    ax.set_xlabel(literal(result.names[0]))
    ax.set_ylabel(literal(result.names[1]) if result.objective != "var" else "")
    ax.set_title(_title(result), loc="left", fontsize=11)
    # Under the points, so that it never hides one.
    ax.legend(fontsize=8, framealpha=0.7, edgecolor="none", loc="best").set_zorder(2.5)
    return ax


def _points(ax: Axes, x: Floats, y: Floats, label: str, n: int, **style: Any) -> None:
    if len(x) == 0:
        return
    size = float(np.clip(3000 / n, 2, 46 if style["marker"] == "X" else 34))
    ax.scatter(
        x, y, s=size, label=f"{label} ({len(x):,})", edgecolors="white",
        linewidths=0.6 if n <= 300 else 0.0, zorder=3, rasterized=n > _MANY, **style,
    )  # fmt: skip


def _line(ax: Axes, x: Floats, y: Floats, label: str, **style: Any) -> None:
    a, _, c = centred_sums(x, y)
    if a > 0:
        ax.axline(
            (float(x.mean()), float(y.mean())), slope=c / a, label=label, zorder=2,
            linewidth=1.3, **style,
        )  # fmt: skip


def _name_outliers(ax: Axes, result: Result) -> None:
    """Each label on the first of four sides where it covers no point and no other label."""
    if result.labels is None or not 0 < len(result.outliers) <= _MOST_LABELS:
        return
    from matplotlib.patheffects import withStroke

    inch = ax.figure.dpi / 72
    marks = ax.transData.transform(np.column_stack([result.x, result.y])[np.isfinite(result.x)])
    taken = [(px - 4 * inch, py - 4 * inch, px + 4 * inch, py + 4 * inch) for px, py in marks]
    for i in result.outliers:
        text = str(result.labels[i])
        at = ax.transData.transform((result.x[i], result.y[i]))
        places = [(side, _box(at, side, len(text), inch)) for side in _SIDES]
        side, box = min(places, key=lambda place: _overlap(place[1], taken, ax))
        taken.append(box)
        dx, dy, ha, va = _SIDES[side]
        ax.annotate(
            literal(text), (result.x[i], result.y[i]), xytext=(dx, dy), ha=ha, va=va,
            textcoords="offset points", fontsize=8, color=OUTLIER, zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip


def _box(at: Floats, side: str, letters: int, inch: float) -> tuple[float, float, float, float]:
    """About where a label of eight points would stand, in pixels."""
    width, height = 5.0 * letters * inch, 9.0 * inch
    dx, dy, ha, va = _SIDES[side]
    left = at[0] + dx * inch - {"left": 0.0, "center": width / 2, "right": width}[ha]
    low = at[1] + dy * inch - {"bottom": 0.0, "center": height / 2, "top": height}[va]
    return left, low, left + width, low + height


def _overlap(
    box: tuple[float, float, float, float],
    taken: list[tuple[float, float, float, float]],
    ax: Axes,
) -> float:
    """Area shared with what is there already, and area outside the axes."""
    frame = ax.bbox
    inside = _shared(box, (frame.x0, frame.y0, frame.x1, frame.y1))
    outside = (box[2] - box[0]) * (box[3] - box[1]) - inside
    return outside + sum(_shared(box, other) for other in taken)


def _shared(p: tuple[float, float, float, float], q: tuple[float, float, float, float]) -> float:
    width, height = min(p[2], q[2]) - max(p[0], q[0]), min(p[3], q[3]) - max(p[1], q[1])
    return max(width, 0.0) * max(height, 0.0)


def _only_first_label(ax: Axes) -> None:
    """A boundary in several parts is one entry of the legend."""
    for part in ax.lines[1:]:
        part.set_label("_nolegend_")


def _title(result: Result) -> str:
    before = "" if math.isnan(result.before) else f" (all points: {_short(result.before)})"
    proof = _PROOF[result.status].format(gap=result.gap)
    return (
        f"{result.title} = {_short(result.value)}{before}\n"
        f"k = {result.k:,} of {result.n:,} points, {proof}"
    )


def _short(value: float) -> str:
    """Four digits, more where they would make 1 out of less than 1."""
    text = f"{value:.4g}"
    return f"{value:.9g}" if text == "1" and value < 1 else text

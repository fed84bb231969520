"""The answer on the data: who is in, who is out, the line with and without trimming, the conic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.objectives import centred_sums
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import LINE, PALE
from quadsweep.plotting.conic import plot_conic
from quadsweep.plotting.labels import name_points
from quadsweep.results.scatter import chi_square, scatter_of

if TYPE_CHECKING:
    from quadsweep.results.result import Result


_LINE_MATTERS = ("r2", "r", "lts")
_PROOF = {
    "optimal": "proved optimal",
    "best_separable": "best separable subset",
    "heuristic": "no proof",
    "time_limit": "time limit, gap {gap:.2g}",
    "memory_limit": "memory limit, gap {gap:.2g}",
    "interrupted": "interrupted, gap {gap:.2g}",
}


def plot_result(result: Result, ax: Axes | None = None) -> Axes:
    """Draw a result."""
    ax = canvas.tidy_axes(ax)
    everyone = result.used
    x, y = result.x, result.y
    canvas.frame(ax, x[everyone], y[everyone])
    if result.objective == "mcd":
        _ellipses(ax, result)
    elif result.conic is not None:
        plot_conic(result.conic, ax=ax, label=f"boundary ({result.conic.kind})")
        _only_first_label(ax)
    canvas.both_sides(ax, x, y, result.inliers, result.outliers, len(everyone))
    if result.objective in _LINE_MATTERS:
        _line(ax, x[everyone], y[everyone], "line of all", color=PALE, linestyle=(0, (5, 3)))
        _line(ax, x[result.inliers], y[result.inliers], "line of kept", color=LINE)
    named = _beyond_the_ellipse(result) if result.objective == "mcd" else result.outliers
    name_points(ax, x, y, named, [result.label(i) for i in named])
    ax.set_xlabel(canvas.literal(result.names[0]))
    ax.set_ylabel(canvas.literal(result.names[1]) if result.objective != "var" else "")
    canvas.show_dates(ax, result.names, result.dates)
    canvas.titled(ax, _title(result))
    canvas.legend_below(ax)
    return ax


def _line(ax: Axes, x: Floats, y: Floats, label: str, **style: Any) -> None:
    a, _, c = centred_sums(x, y)
    if a > 0:
        ax.axline(
            (float(x.mean()), float(y.mean())), slope=c / a, label=label, zorder=2,
            linewidth=1.3, **style,
        )  # fmt: skip


def _ellipses(ax: Axes, result: Result) -> None:
    """What holds 97.5% of a normal distribution, by all points and by those kept."""
    everyone, kept = result.used, result.scatter.widened(result.k, len(result.used))
    classical = scatter_of(result.x[everyone], result.y[everyone])
    styles = (
        (classical, "97.5% by all points", {"color": PALE, "linestyle": (0, (5, 3))}),
        (kept, "97.5% by those kept", {"color": LINE}),
    )
    held = [np.column_stack([result.x[everyone], result.y[everyone]])]
    for scatter, label, style in styles:
        held.append(scatter.ellipse(0.975))
        ax.plot(*held[-1].T, label=label, linewidth=1.3, zorder=2, **style)
    canvas.frame(ax, *np.concatenate(held).T)


def _beyond_the_ellipse(result: Result) -> Ints:
    """Half of the points are dropped as a rule; these are the ones worth a name."""
    robust = result.scatter.widened(result.k, len(result.used))
    far = robust.distances(result.x, result.y) > chi_square(0.975)
    return result.outliers[far[result.outliers]]


def _only_first_label(ax: Axes) -> None:
    """A boundary in several parts is one entry of the legend."""
    for part in ax.lines[1:]:
        part.set_label("_nolegend_")


def _title(result: Result) -> str:
    before = "" if math.isnan(result.before) else f" (all points: {_short(result.before)})"
    proof = _PROOF[result.status].format(gap=result.gap)
    lines = [
        f"{result.title} = {_short(result.value)}{before}",
        f"k = {result.k:,} of {result.n:,} points, {proof}",
    ]
    if result.objective == "mcd" and result.k < result.n:
        far, dropped = len(_beyond_the_ellipse(result)), result.n - result.k
        lines.append(
            f"dropped is not outlier: {far:,} of {dropped:,} are outside the solid ellipse"
        )
    return "\n".join(lines)


def _short(value: float) -> str:
    """Four digits, more where they would make 1 out of less than 1."""
    text = f"{value:.4g}"
    return f"{value:.9g}" if text == "1" and value < 1 else text

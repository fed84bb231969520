"""The paper's pictures: the lift that turns two thresholds into one line, and the boundaries.

First everything is solved, then it is drawn; each picture is written as PDF and PNG.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments import randomness
from quadsweep.paper.experiments.scale import half
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE, tidy
from quadsweep.plotting.conic import plot_conic
from quadsweep.results.result import Result
from quadsweep.solving.solve import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIFT_TRIAL, LIFT_POINTS = 59, 14
BOUNDARY_TRIAL, BOUNDARY_POINTS = 0, 60
BOUNDARY_OBJECTIVES = ("tv", "dv", "cov", "r2")
DOTS_PER_INCH = 300
TITLES = {
    "tv": r"Total variation $\sigma_X^2 + \sigma_Y^2$",
    "dv": r"Difference of variances $\sigma_X^2 - \sigma_Y^2$",
    "cov": r"Covariance $\sigma_{XY}$",
    "r2": r"Coefficient of determination $R^2$",
}


def lift_result() -> Result:
    """Half of a trial's X with the least variance."""
    x, _ = randomness.trial(LIFT_TRIAL, LIFT_POINTS)
    return solve(x, k=half(LIFT_POINTS), objective="var")


def boundary_results() -> list[Result]:
    """Half of a trial's points with the best value of each objective."""
    x, y = randomness.trial(BOUNDARY_TRIAL, BOUNDARY_POINTS)
    return [
        solve(x, y, k=half(BOUNDARY_POINTS), objective=objective)
        for objective in BOUNDARY_OBJECTIVES
    ]


def draw_lift(result: Result) -> Figure:
    """Points on the line with their two thresholds, and on the parabola with one line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    on_line, lifted = figure.subplots(1, 2)
    assert result.conic is not None
    a, _, _, d, _, f = result.conic.coefficients
    low, high = sorted(float(r) for r in np.roots([a, d, f]))
    _draw_on_line(on_line, result, low, high)
    _draw_lifted(lifted, result, low, high)
    _legend(figure, on_line)
    return figure


def _draw_on_line(ax: Axes, result: Result, low: float, high: float) -> None:
    ax.axvspan(low, high, color=INLIER, alpha=0.12, lw=0)
    ax.axhline(0, color=PALE, lw=0.8, zorder=1)
    _scatter(ax, result, np.zeros(result.n))
    for threshold, name in ((low, r"$\Gamma_1$"), (high, r"$\Gamma_2$")):
        ax.axvline(threshold, color=LINE, lw=1)
        ax.annotate(name, (threshold, 0.42), xytext=(4, 0), textcoords="offset points", va="center")
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.5, 0.5), yticks=[], xlabel="$x$")
    ax.set_title("(a) two thresholds on the line", loc="left", fontsize=9)
    tidy(ax)
    ax.spines["left"].set_visible(False)


def _draw_lifted(ax: Axes, result: Result, low: float, high: float) -> None:
    grid = np.linspace(-0.03, 1.03, 200)
    ax.plot(grid, grid**2, color=PALE, lw=0.8, zorder=1)
    line = (low + high) * grid - low * high
    ax.fill_between(grid, line, -0.2, color=INLIER, alpha=0.12, lw=0)
    ax.plot(grid, line, color=LINE, lw=1)
    ax.annotate(
        "$H$", (0.97, (low + high) * 0.97 - low * high), xytext=(0, -16),
        textcoords="offset points", ha="right",
    )  # fmt: skip
    _scatter(ax, result, result.x**2)
    for threshold, name in ((low, r"$\Gamma_1$"), (high, r"$\Gamma_2$")):
        ax.annotate(
            name, (threshold, threshold**2), xytext=(-3, 4), textcoords="offset points", ha="right"
        )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.12, 1.05), xlabel="$x$", ylabel="$x^2$")
    ax.set_title(r"(b) one line after the lift $(x^2, x)$", loc="left", fontsize=9)
    tidy(ax)


def draw_boundaries(results: Sequence[Result]) -> Figure:
    """Inliers, outliers and the conic between them, one panel an objective."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 7.4), layout="constrained")
    for letter, ax, result in zip("abcd", figure.subplots(2, 2).flat, results, strict=True):
        ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
        if result.conic is not None:
            plot_conic(result.conic, ax=ax)
        _scatter(ax, result, result.y)
        value = OBJECTIVES[result.objective].value(result.x, result.y)
        ax.set_title(
            f"({letter}) {TITLES[result.objective]}\n"
            f"{_kind(result)}; {result.value:.3f}, all points {value:.3f}",
            loc="left",
            fontsize=9,
        )
        ax.set(xlabel="$x$", ylabel="$y$")
        tidy(ax)
    _legend(figure, ax)
    return figure


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)


def _kind(result: Result) -> str:
    return "not separable" if result.conic is None else result.conic.kind


def _scatter(ax: Axes, result: Result, height: Floats) -> None:
    for rows, label, colour, marker in (
        (result.inliers, "inliers", INLIER, "o"),
        (result.outliers, "outliers", OUTLIER, "X"),
    ):
        ax.scatter(
            result.x[rows], height[rows], s=30, c=colour, marker=marker, edgecolors="white",
            linewidths=0.6, label=label, zorder=3,
        )  # fmt: skip


def save(figure: Figure, directory: Path, name: str) -> list[Path]:
    """``name.pdf`` and ``name.png``, without a date: the same picture is the same file."""
    directory.mkdir(parents=True, exist_ok=True)
    vector, pixels = directory / f"{name}.pdf", directory / f"{name}.png"
    figure.savefig(vector, metadata={"CreationDate": None})
    figure.savefig(pixels, dpi=DOTS_PER_INCH)
    return [vector, pixels]


def draw(directory: Path) -> list[Path]:
    """Solve and draw both pictures."""
    return save(draw_lift(lift_result()), directory, "lift") + save(
        draw_boundaries(boundary_results()), directory, "boundaries"
    )

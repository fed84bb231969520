"""The optimum against the points dropped, over what noise reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.objectives import get
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE
from quadsweep.plotting.monitoring import plot_monitoring

if TYPE_CHECKING:
    from quadsweep.choosing.path import Path
    from quadsweep.choosing.path_significance import PathSignificance


_NOISE = "#e4e4e4"
_MARKS = {"gain": "^", "elbow": "s", "stands out": "D"}


def plot_path(path: Path, ax: Axes | None = None, view: str = "values") -> Axes:
    """Draw a path.

    Parameters
    ----------
    path : Path
        With ``noise``, the 90% band of the shuffles is drawn under the curve.
    ax : matplotlib axes, optional
        A new figure if left out.
    view : {"values", "residuals", "coefficients"}
        The last two are monitoring plots (:func:`plot_monitoring`).
    """
    if view not in ("values", "residuals", "coefficients"):
        raise ValueError(f"view must be 'values', 'residuals' or 'coefficients'; got {view!r}")
    if view != "values":
        return plot_monitoring(path, ax, view)
    ax = canvas.tidy_axes(ax)
    if path.noise is not None:
        _band(ax, path.noise, path.n)
    _curve(ax, path.drop, path.value)
    _unproved(ax, path)
    _suggestions(ax, path)
    _returning(ax, path)
    _finish(ax, path.objective, _title(path))
    return ax


def plot_path_significance(noise: PathSignificance, ax: Axes | None = None) -> Axes:
    """The band of the shuffles, the observed values, and where they stand out."""
    ax = canvas.tidy_axes(ax)
    _band(ax, noise, noise.n)
    drop = noise.n - noise.k
    _curve(ax, drop, noise.observed)
    passed = noise.corrected <= 0.05
    if passed.any():
        ax.plot(
            drop[passed], noise.observed[passed], "o", color=OUTLIER, markersize=4, zorder=4,
            label="corrected p ≤ 0.05",
        )  # fmt: skip
    sizes = f"corrected for {len(noise.k):,} sizes, {len(noise.null):,} {noise.drawn}"
    _finish(ax, noise.objective, f"p = {noise.overall:.3g}: {_word(noise)}\n{sizes}")
    return ax


def _curve(ax: Axes, drop: Ints, value: Floats) -> None:
    few = len(drop) <= 60
    ax.plot(
        drop, value, color=INLIER, linewidth=1.8, marker="o" if few else None, markersize=3.5,
        label="best subset", zorder=3,
    )  # fmt: skip


def _band(ax: Axes, noise: PathSignificance, n: int) -> None:
    low, middle, high = noise.band()
    drop = n - noise.k
    what = "noise"
    if noise.law != "shuffled":
        what = "clean planes" if noise.plane else "clean lines"
    ax.fill_between(drop, low, high, color=_NOISE, linewidth=0, zorder=0, label=f"{what}, 90% band")
    ax.plot(drop, middle, color=PALE, linewidth=1, linestyle=(0, (5, 3)), label=f"median {what}")


def _word(noise: PathSignificance) -> str:
    if noise.n_outliers is not None:
        rows = noise.n_outliers
        return (
            f"{rows:,} {'row stands' if rows == 1 else 'rows stand'} out"
            if rows
            else ("no row stands out")
        )
    return noise.word


def _unproved(ax: Axes, path: Path) -> None:
    open_ = (path.status != "optimal") & np.isfinite(path.value)
    if open_.any():
        ax.plot(
            path.drop[open_], path.bound[open_], "v", color=PALE, markersize=4,
            label="bound, where the proof is missing",
        )  # fmt: skip


def _suggestions(ax: Axes, path: Path) -> None:
    """One mark for every suggested size, named by its rules."""
    rules: dict[int, list[str]] = {}
    for rule, k in path.suggestions().items():
        if k is not None:
            rules.setdefault(k, []).append(rule)
    for k, names in rules.items():
        value = float(path.value[path.k == k][0])
        ax.plot(
            [path.n - k], [value], _MARKS[names[0]], color=LINE, markeredgecolor="white",
            markersize=7, zorder=5, label=f"{', '.join(names)}: drop {path.n - k:,}",
        )  # fmt: skip


def _returning(ax: Axes, path: Path) -> None:
    """Ticks along the bottom where a dropped point comes back, of a path that holds its rows."""
    returning = getattr(path, "returning", ())
    back = [d for d, r in zip(path.drop, returning, strict=False) if len(r)]
    if back:
        ax.plot(
            back, np.full(len(back), 0.015), "|", color=OUTLIER, markersize=7,
            transform=ax.get_xaxis_transform(), clip_on=False, zorder=4,
            label=f"a dropped point comes back ({len(back):,})",
        )  # fmt: skip


def _finish(ax: Axes, objective: str, title: str) -> None:
    ax.set_xlabel("points dropped")
    canvas.whole_ticks(ax, "x")
    ax.set_ylabel(f"best {get(objective).title}")
    canvas.titled(ax, title)
    canvas.legend_below(ax)


def _title(path: Path) -> str:
    proved = int((path.status == "optimal").sum())
    proof = "all proved optimal" if path.success else f"{proved:,} of {len(path):,} proved optimal"
    head = f"{len(path):,} sizes of {path.n:,} points, {proof}"
    if path.noise is None:
        return head
    p = path.noise.overall
    return f"{head}\np = {p:.3g} with the correction for all sizes: {_word(path.noise)}"

"""The answers of groups, one below the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from quadsweep.arrays import Axes
from quadsweep.plotting.canvas import INLIER, literal, tidy_axes, titled
from quadsweep.plotting.labels import shortened

if TYPE_CHECKING:
    from quadsweep.groups import Groups

_SHOWN = ("p_value", "slope", "drop", "value")
_TITLES = {"p_value": "p-value", "drop": "rows that break the claim"}


def plot_groups(groups: Groups, ax: Axes | None = None) -> Axes:
    """A dot a group: its p-value, slope, number of rows to remove, or value."""
    ax = tidy_axes(ax)
    columns = groups.columns()
    shown = next((name for name in _SHOWN if name in columns), None)
    if shown is None:
        raise ValueError("these answers have no number to draw: draw them one by one")
    values = [math.nan if value is None else float(value) for value in columns[shown]]
    names = [literal(shortened(str(group))) for group in groups.members]
    ax.plot(values, range(len(names)), "o", color=INLIER)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", color="#ececec", linewidth=0.8, zorder=0)
    ax.set_xlabel(_TITLES.get(shown, shown))
    titled(ax, f"{len(names):,} groups by {literal(groups.column)}")
    return ax

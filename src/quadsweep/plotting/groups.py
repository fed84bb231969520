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
    rows = groups.rows()
    shown = next((name for name in _SHOWN if any(row.get(name) is not None for row in rows)), None)
    if shown is None:
        raise ValueError("these answers have no number to draw: draw them one by one")
    values = [float(math.nan if row.get(shown) is None else row[shown]) for row in rows]
    names = [literal(shortened(str(row[groups.column]))) for row in rows]
    ax.plot(values, range(len(rows)), "o", color=INLIER)
    ax.set_yticks(range(len(rows)), names)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="y", color="#ececec", linewidth=0.8, zorder=0)
    ax.set_xlabel(_TITLES.get(shown, shown))
    titled(ax, f"{len(rows):,} groups by {literal(groups.column)}")
    return ax

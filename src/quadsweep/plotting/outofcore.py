"""An answer about rows that are not in memory: those of its first part, and the line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.plotting.canvas import LINE, both_sides, frame, name_axes, tidy_axes, titled

if TYPE_CHECKING:
    from quadsweep.outofcore.flags import Flags

_MOST = 5_000


def plot_out_of_core(
    flags: Flags, lines: Iterable[tuple[str, float, float]], title: str, ax: Axes | None = None
) -> Axes:
    """Draw some rows of the first part, kept and left out, and lines: label, slope, intercept."""
    ax = tidy_axes(ax)
    x, y, kept, whole = flags.first()
    some = np.flatnonzero(whole)
    some = some[:: -(-len(some) // _MOST)]
    x, y, kept = x[some], y[some], kept[some]
    frame(ax, x, y)
    both_sides(ax, x, y, np.flatnonzero(kept), np.flatnonzero(~kept), len(x))
    for (label, slope, intercept), style in zip(lines, ("-", "--"), strict=False):
        if np.isfinite(slope):
            ends = np.array([x.min(), x.max()])
            ax.plot(ends, slope * ends + intercept, style, color=LINE, label=label)
    name_axes(ax, flags.source.names)
    titled(ax, f"{len(x):,} {title}")
    ax.legend(frameon=False)
    return ax

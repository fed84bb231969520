"""How many removals clean regressions need, and how many this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, OUTLIER

if TYPE_CHECKING:
    from quadsweep.auditing.reference import Reference


def plot_reference(answer: Reference, ax: Axes | None = None) -> Axes:
    """A bar for every count among the draws; draws with bounds only stand at the lower one."""
    from quadsweep.auditing.specification import units_of

    ax = canvas.tidy_axes(ax)
    counts, times = np.unique(answer.lower, return_counts=True)
    ax.bar(counts, times, width=0.8, color=INLIER, label=f"{answer.draws:,} clean regressions")
    observed = answer.audit.upper
    if observed is not None:
        ax.axvline(observed, color=OUTLIER, linewidth=2, label="this one")
    low = min(counts[0], observed or counts[0])
    high = max(counts[-1], observed or counts[-1])
    ax.set_xlim(max(low - 1.5, -0.5), high + 1.5)
    canvas.whole_ticks(ax, "x")
    canvas.whole_ticks(ax, "y")
    ax.set_xlabel(f"fewest {units_of([answer.audit])} to remove")
    ax.set_ylabel("draws")
    canvas.titled(ax, canvas.literal(answer.headline), 10)
    canvas.legend_below(ax)
    return ax

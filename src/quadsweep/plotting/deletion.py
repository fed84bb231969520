"""Leaving out one row or group at a time: the coefficient without each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes
from quadsweep.plotting.canvas import INLIER, OUTLIER, PALE, literal, tidy_axes, titled
from quadsweep.plotting.labels import shortened

if TYPE_CHECKING:
    from quadsweep.auditing.deletion import Influence

_MOST = 20


def plot_deletion(answer: Influence, ax: Axes | None = None) -> Axes:
    """The most influential from the top, two standard errors to each side; the exact fewest that
    break the claim are crosses."""
    ax = tidy_axes(ax)
    shown = answer.order[:_MOST]
    at = np.arange(len(shown))
    full, unit = answer.audit.before.slope, "row" if answer.audit.n_groups is None else "group"
    for marked, marker, color, label in (
        (False, "o", INLIER, f"without that {unit}"),
        (True, "X", OUTLIER, "one of those that break the claim together"),
    ):
        some = answer.removed[shown] == marked
        rows = shown[some]
        if not len(rows):
            continue
        spread = np.nan_to_num(2 * answer.se[rows], nan=0.0, posinf=0.0)
        ax.errorbar(
            answer.coefficient[rows], at[some], xerr=spread, fmt=marker, color=color,
            ecolor=color, elinewidth=0.8, markersize=6, label=label, zorder=3,
        )  # fmt: skip
    ax.axvline(full, color=PALE, linestyle=(0, (5, 3)), linewidth=1.3, label="all rows", zorder=2)
    low, high = ax.get_xlim()
    if low < 0 < high:
        ax.axvline(0, color=OUTLIER, linewidth=0.8, zorder=1)
    ax.set_yticks(at, [literal(shortened(str(answer.names[i]))) for i in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlabel(f"coefficient of {literal(answer.audit.term)}, two standard errors to each side")
    titled(ax, literal(answer.headline), 10)
    ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    return ax

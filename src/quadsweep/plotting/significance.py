"""What shuffled data reach, and where the observed value stands among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.objectives import get
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, OUTLIER, PALE, REGION

if TYPE_CHECKING:
    from quadsweep.choosing.significance import Significance


def plot_significance(answer: Significance, ax: Axes | None = None) -> Axes:
    """Histogram of the null, those that reach the observed value in another colour.

    Parameters
    ----------
    answer : Significance
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    null = answer.null[np.isfinite(answer.null)]
    if len(null) == 0:
        raise ValueError("there are no values to draw: no shuffle was finished")
    ax = canvas.tidy_axes(ax)
    objective, observed = get(answer.objective), answer.observed
    reached = answer.reached[np.isfinite(answer.null)]
    edges = _edges(null, observed)
    ax.hist(
        [null[~reached], null[reached]], edges, stacked=True, color=[REGION, OUTLIER],
        edgecolor="white", linewidth=0.6,
        label=[
            f"shuffles below ({int((~reached).sum()):,})" if objective.sense > 0
            else f"shuffles above ({int((~reached).sum()):,})",
            f"shuffles that reach it ({int(reached.sum()):,})",
        ],
    )  # fmt: skip
    ax.axvline(observed, color=INLIER, linewidth=2, label=f"observed {observed:.4g}", zorder=3)
    median = float(np.median(null))
    ax.axvline(
        median, color=PALE, linewidth=1, linestyle=(0, (5, 3)), label=f"median noise {median:.4g}"
    )
    ax.set_xlabel(f"best {objective.title} of {answer.k:,} of {answer.n:,} points")
    ax.set_ylabel("shuffles of y")
    canvas.whole_ticks(ax, "y")
    ax.set_ylim(0, ax.get_ylim()[1] * 1.05)
    canvas.titled(ax, _title(answer))
    ax.legend(fontsize=8, framealpha=0.7, edgecolor="none", loc="best")
    return ax


def _edges(null: Floats, observed: float) -> list[float]:
    """Bins of the null alone, carried on as far as the observed value."""
    low, high = float(null.min()), float(null.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    width = (high - low) / int(np.clip(2 * len(null) ** 0.4, 5, 40))
    # An edge at the observed value keeps the two colours apart.
    left = np.arange(observed, min(low, observed) - width, -width)[::-1]
    right = np.arange(observed, max(high, observed) + width, width)[1:]
    edges = np.concatenate([left, right])
    chosen = edges if len(edges) <= 200 else np.linspace(low, high, 40)
    return [float(e) for e in chosen]


def _title(answer: Significance) -> str:
    done = f"{len(answer.reached):,} shuffles"
    return (
        f"p = {answer.p_value:.3g}: {answer.word}\nk = {answer.k:,} of {answer.n:,} points, {done}"
    )

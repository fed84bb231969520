"""A matrix of pairs as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.objectives import get
from quadsweep.plotting.canvas import LINE, axes_or_new, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quadsweep.choosing.pairwise import PairwiseResult

_MOST_NAMES = 40
_MOST_NUMBERS = 12


def plot_pairwise(answer: PairwiseResult, ax: Axes | None = None) -> Axes:
    """Draw the matrix; with few columns also the numbers.

    Parameters
    ----------
    answer : PairwiseResult
    ax : matplotlib axes, optional
        A new figure if left out.
    """
    ax = axes_or_new(ax)
    low, high = {"r2": (0.0, 1.0), "r": (-1.0, 1.0)}.get(answer.objective, (None, None))
    colours = "RdBu_r" if answer.objective in ("r", "cov") else "Blues"
    image = ax.imshow(answer.values, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.set_label(f"best {get(answer.objective).title}", fontsize=9)
    bar.outline.set_visible(False)
    count = len(answer.names)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, labelsize=8)
    if count <= _MOST_NAMES:
        names = [literal(name) for name in answer.names]
        ax.set_xticks(range(count), names, rotation=90 if max(map(len, names)) > 4 else 0)
        ax.set_yticks(range(count), names)
    if count <= _MOST_NUMBERS:
        _numbers(ax, answer)
    star = " (* p ≤ 0.05)" if count <= _MOST_NUMBERS and answer.p_values is not None else ""
    ax.set_title(f"{answer.pairs:,} pairs of columns{star}", loc="left", fontsize=11, color=LINE)
    return ax


def _numbers(ax: Axes, answer: PairwiseResult) -> None:
    """Each value, with a star where its p-value is at most 0.05."""
    largest = float(np.nanmax(np.abs(answer.values)))
    for i, row in enumerate(answer.values):
        for j, value in enumerate(row):
            if i == j or not np.isfinite(value):
                continue
            p = np.nan if answer.p_values is None else answer.p_values[i, j]
            dark = abs(value) > 0.65 * largest
            ax.text(
                j, i, f"{value:.2f}{'*' if p <= 0.05 else ''}", ha="center", va="center",
                fontsize=8, color="white" if dark else LINE,
            )  # fmt: skip

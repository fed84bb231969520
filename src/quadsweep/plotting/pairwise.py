"""A matrix of pairs as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.objectives import get
from quadsweep.plotting.canvas import LINE, axes_or_new, literal, titled

if TYPE_CHECKING:
    from quadsweep.choosing.pairwise_result import PairwiseResult

_CORRELATING = ("r2", "r", "mcd")  # objectives of which the sign is shown
_MOST_NAMES = 40
_MOST_NUMBERS = 12


def plot_pairwise(answer: PairwiseResult, ax: Axes | None = None) -> Axes:
    """Draw the matrix; with few columns also the numbers.

    For ``r2``, ``r`` and ``mcd`` above the diagonal the correlations of the rows kept, with their
    sign, and below it those of all rows; for other objectives the values.
    """
    ax = axes_or_new(ax)
    signed = answer.objective in _CORRELATING
    low, high = (-1.0, 1.0) if signed else (None, None)
    colours = "RdBu_r" if signed or answer.objective == "cov" else "Blues"
    image = ax.imshow(_shown(answer), cmap=colours, vmin=low, vmax=high, interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.set_label("r" if signed else f"best {get(answer.objective).title}", fontsize=9)
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
    star = " (* Holm's p ≤ 0.05)" if count <= _MOST_NUMBERS and answer.p_values is not None else ""
    what = "\nabove: r of rows kept, below: Pearson" if signed else ""
    title = f"{answer.pairs:,} pairs of columns{star}{what}"
    titled(ax, title)
    return ax


def _shown(answer: PairwiseResult) -> Floats:
    """The values; for correlations those of the rows kept, Pearson's below the diagonal."""
    if answer.objective not in _CORRELATING:
        return answer.values
    return np.triu(answer.r) + np.tril(answer.pearson, -1)


def _numbers(ax: Axes, answer: PairwiseResult) -> None:
    """Each value, with a star where its p-value, adjusted for all pairs, is at most 0.05."""
    shown = _shown(answer)
    largest = float(np.nanmax(np.abs(shown)))
    adjusted = None if answer.p_values is None else answer.adjusted()
    for i, row in enumerate(shown):
        for j, value in enumerate(row):
            if i == j or not np.isfinite(value):
                continue
            below = answer.objective in _CORRELATING and i > j
            p = np.nan if adjusted is None or below else adjusted[i, j]
            dark = abs(value) > 0.65 * largest
            ax.text(
                j, i, f"{value:.2f}{'*' if p <= 0.05 else ''}", ha="center", va="center",
                fontsize=8, color="white" if dark else LINE,
            )  # fmt: skip

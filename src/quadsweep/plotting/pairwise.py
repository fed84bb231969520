"""A matrix of pairs as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.objectives import get
from quadsweep.plotting.canvas import LINE, axes_or_new, literal, titled

if TYPE_CHECKING:
    from quadsweep.choosing.pairwise import PairwiseResult

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
    shown = _shown(answer)
    image = ax.imshow(shown, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
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
        _numbers(ax, shown)
    what = "\nabove: r of rows kept, below: Pearson" if signed else ""
    titled(ax, f"{len(answer):,} pairs of columns{what}")
    return ax


def _shown(answer: PairwiseResult) -> Floats:
    """The values; for correlations those of the rows kept, Pearson's below the diagonal."""
    if answer.objective not in _CORRELATING:
        return answer.matrix()
    return np.triu(answer.matrix("r")) + np.tril(answer.matrix("pearson"), -1)


def _numbers(ax: Axes, shown: Floats) -> None:
    largest = float(np.nanmax(np.abs(shown)))
    for i, j in np.argwhere(np.isfinite(shown)):
        if i != j:
            dark = abs(shown[i, j]) > 0.65 * largest
            text = f"{shown[i, j]:.2f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=8,
                    color="white" if dark else LINE)  # fmt: skip

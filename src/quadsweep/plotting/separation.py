"""Separability on the data: the conic between the two sides, or the points that rule one out.

Several predictors are drawn against y along one axis: the signed root of the quadric, which has the
sides left and right of zero, or the first predictor where no quadric separates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quadsweep.arrays import Axes, Floats
from quadsweep.paper.separability.hulls.exact import surface_values
from quadsweep.plotting.canvas import INLIER, OUTLIER, frame, legend_below, tidy_axes, titled
from quadsweep.plotting.conic import plot_conic

if TYPE_CHECKING:
    from quadsweep.paper.separability.separate import Separation

_SMALL = 24.0
_LARGEST = 900.0  # area of a point that carries all the weight of its side
_MOST_LABELS = 14
_SIDES = ((True, "inliers", "o", INLIER), (False, "outliers", "X", OUTLIER))


def plot_separation(separation: Separation, ax: Axes | None = None) -> Axes:
    """Draw a separation."""
    ax = tidy_axes(ax)
    x, y = _places(separation)
    frame(ax, x, y, 0.14 if separation.weights else 0.07)
    if separation.conic is not None:
        plot_conic(separation.conic, ax=ax)
    elif separation.plane is not None:
        ax.axvline(0.0, color="0.4", linewidth=1.0, zorder=2)
    for inside, name, marker, color in _SIDES:
        members = np.flatnonzero(separation.mask == inside)
        ax.scatter(
            x[members], y[members], s=_SMALL,
            marker=marker, color=color, edgecolors="white", linewidths=0.4, zorder=4,
            label=f"{name} ({len(members):,})",
        )  # fmt: skip
        _carriers(ax, separation, x, y, inside, marker, color)
    rooted = separation.x.ndim == 2 and separation.plane is not None
    ax.set_xlabel("signed root of the quadric" if rooted else separation.names[0])
    ax.set_ylabel(separation.names[-1])
    if separation.lift == "L2":
        ax.set_ylabel("")
        ax.set_yticks([])
    elif separation.lift == "L3t":
        ax.set_aspect("equal")
    titled(ax, _title(separation))
    legend_below(ax)
    return ax


def _places(separation: Separation) -> tuple[Floats, Floats]:
    """Where the points are drawn."""
    if separation.lift == "L2":
        return separation.x, np.zeros_like(separation.y)
    if separation.x.ndim == 1:
        return separation.x, separation.y
    if separation.plane is None:
        return separation.x[:, 0], separation.y
    heights = surface_values(separation.x, separation.y, separation.plane)
    largest = max(abs(h) for h in heights)
    shares = np.array([float(h / largest) for h in heights])
    return np.sign(shares) * np.sqrt(np.abs(shares)), separation.y


def _carriers(
    ax: Axes, separation: Separation, x: Floats, y: Floats, inside: bool, marker: str, color: str
) -> None:
    """The points of the certificate: their area is their weight."""
    carriers = [i for i in separation.weights if separation.mask[i] == inside]
    shares = np.array([float(separation.weights[i]) for i in carriers])
    x, y = x[carriers], y[carriers]
    ax.scatter(
        x, y, s=_SMALL + _LARGEST * shares, marker=marker, facecolors=color, edgecolors=color,
        alpha=0.28, linewidths=1.0, zorder=3,
    )  # fmt: skip
    if len(separation.weights) > _MOST_LABELS:
        return
    for px, py, share in zip(x, y, shares, strict=True):
        reach = 4 + float(np.sqrt(_SMALL + _LARGEST * share)) / 2
        ax.annotate(
            f"{100 * share:.3g}%", (px, py), xytext=(0, reach if inside else -reach),
            textcoords="offset points", ha="center", va="bottom" if inside else "top",
            fontsize=8, color=color, zorder=5,
        )  # fmt: skip


def _title(separation: Separation) -> str:
    how = "proved" if separation.exact else "numerically"
    if separation.separable is None:
        return f"Separable under {separation.lift}? Not decided"
    if separation.separable:
        kind = "\nby a quadric, inliers right of 0" if separation.plane else ""
        if separation.conic:
            kind = f"\nby this {separation.conic.kind}"
        return f"Separable under {separation.lift}, {how}{kind}"
    return (
        f"Not separable under {separation.lift}, {how}:\n"
        "with these weights both sides have the same lifted mean"
    )

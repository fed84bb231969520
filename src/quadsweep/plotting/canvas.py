"""What the pictures share: colours, and a fresh pair of axes where none is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadsweep.arrays import Floats
from quadsweep.extras import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Told apart by people with any kind of colour vision; shapes differ as well.
INLIER = "#0072b2"
OUTLIER = "#d55e00"
REGION = "#cfe3f3"
LINE = "#1a1a1a"
PALE = "#8c8c8c"


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    with needed("drawing"):
        import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]


def literal(text: object) -> str:
    r"""A user's text as it is: dollars do not begin a formula.

    >>> print(literal("price, $"))
    price, \$
    """
    return str(text).replace("$", r"\$")


def tidy(ax: Axes) -> None:
    """Two spines, quiet ticks."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(PALE)
    ax.tick_params(color=PALE, labelcolor=LINE, labelsize=9)


def frame(ax: Axes, x: Floats, y: Floats) -> None:
    """Limits that hold the points with a margin, whatever lines are drawn later."""
    for values, set_limits in ((x, ax.set_xlim), (y, ax.set_ylim)):
        low, high = float(values.min()), float(values.max())
        margin = 0.07 * (high - low) or 0.5 * max(abs(low), 1.0)
        set_limits(low - margin, high + margin)

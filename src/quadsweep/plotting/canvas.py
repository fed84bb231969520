"""What the pictures share: colours, and a fresh pair of axes where none is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.extras import needed

# Told apart by people with any kind of colour vision; shapes differ as well.
INLIER = "#0072b2"
OUTLIER = "#d55e00"
REGION = "#cfe3f3"
LINE = "#1a1a1a"
PALE = "#8c8c8c"

MANY = 5_000  # points that a vector picture has as one image


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    with needed("drawing"):
        import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]


def tidy_axes(ax: Axes | None) -> Axes:
    """The same with two spines and quiet ticks, as nearly every picture begins."""
    ax = axes_or_new(ax)
    tidy(ax)
    return ax


def literal(text: object) -> str:
    r"""A user's text as it is: dollars do not begin a formula.

    >>> print(literal("price, $"))
    price, \$
    """
    return str(text).replace("$", r"\$")


def show_dates(ax: Axes, names: Sequence[str], dates: Sequence[str]) -> None:
    """Dates along the axes whose columns are days since 1970-01-01, which matplotlib counts too."""
    if not dates:
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    for name, axis in zip(names, (ax.xaxis, ax.yaxis), strict=False):
        if name in dates:
            locator = AutoDateLocator()  # type: ignore[no-untyped-call]
            axis.set_major_locator(locator)
            form = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
            axis.set_major_formatter(form)


def kept_size(n: int) -> float:
    """Area of a kept point's mark among n points."""
    return float(np.clip(3000 / n, 3, 34))


def dropped_size(count: int) -> float:
    """Area of a dropped point's mark: they are what one looks for, however many are kept.

    >>> dropped_size(5), dropped_size(100_000)
    (46.0, 16.0)
    """
    return float(np.clip(3000 / max(count, 1), 16, 46))


def both_sides(
    ax: Axes, x: Floats, y: Floats, kept: Ints, gone: Ints, n: int, called: str = "dropped"
) -> None:
    """The points of the rows kept, and those of the rows that are not, among n."""
    for rows, marker, color, label in ((kept, "o", INLIER, "kept"), (gone, "X", OUTLIER, called)):
        away = marker == "X"
        if len(rows):
            ax.scatter(
                x[rows], y[rows], s=dropped_size(len(rows)) if away else kept_size(n),
                marker=marker, color=color, edgecolors="white",
                linewidths=0.6 if away or n <= 300 else 0.0, label=f"{label} ({len(rows):,})",
                zorder=3.1 if away else 3, rasterized=n > MANY,
            )  # fmt: skip


def legend_below(ax: Axes, size: float = 8) -> None:
    """A legend under the points, so that it never hides one."""
    ax.legend(fontsize=size, framealpha=0.7, edgecolor="none", loc="best").set_zorder(2.5)


def name_axes(ax: Axes, names: Sequence[object], more: str = "") -> None:
    """The names of the columns, as they are."""
    ax.set_xlabel(f"{literal(names[0])}{more}")
    ax.set_ylabel(f"{literal(names[1])}{more}")


def titled(ax: Axes, text: str, size: float = 11) -> None:
    """A title flush left, on as many lines as keep it within the picture."""
    ax.set_title(text, loc="left", fontsize=size, color=LINE, wrap=True)


def whole_ticks(ax: Axes, axis: str) -> None:
    """Ticks of an axis that counts: whole numbers, thousands apart."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    counted = ax.xaxis if axis == "x" else ax.yaxis
    counted.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    counted.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def tidy(ax: Axes) -> None:
    """Two spines, quiet ticks."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(PALE)
    ax.tick_params(color=PALE, labelcolor=LINE, labelsize=9)


def frame(ax: Axes, x: Floats, y: Floats, share: float = 0.07) -> None:
    """Limits that hold the points with a margin, whatever lines are drawn later."""
    ax.set_xlim(limits(x, share))
    ax.set_ylim(limits(y, share))


def limits(values: Floats, share: float) -> tuple[float, float]:
    """The least and the greatest value, and a margin of this share of their distance."""
    low, high = float(values.min()), float(values.max())
    margin = share * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - margin, high + margin

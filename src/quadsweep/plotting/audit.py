"""An audit on the data (with controls the added-variable plot), and what each row does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Axes, Floats, Mask
from quadsweep.auditing.specification import spell_interval
from quadsweep.plotting import canvas
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE
from quadsweep.plotting.labels import name_points, shortened

if TYPE_CHECKING:
    from quadsweep.auditing.result import Audit

_MOST_INFLUENTIAL = 20  # rows that are drawn


def plot_audit(audit: Audit, ax: Axes | None = None, view: str = "data") -> Axes:
    """The rows removed, and the line with and without them; or the influence of each row."""
    if _is_influence(view):
        return plot_influence(audit, ax)
    used = np.isfinite(audit.x) & np.isfinite(audit.y)
    through = [(0.0, 0.0 if fit is None else fit.intercept) for fit in (audit.before, audit.after)]
    ax = _rows_removed(audit, ax, audit.x, audit.y, used, through)
    canvas.name_axes(ax, audit.names)
    canvas.titled(ax, canvas.literal(audit.message.replace(". ", ".\n", 1)))
    return ax


def plot_regression(audit: Audit, ax: Axes | None = None, view: str = "data") -> Axes:
    """What the controls leave of the term and of the outcome, on all rows; both without controls.

    The coefficient of all rows is the slope of the dashed line; that without the removed rows, with
    the controls refitted, is the slope of the solid one, drawn through the middle of the rows kept.
    A logistic or Poisson regression is drawn as it is, its curves at the same controls everywhere.
    With ``view="influence"`` the influence of each row or group is drawn instead.
    """
    if _is_influence(view):
        return plot_influence(audit, ax)
    from quadsweep.auditing.moments import Moments

    assert audit.design is not None
    used = np.isfinite(audit.x)
    if audit.design.link:
        ax = _rows_removed(audit, ax, audit.x, audit.y, used, [None, None])
        canvas.name_axes(ax, audit.names)
        canvas.titled(ax, canvas.literal(audit.message), 10)
        return ax
    if set(audit.controls) <= {"Intercept", "const"}:
        heights = [0.0 if fit is None else fit.intercept for fit in (audit.before, audit.after)]
        through = [(0.0, float(np.nan_to_num(height))) for height in heights]
        ax = _rows_removed(audit, ax, audit.x, audit.y, used, through)
        canvas.name_axes(ax, audit.names)
        canvas.titled(ax, canvas.literal(audit.message), 10)
        return ax
    moments = Moments(audit.design)
    x, y = np.full((2, len(used)), np.nan)
    for column, left, scale in ((x, moments.x, 0), (y, moments.y, 1)):
        column[used] = left * moments.scale[scale] / audit.design.root_weights
    kept = audit.mask & used
    middle = (float(x[kept].mean()), float(y[kept].mean()))
    ax = _rows_removed(audit, ax, x, y, used, [(0.0, 0.0), middle])
    canvas.name_axes(ax, audit.names, ", given the controls")
    canvas.titled(ax, canvas.literal(audit.message), 10)
    return ax


def _rows_removed(
    audit: Audit, ax: Axes | None, x: Floats, y: Floats, used: Mask, through: list[Any]
) -> Axes:
    """Rows kept and removed, and both lines, each with its slope through a point; curves where
    there are no points."""
    ax, gone = canvas.tidy_axes(ax), audit.outliers
    canvas.frame(ax, x[used], y[used])
    canvas.both_sides(ax, x, y, np.flatnonzero(audit.mask), gone, audit.n, "removed")
    dashed: dict[str, Any] = {"color": PALE, "linestyle": (0, (5, 3))}
    what = "curve" if through[0] is None else "line"
    lines = [(audit.before, used, f"{what} of all rows", dashed)]
    if audit.after is not None and len(gone):
        lines.append(
            (audit.after, audit.mask & used, f"{what} without the removed", {"color": LINE})
        )
    for (fit, rows, what, style), point in zip(lines, through, strict=False):
        within = spell_interval(fit, audit.level)
        label = f"{what}: {fit.slope:.4g} {within}" if within else what
        if np.isfinite(fit.slope) and point is None:
            assert audit.design is not None
            _curve(ax, audit.design.link, x[rows], y[rows], fit.slope, label=label, **style)
        elif np.isfinite(fit.slope):
            ax.axline(point, slope=fit.slope, label=label, zorder=2, linewidth=1.3, **style)
    called = gone if audit.labels is None else [audit.labels[i] for i in gone]
    name_points(ax, x, y, gone, called)
    canvas.legend_below(ax)
    return ax


def _curve(ax: Axes, link: str, x: Floats, y: Floats, slope: float, **style: Any) -> None:
    """As high as makes the mean of the outcomes the one that is expected."""
    from scipy.optimize import brentq

    from quadsweep.auditing.likelihood import mean

    far = 50.0 + float(np.abs(slope * x).max())
    with np.errstate(over="ignore"):
        level = brentq(lambda at: float((mean(link, at + slope * x) - y).mean()), -far, far)
    along = np.linspace(*ax.get_xlim(), 200)
    curve = mean(link, level + slope * along)
    ax.plot(along, curve, zorder=2, linewidth=1.3, scalex=False, scaley=False, **style)


def _is_influence(view: str) -> bool:
    if view not in ("data", "influence"):
        raise ValueError(f"view must be 'data' or 'influence'; got {view!r}")
    return view == "influence"


def plot_influence(audit: Audit, ax: Axes | None = None) -> Axes:
    """What the removal of each row or group does to the statistic, to first order.

    The most influential are at the top, those that break the claim together are crosses.
    """
    regression = audit.regression
    assert regression is not None
    design = regression.design
    effect = audit.problems[0].influence()[0]
    removed = np.isin(regression.rows, audit.outliers)
    together = np.array([bool(removed[rows].any()) for rows in design.members])
    order = np.argsort(-np.abs(effect), kind="stable")[:_MOST_INFLUENTIAL]
    if design.units is not None:
        names = [design.units[i] for i in order]
    else:
        rows = regression.rows[order].tolist()
        names = rows if audit.labels is None else [audit.labels[i] for i in rows]
    ax, at = canvas.tidy_axes(ax), np.arange(len(order))
    for gone, marker, color, label in (
        (False, "o", INLIER, "kept"),
        (True, "X", OUTLIER, "removed: they break the claim together"),
    ):
        some = together[order] == gone
        if np.any(some):
            ax.plot(
                effect[order][some], at[some], marker, color=color, markersize=6, label=label,
                zorder=3,
            )  # fmt: skip
    ax.axvline(0, color=PALE, linestyle=(0, (5, 3)), linewidth=1.3, zorder=2)
    ax.set_yticks(at, [canvas.literal(shortened(str(name))) for name in names])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlabel("influence on the statistic (first order); to the right it breaks sooner")
    canvas.titled(ax, canvas.literal(audit.message.replace(". ", ".\n", 1)), 10)
    canvas.legend_below(ax)
    return ax

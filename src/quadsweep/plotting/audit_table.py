"""A table of audits: the counts with their intervals, one regression and term below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadsweep.arrays import Axes
from quadsweep.plotting.canvas import INLIER, LINE, OUTLIER, PALE, literal, tidy_axes, titled

if TYPE_CHECKING:
    from quadsweep.auditing.tables import AuditTable

_STYLES = (("o", INLIER), ("s", OUTLIER), ("D", LINE), ("^", PALE), ("v", "#009e73"))


def plot_audit_table(table: AuditTable, ax: Axes | None = None) -> Axes:
    """A mark where the count is known, a bar where bounds are, an arrow where none was found."""
    from quadsweep.auditing.specification import does, units_of

    ax = tidy_axes(ax)
    from matplotlib.ticker import LogLocator, NullFormatter

    rows = [(each, term) for each in table for term in each.terms]
    audits = [audit for each in table for audit in each.audits.values()]
    step = 0.6 / max(len(table.claims), 1)
    for i, claim in enumerate(table.claims):
        marker, color = _STYLES[i % len(_STYLES)]
        label: str | None = does(claim, [audit for audit in audits if audit.claim == claim])
        for j, (each, term) in enumerate(rows):
            audit = each.audits.get((term, claim))
            if audit is None:
                continue
            at = j + (i - (len(table.claims) - 1) / 2) * step
            ends = [max(audit.lower, 0.8), audit.upper or 2 * audit.lower]
            ax.plot(ends, [at, at], "-", color=color, linewidth=1.6, zorder=2)
            shape = marker if audit.upper is not None else ">"
            ax.plot(ends[1], at, shape, color=color, markersize=6, label=label, zorder=3)
            label = None
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_yticks(range(len(rows)), [literal(f"{each.name}  {term}") for each, term in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="x", color="#ececec", linewidth=0.8, zorder=0)
    units = units_of(audits)
    ax.set_xlabel(f"{units} removed")
    titled(ax, f"Fewest {units} to remove: a bar goes from what is ruled out to what suffices", 10)
    ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
    return ax

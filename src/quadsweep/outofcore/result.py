"""The answer about rows that are not in memory: what is proved, and which rows it is about.

It does not hold its rows: it holds a decision about them (see ``flags``), and reads the source
again for what needs every row, such as the conic.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from quadsweep.arrays import Axes, Ints
from quadsweep.inputs.frames import KEPT
from quadsweep.outofcore.boundary import boundary_in_a_pass
from quadsweep.outofcore.flags import Flags
from quadsweep.results.certificate import Certified, caution
from quadsweep.results.conic import Conic
from quadsweep.results.formatting import OUTCOME, equation, named_rows


def cost(answer: Any) -> str:
    """Describe the passes that an answer took."""
    return (
        f"{answer.passes} passes, {answer.loaded:,} rows one by one, {answer.nodes:,} nodes, "
        f"{answer.seconds:.3g} s"
    )


@dataclass(frozen=True, eq=False)
class OutOfCoreResult(Certified):
    """The best subset of rows that are not in memory, and what is proved about it.

    Attributes
    ----------
    value, bound, gap, status, objective, n, k, nodes, seconds, names
        As in :class:`quadsweep.results.result.Result`; the status is ``heuristic`` if so many
        rows share an x or a y that the answer cannot be proved.
    before : float
        The objective on all rows.
    slope, intercept : float
        Least squares line of the inliers.
    missing : int
        Rows left out for a missing value.
    outliers : array of row numbers, or None if there are more than 10,000.
    passes : int
        Number of passes over the source, with the sample.
    reading : float
        Seconds spent in passes.
    rows_read : int
        Rows read in all passes together.
    loaded : int
        Rows examined one by one.
    flags : Flags
        Which rows are kept, for ``flag`` and ``write``.
    gain : Conic or None
        The gradient of the objective at the inliers, through their mean; None if undefined.
    """

    json_fields = (
        f"{OUTCOME} outliers missing slope intercept names passes reading rows_read loaded nodes "
        "seconds"
    )

    value: float
    bound: float
    gap: float
    status: str
    objective: str
    n: int
    k: int
    nodes: int
    seconds: float
    names: tuple[str, str]
    before: float
    slope: float
    intercept: float
    missing: int
    passes: int
    reading: float
    rows_read: int
    loaded: int
    outliers: Ints | None
    flags: Flags = field(repr=False)
    gain: Conic | None = field(repr=False)
    method: str = "certified, out of core"

    @property
    def message(self) -> str:
        """The status as a sentence."""
        return self.certificate[0].upper() + self.certificate[1:] + "."

    @cached_property
    def boundary(self) -> tuple[Conic | None, str]:
        """The conic, or None and why there is none; it is one pass over the source, once."""
        return boundary_in_a_pass(self.flags, self.gain, self.n - self.k)

    @property
    def conic(self) -> Conic | None:
        """A curve with the inliers on one side and the outliers on the other, checked on all rows.

        None if the curve given by the gradient of the objective does not separate them:
        ``boundary`` says why. It is computed at its first use.
        """
        return self.boundary[0]

    def flag(self, source: Any = None, column: str = KEPT) -> Any:
        """Which rows are kept, as a lazy column or by part: see
        :meth:`quadsweep.outofcore.flags.Flags.flag`."""
        return self.flags.flag(source, column)

    def write(self, path: str | os.PathLike[str], column: str = KEPT) -> None:
        """Write the source to a Parquet file with a column that says which rows are kept.

        Each part of the source becomes a row group.
        """
        self.flags.write(path, column)

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a name and a text."""
        lines = self._head_items(self.before)
        if not math.isnan(self.slope):
            lines.append(("line", equation(self.names, self.slope, self.intercept)))
        dropped = (
            f"{self.n - self.k:,} points" if self.outliers is None else named_rows(self.outliers)
        )
        lines.append(("dropped", dropped))
        if self.missing:
            lines.append(("left out", f"{self.missing:,} rows (missing or infinite)"))
        if text := caution(self.objective, self.k, self.n):
            lines.append(("caution", text))
        lines.append(("search", cost(self)))
        return lines

    def to_frame(self) -> Any:
        """Return the rows dropped as a data frame (number, x and y), if they are few."""
        return self.flags.left_out(self.outliers, self.n - self.k)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw rows of the first part, kept and dropped, and the line."""
        from quadsweep.plotting.outofcore import plot_out_of_core

        lines = [("line of kept", self.slope, self.intercept)]
        title = f"of {self.n:,} rows; {self.title} {self.value:.4g} of all kept"
        return plot_out_of_core(self.flags, lines, title, ax=ax)

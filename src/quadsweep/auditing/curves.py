"""The influence curve: how far m removals can move the result, for each m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.auditing.climbing import Extreme
from quadsweep.auditing.fit import Fit
from quadsweep.results.formatting import ResultMixin, aligned, known

_ENDS = ("low", "high", "low_bound", "high_bound")
_PROVED = {
    "optimal": "proved: no removal of as many rows goes beyond the bounds",
    "undecided": "some bounds are wide: no better ones could be proved",
    "time_limit": "the time limit ended the curve; what is shown is proved",
    "memory_limit": "the memory limit ended the curve; what is shown is proved",
    "interrupted": "interrupted; what is shown is proved",
}


@dataclass(frozen=True, eq=False)
class Range:
    """The range of a statistic over all removals of up to m rows, for each m.

    Attributes
    ----------
    low, high : values that some removal attains.
    low_bound, high_bound : values that no removal exceeds.
    """

    low: Floats
    high: Floats
    low_bound: Floats
    high_bound: Floats

    @classmethod
    def between(cls, lowest: list[Extreme], highest: list[Extreme]) -> Range:
        """From the largest values of the statistic and of its negative."""
        return cls(
            np.array([-e.value for e in lowest]),
            np.array([e.value for e in highest]),
            np.array([-e.bound for e in lowest]),
            np.array([e.bound for e in highest]),
        )

    def squared(self, seen: Floats) -> Range:
        """The range of the square, given the smallest values seen."""
        either = (self.low_bound < 0) & (self.high_bound > 0)
        nearest = np.minimum(self.low_bound**2, self.high_bound**2)
        return Range(
            seen,
            np.maximum(self.low**2, self.high**2),
            np.where(either, 0.0, nearest),
            np.maximum(self.low_bound**2, self.high_bound**2),
        )


@dataclass(frozen=True, eq=False)
class Curve(ResultMixin):
    """What both curves share; see :class:`quadsweep.InfluenceCurve`."""

    statistics: ClassVar[tuple[str, ...]] = ("slope",)

    m: Ints
    slope: Range
    full: Fit
    status: str
    n: int
    seconds: float

    def rows(self) -> list[dict[str, float]]:
        """One dictionary for each m: the values attained and the bounds."""
        columns = self._columns()
        return [
            {"m": m, **{name: float(column[i]) for name, column in columns.items()}}
            for i, m in enumerate(self.m.tolist())
        ]

    def _columns(self) -> dict[str, Floats]:
        columns = {"share": self.m / self.n}
        for name in self.statistics:
            columns |= {f"{name}_{end}": getattr(getattr(self, name), end) for end in _ENDS}
        return columns

    def table(self) -> str:
        """The grid as text."""
        return aligned(self.grid())

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked, and how much of it is proved."""
        return [
            ("all rows", str(self.full)),
            ("removed", f"up to {len(self.m) - 1:,} of {self.n:,} rows"),
            ("certificate", _PROVED[self.status]),
            ("search", f"{self.seconds:.3g} s"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "n": self.n,
            "full": self.full.to_dict(),
            "m": self.m.tolist(),
            **{name: known(column) for name, column in self._columns().items()},
            "status": self.status,
            "seconds": self.seconds,
        }

    def to_frame(self) -> Any:
        """One row for every m, in pandas (or polars where that is what there is)."""
        from quadsweep.inputs.frames import table

        return table({"m": self.m, **self._columns()})

    def plot(self, ax: Axes | None = None, statistic: str = "slope") -> Axes:
        """A funnel around the value of all rows."""
        from quadsweep.plotting.audit import plot_funnel

        return plot_funnel(self, statistic, ax=ax)


@dataclass(frozen=True, eq=False, kw_only=True)
class InfluenceCurve(Curve):
    """How far up to m removals can move slope, r and R2.

    Attributes
    ----------
    m : array
        Numbers of rows removed, from 0.
    slope, r, r2 : Range
    full : Fit
        Of all rows.
    status : str
        ``optimal`` when for every m the bounds are proved and near the values; ``undecided`` where
        a bound is wide, or only what no value can exceed (infinity for a slope, 1 for r);
        ``time_limit``, ``memory_limit`` or ``interrupted`` when the curve ends early.
    n : int
    seconds : float
    names : tuple of two strings
    """

    statistics: ClassVar[tuple[str, ...]] = ("slope", "r", "r2")

    r: Range
    r2: Range
    names: tuple[str, ...] = field(default=("x", "y"))

    def grid(self) -> list[Sequence[str]]:
        """The values attained; bounds agree to the digits shown unless marked with ``~``."""
        cells = [
            (f"{row['m']:.0f}", *(_cell(row, name) for name in self.statistics))
            for row in self.rows()
        ]
        return [("removed", "slope", "r", "R²"), *cells]

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked, and how much of it is proved."""
        items = super().summary_items()
        if "~" in self.table():
            remark = ("~", "its bound is beyond the values shown, which were attained")
            items.insert(-1, remark)
        return items


def _cell(row: dict[str, float], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    apart = max(low - row[f"{name}_low_bound"], row[f"{name}_high_bound"] - high)
    mark = "~" if apart > 1e-4 * max(abs(low), abs(high), high - low) else ""
    return f"{low:.4g} to {high:.4g}{mark}"


@dataclass(frozen=True, eq=False, kw_only=True)
class CoefficientCurve(Curve):
    """How far up to m removals can move a coefficient.

    Attributes
    ----------
    m : array
        Numbers of rows or groups removed, from 0.
    slope : Range
        Of the coefficient.
    full : TermFit
        Of all rows.
    status : str
        As in :class:`quadsweep.InfluenceCurve`.
    n : int
        Rows or groups.
    seconds : float
    term : str
    """

    term: str

    def grid(self) -> list[Sequence[str]]:
        """The values attained, and the bounds."""
        s = self.slope
        return [
            ("removed", f"coefficient of {self.term}", "nothing outside"),
            *(
                (f"{m}", f"{low:.4g} to {high:.4g}", f"{below:.4g} to {above:.4g}")
                for m, low, high, below, above in zip(
                    self.m.tolist(), s.low, s.high, s.low_bound, s.high_bound, strict=True
                )
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"term": self.term, **super().to_dict()}

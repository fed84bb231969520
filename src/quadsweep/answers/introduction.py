"""How results introduce themselves: a sentence, a grid, pairs of a name and a text.

Every result has the same six ways: ``summary()``, ``print``, a table in notebooks, ``to_dict()``,
``to_frame()`` and ``plot()``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SelfDescribing(ABC):
    """A result that can list what there is to say about it."""

    @abstractmethod
    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""

    @abstractmethod
    def to_frame(self) -> Any:
        """What can be put in rows, as a data frame."""

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """The picture."""

    @property
    def headline(self) -> str:
        """The answer in a sentence, where one says it."""
        return ""

    def grid(self) -> list[Sequence[str]]:
        """Rows of texts, the header first, for results that are a table; otherwise none."""
        return []

    def summary(self) -> str:
        """What was found and what to make of it, as text."""
        lines = self.lines()
        width = max(12, *(len(name) for name, _ in lines)) + 2
        parts = [
            self.headline,
            aligned(self.grid()),
            "\n".join(f"{name + ':':<{width}}{text}" for name, text in lines),
        ]
        return "\n\n".join(part for part in parts if part)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from html import escape

        title = f"<p><b>{escape(self.headline)}</b></p>" if self.headline else ""
        grid = "".join(
            "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
            for tag, cells in zip(("th", *["td"] * len(self.grid())), self.grid(), strict=False)
        )
        pairs = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self.lines()
        )
        return title + (f"<table>{grid}</table>" if grid else "") + f"<table>{pairs}</table>"


def aligned(grid: Sequence[Sequence[str]]) -> str:
    """Columns of one width, the first flush left.

    >>> print(aligned([("method", "R²"), ("lts", "0.9")]))
    method   R²
    lts     0.9
    """
    if not grid:
        return ""
    widths = [max(len(cell) for cell in column) for column in zip(*grid, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if i else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in grid
    )


def some(rows: Iterable[Any], labels: Sequence[Any] | None = None, most: int = 12) -> str:
    """The first few of some points, by label where there are labels.

    >>> some(range(14), most=3)
    '0, 1, 2, and 11 more'
    """
    every = list(rows)
    shown = ", ".join(str(i if labels is None else labels[i]) for i in every[:most])
    more = len(every) - most
    return f"{shown}, and {more:,} more" if more > 0 else shown or "none"


def finite(value: float | None) -> float | None:
    """A plain number for JSON, which has no infinity: None where nothing is known.

    >>> finite(1.5), finite(float("nan"))
    (1.5, None)
    """
    return float(value) if value is not None and math.isfinite(value) else None


def known(values: Iterable[float | None]) -> list[float | None]:
    """The same for many.

    >>> known([1.0, float("nan")])
    [1.0, None]
    """
    return [finite(v) for v in values]

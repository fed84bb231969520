"""How results introduce themselves: pairs of a name and a text."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any


class SelfDescribing(ABC):
    """A result that can list what there is to say about it."""

    @abstractmethod
    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""

    def summary(self) -> str:
        """What was found and what to make of it, as text."""
        return "\n".join(f"{name + ':':<14}{text}" for name, text in self.lines())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self.lines()
        )
        return f"<table>{rows}</table>"


def some(rows: Iterable[Any], labels: Sequence[Any] | None = None, most: int = 12) -> str:
    """The first few of some points, by label where there are labels.

    >>> some(range(14), most=3)
    '0, 1, 2, and 11 more'
    """
    every = list(rows)
    shown = ", ".join(str(i if labels is None else labels[i]) for i in every[:most])
    more = len(every) - most
    return f"{shown}, and {more:,} more" if more > 0 else shown or "none"


def known(values: Iterable[float]) -> list[float | None]:
    """Plain numbers for JSON, which has no infinity: None where nothing is known.

    >>> known([1.0, float("nan")])
    [1.0, None]
    """
    return [float(v) if math.isfinite(v) else None for v in values]

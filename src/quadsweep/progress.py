"""The search, live, on standard error: one line that is rewritten and cleared at the end.

Where standard error is not a terminal a line is printed now and then instead. Quick solves show
nothing at all.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from quadsweep.objectives import Objective

_QUIET = 0.5  # seconds before anything appears
_REWRITE = 0.1  # seconds between rewrites on a terminal
_LINES = 10.0  # seconds between lines elsewhere


class Display:
    """A progress callback: ``display(value, bound, nodes, seconds)``, closed when the search ends.

    Examples
    --------
    >>> import io
    >>> from quadsweep.objectives import get
    >>> shown = io.StringIO()
    >>> Display(get("r2"), shown)(0.5, 0.75, 1000, 2.0)
    >>> print(shown.getvalue(), end="")
    R² 0.5, bound 0.75, gap 0.25, 500 nodes/s, 2 s
    """

    def __init__(self, objective: Objective, stream: TextIO | None = None) -> None:
        self._objective = objective
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._next = _QUIET
        self._width = 0

    def __call__(self, value: float, bound: float, nodes: int, seconds: float) -> None:
        if seconds < self._next:
            return
        self._next = seconds + (_REWRITE if self._live else _LINES)
        text = _line(self._objective, value, bound, nodes, seconds)
        if self._live:
            self._rewrite(text)
        else:
            self._stream.write(text + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Leave the line empty for whatever comes next."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def _rewrite(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)


@contextmanager
def watching(
    progress: Any, objective: Objective
) -> Iterator[Callable[[float, float, int, float], object] | None]:
    """The callback meant by a ``progress`` argument, cleaned up afterwards."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        display = Display(objective)
        try:
            yield display
        finally:
            display.close()
    elif callable(progress):
        yield progress
    else:
        raise TypeError(f"progress must be True, False or a callable; got {progress!r}")


def _line(objective: Objective, value: float, bound: float, nodes: int, seconds: float) -> str:
    parts = []
    if math.isfinite(value):
        parts.append(f"{objective.title} {value:.6g}")
    if math.isfinite(bound):
        parts.append(f"bound {bound:.6g}")
    if math.isfinite(value) and math.isfinite(bound):
        parts.append(f"gap {max(objective.sense * (bound - value), 0.0):.2g}")
    parts.append(f"{nodes / seconds:,.0f} nodes/s")
    parts.append(f"{seconds:.0f} s")
    return ", ".join(parts)

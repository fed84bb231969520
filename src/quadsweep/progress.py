"""The search, live, on standard error: one line that rich rewrites and clears at the end.

Where standard error is not a terminal a line is printed now and then instead. Quick solves show
nothing at all.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from rich.live import Live

SearchTick = Callable[[float, float, int, float], object]
SearchProgress = bool | SearchTick | None
Tick = Callable[[int, int, float], object]
CountProgress = bool | Tick | None

_QUIET = 0.5  # seconds before anything appears
_UNASKED = 2.0  # the same where progress was not asked for
_REWRITE = 0.1  # seconds between rewrites on a terminal
_LINES = 10.0  # seconds between lines elsewhere
_FORECAST = 5.0  # seconds from which on the time left is estimated


class Quantity(Protocol):
    """What a search is about: what it is called, and whether more (+1) or less (-1) is better."""

    @property
    def title(self) -> str: ...
    @property
    def sense(self) -> int: ...


@dataclass(frozen=True)
class Removals:
    """The quantity an audit is about."""

    title: str = "rows removed"
    sense: int = -1


class StatusLine:
    """One line of text that is rewritten on a terminal, and repeated now and then elsewhere."""

    def __init__(self, quiet: float = _QUIET) -> None:
        self._next, self._stream = quiet, sys.stderr
        self._live: Live | None = None

    def show(self, seconds: float, make: Callable[[], str]) -> None:
        """Show what ``make`` returns, where it is time to say something again."""
        if seconds < self._next:
            return
        text = "".join(c if c.isprintable() else " " for c in make())  # names of rows and columns
        if not self._stream.isatty():
            self._next = seconds + _LINES
            print(text, file=self._stream, flush=True)
            return
        self._next = seconds + _REWRITE
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            console = Console(file=self._stream, force_jupyter=False)
            self._live = Live(
                console=console, auto_refresh=False, transient=True, redirect_stdout=False,
                redirect_stderr=False,
            )  # fmt: skip
            self._live.start()
        self._live.update(Text(text, no_wrap=True, overflow="crop"), refresh=True)

    def close(self) -> None:
        """Leave the line empty for whatever comes next."""
        if self._live is not None:
            self._live.stop()


class _SearchLine:
    """A callback that says how far a search is: ``line(value, bound, nodes, seconds)``."""

    def __init__(self, line: StatusLine, quantity: Quantity) -> None:
        self._line, self._quantity = line, quantity
        self.begin("")

    def begin(self, name: str) -> None:
        """Begin the next of several searches."""
        self._name, self._gaps = name and f"{name}: ", list[tuple[float, float]]()

    def __call__(self, value: float, bound: float, nodes: int, seconds: float) -> None:
        self._line.show(seconds, lambda: self._describe(value, bound, nodes, seconds))

    def _describe(self, value: float, bound: float, nodes: int, seconds: float) -> str:
        gap = max(self._quantity.sense * (bound - value), 0.0)
        self._gaps.append((seconds, gap))
        parts = [
            (math.isfinite(value), f"{self._quantity.title} {value:.6g}"),
            (math.isfinite(bound), f"bound {bound:.6g}"),
            (math.isfinite(value) and math.isfinite(bound), f"gap {gap:.2g}"),
            (True, f"{nodes:,} nodes, {seconds:.0f} s"),
            (seconds >= _FORECAST, time_left(self._gaps)),
        ]
        return self._name + ", ".join(text for is_known, text in parts if is_known)


def time_left(gaps: Sequence[tuple[float, float]]) -> str:
    """Return what the gap since half of the time says about the rest; seconds and gap, in order.

    A gap that closes by more than a tenth in that time is taken to go on closing as fast.

    >>> time_left([(1, 0.5), (5, 0.4), (10, 0.2)]), time_left([(1, 0.5), (5, 0.2), (10, 0.199)])
    ('about 5 s left', 'time left: cannot tell')
    """
    now, gap = gaps[-1]
    then, before = next(((t, g) for t, g in gaps if 2 * t >= now), gaps[-1])
    if not (math.isfinite(before) and gap < 0.9 * before):
        return "time left: cannot tell"
    return f"about {gap * (now - then) / (before - gap):,.0f} s left"


@contextmanager
def watching(progress: Any, quantity: Quantity) -> Iterator[SearchTick | None]:
    """The callback meant by a ``progress`` argument, cleaned up afterwards."""
    with _callback(progress, lambda line: _SearchLine(line, quantity)) as callback:
        yield callback


@contextmanager
def watching_several(
    progress: Any, quantity: Quantity
) -> Iterator[Callable[[str], SearchTick | bool]]:
    """For searches one after the other: what ``progress`` means for the next one, given its name.

    A line names it, and counts the seconds of all of them; a callable is called as for one.
    """
    start = time.perf_counter()
    with watching(progress, quantity) as callback:

        def begin_next(name: str) -> SearchTick | bool:
            if not isinstance(callback, _SearchLine):
                return callback or False
            before = time.perf_counter() - start
            callback.begin(name)
            return lambda value, bound, nodes, seconds: callback(
                value, bound, nodes, before + seconds
            )

        yield begin_next


@contextmanager
def counting(progress: Any, what: str) -> Iterator[Tick]:
    """The same for runs that count: a callback of (done, total, seconds)."""

    def describe(done: int, total: int, seconds: float) -> str:
        rest = f", about {seconds * (total - done) / done:.0f} s to go" if done else ""
        return f"{done:,} of {total:,} {what}, {seconds:.0f} s{rest}"

    def make(line: StatusLine) -> Tick:
        return lambda *known: line.show(known[2], lambda: describe(*known))

    with _callback(progress, make) as callback:
        yield callback or (lambda done, total, seconds: None)


@contextmanager
def _callback(progress: Any, make: Callable[[StatusLine], Any]) -> Iterator[Any]:
    if is_shown(progress):
        line = StatusLine(_UNASKED if progress is None else _QUIET)
        try:
            yield make(line)
        finally:
            line.close()
    elif progress is None or is_false(progress):
        yield None
    elif callable(progress):
        # A False of NumPy stops as well as a plain one does.
        yield lambda *known: False if is_false(answer := progress(*known)) else answer
    else:
        raise TypeError(f"progress must be True, False, None or a callable; got {progress!r}")


def is_shown(progress: Any) -> bool:
    """Whether ``progress`` asks for a line on standard error; None does where somebody watches."""
    if progress is None:
        return sys.stderr.isatty() or hasattr(sys, "ps1")  # a terminal, a notebook
    return isinstance(progress, (bool, np.bool_)) and bool(progress)


def is_false(answer: object) -> bool:
    """False, of Python or of NumPy: what a comparison of arrays' elements gives.

    >>> [is_false(answer) for answer in (False, np.False_, None, 0, True)]
    [True, True, False, False, False]
    """
    return isinstance(answer, (bool, np.bool_)) and not answer

"""The search, live, on standard error: one line that is rewritten and cleared at the end.

Where standard error is not a terminal a line is printed now and then instead. Quick solves show
nothing at all.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

import numpy as np

SearchProgress = bool | Callable[[float, float, int, float], object] | None
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

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._next = _QUIET
        self._width = 0

    def wait(self, seconds: float) -> None:
        """Say nothing before so many seconds."""
        self._next = seconds

    def due(self, seconds: float) -> bool:
        """Whether it is time to say something again."""
        if seconds < self._next:
            return False
        self._next = seconds + (_REWRITE if self._live else _LINES)
        return True

    def show(self, text: str) -> None:
        text = "".join(c if c.isprintable() else " " for c in text)  # names of rows and columns
        if self._live:
            from shutil import get_terminal_size

            text = text[: get_terminal_size().columns - 1]  # a wrapped line is not rewritten
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the line empty for whatever comes next."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


class Display(StatusLine):
    """A progress callback: ``display(value, bound, nodes, seconds)``, closed when the search ends.

    Examples
    --------
    >>> import io
    >>> from quadsweep.objectives import get
    >>> shown = io.StringIO()
    >>> Display(get("r2"), shown)(0.5, 0.75, 1000, 2.0)
    >>> print(shown.getvalue(), end="")
    R² 0.5, bound 0.75, gap 0.25, 1,000 nodes, 2 s
    """

    def __init__(self, objective: Quantity, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._objective = objective
        self._about = ""
        self._gaps: list[tuple[float, float]] = []

    def begin(self, name: str) -> None:
        """Of several searches, the next one."""
        self._about, self._gaps = f"{name}: ", []

    def __call__(self, value: float, bound: float, nodes: int, seconds: float) -> None:
        if self.due(seconds):
            gap = max(self._objective.sense * (bound - value), 0.0)
            self._gaps.append((seconds, gap))
            parts = _known(self._objective, value, bound, gap)
            parts += [f"{nodes:,} nodes", f"{seconds:.0f} s"]
            if seconds >= _FORECAST:
                parts.append(time_left(self._gaps))
            self.show(self._about + ", ".join(parts))


def time_left(gaps: Sequence[tuple[float, float]]) -> str:
    """What the gap since half of the time says about the rest: seconds and gap, oldest first.

    A gap that closes by more than a tenth in that time is taken to go on closing as fast.

    >>> time_left([(1, 0.5), (5, 0.4), (10, 0.2)]), time_left([(1, 0.5), (5, 0.2), (10, 0.199)])
    ('about 5 s left', 'time left: cannot tell')
    """
    now, gap = gaps[-1]
    then, before = next(((t, g) for t, g in gaps if 2 * t >= now), gaps[-1])
    if not (math.isfinite(before) and gap < 0.9 * before):
        return "time left: cannot tell"
    return f"about {gap * (now - then) / (before - gap):,.0f} s left"


class Count(StatusLine):
    """Progress of many like things: ``count(done, total, seconds)``.

    Examples
    --------
    >>> import io
    >>> shown = io.StringIO()
    >>> Count("permutations", shown)(300, 999, 3.0)
    >>> print(shown.getvalue(), end="")
    300 of 999 permutations, 3 s, about 7 s to go
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._what = what

    def __call__(self, done: int, total: int, seconds: float) -> None:
        if self.due(seconds):
            rest = f", about {seconds * (total - done) / done:.0f} s to go" if done else ""
            self.show(f"{done:,} of {total:,} {self._what}, {seconds:.0f} s{rest}")


def watching(
    progress: Any, objective: Quantity
) -> AbstractContextManager[Callable[[float, float, int, float], object] | None]:
    """The callback meant by a ``progress`` argument, cleaned up afterwards."""
    return _callback(progress, lambda: Display(objective))


@contextmanager
def watching_several(
    progress: Any, objective: Quantity
) -> Iterator[Callable[[str], Callable[[float, float, int, float], object] | bool]]:
    """For searches one after the other: what ``progress`` means for the next one, given its name.

    A line names it, and counts the seconds of all of them; a callable is called as for one.
    """
    start = time.perf_counter()
    with watching(progress, objective) as callback:

        def following(name: str) -> Callable[[float, float, int, float], object] | bool:
            if not isinstance(callback, Display):
                return callback or False
            before = time.perf_counter() - start
            callback.begin(name)
            return lambda value, bound, nodes, seconds: callback(
                value, bound, nodes, before + seconds
            )

        yield following


@contextmanager
def counting(progress: Any, what: str) -> Iterator[Tick]:
    """The same for runs that count: a callback of (done, total, seconds)."""
    with _callback(progress, lambda: Count(what)) as callback:
        yield callback or (lambda done, total, seconds: None)


def _callback(progress: Any, display: Callable[[], Any]) -> AbstractContextManager[Any]:
    if is_false(progress):
        return nullcontext()
    if is_shown(progress):
        line = display()
        if progress is None:
            line.wait(_UNASKED)
        return closing(line)
    if progress is None:
        return nullcontext()
    if callable(progress):
        return nullcontext(_heeded(progress))
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


def _heeded(progress: Callable[..., object]) -> Callable[..., object]:
    """A user's callback, with every False a plain one for whoever asks it."""

    def ask(*arguments: Any) -> object:
        answer = progress(*arguments)
        return False if is_false(answer) else answer

    return ask


def _known(objective: Quantity, value: float, bound: float, gap: float) -> list[str]:
    parts = []
    if math.isfinite(value):
        parts.append(f"{objective.title} {value:.6g}")
    if math.isfinite(bound):
        parts.append(f"bound {bound:.6g}")
    if math.isfinite(value) and math.isfinite(bound):
        parts.append(f"gap {gap:.2g}")
    return parts

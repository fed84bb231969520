"""One limit on time for all questions of an audit, and the caller's say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from quadsweep.clock import Clock, Stopped


@dataclass
class Watch(Clock):
    """A clock that is asked now and then whether to go on."""

    callback: Callable[[int, float], object] = field(default=lambda nodes, seconds: None)
    nodes: int = 0

    def check(self) -> None:
        """Raise Stopped when the time is over or the callback has had enough."""
        if self.gone() > self.limit:
            raise Stopped("time_limit")
        if self.callback(self.nodes, self.gone()) is False:
            raise Stopped("interrupted")

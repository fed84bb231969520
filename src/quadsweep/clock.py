"""Time gone, time left, and the word for what ended a run that has not finished."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Clock:
    """A limit on seconds, from now on.

    >>> Clock(0.0).ended(), Clock(60.0).ended()
    ('time_limit', 'interrupted')
    """

    limit: float
    start: float = field(default_factory=time.perf_counter)

    def gone(self) -> float:
        return time.perf_counter() - self.start

    def time_left(self) -> float:
        return max(self.limit - self.gone(), 0.0)

    def check(self) -> None:
        """Raise Stopped when the time is over."""
        if self.time_left() == 0:
            raise Stopped("time_limit")

    def until(self) -> float:
        """The limit as a time of day, which other processes can read as well."""
        return time.time() + self.time_left()

    def ended(self) -> str:
        """Why a run is not finished: its time is over, or somebody stopped it."""
        return "time_limit" if self.time_left() == 0 else "interrupted"


class Stopped(Exception):
    """A limit or an interrupt ended a search before it could decide."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status

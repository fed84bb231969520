"""What an audit may use, and whether it is still allowed to go on: time, memory, threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from quadsweep.clock import Clock, Stopped
from quadsweep.inputs import validation


@dataclass
class Resources(Clock):
    """One limit on time for everything an audit does, and what else it may use.

    Attributes
    ----------
    limit : seconds in all, ``inf`` for none; ``left()`` are those that remain.
    n_jobs, seed : threads, and where random starts begin.
    memory_limit : bytes for what a search has still to look at.
    callback : called with (nodes, seconds); False ends the audit.
    nodes : boxes or nodes looked at so far, counted by whoever looks at them.
    refitted : by how many units are removed, all removals of so many where each was refitted.
    """

    n_jobs: int = 1
    seed: int = 0
    memory_limit: float = math.inf
    callback: Callable[[int, float], object] = field(default=lambda nodes, seconds: None)
    nodes: int = 0
    refitted: dict[int, int] = field(default_factory=dict)

    @classmethod
    def given(cls, time_limit: Any, n_jobs: Any, seed: Any, **more: float) -> Resources:
        """From what the user gives."""
        limit, jobs = validation.seconds(time_limit), validation.jobs(n_jobs)
        return cls(limit, n_jobs=jobs, seed=validation.whole(seed, "seed", 0), **more)  # type: ignore[arg-type]

    def check(self) -> None:
        """Raise Stopped when the time is over or the callback ends the audit."""
        super().check()
        if self.callback(self.nodes, self.gone()) is False:
            raise Stopped("interrupted")

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit on time, up to which work goes on."""
        return math.isfinite(self.limit)

    def within(self, patience: float) -> float:
        """Seconds that a question may take which is asked with some patience."""
        return min(self.time_left(), patience)

    def stopped(self, status: str) -> Exception:
        """What a search without an answer raises, by the status it ended with."""
        patient = status != "time_limit" or self.time_left() == 0
        return Stopped(status) if patient else OutOfPatience()

    def count(self, nodes: int, seconds: float) -> object:
        """Progress in nodes, as the audit's."""
        return self.callback(self.nodes + nodes, self.gone())

    def report(self, value: float, bound: float, nodes: int, seconds: float) -> object:
        """The engine's progress as the audit's."""
        return self.count(nodes, seconds)


class OutOfPatience(Exception):
    """A question took longer than the patience it was asked with; it may be asked again."""

"""A clock that jumps: how much is done after a limit, not how long that takes."""

from __future__ import annotations

from typing import Any

import pytest

from quadsweep import _core, clock


class Jumping:
    """Stands still for some looks and is then far past every limit; afterwards every look takes a
    tenth of a second."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    @property
    def over(self) -> bool:
        return self.looks <= 0

    def perf_counter(self) -> float:
        self.looks -= 1
        return 0.0 if self.looks > 0 else 1e9 - 0.1 * self.looks

    def time(self) -> float:
        return self.perf_counter()


def jumping(monkeypatch: pytest.MonkeyPatch, looks: int) -> Jumping:
    """The clock of everything that is asked from now on."""
    made = Jumping(looks)
    monkeypatch.setattr(clock, "time", made)
    return made


def searches_after(monkeypatch: pytest.MonkeyPatch, jumped: Jumping) -> list[str]:
    """Fills up with the compiled functions that are called once the clock has jumped."""
    after: list[str] = []

    def counting(name: str, function: Any) -> Any:
        def counted(*given: Any, **more: Any) -> Any:
            if jumped.over:
                after.append(name)
            return function(*given, **more)

        return counted

    for name, function in vars(_core).items():
        if callable(function) and not isinstance(function, type) and not name.startswith("_"):
            monkeypatch.setattr(_core, name, counting(name, function))
    return after

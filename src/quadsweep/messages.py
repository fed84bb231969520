"""How messages spell arguments: ``drop=60`` in Python, ``--drop 60`` on the command line.

A message is worded where it is raised; only the spelling of an argument depends on who called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_OPTIONS: ContextVar[Mapping[str, str] | None] = ContextVar("options", default=None)
_NO_VALUE = object()


@contextmanager
def spelled_as(options: Mapping[str, str]) -> Iterator[None]:
    """Messages made in here name arguments by options: ``{"n_jobs": "--jobs"}``."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def argument(name: str, value: Any = _NO_VALUE) -> str:
    """An argument by name, or with its value, as the caller would write it.

    >>> argument("drop"), argument("drop", 60), argument("null", "line")
    ('drop', 'drop=60', "null='line'")
    >>> with spelled_as({"drop": "--drop", "null": "--null"}):
    ...     argument("drop"), argument("drop", 60), argument("null", "line"), argument("tol", 0)
    ('--drop', '--drop 60', '--null line', 'tol=0')
    """
    options = _OPTIONS.get()
    if options is None or name not in options:
        return name if value is _NO_VALUE else f"{name}={value!r}"
    flag = options.get(f"{name}={value}", f"{options[name]} {value}")
    return options[name] if value is _NO_VALUE else flag

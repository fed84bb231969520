"""How messages spell arguments: ``drop=60`` in Python, ``--drop 60`` on the command line.

A message is worded where it is raised; only the spelling of an argument depends on who called.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
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


def hint(name: Any, names: Iterable[Any]) -> str:
    """The nearest of some names, or all of them, for the end of an error.

    >>> hint("GrLivAera", ["GrLivArea", "Year"]), hint("q", ["a", "b"])
    ("; did you mean 'GrLivArea'?", '; there are: a, b')
    """
    known = [str(one) for one in names]
    near = difflib.get_close_matches(str(name), known, 1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(known)}"


def free(name: str, taken: Iterable[str]) -> str:
    """The name, with as many ``_`` as it takes to have it free.

    >>> free("inlier", ["x", "inlier"])
    'inlier_'
    """
    used = set(taken)
    while name in used:
        name += "_"
    return name


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

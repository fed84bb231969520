"""The tail of every command: ask, show the answer, and end with the code it deserves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import typer

from quadsweep.cli.ending import BadInput, code_of_all
from quadsweep.cli.flagging import write_flagged
from quadsweep.cli.options import Given
from quadsweep.cli.places import write_proof
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.presenting import present
from quadsweep.groups import Groups, ask_groups

Pairs = list[tuple[str, str]]


def answer(
    given: Given,
    points: NamedPoints,
    more: Callable[[Any], Pairs] = lambda found: [],
    **asked: Any,
) -> NoReturn:
    """Ask about points what the options say; print the answer, and ``more`` pairs after it."""
    asked = {**given.arguments(points), "nan_policy": "omit", **asked}
    if points.by is None:
        found = asked_once(given, points.columns, **asked)
    else:
        found = _every_group(given, points, **asked)
    write_flagged(found, points, given.output)
    finish(given, found, points, [] if given.json else more(found))


def asked_once(given: Given, *arguments: Any, **asked: Any) -> Any:
    """The function's answer, its progress on a terminal and its proof where --proof says."""
    if given.proof is not None:
        asked["proof"] = True
    found = given.function(*arguments, progress=sys.stderr.isatty(), **asked)
    write_proof(getattr(found, "proof", None), given.proof)
    return found


def finish(given: Given, found: Any, points: NamedPoints, more: Pairs | None = None) -> NoReturn:
    """Show an answer and end."""
    present(found, points, given.plot, given.json, more)
    answers = found.answers.values() if isinstance(found, Groups) else [found]
    raise typer.Exit(code_of_all([status for one in answers for status in statuses(one)]))


def statuses(found: Any) -> list[str]:
    """Those of an answer that decide the exit code: its own, and that of the result it is about."""
    about: Any = getattr(found, "result", None)
    own = np.atleast_1d(found.status).tolist()
    return [*own, about.status] if hasattr(about, "status") else own  # Path.result is a method


def _every_group(given: Given, points: NamedPoints, **asked: Any) -> Groups:
    """The same question of every group of --by."""
    if given.proof is not None:
        raise BadInput("--proof is for one answer; remove --by")
    assert points.by is not None
    assert points.groups is not None
    found = ask_groups(points.columns, points.by, points.groups, given.function, **asked)
    return replace(found, called=points.called)

"""The tail of every command: ask, show the answer, and end with the code it deserves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import typer

from quadsweep.cli.ending import code_of_all
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.presenting import present
from quadsweep.cli.wording import as_options
from quadsweep.groups import Groups, ask_groups


def answer(
    function: Callable[..., Any],
    points: NamedPoints,
    *,
    statuses: Callable[[Any], list[str]] = lambda found: [found.status],
    plot: str | None,
    json: bool,
    time_limit: float | None,
    jobs: int | None,
    seed: int,
    **asked: Any,
) -> NoReturn:
    """Call a function of the package with the points and what was asked; print what it says.

    ``statuses`` are those of the answer that decide the exit code.
    """
    asked |= {"time_limit": time_limit, "n_jobs": jobs, "seed": seed, "nan_policy": "omit"}
    if points.by is not None:
        found = ask_every_group(function, points, **asked)
        present(found, points, plot, json)
        every = found.answers.values()
        raise typer.Exit(code_of_all([s for one in every for s in statuses(one)]))
    found = function(points.columns, progress=sys.stderr.isatty(), **asked)
    present(found, points, plot, json)
    raise typer.Exit(code_of_all(statuses(found)))


def ask_every_group(function: Callable[..., Any], points: NamedPoints, **asked: Any) -> Groups:
    """The same question of every group of --by."""
    assert points.by is not None
    assert points.groups is not None
    found = ask_groups(points.columns, points.by, points.groups, function, **asked)
    failures = {group: as_options(why) for group, why in found.failures.items()}
    return replace(found, called=points.called, failures=failures)

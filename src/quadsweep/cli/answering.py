"""The tail of every command: ask, show the answer, and end with the code it deserves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from quadsweep.cli.ending import code_of_all
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.presenting import present


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
    found = function(
        points.columns,
        time_limit=time_limit,
        n_jobs=jobs,
        seed=seed,
        nan_policy="omit",
        progress=sys.stderr.isatty(),
        **asked,
    )
    present(found, points, plot, json)
    raise typer.Exit(code_of_all(statuses(found)))

"""Commands with controls: a formula, or columns by name, of a table.

The rows of the frame made of the file are called as everywhere on the command line: by the column
that names them, or by number from 1.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import typer

from quadsweep import datasets
from quadsweep.cli.ending import BadInput, code_of_all
from quadsweep.cli.points import NamedPoints, is_built_in, labels_of
from quadsweep.cli.presenting import present
from quadsweep.cli.tables import SourceTable, open_table
from quadsweep.cli.tables.values import typed
from quadsweep.extras import needed


@dataclass(frozen=True)
class Asked:
    """What the options say about a regression; all empty where it is one line through points."""

    x: str | None = None
    y: str | None = None
    formula: str | None = None
    term: str | None = None
    controls: list[str] = field(default_factory=list)
    groups: str | None = None
    weights: str | None = None
    vcov: str | None = None
    fixed: bool = False
    label: str | None = None

    @property
    def regression(self) -> bool:
        """Whether there is more to it than x and y."""
        more = (self.formula, self.term, self.controls, self.groups, self.weights, self.vcov)
        return any(more) or self.fixed

    def of_data_set(self, file: str) -> Asked:
        """The published regression of a built-in data set, where no other is asked for."""
        if not is_built_in(file) or any((self.x, self.y, self.formula, self.controls)):
            return self
        data = datasets.load(file)
        return replace(self, formula=data.formula or None, term=self.term or data.term or None)

    def check(self) -> None:
        """Do the options belong together?"""
        if (self.formula is None) == (self.x is None and self.y is None):
            raise BadInput("give --formula (and --term), or --x, --y and --controls")
        if self.formula is not None and self.controls:
            raise BadInput("a formula has its own controls; give --formula or --controls, not both")
        if self.formula is None and (self.x is None or self.y is None):
            raise BadInput("give both --x and --y, or a --formula")

    def columns(self) -> list[tuple[str, str]]:
        """Options that name a column, with the name."""
        named = [("--x", self.x), ("--y", self.y), ("--groups", self.groups)]
        named += [("--weights", self.weights), ("--label", self.label)]
        named += [("--controls", name) for name in self.controls]
        return [(option, name) for option, name in named if name is not None]


@dataclass(frozen=True)
class ReadRegression:
    """A file as a frame, and the arguments of :func:`quadsweep.audit` that ask about it."""

    source: str
    labels: Any
    outcome: str
    arguments: dict[str, Any]


def read_regression(file: str, asked: Asked) -> ReadRegression:
    """The columns of a file, rows called by their labels."""
    asked.check()
    table = open_table(file)
    columns = _columns(table)
    for option, name in asked.columns():
        if name not in columns:
            raise BadInput(f"{option}: {table.source} has no column {name!r}{_hint(name, columns)}")
    labels = labels_of(table, asked.label, len(next(iter(columns.values()))))
    with needed("a formula"):
        import pandas as pd
    arguments: dict[str, Any] = {
        "x": asked.formula or f"{_quoted(asked.y)} ~ {_sum([asked.x, *asked.controls])}",
        "data": pd.DataFrame(columns, index=list(labels)),
        "term": asked.x if asked.formula is None else asked.term,
        "groups": asked.groups,
        "weights": asked.weights,
    }
    if asked.fixed:
        arguments["controls"] = "fixed"
    if asked.vcov is not None:
        arguments["vcov"] = asked.vcov
    return ReadRegression(table.source, labels, outcome_of(asked), arguments)


def outcome_of(asked: Asked) -> str:
    """What stands on the left of the formula."""
    left = asked.y if asked.formula is None else asked.formula.split("~")[0]
    return str(left).strip().strip("`")


def answer_regression(
    function: Callable[..., Any],
    file: str,
    asked: Asked,
    *,
    plot: str | None,
    json: bool,
    time_limit: float | None,
    jobs: int | None,
    seed: int,
    **more: Any,
) -> NoReturn:
    """Read the columns, ask, and show the answer."""
    read = read_regression(file, asked)
    found = function(
        **read.arguments,
        time_limit=time_limit,
        n_jobs=jobs,
        seed=seed,
        nan_policy="omit",
        progress=sys.stderr.isatty(),
        **more,
    )
    present(found, _points(found, read), plot, json)
    raise typer.Exit(code_of_all([found.status]))


def _points(found: Any, read: ReadRegression) -> NamedPoints:
    """The columns of the answer, for what is said about rows that were skipped."""
    import numpy as np

    if hasattr(found, "x"):
        return NamedPoints(found.x, found.y, found.names, read.labels, read.source)
    whole = np.zeros(len(read.labels))  # a curve does not keep its rows
    return NamedPoints(whole, whole, (found.term, read.outcome), read.labels, read.source)


def _columns(table: SourceTable) -> dict[str, Any]:
    """All columns of a table: numbers where every value is one, text otherwise."""
    names = list(dict.fromkeys(table.names))
    return {
        name: typed(values, table.decimal)
        for name, values in zip(names, table.read(names), strict=True)
    }


def _quoted(name: Any) -> str:
    return str(name) if str(name).isidentifier() else f"`{name}`"


def _sum(names: list[Any]) -> str:
    return " + ".join(_quoted(name) for name in names)


def _hint(name: str, names: Any) -> str:
    near = difflib.get_close_matches(name, list(names), 1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(names)}"

"""Commands with controls: a formula, or columns by name, of a table.

The rows of the frame made of the file are called as everywhere on the command line: by the column
that names them, or by number from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, NoReturn

import typer

from quadsweep import datasets
from quadsweep.cli import options as opt
from quadsweep.cli.answering import Outputs, ask, finish
from quadsweep.cli.ending import BadInput
from quadsweep.cli.points import NamedPoints, is_built_in, labels_of, typed_columns
from quadsweep.cli.tables import FileOptions, open_table
from quadsweep.extras import needed
from quadsweep.messages import hint


@dataclass(frozen=True)
class RegressionOptions:
    """The columns of a regression, as options name them."""

    x: opt.X = None
    y: opt.X = None
    formula: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help='With controls: "wage ~ educ + age | region".'),
    ] = None
    term: opt.Term = None
    controls: opt.Controls = None
    groups: Annotated[str | None, opt.column("Remove whole groups of rows.", "--groups")] = None
    weights: Annotated[str | None, opt.column("Weights of weighted least squares.")] = None
    vcov: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="HC0 to HC3, or clusters: firm, firm+year."),
    ] = None
    fixed_controls: Annotated[
        bool, typer.Option("--fixed-controls", help="Do not refit the controls: approximate.")
    ] = False
    label: opt.Label = None

    @property
    def is_regression(self) -> bool:
        """Whether the options say more than x and y."""
        more = (self.formula, self.term, self.controls, self.groups, self.weights, self.vcov)
        return any(more) or self.fixed_controls

    @property
    def outcome(self) -> str:
        """What stands on the left of the formula."""
        left = self.y if self.formula is None else self.formula.split("~")[0]
        return str(left).strip().strip("`")

    def published(self, file: str) -> RegressionOptions:
        """The published regression of a built-in data set, where no other is asked for."""
        if any((self.x, self.y, self.formula, self.controls)) or not is_built_in(file):
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

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Options and the columns that they name."""
        named = {"--x": self.x, "--y": self.y, "--groups": self.groups}
        named |= {"--weights": self.weights, "--label": self.label}
        some = [(option, name) for option, name in named.items() if name is not None]
        return some + [("--controls", name) for name in self.controls or []]


@dataclass(frozen=True)
class ReadRegression:
    """A file as a frame, and the arguments of :func:`quadsweep.audit` that ask about it."""

    source: str
    labels: Any
    arguments: dict[str, Any]


def read_regression(options: FileOptions, design: RegressionOptions) -> ReadRegression:
    """The columns of a file, rows called by their labels."""
    design.check()
    table = open_table(options)
    columns = typed_columns(table)
    for option, name in design.columns:
        if name not in columns:
            raise BadInput(f"{option}: {table.source} has no column {name!r}{hint(name, columns)}")
    labels = labels_of(table, design.label, len(next(iter(columns.values()))))
    with needed("a formula"):
        import pandas as pd
    predictors = " + ".join(_quoted(name) for name in [design.x, *(design.controls or [])])
    arguments: dict[str, Any] = {
        "x": design.formula or f"{_quoted(design.y)} ~ {predictors}",
        "data": pd.DataFrame(columns, index=list(labels)),
        "term": design.x if design.formula is None else design.term,
        "groups": design.groups,
        "weights": design.weights,
    }
    if design.fixed_controls:
        arguments["controls"] = "fixed"
    if design.vcov is not None:
        arguments["vcov"] = design.vcov
    return ReadRegression(table.source, labels, arguments)


def answer_regression(
    question: Callable[..., Any],
    options: FileOptions,
    design: RegressionOptions,
    outputs: Outputs,
    asked: dict[str, Any],
) -> NoReturn:
    """Read the columns, ask, and show the answer."""
    read = read_regression(options, design)
    found = ask(question, outputs=outputs, nan_policy="omit", **read.arguments, **asked)
    finish(found, NamedPoints(found.x, found.y, found.names, read.labels, read.source), outputs)


def _quoted(name: Any) -> str:
    return str(name) if str(name).isidentifier() else f"`{name}`"

"""Commands with controls: a formula, or columns by name, of a table.

The rows of the frame made of the file are called as everywhere on the command line: by the column
that names them, or by number from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from quadsweep import datasets
from quadsweep.cli.answering import asked_once, finish
from quadsweep.cli.ending import BadInput
from quadsweep.cli.options import Given
from quadsweep.cli.points import NamedPoints, is_built_in, labels_of, typed_columns
from quadsweep.cli.tables import open_table
from quadsweep.extras import needed
from quadsweep.messages import hint

FORMULA = 'With controls: "wage ~ educ + age | region".'  # help of --formula here


def is_regression(given: Given) -> bool:
    """Whether the options say more than x and y."""
    design = (given.formula, given.term, given.controls, given.groups, given.weights, given.vcov)
    return any(design) or bool(given.fixed_controls)


def of_data_set(given: Given) -> Given:
    """The published regression of a built-in data set, where no other is asked for."""
    other = any((given.x, given.y, given.formula, given.controls))
    if other or not is_built_in(given.file):
        return given
    data = datasets.load(given.file)
    return given.but(formula=data.formula or None, term=given.term or data.term or None)


def _check(given: Given) -> None:
    """Do the options belong together?"""
    if (given.formula is None) == (given.x is None and given.y is None):
        raise BadInput("give --formula (and --term), or --x, --y and --controls")
    if given.formula is not None and given.controls:
        raise BadInput("a formula has its own controls; give --formula or --controls, not both")
    if given.formula is None and (given.x is None or given.y is None):
        raise BadInput("give both --x and --y, or a --formula")


@dataclass(frozen=True)
class ReadRegression:
    """A file as a frame, and the arguments of :func:`quadsweep.audit` that ask about it."""

    source: str
    labels: Any
    arguments: dict[str, Any]


def read_regression(given: Given) -> ReadRegression:
    """The columns of a file, rows called by their labels."""
    _check(given)
    table = open_table(given.file)
    columns = typed_columns(table)
    named = {"--x": given.x, "--y": given.y, "--groups": given.groups}
    named |= {"--weights": given.weights, "--label": given.label}
    for option, name in [*named.items(), *(("--controls", name) for name in given.controls or [])]:
        if name is not None and name not in columns:
            raise BadInput(f"{option}: {table.source} has no column {name!r}{hint(name, columns)}")
    labels = labels_of(table, given.label, len(next(iter(columns.values()))))
    with needed("a formula"):
        import pandas as pd
    arguments: dict[str, Any] = {
        "x": given.formula or f"{_quoted(given.y)} ~ {_sum([given.x, *(given.controls or [])])}",
        "data": pd.DataFrame(columns, index=list(labels)),
        "term": given.x if given.formula is None else given.term,
        "groups": given.groups,
        "weights": given.weights,
    }
    if given.fixed_controls:
        arguments["controls"] = "fixed"
    if given.vcov is not None:
        arguments["vcov"] = given.vcov
    return ReadRegression(table.source, labels, arguments)


def outcome_of(given: Given) -> str:
    """What stands on the left of the formula."""
    left = given.y if given.formula is None else given.formula.split("~")[0]
    return str(left).strip().strip("`")


def answer_regression(given: Given) -> NoReturn:
    """Read the columns, ask, and show the answer."""
    read = read_regression(given)
    found = asked_once(given, **read.arguments, **given.arguments(), nan_policy="omit")
    points = NamedPoints(found.x, found.y, found.names, read.labels, read.source)
    finish(given, found, points)


def _quoted(name: Any) -> str:
    return str(name) if str(name).isidentifier() else f"`{name}`"


def _sum(names: list[Any]) -> str:
    return " + ".join(_quoted(name) for name in names)

"""--encoding, --decimal, --sheet, --missing and --debug, on every command that takes a FILE."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from quadsweep.cli import ending
from quadsweep.cli.tables import Reading, reading

_OPTIONS = {
    "encoding": Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Of a text file, where it is not UTF-8."),
    ],
    "decimal": Annotated[
        str | None, typer.Option("--decimal", metavar="MARK", help="Decimal mark: '.' or ','.")
    ],
    "sheet": Annotated[
        str | None, typer.Option("--sheet", metavar="NAME", help="Of a workbook, name or number.")
    ],
    "missing": Annotated[
        list[str] | None,
        typer.Option("--missing", metavar="TEXT", help="Stands for no value; again for more."),
    ],
    "debug": Annotated[bool, typer.Option("--debug", help="Show where an error came from.")],
}


def reads_a_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options that say how its file is to be read."""

    @functools.wraps(command)
    def wrapped(
        *,
        encoding: str | None,
        decimal: str | None,
        sheet: str | None,
        missing: list[str] | None,
        debug: bool,
        **given: Any,
    ) -> Any:
        if debug:
            ending.begin(debugging=True)
        with reading(Reading(encoding, decimal, sheet, tuple(missing or ()))):
            return command(**given)

    own = inspect.signature(command, eval_str=True)
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "debug" else None,
            annotation=kind,
        )
        for name, kind in _OPTIONS.items()
    ]
    signature = own.replace(parameters=[*own.parameters.values(), *more])
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return wrapped

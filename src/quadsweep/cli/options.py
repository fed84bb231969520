"""Every option once: what it is called, what it takes, and which argument it becomes.

A command lists the options it has; their values pass through to the function it asks, under the
function's own names. What is not given is not passed, so that defaults are those of the function,
where the help reads them too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from quadsweep.cli.ending import BadInput, begin
from quadsweep.cli.places import check_picture, check_place
from quadsweep.cli.tables import Reading, reading
from quadsweep.inputs.validation import brief
from quadsweep.messages import spelled_as
from quadsweep.objectives import OBJECTIVES
from quadsweep.solving.methods.choice import CHOICES

if TYPE_CHECKING:
    from quadsweep.cli.points import NamedPoints


@dataclass(frozen=True)
class Option:
    """What an option takes, its help, and the argument it becomes (None: it is the command's own).

    ``read`` makes a value of its text, ``default`` is that of the command where the function's
    does not serve, ``choices`` is where its values are listed, for the help.
    """

    help: str
    metavar: str | None = None
    kind: Any = str
    argument: str | None = None
    flags: tuple[str, ...] = ()
    read: Callable[[str, str], Any] | None = None
    default: Any = None
    choices: str = ""

    def parameter(self, name: str) -> inspect.Parameter:
        """As typer takes it."""
        flags = self.flags or (flag(name),)
        kind = bool if self.kind is bool else self.kind | None
        parser = None
        if self.read is not None:
            parser = functools.wraps(self.read)(lambda text: self.read(text, flags[0]))  # type: ignore[misc]
        how = typer.Option(*flags, metavar=self.metavar, help=self.help, parser=parser)
        default = False if self.kind is bool else self.default
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, how]
        )


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def amount(text: str, option: str) -> int | float:
    """A count, or a share as 0.8 or 80%."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise BadInput(
            f"{option} must be a number, a share or a percentage; got {brief(repr(text))}"
        ) from None


def _threshold(text: str, option: str) -> float | tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{option} must be a number or two, low,high; got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _names(text: str, option: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


FILE = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Excel, Stata, SPSS, Parquet, Feather, JSON lines, '-' for standard input, "
        "or a built-in data set.",
    ),
]
OPTIONS = {
    "x": Option("Column, by name or number.", "COL"),
    "xs": Option(
        "Column, by name or number; again for more of them.", "COL", list[str], flags=("--x",)
    ),
    "y": Option("Column, by name or number.", "COL"),
    "formula": Option("'y ~ a + b + C(group)' instead of columns.", "TEXT"),
    "term": Option("Whose coefficient of the formula it is about.", "NAME"),
    "controls": Option("A control beside --x; may be repeated.", "COL", list[str]),
    "groups": Option("Remove whole groups of rows.", "COL"),
    "weights": Option("Of weighted least squares.", "COL"),
    "vcov": Option("HC0 to HC3, or clusters: firm, firm+year.", "NAME"),
    "fixed_controls": Option("Do not refit the controls: approximate.", kind=bool),
    "label": Option("Column that names the rows.", "COL"),
    "by": Option("Ask for every value of this column.", "COL"),
    "keep": Option("Points to keep: 40, 0.8 or 80%.", "K", argument="k", read=amount),
    "drop": Option("Points to remove: 5, 0.1 or 10%.", "M", argument="drop", read=amount),
    "max_drop": Option("The most rows to remove.", "M", argument="max_drop", read=amount),
    "objective": Option(f"{', '.join(OBJECTIVES)}.", "NAME", argument="objective"),
    "method": Option(f"{', '.join(CHOICES)}.", "NAME", argument="method"),
    "methods": Option("Which of them; default: all.", "A,B", argument="methods", read=_names),
    "claim": Option(
        "What must not survive:", "NAME", argument="claim", choices="auditing.claims:NAMES"
    ),
    "level": Option("Of the significance test.", "P", float, argument="level"),
    "threshold": Option(
        "For r2 a number; for slope an interval: 0.5,2.", "T", argument="threshold", read=_threshold
    ),
    "null": Option(
        "Compare with y 'shuffled', a clean 'line', or one with 'normal' noise.",
        "NAME",
        argument="null",
    ),
    "permutations": Option("Shufflings of y to compare with.", "N", int, argument="permutations"),
    "resample": Option("bootstrap or jackknife.", "NAME", argument="resample"),
    "resamples": Option("Data sets of the bootstrap.", "N", int, argument="resamples"),
    "lift": Option("L2, L3c, L3d, L3t, L4 or L5; one --x.", "NAME"),
    "output": Option(
        "Write the table with a column inlier: .csv, .parquet.", "FILE", flags=("--output", "-o")
    ),
    "plot": Option("Write a picture: .png, .svg or .pdf.", "FILE"),
    "proof": Option("Write a proof, for quadsweep check.", "FILE"),
    "json": Option("Print one JSON object and nothing else.", kind=bool),
    "time_limit": Option("Seconds to stop after.", "S", float, "time_limit"),
    "memory_limit": Option("Gigabytes for the search; default: 1/4.", "GB", float, "memory_limit"),
    "jobs": Option("Threads; default: all.", "N", int, "n_jobs"),
    "dask": Option(
        "A dask scheduler's address, or 'local' to start one.", "ADDRESS", argument="client"
    ),
    "work": Option("Keep finished parts of the work here.", "DIR", argument="out"),
    "resume": Option(
        "Go on with the finished files in the directory.", kind=bool, argument="resume"
    ),
    "seed": Option("For what is drawn at random.", "N", int, "seed"),
    "encoding": Option("Of a text file, where it is not UTF-8.", "NAME"),
    "decimal": Option("Decimal mark: '.' or ','.", "MARK"),
    "sheet": Option("Of a workbook, name or number.", "NAME"),
    "missing": Option("Stands for no value; again for more.", "TEXT", list[str]),
    "debug": Option("Show where an error came from.", kind=bool),
}
_READING = ("encoding", "decimal", "sheet", "missing", "debug")


class Given:
    """The values of a command's options, as attributes; of those it does not have, None."""

    def __init__(self, asks: str, options: dict[str, Option], values: dict[str, Any]) -> None:
        self._asks, self._options, self._values = asks, options, values

    def __getattr__(self, name: str) -> Any:
        if name in self._values or name in OPTIONS:
            return self._values.get(name)
        raise AttributeError(name)

    @property
    def function(self) -> Callable[..., Any]:
        """The function that the command asks."""
        return named_object(self._asks)  # type: ignore[no-any-return]

    @property
    def spelled(self) -> dict[str, str]:
        """Arguments, and the options that the command has for them."""
        names = {option.argument or name: flag(name) for name, option in self._options.items()}
        return names | {"controls=fixed": flag("fixed_controls")}

    def but(self, **values: Any) -> Given:
        """The same with other values of some options."""
        return Given(self._asks, self._options, {**self._values, **values})

    def arguments(self, points: NamedPoints | None = None) -> dict[str, Any]:
        """What was given, as arguments of the function; a built-in data set suggests its own."""
        values = {
            option.argument: self._values[name]
            for name, option in self._options.items()
            if option.argument is not None
        }
        found = {n: v for n, v in values.items() if v is not None and v is not False}
        suggested = {} if points is None else {"k": points.k, "objective": points.objective}
        if "drop" in found or "keep" not in self._options:
            suggested.pop("k", None)
        if "objective" not in self._options:
            suggested.pop("objective", None)
        return {name: v for name, v in suggested.items() if v is not None} | found


def named_object(where: str) -> Any:
    """``solving.solve:solve``: a name in a module of the package."""
    module, name = where.split(":")
    return getattr(import_module(f"quadsweep.{module}"), name)


@dataclass(frozen=True)
class Command:
    """What typer runs, the function that it asks, and the options it has."""

    run: Callable[..., Any]
    asks: str
    options: dict[str, Option]


COMMANDS: dict[str, Command] = {}


def commands_of(module: str) -> list[tuple[str, Callable[..., Any]]]:
    """The commands that a module has registered, and what typer runs."""
    return [(name, one.run) for name, one in COMMANDS.items() if one.run.__module__ == module]


def command(
    names: str,
    *,
    asks: str = "",
    arguments: dict[str, Any] = {"file": FILE},  # noqa: B006
    **own: str | Option,
) -> Callable[[Callable[[Given], Any]], Callable[[Given], Any]]:
    """Register ``solve_command(given)`` as the command ``solve``.

    Parameters
    ----------
    names : the options it has; where it takes a file, those that say how it is read come with it.
    asks : the function of the package that it asks.
    arguments : of the command itself, those of str | None optional.
    own : an option that only this command has, or the help of one where it differs here.
    """
    options = {name: OPTIONS[name] for name in names.split()}
    for name, here in own.items():
        options[name] = here if isinstance(here, Option) else replace(OPTIONS[name], help=here)
    options |= {name: OPTIONS[name] for name in (_READING if "file" in arguments else ())}
    parameters = [_argument(name, kind) for name, kind in arguments.items()]
    parameters += [option.parameter(name) for name, option in options.items()]

    def register(body: Callable[[Given], Any]) -> Callable[[Given], Any]:
        def run(**values: Any) -> Any:
            given = Given(asks, options, values)
            if asks:
                named_object(asks)  # loaded before the file is read: from then on Ctrl-C is a stop
            return _run(body, given)

        run.__doc__, run.__module__ = body.__doc__, body.__module__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        COMMANDS[body.__name__.removesuffix("_command")] = Command(run, asks, options)
        return body

    return register


def _argument(name: str, kind: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if get_args(kind)[0] is str else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _run(body: Callable[[Given], Any], given: Given) -> Any:
    if given.debug:
        begin(debugging=True)
    check_picture(given.plot)
    check_place(given.proof)
    with (
        spelled_as(given.spelled),
        reading(Reading(given.encoding, given.decimal, given.sheet, tuple(given.missing or ()))),
    ):
        return body(given)

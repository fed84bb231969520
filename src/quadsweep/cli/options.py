"""Every option once: its name, what it takes, its help, and what a shell completes it with.

Options mirror the arguments of the function that a command asks. An option that was not given is
not passed on, so that defaults are those of the function. Options that belong together are a
dataclass; ``expand`` gives its fields to typer.
"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import MISSING, dataclass, fields, is_dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from quadsweep.auditing.claims import NAMES
from quadsweep.cli.ending import BadInput
from quadsweep.inputs.validation import brief
from quadsweep.objectives import OBJECTIVES
from quadsweep.solving.methods.problem import CHOICES

_COMPLETED = 1 << 24  # bytes of the largest file whose columns a shell completes


def complete_file(incomplete: str) -> list[str]:
    """Built-in data sets and files that begin so."""
    start = Path(incomplete)
    folder = start if incomplete.endswith("/") else start.parent
    files = [f"{one}/" if one.is_dir() else str(one) for one in folder.glob("*")]
    return complete_data_set(incomplete) + sorted(f for f in files if f.startswith(incomplete))


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the command's file that begin so."""
    from quadsweep import datasets
    from quadsweep.cli.tables import open_table

    # The option without its value keeps the line from being parsed: its words are looked at.
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    try:
        words = shlex.split(typed)
    except ValueError:  # a quotation mark is still open
        words = typed.split()
    words = [ctx.params.get("file") or "", *words[2:]]
    for file in words:
        small = Path(file).is_file() and Path(file).stat().st_size <= _COMPLETED
        if not small and file not in datasets.names():
            continue
        try:
            with redirect_stderr(StringIO()):  # notes would stand in the line that is typed
                names = open_table(FileOptions(file)).names
        except (BadInput, ModuleNotFoundError):
            continue
        return [name for name in names if name.startswith(incomplete)]
    return []


def complete_objective(incomplete: str) -> list[str]:
    """Objectives that begin so."""
    return [name for name in OBJECTIVES if name.startswith(incomplete)]


def complete_data_set(incomplete: str) -> list[str]:
    """Built-in data sets that begin so."""
    from quadsweep import datasets

    return [name for name in datasets.names() if name.startswith(incomplete)]


def _option(metavar: str, help: str, *flags: str, **more: Any) -> Any:
    return typer.Option(*flags, metavar=metavar, help=help, **more)


def column(help: str, *flags: str) -> Any:
    return _option("COL", help, *flags, autocompletion=complete_column)


Text = str | None
X = Annotated[Text, column("Column, by name or number.")]
Xs = Annotated[list[str] | None, column("Column, by name or number; may be repeated.", "--x")]
Formula = Annotated[Text, _option("TEXT", "'y ~ a + b + C(group)' instead of columns.")]
Term = Annotated[Text, _option("NAME", "Column whose coefficient is audited.")]
Controls = Annotated[list[str] | None, column("A control beside --x; may be repeated.")]
Label = Annotated[Text, column("Column that names the rows.")]
Keep = Annotated[Text, _option("K", "Points to keep: 40, 0.8 or 80%.")]
Drop = Annotated[Text, _option("M", "Points to drop: 5, 0.1 or 10%.")]
Objective = Annotated[
    Text, _option("NAME", f"{', '.join(OBJECTIVES)}.", autocompletion=complete_objective)
]
Method = Annotated[Text, _option("NAME", f"{', '.join(CHOICES)}.")]
Permutations = Annotated[int | None, _option("N", "Number of shuffles of y.")]
Output = Annotated[
    Text, _option("FILE", "Write the table with a column inlier: .csv, .tsv or .parquet.",
                  "--output", "-o"),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Proof = Annotated[Text, _option("FILE", "Write a proof, for quadsweep check.")]
MemoryLimit = Annotated[float | None, _option("GB", "Memory of the search; default: a quarter.")]
Seed = Annotated[int | None, _option("N", "Seed of random numbers.")]
Dask = Annotated[Text, _option("ADDRESS", "A dask scheduler's address, or 'local' to start one.")]


@dataclass(frozen=True)
class FileOptions:
    """The file and its format."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, Excel, Stata, SPSS, Parquet, Feather, JSON lines, '-' for standard "
            "input, or a built-in data set.",
            autocompletion=complete_file,
        ),
    ]
    encoding: Annotated[Text, _option("NAME", "Encoding, if not UTF-8.")] = None
    decimal: Annotated[Text, _option("MARK", "Decimal mark: '.' or ','.")] = None
    sheet: Annotated[Text, _option("NAME", "Sheet of a workbook, by name or number.")] = None
    missing: Annotated[
        list[str] | None, _option("TEXT", "Text of a missing value; may be repeated.")
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first row names columns."),
    ] = None
    skip_rows: Annotated[int, _option("N", "Lines to skip above the table.")] = 0

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise BadInput(f"--decimal must be '.' or ','; got {self.decimal!r}")
        if self.skip_rows < 0:
            raise BadInput(f"--skip-rows must be at least 0; got {self.skip_rows}")


@dataclass(frozen=True)
class PointOptions:
    """The predictors, y, and the column that names the rows."""

    x: Xs = None
    y: X = None
    formula: Formula = None
    label: Label = None


@dataclass(frozen=True)
class SubsetOptions:
    """The number of rows and the objective."""

    keep: Keep = None
    drop: Drop = None
    objective: Objective = None


@dataclass(frozen=True)
class LimitOptions:
    """Limits of time and threads."""

    time_limit: Annotated[float | None, _option("S", "Stop after so many seconds.")] = None
    jobs: Annotated[int | None, _option("N", "Threads; default: all.")] = None


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster, and the folder for finished parts."""

    dask: Dask = None
    work: Annotated[Text, _option("DIR", "Folder for finished parts of the work.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the finished parts.")] = (
        False
    )


@dataclass(frozen=True)
class ClaimOptions:
    """What must not survive."""

    claim: Annotated[Text, _option("NAME", f"Claim to break: {', '.join(NAMES)}.")] = None
    level: Annotated[float | None, _option("P", "Significance level.")] = None
    threshold: Annotated[Text, _option("T", "For r2 a number; for slope an interval: 0.5,2.")] = (
        None
    )
    max_drop: Annotated[Text, _option("M", "The most rows to remove.")] = None


def expand(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are dataclasses are the options of their fields."""
    bundles: dict[str, Any] = {}
    parameters = {}
    for name, kind in get_type_hints(command, include_extras=True).items():
        if name == "return":
            continue
        if not is_dataclass(kind):
            default = inspect.signature(command).parameters[name].default
            parameters[name] = inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            continue
        bundles[name] = kind
        hints = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            parameters[field.name] = inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default,
                annotation=hints[field.name],
            )  # fmt: skip

    def run(**values: Any) -> None:
        for name, kind in bundles.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return run


_MIRRORED = (  # options that are called as the argument is
    "x", "y", "formula", "term", "controls", "groups", "weights", "vcov", "label", "drop",
    "max_drop", "objective", "method", "methods", "claim", "level", "threshold", "null",
    "permutations", "resample", "resamples", "lift", "proof", "time_limit", "memory_limit",
    "seed", "resume",
)  # fmt: skip
_RENAMED = {"keep": "k", "jobs": "n_jobs", "dask": "client", "work": "out"}  # and their arguments
SPELLED = {
    **{name: f"--{name.replace('_', '-')}" for name in _MIRRORED},
    **{argument: f"--{option}" for option, argument in _RENAMED.items()},
    "controls=fixed": "--fixed-controls",
}  # arguments as options, for messages


def given(*bundles: Any, **values: Any) -> dict[str, Any]:
    """Return the options that were given, as arguments."""
    found: dict[str, Any] = {}
    for bundle in bundles:
        found |= vars(bundle)
    arguments: dict[str, Any] = {}
    for name, value in (found | values).items():
        if value is not None and value is not False:
            is_amount = name in ("keep", "drop", "max_drop")
            arguments[_RENAMED.get(name, name)] = amount(name, value) if is_amount else value
    if "threshold" in arguments:
        arguments["threshold"] = _read_threshold(str(arguments["threshold"]))
    return arguments


def amount(name: str, text: str) -> int | float:
    """Read a count, or a share as 0.8 or 80%."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise BadInput(
            f"{SPELLED.get(name, f'--{name}')} must be a number, a share or a percentage; "
            f"got {brief(repr(text))}"
        ) from None


def _read_threshold(text: str) -> float | tuple[float, ...]:
    """Read a number, or two."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"--threshold must be a number or two, low,high; got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers

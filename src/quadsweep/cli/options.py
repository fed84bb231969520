"""Every option once: its name, what it takes, its help, and what a shell completes it with.

Options mirror the arguments of the function that a command asks. An option that was not given is
not passed on, so that defaults are those of the function.
"""

from __future__ import annotations

import os
import shlex
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer

from quadsweep.cli.ending import BadInput
from quadsweep.inputs.validation import brief
from quadsweep.objectives import OBJECTIVES
from quadsweep.solving.methods.problem import CHOICES

_COMPLETED = 1 << 24  # bytes of the largest file whose columns a shell completes


def complete_file(incomplete: str) -> list[str]:
    """Built-in data sets and files that begin so."""
    from quadsweep import datasets

    start = Path(incomplete)
    folder = start if incomplete.endswith("/") else start.parent
    files = [f"{one}/" if one.is_dir() else str(one) for one in folder.glob("*")]
    return [name for name in [*datasets.names(), *sorted(files)] if name.startswith(incomplete)]


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the command's file that begin so."""
    from quadsweep import datasets
    from quadsweep.cli.tables import FileOptions, open_table

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


def _column(help: str, *flags: str) -> Any:
    return typer.Option(*flags, metavar="COL", help=help, autocompletion=complete_column)


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Excel, Stata, SPSS, Parquet, Feather, JSON lines, '-' for standard input, "
        "or a built-in data set.",
        autocompletion=complete_file,
    ),
]
X = Annotated[str | None, _column("Column, by name or number.")]
Xs = Annotated[list[str] | None, _column("Column, by name or number; again for more.", "--x")]
Y = Annotated[str | None, _column("Column, by name or number.")]
Formula = Annotated[
    str | None, typer.Option(metavar="TEXT", help="'y ~ a + b + C(group)' instead of columns.")
]
DesignFormula = Annotated[
    str | None,
    typer.Option("--formula", metavar="TEXT", help='With controls: "wage ~ educ + age | region".'),
]
Term = Annotated[
    str | None, typer.Option(metavar="NAME", help="The formula's coefficient that it is about.")
]
Controls = Annotated[list[str] | None, _column("A control beside --x; again for more.")]
GroupsColumn = Annotated[str | None, _column("Remove whole groups of rows.", "--groups")]
Weights = Annotated[str | None, _column("Weights of weighted least squares.")]
Label = Annotated[str | None, _column("Column that names the rows.")]
Keep = Annotated[str | None, typer.Option(metavar="K", help="Points to keep: 40, 0.8 or 80%.")]
Drop = Annotated[str | None, typer.Option(metavar="M", help="Points to remove: 5, 0.1 or 10%.")]
MaxDrop = Annotated[str | None, typer.Option(metavar="M", help="The most rows to remove.")]
Objective = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help=f"{', '.join(OBJECTIVES)}.", autocompletion=complete_objective
    ),
]
Method = Annotated[str | None, typer.Option(metavar="NAME", help=f"{', '.join(CHOICES)}.")]
Permutations = Annotated[
    int | None, typer.Option(metavar="N", help="Shufflings of y to compare with.")
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table with a column inlier: .csv, .tsv or .parquet.",
    ),
]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf.")
]
Proof = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a proof, for quadsweep check.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
TimeLimit = Annotated[float | None, typer.Option(metavar="S", help="Seconds to stop after.")]
MemoryLimit = Annotated[
    float | None, typer.Option(metavar="GB", help="Gigabytes for the search; default: 1/4.")
]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Threads; default: all.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="For what is drawn at random.")]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A dask scheduler's address, or 'local' to start one."),
]
Work = Annotated[
    str | None, typer.Option(metavar="DIR", help="Keep finished parts of the work here.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the finished parts in the directory.")
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of a text file that is not UTF-8.")
]
Decimal = Annotated[str | None, typer.Option(metavar="MARK", help="Decimal mark: '.' or ','.")]
Sheet = Annotated[str | None, typer.Option(metavar="NAME", help="Of a workbook, name or number.")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first row names columns.")
]
SkipRows = Annotated[
    int | None, typer.Option(metavar="N", help="Lines above the table to leave out.")
]
Missing = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="Stands for no value; again for more.")
]

_MIRRORED = (  # options that are called as the argument is
    "x", "y", "formula", "term", "controls", "groups", "weights", "vcov", "label", "drop",
    "max_drop", "objective", "method", "methods", "claim", "level", "threshold", "null",
    "permutations", "resample", "resamples", "lift", "proof", "time_limit", "memory_limit",
    "seed", "resume",
)  # fmt: skip
SPELLED = {name: f"--{name.replace('_', '-')}" for name in _MIRRORED} | {
    "k": "--keep",
    "n_jobs": "--jobs",
    "client": "--dask",
    "out": "--work",
    "controls=fixed": "--fixed-controls",
}  # arguments as options, for messages


def given(**values: Any) -> dict[str, Any]:
    """The options that were given, as arguments."""
    return {n: value for n, value in values.items() if value is not None and value is not False}


def amount(option: str, text: str | None) -> int | float | None:
    """A count, or a share as 0.8 or 80%."""
    if text is None:
        return None
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise BadInput(
            f"{option} must be a number, a share or a percentage; got {brief(repr(text))}"
        ) from None

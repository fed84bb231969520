"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quadsweep.cli.ending import BadInput
from quadsweep.cli.points import NamedPoints
from quadsweep.inputs.validation import brief
from quadsweep.objectives import OBJECTIVES
from quadsweep.solving.methods.choice import CHOICES

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Excel, Stata, SPSS, Parquet, Feather, JSON lines, '-' for standard input, "
        "or a built-in data set.",
    ),
]
X = Annotated[str | None, typer.Option("--x", metavar="COL", help="Column, by name or number.")]
Xs = Annotated[
    list[str] | None,
    typer.Option("--x", metavar="COL", help="Column, by name or number; again for more of them."),
]
Formula = Annotated[
    str | None,
    typer.Option("--formula", metavar="TEXT", help="'y ~ a + b + C(group)' instead of columns."),
]
Y = Annotated[str | None, typer.Option("--y", metavar="COL", help="Column, by name or number.")]
Label = Annotated[
    str | None, typer.Option("--label", metavar="COL", help="Column that names the rows.")
]
By = Annotated[
    str | None, typer.Option("--by", metavar="COL", help="Ask for every value of this column.")
]
Keep = Annotated[
    str | None, typer.Option("--keep", metavar="K", help="Points to keep: 40, 0.8 or 80%.")
]
Drop = Annotated[
    str | None, typer.Option("--drop", metavar="M", help="Points to remove: 5, 0.1 or 10%.")
]
RegressionFormula = Annotated[
    str | None,
    typer.Option("--formula", metavar="F", help='With controls: "wage ~ educ + age | region".'),
]
Term = Annotated[
    str | None,
    typer.Option("--term", metavar="NAME", help="Whose coefficient of the formula it is about."),
]
Controls = Annotated[
    list[str] | None,
    typer.Option("--controls", metavar="COL", help="A control beside --x; may be repeated."),
]
Groups = Annotated[
    str | None, typer.Option("--groups", metavar="COL", help="Remove whole groups of rows.")
]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="COL", help="Of weighted least squares.")
]
Flagged = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table with a column inlier: .csv, .parquet.",
    ),
]
Goal = Annotated[
    str | None, typer.Option("--objective", metavar="NAME", help=f"{', '.join(OBJECTIVES)}.")
]
Method = Annotated[str, typer.Option("--method", metavar="NAME", help=f"{', '.join(CHOICES)}.")]
Picture = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Write a picture: .png, .svg or .pdf.")
]
ProofFile = Annotated[
    str | None,
    typer.Option("--proof", metavar="FILE", help="Write a proof, for quadsweep check."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", metavar="S", help="Seconds to stop after.")
]
MemoryLimit = Annotated[
    float | None,
    typer.Option("--memory-limit", metavar="GB", help="Gigabytes for the search; default: 1/4."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", metavar="N", help="Threads; default: all.")]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="A dask scheduler's address, or 'local' to start one."
    ),
]
Work = Annotated[
    str | None,
    typer.Option("--work", metavar="DIR", help="Keep finished parts of a large source here."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the finished files in the directory.")
]
Permutations = Annotated[
    int, typer.Option("--permutations", metavar="N", help="Shufflings of y to compare with.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="For what is drawn at random.")]


def amount(text: str | None, option: str) -> int | float | None:
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


def amounts(
    points: NamedPoints, keep: str | None, drop: str | None, needed: bool = True
) -> dict[str, Any]:
    """``k`` and ``drop`` for the solver; a built-in data set knows its own."""
    if keep is None and drop is None:
        if points.k is None and needed:
            raise BadInput("give --keep (points to keep) or --drop (points to remove)")
        return {"k": points.k, "drop": None}
    if keep is not None and drop is not None:
        raise BadInput("give --keep or --drop, not both")
    return {"k": amount(keep, "--keep"), "drop": amount(drop, "--drop")}

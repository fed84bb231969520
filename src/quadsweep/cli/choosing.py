"""``path``, ``significance``, ``stability``, ``compare``, ``pairwise``: what to think of a k."""

from __future__ import annotations

from dataclasses import replace

import typer

from quadsweep.cli.answering import answer, asked_once
from quadsweep.cli.ending import code_of_all
from quadsweep.cli.options import OPTIONS, Given, command
from quadsweep.cli.outofcore import answer_source, source_of
from quadsweep.cli.points import read_columns
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.presenting import show
from quadsweep.inputs.frames import table

_ROWS = "xs y formula keep drop"
_ANSWER = "label plot json time_limit jobs seed"


@command(
    f"xs y formula drop objective permutations null {_ANSWER} proof memory_limit dask work resume",
    asks="choosing.path:path",
    drop="The most points to drop; default: half.",
    permutations="Data sets to compare with; 99 with --null.",
)
def path_command(given: Given) -> None:
    """The best subset of every size, and how many rows stand out.

    Example: quadsweep path stars-cyg --drop 10 --null line --permutations 99 --plot path.png
    """
    source = source_of(given)
    if source is not None:
        answer_source(given, source)
    answer(given, read_predictors(given))


@command(
    f"{_ROWS} objective permutations by {_ANSWER} dask",
    asks="choosing.significance:significance",
)
def significance_command(given: Given) -> None:
    """How often noise alone does as well: the exact optimum of shuffled data.

    Example: quadsweep significance stars-cyg --drop 4 --permutations 999
    """
    answer(given, read_predictors(given))


@command(
    f"{_ROWS} objective resample resamples {_ANSWER} dask",
    asks="choosing.stability:stability",
)
def stability_command(given: Given) -> None:
    """How often each row is dropped when the data change a little.

    Example: quadsweep stability stars-cyg --drop 4 --plot stability.png
    """
    answer(given, read_predictors(given))


@command(f"{_ROWS} methods {_ANSWER}", asks="paper.comparators.compare:compare")
def compare_command(given: Given) -> None:
    """Other methods' lines and correlations beside the certified optimum.

    Example: quadsweep compare stars-cyg --drop 4 --plot lines.png
    """
    answer(given, read_predictors(given))


@command(
    "xs keep drop objective plot json time_limit jobs dask seed",
    asks="choosing.pairwise:pairwise",
    xs="A column; again for more. Default: all numeric.",
    objective=replace(OPTIONS["objective"], help="r2, r, cov or tv.", default="r"),
)
def pairwise_command(given: Given) -> None:
    """The trimmed correlation of every pair of columns, Pearson's beside it.

    Example: quadsweep pairwise birds.csv --drop 5% --plot matrix.png
    """
    found = asked_once(given, table(read_columns(given.file, given.xs)), **given.arguments())
    content = found.to_dict() if given.json else {}
    show(found, given.plot, given.json, {"source": given.file, **content})
    raise typer.Exit(code_of_all([found.status]))

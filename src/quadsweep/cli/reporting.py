"""``quadsweep report`` and ``explore``: a file's two columns on one page."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quadsweep import datasets
from quadsweep.cli.ending import BadInput, code_of_all, note
from quadsweep.cli.options import Given, Option, command
from quadsweep.cli.places import check_place, write_proof, writing
from quadsweep.cli.points import read_page_table, read_points
from quadsweep.cli.regressions import FORMULA, is_regression, outcome_of, read_regression

if TYPE_CHECKING:
    from quadsweep.report import Report
    from quadsweep.report.live import Table

_LIMITS = ("time_limit", "n_jobs")
_FLAGS = ("--output", "-o")
_FILE = typer.Argument(metavar="[FILE]", help="As for solve; without one, an empty page.")


@command(
    "x y keep drop objective permutations term controls groups weights label time_limit jobs seed "
    "proof",
    asks="report:gather",
    formula=FORMULA,
    output=Option("Where the page goes.", "FILE", flags=_FLAGS, default="report.html"),
)
def report_command(given: Given) -> None:
    """One self-contained page: the points, the path, the caveats.

    Example: quadsweep report weights.csv -o report.html --drop 3

    With controls: quadsweep report wages.csv --formula "wage ~ educ + C(region)" --term educ
    """
    from quadsweep.report import to_html
    from quadsweep.solving.solve import solve

    file, x, y, output = given.file, given.x, given.y, given.output
    check_place(output)
    regression = None
    if is_regression(given):
        if file == "-":
            raise BadInput("a report with controls reads its file twice; give a file")
        regression = read_regression(given).arguments
        x, y = x or given.term, y or outcome_of(given)
    points = read_points(file, x, y, given.label)
    report = given.function(
        points.columns,
        **given.arguments(points),
        source=points.source,
        command=shlex.join(["quadsweep", *sys.argv[1:]]),
        progress=sys.stderr.isatty(),
        regression=regression,
    )
    for section, why in report.failures.items():
        note(f"the page has no {section}: {why}")
    if given.proof is not None:
        asked = {name: v for name, v in given.arguments().items() if name in _LIMITS}
        asked |= {"k": report.answer.k, "objective": report.answer.objective}
        known = solve(points.columns, **asked, nan_policy="omit", proof=True)
        write_proof(known.proof, given.proof)
        if known.proof is not None:
            report = replace(report, proof=os.path.relpath(given.proof, Path(output).parent))
    page = to_html(report, _table(file, x, y, given.label, report))
    with writing(output):
        Path(output).write_text(page, encoding="utf-8")
    raise typer.Exit(code_of_all(report.path.status.tolist()))


def _table(
    file: str, x: str | None, y: str | None, label: str | None, report: Report
) -> Table | None:
    """The data once more, for the page that solves; None where it can be read only once."""
    from quadsweep.report.live import available

    answer = report.answer
    readable = Path(file).is_file() or file in datasets.names()
    if not available() or not readable or len(answer.names) != 2:
        return None
    table = read_page_table(file, x or answer.names[0], y or answer.names[1], label)
    return replace(table, drop=answer.n - answer.k, objective=answer.objective)


@command(
    "x y label",
    asks="exploring:page_of",
    arguments={"file": Annotated[str | None, _FILE]},
    output=Option("Write the page, open nothing.", "FILE", flags=_FLAGS),
)
def explore_command(given: Given) -> None:
    """A page that solves: move points, drop rows, try columns; nothing leaves the machine.

    Example: quadsweep explore weights.csv -o explore.html
    """
    file, output = given.file, given.output
    tables = [] if file is None else [read_page_table(file, given.x, given.y, given.label)]
    page = given.function(tables, "quadsweep" if file is None else tables[0].source)
    if output is None:
        target = Path(tempfile.mkdtemp(prefix="quadsweep-")) / "explore.html"
        target.write_text(page, encoding="utf-8")
        note(f"opening {target}")
        webbrowser.open(target.as_uri())
        return
    with writing(output):
        Path(output).write_text(page, encoding="utf-8")

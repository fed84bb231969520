"""``quadsweep report`` and ``explore``: a file's two columns on one page."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quadsweep import datasets
from quadsweep.cli import options as opt
from quadsweep.cli.ending import BadInput, code_of_all, note
from quadsweep.cli.options import given
from quadsweep.cli.places import check_place, write_proof, writing
from quadsweep.cli.points import read_page_table, read_points
from quadsweep.cli.regressions import RegressionOptions, read_regression

if TYPE_CHECKING:
    from quadsweep.report import Report
    from quadsweep.report.live import Table


def report_command(
    *,
    table: opt.FileOptions,
    design: RegressionOptions,
    subset: opt.SubsetOptions,
    permutations: opt.Permutations = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File of the page.")
    ] = "report.html",
    proof: opt.Proof = None,
    limits: opt.LimitOptions,
    seed: opt.Seed = None,
) -> None:
    """Write one self-contained page: the points, the path, the caveats.

    Example: quadsweep report weights.csv -o report.html --drop 3

    With controls: quadsweep report wages.csv --formula "wage ~ educ + C(region)" --term educ
    """
    from quadsweep.report import gather, to_html
    from quadsweep.solving.solve import solve

    check_place(output)
    check_place(proof)
    x, y, regression = design.x, design.y, None
    if design.is_regression:
        if table.file == "-":
            raise BadInput("a report with controls reads its file twice; give a file")
        regression = read_regression(table, design).arguments
        x, y = x or design.term, y or design.outcome
    points = read_points(table, x, y, design.label)
    asked = given(subset, limits, permutations=permutations, seed=seed)
    report = gather(
        points.columns,
        **asked | points.suggest("k", "objective", unless=asked),
        source=points.source,
        command=shlex.join(["quadsweep", *sys.argv[1:]]),
        progress=sys.stderr.isatty(),
        regression=regression,
    )
    for section, why in report.failures.items():
        note(f"the page has no {section}: {why}")
    if proof is not None:
        same: dict[str, Any] = {"k": report.answer.k, "objective": report.answer.objective}
        known = solve(points.columns, **same, **given(limits), nan_policy="omit", proof=True)
        write_proof(known.proof, proof)
        if known.proof is not None:
            report = replace(report, proof=os.path.relpath(proof, Path(output).parent))
    page = to_html(report, _table(table, x, y, design.label, report))
    with writing(output):
        Path(output).write_text(page, encoding="utf-8")
    raise typer.Exit(code_of_all(report.path.status.tolist()))


def _table(
    options: opt.FileOptions, x: str | None, y: str | None, label: str | None, report: Report
) -> Table | None:
    """Read the data once more, with all columns; None where they can be read only once."""
    answer = report.answer
    readable = Path(options.file).is_file() or options.file in datasets.names()
    if not readable or len(answer.names) != 2:
        return None
    return read_page_table(options, x or answer.names[0], y or answer.names[1], label)


@dataclass(frozen=True)
class OptionalFile(opt.FileOptions):
    """The same without a file."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="A table, as for solve; without it the page is empty.",
        ),
    ] = ""


def explore_command(
    *,
    table: OptionalFile,
    x: opt.X = None,
    y: opt.X = None,
    label: opt.Label = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the page, open nothing."),
    ] = None,
) -> None:
    """Open an interactive page that solves; no data leave the machine.

    Example: quadsweep explore weights.csv -o explore.html
    """
    from quadsweep.exploring import page_of

    tables = []
    if table.file:
        tables = [read_page_table(table, x, y, label)]
    page = page_of(tables, tables[0].source if tables else "quadsweep")
    target = Path(output or Path(tempfile.mkdtemp(prefix="quadsweep-")) / "explore.html")
    with writing(str(target)):
        target.write_text(page, encoding="utf-8")
    if output is None:
        webbrowser.open(target.as_uri())

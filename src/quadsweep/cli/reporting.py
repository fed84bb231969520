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
from quadsweep.cli import options
from quadsweep.cli.ending import BadInput, code_of_all, note
from quadsweep.cli.points import read_page_table, read_points
from quadsweep.cli.proving import check_place, save_proof
from quadsweep.cli.regressions import Asked, outcome_of, read_regression
from quadsweep.solving.solve import solve

if TYPE_CHECKING:
    from quadsweep.report import Report
    from quadsweep.report.live import Table


def report_command(
    file: options.File,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes.")
    ] = "report.html",
    x: options.X = None,
    y: options.Y = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    objective: options.Goal = None,
    permutations: options.Permutations = 99,
    formula: options.RegressionFormula = None,
    term: options.Term = None,
    controls: options.Controls = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    label: options.Label = None,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    proof: options.ProofFile = None,
) -> None:
    """One self-contained page: the points, the path, the caveats.

    Example: quadsweep report weights.csv -o report.html --drop 3

    With controls: quadsweep report wages.csv --formula "wage ~ educ + C(region)" --term educ
    """
    from quadsweep.report import gather, to_html

    path = Path(output)
    if not path.parent.is_dir():
        raise BadInput(f"{path.parent} is not a directory, so {output} cannot be written")
    check_place(proof)
    regression = Asked(x, y, formula, term, controls or [], groups, weights, label=label)
    read = None
    if regression.regression:
        if file == "-":
            raise BadInput("a report with controls reads its file twice; give a file")
        read = read_regression(file, regression)
        x, y = x or term, y or outcome_of(regression)
    points = read_points(file, x, y, label)
    asked = options.amounts(points, keep, drop, needed=False)
    report = gather(
        points.columns,
        **asked,
        objective=objective or points.objective or "r2",
        permutations=permutations,
        time_limit=time_limit,
        n_jobs=jobs,
        seed=seed,
        source=points.source,
        command=shlex.join(["quadsweep", *sys.argv[1:]]),
        progress=sys.stderr.isatty(),
        regression=None if read is None else read.arguments,
    )
    for section, why in report.failures.items():
        note(f"the page has no {section}: {why}")
    if proof is not None:
        answer = report.answer
        known = solve(
            points.columns,
            k=answer.k,
            objective=answer.objective,
            time_limit=time_limit,
            n_jobs=jobs,
            nan_policy="omit",
            proof=True,
        )
        save_proof(known.proof, proof)
        if known.proof is not None:
            report = replace(report, proof=os.path.relpath(proof, path.parent))
    try:
        path.write_text(to_html(report, _table(file, x, y, label, report)), encoding="utf-8")
    except OSError as wrong:
        raise BadInput(f"{output} cannot be written: {wrong.strerror}") from None
    note(f"wrote {output}")
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


def explore_command(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="As for solve; without one, an empty page."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the page, open nothing."),
    ] = None,
    x: options.X = None,
    y: options.Y = None,
    label: options.Label = None,
) -> None:
    """A page that solves: move points, drop rows, try columns; nothing leaves the machine.

    Example: quadsweep explore weights.csv -o explore.html
    """
    from quadsweep.exploring import page_of

    tables = [] if file is None else [read_page_table(file, x, y, label)]
    page = page_of(tables, "quadsweep" if file is None else tables[0].source)
    if output is None:
        folder = Path(tempfile.mkdtemp(prefix="quadsweep-"))
        target = folder / "explore.html"
        target.write_text(page, encoding="utf-8")
        note(f"opening {target}")
        webbrowser.open(target.as_uri())
        return
    try:
        Path(output).write_text(page, encoding="utf-8")
    except OSError as wrong:
        raise BadInput(f"{output} cannot be written: {wrong.strerror}") from None
    note(f"wrote {output}")

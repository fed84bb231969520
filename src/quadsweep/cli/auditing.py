"""``quadsweep audit``: on how few rows a finding depends."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep.auditing.claims import NAMES
from quadsweep.cli import options as opt
from quadsweep.cli.answering import Outputs, answer
from quadsweep.cli.ending import BadInput
from quadsweep.cli.options import amount, given
from quadsweep.cli.outofcore import answer_source, find_source
from quadsweep.cli.points import read_points
from quadsweep.cli.regressions import RegressionOptions, answer_regression
from quadsweep.cli.tables import FileOptions


def audit_command(
    file: opt.File,
    x: opt.X = None,
    y: opt.Y = None,
    claim: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"What must not survive: {', '.join(NAMES)}.")
    ] = None,
    level: Annotated[
        float | None, typer.Option(metavar="P", help="Of the significance test.")
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(metavar="T", help="For r2 a number; for slope an interval: 0.5,2."),
    ] = None,
    max_drop: opt.MaxDrop = None,
    formula: opt.DesignFormula = None,
    term: opt.Term = None,
    controls: opt.Controls = None,
    groups: opt.GroupsColumn = None,
    weights: opt.Weights = None,
    vcov: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="HC0 to HC3, or clusters: firm, firm+year."),
    ] = None,
    fixed_controls: Annotated[
        bool, typer.Option("--fixed-controls", help="Do not refit the controls: approximate.")
    ] = False,
    label: opt.Label = None,
    plot: opt.Plot = None,
    proof: opt.Proof = None,
    as_json: opt.Json = False,
    time_limit: opt.TimeLimit = None,
    memory_limit: opt.MemoryLimit = None,
    jobs: opt.Jobs = None,
    seed: opt.Seed = None,
    dask: opt.Dask = None,
    work: opt.Work = None,
    resume: opt.Resume = False,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    missing: opt.Missing = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
) -> None:
    """The fewest rows whose removal changes the conclusion, proved.

    Example: quadsweep audit trial.csv --x dose --y effect --claim significance --plot trial.png

    Larger than memory: quadsweep audit 'logs/*.parquet' --x size --y seconds

    With controls: quadsweep audit wages.csv --formula "wage ~ educ + C(region)" --term educ

    Fixed effects: quadsweep audit wages.csv --formula "wage ~ educ | firm" --term educ --vcov firm
    """
    from quadsweep.auditing.audit import audit

    options = FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0)
    outputs = Outputs(plot, as_json, proof)
    design = RegressionOptions(
        x, y, formula, term, controls, groups, weights, vcov, fixed_controls, label
    ).published(file)
    asked = given(
        claim=claim, level=level, threshold=_numbers(threshold),
        max_drop=amount("--max-drop", max_drop), time_limit=time_limit, memory_limit=memory_limit,
        n_jobs=jobs, seed=seed, client=dask, out=work, resume=resume,
    )  # fmt: skip
    if design.is_regression:
        answer_regression(audit, options, design, outputs, asked)
    in_core = label is not None or proof is not None
    source = None if in_core else find_source(file, [x] if x else None, y, memory_limit)
    if source is not None:
        answer_source(audit, source, file, outputs, asked)
    answer(audit, read_points(options, x, y, label), outputs, asked)


def _numbers(text: str | None) -> float | tuple[float, ...] | None:
    """A threshold: a number, or two."""
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"--threshold must be a number or two, low,high; got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers

"""``quadsweep audit``: how few rows carry the finding."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep.cli import options
from quadsweep.cli.answering import answer
from quadsweep.cli.ending import BadInput
from quadsweep.cli.passes import answer_source, source_of
from quadsweep.cli.points import read_points
from quadsweep.cli.presenting import check_picture
from quadsweep.cli.proving import check_place, saving
from quadsweep.cli.regressions import Asked, answer_regression


def audit_command(
    file: options.File,
    x: options.X = None,
    y: options.Y = None,
    claim: Annotated[
        str,
        typer.Option("--claim", metavar="NAME", help="sign, significance, reverse, r2 or slope."),
    ] = "sign",
    level: Annotated[
        float, typer.Option("--level", metavar="P", help="Of the significance test.")
    ] = 0.05,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold", metavar="T", help="For r2 a number; for slope an interval: 0.5,2."
        ),
    ] = None,
    max_drop: Annotated[
        str | None, typer.Option("--max-drop", metavar="M", help="The most rows to remove.")
    ] = None,
    formula: options.RegressionFormula = None,
    term: options.Term = None,
    controls: options.Controls = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    vcov: Annotated[
        str | None,
        typer.Option("--vcov", metavar="NAME", help="HC0 to HC3, or clusters: firm, firm+year."),
    ] = None,
    fixed: Annotated[
        bool, typer.Option("--fixed-controls", help="Do not refit the controls: approximate.")
    ] = False,
    by: options.By = None,
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    proof: options.ProofFile = None,
    memory_limit: options.MemoryLimit = None,
    dask: options.Dask = None,
    work: options.Work = None,
    resume: options.Resume = False,
) -> None:
    """The fewest rows whose removal changes the conclusion, proved.

    Example: quadsweep audit trial.csv --x dose --y effect --claim significance --plot trial.png

    Larger than memory: quadsweep audit 'logs/*.parquet' --x size --y seconds

    With controls: quadsweep audit wages.csv --formula "wage ~ educ + C(region)" --term educ

    Fixed effects: quadsweep audit wages.csv --formula "wage ~ educ | firm" --term educ --vcov firm
    """
    from quadsweep.auditing.audit import audit

    asked = Asked(x, y, formula, term, controls or [], groups, weights, vcov, fixed, label)
    asked = asked.of_data_set(file)
    check_picture(plot)
    if asked.regression:
        if by is not None:
            raise BadInput("--by is for --x and --y alone; leave the options of a regression")
        check_place(proof)
        answer_regression(
            audit if proof is None else saving(audit, proof), file, asked, plot=plot, json=json,
            time_limit=time_limit, jobs=jobs, seed=seed, claim=claim, level=level,
            threshold=_threshold(threshold), max_drop=options.amount(max_drop, "--max-drop"),
        )  # fmt: skip
    if by is not None and proof is not None:
        raise BadInput("--proof is for one answer; leave --by")
    source = None
    if by is None and label is None and proof is None:
        source = source_of(file, None if x is None else [x], y, memory_limit)
    if source is not None:
        answer_source(
            audit,
            source,
            file,
            plot=plot,
            json=json,
            claim=claim,
            level=level,
            threshold=_threshold(threshold),
            max_drop=options.amount(max_drop, "--max-drop"),
            time_limit=time_limit,
            n_jobs=jobs,
            seed=seed,
            memory_limit=memory_limit,
            client=dask,
            out=work,
            resume=resume,
        )
    points = read_points(file, x, y, label, by)
    check_place(proof)
    answer(
        audit if proof is None else saving(audit, proof),
        points,
        claim=claim,
        level=level,
        threshold=_threshold(threshold),
        max_drop=options.amount(max_drop, "--max-drop"),
        plot=plot,
        json=json,
        time_limit=time_limit,
        jobs=jobs,
        seed=seed,
    )


def _threshold(text: str | None) -> float | tuple[float, ...] | None:
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"--threshold must be a number or two, low,high; got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers

"""``path``, ``significance``, ``stability``, ``pairwise``: how many rows to drop."""

from __future__ import annotations

import sys
from typing import Annotated

import numpy as np
import typer

from quadsweep.cli import options as opt
from quadsweep.cli.answering import Outputs, answer, fitted
from quadsweep.cli.ending import code_of, print_json, width
from quadsweep.cli.options import amount, given
from quadsweep.cli.points import read_columns
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.tables import FileOptions
from quadsweep.inputs.frames import table
from quadsweep.results.formatting import aligned, figure, plain


def path_command(
    file: opt.File,
    x: opt.Xs = None,
    y: opt.Y = None,
    formula: opt.Formula = None,
    drop: Annotated[
        str | None, typer.Option(metavar="M", help="The most points to drop; default: half.")
    ] = None,
    objective: opt.Objective = None,
    permutations: Annotated[
        int | None, typer.Option(metavar="N", help="Data sets to compare with; 99 with --null.")
    ] = None,
    null: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Compare with y 'shuffled', a clean 'line', or one with 'normal' noise.",
        ),
    ] = None,
    label: opt.Label = None,
    plot: opt.Plot = None,
    proof: opt.Proof = None,
    as_json: opt.Json = False,
    time_limit: opt.TimeLimit = None,
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
    """The best subset of every size, and how many rows stand out.

    Example: quadsweep path stars-cyg --drop 10 --null line --permutations 99 --plot path.png
    """
    from quadsweep.choosing.path import path

    options = FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0)
    outputs = Outputs(plot, as_json, proof)
    asked = given(
        drop=amount("--drop", drop), objective=objective, permutations=permutations, null=null,
        time_limit=time_limit, n_jobs=jobs, seed=seed,
        client=dask, out=work, resume=resume,
    )  # fmt: skip
    points = read_predictors(options, x, y, formula, label)
    answer(path, points, outputs, asked | points.suggest("objective", unless=asked))


def significance_command(
    file: opt.File,
    x: opt.Xs = None,
    y: opt.Y = None,
    formula: opt.Formula = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    objective: opt.Objective = None,
    permutations: opt.Permutations = None,
    label: opt.Label = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
    time_limit: opt.TimeLimit = None,
    jobs: opt.Jobs = None,
    seed: opt.Seed = None,
    dask: opt.Dask = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    missing: opt.Missing = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
) -> None:
    """How often noise alone does as well: the exact optimum of shuffled data.

    Example: quadsweep significance stars-cyg --drop 4 --permutations 999
    """
    from quadsweep.choosing.significance import significance

    options, outputs = (
        FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0),
        Outputs(plot, as_json),
    )
    asked = given(
        k=amount("--keep", keep), drop=amount("--drop", drop), objective=objective,
        permutations=permutations, time_limit=time_limit, n_jobs=jobs, seed=seed, client=dask,
    )  # fmt: skip
    points = read_predictors(options, x, y, formula, label)
    answer(significance, points, outputs, asked | points.suggest("k", "objective", unless=asked))


def stability_command(
    file: opt.File,
    x: opt.Xs = None,
    y: opt.Y = None,
    formula: opt.Formula = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    objective: opt.Objective = None,
    resample: Annotated[
        str | None, typer.Option(metavar="NAME", help="bootstrap or jackknife.")
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(metavar="N", help="Data sets of the bootstrap.")
    ] = None,
    label: opt.Label = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
    time_limit: opt.TimeLimit = None,
    jobs: opt.Jobs = None,
    seed: opt.Seed = None,
    dask: opt.Dask = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    missing: opt.Missing = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
) -> None:
    """How often each row is dropped when the data change a little.

    Example: quadsweep stability stars-cyg --drop 4 --plot stability.png
    """
    from quadsweep.choosing.stability import stability

    options, outputs = (
        FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0),
        Outputs(plot, as_json),
    )
    asked = given(
        k=amount("--keep", keep), drop=amount("--drop", drop), objective=objective,
        resample=resample, resamples=resamples, time_limit=time_limit, n_jobs=jobs, seed=seed,
        client=dask,
    )  # fmt: skip
    points = read_predictors(options, x, y, formula, label)
    answer(stability, points, outputs, asked | points.suggest("k", "objective", unless=asked))


def pairwise_command(
    file: opt.File,
    x: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column; again for more. Default: all numeric."),
    ] = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    objective: Annotated[str, typer.Option(metavar="NAME", help="r2, r, cov or tv.")] = "r",
    as_json: opt.Json = False,
    time_limit: opt.TimeLimit = None,
    jobs: opt.Jobs = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    missing: opt.Missing = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
) -> None:
    """The trimmed correlation of every pair of columns, Pearson's beside it.

    Example: quadsweep pairwise birds.csv --drop 5%
    """
    from quadsweep.choosing.pairwise import solve_pairs

    options = FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0)
    asked = given(
        k=amount("--keep", keep), drop=amount("--drop", drop), objective=objective,
        time_limit=time_limit, n_jobs=jobs,
    )  # fmt: skip
    columns = table(read_columns(options, x))
    pairs, status = solve_pairs(columns, progress=sys.stderr.isatty(), **asked)
    if as_json:
        print_json({"source": file, "status": status, **plain(pairs)})
    else:
        strongest = np.argsort(-np.nan_to_num(np.abs(pairs["r"]), nan=-1.0), kind="stable")
        rows = [[figure(v) if isinstance(v, float) else str(v) for v in row]
                for row in zip(*(values for values in pairs.values()), strict=True)]  # fmt: skip
        grid, _ = fitted([list(pairs), *(rows[i] for i in strongest)], width())
        typer.echo(aligned(grid))
    raise typer.Exit(code_of(status))

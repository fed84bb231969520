"""``path``, ``significance``, ``stability``, ``compare``, ``pairwise``: distrusting the answer."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from quadsweep.cli import options
from quadsweep.cli.answering import answer
from quadsweep.cli.ending import BadInput, code_of_all
from quadsweep.cli.passes import answer_source, source_of
from quadsweep.cli.points import read_columns
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.presenting import check_picture, show
from quadsweep.cli.proving import check_place, saving
from quadsweep.inputs.frames import table as frame_of


def path_command(
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    drop: Annotated[
        str | None,
        typer.Option("--drop", metavar="M", help="The most points to drop; default: half."),
    ] = None,
    objective: options.Goal = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", metavar="N", help="Data sets to compare with; 99 with --null."
        ),
    ] = None,
    null: Annotated[
        str,
        typer.Option(
            "--null",
            metavar="NAME",
            help="Compare with y 'shuffled', a clean 'line', or one with 'normal' noise.",
        ),
    ] = "shuffled",
    label: options.Label = None,
    plot: options.Picture = None,
    proof: options.ProofFile = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
) -> None:
    """The best subset of every size, and how many rows stand out.

    Example: quadsweep path stars-cyg --drop 10 --null line --permutations 99 --plot path.png
    """
    from quadsweep.choosing.path import path

    check_picture(plot)
    source = None if formula or label else source_of(file, x, y, memory_limit)
    if source is not None:
        if proof is not None:
            raise BadInput("--proof is for rows in memory; data in parts have none")
        answer_source(
            path, source, file, plot=plot, json=json, drop=options.amount(drop, "--drop"),
            objective=objective or "r2", permutations=permutations, null=null,
            time_limit=time_limit, n_jobs=jobs, seed=seed, memory_limit=memory_limit,
        )  # fmt: skip
    points = read_predictors(file, x, y, formula, label)
    check_place(proof)
    answer(
        path if proof is None else saving(path, proof),
        points,
        drop=options.amount(drop, "--drop"),
        objective=objective or points.objective or "r2",
        permutations=permutations,
        null=null,
        statuses=lambda found: found.status.tolist(),
        plot=plot,
        json=json,
        time_limit=time_limit,
        jobs=jobs,
        seed=seed,
    )


def significance_command(
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    objective: options.Goal = None,
    permutations: options.Permutations = 999,
    by: options.By = None,
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    seed: options.Seed = 0,
) -> None:
    """How often noise alone does as well: the exact optimum of shuffled data.

    Example: quadsweep significance stars-cyg --drop 4 --permutations 999
    """
    from quadsweep.choosing.significance import significance

    points = read_predictors(file, x, y, formula, label, by)
    check_picture(plot)
    answer(
        significance,
        points,
        **options.amounts(points, keep, drop),
        objective=objective or points.objective or "r2",
        permutations=permutations,
        client=dask,
        statuses=lambda found: [found.status, found.result.status],
        plot=plot,
        json=json,
        time_limit=time_limit,
        jobs=jobs,
        seed=seed,
    )


def stability_command(
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    objective: options.Goal = None,
    resample: Annotated[
        str, typer.Option("--resample", metavar="NAME", help="bootstrap or jackknife.")
    ] = "bootstrap",
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", help="Data sets of the bootstrap.")
    ] = 200,
    margin: Annotated[
        float | None,
        typer.Option("--margin", metavar="S", help="Near-optimal: within this share of the value."),
    ] = None,
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    seed: options.Seed = 0,
) -> None:
    """How often each row is dropped when the data change a little, and what else comes near.

    Example: quadsweep stability stars-cyg --drop 4 --plot stability.png
    """
    from quadsweep.choosing.stability import stability

    points = read_predictors(file, x, y, formula, label)
    check_picture(plot)
    answer(
        stability,
        points,
        **options.amounts(points, keep, drop),
        objective=objective or points.objective or "r2",
        resample=resample,
        resamples=resamples,
        margin=margin,
        client=dask,
        statuses=lambda found: [found.status, found.result.status],
        plot=plot,
        json=json,
        time_limit=time_limit,
        jobs=jobs,
        seed=seed,
    )


def compare_command(
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    methods: Annotated[
        str | None,
        typer.Option("--methods", metavar="A,B", help="Which of them; default: all."),
    ] = None,
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
) -> None:
    """Other methods' lines and correlations beside the certified optimum.

    Example: quadsweep compare stars-cyg --drop 4 --plot lines.png
    """
    from quadsweep.paper.comparators.compare import compare

    points = read_predictors(file, x, y, formula, label)
    check_picture(plot)
    answer(
        compare,
        points,
        **options.amounts(points, keep, drop),
        methods=None if methods is None else [name.strip() for name in methods.split(",")],
        statuses=lambda found: [found.status, found.result.status],
        plot=plot,
        json=json,
        time_limit=time_limit,
        jobs=jobs,
        seed=seed,
    )


def pairwise_command(
    file: options.File,
    x: Annotated[
        list[str] | None,
        typer.Option("--x", metavar="COL", help="A column; again for more. Default: all numeric."),
    ] = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    objective: Annotated[
        str, typer.Option("--objective", metavar="NAME", help="r2, r, cov or tv.")
    ] = "r",
    p_values: Annotated[
        str, typer.Option("--p-values", metavar="NAME", help="own, pooled or none.")
    ] = "own",
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", metavar="N", help="Shuffles, at most; default: enough for Holm."
        ),
    ] = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Parquet files, for many columns."),
    ] = None,
    resume: options.Resume = False,
    seed: options.Seed = 0,
) -> None:
    """The trimmed correlation of every pair of columns, Pearson's beside it.

    Example: quadsweep pairwise birds.csv --drop 5% --plot matrix.png
    """
    from quadsweep.choosing.pairwise import pairwise

    check_picture(plot)
    columns = read_columns(file, x)
    if keep is None and drop is None:
        raise BadInput("give --keep (rows to keep) or --drop (rows to remove)")
    found = pairwise(
        frame_of(columns),
        k=options.amount(keep, "--keep"),
        drop=options.amount(drop, "--drop"),
        objective=objective,
        p_values=None if p_values == "none" else p_values,
        permutations=permutations,
        client=dask,
        out=out,
        resume=resume,
        time_limit=time_limit,
        n_jobs=jobs,
        seed=seed,
        progress=sys.stderr.isatty(),
    )
    show(found, plot, json, {"source": file, **(found.to_dict() if json else {})})
    raise typer.Exit(code_of_all([found.status]))

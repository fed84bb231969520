"""``quadsweep path``, ``significance`` and ``compare``: choosing k and distrusting the answer."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep.cli import options
from quadsweep.cli.answering import answer
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.presenting import check_picture


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
    permutations: options.Permutations = 0,
    null: Annotated[
        str,
        typer.Option("--null", metavar="NAME", help="Compare with y 'shuffled' or a clean 'line'."),
    ] = "shuffled",
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
) -> None:
    """The best subset of every size, and how many rows stand out.

    Example: quadsweep path stars-cyg --drop 10 --null line --permutations 99 --plot path.png
    """
    from quadsweep.choosing.path import path

    points = read_predictors(file, x, y, formula, label)
    check_picture(plot)
    answer(
        path,
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
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
) -> None:
    """How often noise alone does as well: the exact optimum of shuffled data.

    Example: quadsweep significance stars-cyg --drop 4 --permutations 999
    """
    from quadsweep.choosing.significance import significance

    points = read_predictors(file, x, y, formula, label)
    check_picture(plot)
    answer(
        significance,
        points,
        **options.amounts(points, keep, drop),
        objective=objective or points.objective or "r2",
        permutations=permutations,
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
    from quadsweep.comparators.compare import compare

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

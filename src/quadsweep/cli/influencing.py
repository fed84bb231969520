"""``quadsweep influence``: how far a few removals can move a slope."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep.cli import options
from quadsweep.cli.answering import answer
from quadsweep.cli.points import read_points
from quadsweep.cli.presenting import check_picture
from quadsweep.cli.regressions import Asked, answer_regression


def influence_command(
    file: options.File,
    x: options.X = None,
    y: options.Y = None,
    max_drop: Annotated[
        str | None,
        typer.Option("--max-drop", metavar="M", help="The most rows; default: 5%, at most 20."),
    ] = None,
    formula: options.RegressionFormula = None,
    term: options.Term = None,
    controls: options.Controls = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
) -> None:
    """How far the slope, r and R2 can be moved by removing up to m rows, with bounds.

    Example: quadsweep influence stars-cyg --max-drop 4 --plot funnel.png
    """
    from quadsweep.auditing.influence import influence_curve

    check_picture(plot)
    most = options.amount(max_drop, "--max-drop")
    asked = Asked(x, y, formula, term, controls or [], groups, weights, label=label)
    asked = asked.of_data_set(file)
    if asked.regression:
        answer_regression(
            influence_curve, file, asked, max_drop=most, plot=plot, json=json,
            time_limit=time_limit, jobs=jobs, seed=seed,
        )  # fmt: skip
    answer(
        influence_curve,
        read_points(file, x, y, label),
        max_drop=most,
        plot=plot,
        json=json,
        time_limit=time_limit,
        jobs=jobs,
        seed=seed,
    )

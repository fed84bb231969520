"""``quadsweep separate`` and ``counterexamples``: does a conic, or quadric, cut the best off?"""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep.cli import options
from quadsweep.cli.ending import (
    DONE,
    LIMITED,
    BadInput,
    code_of,
    fail,
    note,
    print_json,
    print_pairs,
)
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.presenting import as_object, check_picture, described, draw
from quadsweep.cli.solving import solved, solver_options
from quadsweep.inputs.frames import Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.results.formatting import renumbered


def separate_command(
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    lift: Annotated[
        str | None,
        typer.Option("--lift", metavar="NAME", help="L2, L3c, L3d, L3t, L4 or L5; one --x."),
    ] = None,
    objective: options.Goal = None,
    method: options.Method = "auto",
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
) -> None:
    """Whether a conic, or a quadric of more --x, cuts the best subset off, decided exactly.

    Example: quadsweep separate nonseparable-r2 --lift L5
    """
    from quadsweep.paper.separability.separate import separate

    points = read_predictors(file, x, y, formula, label)
    check_picture(plot)
    asked = solver_options(points, keep, drop, objective, method, time_limit, jobs, seed=0)
    result = solved(points, asked)
    used = result.used
    labels = [points.labels[i] for i in used]
    several = len(points.names) > 2
    found = separate(
        Columns(points.x[used], points.y[used], points.names, labels),
        inliers=result.mask[used],
        lift=lift or (None if several else OBJECTIVES[result.objective].lift),
        time_limit=time_limit,
    )
    if plot is not None:
        draw(found, plot)
    if json:
        certificate = renumbered(found.to_dict(), labels, points.called)
        certificate["weights"] = {str(labels[int(i)]): w for i, w in certificate["weights"].items()}
        print_json({**as_object(result, points, result.omitted), "separation": certificate})
    else:
        kept = (result.title, f"{result.value:.6g} on {result.k:,} of {result.n:,} points")
        print_pairs([("data", described(points)), kept, *found.summary_items()])
    undecided = LIMITED if found.separable is None else DONE
    raise typer.Exit(code_of(result.status) or undecided)


def counterexamples_command(
    verify: Annotated[
        bool, typer.Option("--verify", help="Prove the known ones from their integers.")
    ] = False,
    search: Annotated[bool, typer.Option("--search", help="Look for a new one.")] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="How long to search.")
    ] = 600.0,
    objective: Annotated[
        str, typer.Option("--objective", metavar="NAME", help="r2, r, cov or dv.")
    ] = "r2",
    n: Annotated[int | None, typer.Option("--n", metavar="N", help="Points.")] = None,
    k: Annotated[int | None, typer.Option("--k", metavar="K", help="Points kept.")] = None,
    seed: options.Seed = 0,
) -> None:
    """Data whose best subset no conic cuts off: the proofs, or new ones.

    Example: quadsweep counterexamples --search --seconds 60 --objective dv
    """
    from quadsweep.paper import counterexamples

    if verify and search:
        raise BadInput("give --verify or --search, not both")
    if not search:
        proofs = counterexamples.verify()
        wrong = [proof.example.name for proof in proofs if not proof.valid]
        raise typer.Exit(fail(f"not proved: {', '.join(wrong)}", 1) if wrong else DONE)
    found = counterexamples.search(seconds, objective, n, k, seed, progress=True)
    if found is None:
        note(f"none found in {seconds:g} s")
        raise typer.Exit(LIMITED)
    counterexamples.verify([found])

"""``quadsweep separate`` and ``counterexamples``: does a conic, or quadric, cut the best off?"""

from __future__ import annotations

import typer

from quadsweep.cli.answering import asked_once
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
from quadsweep.cli.options import Given, Option, command
from quadsweep.cli.places import write_picture
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.presenting import as_object, described
from quadsweep.inputs.frames import Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.results.formatting import renumbered


@command(
    "xs y formula keep drop lift objective method label plot json time_limit jobs",
    asks="solving.solve:solve",
)
def separate_command(given: Given) -> None:
    """Whether a conic, or a quadric of more --x, cuts the best subset off, decided exactly.

    Example: quadsweep separate nonseparable-r2 --lift L5
    """
    from quadsweep.paper.separability.separate import separate

    points = read_predictors(given)
    result = asked_once(given, points.columns, nan_policy="omit", **given.arguments(points))
    used = result.used
    labels = [points.labels[i] for i in used]
    several = len(points.names) > 2
    found = separate(
        Columns(points.x[used], points.y[used], points.names, labels),
        inliers=result.mask[used],
        lift=given.lift or (None if several else OBJECTIVES[result.objective].lift),
        time_limit=given.time_limit,
    )
    write_picture(found, given.plot)
    if given.json:
        certificate = renumbered(found.to_dict(), labels, points.called)
        certificate["weights"] = {str(labels[int(i)]): w for i, w in certificate["weights"].items()}
        print_json({**as_object(result, points, result.omitted), "separation": certificate})
    else:
        kept = (result.title, f"{result.value:.6g} on {result.k:,} of {result.n:,} points")
        print_pairs([("data", described(points)), kept, *found.summary_items()])
    undecided = LIMITED if found.separable is None else DONE
    raise typer.Exit(code_of(result.status) or undecided)


@command(
    "seed",
    asks="paper.counterexamples:search",
    arguments={},
    verify=Option("Prove the known ones from their integers.", kind=bool),
    search=Option("Look for a new one.", kind=bool),
    seconds=Option("How long to search.", "S", float, "seconds", default=600.0),
    objective=Option("r2, r, cov or dv.", "NAME", argument="objective", default="r2"),
    n=Option("Points.", "N", int, "n"),
    k=Option("Points kept.", "K", int, "k"),
)
def counterexamples_command(given: Given) -> None:
    """Data whose best subset no conic cuts off: the proofs, or new ones.

    Example: quadsweep counterexamples --search --seconds 60 --objective dv
    """
    from quadsweep.paper import counterexamples

    if given.verify and given.search:
        raise BadInput("give --verify or --search, not both")
    if not given.search:
        proofs = counterexamples.verify()
        wrong = [proof.example.name for proof in proofs if not proof.valid]
        raise typer.Exit(fail(f"not proved: {', '.join(wrong)}", 1) if wrong else DONE)
    found = given.function(**given.arguments(), progress=True)
    if found is None:
        note(f"none found in {given.seconds:g} s")
        raise typer.Exit(LIMITED)
    counterexamples.verify([found])

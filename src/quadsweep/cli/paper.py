"""``compare``, ``separate``, ``counterexamples`` and ``reproduce``: what the paper is about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quadsweep.cli import options as opt
from quadsweep.cli.answering import Outputs, answer, as_object, ask, described
from quadsweep.cli.ending import (
    DONE,
    INTERRUPTED,
    LIMITED,
    BadInput,
    code_of,
    fail,
    note,
    print_json,
    print_pairs,
)
from quadsweep.cli.options import given
from quadsweep.cli.places import write_picture
from quadsweep.cli.points import read_predictors
from quadsweep.inputs.frames import Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.results.formatting import renumbered


def compare_command(
    *,
    table: opt.FileOptions,
    columns: opt.PointOptions,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    methods: Annotated[opt.Text, typer.Option(metavar="A,B", help="Methods; default: all.")] = None,
    outputs: Outputs,
    limits: opt.LimitOptions,
    seed: opt.Seed = None,
) -> None:
    """Compare other methods' lines and correlations with the certified optimum.

    Example: quadsweep compare stars-cyg --drop 4 --plot lines.png
    """
    from quadsweep.paper.compare import compare

    some = None if methods is None else [name.strip() for name in methods.split(",")]
    asked = given(limits, keep=keep, drop=drop, methods=some, seed=seed)
    points = read_predictors(table, columns)
    answer(compare, points, outputs, asked | points.suggest("k", unless=asked))


def separate_command(
    *,
    table: opt.FileOptions,
    columns: opt.PointOptions,
    subset: opt.SubsetOptions,
    lift: Annotated[
        opt.Text, typer.Option(metavar="NAME", help="L2, L3c, L3d, L3t, L4 or L5; one --x.")
    ] = None,
    method: opt.Method = None,
    outputs: Outputs,
    limits: opt.LimitOptions,
) -> None:
    """Decide exactly whether a conic (a quadric, with several --x) cuts the best subset off.

    Example: quadsweep separate nonseparable-r2 --lift L5
    """
    from quadsweep.paper.separability.separate import separate
    from quadsweep.solving.solve import solve

    asked = given(subset, limits, method=method)
    points = read_predictors(table, columns)
    asked |= points.suggest("k", "objective", unless=asked)
    result = ask(solve, points.columns, outputs=outputs, nan_policy="omit", **asked)
    used = result.used
    labels = [points.labels[i] for i in used]
    several = len(points.names) > 2
    found = separate(
        Columns(points.x[used], points.y[used], points.names, labels),
        inliers=result.mask[used],
        lift=lift or (None if several else OBJECTIVES[result.objective].lift),
        time_limit=limits.time_limit,
    )
    write_picture(found, outputs.plot)
    if outputs.as_json:
        certificate = renumbered(found.to_dict(), labels, points.label_kind)
        certificate["weights"] = {str(labels[int(i)]): w for i, w in certificate["weights"].items()}
        print_json({**as_object(result, points, result.omitted), "separation": certificate})
    else:
        kept = (result.title, f"{result.value:.6g} on {result.k:,} of {result.n:,} points")
        print_pairs([("data", described(points)), kept, *found.summary_items()])
    undecided = LIMITED if found.separable is None else DONE
    raise typer.Exit(code_of(result.status) or undecided)


def counterexamples_command() -> None:
    """Prove the shipped counterexamples: data whose best subset no conic cuts off.

    Example: quadsweep counterexamples
    """
    from quadsweep.paper import counterexample_proofs

    proofs = counterexample_proofs.verify()
    for proof in proofs:
        typer.echo(proof.text)
    wrong = [proof.example.name for proof in proofs if not proof.valid]
    raise typer.Exit(fail(f"not proved: {', '.join(wrong)}", 1) if wrong else DONE)


def reproduce_command(
    what: Annotated[
        str, typer.Argument(metavar="[WHAT]", help="table1, table2, timing, figures or all.")
    ] = "all",
    scale: Annotated[
        str, typer.Option(metavar="NAME", help="quick: two minutes; paper: its trial counts.")
    ] = "quick",
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder for tables, figures and chunks.")
    ] = "reproduction",
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads; default: all.")] = None,
    workers: Annotated[
        str, typer.Option(metavar="KIND", help="On this machine: processes or threads.")
    ] = "processes",
    dask: opt.Dask = None,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Continue a stopped run, or refuse to.")
    ] = True,
) -> None:
    """Run the paper's experiments and print our figures beside the paper's.

    Example: quadsweep reproduce

    One of them: quadsweep reproduce table1 --scale paper --out reproduction
    """
    from quadsweep.distributed.workers import cluster, local
    from quadsweep.inputs import validation
    from quadsweep.paper.experiments.campaign import parts, reproduce
    from quadsweep.paper.experiments.scale import SCALES

    if scale not in SCALES:
        raise BadInput(f"--scale must be one of {', '.join(SCALES)}; got {scale!r}")
    n_jobs, folder = validation.jobs(jobs), Path(out)
    team = local(n_jobs, workers) if dask is None else cluster(dask, n_jobs)
    tables: list[str] = []
    try:
        for count, part in enumerate(chosen := parts(what), start=1):
            note(f"{part} ({count} of {len(chosen)})")
            tables += reproduce(part, SCALES[scale], folder, team, resume=resume).values()
    except KeyboardInterrupt:
        note(f"interrupted; finished chunks are in {folder}: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    finally:
        for table in tables:
            typer.echo(table)
    note(f"tables and figures are in {folder}")

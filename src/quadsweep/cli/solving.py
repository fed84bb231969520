"""``quadsweep solve``: the best subset of the points in a file."""

from __future__ import annotations

import sys
from typing import Any

import typer

from quadsweep.cli import options
from quadsweep.cli.answering import ask_every_group
from quadsweep.cli.ending import BadInput, code_of, code_of_all
from quadsweep.cli.flagging import check_table, write_flagged
from quadsweep.cli.passes import answer_source, source_of
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.presenting import check_picture, present
from quadsweep.cli.proving import check_place, save_proof
from quadsweep.results.result import Result
from quadsweep.solving.solve import solve

_AT_ONCE = 0.05  # seconds of a search after which its path is not asked for unasked
_PATIENCE = 1.0  # seconds for that path
_FEWEST = 8  # rows from which on a path has a shape
_RULES = {"gain": "largest gain", "elbow": "elbow"}


def solve_command(
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    objective: options.Goal = None,
    method: options.Method = "auto",
    label: options.Label = None,
    plot: options.Picture = None,
    json: options.Json = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    proof: options.ProofFile = None,
    by: options.By = None,
    output: options.Flagged = None,
    dask: options.Dask = None,
    work: options.Work = None,
    resume: options.Resume = False,
) -> None:
    """The k points with the highest R2, and the proof.

    Example: quadsweep solve weights.csv --x "body mass" --y brain --drop 3 --plot weights.png
    """
    if by is not None and proof is not None:
        raise BadInput("--proof is for one answer; leave --by")
    source = None if formula or by or label else source_of(file, x, y, memory_limit)
    if source is not None:
        check_picture(plot)
        if keep is None and drop is None:
            raise BadInput("give --keep (points to keep) or --drop (points to remove)")
        answer_source(
            solve,
            source,
            file,
            plot=plot,
            json=json,
            output=output,
            k=options.amount(keep, "--keep"),
            drop=options.amount(drop, "--drop"),
            objective=objective or "r2",
            method=method,
            time_limit=time_limit,
            n_jobs=jobs,
            seed=seed,
            memory_limit=memory_limit,
            proof=proof is not None,
            client=dask,
            out=work,
            resume=resume,
        )
    points = read_predictors(file, x, y, formula, label, by)
    check_picture(plot)
    check_place(proof)
    check_table(output)
    asked = solver_options(
        points, keep, drop, objective, method, time_limit, jobs, seed, memory_limit
    )
    if by is not None:
        groups = ask_every_group(solve, points, **asked)
        write_flagged(groups, points, output)
        present(groups, points, plot, json)
        raise typer.Exit(code_of_all([one.status for one in groups.answers.values()]))
    result = solved(points, asked, proof=proof is not None)
    save_proof(result.proof, proof)
    write_flagged(result, points, output)
    present(result, points, plot, json, [] if json else how_many(result, points, asked))
    raise typer.Exit(code_of(result.status))


def solved(points: NamedPoints, asked: dict[str, Any], proof: bool = False) -> Result:
    """The solver's answer to the options, progress on a terminal, rows by label."""
    return solve(points.columns, **asked, progress=sys.stderr.isatty(), proof=proof)


def how_many(result: Result, points: NamedPoints, asked: dict[str, Any]) -> list[tuple[str, str]]:
    """What the path says about the number to drop, where it takes no time to ask."""
    from quadsweep.choosing.path import path

    dropped = result.n - result.k
    if result.seconds > _AT_ONCE or not result.success or result.n < _FEWEST or dropped == 0:
        return []
    most = min(result.n - result.n // 2, max(2 * dropped, 10))
    given = {name: asked[name] for name in ("objective", "n_jobs", "seed", "nan_policy")}
    found = path(points.columns, drop=most, time_limit=_PATIENCE, **given)
    if not found.success:
        return []
    rules = {rule: k for rule, k in found.suggestions().items() if k is not None}
    said = [f"{result.n - k:,} by the {_RULES[rule]}" for rule, k in rules.items()]
    text = f"of 0 to {most:,}: {' and '.join(said)}" if said else "no size stands out"
    return [("how many", f"{text}; quadsweep path --null line tests for outliers")]


def solver_options(
    points: NamedPoints,
    keep: str | None,
    drop: str | None,
    objective: str | None,
    method: str,
    time_limit: float | None,
    jobs: int | None,
    seed: int,
    memory_limit: float | None = None,
) -> dict[str, Any]:
    """The options as arguments of the solver."""
    return {
        **options.amounts(points, keep, drop),
        "objective": objective or points.objective or "r2",
        "method": method,
        "time_limit": time_limit,
        "n_jobs": jobs,
        "seed": seed,
        "nan_policy": "omit",
        "memory_limit": memory_limit,
    }

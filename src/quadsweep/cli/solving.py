"""``quadsweep solve``: the best subset of the points in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from quadsweep.cli import options
from quadsweep.cli.ending import BadInput, code_of, note, print_json, print_pairs
from quadsweep.cli.points import Points, read_points
from quadsweep.result import Result
from quadsweep.solve import solve


def solve_command(
    file: options.File,
    x: options.X = None,
    y: options.Y = None,
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
) -> None:
    """The k points with the highest R2, and the proof.

    Example: quadsweep solve weights.csv --x "body mass" --y brain --drop 3 --plot weights.png
    """
    points = read_points(file, x, y, label)
    check_picture(plot)
    result = solved(points, keep, drop, objective, method, time_limit, jobs, seed)
    if plot is not None:
        draw(result, plot)
    show(result, points, json)
    raise typer.Exit(code_of(result.status))


def solved(
    points: Points,
    keep: str | None,
    drop: str | None,
    objective: str | None,
    method: str,
    time_limit: float | None,
    jobs: int | None,
    seed: int,
) -> Result:
    """The solver's answer to the options, progress on a terminal, rows by label."""
    return solve(
        points.columns,
        **options.amounts(points, keep, drop),
        objective=objective or points.objective or "r2",
        method=method,
        time_limit=time_limit,
        n_jobs=jobs,
        seed=seed,
        nan_policy="omit",
        progress=sys.stderr.isatty(),
    )


def show(result: Result, points: Points, as_json: bool) -> None:
    """The result on standard output, what was skipped on standard error."""
    if len(result.omitted):
        note(f"skipped {len(result.omitted):,} of {len(points.x):,} rows with missing values")
    if as_json:
        print_json(as_object(result, points))
    else:
        print_pairs([("data", described(points)), *result.lines()])


def as_object(result: Result, points: Points) -> dict[str, Any]:
    """The result as plain values, rows also by label."""
    names = {"source": points.source, "x": points.names[0], "y": points.names[1]}
    return {
        **names,
        **result.to_dict(),
        "dropped": [points.labels[i] for i in result.outliers],
        "skipped": [points.labels[i] for i in result.omitted],
    }


def described(points: Points) -> str:
    """Which columns of what."""
    return f"{points.names[1]} against {points.names[0]}, {points.source}"


def check_picture(picture: str | None) -> None:
    """Before any work: can the picture be drawn, and will it have a place to go?"""
    if picture is None:
        return
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise BadInput("--plot needs matplotlib; pip install 'quadsweep[plot]'") from None
    assert mpl
    path = Path(picture)
    if not path.parent.is_dir():
        raise BadInput(f"{path.parent} is not a directory, so {picture} cannot be written")
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadInput(f"--plot must end in .png, .svg or .pdf; got {picture!r}")


def draw(result: Any, picture: str) -> None:
    """The picture of anything that can draw itself on axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.8), layout="constrained")
    result.plot(ax=figure.subplots())
    try:
        figure.savefig(picture, dpi=150)
    except OSError as wrong:
        raise BadInput(f"{picture} cannot be written: {wrong.strerror}") from None
    note(f"wrote {picture}")

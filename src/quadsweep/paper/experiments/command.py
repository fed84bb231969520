"""``quadsweep reproduce``: the paper's experiments from the command line."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from quadsweep.distributed.workers import Workers

EXIT_USAGE, EXIT_INTERRUPTED = 2, 130


class What(str, Enum):
    table1 = "table1"
    table2 = "table2"
    timing = "timing"
    figures = "figures"
    all = "all"


class ScaleName(str, Enum):
    quick = "quick"
    paper = "paper"


class Kind(str, Enum):
    processes = "processes"
    threads = "threads"


def reproduce(
    what: Annotated[What, typer.Argument(help="Which table or figure.")],
    scale: Annotated[
        ScaleName, typer.Option(help="Two minutes, or the paper's trial counts.")
    ] = ScaleName.quick,
    out: Annotated[Path, typer.Option(help="Directory for tables, figures and chunks.")] = Path(
        "reproduction"
    ),
    jobs: Annotated[
        int | None, typer.Option(help="Workers on this machine; all cores if left out.")
    ] = None,
    workers: Annotated[Kind, typer.Option(help="What the workers are.")] = Kind.processes,
    dask: Annotated[
        str | None, typer.Option(help="Address of a dask scheduler, or 'local' to start one.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with finished chunks.")] = False,
) -> None:
    """Run the paper's experiments and print our figures beside the paper's.

    Example: quadsweep reproduce table1 --scale quick --out reproduction
    """
    try:
        _reproduce(what.value, scale.value, out, _team(jobs, workers.value, dask), resume)
    except KeyboardInterrupt:
        print(f"interrupted; finished chunks are in {out}: go on with --resume", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except (ValueError, OSError, ImportError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        raise typer.Exit(EXIT_USAGE) from None
    print(f"tables and figures are in {out}", file=sys.stderr)


def _reproduce(what: str, scale: str, out: Path, team: Workers, resume: bool) -> None:
    from quadsweep.paper.experiments.campaign import parts, reproduce
    from quadsweep.paper.experiments.scale import SCALES

    for part in parts(what):
        for text in reproduce(part, SCALES[scale], out, team, resume=resume).values():
            print(text)


def _team(jobs: int | None, kind: str, dask: str | None) -> Workers:
    from quadsweep.distributed.workers import cluster, local
    from quadsweep.inputs import validation

    count = validation.jobs(jobs)
    return local(count, kind) if dask is None else cluster(dask, count)


app = typer.Typer(add_completion=False)
app.command()(reproduce)

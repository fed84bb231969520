"""``quadsweep reproduce``: the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quadsweep.cli.ending import INTERRUPTED, BadInput, note
from quadsweep.cli.options import Given, Option, command

_WHAT = typer.Argument(metavar="WHAT", help="table1, table2, timing, figures or all.")


@command(
    "jobs dask resume",
    asks="paper.experiments.campaign:reproduce",
    arguments={"what": Annotated[str, _WHAT]},
    scale=Option("quick: two minutes; paper: its trial counts.", "NAME", default="quick"),
    out=Option("For tables, figures and chunks.", "DIR", default="reproduction"),
    workers=Option("On this machine: processes or threads.", "KIND", default="processes"),
)
def reproduce_command(given: Given) -> None:
    """Run the paper's experiments and print our figures beside the paper's.

    Example: quadsweep reproduce table1 --scale quick --out reproduction
    """
    from quadsweep.distributed.workers import cluster, local
    from quadsweep.inputs import validation
    from quadsweep.paper.experiments.campaign import parts
    from quadsweep.paper.experiments.scale import SCALES

    if given.scale not in SCALES:
        raise BadInput(f"--scale must be one of {', '.join(SCALES)}; got {given.scale!r}")
    jobs, out = validation.jobs(given.jobs), Path(given.out)
    workers = local(jobs, given.workers) if given.dask is None else cluster(given.dask, jobs)
    try:
        for part in parts(given.what):
            tables = given.function(part, SCALES[given.scale], out, workers, resume=given.resume)
            print(*tables.values(), sep="\n", end="\n" if tables else "")
    except KeyboardInterrupt:
        note(f"interrupted; finished chunks are in {out}: go on with --resume")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as wrong:
        raise BadInput(str(wrong)) from None
    note(f"tables and figures are in {out}")

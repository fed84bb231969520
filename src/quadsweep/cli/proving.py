"""``quadsweep check``: a proof, verified against the data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quadsweep.cli.ending import BadInput, print_json
from quadsweep.cli.options import FILE, Given, command
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.predictors import read_predictors

REFUTED = 1


@command(
    "xs y formula term controls json",
    asks="proofs.checking:check",
    arguments={
        "written": Annotated[str, typer.Argument(metavar="PROOF", help="Written by --proof.")],
        "file": FILE,
    },
)
def check_command(given: Given) -> None:
    """Verify a proof against the data, in exact arithmetic: 0 proved, 1 refuted.

    Example: quadsweep check weights.proof weights.csv --x "body mass" --y brain

    Of an audit with controls: quadsweep check w.proof w.csv --x dose --y effect --controls age
    """
    points = read_predictors(given)
    try:
        found = given.function(given.written, _term_last(points, given.term), points.y)
    except OSError as wrong:
        raise BadInput(f"{given.written} cannot be read: {wrong.strerror}") from None
    if given.json:
        print_json(vars(found))
    else:
        print(f"{found} ({found.nodes:,} nodes, {found.seconds:.3g} s)")
    raise typer.Exit(0 if found.proved else REFUTED)


def _term_last(points: NamedPoints, term: str | None) -> Any:
    """The predictors, that of the term after its controls."""
    if term is None:
        return points.x
    names = list(points.names[:-1])
    if term not in names:
        raise BadInput(f"no term {term!r} in the formula; there are: {', '.join(names)}")
    others = [i for i, name in enumerate(names) if name != term]
    return points.x[:, [*others, names.index(term)]] if others else points.x

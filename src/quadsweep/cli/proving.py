"""``quadsweep check``: a proof, verified against the data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quadsweep.cli import options as opt
from quadsweep.cli.ending import BadInput, print_json
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.tables import FileOptions

REFUTED = 1


def check_command(
    written: Annotated[str, typer.Argument(metavar="PROOF", help="Written by --proof.")],
    file: opt.File,
    x: opt.Xs = None,
    y: opt.Y = None,
    formula: opt.Formula = None,
    term: opt.Term = None,
    controls: opt.Controls = None,
    as_json: opt.Json = False,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    missing: opt.Missing = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
) -> None:
    """Verify a proof against the data, in exact arithmetic: 0 proved, 1 refuted.

    Example: quadsweep check weights.proof weights.csv --x "body mass" --y brain

    Of an audit with controls: quadsweep check w.proof w.csv --x dose --y effect --controls age
    """
    from quadsweep.proofs.checking import check

    options = FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0)
    points = read_predictors(options, [*(controls or []), *(x or [])], y, formula)
    try:
        found = check(written, _term_last(points, term), points.y)
    except OSError as wrong:
        raise BadInput(f"{written} cannot be read: {wrong.strerror}") from None
    if as_json:
        print_json(vars(found))
    else:
        typer.echo(f"{found} ({found.nodes:,} nodes, {found.seconds:.3g} s)")
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

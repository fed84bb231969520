"""``quadsweep check``, and where the proofs of other commands go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from quadsweep.cli import options
from quadsweep.cli.ending import BadInput, note, print_json
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.predictors import read_predictors
from quadsweep.proofs.checking import check
from quadsweep.proofs.proof import Proof

REFUTED = 1


def check_command(
    proof: Annotated[str, typer.Argument(metavar="PROOF", help="Written by --proof.")],
    file: options.File,
    x: options.Xs = None,
    y: options.Y = None,
    formula: options.Formula = None,
    term: options.Term = None,
    controls: options.Controls = None,
    json: options.Json = False,
) -> None:
    """Verify a proof against the data, in exact arithmetic: 0 proved, 1 refuted.

    Example: quadsweep check weights.proof weights.csv --x "body mass" --y brain

    Of an audit with controls: quadsweep check w.proof w.csv --x dose --y effect --controls age
    """
    points = read_predictors(file, [*(controls or []), *(x or [])], y, formula, None)
    try:
        found = check(proof, _term_last(points, term), points.y)
    except OSError as wrong:
        raise BadInput(f"{proof} cannot be read: {wrong.strerror}") from None
    if json:
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


def check_place(path: str | None) -> None:
    """Before any work: will the proof have a place to go?"""
    if path is not None and not Path(path).parent.is_dir():
        raise BadInput(f"{Path(path).parent} is not a directory, so {path} cannot be written")


def save_proof(proof: Proof | None, path: str | None) -> None:
    """Write it, or say that there is none."""
    if path is None:
        return
    if proof is None:
        note(f"there is no proof, so {path} was not written")
        return
    try:
        proof.save(path)
    except OSError as wrong:
        raise BadInput(f"{path} cannot be written: {wrong.strerror}") from None
    note(f"wrote {path}")


def saving(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    """The function with its proof asked for and written."""

    def call(*args: Any, **asked: Any) -> Any:
        found = function(*args, proof=True, **asked)
        save_proof(found.proof, path)
        return found

    return call

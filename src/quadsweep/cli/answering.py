"""The end of a command: ask, write, show the answer, and set the exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

import numpy as np
import typer

from quadsweep.cli.ending import code_of_all, note, print_json, print_pairs, width
from quadsweep.cli.options import Json, Proof
from quadsweep.cli.places import check_picture, check_place, write_picture, write_proof
from quadsweep.cli.points import NamedPoints
from quadsweep.results.formatting import printable, renumbered

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Outputs:
    """Where an answer goes, checked before any work."""

    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf.")
    ] = None
    as_json: Json = False

    def __post_init__(self) -> None:
        check_picture(self.plot)
        check_place(self.proof_file)

    @property
    def proof_file(self) -> str | None:
        return getattr(self, "proof", None)


@dataclass(frozen=True)
class ProofOutputs(Outputs):
    """The same of commands that prove."""

    proof: Proof = None


def answer(
    question: Callable[..., Any], points: NamedPoints, outputs: Outputs, asked: dict[str, Any]
) -> NoReturn:
    """Ask a question about points and show the answer."""
    finish(ask(question, points.columns, outputs=outputs, nan_policy="omit", **asked),
           points, outputs)  # fmt: skip


def ask(question: Callable[..., Any], *data: Any, outputs: Outputs, **asked: Any) -> Any:
    """The answer, with progress on a terminal; its proof is written where --proof says."""
    if outputs.proof_file is not None:
        asked["proof"] = True
    found = question(*data, progress=sys.stderr.isatty(), **asked)
    write_proof(getattr(found, "proof", None), outputs.proof_file)
    return found


def finish(
    found: Any, points: NamedPoints, outputs: Outputs, more: Sequence[tuple[str, str]] = ()
) -> NoReturn:
    """Show an answer about points; ``more`` pairs stand after it in a table of text."""
    skipped = note_skipped(points)
    content = {"data": described(points)}
    show(found, outputs, as_object(found, points, skipped) if outputs.as_json else content, more)


def show(
    found: Any, outputs: Outputs, content: dict[str, Any], more: Sequence[tuple[str, str]] = ()
) -> NoReturn:
    """Draw an answer, print it as JSON or as a table, and end with its exit code."""
    write_picture(found, outputs.plot)
    if outputs.as_json:
        print_json(content)
    else:
        print_answer(found, content, more)
    raise typer.Exit(code_of_all(statuses(found)))


def print_answer(found: Any, content: dict[str, Any], more: Sequence[tuple[str, str]]) -> None:
    """The answer's table if it is one, its sentence, and pairs."""
    if found.grid():
        print_table(found.grid())
        typer.echo()
    first = [("answer", found.headline)] if found.headline else []
    print_pairs([*content.items(), *first, *found.summary_items(), *more])


def statuses(found: Any) -> list[str]:
    """Those of an answer that decide the exit code: its own, and that of the result it is about."""
    about: Any = getattr(found, "result", None)
    own = np.atleast_1d(found.status).tolist()
    return [*own, about.status] if hasattr(about, "status") else own  # Path.result is a method


def note_skipped(points: NamedPoints) -> list[int]:
    """Rows that have no number in some column, counted on standard error."""
    skipped: list[int] = np.flatnonzero(~points.whole).tolist()
    if skipped:
        infinite = int(np.isinf(np.column_stack([points.x, points.y])).any(axis=1).sum())
        what = "missing values" if infinite < len(skipped) else "infinite values"
        note(
            f"skipped {len(skipped):,} of {len(points.x):,} rows with {what}"
            + (f", {infinite:,} of them with infinite ones" if 0 < infinite < len(skipped) else "")
        )
    return skipped


def print_table(grid: Sequence[Sequence[str]]) -> None:
    """Rows of texts, the header first, fitted to the terminal or to 80 columns."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, title in enumerate(grid[0]):
        justify: Any = "right" if place else "left"
        table.add_column(printable(title), justify=justify, ratio=None)
    for row in grid[1:]:
        table.add_row(*map(printable, row))
    Console(width=width(), markup=False, highlight=False, emoji=False).print(table)


def as_object(found: Any, points: NamedPoints, skipped: Sequence[int] = ()) -> dict[str, Any]:
    """The answer as plain values, rows by label or by number from 1; ``rows`` says which."""
    content = {
        "source": points.source,
        "x": points.names[0] if len(points.names) == 2 else list(points.names[:-1]),
        "y": points.names[-1],
        **renumbered(found.to_dict(), points.labels, points.label_kind),
        "skipped": [points.labels[i] for i in skipped],
    }
    if hasattr(found, "outliers"):
        content["dropped"] = [points.labels[i] for i in found.outliers]
    return content


def described(points: NamedPoints) -> str:
    """The columns and where they come from."""
    return f"{points.names[-1]} against {', '.join(points.names[:-1])}, {points.source}"

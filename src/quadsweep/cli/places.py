"""Where answers go: looked at before any work, written after it."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.cli.ending import BadInput, note
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.tables import SourceTable, built_in_table
from quadsweep.cli.tables.values import is_missing, number
from quadsweep.extras import needed
from quadsweep.inputs.frames import KEPT
from quadsweep.messages import free
from quadsweep.results.result import Result

if TYPE_CHECKING:
    from quadsweep.proofs.proof import Proof

_PICTURES = (".png", ".svg", ".pdf")
_TABLES = (".csv", ".tsv", ".parquet")


def check_place(file: str | None) -> None:
    """Is there a directory for it?"""
    if file is not None and not Path(file).parent.is_dir():
        raise BadInput(f"{Path(file).parent} is not a directory, so {file} cannot be written")


def check_picture(picture: str | None) -> None:
    """Can the picture be drawn, and will it have a place to go?"""
    if picture is None:
        return
    with needed("--plot"):
        import_module("matplotlib")
    check_place(picture)
    if Path(picture).suffix.lower() not in _PICTURES:
        raise BadInput(f"--plot must end in .png, .svg or .pdf; got {picture!r}")


def check_table(output: str | None) -> None:
    """Will the table have a place to go, and a kind that is written here?"""
    if output is None:
        return
    if Path(output).suffix.lower() not in _TABLES:
        raise BadInput(f"--output must end in .csv, .tsv or .parquet; got {output!r}")
    check_place(output)
    if output.lower().endswith(".parquet"):
        with needed("writing Parquet"):
            import_module("pyarrow.parquet")


@contextmanager
def writing(file: str) -> Iterator[None]:
    """What goes wrong in here is said in a sentence; what does not, in a note."""
    try:
        yield
    except OSError as wrong:
        raise BadInput(f"{file} cannot be written: {wrong.strerror}") from None
    note(f"wrote {file}")


def write_picture(result: Any, picture: str | None) -> None:
    """The picture of anything that can draw itself on axes."""
    if picture is None:
        return
    from matplotlib.figure import Figure

    if getattr(result, "several", False):
        from quadsweep.plotting.several import panels

        figure = panels(result, Figure(layout="constrained"))
    else:
        figure = Figure(figsize=(7.0, 4.8), layout="constrained")
        result.plot(ax=figure.subplots())
    with writing(picture):
        figure.savefig(picture, dpi=150)


def write_proof(proof: Proof | None, file: str | None) -> None:
    """Write it, or say that there is none."""
    if file is None:
        return
    if proof is None:
        note(f"there is no proof, so {file} was not written")
        return
    with writing(file):
        proof.save(file)


# ---- solve FILE -o flagged.csv: the table as it was read, and which rows stay

_WORDS = {True: "true", False: "false", None: ""}


def write_flagged(answer: Result, points: NamedPoints, output: str | None) -> None:
    """The table with its new column."""
    if output is None:
        return
    table = points.table or built_in_table(points.source)
    twice = sorted({name for name in table.names if table.names.count(name) > 1})
    if twice:
        count = table.names.count(twice[0])
        raise BadInput(
            f"{table.source} has {count} columns called {twice[0]!r}, so --output cannot"
        )
    flags = {free(KEPT, table.names): _flags(answer, len(points.y))}
    write_table(output, table, flags)


def write_table(output: str, table: SourceTable, flags: dict[str, list[bool | None]]) -> None:
    """Columns as they were read, and columns of flags after them."""
    path = Path(output)
    with writing(output):
        if path.suffix.lower() == ".parquet":
            columns = table.read(table.names)
            _write_parquet(path, dict(zip(table.names, columns, strict=True)), table.decimal, flags)
            return
        tabs = path.suffix.lower() == ".tsv"
        delimiter = "\t" if tabs else ";" if table.decimal == "," else ","
        words = [[_WORDS[flag] for flag in column] for column in flags.values()]
        rows = list(table.stream()) if path.exists() else table.stream()  # it may be the same file
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            writer.writerow([*table.names, *flags])
            more = zip(*words, strict=True) if words else itertools.repeat(())
            writer.writerows((*row, *last) for row, last in zip(rows, more, strict=False))


def _flags(answer: Result, rows: int) -> list[bool | None]:
    flags = np.full(rows, None, dtype=object)
    flags[answer.used] = answer.mask[answer.used]
    listed: list[bool | None] = flags.tolist()
    return listed


def _write_parquet(
    path: Path, columns: dict[str, list[Any]], decimal: str, flags: dict[str, list[bool | None]]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    content = {title: pa.array(_typed(v, decimal)) for title, v in columns.items()}
    content |= {title: pa.array(v, type=pa.bool_()) for title, v in flags.items()}
    parquet.write_table(pa.table(content), path)


def _typed(values: list[Any], decimal: str) -> list[Any]:
    """Text as numbers where all of it is, whole ones as such; other values as they are."""
    known = [value for value in values if not is_missing(value)]
    if not known or not all(isinstance(value, str) for value in known):
        return values
    read = [number(value, decimal) for value in known]
    if any(value is None for value in read):
        return [None if value is None else str(value) for value in values]
    whole = all(value.isascii() and value.strip().lstrip("+-").isdigit() for value in known)
    make: Any = (lambda v: int(v.strip())) if whole else (lambda v: number(v, decimal))
    return [None if is_missing(value) else make(value) for value in values]

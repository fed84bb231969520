"""Where answers go: looked at before any work, written after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quadsweep.cli.ending import BadInput, note
from quadsweep.extras import needed

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

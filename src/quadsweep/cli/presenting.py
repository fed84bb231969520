"""An answer on its way out: a table or one JSON object, and a picture."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from quadsweep.cli.ending import BadInput, console, note, print_json, print_pairs
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.wording import as_options
from quadsweep.extras import needed
from quadsweep.results.formatting import ResultMixin, aligned, renumbered

_ADVICE = ("caution", "verdict", "kept, but far")  # lines that may name an argument
_NARROWEST = 12  # characters that a column of a table keeps at least


def present(
    answer: ResultMixin,
    points: NamedPoints,
    plot: str | None,
    as_json: bool,
    more: list[tuple[str, str]] | None = None,
) -> None:
    """An answer as text or JSON, and its picture; what was skipped on standard error.

    ``more`` are pairs that a table of text has beside those of the answer.
    """
    skipped = np.flatnonzero(~points.whole)
    if len(skipped):
        note(f"skipped {len(skipped):,} of {len(points.x):,} rows with missing values")
    content = as_object(answer, points, skipped) if as_json else {"data": described(points)}
    show(answer, plot, as_json, content, more or [])


def show(
    answer: ResultMixin,
    plot: str | None,
    as_json: bool,
    content: dict[str, Any],
    more: list[tuple[str, str]] | None = None,
) -> None:
    """The picture, and the content as JSON or the answer's table, sentence and pairs after it."""
    if plot is not None:
        draw(answer, plot)
    if as_json:
        print_json(content)
        return
    if answer.grid():
        table, left_out = fitted(answer.grid(), console().width)
        print(aligned(table), end="\n\n")
        more = [*(more or []), *([("columns", f"{left_out} more with --json")] * bool(left_out))]
    first = [("answer", answer.headline)] if answer.headline else []
    lines = [
        (name, as_options(said) if name in _ADVICE else said)
        for name, said in answer.summary_items()
    ]
    print_pairs([*content.items(), *first, *lines, *(more or [])])


def fitted(grid: list[Any], width: int) -> tuple[list[list[str]], int]:
    """A table that fits: the widest columns cut, then the last columns left out; and how many.

    >>> fitted([["site", "rows dropped"], ["a", "1, 2, 3, 5, 8, 13, 21, 34"]], 20)[0][1]
    ['a', '1, 2, 3, …']
    """
    rows = [list(row) for row in grid]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    while sum(widths) + 2 * (len(widths) - 1) > width and len(widths) > 2:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] > _NARROWEST:
            over = sum(widths) + 2 * (len(widths) - 1) - width
            widths[widest] = max(_NARROWEST, widths[widest] - over)
        else:
            widths.pop()
    if sum(widths) + 2 * (len(widths) - 1) > width:
        widths = [max(_NARROWEST, min(w, width // 2 - 1)) for w in widths]
    cut = [[_cut(row[j], widths[j]) for j in range(len(widths))] for row in rows]
    return cut, len(rows[0]) - len(widths)


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    words = text[: width - 1].rsplit(" ", 1)[0] if ", " in text else text[: width - 2]
    return words.rstrip() + " …"


def as_object(answer: Any, points: NamedPoints, skipped: Any = ()) -> dict[str, Any]:
    """The answer as plain values, rows by label or by number from 1; ``rows`` says which."""
    content = {
        "source": points.source,
        "x": points.names[0] if len(points.names) == 2 else list(points.names[:-1]),
        "y": points.names[-1],
        **renumbered(answer.to_dict(), points.labels, points.called),
        "skipped": [points.labels[i] for i in skipped],
    }
    if hasattr(answer, "outliers"):
        content["dropped"] = [points.labels[i] for i in answer.outliers]
    return content


def described(points: NamedPoints) -> str:
    """Which columns of what."""
    return f"{points.names[-1]} against {', '.join(points.names[:-1])}, {points.source}"


def check_picture(picture: str | None) -> None:
    """Before any work: can the picture be drawn, and will it have a place to go?"""
    if picture is None:
        return
    with needed("--plot"):
        import_module("matplotlib")
    path = Path(picture)
    if not path.parent.is_dir():
        raise BadInput(f"{path.parent} is not a directory, so {picture} cannot be written")
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadInput(f"--plot must end in .png, .svg or .pdf; got {picture!r}")


def draw(result: Any, picture: str) -> None:
    """The picture of anything that can draw itself on axes."""
    from matplotlib.figure import Figure

    if getattr(result, "several", False):
        from quadsweep.plotting.several import panels

        figure = panels(result, Figure(layout="constrained"))
    else:
        figure = Figure(figsize=(7.0, 4.8), layout="constrained")
        result.plot(ax=figure.subplots())
    try:
        figure.savefig(picture, dpi=150)
    except OSError as wrong:
        raise BadInput(f"{picture} cannot be written: {wrong.strerror}") from None
    note(f"wrote {picture}")

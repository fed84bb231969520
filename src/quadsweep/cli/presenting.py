"""An answer on its way out: a table or one JSON object, and a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadsweep.cli.ending import note, print_json, print_pairs, width
from quadsweep.cli.places import write_picture
from quadsweep.cli.points import NamedPoints
from quadsweep.results.formatting import ResultMixin, aligned, renumbered

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
    write_picture(answer, plot)
    if as_json:
        print_json(content)
        return
    if answer.grid():
        table, left_out = fitted(answer.grid(), width())
        print(aligned(table), end="\n\n")
        more = [*(more or []), *([("columns", f"{left_out} more with --json")] * bool(left_out))]
    first = [("answer", answer.headline)] if answer.headline else []
    print_pairs([*content.items(), *first, *answer.summary_items(), *(more or [])])


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

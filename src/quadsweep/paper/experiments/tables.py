"""A table as rows of text, written as Markdown for people and CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class TextTable:
    """Rows under a title, with notes below.

    Examples
    --------
    >>> print(TextTable("Squares", ["n", "square"], [["2", "4"]], ["n is whole."]).markdown())
    ## Squares
    <BLANKLINE>
    | n | square |
    |---|--------|
    | 2 | 4      |
    <BLANKLINE>
    n is whole.
    <BLANKLINE>
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)

    def markdown(self) -> str:
        widths = [
            max(len(cell) for cell in column)
            for column in zip(self.columns, *self.rows, strict=True)
        ]

        def line(cells: Sequence[str]) -> str:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            return f"| {' | '.join(padded)} |"

        rule = "|".join("-" * (width + 2) for width in widths)
        lines = [f"## {self.title}", "", line(self.columns), f"|{rule}|"]
        lines += [line(row) for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([self.columns, *self.rows])
        return text.getvalue()


def write(tables: Sequence[TextTable], directory: Path, name: str, title: str) -> str:
    """``name.md`` with all tables and one CSV each; the Markdown is returned."""
    directory.mkdir(parents=True, exist_ok=True)
    text = "\n".join([f"# {title}\n", *(table.markdown() for table in tables)])
    (directory / f"{name}.md").write_text(text, encoding="utf-8")
    for i, table in enumerate(tables):
        suffix = "" if i == 0 else f"-{i + 1}"
        (directory / f"{name}{suffix}.csv").write_text(table.csv(), encoding="utf-8")
    return text

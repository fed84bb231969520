"""One self-contained page with tables, the scripts and the engine in it."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quadsweep.objectives import OBJECTIVES
from quadsweep.report.shell import embedded, page_around, script, text_of

PATH_SECONDS = 20.0  # for one size of a path on the page; what takes longer is not called proved
_ENGINE_BINARY = Path(__file__).with_name("engine.wasm")
MOST_VALUES = 400_000  # of all tables together: about 8 MB of text

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:"
)
_ENGINE = ("live/engine.js", "live/questions.js")
_PAGE = ("geometry", "picture", "table", "asking", "taking", "controls")


@dataclass(frozen=True)
class Table:
    """Columns for the page, and where it begins.

    Attributes
    ----------
    source : str
        What the reader sees it called.
    names : column names.
    columns : one list a name: numbers, text, None where there is nothing.
    x, y : positions of the columns to begin with; None for the first two numeric ones.
    drop, objective : where the controls stand.
    path : str or None
        What ``quadsweep solve`` calls the data; None where it has no name there.
    builtin : bool
    label : position of the column that names the rows; None where the page is to look for one.
    known : dict or None
        Answers to questions about these points, shown without the engine.
    """

    source: str
    names: Sequence[str]
    columns: Sequence[Sequence[Any]]
    x: int | None = None
    y: int | None = None
    drop: int = 0
    objective: str = "r2"
    path: str | None = None
    builtin: bool = False
    label: int | None = None
    known: dict[str, Any] | None = None

    @property
    def values(self) -> int:
        return sum(len(column) for column in self.columns)

    def plain(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "names": [str(name) for name in self.names],
            "columns": [[_plain(value) for value in column] for column in self.columns],
            **({} if self.x is None else {"x": self.x}),
            **({} if self.y is None else {"y": self.y}),
            "drop": self.drop,
            "objective": self.objective,
            "path": self.path,
            "builtin": self.builtin,
            "known": self.known,
            **({} if self.label is None else {"label": self.label}),
        }


def _plain(value: Any) -> Any:
    """A number, text or None; numbers that JSON has no word for are text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return None
    return number if math.isfinite(number) else str(number)


def available() -> bool:
    """Whether the engine was built and is part of this installation."""
    return _ENGINE_BINARY.is_file()


def fragments(
    tables: Sequence[Table],
    path: dict[str, Any] | None = None,
    samples: Sequence[Table] = (),
    audits: str = "",
) -> dict[str, str]:
    """The parts of a page: its policy, markup, style and scripts, with the engine if there is one.

    ``samples`` are tables that an empty page offers, ``audits`` markup of audits already made.
    """
    content = {
        "tables": [table.plain() for table in tables],
        "samples": [table.plain() for table in samples],
        "path": path,
        "seconds": PATH_SECONDS,
    }
    engine = base64.b64encode(_ENGINE_BINARY.read_bytes()).decode("ascii") if available() else ""
    worker = "\n".join(map(text_of, (*_ENGINE, "live/worker.js")))
    picture, tail = text_of("live/live.html").split("<!-- tail -->\n")
    picture = picture.replace("<!-- objectives -->", _objectives())
    picture = picture.replace("<!-- audits -->", audits)
    return {
        "policy": POLICY,
        "picture": picture,
        "tail": tail,
        "style": text_of("page.css") + text_of("live/live.css"),
        "scripts": (
            f"{embedded('live-data', content)}\n"
            f'<script id="engine" type="text/plain">{engine}</script>\n'
            f'<script id="worker" type="text/plain">\n"use strict";\n{worker}</script>\n'
            + script(*_ENGINE, "axes.js", *(f"live/{name}.js" for name in _PAGE))
        ),
    }


def _objectives() -> str:
    """The criteria that the reader can choose."""
    known = [(html.escape(o.name), html.escape(o.title)) for o in OBJECTIVES.values()]
    return "".join(f'<option value="{name}">{title}</option>' for name, title in known)


def explore_page(
    tables: Sequence[Table], title: str = "quadsweep", samples: Sequence[Table] = ()
) -> str:
    """The page for `quadsweep explore`: no answer yet, the reader asks."""
    from quadsweep import __version__

    parts = fragments(tables, samples=samples) | {
        "title": html.escape(title),
        "lead": html.escape(
            "Which points fit together best, and how many would have to go: move the slider, "
            "move the points. Every answer is proved here, on this machine."
        ),
        "version": html.escape(__version__),
    }
    return page_around("live/explore.html", parts)

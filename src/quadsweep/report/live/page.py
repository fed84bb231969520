"""One self-contained page with tables, the scripts and the engine in it."""

from __future__ import annotations

import base64
import html
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quadsweep.objectives import OBJECTIVES

PATH_SECONDS = 20.0  # for one size of a path on the page; what takes longer is not called proved
MOST_VALUES = 400_000  # of all tables together: about 8 MB of text

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:"
)
_WORKER = ("engine.js", "questions.js", "worker.js")
_PAGE = ("geometry.js", "picture.js", "table.js", "asking.js", "taking.js", "controls.js")


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
    python : str or None
        What reads the same numbers in Python; None where nothing short does.
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
    python: str | None = None

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
            "python": self.python,
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
    return _here("engine.wasm").is_file()


def fragments(tables: Sequence[Table], path: dict[str, Any] | None = None) -> dict[str, str]:
    """The parts of a page: its policy, markup, style and scripts."""
    content = {"tables": [table.plain() for table in tables], "path": path, "seconds": PATH_SECONDS}
    given = embedded(content)
    engine = base64.b64encode(_here("engine.wasm").read_bytes()).decode("ascii")
    worker = "\n".join(map(text_of, _WORKER))
    page = "\n".join(text_of(name) for name in ("engine.js", "questions.js", *_PAGE))
    picture, tail = text_of("live.html").split("<!-- tail -->\n")
    picture = picture.replace("<!-- objectives -->", _objectives())
    return {
        "policy": POLICY,
        "picture": picture,
        "tail": tail,
        "style": text_of("live.css"),
        "scripts": (
            f'<script id="live-data" type="application/json">{given}</script>\n'
            f'<script id="engine" type="text/plain">{engine}</script>\n'
            f'<script id="worker" type="text/plain">\n"use strict";\n{worker}</script>\n'
            f'<script>\n"use strict";\n(() => {{\n{page}\n}})();\n</script>'
        ),
    }


def _objectives() -> str:
    """What the reader can judge by."""
    known = [(html.escape(o.name), html.escape(o.title)) for o in OBJECTIVES.values()]
    return "".join(f'<option value="{name}">{title}</option>' for name, title in known)


def explore_page(tables: Sequence[Table], title: str = "quadsweep", lead: str = "") -> str:
    """The page for `quadsweep explore`: no answer yet, the reader asks."""
    from quadsweep import __version__

    style = _here("../page.css").read_text(encoding="utf-8")
    parts = fragments(tables)
    parts |= {
        "title": html.escape(title),
        "lead": html.escape(
            lead
            or "Which points fit together best, and how many would have to go: move the slider, "
            "move the points. Every answer is proved here, on this machine."
        ),
        "version": html.escape(__version__),
        "style": style + parts["style"],
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text_of("explore.html"))


def embedded(payload: dict[str, Any]) -> str:
    """JSON that may stand inside a script element."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def text_of(name: str) -> str:
    return _here(name).read_text(encoding="utf-8")


def _here(name: str) -> Path:
    return Path(__file__).parent / name

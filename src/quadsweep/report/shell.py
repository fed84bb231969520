"""What every page is made of: files of this folder, in one that asks nothing of the network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quadsweep.results.formatting import plain


def page_around(template: str, parts: Mapping[str, str]) -> str:
    """The whole page: ``template`` is its body; ``parts`` stand for the names in braces."""
    return filled("shell.html", {**parts, "body": filled(template, parts)})


def filled(template: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text_of(template))


def script(*names: str) -> str:
    """Scripts that share their names with each other and with nobody else."""
    together = "\n".join(map(text_of, names))
    return f'<script>\n"use strict";\n(() => {{\n{together}\n}})();\n</script>'


def embedded(name: str, payload: Mapping[str, Any]) -> str:
    """JSON for a script to read, in an element of that name."""
    text = json.dumps(plain(payload), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script id="{name}" type="application/json">{text}</script>'


def text_of(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")

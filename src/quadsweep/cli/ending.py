"""How a command ends: exit codes, one-line errors, JSON or a table."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

import typer

from quadsweep.results.formatting import printable

DONE, LIMITED, INTERRUPTED, WRONG = 0, 3, 130, 2


_DEBUGGING: ContextVar[bool] = ContextVar("debugging", default=False)
_SAID: ContextVar[tuple[str, ...]] = ContextVar("said", default=())


def begin(debugging: bool = False) -> None:
    """A command begins: nothing is said yet, and every error shows where it came from, or none."""
    _DEBUGGING.set(debugging)
    _SAID.set(())


class BadInput(Exception):
    """Something about the input that one sentence can say."""


def fail(message: str, code: int = WRONG) -> int:
    """One line on standard error; before it, where --debug asks for it, the traceback."""
    if _DEBUGGING.get() and sys.exc_info()[0] is not None:
        traceback.print_exc(file=sys.stderr)
    sys.stderr.write(f"error: {printable(' '.join(message.split()))}\n")
    return code


def note(message: str) -> None:
    """A remark on standard error, once: a file that is read twice is remarked on as one."""
    if message not in _SAID.get():
        _SAID.set((*_SAID.get(), message))
        sys.stderr.write(f"note: {printable(message)}\n")


def code_of(status: str) -> int:
    """The exit code a status deserves."""
    if status == "interrupted":
        return INTERRUPTED
    return LIMITED if status in ("time_limit", "memory_limit", "undecided") else DONE


def code_of_all(statuses: list[str]) -> int:
    """The exit code of several answers: interrupted before limited before done."""
    codes = {code_of(status) for status in statuses}
    return next((code for code in (INTERRUPTED, LIMITED) if code in codes), DONE)


def print_json(content: dict[str, Any]) -> None:
    """One object, nothing else."""
    sys.stdout.write(json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n")


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and what they are, wrapped to the terminal or to 80 columns."""
    rows = list(pairs)
    indent = max(len(name) for name, _ in rows) + 2
    styled = False if os.environ.get("TERM") in ("dumb", "unknown") else None  # None: if it can be
    for name, text in rows:
        first, *rest = textwrap.wrap(printable(text), max(width() - indent, 20)) or [""]
        typer.echo(typer.style(name.ljust(indent), bold=True) + first, color=styled)
        for line in rest:
            typer.echo(" " * indent + line)


def width() -> int:
    """Columns of standard output: those of a terminal, 80 elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 80

"""From several --x, or --formula, to points with several predictors.

One --x is one predictor and goes the way it always went; several are read one after the other.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quadsweep import datasets
from quadsweep.border.frames import table as frame_of
from quadsweep.border.frames import unpack
from quadsweep.cli.ending import BadInput
from quadsweep.cli.points import NamedPoints, read_points
from quadsweep.cli.tables import open_table

_NOTHING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "."})
_STDIN = "standard input"


def read_predictors(
    file: str,
    x: list[str] | None,
    y: str | None,
    formula: str | None,
    label: str | None,
) -> NamedPoints:
    """The columns asked for, of a file or of a built-in data set."""
    if formula is not None and (x or y is not None):
        raise BadInput("give --formula or --x and --y, not both")
    known = file in datasets.names() and not os.path.exists(file)
    if known and formula is not None:
        raise BadInput(f"{file} is a built-in data set with its own columns; leave --formula")
    if known or (formula is None and len(x or []) < 2):
        return read_points(file, x[0] if x else None, y, label)
    if formula is not None:
        return _by_formula(file, formula, label)
    if y is None:
        raise BadInput("several --x need a --y; got none")
    if file == "-":
        return _from_standard_input(x or [], y, label)
    return _several(file, x or [], y, label)


def _several(file: str, x: Sequence[str], y: str, label: str | None) -> NamedPoints:
    parts = [read_points(file, name, y, label) for name in x]
    names = [part.names[0] for part in parts] + [parts[0].names[-1]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"column {twice[0]!r} is given twice")
    return replace(parts[0], x=np.column_stack([part.x for part in parts]), names=tuple(names))


def _from_standard_input(x: Sequence[str], y: str, label: str | None) -> NamedPoints:
    """What comes in is kept until every column has been read."""
    handle, path = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(sys.stdin.buffer.read())
        return replace(_several(path, x, y, label), source=_STDIN)
    except BadInput as wrong:
        raise BadInput(str(wrong).replace(path, _STDIN)) from None
    finally:
        os.unlink(path)


def _by_formula(file: str, formula: str, label: str | None) -> NamedPoints:
    """What a formula makes of the file, numbers as numbers and text as categories."""
    table = open_table(file)
    names = list(dict.fromkeys(table.names))
    columns = dict(zip(names, table.read(names), strict=True))
    if label is not None and label not in columns:
        raise BadInput(f"{table.source} has no column {label!r} for --label")
    given = unpack(
        formula, None, data=frame_of({name: _typed(values) for name, values in columns.items()})
    )
    x = np.column_stack(given.x) if isinstance(given.x, list) else given.x
    rows = range(1, len(given.y) + 1)
    labels: Sequence[Any] = rows if label is None else [str(v) for v in columns[label]]
    return NamedPoints(x, given.y, given.names, labels, table.source, formula=given.formula)


def _typed(values: list[Any]) -> list[Any]:
    """Numbers where all that is there is a number, otherwise text."""
    missing = [v is None or str(v).strip().lower() in _NOTHING for v in values]
    try:
        return [float("nan") if gone else float(v) for v, gone in zip(values, missing, strict=True)]
    except (TypeError, ValueError):
        return [None if gone else str(v) for v, gone in zip(values, missing, strict=True)]

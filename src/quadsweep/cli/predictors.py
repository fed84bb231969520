"""From several --x, or --formula, to points with several predictors.

One --x is one predictor and goes the way it always went.
"""

from __future__ import annotations

import re

import numpy as np

from quadsweep.cli.ending import BadInput, note
from quadsweep.cli.options import FileOptions, PointOptions
from quadsweep.cli.points import (
    NamedPoints,
    column_of,
    labels_of,
    named_points,
    nearly,
    read_points,
    readers_of,
    typed_columns,
)
from quadsweep.cli.tables import SourceTable, open_table
from quadsweep.inputs.frames import table as frame_of
from quadsweep.inputs.frames import unpack


def read_predictors(options: FileOptions, columns: PointOptions) -> NamedPoints:
    """The columns asked for of a file or of a built-in data set."""
    x, y, formula, label = columns.x or [], columns.y, columns.formula, columns.label
    if formula is not None and (x or y is not None):
        raise BadInput("give --formula or --x and --y, not both")
    if formula is None and len(x) < 2:
        return read_points(options, x[0] if x else None, y, label)
    table = open_table(options)
    if formula is not None:
        return _by_formula(table, formula, label)
    if y is None:
        raise BadInput("several --x need a --y; got none")
    chosen = [column_of(table, name) for name in [*x, y]]
    twice = sorted({name for name in chosen if chosen.count(name) > 1})
    if twice:
        raise BadInput(f"column {twice[0]!r} is given twice")
    return named_points(table, readers_of(table), chosen, label)


def _by_formula(table: SourceTable, formula: str, label: str | None) -> NamedPoints:
    """What a formula makes of the file, numbers as numbers and text as categories."""
    content = typed_columns(table)
    for name, sentence in nearly(table, readers_of(table)).items():
        if re.search(rf"\b{re.escape(name)}\b", formula):
            note(f"read as text: {sentence}")
    given = unpack(formula, None, data=frame_of(content))
    x = np.column_stack(given.x) if isinstance(given.x, list) else given.x
    labels = labels_of(table, label, len(given.y))
    return NamedPoints(
        x, given.y, given.names, labels, table.source, formula=given.formula, table=table
    )

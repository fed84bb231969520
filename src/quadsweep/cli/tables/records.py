"""JSON: one object a line, or one list of objects."""

from __future__ import annotations

import json
from typing import Any

from quadsweep.cli.ending import BadInput
from quadsweep.cli.tables.opening import SAMPLE, SourceTable


def table(text: str, source: str) -> SourceTable:
    """The objects as rows, every name that occurs a column."""
    try:
        if text.lstrip()[:1] == "[":
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
    except RecursionError:
        raise BadInput(f"{source} is not JSON lines: it is nested too deeply") from None
    except ValueError as wrong:  # a JSONDecodeError, or a number of thousands of digits
        raise BadInput(f"{source} is not JSON lines: {wrong}") from None
    if not records:
        raise BadInput(f"{source} has no rows")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadInput(f"{source}: row {number} is not an object")
    names = list(dict.fromkeys(name for record in records for name in record))

    def read(wanted: list[str]) -> list[list[Any]]:
        return [[record.get(name) for record in records] for name in wanted]

    sample = [[record.get(name) for name in names] for record in records[:SAMPLE]]
    return SourceTable(source, names, sample, read)

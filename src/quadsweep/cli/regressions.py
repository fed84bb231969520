"""``quadsweep audit`` with controls: a formula, or columns by name, from a table."""

from __future__ import annotations

import difflib
import sys
from typing import Any

import typer

from quadsweep.cli.ending import BadInput, code_of_all
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.presenting import check_picture, present
from quadsweep.cli.tables import open_table
from quadsweep.cli.tables.values import typed
from quadsweep.extras import needed


def audit_regression(
    file: str,
    *,
    formula: str | None,
    term: str | None,
    x: str | None,
    y: str | None,
    controls: list[str],
    groups: str | None,
    weights: str | None,
    vcov: str | None,
    label: str | None,
    fixed: bool,
    plot: str | None,
    json: bool,
    time_limit: float | None,
    jobs: int | None,
    seed: int,
    **asked: Any,
) -> None:
    """Read the columns, ask, and show the answer."""
    from quadsweep.auditing.audit import audit

    if (formula is None) == (x is None and y is None):
        raise BadInput("give --formula (and --term), or --x, --y and --controls")
    if formula is not None and controls:
        raise BadInput("a formula has its own controls; give --formula or --controls, not both")
    if formula is None and (x is None or y is None):
        raise BadInput("give both --x and --y, or a --formula")
    check_picture(plot)
    source, columns = _columns(file)
    names = list(columns)
    for option, name in (("--x", x), ("--y", y), ("--groups", groups), ("--weights", weights),
                         ("--label", label), *(("--controls", c) for c in controls)):  # fmt: skip
        if name is not None and name not in columns:
            raise BadInput(f"{option}: {source} has no column {name!r}{_hint(name, names)}")
    with needed("a formula"):
        import pandas as pd
    frame = pd.DataFrame(columns)
    found = audit(
        formula if formula is not None else f"{_quoted(y)} ~ {_sum([x, *controls])}",
        data=frame,
        term=term if formula is not None else x,
        controls="fixed" if fixed else None,
        groups=groups,
        weights=weights,
        vcov=vcov,
        time_limit=time_limit,
        n_jobs=jobs,
        seed=seed,
        nan_policy="omit",
        progress=sys.stderr.isatty(),
        **asked,
    )
    labels = range(1, len(frame) + 1) if label is None else frame[label].tolist()
    present(found, NamedPoints(found.x, found.y, found.names, labels, source), plot, json)
    raise typer.Exit(code_of_all([found.status]))


def _columns(file: str) -> tuple[str, dict[str, Any]]:
    """All columns of a table: numbers where every value is one, text otherwise."""
    table = open_table(file)
    names = list(dict.fromkeys(table.names))
    return table.source, {
        name: typed(values, table.decimal)
        for name, values in zip(names, table.read(names), strict=True)
    }


def _quoted(name: Any) -> str:
    return str(name) if str(name).isidentifier() else f"`{name}`"


def _sum(names: list[Any]) -> str:
    return " + ".join(_quoted(name) for name in names)


def _hint(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, 1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(names)}"

"""Small data sets for examples.

The tables are from the literature, each with its source; four are published regressions. The three
``nonseparable`` ones are this project's counterexamples (``docs/theory/separability.md``), the
three ``masking`` ones its examples for audits (``docs/audit.md``).
Imports the shipped counterexamples and the formatting of results; never solves.
"""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.results.formatting import ResultMixin


@dataclass(frozen=True, eq=False)
class Dataset(ResultMixin):
    """Points, a number to keep, and where they come from.

    Attributes
    ----------
    x, y : arrays
        Several predictors are the columns of x.
    k : int
        A sensible number of points to keep.
    names : tuple of strings
        What the predictors and, last, y are, with their units.
    description : str
        What it shows, and the source.
    labels : tuple of strings
        A name for every point, or empty.
    objective : str
        The criterion of a subset.
    formula, term : str
        Of a published regression: the regression, and the term whose coefficient it is about; x and
        y are then that term and the outcome alone. Empty otherwise.
    table : dict
        Of a published regression: every column that the formula needs, by name.
    """

    json_fields = "x y k names labels objective formula term columns description"
    frame_fields = "*columns"

    x: Floats
    y: Floats
    k: int
    names: tuple[str, ...]
    description: str
    labels: tuple[str, ...] = field(default=(), repr=False)
    objective: str = "r2"
    formula: str = ""
    term: str = ""
    table: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    def summary_items(self) -> list[tuple[str, str]]:
        """What it is, as pairs."""
        return [
            ("data", f"{self.names[-1]} against {', '.join(self.names[:-1])}"),
            ("points", f"{len(self.x):,}, of which to keep {self.k:,} by {self.objective}"),
            *([("regression", f"{self.formula}, term {self.term}")] if self.formula else []),
            ("about", self.description),
        ]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by name, after the labels where there are any; of a published regression all
        that it needs."""
        if self.table:
            return dict(self.table)
        predictors = [self.x] if self.x.ndim == 1 else list(self.x.T)
        columns: dict[str, Any] = dict(zip(self.names, [*predictors, self.y], strict=True))
        return {"label": list(self.labels), **columns} if self.labels else columns


def names() -> list[str]:
    """The names that :func:`load` knows.

    >>> names()[:2]
    ['animals', 'anscombe-1']
    """
    return sorted([*_index(), *(f"nonseparable-{objective}" for objective in ("r2", "dv", "cov"))])


def load(name: str) -> Dataset:
    """A data set by name.

    >>> load("anscombe-3").x[:3]
    array([10.,  8., 13.])
    """
    if not isinstance(name, str) or name not in names():
        raise ValueError(f"data set must be one of {', '.join(names())}; got {name!r}")
    if name.startswith("nonseparable-"):
        return _load_counterexample(name)
    entry = dict(_index()[name])
    points, file = entry.pop("points", None), entry.pop("file", name)
    if points is not None:
        x, y = np.array(points, dtype=float).T.copy()
        return Dataset(x, y, **_in_tuples(entry))
    table = _read_table(file)
    chosen, outcome = entry.pop("x"), entry.pop("y")
    *columns, y = (np.array(table[title], dtype=float) for title in (*chosen, outcome))
    if entry.pop("logs", None):  # both columns, to base 10
        columns, y = [np.log10(column) for column in columns], np.log10(y)
    if entry.pop("log", False):
        y = np.log(y)
    if "formula" in entry:
        entry["table"] = {title: _read_values(texts) for title, texts in table.items()}
    if called := entry.pop("called", ""):
        entry["labels"] = [f"{called} {i}" for i in range(1, len(y) + 1)]
    elif "labels" in entry:
        rows = zip(*(table[title] for title in entry["labels"]), strict=True)
        entry["labels"] = [" ".join(row) for row in rows]
    return Dataset(
        columns[0] if len(columns) == 1 else np.column_stack(columns), y, **_in_tuples(entry)
    )


def _in_tuples(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}


@cache
def _index() -> dict[str, dict[str, Any]]:
    """What each data set is, by its name."""
    found: dict[str, dict[str, Any]] = json.loads(_read_text("index.json"))
    return found


def _read_text(name: str) -> str:
    from importlib import resources  # ten milliseconds that only those who load a table spend

    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _read_table(name: str) -> dict[str, list[str]]:
    header, *rows = csv.reader(_read_text(f"{name}.csv").splitlines())
    return {title: [row[i] for row in rows] for i, title in enumerate(header)}


def _read_values(texts: list[str]) -> list[Any]:
    """Whole numbers, numbers, or the texts as they are."""
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(text) for text in texts]
    return texts


def _load_counterexample(name: str) -> Dataset:
    from quadsweep.paper.counterexample_proofs import SHIPPED

    example = next(shipped for shipped in SHIPPED if shipped.name == name)
    x, y = np.array(example.points, dtype=float).T.copy()
    return Dataset(
        x,
        y,
        example.k,
        ("x", "y"),
        "A counterexample found by this project: no hyperplane under the lift "
        f"{' or '.join(example.lifts)} separates the {example.k} points with the best "
        f"{example.objective} from the rest, so a sweep finds them by luck or not at all.",
        objective=example.objective,
    )

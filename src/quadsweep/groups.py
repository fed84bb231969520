"""One question asked of every group of a table, and one table of the answers.

Groups are asked one after the other, in the order in which they first appear. A group that cannot
answer (too few rows, a constant column) says why in its row and does not stop the others. Where
answers have p-values, there are as many tests as groups, and both usual corrections stand beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.choosing.p_values import adjusted_p_values
from quadsweep.extras import needed
from quadsweep.inputs.frames import Columns, in_memory, unpack
from quadsweep.messages import hint
from quadsweep.results.formatting import INDEX, ResultMixin, as_frame, drawn_by, renumbered, some

# What a table of answers leaves out: the same for all, of no use beside others, or too long.
_LEFT_OUT = frozenset(
    {"objective", "method", "nodes", "seconds", "seed", "message", "success", "gap", "bound", "tol"}
    | {"level", "threshold", "max_drop", "permutations", "done", "reached", "claim", "verdict"}
    | {"rows"}  # how an answer calls its rows, where a group counts its own
)


@dataclass(frozen=True, eq=False)
class Groups(ResultMixin, Mapping[Any, Any]):
    """The answer of every group, by the group's name.

    Attributes
    ----------
    answers : dict
        What the question returned, for groups that could answer.
    failures : dict
        Why the others could not, in a sentence.
    sizes : dict
        Rows of every group.
    column : str
        What the groups are the values of.
    members : dict
        Rows of every group, positions in the table.
    labels : sequence or None
        What the table calls its rows, where that is more than the index.
    called : str
        What plain values call a row: by its index in the table, or by its label.
    """

    answers: dict[Any, Any] = field(repr=False)
    failures: dict[Any, str]
    sizes: dict[Any, int]
    column: str
    members: dict[Any, Ints] = field(repr=False)
    labels: Sequence[Any] | None = field(default=None, repr=False)
    called: str = INDEX

    def __getitem__(self, group: Any) -> Any:
        if group in self.failures:
            raise KeyError(f"{group}: {self.failures[group]}")
        return self.answers[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __str__(self) -> str:
        return self.summary()

    @property
    def success(self) -> bool:
        """True if every group has an answer and every answer is proved."""
        proved = (getattr(answer, "success", True) for answer in self.answers.values())
        return not self.failures and all(proved)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a group: its size, plain values of its answer, or why there is none."""
        rows = [
            {self.column: group, "rows": size, **_values(self.answers.get(group))}
            for group, size in self.sizes.items()
        ]
        p = np.array([float(row.get("p_value", math.nan)) for row in rows])
        for row, group in zip(rows, self.sizes, strict=True):
            row["note"] = self.failures.get(group, "")
        if np.isfinite(p).any():
            for name in ("holm", "bh"):
                for row, value in zip(rows, adjusted_p_values(p, name), strict=True):
                    row[f"p_{name}"] = float(value)
        return rows

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        lines = [("groups", f"{len(self.sizes):,} by {self.column}")]
        lines += [(f"no answer, {group}", why) for group, why in self.failures.items()]
        return lines

    def grid(self) -> list[Any]:
        """The table as texts, the header first."""
        rows = self.rows()
        names = [name for name in _header(rows) if name != "note"]
        names = [name for name in names if _worth_showing(rows, name, self.column)]
        return [names, *([_text(row.get(name)) for name in names] for row in rows)]

    plot = drawn_by(
        "groups.plot_groups", "The value, slope or p-value of every group, one below the other."
    )

    def to_frame(self) -> Any:
        """One row a group, in pandas (or polars where that is what there is)."""
        rows = self.rows()
        return as_frame({name: [row.get(name) for row in rows] for name in _header(rows)})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        rows = [{name: _plain(value) for name, value in row.items()} for row in self.rows()]
        answers = [
            {"group": _plain(group), "answer": self._by_label(group, answer)}
            for group, answer in self.answers.items()
        ]
        return {"by": self.column, "groups": rows, "answers": answers}

    def _by_label(self, group: Any, answer: Any) -> dict[str, Any]:
        """Plain values with rows as the whole table calls them, not by their place in the group."""
        labels = [_plain(label) for label in _labels(self.labels, self.members[group])]
        return renumbered(answer.to_dict(), labels, self.called)


def by(
    data: Any, column: str, question: Callable[..., Any], *, x: str, y: str, **arguments: Any
) -> Groups:
    """Ask one question of every group of a table.

    Parameters
    ----------
    data : data frame
        pandas, polars, pyarrow or what else narwhals knows.
    column : str
        Its values are the groups; rows where it is missing belong to none.
    question : callable
        :func:`solve`, :func:`audit`, :func:`significance`, :func:`stability`, :func:`path`, ...
    x, y : str
        Columns.
    **arguments :
        Passed on to the question: ``drop=0.1`` is a tenth of every group.

    Returns
    -------
    Groups

    Examples
    --------
    >>> import pandas as pd, quadsweep as qs
    >>> frame = pd.DataFrame({"site": list("aaaaabbbbb"), "t": [1, 2, 3, 4, 5] * 2,
    ...                       "h": [1, 2, 9, 4, 5, 8, 2, 3, 4, 5]})
    >>> groups = qs.by(frame, "site", qs.solve, x="t", y="h", drop=1)
    >>> groups["b"].labels[groups["b"].outliers[0]]
    5
    >>> groups.to_frame()[["site", "value", "dropped"]].values.tolist()
    [['a', 1.0, '2'], ['b', 1.0, '5']]
    """
    with needed("by"):
        import narwhals.stable.v1 as nw
    frame = nw.from_native(in_memory(data), eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"data must be a data frame; got {type(data).__name__}")
    for name in (column, x, y):
        if name not in frame.columns:
            raise ValueError(f"no column {name!r}{hint(name, frame.columns)}")
    columns = unpack(nw.to_native(frame[x]), nw.to_native(frame[y]))
    return ask_groups(columns, str(column), frame[column].to_list(), question, **arguments)


def ask_groups(
    columns: Columns, column: str, values: list[Any], question: Callable[..., Any], **arguments: Any
) -> Groups:
    """The same of columns that were read already, with the group of every row."""
    answers: dict[Any, Any] = {}
    failures: dict[Any, str] = {}
    members = _members(values)
    for group, rows in members.items():
        try:
            answers[group] = question(_part(columns, rows), **arguments)
        except ValueError as wrong:
            failures[group] = str(wrong)
    if failures and not answers:
        raise ValueError(f"no group of {column!r} has an answer; the first: "
                         f"{next(iter(failures.values()))}")  # fmt: skip
    sizes = {group: len(rows) for group, rows in members.items()}
    called = INDEX if columns.labels is None else "label"
    return Groups(answers, failures, sizes, column, members, columns.labels, called)


def _members(values: list[Any]) -> dict[Any, Ints]:
    """Rows of every value that is not missing."""
    rows: dict[Any, list[int]] = {}
    for i, value in enumerate(values):
        if value is not None and value == value:
            rows.setdefault(value, []).append(i)
    return {group: np.array(some_rows) for group, some_rows in rows.items()}


def _part(columns: Columns, rows: Ints) -> Columns:
    """Some rows; those without a label are called by their position in the whole table."""
    labels = _labels(columns.labels, rows)
    x, y = (np.asarray(values)[rows] for values in (columns.x, columns.y))
    return Columns(x, y, columns.names, labels)


def _labels(labels: Sequence[Any] | None, rows: Ints) -> list[Any]:
    return rows.tolist() if labels is None else [labels[i] for i in rows]


def _values(answer: Any) -> dict[str, Any]:
    """The plain values of an answer, and its dropped rows by label."""
    if answer is None:
        return {}
    plain = {
        name: value
        for name, value in answer.to_dict().items()
        if name not in _LEFT_OUT and (value is None or isinstance(value, (int, float, str)))
    }
    if hasattr(answer, "outliers"):
        plain["dropped"] = some(answer.outliers, answer.labels)
    return plain


def _worth_showing(rows: list[dict[str, Any]], name: str, column: str) -> bool:
    """Not what nobody has, what every row says alike in words, or another count of the rows."""
    values = [row.get(name) for row in rows]
    if name in (column, "rows", "status", "dropped"):
        return True
    if name in ("n", "n_groups") and all(row.get(name) in (None, row["rows"]) for row in rows):
        return False
    known = {value for value in values if value not in (None, "")}
    return bool(known) and not (len(known) == 1 and isinstance(values[0], str))


def _header(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)

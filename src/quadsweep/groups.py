"""One question asked of every group of a table, and one table of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.extras import needed
from quadsweep.inputs.frames import Columns, in_memory, unpack
from quadsweep.messages import hint
from quadsweep.results.formatting import (
    INDEX,
    ResultMixin,
    as_frame,
    drawn_by,
    plain,
    renumbered,
    some,
)  # fmt: skip

_SHOWN = ("k", "value", "slope", "p_value", "drop", "lower", "upper", "status")


@dataclass(frozen=True, eq=False)
class Groups(ResultMixin, Mapping[Any, Any]):
    """The answers by group, why others have none, and the rows of each in the table."""

    answers: dict[Any, Any] = field(repr=False)
    failures: dict[Any, str]
    members: dict[Any, Ints] = field(repr=False)
    column: str
    labels: Sequence[Any] | None = field(default=None, repr=False)
    called: str = INDEX  # how plain values call a row

    def __getitem__(self, group: Any) -> Any:
        if group in self.failures:
            raise KeyError(f"{group}: {self.failures[group]}")
        return self.answers[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def columns(self) -> dict[str, list[Any]]:
        """The table: a group and its size, what is known of its answer, or why there is none."""
        found: list[Any] = [self.answers.get(group) for group in self.members]
        values = {name: [getattr(one, name, None) for one in found] for name in _SHOWN}
        return {
            self.column: list(self.members),
            "rows": [len(rows) for rows in self.members.values()],
            **{name: known for name, known in values.items() if any(v is not None for v in known)},
            "dropped": ["" if not hasattr(one, "outliers") else some(one.outliers, one.labels)
                        for one in found],
            "note": [self.failures.get(group, "") for group in self.members],
        }  # fmt: skip

    def grid(self) -> list[Any]:
        """The table as texts, the header first."""
        columns = self.columns()
        del columns["note"]
        rows = zip(*columns.values(), strict=True)
        return [list(columns), *([_text(value) for value in row] for row in rows)]

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        failed = [(f"no answer, {group}", why) for group, why in self.failures.items()]
        return [("groups", f"{len(self.members):,} by {self.column}"), *failed]

    plot = drawn_by("groups.plot_groups", "The value, slope or p-value of every group.")

    def to_frame(self) -> Any:
        """One row a group, in pandas (or polars where that is what there is)."""
        return as_frame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, with rows as the whole table calls them."""
        answers = []
        for group, one in self.answers.items():
            rows = self.members[group].tolist()
            labels = rows if self.labels is None else [plain(self.labels[i]) for i in rows]
            answers.append({"group": plain(group),
                            "answer": renumbered(one.to_dict(), labels, self.called)})  # fmt: skip
        columns = plain(self.columns())
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"by": self.column, "groups": rows, "answers": answers}


def by(
    data: Any, column: str, question: Callable[..., Any], *, x: str, y: str, **arguments: Any
) -> Groups:
    """Ask one question of every group of a data frame; a group that cannot answer says why.

    ``question`` is :func:`solve`, :func:`audit`, :func:`significance` or another that takes columns
    ``x`` and ``y``, and ``arguments`` are passed on to it: ``drop=0.1`` is a tenth of every group.
    Rows where ``column`` is missing belong to none.

    Examples
    --------
    >>> import pandas as pd, quadsweep as qs
    >>> frame = pd.DataFrame({"site": list("aaaaabbbbb"), "t": [1, 2, 3, 4, 5] * 2,
    ...                       "h": [1, 2, 9, 4, 5, 8, 2, 3, 4, 5]})
    >>> groups = qs.by(frame, "site", qs.solve, x="t", y="h", drop=1)
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
    """Ask the question of columns that were read already, with the group of every row."""
    members: dict[Any, Any] = {}
    for row, value in enumerate(values):
        if value is not None and value == value:
            members.setdefault(value, []).append(row)
    answers, failures = {}, {}
    for group, rows in members.items():
        members[group] = at = np.array(rows)
        labels = rows if columns.labels is None else [columns.labels[i] for i in rows]
        part = Columns(np.asarray(columns.x)[at], np.asarray(columns.y)[at], columns.names, labels)
        try:
            answers[group] = question(part, **arguments)
        except ValueError as wrong:
            failures[group] = str(wrong)
    if failures and not answers:
        first = next(iter(failures.values()))
        raise ValueError(f"no group of {column!r} has an answer; the first: {first}")
    called = INDEX if columns.labels is None else "label"
    return Groups(answers, failures, members, column, columns.labels, called)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)

"""The rows an audit is about, and how many of them may go: it enters by `solving`'s door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quadsweep.inputs import validation
from quadsweep.inputs.frames import unpack
from quadsweep.inputs.predictors import columns_of
from quadsweep.solving.question import Question, pose

FEWEST_KEPT = 3


def pose_audit(x: Any, y: Any, data: Any = None, **settings: Any) -> Question:
    """A question about the correlation of enough rows; settings as for :func:`pose`."""
    given = unpack(x, y, data)
    columns = columns_of(given.x)
    if columns is not None and len(columns) > 1:
        raise ValueError(_which(given.names))
    question = pose(given, None, objective="r", **settings)
    if question.points.n < FEWEST_KEPT + 1:
        raise ValueError(f"an audit needs at least 4 rows; got {question.points.n}")
    return question


def _which(names: Sequence[str]) -> str:
    """What to give where x has several columns: a claim is about one of them."""
    *predictors, outcome = names
    return (
        f"x has {len(predictors)} columns ({', '.join(predictors)}): give the one the claim is "
        "about as x and the others as controls=, or a formula: "
        f"audit('{outcome} ~ {' + '.join(predictors)}', data=frame, term={predictors[0]!r})"
    )


def drop_limit(max_drop: Any, n: int) -> int:
    """The most rows that may be removed, from what the user gives."""
    if max_drop is None:
        return n - FEWEST_KEPT
    most = validation.count(max_drop, "max_drop", n)
    if not 1 <= most <= n - FEWEST_KEPT:
        raise ValueError(
            f"max_drop={max_drop} removes up to {most} of {n} rows; between 1 and n - 3 = "
            f"{n - FEWEST_KEPT} are allowed"
        )
    return most

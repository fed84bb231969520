"""The rows an audit is about, and how many of them may go: it enters by `solving`'s door."""

from __future__ import annotations

from typing import Any

from quadsweep.border import validation
from quadsweep.solving.question import Question, pose

FEWEST_KEPT = 3


def pose_audit(x: Any, y: Any, **settings: Any) -> Question:
    """A question about the correlation of enough rows; settings as for :func:`pose`."""
    question = pose(x, y, objective="r", **settings)
    if question.points.n < FEWEST_KEPT + 1:
        raise ValueError(f"an audit needs at least 4 rows; got {question.points.n}")
    return question


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

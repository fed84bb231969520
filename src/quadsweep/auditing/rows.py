"""The rows an audit is about, what they are called, and how many of them may go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from quadsweep.auditing.controls.reading import Regression
from quadsweep.auditing.design import Design
from quadsweep.inputs import validation
from quadsweep.inputs.frames import unpack
from quadsweep.inputs.standard_errors import StandardErrors
from quadsweep.inputs.validation import columns_of
from quadsweep.messages import argument
from quadsweep.solving.question import pose

FEWEST_KEPT = 3
_NAMED = 4  # controls that a sentence names
_FACTOR = re.compile(r"\[[^\[]*\]$")  # the level of a factor, in the name of its dummy


def two_columns(x: Any, y: Any, data: Any = None, *, nan_policy: str) -> Regression:
    """Two columns, read as ``solve`` does, as the regression with an intercept alone."""
    given = unpack(x, y, data)
    columns = columns_of(given.x)
    if columns is not None and len(columns) > 1:
        raise ValueError(_which(given.names))
    points = pose(given, None, objective="r", nan_policy=nan_policy).points
    n = points.n
    if n < FEWEST_KEPT + 1:
        raise ValueError(f"an audit needs at least 4 rows; got {n}")
    term, outcome = given.names
    design = Design(
        points.x, points.y, np.ones((n, 1)), 0, None, np.arange(n), None, term, outcome,
        ("Intercept",),
    )  # fmt: skip
    return Regression(
        design, points.rows, points.given, StandardErrors(), "", given.labels, table=given.frame
    )


def _which(names: Sequence[str]) -> str:
    """What to give where x has several columns: a claim is about one of them."""
    *predictors, outcome = names
    return (
        f"x has {len(predictors)} columns ({', '.join(predictors)}): give the one the claim is "
        "about as x and the others as controls=, or a formula: "
        f"audit('{outcome} ~ {' + '.join(predictors)}', data=frame, term={predictors[0]!r})"
    )


def drop_limit(max_drop: Any, size: int, kept: int = FEWEST_KEPT, what: str = "rows") -> int:
    """The most that may be removed, from what the user gives; so many must be kept."""
    if max_drop is None:
        return size - kept
    most = validation.count(max_drop, "max_drop", size)
    if not 1 <= most <= size - kept:
        raise ValueError(
            f"{argument('max_drop', max_drop)} removes up to {most} of {size} {what}; "
            f"between 1 and n - {kept} = {size - kept} are allowed"
        )
    return most


def units_limit(max_drop: Any, design: Design) -> int:
    """The same of a design: groups, or rows that leave a degree of freedom."""
    if design.units is not None:
        return drop_limit(max_drop, design.size, 1, "groups")
    return drop_limit(max_drop, design.n, max(FEWEST_KEPT, design.q + 2))


def phrase(given: Regression) -> str:
    """What is audited: "the coefficient of educ (given exper and tenure)", or a mean."""
    design = given.design
    term = f"the coefficient of {design.term}"
    if np.all(design.x == design.x[0]) and not (given.by_refits or design.link):
        if not design.q and not given.fixed and design.x[0] == 1:
            return (
                f"the {'mean' if design.weights is None else 'weighted mean'} of {design.outcome}"
            )
        term = "the intercept"
    constant = None if design.intercept is None else design.names[design.intercept]
    others = [name for name in design.listed or design.names if name != constant]
    others = [name for name in others if name not in ("Intercept", "const")]
    others = list(dict.fromkeys(_FACTOR.sub("", name) for name in others))
    how = "given" if not given.fixed else "with fixed"
    about = [f"instrumented by {design.instrument_name}"] if design.instrument_name else []
    about += [f"{how} {_listed(others)}"] if others else []
    return f"{term} ({', '.join(about)})" if about else term


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

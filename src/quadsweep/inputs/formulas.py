"""Formulas at the border: ``"y ~ a + b + C(group)"`` and a frame become columns, by formulaic.

Dummies, interactions and transformations are formulaic's. Rows with a missing value have NaN in
every column here, so that the rule for missing values is the same whatever the door.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.inputs.frames import Columns

_INTERCEPT = "Intercept"


@dataclass(frozen=True)
class Formula:
    """A formula that has seen data: levels of factors and states of transformations are fixed.

    Attributes
    ----------
    text : the formula as given.
    intercept : whether it has one.
    """

    text: str
    intercept: bool
    _predictors: Any

    def predictors(self, data: Any) -> Floats:
        """The predictors of new data, a row of NaN where something is missing."""
        frame = _pandas(data)
        return _spread(self._predictors.get_model_matrix(frame, na_action="drop"), len(frame))


def evaluated(text: str, data: Any) -> Columns:
    """The columns a formula makes of a frame.

    >>> import pandas as pd
    >>> given = evaluated("y ~ a + C(g)", pd.DataFrame({"y": [1, 2], "a": [3, 4], "g": ["u", "v"]}))
    >>> given.names, given.formula.intercept
    (('a', 'C(g)[T.v]', 'y'), True)
    """
    try:
        import formulaic
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "formulas need formulaic; pip install 'quadsweep[formula]'"
        ) from None
    frame = _pandas(data)
    try:
        parts = formulaic.Formula(text).get_model_matrix(frame, na_action="drop")
    except Exception as wrong:
        reason = " ".join(re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(wrong)).split())
        raise ValueError(f"the formula {text!r} cannot be evaluated: {reason}") from None
    left, right = getattr(parts, "lhs", None), getattr(parts, "rhs", None)
    if left is None or right is None:
        raise ValueError(f"a formula has y on the left of ~; got {text!r}")
    if left.shape[1] != 1:
        raise ValueError(f"the left side of a formula must be one column; got {left.shape[1]}")
    names = [str(name) for name in right.columns if name != _INTERCEPT]
    if not names:
        raise ValueError(f"a formula needs a predictor on the right of ~; got {text!r}")
    X = _spread(right, len(frame))
    spec = Formula(text, _INTERCEPT in right.columns, right.model_spec)
    index = getattr(data, "index", None)
    labels = None if index is None or not hasattr(index, "tolist") else index.tolist()
    if labels == list(range(len(frame))):
        labels = None
    return Columns(
        list(X.T) if len(names) > 1 else X[:, 0],
        _spread(left, len(frame))[:, 0],
        (*names, str(left.columns[0])),
        labels,
        data,
        formula=spec,
    )


def _pandas(data: Any) -> Any:
    """A pandas frame whose index counts the rows."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"data must be a data frame; got {type(data).__name__}")
    return frame.to_pandas().reset_index(drop=True)


def _spread(matrix: Any, n: int) -> Floats:
    """The rows formulaic kept, at their places among all, without the column of ones."""
    columns = [name for name in matrix.columns if name != _INTERCEPT]
    out = np.full((n, len(columns)), np.nan)
    out[matrix.index.to_numpy()] = matrix[columns].to_numpy(dtype=np.float64)
    return out

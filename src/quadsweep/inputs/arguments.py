"""The first arguments of every question, in one order whichever way they are given.

(x, y)                        columns; or one frame of two columns, or a built-in data set
(frame, x="a", y="b")         a frame or a source, and names of its columns
(x="a", y="b", data=frame)    the same
("y ~ a + b", frame)          a formula and a frame, as in statsmodels; or data=frame
(model)                       a fitted model, where the question takes one; a data set with a
                              published regression stands for that regression there
"""

from __future__ import annotations

from typing import Any

from quadsweep.datasets import Dataset
from quadsweep.inputs.models import describe, is_model

First = tuple[Any, Any, Any]


def normalize_arguments(
    question: str, points: Any, x: Any, y: Any, data: Any, models: bool = False
) -> First:
    """Put the first arguments in one order: x, y, data; x may be a formula or a model.

    Parameters
    ----------
    question : the function that was called, for what is wrong.
    points : its first argument, without a name.
    models : whether the function takes fitted models.

    >>> normalize_arguments("solve", "y ~ a", None, {"y": [1, 2], "a": [3, 5]}, None)
    ('y ~ a', None, {'y': [1, 2], 'a': [3, 5]})
    >>> normalize_arguments("solve", {"y": [1, 2], "a": [3, 5]}, "a", "y", None)
    ('a', 'y', {'y': [1, 2], 'a': [3, 5]})
    """
    if points is not None and x is not None:
        if data is not None:
            raise TypeError(
                f"{question} has the columns' table twice: as its first argument, and as data="
            )
        points, data = None, points
    x = points if x is None else x
    if models and isinstance(x, Dataset) and x.formula and y is None and data is None:
        x, data = x.formula, x
    if isinstance(x, str) and "~" in x:
        return _of_formula(question, x, y, data)
    if not models and x is not None and not hasattr(x, "__len__") and is_model(x):
        raise TypeError(
            f"{question} takes columns, a data frame or a formula; got {describe(x)} (audit takes "
            "fitted models)"
        )
    return x, y, data


def is_formula(x: Any) -> bool:
    return isinstance(x, str) and "~" in x


def _of_formula(question: str, formula: str, y: Any, data: Any) -> First:
    if data is not None and y is not None:
        raise ValueError(f"y must be left out beside a formula; got {formula!r} and {y!r}")
    frame = y if data is None else data
    if frame is None or isinstance(frame, str):
        raise TypeError(
            f"a formula needs the data frame of its columns: {question}({formula!r}, frame)"
        )
    return formula, None, frame

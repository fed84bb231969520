"""Formulas: ``"y ~ a + b + C(group)"`` and a frame become an equation, by formulaic.

Dummies, interactions and transformations are formulaic's. After a bar stand the fixed effects, and
after one more the instruments, as pyfixest writes them: ``"y ~ a | firm + year | x ~ z"``; or, as
linearmodels does, ``"y ~ a + [x ~ z]"``. Rows with a missing value have NaN in every column here,
so that one rule for missing values serves all.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.datasets import Dataset
from quadsweep.extras import needed
from quadsweep.inputs.equations import Equation, Evaluated
from quadsweep.inputs.frames import Columns, found, in_memory, table
from quadsweep.inputs.validation import column

INTERCEPT = "Intercept"
_BRACKETED = re.compile(r"\[([^\[\]]*~[^\[\]]*)\]")  # linearmodels' instruments


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
        frame = _pandas(data)[0]
        matrix = self._predictors.get_model_matrix(frame, na_action="drop")
        return _spread(matrix, _predictors(matrix), len(frame))


@dataclass(frozen=True)
class FormulaParts:
    """A formula's text, taken apart at its bars."""

    main: str
    absorbed: tuple[str, ...] = ()
    endogenous: str | None = None
    instruments: tuple[str, ...] = ()


def parts(text: str) -> FormulaParts:
    """The equation, its fixed effects and its instruments.

    >>> parts("y ~ a + b | firm + year")
    FormulaParts(main='y ~ a + b', absorbed=('firm', 'year'), endogenous=None, instruments=())
    >>> parts("y ~ a + [x ~ z]")
    FormulaParts(main='y ~ a', absorbed=(), endogenous='x', instruments=('z',))
    """
    first, *more = (part.strip() for part in split(text, "|"))
    within = _BRACKETED.findall(first)
    if within:
        first = re.sub(r"\+\s*(?=\+|$)|(?<=~)\s*\+", "", _BRACKETED.sub("", first)).strip()
        first = f"{first} 1" if first.endswith("~") else first
    instruments = [*within, *(part for part in more if "~" in part)]
    effects = [part for part in more if "~" not in part]
    if len(effects) > 1 or len(instruments) > 1:
        raise ValueError(
            f"a formula has one part of fixed effects and one of instruments after its bars, "
            f"'y ~ a | firm + year | x ~ z'; got {text!r}"
        )
    absorbed = [e for e in split(effects[0], "+") if e not in ("0", "1")] if effects else []
    if not instruments:
        return FormulaParts(first, tuple(absorbed))
    left, _, right = instruments[0].partition("~")
    return FormulaParts(first, tuple(absorbed), left.strip(), tuple(split(right, "+")))


def split(text: str, mark: str) -> list[str]:
    """The pieces between marks that are in no bracket and no quotes."""
    pieces, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        depth += (letter in "([{") - (letter in ")]}")
        if letter == mark and not depth and not quote:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip() for piece in pieces]


def columns(text: str, data: Any) -> Columns:
    """The outcome and the predictors that a formula makes of a frame.

    >>> import pandas as pd
    >>> given = columns("y ~ a + C(g)", pd.DataFrame({"y": [1, 2], "a": [3, 4], "g": ["u", "v"]}))
    >>> given.names, given.formula.intercept
    (('a', 'C(g)[T.v]', 'y'), True)
    """
    read = parts(text)
    if read.absorbed or read.instruments:
        raise ValueError(
            f"fixed effects and instruments after '|' are for audit; got {text!r} (write "
            f"fixed effects as C({read.absorbed[0] if read.absorbed else '...'}))"
        )
    frame, labels = _pandas(data)
    left, right = _matrices(text, frame)
    names = _predictors(right)
    if not names:
        raise ValueError(f"a formula needs a predictor on the right of ~; got {text!r}")
    X = _spread(right, names, len(frame))
    return Columns(
        list(X.T) if len(names) > 1 else X[:, 0],
        _spread(left, list(left.columns), len(frame))[:, 0],
        (*(str(name) for name in names), str(left.columns[0])),
        labels,
        data,
        formula=Formula(text, INTERCEPT in right.columns, right.model_spec),
    )


def equation(text: str, data: Any) -> Equation:
    """The regression that a formula describes, with its fixed effects and instruments."""
    read = parts(text)
    frame, labels = _pandas(data)

    def evaluate(rows: Ints) -> Evaluated:
        return _evaluate(read, frame.iloc[rows].reset_index(drop=True))

    found = _evaluate(read, frame)
    return Equation(
        found.outcome, found.y, found.names, found.X, np.arange(len(frame)), len(frame), labels,
        frame, tuple((e, effect(e, frame)) for e in read.absorbed), read.endogenous,
        found.instruments, evaluate=evaluate,
        term=data.term if isinstance(data, Dataset) and data.formula == text else None,
    )  # fmt: skip


def _evaluate(read: FormulaParts, frame: Any) -> Evaluated:
    """Compute the columns of a formula from a frame, with NaN where something is missing."""
    n = len(frame)
    left, right = _matrices(read.main, frame)
    names = [str(name) for name in right.columns]
    X = _spread(right, list(right.columns), n)
    instruments: tuple[tuple[str, Floats], ...] = ()
    if read.endogenous is not None:
        _, more = _matrices(f"{read.endogenous} ~ {' + '.join(read.instruments)} - 1", frame)
        values = _spread(more, list(more.columns), n)
        instruments = tuple(zip(map(str, more.columns), values.T, strict=True))
        _, one = _matrices(f"{read.endogenous} ~ {read.endogenous} - 1", frame)
        if one.shape[1] != 1:
            raise ValueError(f"one endogenous column is allowed; got {read.endogenous!r}")
        names, X = [read.endogenous, *names], np.column_stack([_spread(one, one.columns, n), X])
    y = _spread(left, list(left.columns), n)[:, 0]
    return Evaluated(str(left.columns[0]), y, tuple(names), X, instruments)


def effect(name: str, frame: Any) -> Any:
    """The labels of a fixed effect: a column, or ``firm^year`` for every pair of two."""
    wanted = [part.strip() for part in name.split("^")]
    wanted = [part[2:-1] if part.startswith("C(") else part for part in wanted]
    values = [np.asarray(frame[found(part, list(frame.columns))], dtype=object) for part in wanted]
    if len(values) == 1:
        return values[0]
    gone = np.any([[v is None or v != v for v in column] for column in values], axis=0)
    pairs = np.array(["^".join(map(str, row)) for row in zip(*values, strict=True)], dtype=object)
    pairs[gone] = None
    return pairs


def _matrices(text: str, frame: Any) -> tuple[Any, Any]:
    """The left and the right side, without the rows that have a missing value."""
    with needed("a formula"):
        import formulaic
    frame = _with_numbers(text, frame)
    try:
        made = formulaic.Formula(text).get_model_matrix(frame, na_action="drop")
    except Exception as wrong:
        reason = " ".join(re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(wrong)).split())
        raise ValueError(f"the formula {text!r} cannot be evaluated: {reason}") from None
    left, right = getattr(made, "lhs", None), getattr(made, "rhs", None)
    if left is None or right is None:
        raise ValueError(f"a formula has the outcome on the left of ~; got {text!r}")
    if left.shape[1] != 1:
        raise ValueError(
            f"the left side of a formula must be one numeric column; got {left.shape[1]} of "
            f"{text!r}"
        )
    return left, right


def _with_numbers(text: str, frame: Any) -> Any:
    """Numbers that a frame keeps as objects, for a cell of text or None among them, as a column.

    Otherwise each of them would become a dummy. What is inside C(...) is meant as a factor. Whole
    numbers that floating point would round are refused.
    """
    bare = set(re.findall(r"\w+", re.sub(r"\bC\([^()]*\)", "", text)))
    for name in bare.intersection(frame.columns):
        if getattr(frame[name].dtype, "kind", "") in "iu":
            column(frame[name].to_numpy(), f"column {name!r}")
    mixed = {
        name: column(frame[name].to_numpy(), f"column {name!r}")
        for name in bare.intersection(frame.columns)
        if frame[name].dtype == object
        and any(isinstance(cell, numbers.Real) and cell == cell for cell in frame[name])
    }
    return frame.assign(**mixed) if mixed else frame


def _predictors(matrix: Any) -> list[Any]:
    return [name for name in matrix.columns if name != INTERCEPT]


def _pandas(data: Any) -> tuple[Any, Sequence[Any] | None]:
    """A pandas frame whose index counts the rows, and what the rows were called."""
    with needed("a formula"):
        import narwhals.stable.v1 as nw
        import pandas  # noqa: F401
    if isinstance(data, Dataset):
        data = data.to_frame()
    data = table(dict(data)) if isinstance(data, Mapping) else in_memory(data)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"data must be a data frame; got {type(data).__name__}")
    index: Any = getattr(data, "index", None)
    labels = index.tolist() if hasattr(index, "tolist") else None
    whole = frame.to_pandas().reset_index(drop=True)
    return whole, None if labels == list(range(len(whole))) else labels


def _spread(matrix: Any, names: Any, n: int) -> Floats:
    """The rows formulaic kept, at their places among all, NaN elsewhere."""
    out = np.full((n, len(names)), np.nan)
    out[matrix.index.to_numpy()] = matrix[list(names)].to_numpy(dtype=np.float64)
    return out

"""A regression as an equation: the outcome, the columns of its right side, and what else it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quadsweep.arrays import Floats, Ints
from quadsweep.inputs.fitted.protocol import Model
from quadsweep.inputs.standard_errors import StandardErrors


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The columns of a formula as computed from some rows, by name; NaN where one is missing."""

    outcome: str
    y: Floats
    names: tuple[str, ...]
    X: Floats
    instruments: tuple[tuple[str, Floats], ...] = ()


@dataclass(frozen=True, eq=False)
class Equation:
    """What a formula or a fitted model says.

    Attributes
    ----------
    outcome, names : what y and the columns of X are called; the intercept is one of the columns.
    y, X : the rows in use; of a formula all rows, with NaN where something is missing.
    absorbed : fixed effects, each a name and the rows' labels.
    instruments : names and columns, in the place of the one column of X called ``endogenous``.
    weights, errors : of a fitted model; otherwise None.
    link : ``logit`` or ``poisson`` of a fitted model that is not least squares.
    rows, given : where the rows in use are among those given, and how many were given.
    term : the term that a data set says its regression is about, or None.
    labels, table : what the rows given are called, and the table they are from.
    working : of a model without a search, which only refits of ``model`` answer for: the outcome of
        a weighted regression that has its coefficients, or nearly, to find good removals by.
    evaluate : computes the columns anew from some of the rows given, of a formula.
    model : what fits the same regression again to some of the rows in use, or None.
    """

    outcome: str
    y: Floats
    names: tuple[str, ...]
    X: Floats
    rows: Ints
    given: int
    labels: Sequence[Any] | None = None
    table: Any = None
    absorbed: tuple[tuple[str, Any], ...] = ()
    endogenous: str | None = None
    instruments: tuple[tuple[str, Floats], ...] = ()
    weights: Floats | None = None
    errors: StandardErrors | None = None
    link: str = ""
    term: str | None = None
    evaluate: Callable[[Ints], Evaluated] | None = None
    model: Model | None = None
    working: Floats | None = None

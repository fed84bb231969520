"""What a model answers when it is fitted again to some of its rows, and when two answers agree.

A model is whatever can be fitted again with all its options: a fitted model of another library, a
formula, or arrays. Rows are positions 0..n-1 among the rows that the model used. What an audit
says about a removal is what ``refit`` returns for the rows kept; ``columns`` serve the search only.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from quadsweep.arrays import Floats, Ints

TOLERANCE = 1e-8  # between figures that are to be the same


class Figures(NamedTuple):
    """What a model states about one term; ``df`` is infinite where p is that of the normal."""

    estimate: float
    se: float
    statistic: float
    p: float
    df: float


@dataclass(frozen=True)
class Fitted:
    """A model fitted to some of its rows.

    Attributes
    ----------
    figures : of the terms that have them on these rows.
    undefined : of the other terms, the reason in one sentence. A removal after which the term is
        undefined breaks no claim.
    used : the rows that the library kept of those given; fewer where it drops singletons.
    """

    figures: Mapping[str, Figures]
    undefined: Mapping[str, str]
    used: Ints


class Model(Protocol):
    """A model that can be fitted again.

    Attributes
    ----------
    name : what to call it: "OLS results of statsmodels".
    n : how many rows it used.
    labels : what these rows are called in the user's table.
    terms : the terms whose refit to all rows returns the stated figures.
    assumed : options that the library does not keep and all rows do not tell apart, as they were
        taken; and transforms that stay as computed from all rows. To be printed.
    """

    @property
    def name(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def labels(self) -> Sequence[Hashable]: ...
    @property
    def terms(self) -> tuple[str, ...]: ...
    @property
    def assumed(self) -> tuple[str, ...]: ...

    def refit(self, rows: Ints, terms: Sequence[str]) -> Fitted:
        """Fits the model with all its options to some of its rows."""
        ...

    def columns(self) -> Floats | None:
        """The columns of ``terms`` as computed from all rows; None if there are only refits."""
        ...


class Refused(TypeError):
    """The model cannot be audited, whatever the rows."""


def difference(stated: Figures, again: Figures) -> float:
    """Returns the largest relative difference of two figures, that of an estimate near zero in
    units of its standard error and that of p where a double resolves it."""
    apart = [
        abs(stated.estimate - again.estimate) / max(abs(stated.estimate), stated.se),
        abs(stated.se - again.se) / stated.se,
        abs(stated.statistic - again.statistic) / max(abs(stated.statistic), 1.0),
        0.0 if stated.df == again.df else 1.0,
    ]
    if stated.p > 1e-12:  # the relative error of p grows with the square of the statistic
        apart.append(abs(stated.p - again.p) / stated.p / max(1.0, stated.statistic**2))
    return float(max(apart))

"""What the adapters of all libraries share: refits, undefined terms, and the check on all rows.

An adapter fits its model again with the library's own code. It is accepted if a fit to all rows
returns the figures that the model states. Options that the library does not keep are found by
trying them; where several return the same figures, the library's default is assumed and named.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.inputs.equations import Equation
from quadsweep.inputs.fitted.protocol import TOLERANCE, Figures, Fitted, Refused, difference

Options = dict[str, Any]

_FAILURES = re.compile("Convergence|Separation|HessianInversion|IterationLimit|Inference")
_NULL = 1e-11  # singular values of unit columns below this are rounding
_PART = 1e-6  # of a null vector: the term takes part in it
_BOUNDARY = 1e-5  # fitted means so near to 0 or 1 may be those of separated rows


class Undefined(ValueError):
    """The model has no figures on these rows."""


@dataclass(frozen=True)
class FittedDesign:
    """The columns of some rows as computed from all rows, and what separates their outcomes.

    Attributes
    ----------
    names, X : the columns.
    outcome : ``binary`` or ``count`` where fitted means may reach the end of their range, or "".
    y : the outcome; a share where it is binary.
    """

    names: Sequence[str]
    X: Floats
    outcome: str = ""
    y: Floats | None = None

    def find_unidentified(self) -> set[str]:
        """Columns that the others explain: a library would drop one or share them out."""
        size = np.sqrt((self.X**2).sum(axis=0))
        unit = self.X / np.where(size > 0, size, 1.0)
        _, values, axes = np.linalg.svd(np.linalg.qr(unit, mode="r"))
        null = axes[np.concatenate([values, np.zeros(len(axes) - len(values))]) < _NULL]
        part = np.abs(null).max(axis=0, initial=0.0) > _PART
        return {name for name, lost in zip(self.names, part, strict=True) if lost}

    def has_recession(self, term: str) -> bool:
        """Whether the likelihood never falls in a direction that moves the term."""
        from scipy.optimize import linprog

        assert self.y is not None
        size = np.maximum(np.abs(self.X).max(axis=0), 1e-300)
        X, y = self.X / size, self.y
        low = y == 0  # their linear predictor may fall without end
        fixed = ~low if self.outcome == "count" else (y > 0) & (y < 1)
        rising = np.zeros_like(low) if self.outcome == "count" else y == 1
        bounds, goal = (-1.0, 1.0), np.zeros(X.shape[1])
        goal[list(self.names).index(term)] = 1.0
        signed = np.vstack([X[low], -X[rising]])
        rows = {"A_ub": signed, "b_ub": np.zeros(len(signed))} if len(signed) else {}
        if fixed.any():  # X'X has the null vectors of X, and few rows
            kept = np.asarray(np.linalg.qr(X[fixed], mode="r"))
            rows |= {"A_eq": kept, "b_eq": np.zeros(len(kept))}
        ends = (linprog(sign * goal, bounds=bounds, method="highs", **rows) for sign in (1, -1))
        return any(end.status != 0 or -end.fun > _PART for end in ends)


class Adapter(ABC):
    """A fitted model that its own library fits again.

    Attributes
    ----------
    model : what was fitted.
    places, given : where its rows are in the table it was given, and how many rows this has.
    index : what the rows of that table are called.
    chosen : the options that the library does not keep, as they are passed to it.
    """

    library: ClassVar[str]
    joint_options: ClassVar[Options] = {}  # of the library's Wald test, and its two figures
    joint_figures: ClassVar[tuple[str, str]] = ("statistic", "pvalue")
    name: str
    n: int
    places: Ints
    given: int
    index: Sequence[Hashable]
    terms: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    chosen: Options

    def __init__(self, model: Any, data: Any = None) -> None:
        self.model, self.table = model, data
        self.chosen = {}

    @property
    def labels(self) -> Sequence[Hashable]:
        return [self.index[place] for place in self.places]

    @property
    def row_names(self) -> Sequence[Hashable] | None:
        """What the rows of the table are called, unless by their places."""
        return None if list(self.index) == list(range(self.given)) else self.index

    def require_length(self, data: Any, length: int) -> None:
        if len(data) != length:
            raise ValueError(f"data must be the {length:,} rows that the model was given; got "
                             f"{len(data):,}")  # fmt: skip

    @abstractmethod
    def equation(self) -> Equation:
        """The regression as columns; refused where there is no search for such a model."""

    @abstractmethod
    def fit(self, rows: Ints) -> Any:
        """The library's own result on some rows, with the options ``chosen``."""

    @abstractmethod
    def read_figures(self, result: Any) -> dict[str, Figures]:
        """What a result of the library states, by term."""

    def test_jointly(self, result: Any, terms: Sequence[str]) -> tuple[float, float]:
        """The statistic and the p-value of the library's test that some coefficients are zero."""
        names = list(self.read_figures(result))
        selection = np.eye(len(names))[[names.index(term) for term in terms]]
        found = result.wald_test(selection, **self.joint_options)
        statistic, p = (float(np.squeeze(getattr(found, name))) for name in self.joint_figures)
        return statistic, p

    def design(self, rows: Ints) -> FittedDesign | None:
        """The columns on some rows; None where the library drops columns by itself."""
        return None

    def list_trials(self) -> Iterable[Options]:
        """Values of the options that the library does not keep, its defaults first."""
        return [{}]

    def find_failure(self, result: Any) -> str:
        """Why a result without warning is none, or ""."""
        return ""

    def approach_boundary(self, result: Any) -> float:
        """The distance of the fitted means from the end of their range."""
        return 1.0

    def find_used(self, result: Any, rows: Ints) -> Ints:
        """The rows that the library kept of those given."""
        return rows

    def columns(self) -> Floats | None:
        """The columns of ``terms``; None if there are only refits."""
        every = self.design(np.arange(self.n))
        if every is None:
            return None
        return every.X[:, [list(every.names).index(term) for term in self.terms]]

    def refit(self, rows: Ints, terms: Sequence[str]) -> Fitted:
        rows = np.sort(np.asarray(rows, dtype=np.int64))
        if len(rows) == 0:
            return Fitted({}, dict.fromkeys(terms, "no row is left"), rows)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                result = self.fit(rows)
                figures, failure = self.read_figures(result), self.find_failure(result)
                near = self.approach_boundary(result) < _BOUNDARY
                used = self.find_used(result, rows)
            except MemoryError:
                raise
            except Exception as error:  # whatever the library raises where there is no fit
                return Fitted({}, dict.fromkeys(terms, _first_line(error)), rows)
        warned = [_first_line(w.message) for w in said if _FAILURES.search(w.category.__name__)]
        failures = [each for each in (failure, *warned) if each]
        if failures:
            return Fitted({}, dict.fromkeys(terms, failures[0]), used)
        return self._judge(used, terms, figures, near)

    def _judge(
        self, rows: Ints, terms: Sequence[str], figures: Mapping[str, Figures], near: bool
    ) -> Fitted:
        """Which terms have figures that mean what they mean on all rows."""
        stated, undefined = {}, {}
        must = self.must_identify(figures)
        design = self.design(rows) if near or must else None
        unidentified = set(terms if must else ()) if design is None else design.find_unidentified()
        for term in terms:
            found = figures.get(term)
            if found is None or not np.isfinite(found[:4]).all() or found.se <= 0:
                undefined[term] = f"the fit has no {term}, or no standard error of it"
            elif term in unidentified:
                undefined[term] = f"{term} is not identified by these rows"
            elif near and (design is None or design.y is None or design.has_recession(term)):
                undefined[term] = (
                    "the rows are separated: fitted means reach the end of their range"
                )
            else:
                stated[term] = found
        return Fitted(stated, undefined, rows)

    def must_identify(self, figures: Mapping[str, Figures]) -> bool:
        """Whether figures may be stated for a term that the other columns explain."""
        return True

    def check(self, fit_options: Options) -> None:
        """Accept the model if a fit to all rows returns its figures; find the options for it."""
        every = np.arange(self.n)
        stated = {
            term: figures for term, figures in self.read_figures(self.model).items()
            if np.isfinite(figures[:4]).all() and figures.se > 0
        }  # fmt: skip
        if not stated:
            raise Refused(f"{self.name} state no standard errors; fit them with fit()")
        right: list[tuple[float, Options, tuple[str, ...]]] = []
        reason = ""
        tried: list[Options] = []
        for trial in self.list_trials():
            self.chosen = trial | fit_options
            if self.chosen in tried:
                continue
            tried.append(self.chosen)
            again = self.refit(every, list(stated))
            apart = max((difference(stated[t], f) for t, f in again.figures.items()), default=1.0)
            if again.figures and apart <= TOLERANCE:
                right.append((apart, self.chosen, tuple(again.figures)))
            elif not reason:
                why = next(iter(again.undefined.values()), "") if not again.figures else ""
                reason = why or f"figures {apart:.1e} apart"
        if not right:
            raise Refused(f"{self.name}: fitted again to the same rows, the model differs "
                          f"({reason})")  # fmt: skip
        _, self.chosen, self.terms = min(right, key=lambda found: found[0])  # the first of equals
        self.assumed += tuple(
            f"{key}={value!r}" for key, value in self.chosen.items()
            if any(other[key] != value for _, other, _ in right)
            and key not in (*fit_options, "tol")  # which is about accuracy alone
        )  # fmt: skip


def refuse_if(*reasons: tuple[Any, str]) -> None:
    """Raise the first reason that holds."""
    for holds, sentence in reasons:
        if holds:
            raise Refused(sentence)


def tabulate_figures(names: Iterable[Any], columns: Iterable[Any], df: Any) -> dict[str, Figures]:
    """Figures by term from columns of estimates, standard errors, statistics and p-values."""
    parts = [np.asarray(column, dtype=np.float64).ravel().tolist() for column in columns]
    return {
        str(name): Figures(estimate, se, statistic, p, float(df))
        for name, estimate, se, statistic, p in zip(names, *parts, strict=True)
    }


def slice_rows(value: Any, rows: Ints, n: int) -> Any:
    """An option by row on some rows, a matrix of rows on both sides; other options unchanged."""
    if value is None or callable(value) or np.ndim(value) == 0 or len(value) != n:
        return value
    array = np.asarray(value)
    return array[np.ix_(rows, rows) if array.shape == (n, n) else rows]


def require_two_clusters(labels: Any) -> None:
    """Libraries divide by the number of clusters less one."""
    array = np.asarray(labels)
    for column in array.reshape(len(array), -1).T:
        if len(set(column.tolist())) < 2:
            raise Undefined("fewer than two clusters are left")


def complement(n: int, rows: Any) -> Mask:
    """True for the positions that are not among ``rows``."""
    mask = np.ones(n, dtype=bool)
    mask[np.asarray(rows, dtype=np.int64)] = False
    return mask


def _first_line(error: Any) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0]

"""The regression that is audited: y on a term x and controls Z, all refitted on the rows kept.

Z includes the intercept, if there is one. What is removed at once is a unit: a row, or a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.span import Span
from quadsweep.auditing.spread import Column
from quadsweep.least_squares import spans_constant


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of a regression, and which rows go together.

    Attributes
    ----------
    x, y : the term and the outcome.
    controls : n by q, the intercept included.
    intercept : the position of the intercept among the controls, or None.
    weights : positive, or None.
    unit : for every row the number of its unit.
    units : the units' names, or None where a unit is a row.
    link : ``logit`` or ``poisson``; "" for least squares.
    instrument, instrument_name : of the term, where it is instrumented.
    fixed : degrees of freedom that were used up before, by controls that are not refitted.
    term, outcome, names : what they are called; names are those of the controls.
    absorbed : for each fixed effect the number of every row's level.
    classes : the class of every row, -1 for none, of a partition whose dummies are not among the
        controls but fitted by means; None where all dummies are columns.
    listed : the names of all controls in their order, where ``names`` has not all of them.
    """

    x: Floats
    y: Floats
    controls: Floats
    intercept: int | None
    weights: Floats | None
    unit: Ints
    units: Sequence[Any] | None
    term: str = "x"
    outcome: str = "y"
    names: tuple[str, ...] = field(default=())
    fixed: int = 0
    absorbed: tuple[Ints, ...] = ()
    instrument: Floats | None = None
    instrument_name: str = ""
    link: str = ""
    classes: Ints | None = None
    listed: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.x)

    @cached_property
    def is_centred(self) -> bool:
        """Whether R2 is about the mean: where the term and the controls span a constant."""
        if self.intercept is not None:
            return True
        columns = np.column_stack([self.controls, self.x])
        return self.classes is None and not self.fixed and spans_constant(columns)

    @cached_property
    def q(self) -> int:
        """Controls, the classes' dummies and the intercept included."""
        columns = int(self.controls.shape[1])
        if self.classes is None:
            return columns
        covered = self.intercept is not None and bool(np.all(self.classes >= 0))
        return columns + len(np.unique(self.classes[self.classes >= 0])) - covered

    def expanded(self) -> Design:
        """The same with a column for each class."""
        if self.classes is None:
            return self
        every = np.unique(self.classes[self.classes >= 0])
        if self.intercept is not None and np.all(self.classes >= 0):
            every = every[1:]
        dummies = (self.classes[:, None] == every).astype(np.float64)
        names = (*self.names, *(f"class[{c}]" for c in every.tolist()))
        controls = np.column_stack([self.controls, dummies])
        return replace(self, controls=controls, names=names, classes=None)

    def with_controls(self, keep: list[int]) -> Design:
        """The same with some of the controls' columns, the intercept's among them."""
        return replace(
            self,
            controls=np.ascontiguousarray(self.controls[:, keep]),
            names=tuple(self.names[j] for j in keep),
            intercept=None if self.intercept is None else keep.index(self.intercept),
        )

    def on_rows(self, rows: Ints) -> Design:
        """The same on some rows, of which each is a unit."""
        picked: dict[str, Any] = {
            name: None if value is None else np.ascontiguousarray(value[rows])
            for name in ("x", "y", "controls", "weights", "instrument", "classes")
            for value in [getattr(self, name)]
        }
        absorbed = tuple(codes[rows] for codes in self.absorbed)
        return replace(self, **picked, absorbed=absorbed, unit=np.arange(len(rows)), units=None)

    @cached_property
    def size(self) -> int:
        """How many units there are."""
        return self.n if self.units is None else len(self.units)

    @cached_property
    def members(self) -> list[Ints]:
        """The rows of each unit."""
        order, first = self._by_unit
        return np.split(order, first[1:])

    def rows(self, units: Ints) -> Ints:
        """The rows of these units, sorted."""
        if self.units is None:
            return np.sort(units)
        chosen = np.zeros(self.size, dtype=bool)
        chosen[units] = True
        return np.flatnonzero(chosen[self.unit])

    def kept(self, units: Ints) -> Ints:
        """The rows without those of these units, sorted."""
        inside = np.ones(self.n, dtype=bool)
        inside[self.rows(units)] = False
        return np.flatnonzero(inside)

    def sums(self, values: Floats) -> Floats:
        """Sums over the rows of each unit."""
        if self.units is None:
            return values
        order, first = self._by_unit
        return np.asarray(np.add.reduceat(values[order], first, axis=0))

    def products(self, columns: Floats) -> Floats:
        """Of each unit, the sums of products of these columns."""
        if self.units is None:
            return np.asarray(columns[:, :, None] * columns[:, None, :])
        return np.array([columns[rows].T @ columns[rows] for rows in self.members])

    @cached_property
    def _by_unit(self) -> tuple[Ints, Ints]:
        """The rows in the order of their units, and where those of each begin."""
        order = np.argsort(self.unit, kind="stable")
        return order, np.append(0, np.cumsum(np.bincount(self.unit, minlength=self.size))[:-1])

    @cached_property
    def root_weights(self) -> Floats:
        return np.ones(self.n) if self.weights is None else np.sqrt(self.weights)

    @cached_property
    def scaled(self) -> tuple[Floats, Floats, Floats]:
        """x, y and the controls about their medians, times the roots of the weights."""
        root = self.root_weights
        z = np.empty(self.controls.shape)
        for j, column in enumerate(self.controls.T):
            z[:, j] = self.centred(column)
        return root * self.centred(self.x), root * self.centred(self.y), root[:, None] * z

    @cached_property
    def span(self) -> Span:
        """Of the controls on all rows, scaled."""
        return Span(self.scaled[2], self.root_weights, self.classes)

    @cached_property
    def ordered(self) -> tuple[Column, Column]:
        """x and y, sorted."""
        return Column(self.x), Column(self.y)

    @cached_property
    def scaled_instrument(self) -> Floats:
        """The instrument, or the term itself, likewise."""
        if self.instrument is None:
            return self.scaled[0]
        return np.asarray(self.root_weights * self.centred(self.instrument))

    def centred(self, column: Floats) -> Floats:
        """With an intercept any constant may go; the rounding is then each row's own."""
        if self.intercept is None or np.all(column == column[0]):
            return column
        return np.asarray(column - np.partition(column, (self.n - 1) // 2)[(self.n - 1) // 2])

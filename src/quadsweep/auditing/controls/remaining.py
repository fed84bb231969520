"""What is left of a sum of products when m rows go: a lower bound for any number of controls.

Controls that are dummies of a partition are fitted exactly (``classes``). With Q an orthonormal
basis of the others, given those, on the rows present, z_i its rows, p and q residuals on all of
them, w = p + q, O the rows removed, and sums over classes c that lose some but not all rows:

    what is left  =  p.q - sum_O p_i q_i - sum_c s_p s_q / kappa - a' G^-1 b
    a = sum_O p_i z_i + sum_c s_p s_z / kappa,     b likewise with q,
    G = I - sum_O z_i z_i' - sum_c s_z s_z' / kappa,     4 a' G^-1 b  <=  |a + b|^2 / (1 - L)

with L at least the largest eigenvalue of I - G. Two ways to go on, of which the better counts:

    eigenvalue  |a + b|^2 <= L (sum_O w_i^2 + sum_c s_w^2 / kappa), by Cauchy and Schwarz
    pairs       |sum_O w_i z_i|^2 is a sum of w_i w_j K_ij, K = Q Q': a row pays its own and at most
                its m - 1 largest positive ones; and the classes' part is at most L_c times
                sum_c s_w^2 / kappa, L_c the largest eigenvalue of their part of I - G

The largest eigenvalue of sum_O z_i z_i' is at most the largest sum of m entries |K_ij| of a row,
and its square the m largest sums of m entries K_ij^2. So no m rows suffice while p.q exceeds what
they can pay, shared out among the classes.

A row that cannot be among them is kept for good and leaves everybody's sums. Where the bound is
not enough, branch on the row that pays most: without it (refit, one removal less; an emptied class
drops out), and with it for good. A group of rows is a row with z_i w_i and its like summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.controls.classes import Members, Shared, Sharing, partition
from quadsweep.auditing.design import Design
from quadsweep.auditing.moments import basis, residual

_STRIPE = 2_000_000  # entries of K at a time
MOST_PAIRS = 12_000  # units up to which pairs are looked at
_CACHED = 2_000  # units up to which K is kept
_BLOCKS = 20_000_000  # numbers for the groups' own Gram matrices
_NUMBERS = 12  # of removals for which eigenvalues are bounded
_LEFT = (0.5, 0.7, 0.8, 0.9, 0.95)  # shares of a class
_PARTS = (0.1, 0.4, 1.2)
_ALLOWED = 1e-9  # of |p| |q|, for rounding: far more than it takes


@dataclass(frozen=True, eq=False)
class Form:
    """Is what the controls leave of p.q, less the sum of ``extra``, positive on every subset?

    p, q and extra have the weights in them already, the controls do not. ``rank_without`` counts
    exactly, where it can, the controls that are left without some rows. Up to ``most_pairs`` units
    all pairs are looked at.
    """

    controls: Floats
    p: Floats
    q: Floats
    extra: Floats | None = None
    rank_without: Callable[[Ints], int] | None = None
    most_pairs: int = MOST_PAIRS
    _found: list[tuple[Ints, Ints, Floats]] = field(default_factory=list, init=False)

    def classes(self, design: Design) -> tuple[Ints, Ints, Floats]:
        """As ``partition`` finds them; and the other controls, about their medians if they may."""
        if not self._found:
            of_row, others = partition(self.controls, design.unit)
            left = np.zeros((design.n, len(others)))
            for i, j in enumerate(others):
                left[:, i] = design.centred(self.controls[:, j])
            self._found.append((of_row, others, left))
        return self._found[0]


@dataclass(frozen=True)
class Verdict:
    """Whether it is proved; a removal for which it does not hold, as far as rounding tells."""

    proved: bool
    removal: Ints | None = None
    nodes: int = 0


@dataclass(frozen=True, eq=False)
class Payments:
    """The most that m units can cost, rounding included, and the most with each of them."""

    sharing: Sharing
    units: Ints
    cost: Floats
    times: float
    more: float

    @cached_property
    def _shared(self) -> Shared:
        return self.sharing.most(self.cost, self.times)

    @property
    def total(self) -> float:
        return self._shared.total + self.more

    @cached_property
    def with_each(self) -> Floats:
        return self.sharing.with_each(self.cost, self.times, self._shared)[self.units] + self.more


class Unclear(Exception):
    """It is not certain which controls depend on which."""


class State:
    """The form without some units, and what each of the others pays."""

    def __init__(self, form: Form, design: Design, gone: Ints) -> None:
        self.form, self.design, self.gone = form, design, gone
        away = np.zeros(design.size, dtype=bool)
        away[gone] = True
        self._rows = np.flatnonzero(~away[design.unit])
        of_row, others, left = form.classes(design)
        self._root = design.root_weights[self._rows]
        self._class = of_row[self._rows]
        controls = self._root[:, None] * left[self._rows]
        found = basis(self._about(controls), controls)
        if not found.clear or len(self._rows) == 0 or not self._same_rank(found.q.shape[1], others):
            raise Unclear
        self._q = found.q
        p, q = (self._about(v[self._rows]) for v in (form.p, form.q))
        p, q = (self._about(residual(found.q, v)) for v in (p, q))
        extra = np.zeros(len(p)) if form.extra is None else form.extra[self._rows]
        self.value = float(p @ q) - float(extra.sum())
        self._size = float(np.linalg.norm(form.p) * np.linalg.norm(form.q))
        self._size += float(np.abs(extra).sum())
        # Of the span of Q, and with it of each z_i.
        self._rounding = 1e-15 * math.sqrt(len(p)) * found.condition
        self._w = p + q
        self._cost = self._sums(p * q - extra)

    @cached_property
    def allowed(self) -> float:
        """For rounding, before anything is divided by what is left of a class or of Q."""
        return self._allowed(1.0)

    def _allowed(self, least: float) -> float:
        return self._size * (_ALLOWED + 100 * self._rounding / least)

    @cached_property
    def _unit_vector(self) -> Floats:
        """e: of each class, of length one; 0 for rows of none."""
        at = self._class + 1
        weight = np.bincount(at, self._root**2)
        return np.where(at > 0, self._root / np.sqrt(weight[at]), 0.0)

    def _about(self, columns: Floats) -> Floats:
        """Without the classes' means."""
        e, at = self._unit_vector, np.maximum(self._class, 0)
        flat = columns.reshape(len(columns), -1)
        out = np.empty_like(flat)
        for j, column in enumerate(flat.T):
            for _ in range(2):
                column = column - e * np.bincount(at, e * column)[at]
            out[:, j] = column
        return out.reshape(columns.shape)

    def _same_rank(self, rank: int, others: Ints) -> bool:
        """Whether a control that dropped out really did: constant in every class, or exactly."""
        plain = self.form.controls[np.ix_(self._rows, others)]
        present = np.flatnonzero(np.any(plain != 0, axis=0))
        if rank == len(present):
            return True
        constant = sum(self._is_constant(plain[:, j]) for j in present)
        if rank == len(present) - constant:
            return True
        gone = np.setdiff1d(np.arange(self.design.n), self._rows)
        classes = len(np.unique(self._class[self._class >= 0]))
        return self.form.rank_without is not None and self.form.rank_without(gone) == rank + classes

    def _is_constant(self, column: Floats) -> bool:
        """In every class, and 0 in the rows of none."""
        inside = self._class >= 0
        value = np.zeros(int(self._class.max(initial=-1)) + 2)
        value[self._class] = column  # of one row of the class; the last is for rows of none
        value[-1] = 0.0
        return bool(np.all(column == value[np.where(inside, self._class, -1)]))

    def _sums(self, values: Floats) -> Floats:
        """Over the rows of each unit, in a table of all units."""
        total = np.zeros((self.design.size, *values.shape[1:]))
        if self.design.units is None:
            total[self._rows] = values
        else:
            np.add.at(total, self.design.unit[self._rows], values)
        return total

    @cached_property
    def _members(self) -> Members:
        """Classes of which a part may go."""
        unit = self.design.unit[self._rows]
        inside = self._class >= 0
        pairs = np.unique(np.column_stack([unit, self._class])[inside], axis=0)
        count = int(self._class.max(initial=-1)) + 1
        units = np.bincount(pairs[:, 1], minlength=count)
        part = inside.copy()
        part[inside] = units[self._class[inside]] > 1
        e = np.where(part, self._unit_vector, 0.0)
        of_unit = np.full(self.design.size, -1, dtype=np.int64)
        of_unit[unit[part]] = self._class[part]
        spread = np.zeros(count)
        for c, rows in _runs(self._class):
            if c >= 0 and units[c] > 1:
                spread[c] = _norm_squared(self._q[rows])
        squares = np.zeros(count)
        np.add.at(squares, self._class[part], self._w[part] ** 2)
        return Members(of_unit, self._sums(e * e), self._sums(e * self._w), units, squares, spread)

    @cached_property
    def _vectors(self) -> Floats:
        """Sums of w z of each unit."""
        return self._sums(self._w[:, None] * self._q)

    @cached_property
    def _directions(self) -> Floats | None:
        """Of each unit a vector; products of two bound what the pair adds to an eigenvalue.

        For a row its own z, with |z_i . z_j|; for a group its Gram matrix, whose product with
        another is the sum of squares of K over the pairs. None where that would be too large.
        """
        if self.design.units is None:
            return self._sums(self._q)
        rank = self._q.shape[1]
        if self.design.size * rank * rank > _BLOCKS:
            return None
        out = np.zeros((self.design.size, rank * rank))
        for unit, rows in self._groups:
            z = self._q[rows]
            out[unit] = (z.T @ z).ravel()
        return out

    @cached_property
    def _groups(self) -> list[tuple[int, Ints]]:
        return _runs(self.design.unit[self._rows])

    @cached_property
    def _leverage(self) -> Floats:
        """The largest eigenvalue that each unit alone adds to I - G."""
        if self.design.units is None:
            return self._trace
        out = np.zeros(self.design.size)
        for unit, rows in self._groups:
            out[unit] = _norm_squared(self._q[rows])
        return out

    @cached_property
    def _trace(self) -> Floats:
        return self._sums((self._q * self._q).sum(axis=1))

    @cached_property
    def _square(self) -> Floats | None:
        """Bounds of what pairs add to an eigenvalue, where they are few enough to be kept."""
        if self.design.size > _CACHED or self._directions is None:
            return None
        return self._pairs(self._directions, self._directions)

    def _pairs(self, some: Floats, others: Floats) -> Floats:
        product = np.abs(some @ others.T)
        return np.asarray(product if self.design.units is None else np.sqrt(product))

    def eigenvalues(self, units: Ints, numbers: Ints) -> tuple[Floats, Floats]:
        """The most that 1, 2, ... of these units, up to the last of the ascending numbers, add to
        I - G, classes apart; and what each of them might contribute."""
        alone, m = self._leverage[units], int(numbers[-1])
        simple = np.cumsum(_first(alone[None], m)[0])[numbers - 1]
        if m == 1 or len(units) > self.form.most_pairs or self._directions is None:
            return simple, alone
        sums = np.empty((2, len(units), len(numbers)))
        directions = self._directions[units]
        for at in _stripes(len(units)):
            pairs = (
                self._square[np.ix_(units[at], units)]
                if self._square is not None
                else self._pairs(directions[at], directions)
            )
            _set_diagonal(pairs, at, np.inf)
            first = _first(pairs, m)
            first[:, 0] = alone[at]
            sums[0, at] = np.cumsum(first, axis=1)[:, numbers - 1]
            first[:, 0] = self._frobenius[units[at]]
            sums[1, at] = np.cumsum(first**2, axis=1)[:, numbers - 1]
        frobenius = [_largest_sum(sums[1, :, i], int(k)) for i, k in enumerate(numbers)]
        most = np.minimum(sums[0].max(axis=0), np.sqrt(frobenius))
        return np.minimum(simple, most), sums[0, :, -1]

    @cached_property
    def _frobenius(self) -> Floats:
        """The norm of each unit's own sum of z z'."""
        if self.design.units is None or self._directions is None:
            return self._leverage
        return np.asarray(np.linalg.norm(self._directions, axis=1))

    def spread(self, units: Ints, m: int, sharing: Sharing) -> tuple[float, float, Floats]:
        """L and L_c of m of these units, and what each contributes to the former.

        Some classes lose more than a share of themselves, which takes units that the others do
        not lose; whichever number of them is worst.
        """
        numbers = np.unique(np.ceil(m * np.arange(1, _NUMBERS + 1) / _NUMBERS).astype(int))
        most, reach = self.eigenvalues(units, numbers)
        most = np.concatenate([[0.0], most])
        top = of_classes = np.inf
        for least in _LEFT:
            gone, heavy = sharing.heavy(least)
            light = most[np.searchsorted(numbers, m - gone) + (m > gone)]
            top = min(top, float((light / least + heavy).max()))
            of_classes = min(of_classes, float(((1 / least - 1) * light + heavy).max()))
        more = 1e-12 + 8 * self._rounding
        return top + more, of_classes + more, reach

    def pays(self, units: Ints, m: int) -> Payments | Floats:
        """What m of these units can cost at most; where L reaches 1, what each adds to it."""
        sharing = Sharing(self._members, units, m)
        top, of_classes, reach = self.spread(units, m, sharing)
        if top >= 1 - 1e-6:
            return reach
        more = self._allowed((1 - top) * sharing.thinnest)
        rows = self._with_others(units, m) / (1 - top)
        ways = [(top / (1 - top) * self._squares[units], 1 / (1 - top))]
        for part in _PARTS:  # |u + v|^2 <= (1 + s) |u|^2 + (1 + 1/s) |v|^2
            ways.append(((1 + part) * rows, 1 + (1 + 1 / part) * of_classes / (1 - top)))
        payments = []
        for extra, times in ways:
            cost = np.zeros(self.design.size)
            cost[units] = self._cost[units] + extra / 4
            payments.append(Payments(sharing, units, cost, times, more))
        return min(payments, key=lambda paid: paid.total)

    @cached_property
    def _squares(self) -> Floats:
        return self._sums(self._w**2)

    def _with_others(self, units: Ints, m: int) -> Floats:
        """What each unit adds at most to |sum w z|^2 as one of m."""
        w = self._vectors[units]
        own = (w * w).sum(axis=1)
        if len(units) > self.form.most_pairs:
            length = np.sqrt(own)
            return np.asarray(own + length * _largest_sum(length, m - 1))
        out = np.empty(len(units))
        for at in _stripes(len(units)):
            pairs = np.maximum(w[at] @ w.T, 0.0)
            _set_diagonal(pairs, at, 0.0)
            out[at] = _first(pairs, m - 1).sum(axis=1)
        return np.asarray(own + out)

    def least(self, m: int) -> float:
        """At least this is left whatever m units go; minus infinity if that is not known."""
        paid = self.pays(self.present, m)
        return self.value - paid.total if isinstance(paid, Payments) else -np.inf

    def rank_lost(self, m: int) -> int:
        """Controls that at most drop out when m units go."""
        members = self._members
        emptied = int(np.searchsorted(np.cumsum(np.sort(members.units[members.units > 0])), m,
                                      side="right"))  # fmt: skip
        top, _, _ = self.spread(self.present, m, Sharing(members, self.present, m))
        return emptied if top < 1 - 1e-6 else emptied + self._q.shape[1]

    @cached_property
    def present(self) -> Ints:
        return np.setdiff1d(np.arange(self.design.size), self.gone)


@dataclass
class Search:
    """Proves that the form stays positive whatever m units go, or gives up after some nodes."""

    form: Form
    design: Design
    most_nodes: int = 2_000
    check: Callable[[], object] = field(default=lambda: None)
    nodes: int = 0

    def __post_init__(self) -> None:
        self._root: State | None = None

    def refute(self, m: int, branch: bool = True) -> Verdict:
        """Whether no removal of up to m units makes the form zero or negative."""
        self.nodes = 0
        try:
            if self._root is None:
                self._root = State(self.form, self.design, np.zeros(0, dtype=np.int64))
            return self._refute(self._root, m, branch)
        except Unclear:
            return Verdict(False, None, self.nodes)

    def _refute(self, root: State, m: int, branch: bool) -> Verdict:
        stack = [(root, root.present, m)]
        while stack:
            self.check()
            state, units, left = stack.pop()
            self.nodes += 1
            if state.value <= state.allowed:
                removal = state.gone if state.value < -state.allowed else None
                return Verdict(False, removal, self.nodes)
            closed, units, worst = narrowed(state, units, left, self.check)
            if closed:
                continue
            if not branch or self.nodes >= self.most_nodes or len(units) > self.form.most_pairs:
                return Verdict(False, None, self.nodes)
            stack.append((state, units[units != worst], left))
            stack.append(
                (
                    State(self.form, self.design, np.sort(np.append(state.gone, worst))),
                    units[units != worst],
                    left - 1,
                )
            )
        return Verdict(True, None, self.nodes)


def narrowed(
    state: State, units: Ints, m: int, check: Callable[[], object]
) -> tuple[bool, Ints, int]:
    """Whether no m of these units suffice; those that may be among them; which to branch on."""
    while True:
        check()
        m = min(m, len(units))
        if m == 0:
            return True, units, -1
        paid = state.pays(units, m)
        if not isinstance(paid, Payments):
            return False, units, int(units[np.argmax(paid)])
        if paid.total < state.value:
            return True, units, -1
        possible = paid.with_each >= state.value
        if possible.all():
            return False, units, int(units[np.argmax(paid.with_each)])
        units = units[possible]


def _largest_sum(values: Floats, m: int) -> float:
    """Of the positive ones."""
    if m <= 0:
        return 0.0
    if m < len(values):
        values = np.partition(values, len(values) - m)[len(values) - m :]
    return float(np.maximum(values, 0.0).sum())


def _first(rows: Floats, m: int) -> Floats:
    """Of each row its m largest, the largest first."""
    if 0 < m < rows.shape[1]:
        rows = np.partition(rows, rows.shape[1] - m, axis=1)[:, rows.shape[1] - m :]
    return np.asarray(-np.sort(-rows, axis=1))[:, :m]


def _set_diagonal(pairs: Floats, at: slice, value: float) -> None:
    pairs[np.arange(len(pairs)), np.arange(at.start, at.start + len(pairs))] = value


def _norm_squared(rows: Floats) -> float:
    return float(np.linalg.norm(rows, 2) ** 2) if rows.size else 0.0


def _runs(labels: Ints) -> list[tuple[int, Ints]]:
    """Labels and where they are."""
    order = np.argsort(labels, kind="stable")
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    return [(int(labels[rows[0]]), rows) for rows in np.split(order, cuts)]


def _stripes(n: int) -> list[slice]:
    step = max(1, _STRIPE // max(n, 1))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]

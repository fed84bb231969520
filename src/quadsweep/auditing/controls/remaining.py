"""What is left of a sum of products when m rows go: a lower bound for any number of controls.

With Q an orthonormal basis of the controls on the rows present, z_i its rows, p and q residuals on
it, O the rows removed, a = sum_O p_i z_i, b = sum_O q_i z_i and G = I - sum_O z_i z_i':

    what is left  =  p.q - sum_O p_i q_i - a' G^-1 b
    a' G^-1 b  <=  a'b + (L / (1 - L)) |a + b|^2 / 4,     L >= the largest eigenvalue of I - G

since 4 a' G^-1 b = (a+b)' G^-1 (a+b) - (a-b)' G^-1 (a-b) and I <= G^-1 <= I / (1 - L). The bound is
a sum over pairs of M_ij = K_ij ((p_i q_j + p_j q_i) / 2 + L / (1 - L) w_i w_j / 4), with K = Q Q'
and w = p + q; a row pays M_ii and at most its m - 1 largest positive M_ij, and L is at most the
largest sum of m entries |K_ij| of a row. So no m rows suffice while p.q exceeds the m largest such
rows.

A row that cannot be among them is kept for good and leaves everybody's sums. Where the bound is
not enough, branch on the row that pays most: without it (refit, one removal less; an emptied dummy
drops out), and with it for good. A group of rows is a row with z_i p_i and its like summed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.controls.design import Design
from quadsweep.auditing.controls.moments import basis, residual

_STRIPE = 2_000_000  # entries of K at a time
MOST_PAIRS = 12_000  # units up to which pairs are looked at
_CACHED = 2_000  # units up to which K is kept
_BLOCKS = 20_000_000  # numbers for the groups' own Gram matrices
_ALLOWED = 1e-9  # of |p| |q|, for rounding: far more than it takes


@dataclass(frozen=True, eq=False)
class Form:
    """Is what the controls leave of p.q, less the sum of ``extra``, positive on every subset?

    All columns have the weights in them already. ``rank_without`` counts exactly, where it can, the
    controls that are left without some rows. Up to ``most_pairs`` units all pairs are looked at.
    """

    controls: Floats
    p: Floats
    q: Floats
    extra: Floats | None = None
    rank_without: Callable[[Ints], int] | None = None
    most_pairs: int = MOST_PAIRS


@dataclass(frozen=True)
class Verdict:
    """Whether it is proved; a removal for which it does not hold, as far as rounding tells."""

    proved: bool
    removal: Ints | None = None
    nodes: int = 0


class Unclear(Exception):
    """It is not certain which controls depend on which."""


class State:
    """The form without some units, and what each of the others pays."""

    def __init__(self, form: Form, design: Design, gone: Ints) -> None:
        self.form, self.design, self.gone = form, design, gone
        away = np.zeros(design.size, dtype=bool)
        away[gone] = True
        self._rows = np.flatnonzero(~away[design.unit])
        found = basis(form.controls[self._rows])
        if not found.clear or len(self._rows) == 0 or not self._same_rank(found.q.shape[1]):
            raise Unclear
        self._q = found.q
        p, q = (residual(found.q, v[self._rows]) for v in (form.p, form.q))
        extra = np.zeros(len(p)) if form.extra is None else form.extra[self._rows]
        self.value = float(p @ q) - float(extra.sum())
        size = float(np.linalg.norm(form.p) * np.linalg.norm(form.q))
        self.allowed = (
            _ALLOWED
            * (size + float(np.abs(extra).sum()))
            * max(1.0, 1e-7 * found.condition * np.sqrt(len(p)))
        )
        self._p, self._r = p, q
        self._cost = self._sums(p * q - extra)

    def _same_rank(self, rank: int) -> bool:
        """Whether a control that dropped out really did: its rows are gone, or exactly."""
        present = int(np.any(self.form.controls[self._rows] != 0, axis=0).sum())
        if rank == present:
            return True
        gone = np.setdiff1d(np.arange(self.design.n), self._rows)
        return self.form.rank_without is not None and self.form.rank_without(gone) == rank

    def _sums(self, values: Floats) -> Floats:
        """Over the rows of each unit, in a table of all units."""
        total = np.zeros((self.design.size, *values.shape[1:]))
        if self.design.units is None:
            total[self._rows] = values
        else:
            np.add.at(total, self.design.unit[self._rows], values)
        return total

    @cached_property
    def _vectors(self) -> tuple[Floats, Floats]:
        """a and b of each unit."""
        return self._sums(self._p[:, None] * self._q), self._sums(self._r[:, None] * self._q)

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
        unit = self.design.unit[self._rows]
        order = np.argsort(unit, kind="stable")
        cuts = np.flatnonzero(np.diff(unit[order])) + 1
        return [(int(unit[rows[0]]), rows) for rows in np.split(order, cuts)]

    @cached_property
    def _leverage(self) -> Floats:
        """The largest eigenvalue that each unit alone adds to I - G."""
        if self.design.units is None:
            return self._sums((self._q * self._q).sum(axis=1))
        out = np.zeros(self.design.size)
        for unit, rows in self._groups:
            out[unit] = np.linalg.norm(self._q[rows], 2) ** 2 if self._q.shape[1] else 0.0
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

    def largest(self, units: Ints, m: int) -> tuple[float, Floats]:
        """L for m of these units, and what each of them might contribute to it."""
        alone = self._leverage[units]
        simple = _largest_sum(alone, m)
        if m == 1 or len(units) > self.form.most_pairs or self._directions is None:
            return simple, alone
        reach = np.empty(len(units))
        directions = self._directions[units]
        for at in _stripes(len(units)):
            pairs = (
                self._square[np.ix_(units[at], units)]
                if self._square is not None
                else self._pairs(directions[at], directions)
            )
            pairs[np.arange(len(pairs)), np.arange(at.start, at.start + len(pairs))] = 0.0
            reach[at] = alone[at] + _largest_sums(pairs, m - 1)
        return min(simple, float(reach.max())) + 1e-12, reach

    def pays(self, units: Ints, m: int) -> tuple[Floats | None, Floats]:
        """What each of these units can cost at most as one of m; None where L reaches 1.

        The second is what they contribute to L.
        """
        top, reach = self.largest(units, m)
        if top >= 1 - 1e-6:
            return None, reach
        kappa = top / (1 - top)
        a, b = (v[units] for v in self._vectors)
        w = a + b
        own = (a * b).sum(axis=1) + kappa / 4 * (w * w).sum(axis=1)
        if len(units) > self.form.most_pairs:
            return self._cost[units] + own + _by_lengths(a, b, w, kappa, m), reach
        left, right = np.hstack([a, b]), np.hstack([b / 2 + kappa / 4 * w, a / 2 + kappa / 4 * w])
        with_others = np.empty(len(units))
        for at in _stripes(len(units)):
            pairs = left[at] @ right.T
            pairs[np.arange(len(pairs)), np.arange(at.start, at.start + len(pairs))] = 0.0
            with_others[at] = _largest_sums(np.maximum(pairs, 0.0, out=pairs), m - 1)
        return self._cost[units] + own + with_others, reach

    def least(self, m: int) -> float:
        """At least this is left whatever m units go; minus infinity if that is not known."""
        cost, _ = self.pays(self.present, m)
        return -np.inf if cost is None else self.value - _largest_sum(cost, m) - self.allowed

    def rank_lost(self, m: int) -> int:
        """Controls that at most drop out when m units go."""
        top, _ = self.largest(self.present, m)
        return 0 if top < 1 - 1e-6 else int(_largest_sum(self._trace, m) + 1e-6)

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
            closed, units, worst = narrowed(state, units, min(left, len(units)))
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


def narrowed(state: State, units: Ints, m: int) -> tuple[bool, Ints, int]:
    """Whether no m of these units suffice; those that may be among them; which to branch on."""
    while True:
        m = min(m, len(units))
        if m == 0:
            return True, units, -1
        cost, reach = state.pays(units, m)
        if cost is None:
            return False, units, int(units[np.argmax(reach)])
        worst = np.partition(cost, len(cost) - m)[len(cost) - m :]
        total = float(np.maximum(worst, 0.0).sum())
        room = state.value - state.allowed - total
        if room > 0:
            return True, units, -1
        # With a unit in place of the least of the m largest.
        least = max(float(worst[0]), 0.0)
        possible = room + least - cost <= 0
        if possible.all():
            return False, units, int(units[np.argmax(cost)])
        units = units[possible]


def _by_lengths(a: Floats, b: Floats, w: Floats, kappa: float, m: int) -> Floats:
    """What pairs can add at most, from the lengths of the vectors alone."""
    la, lb, lw = (np.sqrt((v * v).sum(axis=1)) for v in (a, b, w))
    sa, sb, sw = (_largest_sum(v, m - 1) for v in (la, lb, lw))
    return np.asarray((la * sb + lb * sa) / 2 + kappa / 4 * lw * sw)


def _largest_sum(values: Floats, m: int) -> float:
    """Of the positive ones."""
    if m <= 0:
        return 0.0
    if m < len(values):
        values = np.partition(values, len(values) - m)[len(values) - m :]
    return float(np.maximum(values, 0.0).sum())


def _largest_sums(rows: Floats, m: int) -> Floats:
    """Of each row the sum of its m largest, none of them negative."""
    if m <= 0:
        return np.zeros(len(rows))
    if m < rows.shape[1]:
        rows = np.partition(rows, rows.shape[1] - m, axis=1)[:, rows.shape[1] - m :]
    return np.asarray(rows.sum(axis=1))


def _stripes(n: int) -> list[slice]:
    step = max(1, _STRIPE // max(n, 1))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]

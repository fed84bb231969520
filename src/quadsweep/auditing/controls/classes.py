"""Dummies of a partition among the controls (countries, firms; or the intercept alone), exactly.

The span of such dummies is that of the classes' indicators, so on the rows kept they are fitted by
taking the mean off in each class, whichever rows went; a class that is gone just drops out. With e
a class's unit vector (the roots of the weights, of length one), p and q such that e.p = e.q = 0,
and O the rows removed from it:

    what goes with them  =  sum_O p_i q_i + s_p s_q / kappa,     s_v = sum_O e_i v_i,
    kappa = 1 - sum_O e_i^2;     s_p s_q <= s^2 / 4 for s = s_{p+q};     0 where all rows go

For the s in an interval, s^2 is at most its chord, which is a sum over rows: the j rows that cost
most then bound what j removals take from the class, and the m removals are shared out among the
classes by one price lambda: m lambda + sum over classes of the largest of U(j) - lambda j.

Of the other controls' rows z, given the classes, a class takes sum_O z z' + s_z s_z' / kappa. Where
kappa is at least k that is at most sum_O z z' / k; and always at most the class's own sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask

_INTERVALS = 12  # of s
_ONE_BY_ONE = 64  # units in a class up to which every j has its own kappa
_STEP = 0.97  # by which kappa may fall among the others
_THIN = 1e-6  # kappa below which only sums of squares are used
_PRICES = 24  # halvings in the search for lambda


def partition(controls: Floats, unit: Ints) -> tuple[Ints, Ints]:
    """For every row its class, or -1; and the controls that are not spanned by the classes.

    Dummies with disjoint rows, those with the fewest rows first, and what an intercept adds to
    them. A class of which a unit takes a part together with rows of others is left out.
    """
    n = len(controls)
    of_row, dummies = np.full(n, -1, dtype=np.int64), _dummies(controls)
    used: list[int] = []
    for j in dummies:
        rows = controls[:, j] != 0
        if rows.all():
            rows = of_row < 0  # the intercept, less the dummies
        if rows.any() and np.all(of_row[rows] < 0):
            of_row[rows] = len(used)
            used.append(j)
    broken = _broken(of_row, unit)
    of_row[np.isin(of_row, broken)] = -1
    kept = [j for c, j in enumerate(used) if c not in set(broken.tolist())]
    return of_row, np.setdiff1d(np.arange(controls.shape[1]), kept)


def _dummies(controls: Floats) -> list[int]:
    """Columns with one value besides 0, the rarest first."""
    found = []
    for j, column in enumerate(controls.T):
        seen = column[column != 0]
        if len(seen) and np.all(seen == seen[0]):
            found.append((len(seen), j))
    return [j for _, j in sorted(found)]


def _broken(of_row: Ints, unit: Ints) -> Ints:
    """Classes neither inside one unit nor made of whole units."""
    inside = of_row >= 0
    pairs = np.unique(np.column_stack([unit, of_row]), axis=0)
    of_unit = np.bincount(pairs[:, 0])  # classes that a unit touches, -1 among them
    units_of = np.bincount(pairs[pairs[:, 1] >= 0, 1], minlength=1)
    mixed = (of_unit[unit] > 1) & inside
    return np.unique(of_row[mixed & (units_of[np.maximum(of_row, 0)] > 1)])


@dataclass(frozen=True, eq=False)
class Members:
    """Of each unit its class (-1 for none) and its parts of e.e and of e.w.

    Of each class the number of its ``units``, its sum of squares of w, and the largest eigenvalue
    of its sum of z z'.
    """

    of_unit: Ints
    mass: Floats
    along: Floats
    units: Ints
    squares: Floats
    spread: Floats


@dataclass(frozen=True, eq=False)
class Bucket:
    """Some classes of like size, their candidates side by side; -1 where there are fewer."""

    classes: Ints
    units: Ints  # classes by places

    @cached_property
    def there(self) -> Mask:
        return self.units >= 0

    def spread(self, values: Floats, fill: float = 0.0) -> Floats:
        return np.where(self.there, values[np.maximum(self.units, 0)], fill)


class Shared(NamedTuple):
    """U(j) of the classes, the most that m removals take, and the price that shows it."""

    tops: list[Floats]
    total: float
    price: float


class Sharing:
    """The candidates of each class, and what m removals can take from all of them together."""

    def __init__(self, members: Members, candidates: Ints, m: int) -> None:
        self._members, self._m = members, m
        of_unit = members.of_unit[candidates]
        self._free = candidates[of_unit < 0]
        self._buckets = list(_buckets(candidates[of_unit >= 0], members.of_unit))
        self._tables = [_Table(members, bucket, m) for bucket in self._buckets]
        self.thinnest = min((t.thinnest for t in self._tables), default=1.0)

    def heavy(self, least: float) -> tuple[Ints, Floats]:
        """For 0, 1, ... classes of which less than ``least`` is left: the units that takes at
        least, and the most that they add to an eigenvalue."""
        none = np.zeros(0)
        needs = np.concatenate([none, *(t.needed(least) for t in self._tables)])
        spread = np.concatenate([none, *(t.spread for t in self._tables)])
        units = np.concatenate([[0], np.cumsum(np.sort(needs))]).astype(np.int64)
        units = units[units <= self._m]
        most = np.concatenate([[0.0], np.cumsum(_descending(spread))])
        return units, most[: len(units)]

    def most(self, cost: Floats, times: float) -> Shared:
        """What goes at most with m units that cost so much each, and s^2 / kappa so many times."""
        tops = [t.most(cost, times) for t in self._tables]
        return Shared(tops, *_shared(tops, [cost[self._free]], self._m))

    def with_each(self, cost: Floats, times: float, shared: Shared) -> Floats:
        """The same with each unit among them; indexed as units are."""
        out, price = np.full(len(cost), np.inf), shared.price
        free = cost[self._free] - price
        out[self._free] = shared.total + np.minimum(free, 0.0)
        for table, bucket, top in zip(self._tables, self._buckets, shared.tops, strict=True):
            j = np.arange(1, top.shape[1] + 1)
            best = np.maximum((top - price * j).max(axis=1), 0.0)
            with_each = table.with_each(cost, times, price) + (shared.total - best)[:, None]
            out[bucket.units[bucket.there]] = with_each[bucket.there]
        return out


def _buckets(units: Ints, of_unit: Ints) -> Iterator[Bucket]:
    order = units[np.argsort(of_unit[units], kind="stable")]
    classes, first, count = np.unique(of_unit[order], return_index=True, return_counts=True)
    size = np.ceil(np.log2(np.maximum(count, 1))).astype(int)
    for s in np.unique(size):
        some = np.flatnonzero(size == s)
        places = np.arange(int(count[some].max()))
        at = first[some, None] + places
        there = places < count[some, None]
        yield Bucket(classes[some], np.where(there, order[np.where(there, at, 0)], -1))


class _Table:
    """A bucket's bounds for j = 1, 2, ... removals from each class, up to m."""

    def __init__(self, members: Members, bucket: Bucket, m: int) -> None:
        self._bucket = bucket
        size = bucket.units.shape[1]
        self._j = np.arange(1, min(m, size) + 1)
        mass, along = bucket.spread(members.mass), bucket.spread(members.along)
        count = bucket.there.sum(axis=1)
        # All of a class may go, and nothing is left of it then.
        self._all = (self._j == members.units[bucket.classes][:, None]) & (
            self._j <= count[:, None]
        )
        self._lost = self._first(_descending(mass))
        kappa = 1 - self._lost
        self._thin = (kappa < _THIN) & ~self._all
        self._kappa = np.where(self._all | self._thin, 1.0, kappa)
        self.thinnest = float(self._kappa.min(initial=1.0))
        self._along = along
        self._high = self._first(_descending(along))
        self._low = -self._first(_descending(-along))
        self._squares = members.squares[bucket.classes][:, None]
        self.spread = members.spread[bucket.classes]

    def _first(self, values: Floats) -> Floats:
        """Sums of the first 1, 2, ... in a row."""
        return np.asarray(np.cumsum(values, axis=1)[:, : len(self._j)])

    def needed(self, least: float) -> Ints:
        """How many units must go from each class for less than that to be left; m + 1 if all of
        m do not do it."""
        return np.asarray(1 + (self._lost <= 1 - least).sum(axis=1))

    def most(self, cost: Floats, times: float) -> Floats:
        """U(j), for j = 1, 2, ..."""
        own = self._bucket.spread(cost, -np.inf)
        plain = self._first(_descending(own))
        out = plain + times / 4 * self._squares
        for at, slope, less in self._pieces(times):
            tops = np.cumsum(_descending(own[:, None] + slope * self._along[:, None]), axis=2)
            piece = (tops[:, :, at] - less[:, :, None]).max(axis=1)
            out[:, at] = np.where(self._thin[:, at], out[:, at], np.minimum(piece, out[:, at]))
        return np.where(self._all, plain, out)

    def with_each(self, cost: Floats, times: float, price: float) -> Floats:
        """The largest U(j) - price j over all j, for each place, with its unit among the j."""
        own = self._bucket.spread(cost, -np.inf)
        paid = -price * self._j
        out = _with_each(own, paid, self._all)
        out = np.maximum(out, _with_each(own, paid + times / 4 * self._squares, self._thin))
        for at, slope, less in self._pieces(times):
            here = np.zeros(self._all.shape, dtype=bool)
            here[:, at] = ~(self._all | self._thin)[:, at]
            for i in range(_INTERVALS):
                found = _with_each(own + slope[:, i] * self._along, paid - less[:, i, None], here)
                out = np.maximum(out, found)
        return out

    def _pieces(self, times: float) -> Iterator[tuple[slice, Floats, Floats]]:
        """For ranges of j and intervals of s: by how much of e.w a cost grows, and what is less."""
        for at in self._ranges():
            by = times / (4 * self._kappa[:, at].min(axis=1)[:, None])
            low, high = self._low[:, at].min(axis=1), self._high[:, at].max(axis=1)
            edges = np.linspace(low, high, _INTERVALS + 1, axis=1)
            left, right = edges[:, :-1], edges[:, 1:]
            yield at, (by * (left + right))[:, :, None], by * left * right

    def _ranges(self) -> Iterator[slice]:
        if self._bucket.units.shape[1] <= _ONE_BY_ONE:
            yield from (slice(j - 1, j) for j in self._j.tolist())
            return
        kappa, start = 1 - self._lost.max(axis=0), 0
        while start < len(kappa):
            stop = int(np.searchsorted(-kappa, -_STEP * kappa[start], side="right"))
            stop = max(stop, start + 1)
            yield slice(start, stop)
            start = stop


def _with_each(cost: Floats, more: Floats, allowed: Mask) -> Floats:
    """The largest sum of j costs plus more[j], j where allowed, for each place with it among them.

    A unit in place r (from 1) by cost is among the j >= r dearest; for a smaller j it takes the
    place of the last of them.
    """
    order = np.argsort(-cost, axis=1, kind="stable")
    ranked = np.take_along_axis(cost, order, axis=1)
    most = allowed.shape[1]
    first = np.cumsum(ranked, axis=1)[:, :most]
    before = np.column_stack([np.zeros(len(cost)), first[:, :-1]])
    with np.errstate(invalid="ignore"):
        among = np.where(allowed, first + more, -np.inf)
        instead = np.where(allowed, before + more, -np.inf)
    behind = np.maximum.accumulate(among[:, ::-1], axis=1)[:, ::-1]
    ahead = np.maximum.accumulate(instead, axis=1)
    nothing = np.full((len(cost), cost.shape[1]), -np.inf)
    here, there = nothing.copy(), nothing
    here[:, :most] = behind
    there[:, 1 : most + 1] = ahead[:, : cost.shape[1] - 1]
    there[:, most + 1 :] = ahead[:, -1:]
    best = np.maximum(here, there + ranked)
    out = np.empty(best.shape)
    np.put_along_axis(out, order, best, axis=1)
    return out


def _descending(values: Floats) -> Floats:
    return np.asarray(-np.sort(-values, axis=-1))


def _shared(tables: list[Floats], single: list[Floats], m: int) -> tuple[float, float]:
    """At least the most that m removals take, and the price of one that shows it.

    Any price will do; at the best one about m removals are worth it.
    """
    every = [*tables, *(s[:, None] for s in single if len(s))]
    if not every:
        return 0.0, 0.0
    numbers = [np.arange(1, table.shape[1] + 1) for table in every]

    def bound(price: float) -> tuple[float, int]:
        out, removed = m * price, 0
        for table, j in zip(every, numbers, strict=True):
            worth = table - price * j
            best = worth.argmax(axis=1)
            most = np.take_along_axis(worth, best[:, None], axis=1)[:, 0]
            out += float(np.maximum(most, 0.0).sum())
            removed += int((best + 1)[most > 0].sum())
        return out, removed

    low, high = 0.0, max(0.0, max(float(t.max()) for t in every))
    least = bound(low)[0], low
    for _ in range(_PRICES):
        price = (low + high) / 2
        value, removed = bound(price)
        least = min(least, (value, price))
        low, high = (price, high) if removed > m else (low, price)
    return least

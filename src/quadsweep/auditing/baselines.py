"""The usual approximations, to compare with: neither proves anything.

``one_step``  orders the rows by their influence on all rows together (AMIP): to first order the
              effect of a group is the sum of its rows' effects. One pass, no refit.
``greedy``    removes the row that moves the statistic most, refits, and goes on.

Both fail where rows mask one another: two outliers together may hide what neither does alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.exact import ExactPoints
from quadsweep.auditing.sides import Side, Strong, Threshold, Tilt, Weak, pull_on_r

# Rows times refits after which the greedy method gives up.
_MOST_WORK = 2 * 10**7


@dataclass(frozen=True)
class Approximation:
    """What an approximation makes of a claim.

    Attributes
    ----------
    method : str
    predicted : int or None
        How many rows it says are needed (greedy predicts nothing it has not tried).
    needed : int or None
        How many rows, in its order, really break the claim; None if it never gets there.
    tried, allowed : int
        How many rows it may have removed; fewer than allowed where it gave up to save time.
    """

    unit: ClassVar[str] = "row"

    method: str
    predicted: int | None
    needed: int | None
    tried: int
    allowed: int

    def verdict(self, lower: int, upper: int | None) -> str:
        """What it says, whether that is so, and how far it is from the least number known."""
        if self.needed is None:
            ended = "fails with" if self.tried == self.allowed else "gave up after"
            outcome = f"{ended} up to {_counted(self.tried, self.unit)}"
        else:
            outcome = f"needs {_counted(self.needed, self.unit)}{self._excess(lower, upper)}"
        if self.method != ONE_STEP:
            return f"it {outcome}"
        if self.predicted is None:
            joint = "and" if self.needed is None else "but"
            return f"it says that no removal does it, {joint} by its order it {outcome}"
        enough = f"it says that {_counted(self.predicted, self.unit)} will do"
        if self.needed is None or self.predicted < self.needed:
            return f"{enough}, which is wrong: by its order it {outcome}"
        if self.predicted == self.needed:
            return f"{enough}, which is right{self._excess(lower, upper)}"
        needs = f"it says that {_counted(self.predicted, self.unit)} are needed"
        return f"{needs}, though {self.needed:,} by its order will do{self._excess(lower, upper)}"

    def _excess(self, lower: int, upper: int | None) -> str:
        if self.needed is None:
            return ""
        if upper is None:
            return ", which the search did not find"
        if self.needed < upper:
            return f", {upper - self.needed:,} fewer than the search found"
        if self.needed > upper:
            least = "needed" if lower == upper else f"the {upper:,} found here"
            return f", {self.needed - upper:,} more than {least}"
        return ", the fewest possible" if lower == upper == self.needed else ""


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'s' * (count != 1)}"


ONE_STEP, GREEDY = "one-step (AMIP)", "greedy"


def approximations(sides: Sequence[Side], max_drop: int) -> tuple[Approximation, Approximation]:
    """Both, each by the side of the claim that it finds easier."""
    return (
        _easier([one_step(side, max_drop) for side in sides]),
        _easier([greedy(side, max_drop) for side in sides]),
    )


def _easier(tried: list[Approximation]) -> Approximation:
    return min(tried, key=lambda a: (a.needed or math.inf, a.predicted or math.inf))


def one_step(side: Side, max_drop: int) -> Approximation:
    """Influences at all rows, added up."""
    order, predicted = _by_influence(side, max_drop)
    needed = _first_that_breaks(side, order, max_drop)
    return Approximation(ONE_STEP, predicted, needed, max_drop, max_drop)


def kept_by_influence(side: Side, max_drop: int) -> Ints | None:
    """What the first rows in the order of their influence leave once they break the claim."""
    order, _ = _by_influence(side, max_drop)
    m = _first_that_breaks(side, order, max_drop)
    return None if m is None else np.sort(order[m:])


def _by_influence(side: Side, max_drop: int) -> tuple[Ints, int | None]:
    """The rows, those first that matter most; and how many of them are said to be needed."""
    points = side.points
    everyone = np.arange(points.n)
    a, b, c = points.floating(everyone)
    if isinstance(side, Tilt):
        u, w = points.x - points.x.mean(), points.y - points.y.mean()
        effect = -side.sign * u * (w - c / a * u) / a
        start = side.sign * (c / a - side.beta)
        past = np.zeros(max_drop)
    else:
        way, limit = _way_and_limit(side)
        effect = -way * pull_on_r(points, everyone)
        start = way * c / math.sqrt(a) / math.sqrt(b)
        past = np.array([limit(points.n - m) for m in range(1, max_drop + 1)])
    order = np.argsort(-effect, kind="stable")
    reached = np.flatnonzero(start + np.cumsum(effect[order])[:max_drop] > past)
    return order, int(reached[0]) + 1 if len(reached) else None


def _way_and_limit(side: Side) -> tuple[int, Threshold]:
    """The claim breaks where way * r exceeds the limit, as far as one number can say."""
    if isinstance(side, Weak):
        return -1, lambda k: -side.threshold(k)
    assert isinstance(side, Strong)
    return side.sign, side.threshold


def _first_that_breaks(side: Side, order: Ints, max_drop: int) -> int | None:
    """The first m for which removing the first m rows breaks the claim."""
    points = side.points
    for m in np.flatnonzero(side.near(*_sums_without_first(points, order, max_drop))) + 1:
        if side.broken(np.sort(order[m:])):
            return int(m)
    return None


def _sums_without_first(
    points: ExactPoints, order: Ints, max_drop: int
) -> tuple[Ints, Floats, Floats, Floats]:
    """k, a, b, c after removing the first 1, 2, ... rows, by adding up from the other end."""
    x, y = (v[order[::-1]] - v.mean() for v in (points.x, points.y))
    k = np.arange(1, points.n + 1)
    sx, sy = np.cumsum(x), np.cumsum(y)
    a, b, c = (
        np.cumsum(x * x) - sx * sx / k,
        np.cumsum(y * y) - sy * sy / k,
        np.cumsum(x * y) - sx * sy / k,
    )
    rows = points.n - 1 - np.arange(1, max_drop + 1)
    return k[rows], a[rows], b[rows], c[rows]


def greedy(side: Side, max_drop: int) -> Approximation:
    """One row at a time, with refit."""
    kept = np.arange(side.points.n)
    tried = min(max_drop, max(1, _MOST_WORK // side.points.n))
    for m in range(1, tried + 1):
        kept = np.delete(kept, _best_to_remove(side, kept))
        if side.broken(kept):
            return Approximation(GREEDY, None, m, tried, max_drop)
    return Approximation(GREEDY, None, None, tried, max_drop)


def _best_to_remove(side: Side, kept: Ints) -> int:
    """The row whose absence moves the statistic most, from the sums without each."""
    points, k = side.points, len(kept)
    a, b, c = points.floating(kept)
    x, y = points.x[kept], points.y[kept]
    u, w = x - x.mean(), y - y.mean()
    f = k / (k - 1)
    a, b, c = a - f * u * u, b - f * w * w, c - f * u * w
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(side, Tilt):
            score = side.sign * c / a
        else:
            r = c / np.sqrt(a) / np.sqrt(b)
            score = -np.abs(r) if isinstance(side, Weak) else _way_and_limit(side)[0] * r
    return int(np.argmax(np.where(np.isfinite(score), score, -np.inf)))

"""The multipliers of a box of planes: any are valid, good ones close it.

What a row costs at a point of the box is  e l - rho theta_Y (y - g)^2  with  l = left + nu (1, Z):
concave in the multipliers nu and g. They climb by steps of Newton's method on

    the sum of the `need` smallest costs at the middle, smoothed,  -  sum of |slopes| ,

a slope for each parameter: what half a side takes away at a corner, to first order. Without these
the maximum is unbounded where no subset has its own plane in the middle, and multipliers that look
best there are worthless at the corners.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from quadsweep.arrays import Floats, Ints

_STEPS = 3  # for a width of smoothing
_SHARES = 3.0 ** -np.arange(3)  # of a step that are tried
_ROUNDED = 1e-3  # |slope| near zero, of its standard deviation


@dataclass(frozen=True)
class Costs:
    """What the rows of a box cost, those kept first, by parameters and multipliers."""

    fitted: Floats  # 1 and Z
    left: Floats  # Y, or -X
    y: Floats | None  # whose square is taken off, rho times
    rho: float
    base: float  # times theta_Y, is taken off once
    copies: Ints  # 1 for each row kept
    kept: int
    need: int
    or_more: bool
    e: Floats  # in the middle
    of_y: float
    e_by: Floats  # what half a side changes, parameter by row
    of_y_by: Floats

    def line(self, free: Floats) -> Floats:
        return np.asarray(self.left + self.fitted @ free[: self.fitted.shape[1]])

    def squares(self, free: Floats) -> Floats:
        return np.zeros(len(self.e)) if self.y is None else np.asarray((self.y - free[-1]) ** 2)

    def in_middle(self, free: Floats) -> Floats:
        return np.asarray(self.e * self.line(free) - self.rho * self.of_y * self.squares(free))

    def at_corners(self, free: Floats) -> tuple[Floats, Floats]:
        """And the bases there."""
        sides = np.array([*product((-1.0, 1.0), repeat=len(self.e_by))])
        of_y = self.of_y + sides @ self.of_y_by
        plain = (self.e + sides @ self.e_by) * self.line(free)
        return plain - self.rho * of_y[:, None] * self.squares(free), -self.base * of_y

    def change(self, free: Floats) -> Floats:
        """How differently half a side in each parameter moves the rows: they change places."""
        return np.asarray(np.var(self.e_by * self.line(free), axis=1))

    def own(self) -> Floats:
        """The multipliers with which l is the plane in the middle, as far as `left` allows."""
        like = np.linalg.lstsq(self.fitted, self.e / self.of_y - self.left, rcond=None)[0]
        return np.asarray(like if self.y is None else np.append(like, self.y.mean()))

    def climb(self, free: Floats, widths: Sequence[float]) -> Iterator[Floats]:
        """Ever better ones for ever less smoothing, in standard deviations of the costs."""
        for share in widths:
            width = share * float(np.std(self.in_middle(free))) + 1e-300
            now = smooth(self, free, width)
            for _ in range(_STEPS):
                step = newton(self, now)
                tries = (smooth(self, now.free + s * step, width) for s in _SHARES)
                then = next((t for t in tries if t.value > now.value), None)
                if then is None:
                    break
                now = then
            free = now.free
            yield free


class Smoothed(NamedTuple):
    """The smoothed sum less its slopes, and what its derivatives are made of."""

    free: Floats
    value: float
    width: float
    weights: Floats  # shares of the rows, times copies
    between: Floats  # copies of those that are chosen in part
    slopes: Floats
    rounded: Floats  # their absolute values


def smooth(costs: Costs, free: Floats, width: float) -> Smoothed:
    cost, line, fixed = costs.in_middle(free), costs.line(free), costs.kept
    copies = costs.copies[fixed:]
    level = _level(cost[fixed:], copies, costs.need, width)
    level = max(level, 0.0) if costs.or_more else level
    shares = np.clip(0.5 + (level - cost[fixed:]) / width, 0, 1)
    weights = np.concatenate([costs.copies[:fixed], shares * copies])
    taken = costs.rho * float(weights @ costs.squares(free)) + costs.base
    slopes = costs.e_by @ (weights * line) - costs.of_y_by * taken
    size = float(weights @ line**2) / max(float(weights.sum()), 1.0)
    rounded = np.sqrt(slopes**2 + _ROUNDED**2 * size * (costs.e_by**2 @ weights)) + 1e-300
    value = float(weights @ cost) - costs.base * costs.of_y - float(rounded.sum())
    value += width / 2 * float(copies @ (shares**2 - shares))
    value += level * (costs.need - float(copies @ shares))
    between = np.where((shares > 0) & (shares < 1), copies, 0)
    return Smoothed(free, value, width, weights, np.append(np.zeros(fixed), between), slopes,
                    rounded)  # fmt: skip


def _level(costs: Floats, copies: Ints, need: float, width: float) -> float:
    """Where shares that fall from 1 to 0 across the width add up to what is needed."""
    if len(costs) == 0:
        return 0.0
    ends = np.concatenate([costs - width / 2, costs + width / 2])
    order = np.argsort(ends)
    rates = np.cumsum(np.concatenate([copies, -copies])[order]) / width
    sums = np.cumsum(rates[:-1] * np.diff(ends[order]))
    return float(np.interp(need, np.append(0.0, sums), ends[order]))


def newton(costs: Costs, now: Smoothed) -> Floats:
    """The step to the maximum of the quadratic model."""
    fitted = costs.fitted.shape[1]
    gradients = costs.e[:, None] * costs.fitted
    if costs.y is not None:
        twice = 2 * costs.rho * costs.of_y
        gradients = np.column_stack([gradients, twice * (costs.y - now.free[-1])])
    step = gradients.T @ now.weights
    about = gradients - now.between @ gradients / (now.between.sum() + 1e-300)
    curved = (about * now.between[:, None]).T @ about / now.width
    if costs.y is not None:
        curved[-1, -1] += twice * now.weights.sum()
    by = (costs.e_by * now.weights) @ costs.fitted
    step[:fitted] -= (now.slopes / now.rounded) @ by
    # The curvature of a secant parabola: Newton's own vanishes away from zero.
    curved[:fitted, :fitted] += (by / now.rounded[:, None]).T @ by
    curved[np.diag_indices(len(step))] += 1e-9 * np.trace(curved) + 1e-300
    try:
        return np.asarray(np.linalg.solve(curved, step))
    except np.linalg.LinAlgError:
        return np.zeros(len(step))

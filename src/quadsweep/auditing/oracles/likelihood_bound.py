"""A bound for logistic and Poisson regressions with any number of controls: the sign alone.

At the fit without the term on all rows let z be controls whose curvature sum w z z' is the
identity, x the term with sum w x z = 0, r the residuals times the weights. Without the units O that
fit moves by d. Both links have |m''| <= m', so that with t_i = |z_i| |d|

    z_i'd (m(eta_i + z_i'd) - m_i)         >=  w_i (z_i'd)^2 (1 - exp(-t_i)) / t_i  >=  0,
    |m(eta_i + z_i'd) - m_i - w_i z_i'd|   <=  w_i (z_i'd)^2 (exp(t_i) - 1 - t_i) / t_i^2.

Take the first for rows with |z_i| <= l alone, whose curvature is at least 1 - g. The likelihood of
the rows kept falls outwards on a sphere of radius |d| about the old fit as soon as

    |sum_O r z|  <  (1 - g - sum_O w |z|^2) (1 - exp(-l |d|)) / l,

and the new fit is inside, for any l. By the second, the score of the term there is at least

    sum r x - sum_O r x - |sum_O w x z| |d| - |d|^2 |sum w |x| z z' (exp(t) - 1 - t) / t^2|.

A sum over O is at most that of the m largest of its terms. The length of a sum of vectors v is at
most that, or that of the largest sums of each coordinate, or the root of m |sum v v'|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.likelihood import LikelihoodProblem, mean, variance
from quadsweep.auditing.oracles import Decision, Oracle

_SHORT = (0.5, 0.75, 0.9, 0.97, 0.99, 0.997, 1.0)  # quantiles of |z| that are tried for l
_ROUNDED = 1e-9  # of sums and bounds, far more than their rounding


@dataclass(frozen=True)
class _Units:
    """What units take from sums, one entry each; and what is there on all rows."""

    taken: Floats  # r x, in the direction that breaks the claim
    pulled: Floats  # r z, a row each
    crossed: Floats  # w x z, a row each
    curve: Floats  # w |z|^2
    score: float
    left: float  # of the sum of r z, which should be zero
    short: list[tuple[float, float]]  # l and 1 - g


class LikelihoodBound(Oracle):
    """No m units change the sign, by what they can do at most to the score of the term."""

    finds = False
    problem: LikelihoodProblem

    @classmethod
    def handles(cls, problem: BreakProblem) -> bool:
        return (
            isinstance(problem, LikelihoodProblem)
            and problem.test.sign_alone
            and problem.test.start is not None
            and problem.test.z.shape[1] > 0
        )

    def refutes_at_once(self, fewest: int, most: int) -> bool:
        return self.least(most) > 0

    def least(self, most: int) -> float:
        """Of the score of x towards the sign on all rows, what up to so many units leave at least;
        minus infinity where that is not known."""
        u = self._units
        curve = _largest(u.curve, most)
        pull = (1 + _ROUNDED) * (_longest(u.pulled, most) + u.left)
        moved = min(_moved(pull, left - curve, length) for length, left in u.short)
        if moved == math.inf:
            return -math.inf
        lost = _largest(u.taken, most) + _longest(u.crossed, most) * moved
        lost += moved * moved * self.bent(moved)
        return u.score - (1 + _ROUNDED) * lost - _ROUNDED * float(np.abs(u.taken).sum())

    def decide(self, fewest: int, most: int, patience: float) -> Decision:
        self.resources.check()
        return Decision(refuted=self.refutes_at_once(fewest, most))

    @cached_property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """z, x, w and r."""
        test = self.problem.test
        m = mean(test.design.link, test.z @ test.start)
        w = test.weights * variance(test.design.link, m)
        z = np.linalg.solve(np.linalg.cholesky((test.z * w[:, None]).T @ test.z), test.z.T).T
        x = test.x - z @ (z.T @ (w * test.x))
        x /= math.sqrt(float(w @ (x * x)))
        return z, x, w, test.weights * (test.design.y - m)

    @cached_property
    def _units(self) -> _Units:
        unit, (z, x, w, r) = self.problem.test.design.unit, self.columns
        lengths, breaks = np.linalg.norm(z, axis=1), -self.problem.test.side

        def summed(columns: Floats) -> Floats:
            return np.stack([np.bincount(unit, column) for column in columns], axis=1)

        short = []
        for length in np.quantile(lengths, _SHORT):
            long = lengths > length
            gone = (z[long] * w[long, None]).T @ z[long]
            short.append((float(length), 1 - _ROUNDED - float(np.linalg.norm(gone, 2))))
        return _Units(
            taken=summed(breaks * x * r[None])[:, 0],
            pulled=summed(z.T * r),
            crossed=summed(z.T * (w * x)),
            curve=summed((w * lengths**2)[None])[:, 0],
            score=float(breaks * (x @ r)),
            left=float(np.linalg.norm(z.T @ r)),
            short=short,
        )

    def bent(self, moved: float) -> float:
        """|sum w |x| z z' (exp(t) - 1 - t) / t^2|."""
        z, x, w, _ = self.columns
        t = np.linalg.norm(z, axis=1) * moved
        with np.errstate(over="ignore"):
            curved = np.where(t > 1e-4, (np.expm1(t) - t) / np.maximum(t, 1e-4) ** 2, 0.5 + t)
            bent = (z * (w * np.abs(x) * curved)[:, None]).T @ z
        return float(np.linalg.norm(bent, 2)) if np.isfinite(bent).all() else math.inf


def _moved(pull: float, curve: float, length: float) -> float:
    """How far the fit moves at most; infinity where that is not known."""
    if not (curve > 0 and pull * length < curve):
        return math.inf
    return (1 + _ROUNDED) * -math.log1p(-pull * length / curve) / length


def _largest(values: Floats, m: int) -> float:
    """The sum of the m largest, of those above zero."""
    if m < len(values):
        values = np.partition(values, len(values) - m)[len(values) - m :]
    return float(np.maximum(values, 0.0).sum())


def _longest(vectors: Floats, m: int) -> float:
    """At most so long is the sum of m of them."""
    along = (max(_largest(side * v, m) for side in (1, -1)) for v in vectors.T)
    return min(
        _largest(np.linalg.norm(vectors, axis=1), m),
        math.sqrt(sum(a * a for a in along)),
        math.sqrt(m) * float(np.linalg.norm(vectors, 2)) * (1 + _ROUNDED),
    )

"""The paper's sweep for any lift and any score: a place to try one's own objective.

With a named score everything runs in the compiled core, whatever the lift. A score given as a
function is called from a plain loop over the same candidates.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from quadsweep import _core, lifts, objectives
from quadsweep.answers.result import Result
from quadsweep.arrays import Floats, Ints
from quadsweep.border import validation
from quadsweep.lifts import Lift
from quadsweep.methods import Outcome, Problem
from quadsweep.objectives import Objective
from quadsweep.solving.solve import make_result

Score = Callable[[Floats, Floats], float]

ORDERS = ("both", "ascending", "descending")


def naive_sweep(
    x: Any,
    y: Any,
    k: int | float,
    *,
    lift: str | Lift = "L5",
    score: str | Score = "r2",
    order: str = "both",
) -> Result:
    """The best candidate of the naive quadratic sweep.

    For every d of the lifted points, the hyperplane through them; the other points sorted by their
    signed distance from it; as candidates every part of the d points with the first of the others.
    Where there are no more than d points, all subsets are scored.

    Parameters
    ----------
    x, y : one-dimensional sequences of numbers
    k : int or float
        Points to keep: a number, or a share of n in (0, 1).
    lift : str or callable
        ``L2``, ``L3c``, ``L3d``, ``L3t``, ``L4``, ``L5``, or a function from the two columns to an
        array of shape (n, d), d >= 1.
    score : str or callable
        The name of an objective, or a function from the kept points' two columns to a number, the
        larger the better.
    order : {"both", "ascending", "descending"}
        From which end of the sorted points to take the first. The published code has one
        direction; because the sign of a plane is arbitrary, that misses some subsets.

    Returns
    -------
    Result
        With status ``best_separable``, or ``optimal`` where all subsets were scored. Ctrl-C ends
        the sweep with the best subset so far.

    Examples
    --------
    >>> import quadsweep as qs
    >>> qs.naive_sweep([1, 2, 3, 4, 5, 6, 7], [1, 2, 9, 4, 5, 6, 7], 6).outliers
    array([2])

    The four points whose largest distance from their centre is smallest:

    >>> def closeness(x, y):
    ...     return -max((x - x.mean()) ** 2 + (y - y.mean()) ** 2)
    >>> qs.naive_sweep([0, 1, 0, 1, 9, 8], [0, 0, 1, 1, 7, 9], 4, lift="L3t",
    ...                score=closeness).inliers
    array([0, 1, 2, 3])
    """
    goal = _goal(score)
    points = validation.sample(x, y, goal)
    keep = validation.keep_count(points.n, k, None, goal)
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}")
    lifted = _lift(lift, points.x, points.y)
    validation.check_varies(points, goal)
    problem = Problem(points.x, points.y, keep, goal)
    start = time.perf_counter()
    outcome = _by_function(problem, lifted, order) if isinstance(goal, _Custom) else Outcome(
        *_core.solve_lifted(
            points.x, points.y, lifted, keep, goal.name, "naive", order, math.inf, 1, None
        )
    )  # fmt: skip
    return make_result(points, problem, outcome, "naive", time.perf_counter() - start)


def _goal(score: Any) -> Objective:
    if isinstance(score, str) and score in objectives.OBJECTIVES:
        return objectives.get(score)
    if callable(score):
        return _Custom.of(score)
    known = ", ".join(objectives.OBJECTIVES)
    kind = ValueError if isinstance(score, str) else TypeError
    raise kind(f"score must be a callable or one of {known}; got {score!r}")


def _lift(lift: str | Lift, x: Floats, y: Floats) -> Floats:
    """The lifted points; named lifts of centred columns, which have the same hyperplanes."""
    if not callable(lift):
        return lifts.get(lift)(x - np.median(x), y - np.median(y))
    lifted = np.asarray(lift(x.copy(), y.copy()))
    if lifted.ndim != 2 or lifted.shape[0] != len(x) or lifted.shape[1] < 1:
        raise ValueError(
            f"lift must return an array of shape ({len(x)}, d) with d >= 1; got shape "
            f"{lifted.shape}"
        )
    if lifted.dtype.kind not in "biuf":
        raise TypeError(f"lift must return real numbers; got dtype {lifted.dtype}")
    lifted = np.ascontiguousarray(lifted, dtype=np.float64)
    if not np.isfinite(lifted).all():
        first = int(np.argmin(np.isfinite(lifted).all(axis=1)))
        raise ValueError(f"lift must return finite numbers; got {lifted[first]} for point {first}")
    return lifted


@dataclass(frozen=True)
class _Custom(Objective):
    """A score given as a function, in the place of an objective."""

    score: Score = field(default=lambda x, y: math.nan)

    @classmethod
    def of(cls, score: Score) -> _Custom:
        name = getattr(score, "__name__", type(score).__name__)
        nothing = (0.0, 0.0, 0.0)
        return cls(name, name, +1, "L5", 1, False, False, False,
                   lambda a, b, c, k: math.nan, lambda a, b, c: nothing, score)  # fmt: skip

    def value(self, x: Floats, y: Floats) -> float:
        number = self.score(x, y)
        if isinstance(number, np.ndarray) and number.ndim == 0:
            number = number[()]
        if not isinstance(number, (numbers.Real, np.number, np.bool_)) or math.isnan(number):
            raise ValueError(f"score must return a number; got {number!r} for {len(x)} points")
        return float(number)


def _by_function(problem: Problem, lifted: Floats, order: str) -> Outcome:
    """The sweep with the score called for every new candidate."""
    best, inliers, scored = -math.inf, np.arange(problem.k), 0
    status = "best_separable" if problem.n > lifted.shape[1] else "optimal"
    seen: set[bytes] = set()
    try:
        for subset in _candidates(lifted, problem.k, order):
            if subset.tobytes() in seen:
                continue
            seen.add(subset.tobytes())
            value = problem.objective.value(problem.x[subset], problem.y[subset])
            scored += 1
            if value > best or scored == 1:
                best, inliers = value, subset
    except KeyboardInterrupt:
        status = "interrupted"
    if scored == 0:
        best = problem.objective.value(problem.x[inliers], problem.y[inliers])
    return Outcome(inliers, best, best if status == "optimal" else math.inf, status, scored)


def _candidates(lifted: Floats, k: int, order: str) -> Iterator[Ints]:
    """Sorted subsets of k points, some of them more than once."""
    n, d = lifted.shape
    if n <= d:
        yield from (np.array(subset) for subset in combinations(range(n), k))
        return
    scale = lifted.std(axis=0)
    homogeneous = np.ones((n, d + 1))
    homogeneous[:, :d] = (lifted - np.median(lifted, axis=0)) / np.where(scale > 0, scale, 1)
    for through in combinations(range(n), d):
        normal = np.linalg.svd(homogeneous[list(through)])[2][-1]
        others = np.delete(np.arange(n), through)
        ascending = others[np.argsort(homogeneous[others] @ normal, kind="stable")]
        for ordered, name in ((ascending, "ascending"), (ascending[::-1], "descending")):
            if order in (name, "both"):
                for size in range(max(0, k - len(others)), min(d, k) + 1):
                    for part in combinations(through, size):
                        yield np.sort(np.concatenate([ordered[: k - size], part]).astype(np.int64))

"""The paper's sweep for any lift and any score: a place to try one's own objective.

With a named score everything runs in the compiled core, whatever the lift. A score given as a
function is called from a plain loop over the same candidates.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from quadsweep import _core, lifts, objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.inputs import frames, validation
from quadsweep.lifts import Lift
from quadsweep.paper.separability.slab import best_in_slabs
from quadsweep.results.result import Result
from quadsweep.solving.methods import Outcome
from quadsweep.solving.question import make_result, pose

ScoreOf = Callable[[Floats, Floats], float]

ORDERS = ("both", "ascending", "descending")


def naive_sweep(
    x: Any,
    y: Any,
    k: int | float,
    *,
    lift: str | Lift = "L5",
    score: str | ScoreOf = "r2",
    order: str = "both",
    slab: float | None = None,
    planes: int = 1000,
    seed: int = 0,
) -> Result:
    """Run the paper's naive quadratic sweep (its algorithm 1), with any lift and score.

    For every d lifted points, sort the other points by their signed distance from the hyperplane
    through the d points. The candidates are the first of the others together with any subset of the
    d points.
    If there are at most d points, all subsets are scored.

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
        The direction of sorting (the paper's rho). One direction misses some subsets, because the
        sign of a hyperplane's normal is arbitrary.
    slab : float, optional
        The approximate sweep of the paper's conclusion, for score ``r2``: draw ``planes`` random
        hyperplanes and try every subset of the points in a slab of this width around each (in units
        of the distance between the means of its sides). It can find subsets that no conic cuts off.
    planes, seed : int
        Number of random hyperplanes, and their seed.

    Returns
    -------
    Result
        With status ``heuristic``, or ``optimal`` if all subsets were scored: the sweep misses
        subsets that only hyperplanes through dependent points cut off (points on a circle, copies).

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
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}")
    if slab is not None:
        return _with_slabs(x, y, k, lift, score, slab, planes, seed)
    if not isinstance(score, str):
        return _with_function(x, y, k, lift, ScoreFunction.from_callable(score), order)
    if score not in objectives.OBJECTIVES:
        known = ", ".join(objectives.OBJECTIVES)
        raise ValueError(f"score must be a callable or one of {known}; got {score!r}")
    question = pose(x, y, objective=score, n_jobs=1).keeping(k, None)
    asked = question.problem
    lifted = _lift(lift, asked.x, asked.y)
    start = time.perf_counter()
    outcome = Outcome(
        *_core.solve_lifted(
            asked.x, asked.y, lifted, asked.k, score, "naive", order, math.inf, 1, None
        )
    )
    return question.result(outcome, asked.k, "naive", time.perf_counter() - start)


def _with_slabs(
    x: Any, y: Any, k: Any, lift: str | Lift, score: Any, width: float, planes: int, seed: int
) -> Result:
    """The sweep over random hyperplanes with slabs around them."""
    if score != "r2":
        raise ValueError(f"with a slab score must be 'r2'; got {score!r}")
    if not 0 <= width < math.inf:
        raise ValueError(f"slab must be a number of at least 0; got {width!r}")
    question = pose(x, y, objective="r2", n_jobs=1).keeping(k, None)
    asked = question.problem
    lifted = _lift(lift, asked.x, asked.y)
    u, w = asked.x - asked.x.mean(), asked.y - asked.y.mean()
    columns = np.stack([u, w, u * u, u * w, w * w])
    start = time.perf_counter()
    if asked.k == len(u) or len(u) <= lifted.shape[1]:
        return naive_sweep(x, y, k, lift=lift)
    kept, scored = best_in_slabs(lifted, columns, asked.k, planes, width, seed)
    value = objectives.get("r2").value(asked.x[kept], asked.y[kept])
    outcome = Outcome(kept, value, 1.0, "heuristic", scored)
    return question.result(outcome, asked.k, "naive", time.perf_counter() - start)


def _with_function(
    x: Any, y: Any, k: Any, lift: str | Lift, score: ScoreFunction, order: str
) -> Result:
    given = frames.unpack(x, y)
    points = validation.read_sample(given, objectives.get("r2"))
    keep = validation.keep_count(points.n, k, None, score)
    lifted = _lift(lift, points.x, points.y)
    start = time.perf_counter()
    outcome = _best_candidate(points.x, points.y, keep, score, lifted, order)
    return make_result(given, points, keep, score, outcome, "naive", time.perf_counter() - start)


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
class ScoreFunction:
    """A score of the user's own, the larger the better."""

    name: str
    function: ScoreOf
    sense: int = +1
    min_k: int = 1

    @classmethod
    def from_callable(cls, function: Any) -> ScoreFunction:
        if not callable(function):
            known = ", ".join(objectives.OBJECTIVES)
            raise TypeError(f"score must be a callable or one of {known}; got {function!r}")
        return cls(getattr(function, "__name__", type(function).__name__), function)

    def value(self, x: Floats, y: Floats) -> float:
        number = self.function(x, y)
        if isinstance(number, np.ndarray) and number.ndim == 0:
            number = number[()]
        if not isinstance(number, (numbers.Real, np.number, np.bool_)) or math.isnan(number):
            raise ValueError(f"score must return a number; got {number!r} for {len(x)} points")
        return float(number)


def _best_candidate(
    x: Floats, y: Floats, k: int, score: ScoreFunction, lifted: Floats, order: str
) -> Outcome:
    """The sweep with the score called for every new candidate."""
    best, inliers, scored = -math.inf, np.arange(k), 0
    status = "heuristic" if len(x) > lifted.shape[1] else "optimal"
    seen: set[bytes] = set()
    try:
        for subset in _candidates(lifted, k, order):
            if subset.tobytes() in seen:
                continue
            seen.add(subset.tobytes())
            value = score.value(x[subset], y[subset])
            scored += 1
            if value > best or scored == 1:
                best, inliers = value, subset
    except KeyboardInterrupt:
        status = "interrupted"
    if scored == 0:
        best = score.value(x[inliers], y[inliers])
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

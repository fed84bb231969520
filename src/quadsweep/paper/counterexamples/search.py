"""Finding counterexamples: draw, construct, improve, round, prove.

First small integers at random, which is enough where failures are common. Then the construction
(construction.py), whose points are moved at random, many configurations at once, to raise

    min over subsets J of (score(I) - score(J)) / |S(I) - S(J)|^2,

a measure that two points falling into one cannot satisfy for free. A configuration above zero has
I as its best subset; it is rounded to integers, small ones first, until both parts of the proof
hold exactly.
"""

from __future__ import annotations

import math
import sys
import time
from itertools import combinations

import numpy as np

from quadsweep import lifts, objectives
from quadsweep.arrays import Floats, Mask
from quadsweep.inputs import validation
from quadsweep.messages import argument
from quadsweep.paper.counterexamples.construction import Plan, start
from quadsweep.paper.counterexamples.proof import Counterexample, prove
from quadsweep.paper.separability.hulls.exact import decide
from quadsweep.solving.methods.batch import Batch

SEARCHED = ("r2", "r", "cov", "dv")
_SIZES = {"r2": (11, 8), "r": (9, 6), "cov": (8, 6), "dv": (8, 6)}
_MOST_SUBSETS = 5_000
_DRAW_SHARE = 0.15  # of the time, at most, for integers at random
_DRAWS, _DRAWN = 6, 2_000  # so many times so many sets
_PERCEPTRON = 200  # steps before the exact decision is asked
_CROWD = 96  # configurations improved at a time
_STARTS = 4_000
_ROUNDS = 1_200
_REACHES = (6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 130, 160, 200, 300, 500, 1000)
_ROUNDED = 12  # configurations that are rounded
_ROUNDINGS = 200


def search(
    seconds: float = 600.0,
    objective: str = "r2",
    n: int | None = None,
    k: int | None = None,
    seed: int = 0,
    *,
    lift: str | None = None,
    attempts: int | None = None,
    progress: bool = False,
) -> Counterexample | None:
    """A new counterexample with small integer coordinates, proved exactly, or None.

    Parameters
    ----------
    seconds : float
        Time after which the search gives up.
    objective : {"r2", "r", "cov", "dv"}
        For the others a theorem says that there are none.
    n, k : int, optional
        Points, and points to keep.
    seed : int
    lift : str, optional
        The objective's natural lift if left out.
    attempts : int, optional
        Crowds of constructions after which the search gives up, however much time is left. With
        time enough the outcome then depends on the seed alone.
    progress : bool
        Say on standard error what is being tried.

    Examples
    --------
    >>> from quadsweep.paper.counterexamples import search, verify
    >>> found = search(60, "dv", n=7, k=5)
    >>> verify([found], show=None)[0].valid
    True
    """
    plan = _plan(objective, n, k, lift)
    deadline = time.monotonic() + validation.seconds(seconds)
    # One stream a stage, so that the machine's speed does not change what the second one does.
    draws, rng = (np.random.default_rng([validation.whole(seed, "seed", 0), i]) for i in (0, 1))
    most = math.inf if attempts is None else validation.whole(attempts, "attempts", 0)
    tell = _teller(progress)
    found = _draw(plan, draws, time.monotonic() + _DRAW_SHARE * float(seconds), tell)
    made = 0
    while found is None and plan.possible and made < most and time.monotonic() < deadline:
        made += 1
        tell("placing points on a gradient hyperbola")
        crowd = _starts(plan, rng, deadline)
        if len(crowd):
            good = _improve(plan, crowd, rng, deadline, tell)
            found = _rounded(plan, good, rng, deadline, tell)
    return found


def _plan(objective: str, n: int | None, k: int | None, lift: str | None) -> Plan:
    goal = objectives.get(objective)
    if objective not in SEARCHED:
        raise ValueError(
            f"{argument('objective')} must be one of {', '.join(SEARCHED)}, as a theorem rules out "
            f"counterexamples for the others; got {objective!r}"
        )
    default_n, default_k = _SIZES[objective]
    size = default_n if n is None else validation.whole(n, "n", 4)
    keep = min(default_k, size - 2) if k is None else validation.whole(k, "k", goal.min_k)
    if keep >= size:
        raise ValueError(f"k must leave at least one of n = {size} points out; got {keep}")
    if math.comb(size, keep) > _MOST_SUBSETS:
        raise ValueError(
            f"n = {size} and k = {keep} make {math.comb(size, keep):,} subsets; "
            f"the search takes at most {_MOST_SUBSETS:,}"
        )
    name = goal.lift if lift is None else lift
    lifts.get(name)
    return Plan(objective, name, size, keep)


class _teller:
    """Says a line on standard error, at most one every two seconds, if it is to speak at all."""

    def __init__(self, speaks: bool) -> None:
        self._speaks, self._next = speaks, time.monotonic() + 2.0

    def __call__(self, text: str) -> None:
        if self._speaks and time.monotonic() >= self._next:
            self._next = time.monotonic() + 2.0
            print(text, file=sys.stderr, flush=True)


def _draw(
    plan: Plan, rng: np.random.Generator, deadline: float, tell: _teller
) -> Counterexample | None:
    """Integers at random, their best subset by enumeration, the exact decision."""
    for turn in range(_DRAWS):
        if time.monotonic() > deadline:
            break
        reach = 4 + 3 * turn
        x, y = rng.integers(-reach, reach + 1, size=(2, _DRAWN, plan.n)).astype(float)
        masks = Batch(x, y, plan.k, objectives.get(plan.objective)).solve("exhaustive").masks
        for t in _doubtful(x, y, masks, plan.lift):
            if masks[t].sum() == plan.k:
                found = _proved(plan, x[t], y[t], masks[t])
                if found is not None:
                    return found
        tell(f"{_DRAWN * (turn + 1):,} sets of random integers have separable best subsets")
    return None


def _doubtful(x: Floats, y: Floats, masks: Mask, lift: str) -> list[int]:
    """Instances that some steps of a perceptron do not separate; the exact decision gets these."""
    if len(x) == 0:
        return []
    features = _features(x, y, lift)
    side = np.where(masks, 1.0, -1.0)[:, :, None] * features
    normal, everyone = side.mean(axis=1), np.arange(len(x))
    for _ in range(_PERCEPTRON):
        margins = np.einsum("tnd,td->tn", side[everyone], normal[everyone])
        worst = margins.argmin(axis=1)
        stuck = margins[np.arange(len(everyone)), worst] <= 1e-9
        everyone, worst = everyone[stuck], worst[stuck]
        if len(everyone) == 0:
            break
        normal[everyone] += side[everyone, worst]
    return [int(t) for t in everyone]


def _features(x: Floats, y: Floats, lift: str) -> Floats:
    """Lifted points with a one at the end, T by n by d + 1, whitened so that steps are few."""
    u, w = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    size = np.maximum(np.abs(u), np.abs(w)).max(axis=1, keepdims=True)
    size[size == 0] = 1.0
    lifted = lifts.get(lift)((u / size).ravel(), (w / size).ravel()).reshape(*x.shape, -1)
    lifted -= lifted.mean(axis=1, keepdims=True)
    left = np.linalg.svd(lifted, full_matrices=False)[0] * math.sqrt(x.shape[1])
    return np.concatenate([left, np.ones((*x.shape, 1))], axis=2)


def _starts(plan: Plan, rng: np.random.Generator, deadline: float) -> Floats:
    rows: list[Floats] = []
    for _ in range(_STARTS):
        if len(rows) == _CROWD or time.monotonic() > deadline:
            break
        row = start(plan, rng)
        if row is not None:
            rows.append(row)
    return np.array(rows)


class _Merit:
    """The measure of a crowd of configurations, over all subsets at once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        chosen = np.array(list(combinations(range(plan.n), plan.k)))
        self._members = np.zeros((len(chosen), plan.n))
        self._members[np.arange(len(chosen))[:, None], chosen] = 1.0
        self._target = int(np.flatnonzero((self._members == plan.inliers).all(axis=1))[0])

    def __call__(self, rows: Floats) -> Floats:
        score, distance2 = self._scores(*self._plan.points(rows))
        with np.errstate(all="ignore"):
            ratio = (score[self._target] - score) / (distance2 + 1e-9)
            ratio[self._target] = np.inf
            merit = ratio.min(axis=0)
        return np.where(np.isfinite(merit), merit, -1e9)

    def wins(self, x: Floats, y: Floats) -> Mask:
        """Which point sets have the inliers as their best subset, by a margin doubles can see."""
        score, _ = self._scores(x, y)
        with np.errstate(all="ignore"):
            others = np.delete(score, self._target, axis=0).max(axis=0)
            return np.asarray(score[self._target] - others > 1e-9)

    @np.errstate(all="ignore")
    def _scores(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Monotone scores and squared distances of the moments from the target's, J by T."""
        k, objective = self._plan.k, self._plan.objective
        x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
        sizes = [np.sqrt((v * v).mean(axis=1, keepdims=True)) for v in (x, y)]
        if objective == "dv":
            sizes = [np.hypot(*sizes)] * 2
        x, y = x / sizes[0], y / sizes[1]
        columns = np.concatenate([x, y, x * x, x * y, y * y])
        sums = (self._members @ columns.T).reshape(len(self._members), 5, len(x))
        sx, sy, sxx, sxy, syy = (sums[:, i] for i in range(5))
        a, b, c = sxx - sx * sx / k, syy - sy * sy / k, sxy - sx * sy / k
        if objective in ("r2", "r"):
            r = c / np.sqrt(a * b)
            flat = ((a < 1e-6) | (b < 1e-6)).any(axis=0) | (np.abs(r[self._target]) > 0.97)
            # The logit of R2 and the inverse tangent of r keep nearly straight sets from looking
            # like ties.
            score = np.log(r * r / (1 - r * r)) if objective == "r2" else np.arctanh(r)
            score = np.where(flat, np.nan, score)
        else:
            score = c if objective == "cov" else a - b
        return score, ((sums - sums[self._target]) ** 2).sum(axis=1)


def _improve(
    plan: Plan, rows: Floats, rng: np.random.Generator, deadline: float, tell: _teller
) -> Floats:
    """Random steps, kept where the measure rises; the best rows that end above zero."""
    merit = _Merit(plan)
    value, free = merit(rows), plan.free
    reach = np.full(len(rows), 0.03)
    for turn in range(_ROUNDS):
        if time.monotonic() > deadline:
            break
        few = rng.random((len(rows), 1)) < 0.5
        moved = free & (rng.random(rows.shape) < np.where(few, 3.0 / rows.shape[1], 1.0))
        trial = rows + moved * reach[:, None] * rng.standard_t(3, size=rows.shape)
        outcome = merit(trial)
        better = outcome > value
        rows[better], value[better] = trial[better], outcome[better]
        reach = np.clip(reach * np.where(better, 1.5, 0.95), 1e-6, 1.0)
        if turn % 300 == 299:
            order, half = np.argsort(value), len(rows) // 2
            rows[order[:half]], value[order[:half]] = rows[order[-half:]], value[order[-half:]]
            reach[order[:half]] = 0.03
            tell(f"improving: best measure {value.max():.2e}")
            if turn > 300 and (value > 0).all():
                break
    _, first = np.unique(value, return_index=True)
    return rows[[i for i in first[::-1][:_ROUNDED] if value[i] > 0]]


def _rounded(
    plan: Plan, rows: Floats, rng: np.random.Generator, deadline: float, tell: _teller
) -> Counterexample | None:
    """Integers near the configurations, the smallest for which both parts of the proof hold."""
    merit, mask = _Merit(plan), plan.inliers
    x, y = (v - (v.min(axis=1) + v.max(axis=1))[:, None] / 2 for v in plan.points(rows))
    size_x, size_y = (np.abs(v).max(axis=1, keepdims=True, initial=1e-300) for v in (x, y))
    if plan.objective == "dv":
        size_x = size_y = np.maximum(size_x, size_y)
    for reach in _REACHES:
        tell(f"rounding to integers up to {reach}")
        for u, w in zip(reach * x / size_x, reach * y / size_y, strict=True):
            if time.monotonic() > deadline:
                return None
            shift = rng.uniform(-0.8, 0.8, size=(2, _ROUNDINGS, plan.n))
            xs, ys = np.rint(u + shift[0]), np.rint(w + shift[1])
            won = merit.wins(xs, ys)
            xs, ys = xs[won], ys[won]
            for t in _doubtful(xs, ys, np.tile(mask, (len(xs), 1)), plan.lift):
                found = _proved(plan, xs[t], ys[t], mask)
                if found is not None:
                    return found
    return None


def _proved(plan: Plan, x: Floats, y: Floats, mask: Mask) -> Counterexample | None:
    if decide(x, y, mask, plan.lift).separable:
        return None
    found = Counterexample(
        name=f"found-{plan.objective}-{plan.lift}-{plan.n}-{plan.k}",
        objective=plan.objective,
        lifts=(plan.lift,),
        points=tuple((int(u), int(w)) for u, w in zip(x, y, strict=True)),
        inliers=tuple(int(i) for i in np.flatnonzero(mask)),
    )
    return found if prove(found).valid else None

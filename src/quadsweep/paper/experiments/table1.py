"""Table 1: is the best subset separable from the rest, by objective and lift?

The best k of n points come from exhaustive search. The paper's test is the squared distance of the
hulls of the lifted inliers and outliers, by an interior point method, above 1e-10; beside it stands
the decision in rational arithmetic, on the same points.

The paper finds covariance separable under L4, which has no xy term, in every trial. So a second
table asks what one finds for moments about zero instead of about the mean: the k largest products
x y, and the largest Sxy / sqrt(Sxx Syy).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.distributed.store import Chunk, Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments import randomness
from quadsweep.paper.experiments.runner import Results, TextTable, gather, split
from quadsweep.paper.experiments.scale import Scale
from quadsweep.paper.separability.hulls.distance import TOLERANCE
from quadsweep.paper.separability.separate import hull_distance, separate
from quadsweep.solving.many import solve_many

N_POINTS, KEPT = 20, 10
CHUNK = 20  # trials, for a few seconds each
DECISION_SECONDS = 60.0  # for one exact decision

PAPER_LIFTS = ("L5", "L4")
OBJECTIVES_OF_PAPER = ("r", "r2", "cov", "tv", "dv")


@dataclass(frozen=True)
class Published:
    """A row of the paper's table 1."""

    success: float
    primal: float
    dual: float


PAPER = {
    ("r", "L5"): Published(1.000, 8.54e-8, 5.99e-8),
    ("r", "L4"): Published(0.326, -2.46e-16, -8.13e-8),
    ("r2", "L5"): Published(1.000, 1.78e-6, 3.52e-6),
    ("r2", "L4"): Published(0.216, 1.86e-16, -8.80e-8),
    ("cov", "L5"): Published(1.000, 3.64e-6, 7.23e-6),
    ("cov", "L4"): Published(1.000, 1.16e-7, 1.70e-7),
    ("tv", "L5"): Published(1.000, 1.14e-5, 2.27e-5),
    ("tv", "L4"): Published(1.000, 2.45e-5, 4.90e-5),
    ("dv", "L5"): Published(1.000, 1.24e-6, 2.43e-6),
    ("dv", "L4"): Published(1.000, 1.75e-6, 3.47e-6),
}


def lifts_of(objective: str) -> tuple[str, ...]:
    """The paper's two lifts, and the objective's natural one if that is another.

    >>> lifts_of("cov"), lifts_of("r2")
    (('L5', 'L4', 'L3c'), ('L5', 'L4'))
    """
    return tuple(dict.fromkeys((*PAPER_LIFTS, OBJECTIVES[objective].lift)))


def separability_work(objective: str, first: int, count: int) -> Columns:
    """Both tests of each lift for the best subsets of consecutive trials."""
    x, y = randomness.trials(first, count, N_POINTS)
    best = solve_many(x, y, k=KEPT, objective=objective, method="exhaustive", n_jobs=1)
    return _both_tests(x, y, best.masks, lifts_of(objective))


def uncentred_work(objective: str, first: int, count: int) -> Columns:
    """The same for the best subsets by moments about zero."""
    x, y = randomness.trials(first, count, N_POINTS)
    masks = np.array([UNCENTRED[objective](x[t], y[t]) for t in range(count)])
    return _both_tests(x, y, masks, PAPER_LIFTS)


def _both_tests(x: Floats, y: Floats, masks: Mask, lifts: Sequence[str]) -> Columns:
    columns: Columns = {}
    for lift in lifts:
        distances = hull_distance(x, y, masks, lift)
        columns[f"{lift} primal"] = distances.primal
        columns[f"{lift} dual"] = distances.dual
        columns[f"{lift} exact"] = np.array(
            [_decide(x[t], y[t], masks[t], lift) for t in range(len(x))], dtype=np.int8
        )
    return columns


def _largest_products(x: Floats, y: Floats) -> Mask:
    mask = np.zeros(len(x), dtype=bool)
    mask[np.argsort(x * y, kind="stable")[-KEPT:]] = True
    return mask


def _largest_cosine(x: Floats, y: Floats) -> Mask:
    subsets = _all_subsets(len(x))
    sxx, sxy, syy = (subsets @ np.column_stack([x * x, x * y, y * y])).T
    best = int(np.argmax(sxy / np.sqrt(sxx * syy)))
    return np.asarray(subsets[best] > 0)


@lru_cache(maxsize=1)
def _all_subsets(n: int) -> Floats:
    members = np.array(list(combinations(range(n), KEPT)))
    table = np.zeros((len(members), n))
    np.put_along_axis(table, members, 1.0, axis=1)
    return table


UNCENTRED = {"cov": _largest_products, "r": _largest_cosine}


def _decide(x: Floats, y: Floats, mask: Mask, lift: str) -> int:
    """1 if proved separable, 0 if proved not to be, -1 if time ran out."""
    answer = separate(x, y, mask, lift=lift, time_limit=DECISION_SECONDS).separable
    return -1 if answer is None else int(answer)


def chunks(scale: Scale) -> list[Chunk]:
    centred = [(objective, objective, separability_work) for objective in OBJECTIVES_OF_PAPER]
    uncentred = [(f"{objective}_uncentred", objective, uncentred_work) for objective in UNCENTRED]
    pieces = (
        split(prefix, work, scale.separability, CHUNK, objective=objective)
        for prefix, objective, work in centred + uncentred
    )
    return list(chain.from_iterable(pieces))


def tables(results: Results, scale: Scale) -> list[TextTable]:
    title = (
        f"Table 1: separability of the best {KEPT} of {N_POINTS} points by objective and lift "
        f"(N = {scale.separability:,})"
    )
    rows = [
        _row(results, objective, objective, OBJECTIVES[objective].title, lift)
        for objective in OBJECTIVES_OF_PAPER
        for lift in lifts_of(objective)
    ]
    uncentred = [
        _row(results, f"{objective}_uncentred", objective, UNCENTRED_TITLES[objective], lift)
        for objective in UNCENTRED
        for lift in PAPER_LIFTS
    ]
    return [
        TextTable(title, COLUMNS, rows, NOTES),
        TextTable("Table 1 with moments about zero", COLUMNS, uncentred, UNCENTRED_NOTES),
    ]


UNCENTRED_TITLES = {"cov": "Sxy", "r": "Sxy / sqrt(Sxx Syy)"}
UNCENTRED_NOTES = (
    "What the paper's r and covariance would be if their means were left out, beside the paper's "
    "figures for r and covariance.",
)

COLUMNS = (
    "Objective", "Lift", "Success rate", "paper", "Exactly separable",
    "Min. primal", "paper", "Min. dual", "paper",
)  # fmt: skip

NOTES = (
    f"Success: squared distance of the hulls (primal) above {TOLERANCE:g}. Exactly separable: "
    "decided in rational arithmetic, by a separating plane or a common point of the hulls.",
    "Ours is the dual value of the quadratic program, a lower bound on the squared distance, which "
    "meets the primal value at the optimum. Many of the paper's are twice its primal values.",
)


def _row(results: Results, prefix: str, objective: str, title: str, lift: str) -> list[str]:
    primal, dual, exact = (
        gather(results, prefix, f"{lift} {what}") for what in ("primal", "dual", "exact")
    )
    paper = PAPER.get((objective, lift))
    undecided = int((exact < 0).sum())
    decided = f"{(exact == 1).mean():.3f}" + (f" ({undecided} undecided)" if undecided else "")
    return [
        title,
        lift,
        f"{(primal > TOLERANCE).mean():.3f}",
        f"{paper.success:.3f}" if paper else "-",
        decided,
        f"{primal.min():.2e}",
        f"{paper.primal:.2e}" if paper else "-",
        f"{dual.min():.2e}",
        f"{paper.dual:.2e}" if paper else "-",
    ]

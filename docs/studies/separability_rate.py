"""How often is the best subset not separable? A million random instances, five objectives.

For every instance the best subset comes from enumeration. Then

(a) the gradient test: does the level set of the objective's first-order gain, the paper's decision
    boundary, have the inliers strictly on one side? If so, it is a separating plane of the
    objective's natural lift and of every lift that contains it.
(b) separability under each lift. If (a) succeeds, nothing is left to do; otherwise the quadratic
    program's lower bound on the distance decides if it is large, and the exact decision if not.
    L4 does not contain the gradient's conic of r2, r and cov and fails often, so one instance in
    ten is tested there: a squared distance of at most 1e-13 of the lifted points' size counts as
    none, one of at least 1e-10 as some, and the exact decision settles what lies between.

    python docs/studies/separability_rate.py DIRECTORY [INSTANCES]
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quadsweep import lifts
from quadsweep.arrays import Axes, Floats, Mask
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments.runner import TextTable, write
from quadsweep.paper.separability.hulls.exact import decide
from quadsweep.paper.separability.separate import hull_distance
from quadsweep.solving.many import solve_many

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NAME = "separability-rate"
SIZES = range(8, 17)
SHARES = (0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95)
INSTANCES = 1_000_000
SEED = 20
TRIED = ("r2", "r", "cov", "dv", "tv")
GRADIENT = "gradient"
# Lifts that contain the conic of the objective's gradient, and those that do not.
CONTAINING = {
    "r2": ("L5",), "r": ("L5",), "cov": ("L3c", "L5"), "dv": ("L3d", "L4", "L5"),
    "tv": ("L3t", "L4", "L5"),
}  # fmt: skip
OTHERS = {"r2": ("L4",), "r": ("L4",), "cov": ("L4",), "dv": (), "tv": ()}
SUBSAMPLE = 10  # one instance in so many for the lifts that do not contain the gradient's conic
STRICT = 1e-12  # a gap of gains above this share of their size is no rounding error
APART, TOGETHER = 1e-10, 1e-13  # squared distances, for lifted points of size 1, that are certain


def _near_circle(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    angle, radius = rng.uniform(0, 2 * math.pi, shape), 1 + 0.05 * rng.normal(size=shape)
    return radius * np.cos(angle), radius * np.sin(angle)


def _pair(
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats],
) -> Callable[[np.random.Generator, tuple[int, int]], tuple[Floats, Floats]]:
    return lambda rng, shape: (draw(rng, shape), draw(rng, shape))


FAMILIES: dict[str, Callable[[np.random.Generator, tuple[int, int]], tuple[Floats, Floats]]] = {
    "uniform": _pair(lambda rng, shape: rng.random(shape)),
    "normal": _pair(lambda rng, shape: rng.normal(size=shape)),
    "heavy-tailed": _pair(lambda rng, shape: rng.standard_t(1.5, size=shape)),
    "near a circle": _near_circle,
}


def kept(n: int) -> list[int]:
    """The different k that the shares make of n.

    >>> kept(8), kept(16)
    ([3, 4, 5, 6, 7], [4, 6, 8, 10, 12, 14, 15])
    """
    return sorted({min(max(round(share * n), 3), n - 1) for share in SHARES})


class Cell(NamedTuple):
    """Instances of one kind of data and one size."""

    family: str
    n: int
    k: int
    count: int


Counts = Counter[tuple[str, str, str]]  # (objective, test, "tested" or "failed")


def count_failures(cell: Cell) -> Counts:
    """Count, for every objective and test, the instances tested and those that failed."""
    rng = np.random.default_rng([SEED, list(FAMILIES).index(cell.family), cell.n, cell.k])
    x, y = FAMILIES[cell.family](rng, (cell.count, cell.n))
    counts: Counts = Counter()

    def add(objective: str, test: str, tested: int, failed: int) -> None:
        counts[objective, test, "tested"] += tested
        counts[objective, test, "failed"] += failed

    for objective in TRIED:
        masks = solve_many(x, y, k=cell.k, objective=objective, method="exhaustive", n_jobs=1).masks
        failed = np.flatnonzero(~gradient_separates(x, y, masks, objective))
        add(objective, GRADIENT, cell.count, len(failed))
        for lift in CONTAINING[objective]:  # each contains the one before
            failed = failed[~separable(x[failed], y[failed], masks[failed], lift, together=0.0)]
            add(objective, lift, cell.count, len(failed))
        few = slice(0, cell.count, SUBSAMPLE)
        for lift in OTHERS[objective]:
            apart = separable(x[few], y[few], masks[few], lift, TOGETHER)
            add(objective, lift, len(apart), int((~apart).sum()))
    return counts


def gradient_separates(x: Floats, y: Floats, masks: Mask, objective: str) -> Mask:
    """Which best subsets have all their gains strictly above all others', for T instances."""
    k = masks.sum(axis=1, keepdims=True)
    u = x - np.where(masks, x, 0.0).sum(axis=1, keepdims=True) / k
    w = y - np.where(masks, y, 0.0).sum(axis=1, keepdims=True) / k
    a, b, c = (
        np.where(masks, product, 0.0).sum(axis=1, keepdims=True)
        for product in (u * u, w * w, u * w)
    )
    if objective == "r2":
        parts = (-np.abs(c) / a * u * u, 2 * np.sign(c) * u * w, -np.abs(c) / b * w * w)
    elif objective == "r":
        parts = (-c / a * u * u, 2 * u * w, -c / b * w * w)
    else:
        g = OBJECTIVES[objective].gradient(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        parts = (g[0] * u * u, g[1] * u * w, g[2] * w * w)
    gain = parts[0] + parts[1] + parts[2]
    size = sum(np.abs(part) for part in parts).max(axis=1)
    lowest = np.where(masks, gain, np.inf).min(axis=1)
    highest = np.where(masks, -np.inf, gain).max(axis=1)
    return np.asarray(lowest - highest > STRICT * size)


def separable(x: Floats, y: Floats, masks: Mask, lift: str, together: float) -> Mask:
    """Which subsets a lift separates: by the quadratic program, exactly where that is too thin.

    A squared distance up to ``together``, for lifted points of size 1, is taken for none.
    """
    found = hull_distance(x, y, masks, lift)
    lifted = lifts.get(lift)(x.ravel(), y.ravel()).reshape(*x.shape, lifts.dimension(lift))
    size = np.abs(lifted - lifted.mean(axis=1, keepdims=True)).max(axis=(1, 2)) ** 2
    answer = found.dual > APART * size
    thin = ~answer & (found.primal >= together * size)
    for t in np.flatnonzero(thin):
        answer[t] = decide(x[t], y[t], masks[t], lift).separable
    return np.asarray(answer)


def cells(instances: int) -> list[Cell]:
    """Return the cells of the study, with at least so many instances in all."""
    kinds = [(family, n, k) for family in FAMILIES for n in SIZES for k in kept(n)]
    return [Cell(*kind, math.ceil(instances / len(kinds))) for kind in kinds]


Results = dict[Cell, Counts]


def totals(results: Results, is_chosen: Callable[[Cell], bool] = lambda cell: True) -> Counts:
    """Add the counts of the chosen cells."""
    return sum((counts for cell, counts in results.items() if is_chosen(cell)), Counter())


def tables(results: Results) -> list[TextTable]:
    """Return the table by objective and test, and that of the gradient test by kind of data."""
    sums = totals(results)
    tests = [(o, t) for o in TRIED for t in (GRADIENT, *CONTAINING[o], *OTHERS[o])]
    rows = [
        [OBJECTIVES[o].title, t, f"{sums[o, t, 'tested']:,}", f"{sums[o, t, 'failed']:,}",
         _rate(sums, o, t)]
        for o, t in tests
    ]  # fmt: skip
    by_family = []
    for family in FAMILIES:
        part = totals(results, lambda cell, family=family: cell.family == family)
        failures = (f"{part[o, GRADIENT, 'failed']:,} ({_rate(part, o, GRADIENT)})" for o in TRIED)
        by_family.append([family, *failures])
    instances = sum(cell.count for cell in results)
    titles = [OBJECTIVES[objective].title for objective in TRIED]
    columns = ["Objective", "Test", "Tested", "Failed", "Rate"]
    title = f"By objective and test ({instances:,} instances)"
    return [
        TextTable(title, columns, rows),
        TextTable("The gradient test by kind of data", ["Data", *titles], by_family),
    ]


def _rate(sums: Counts, objective: str, test: str) -> str:
    failed = sums[objective, test, "failed"]
    return f"{failed / sums[objective, test, 'tested']:.2g}" if failed else "0"


def draw(results: Results) -> Figure:
    """Draw rates against the share kept: the gradient test by kind of data, and L4."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for family in FAMILIES:
        part = {cell: counts for cell, counts in results.items() if cell.family == family}
        _line(left, part, "r2", GRADIENT, family)
    if totals(results)["r2", GRADIENT, "failed"] > 0:
        left.set_yscale("log", nonpositive="mask")
    title = "R²: no level set of the gain (a conic)\nseparates points kept from points dropped"
    left.set_title(title, loc="left", fontsize=10)
    for objective in ("r2", "r", "cov"):
        _line(right, results, objective, "L4", OBJECTIVES[objective].title)
    right.set_ylim(0, 1)
    right.set_title("no plane of the lift L4 separates them", loc="left", fontsize=10)
    for ax in (left, right):
        ax.set_xlim(0.2, 1.0)
        ax.set_xlabel("share of points kept, k/n")
        ax.set_ylabel("share of instances")
        ax.legend(fontsize=8, frameon=False)
    return figure


def _line(ax: Axes, results: Results, objective: str, test: str, label: str) -> None:
    from quadsweep.plotting.canvas import tidy

    tidy(ax)
    shares, rates = [], []
    for low, high in pairwise(np.linspace(0.2, 1.0, 9)):
        inside = {c: counts for c, counts in results.items() if low <= c.k / c.n < high}
        sums = totals(inside)
        if tested := sums[objective, test, "tested"]:
            shares.append(np.mean([cell.k / cell.n for cell in inside]))
            rates.append(sums[objective, test, "failed"] / tested)
    ax.plot(shares, rates, marker="o", markersize=4, linewidth=1.2, label=label)


def main(directory: str, instances: str = str(INSTANCES)) -> None:
    work = cells(int(instances))
    with ProcessPoolExecutor() as pool:
        results = dict(zip(work, pool.map(count_failures, work), strict=True))
    title = "How often the best subset is not separable"
    print(write(tables(results), Path(directory), NAME, title))
    draw(results).savefig(Path(directory) / f"{NAME}.png", dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How often is the best subset not separable? A million random instances, five objectives.

For every instance the best subset comes from enumeration. Then

(a) the gradient test: does the level set of the first-order gain, the paper's decision boundary,
    have the inliers strictly on one side? If it does, that is a separating plane of the objective's
    natural lift, and of every lift that contains it.
(b) separability under each lift. Where (a) has settled it nothing is left to do; where it failed,
    the quadratic program's lower bound on the distance settles it if it is large, and the exact
    decision if it is not. L4 does not contain the gradient's conic of r2, r and cov and fails
    often, so there one instance in ten goes to the quadratic program: a squared distance of at most
    1e-13 of the lifted points' size counts as none, one of at least 1e-10 as some, and what lies
    between goes to the exact decision.

Run as

    python -m quadsweep.paper.experiments.separability_rate --out DIRECTORY
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from quadsweep import lifts
from quadsweep.arrays import Axes, Floats, Mask
from quadsweep.distributed.store import Chunk, Columns
from quadsweep.objectives import OBJECTIVES
from quadsweep.paper.experiments.runner import Results, TextTable, study
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


def rate_work(family: str, n: int, k: int, count: int) -> Columns:
    """For every objective and test: instances tested, instances that failed."""
    rng = np.random.default_rng([SEED, list(FAMILIES).index(family), n, k])
    x, y = FAMILIES[family](rng, (count, n))
    rows: list[tuple[str, str, int, int]] = []
    for objective in TRIED:
        masks = solve_many(x, y, k=k, objective=objective, method="exhaustive", n_jobs=1).masks
        failed = np.flatnonzero(~gradient_separates(x, y, masks, objective))
        rows.append((objective, GRADIENT, count, len(failed)))
        for lift in CONTAINING[objective]:  # each contains the one before
            failed = failed[~separable(x[failed], y[failed], masks[failed], lift, together=0.0)]
            rows.append((objective, lift, count, len(failed)))
        few = slice(0, count, SUBSAMPLE)
        for lift in OTHERS[objective]:
            apart = separable(x[few], y[few], masks[few], lift, TOGETHER)
            rows.append((objective, lift, len(apart), int((~apart).sum())))
    names, tests, tested, failures = zip(*rows, strict=True)
    return {
        "objective": np.array(names),
        "test": np.array(tests),
        "tested": np.array(tested, dtype=np.int64),
        "failed": np.array(failures, dtype=np.int64),
    }


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


def chunks(instances: int) -> list[Chunk]:
    cells = [(family, n, k) for family in FAMILIES for n in SIZES for k in kept(n)]
    count = math.ceil(instances / len(cells))
    return [
        Chunk(
            f"{family.replace(' ', '-')}-{n:02d}-{k:02d}",
            rate_work,
            {"family": family, "n": n, "k": k, "count": count},
            count,
        )
        for family, n, k in cells
    ]


def totals(
    results: Results, work: list[Chunk], chosen: Callable[[Chunk], bool] = lambda chunk: True
) -> dict[tuple[str, str], tuple[int, int]]:
    """(tested, failed) by objective and test, over the chosen chunks."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for chunk in filter(chosen, work):
        columns = results[chunk.name]
        for objective, test, tested, failed in zip(*columns.values(), strict=True):
            before = sums.get((objective, test), (0, 0))
            sums[objective, test] = before[0] + int(tested), before[1] + int(failed)
    return sums


def tables(results: Results, work: list[Chunk]) -> list[TextTable]:
    everything = totals(results, work)
    rows = [
        [OBJECTIVES[objective].title, test, f"{tested:,}", f"{failed:,}", _rate(failed, tested)]
        for objective in TRIED
        for test in (GRADIENT, *CONTAINING[objective], *OTHERS[objective])
        for tested, failed in [everything[objective, test]]
    ]
    by_family = [
        [family, *_family_cells(totals(results, work, lambda c, f=family: _has_family(c, f)))]  # type: ignore[misc]
        for family in FAMILIES
    ]
    instances = sum(chunk.trials for chunk in work)
    return [
        TextTable(
            f"By objective and test ({instances:,} instances)",
            ["Objective", "Test", "Tested", "Failed", "Rate"],
            rows,
            [
                f"n = {SIZES[0]} to {SIZES[-1]}, k/n = {SHARES[0]} to {SHARES[-1]}, at least 3 "
                "kept and 1 dropped; equally many instances for each n, k and kind of data. "
                "`gradient`: the level set of the objective's first-order gain, a conic half way "
                "between the points kept and those dropped, separates them; where it fails, "
                "another conic (L5) may. A lift: a plane of it separates.",
                "Every failure of a lift on all instances is proved in rational arithmetic. For L4 "
                f"with R², r and covariance one instance in {SUBSAMPLE} was tested, by the "
                "quadratic program; a squared distance of at most 1e-13 counts as none, and what "
                "lies between that and 1e-10 was decided exactly.",
                "Made by `python -m quadsweep.paper.experiments.separability_rate --out DIR`.",
                f"![Rates against the share of points kept]({NAME}.png)",
            ],
        ),
        TextTable(
            "The gradient test by kind of data",
            ["Data", *(OBJECTIVES[objective].title for objective in TRIED)],
            by_family,
        ),
    ]


def _has_family(chunk: Chunk, family: str) -> bool:
    return bool(chunk.arguments["family"] == family)


def _family_cells(sums: dict[tuple[str, str], tuple[int, int]]) -> list[str]:
    cells = []
    for objective in TRIED:
        tested, failed = sums[objective, GRADIENT]
        cells.append(f"{failed:,} ({_rate(failed, tested)})")
    return cells


def _rate(failed: int, tested: int) -> str:
    return "0" if failed == 0 else f"{failed / tested:.2g}"


def draw(results: Results, work: list[Chunk]) -> Figure:
    """Rates against the share kept: the gradient test by kind of data, and L4."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for family in FAMILIES:
        _line(left, results, [c for c in work if _has_family(c, family)], "r2", GRADIENT, family)
    if totals(results, work)["r2", GRADIENT][1] > 0:
        left.set_yscale("log", nonpositive="mask")
    left.set_title("R²: the gradient's conic does not separate", loc="left", fontsize=11)
    for objective in ("r2", "r", "cov"):
        _line(right, results, work, objective, "L4", OBJECTIVES[objective].title)
    right.set_ylim(0, 1)
    right.set_title("no plane of L4 separates", loc="left", fontsize=11)
    for ax in (left, right):
        ax.set_xlim(0.2, 1.0)
        ax.set_xlabel("share of points kept, k/n")
        ax.set_ylabel("share of instances")
        ax.legend(fontsize=8, frameon=False)
    return figure


def _line(
    ax: Axes, results: Results, work: list[Chunk], objective: str, test: str, label: str
) -> None:
    from quadsweep.plotting.canvas import tidy

    tidy(ax)
    shares, rates = [], []
    edges = np.linspace(0.2, 1.0, 9)
    for low, high in pairwise(edges):
        inside = [c for c in work if low <= c.arguments["k"] / c.arguments["n"] < high]
        tested, failed = totals(results, inside).get((objective, test), (0, 0))
        if tested:
            shares.append(np.mean([c.arguments["k"] / c.arguments["n"] for c in inside]))
            rates.append(failed / tested)
    ax.plot(shares, rates, marker="o", markersize=4, linewidth=1.2, label=label)


def main(arguments: list[str] | None = None) -> None:
    title = "How often the best subset is not separable"
    results, work, out = study(
        __doc__, NAME, title, "instances", INSTANCES, "at least so many", chunks, tables, arguments
    )
    draw(results, work).savefig(out / f"{NAME}.png", dpi=150)


if __name__ == "__main__":
    main()

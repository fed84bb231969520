"""Table 2: how often each method finds the best k of n points, and how good what it finds is.

Every trial is checked against exhaustive search. A method succeeds if the R2 of its k points comes
within 1e-9 of the best; its R2 ratio is the mean over trials of (R2 of its points) / (best R2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Mask
from quadsweep.distributed.store import Chunk, Columns
from quadsweep.paper.compare import ANNEALING_STEPS, COMPARATORS, LineEstimate, r2_of
from quadsweep.paper.experiments import randomness
from quadsweep.paper.experiments.runner import Results, TextTable, gather, split
from quadsweep.paper.experiments.scale import Scale, half
from quadsweep.paper.separability.lifted_sweep import naive_sweep
from quadsweep.solving.many import solve_many
from quadsweep.solving.methods.batch import correlations

TOLERANCE = 1e-9

# Trials a chunk, for a few seconds each; they fix the chunks, so they do not follow the workers.
SWEEP_CHUNK = {15: 10_000, 20: 1_000, 25: 100}
ONE_DIRECTION_CHUNK = {15: 1_000, 20: 200, 25: 20}
METHODS_CHUNK = 10

# From the paper's table 2: (success rate, R2 ratio).
PAPER: dict[tuple[str, int], tuple[float | None, float]] = {
    ("sweep", 15): (1.000, 1.000), ("sweep", 20): (1.000, 1.000), ("sweep", 25): (1.000, 1.000),
    ("anneal_published", 15): (0.803, 0.989), ("anneal_published", 20): (0.062, 0.912),
    ("anneal_published", 25): (0.002, 0.809),
    ("lts", 15): (0.313, 0.701), ("lts", 20): (0.239, 0.661), ("lts", 25): (0.190, 0.635),
    ("ransac", 15): (None, -0.332), ("ransac", 20): (None, -0.286), ("ransac", 25): (None, -0.262),
    ("theil_sen", 15): (None, 0.0190), ("theil_sen", 20): (None, 0.0170),
    ("theil_sen", 25): (None, 0.0138),
}  # fmt: skip


@dataclass(frozen=True)
class TableMethod:
    """A method of the table: its title, the chunks it is in, its column there."""

    key: str
    title: str
    part: str
    column: str
    has_k_points: bool = True


ROWS = (
    TableMethod("sweep", "Quadratic sweep", "sweep", "sweep"),
    TableMethod("anneal_published", "Simulated annealing, 1e5 to 1", "methods", "anneal_published"),
    TableMethod("lts", "LTS, all subsets", "methods", "lts"),
    TableMethod("ransac", "RANSAC", "methods", "ransac", False),
    TableMethod("theil_sen", "Theil-Sen", "methods", "theil_sen", False),
)

EXTRA_ROWS = (
    TableMethod("one_direction", "Sweep in one direction, 0 to 5 of P", "one_direction", "sweep"),
    TableMethod("certified", "Certified engine", "methods", "certified"),
    TableMethod("concentrate", "Concentration steps", "methods", "concentrate"),
    TableMethod("anneal_fair", "Simulated annealing, 1 to 1e-4", "methods", "anneal_fair"),
    TableMethod("lts_certified", "LTS, certified engine", "methods", "lts_certified"),
    TableMethod("mcd", "MCD", "methods", "mcd"),
)


def sweep_work(n: int, first: int, count: int) -> Columns:
    """The sweep in n^5 log n against all subsets."""
    x, y = randomness.trials(first, count, n)
    return {
        "best": _values(x, y, method="exhaustive"),
        "sweep": _values(x, y, method="sweep"),
    }


def one_direction_work(n: int, first: int, count: int) -> Columns:
    """The naive sweep that sorts in one direction only."""
    x, y = randomness.trials(first, count, n)
    masks = np.array(
        [naive_sweep(x[t], y[t], half(n), order="descending").mask for t in range(count)]
    )
    return {"best": _values(x, y, method="exhaustive"), "sweep": correlations(x, y, masks) ** 2}


def methods_work(n: int, first: int, count: int) -> Columns:
    """Every other method on the same trials."""
    x, y = randomness.trials(first, count, n)
    columns: Columns = {
        "best": _values(x, y, method="exhaustive"),
        "certified": _values(x, y, method="certified"),
        "concentrate": _values(x, y, method="concentrate"),
        "lts": _values(x, y, method="exhaustive", objective="lts"),
        "lts_certified": _values(x, y, method="certified", objective="lts"),
    }
    singles = [
        _single_methods(x[t], y[t], seed)
        for t, seed in enumerate(randomness.trial_seeds(first, count))
    ]
    return columns | {name: np.array([s[name] for s in singles]) for name in singles[0]}


def _values(x: Floats, y: Floats, **how: Any) -> Floats:
    """R2 of the subset each trial is answered with."""
    masks = solve_many(x, y, k=half(x.shape[1]), n_jobs=1, **how).masks
    return np.asarray(correlations(x, y, masks) ** 2)


def _single_methods(x: Floats, y: Floats, seed: int) -> dict[str, float]:
    k = half(len(x))
    values = {
        name: line_r2(x, y, COMPARATORS[name](x, y, k, seed=seed))
        for name in ("ransac", "theil_sen")
    }
    for name in ("anneal_published", "anneal_fair", "mcd"):
        subset = COMPARATORS[name](x, y, k, seed=seed).subset
        assert subset is not None
        values[name] = r2_of(x, y, subset)
    return values


def line_r2(x: Floats, y: Floats, line: LineEstimate) -> float:
    """Return 1 - RSS / TSS of a given line on all points; NaN without a line.

    Examples
    --------
    >>> import numpy as np
    >>> line_r2(np.array([0.0, 1, 2]), np.array([0.0, 1, 2]), LineEstimate(None, -1.0, 2.0))
    -3.0
    """
    residuals = line.residuals(x, y)
    total = float(((y - y.mean()) ** 2).sum())
    if residuals is None or total == 0:
        return math.nan
    return 1 - float((residuals**2).sum()) / total


def chunks(scale: Scale) -> list[Chunk]:
    """The chunks of table 2: the sweep, the sweep in one direction, the other methods."""
    pieces: list[Chunk] = []
    for n, trials in scale.sweep.items():
        pieces += split(f"sweep-n{n}", sweep_work, trials, SWEEP_CHUNK[n], n=n)
    for n, trials in scale.one_direction.items():
        size = ONE_DIRECTION_CHUNK[n]
        pieces += split(f"one_direction-n{n}", one_direction_work, trials, size, n=n)
    for n in scale.sweep:
        pieces += split(f"methods-n{n}", methods_work, scale.methods, METHODS_CHUNK, n=n)
    return pieces


def tables(results: Results, scale: Scale) -> list[TextTable]:
    title = "Table 2: success rate and R2 ratio by method and n"
    walk = _random_walk_note(tuple(scale.sweep))
    return [
        _methods_table(title, ROWS, [NOTE, walk], results, scale),
        _methods_table("Table 2, further methods", EXTRA_ROWS, [SIGNS], results, scale),
    ]


def _methods_table(
    title: str, rows: Sequence[TableMethod], notes: Sequence[str], results: Results, scale: Scale
) -> TextTable:
    lines, notes = [], list(notes)
    for row in rows:
        for n in scale.sweep:
            best = gather(results, f"{row.part}-n{n}", "best")
            found = gather(results, f"{row.part}-n{n}", row.column)
            lines.append(_line(row, n, best, found))
            notes += _misses(row, n, best, found)
    return TextTable(title, COLUMNS, lines, notes)


COLUMNS = ("Method", "n", "N", "Success rate", "paper", "R2 ratio", "paper", "Misses")
NOTE = (
    "Success: R2 of the k points within 1e-9 of the best of all subsets. R2 ratio: mean over "
    "trials of found / best, with its standard error; for RANSAC (min_samples=k, 100 trials) and "
    "Theil-Sen, found is 1 - RSS/TSS of the line on all n points. k = ceil(n/2)."
)
SIGNS = (
    "The sign of a hyperplane's normal is arbitrary, so which subsets a sweep in one direction "
    "misses depends on how the normal is computed; here by elimination."
)


def _random_walk_note(sizes: Sequence[int]) -> str:
    """At temperatures of 1 and more nearly every step is taken, whatever R2 it leads to."""
    chances = ", ".join(
        f"{1 - (1 - 1 / math.comb(n, half(n))) ** ANNEALING_STEPS:.3f} at n = {n}" for n in sizes
    )
    return (
        f"For comparison, {ANNEALING_STEPS:,} subsets drawn at random hold the best one with "
        f"probability {chances}."
    )


def _line(row: TableMethod, n: int, best: Floats, found: Floats) -> list[str]:
    success, ratio = PAPER.get((row.key, n), (None, None))
    misses = int(_missed(best, found).sum())
    digits = 4 if row.key == "theil_sen" else 3
    return [
        row.title,
        str(n),
        f"{len(best):,}",
        _rate(misses, len(best)) if row.has_k_points else "-",
        "-" if success is None else f"{success:.3f}",
        _mean_with_error(found / best, digits),
        "-" if ratio is None else f"{ratio:.{digits}f}",
        f"{misses:,}" if row.has_k_points else "-",
    ]


def _missed(best: Floats, found: Floats) -> Mask:
    return ~(found >= best - TOLERANCE)


def _rate(misses: int, trials: int) -> str:
    rate = 1 - misses / trials
    return f"{rate:.6f}" if misses and rate > 0.9995 else f"{rate:.3f}"


def _mean_with_error(values: Floats, digits: int) -> str:
    """More digits just below 1, which stands for every value being 1."""
    there = values[np.isfinite(values)]
    mean, error = float(there.mean()), _error(there)
    if abs(1 - mean) < 1e-12:
        return f"{1:.{digits}f}"
    if 0 < 1 - mean < 1e-5:
        return f"1 - {1 - mean:.1e}"
    digits = 6 if 0 < 1 - mean < 1e-2 else digits
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0


def _misses(row: TableMethod, n: int, best: Floats, found: Floats, most: int = 20) -> list[str]:
    """Trials that methods which are nearly always right get wrong, so that they can be replayed."""
    if row.part == "methods" and row.key != "certified":
        return []
    missed = np.flatnonzero(_missed(best, found))
    if not len(missed):
        return []
    shown = ", ".join(f"{t:,}" for t in missed[:most])
    more = f" and {len(missed) - most:,} more" if len(missed) > most else ""
    return [f"{row.title}, n = {n}: missed the best subset of trials {shown}{more}."]

"""Every pair of columns solved by itself: robust correlations, and the rows dropped.

Correlations have signs: ``r`` is the correlation, with its sign, of the rows that R2 keeps. The
largest r of any k rows would trim falling relations towards zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.clock import Clock
from quadsweep.inputs import frames, validation
from quadsweep.progress import CountProgress, counting
from quadsweep.results.formatting import as_frame
from quadsweep.solving.methods.batch import Batch, correlations, varied

SYMMETRIC = ("r2", "r", "cov", "tv", "mcd")
_FEWEST_ROWS = 4
_NUMBERS = 1 << 14  # numbers of a column that are solved at a time; Ctrl-C waits for them


def pairwise(
    frame: Any,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: CountProgress = None,
) -> Any:
    """Find the best k rows of every pair of columns.

    Parameters
    ----------
    frame : data frame or array of shape (rows, columns)
        A pandas or polars frame, or another that narwhals knows. A row with a missing value is left
        out of the pairs of that column only.
    k, drop : int or float
        Rows to keep or drop in each pair, as in :func:`solve`; a share refers to the pair's usable
        rows.
    objective : {"r2", "r", "cov", "tv", "mcd"}
        ``r`` is the correlation, with its sign, of the rows that ``r2`` keeps.
    time_limit : float, optional
        Seconds for the whole call. Finished pairs are kept, also after Ctrl-C.
    tol, n_jobs, seed :
        As in :func:`solve_many`.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable receives (done, total, seconds).

    Returns
    -------
    data frame
        One row for each pair: its columns ``x`` and ``y``, the best ``value``, the correlations
        ``r`` of the rows kept and ``pearson`` of all usable ``rows``, the number ``kept`` and the
        positions of the ``outliers``. The value is NaN if a pair has too few rows, is constant, or
        a limit came first.

    Examples
    --------
    >>> import numpy as np, pandas as pd, quadsweep as qs
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 30))
    >>> b = a + 0.1 * noise
    >>> b[4] = 50
    >>> answer = qs.pairwise(pd.DataFrame({"a": a, "b": b, "c": noise}), drop=1)
    >>> answer[["x", "y", "value", "outliers"]].round(2).values.tolist()[0]
    ['a', 'b', 0.99, [4]]
    """
    found, _ = solve_pairs(
        frame, k, drop=drop, objective=objective, tol=tol, time_limit=time_limit, n_jobs=n_jobs,
        seed=seed, progress=progress,
    )  # fmt: skip
    return as_frame(found)


def solve_pairs(
    frame: Any, k: Any = None, *, drop: Any = None, objective: str = "r2", tol: float = 1e-9,
    time_limit: float | None = None, n_jobs: int | None = None, seed: int = 0,
    progress: CountProgress = None,
) -> tuple[dict[str, list[Any]], str]:  # fmt: skip
    """Return the columns of :func:`pairwise`, and the status."""
    clock = Clock(validation.seconds(time_limit))
    goal = objectives.get(objective)
    if goal.name not in SYMMETRIC:
        raise ValueError(
            f"pairwise needs an objective that treats both columns alike ({', '.join(SYMMETRIC)}); "
            f"got {objective!r}"
        )
    names, columns = frames.every_column(frame)
    if len(names) < 2:
        raise ValueError(f"frame must have at least two columns; got {len(names)}")
    values = [validation.column(c, f"column {n!r}") for n, c in zip(names, columns, strict=True)]
    table = np.array(values)
    if table.shape[1] < _FEWEST_ROWS:
        raise ValueError(f"frame must have at least {_FEWEST_ROWS} rows; got {table.shape[1]}")
    validation.keep_count(table.shape[1], k, drop, goal)
    solved = objectives.get("r2") if goal.name == "r" else goal
    jobs, tol = validation.jobs(n_jobs), validation.tolerance(tol)
    seed = validation.whole(seed, "seed", 0)
    i, j = np.triu_indices(len(names), 1)
    usable = np.isfinite(table)
    rows = (usable.astype(np.int64) @ usable.T.astype(np.int64))[i, j]
    value, r, pearson = np.full((3, len(i)), np.nan)
    kept, outliers = np.zeros(len(i), dtype=np.int64), [list[int]() for _ in i]
    done = 0
    try:
        with counting(progress, "pairs") as tick:
            for at in _split_alike(rows):
                among, n = usable[i[at]] & usable[j[at]], int(rows[at[0]])
                xs, ys = (table[side[at]][among].reshape(len(at), -1) for side in (i, j))
                pearson[at], keep = correlations(xs, ys), _count_kept(n, k, drop, goal)
                good = np.flatnonzero(varied(xs, ys)) if keep else at[:0]
                if len(good):
                    xs, ys, pairs = xs[good], ys[good], at[good]
                    limit = clock.time_left()
                    found = Batch(xs, ys, keep, solved, tol, limit, jobs, seed).solve()
                    if not found.proved.all():
                        break
                    r[pairs], kept[pairs] = correlations(xs, ys, found.masks), keep
                    value[pairs] = r[pairs] if goal.name == "r" else found.values
                    for pair, its_rows, mask in zip(pairs, among[good], found.masks, strict=True):
                        outliers[pair] = np.flatnonzero(its_rows)[~mask].tolist()
                done += len(at)
                if tick(done, len(i), clock.gone()) is False or clock.time_left() == 0:
                    break
    except KeyboardInterrupt:
        pass
    content: dict[str, list[Any]] = {
        "x": [names[c] for c in i], "y": [names[c] for c in j], "value": value.tolist(),
        "r": r.tolist(), "pearson": pearson.tolist(), "rows": rows.tolist(),
        "kept": kept.tolist(), "outliers": outliers,
    }  # fmt: skip
    return content, "finished" if done == len(i) else clock.ended()


def _count_kept(n: int, k: Any, drop: Any, goal: objectives.Objective) -> int:
    """Return how many of n rows to keep; 0 where there are too few."""
    try:
        return validation.keep_count(n, k, drop, goal) if n >= _FEWEST_ROWS else 0
    except ValueError:
        return 0


def _split_alike(rows: Any) -> list[Any]:
    """Split pairs into blocks with equally many usable rows."""
    blocks = []
    for count in np.unique(rows).tolist():
        pairs = np.flatnonzero(rows == count)
        size = max(1, _NUMBERS // max(count, 1))
        blocks += [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return blocks

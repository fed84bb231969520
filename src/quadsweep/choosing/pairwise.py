"""Every pair of columns solved by itself: a robust correlation matrix, and the rows dropped.

A correlation matrix has signs: ``r`` is the correlation, with its sign, of the rows that R2 keeps.
The largest r of any k rows would trim falling relations towards zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.clock import Clock
from quadsweep.inputs import frames, validation
from quadsweep.progress import CountProgress, counting
from quadsweep.results.formatting import ResultMixin, drawn_by
from quadsweep.solving.methods.batch import Batch, correlations, varied
from quadsweep.solving.methods.parallel_batches import executor

SYMMETRIC = ("r2", "r", "cov", "tv", "mcd")
_FEWEST_ROWS = 4
_STRONGEST = 20  # pairs in the table
_NUMBERS = 1 << 14  # of a column that are solved at a time: the display and Ctrl-C wait for them


@dataclass(frozen=True, eq=False)
class PairwiseResult(ResultMixin):
    """The answer for every pair of columns; each attribute has one entry for each pair.

    Attributes
    ----------
    x, y : lists
        The two columns: the first with all later ones, then the second with all later ones.
    value : array
        The best value of k rows; NaN where there is none or a limit came first.
    r, pearson : arrays
        The correlation, with its sign, of the rows kept and of all usable rows.
    rows, kept : int arrays
        Rows without a missing value in the pair, and how many of them were kept.
    outliers : list of arrays
        The rows dropped, as positions in the table.
    names : list
        All columns.
    objective : str
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    seconds : float
    """

    json_fields = "names objective status seconds x y value r pearson rows kept outliers"
    frame_fields = "x y value r pearson rows kept outliers=lists"

    x: list[Any]
    y: list[Any]
    value: Floats
    r: Floats
    pearson: Floats
    rows: Ints
    kept: Ints
    outliers: list[Ints] = field(repr=False)
    names: list[Any]
    objective: str
    status: str
    seconds: float

    def __len__(self) -> int:
        return len(self.x)

    @property
    def lists(self) -> list[list[int]]:
        """The rows dropped of each pair, as lists."""
        return [rows.tolist() for rows in self.outliers]

    def matrix(self, name: str = "value") -> Floats:
        """One of the attributes as a symmetric matrix; correlations are 1 on the diagonal."""
        size = len(self.names)
        found = np.full((size, size), np.nan)
        found[np.triu_indices(size, 1)] = getattr(self, name)
        found = np.fmax(found, found.T)
        if name in ("r", "pearson") or (name == "value" and self.objective in ("r2", "r")):
            np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    def grid(self) -> list[Sequence[str]]:
        """Pairs by the size of their trimmed correlation, largest first, a header above them."""
        strength = np.nan_to_num(np.abs(self.r), nan=-1.0)
        rows = [
            (f"{self.x[i]}, {self.y[i]}", f"{self.r[i]:.3g}", f"{self.pearson[i]:.3g}",
             f"{self.kept[i]:,} of {self.rows[i]:,}")
            for i in np.argsort(-strength, kind="stable")[:_STRONGEST]
        ]  # fmt: skip
        title = "pair" if len(self) <= _STRONGEST else f"pair (the {_STRONGEST} strongest)"
        return [(title, "r", "Pearson", "kept"), *rows]

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        lines = [("pairs", f"{len(self):,} of {len(self.names):,} columns")]
        known = np.isfinite(self.value)
        if known.any():
            low, high = self.value[known].min(), self.value[known].max()
            lines.append((objectives.get(self.objective).title, f"{low:.4g} to {high:.4g}"))
        changed = int(np.sum(np.sign(self.r) * np.sign(self.pearson) < 0))
        if changed:
            lines.append(("sign", f"{changed:,} pairs change sign with the rows dropped"))
        if self.status != "finished":
            text = f"{self.status.replace('_', ' ')} after {int(known.sum()):,} of {len(self):,}"
            lines.append(("stopped", f"{text} pairs"))
        elif not known.all():
            lines.append(("no value", f"{int(np.sum(~known)):,} pairs: too few rows, or constant"))
        return lines

    plot = drawn_by("pairwise.plot_pairwise", "The matrix as colours.")


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
    workers: str = "threads",
    client: Any = None,
) -> PairwiseResult:
    """The best k rows of every pair of columns.

    Parameters
    ----------
    frame : data frame or array of shape (rows, columns)
        pandas, polars, or what else narwhals knows. Missing values leave a row out of the pairs
        they are in, and of no others.
    k, drop : int or float
        Rows to keep or remove in each pair, as in :func:`solve`; a share is one of the pair's
        usable rows.
    objective : {"r2", "r", "cov", "tv", "mcd"}
        Those that treat both columns alike. ``r`` is the correlation, with its sign, of the rows
        that ``r2`` keeps.
    time_limit : float, optional
        Seconds for everything. The pairs finished by then are kept, and so they are after Ctrl-C.
    tol, n_jobs, seed, workers, client :
        As in :func:`solve_many`, which solves the pairs.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable is given (done, total, seconds).

    Returns
    -------
    PairwiseResult

    Examples
    --------
    >>> import numpy as np, pandas as pd, quadsweep as qs
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 30))
    >>> b = a + 0.1 * noise
    >>> b[4] = 50
    >>> answer = qs.pairwise(pd.DataFrame({"a": a, "b": b, "c": noise}), drop=1)
    >>> answer.to_frame()[["x", "y", "value", "outliers"]].round(2).values.tolist()[0]
    ['a', 'b', 0.99, [4]]
    """
    clock = Clock(validation.seconds(time_limit))
    goal = objectives.get(objective)
    if goal.name not in SYMMETRIC:
        raise ValueError(
            f"pairwise needs an objective that treats both columns alike ({', '.join(SYMMETRIC)}); "
            f"got {objective!r}"
        )
    names, table = _read(frame)
    validation.keep_count(table.shape[1], k, drop, goal)
    i, j = np.triu_indices(len(names), 1)
    value, r, pearson = np.full((3, len(i)), np.nan)
    rows, kept = np.zeros((2, len(i)), dtype=np.int64)
    outliers = [np.array([], dtype=np.int64) for _ in i]
    jobs, done = validation.jobs(n_jobs), 0
    solved = objectives.get("r2") if goal.name == "r" else goal
    tol, seed = validation.tolerance(tol), validation.whole(seed, "seed", 0)
    with executor(workers, client, jobs) as helpers, counting(progress, "pairs") as tick:
        try:
            for at, usable in _blocks(table, i, j):
                xs, ys = (table[side[at]][usable].reshape(len(at), -1) for side in (i, j))
                n = xs.shape[1]
                rows[at], pearson[at] = n, correlations(xs, ys)
                keep = _rows_kept(n, k, drop, goal)
                good = np.flatnonzero(varied(xs, ys)) if keep else at[:0]
                if len(good):
                    pairs, xs, ys = at[good], xs[good], ys[good]
                    batch = Batch(xs, ys, keep, solved, tol, clock.time_left(), jobs, seed)
                    found = helpers.solve(batch)
                    if not found.proved.all():
                        break
                    r[pairs], kept[pairs] = correlations(xs, ys, found.masks), keep
                    value[pairs] = r[pairs] if goal.name == "r" else found.values
                    for pair, among, mask in zip(pairs, usable[good], found.masks, strict=True):
                        outliers[pair] = np.flatnonzero(among)[~mask]
                done += len(at)
                if tick(done, len(i), clock.gone()) is False or clock.time_left() == 0:
                    break
        except KeyboardInterrupt:
            pass
    return PairwiseResult(
        x=[names[c] for c in i],
        y=[names[c] for c in j],
        value=value,
        r=r,
        pearson=pearson,
        rows=rows,
        kept=kept,
        outliers=outliers,
        names=names,
        objective=goal.name,
        status="finished" if done == len(i) else clock.ended(),
        seconds=clock.gone(),
    )


def _read(frame: Any) -> tuple[list[Any], Floats]:
    names, columns = frames.every_column(frame)
    if len(names) < 2:
        raise ValueError(f"frame must have at least two columns; got {len(names)}")
    values = [validation.column(c, f"column {n!r}") for n, c in zip(names, columns, strict=True)]
    table = np.array(values)
    if table.shape[1] < _FEWEST_ROWS:
        raise ValueError(f"frame must have at least {_FEWEST_ROWS} rows; got {table.shape[1]}")
    return names, table


def _rows_kept(n: int, k: Any, drop: Any, goal: objectives.Objective) -> int:
    """How many of n rows to keep; 0 where there are too few."""
    try:
        return validation.keep_count(n, k, drop, goal) if n >= _FEWEST_ROWS else 0
    except ValueError:
        return 0


def _blocks(table: Floats, i: Ints, j: Ints) -> Iterator[tuple[Ints, Mask]]:
    """Pairs with equally many usable rows, so many at a time, and which rows those are."""
    usable = np.isfinite(table)
    count = (usable.astype(np.int64) @ usable.T.astype(np.int64))[i, j]
    for rows in np.unique(count).tolist():
        pairs = np.flatnonzero(count == rows)
        step = max(1, _NUMBERS // max(rows, 1))
        for start in range(0, len(pairs), step):
            at = pairs[start : start + step]
            yield at, usable[i[at]] & usable[j[at]]

"""The same objective for every pair of columns: a robust correlation matrix.

P-values, and what they are worth. Under independence the optimum's distribution depends on the
number of rows, on k and on both columns' distributions.

``own``     every pair is compared with shuffles of itself, until three of them have reached its
            value or ``permutations`` have been made (Besag and Clifford, 1991). Valid for every
            pair, whatever its distributions; most pairs need few shuffles.
``pooled``  every pair is compared with one sample of shuffled pairs with as many usable rows and
            the same k, drawn at random among the pairs. Cheap. Valid for a pair drawn at random;
            for one pair by itself only if the columns have distributions of one shape (shift and
            scale do not matter, so only ``r2`` and ``r`` are allowed). Where some columns are
            skewed or heavy-tailed and others are not, take ``own``.

Neither is corrected for the number of pairs; `PairwiseResult.adjusted` does that.

A correlation matrix has signs: ``r`` is the correlation, with its sign, of the rows that R2 keeps.
The largest r of any k rows would trim falling relations towards zero.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep import objectives
from quadsweep.answers.introduction import SelfDescribing, known
from quadsweep.arrays import Floats, Ints
from quadsweep.border import frames, validation
from quadsweep.choosing.multiplicity import adjusted_p_values
from quadsweep.choosing.strongest import strongest
from quadsweep.clock import Clock
from quadsweep.extras import needed
from quadsweep.methods import Problem
from quadsweep.methods.batch import Batch, correlations, lowered, varied
from quadsweep.objectives import Objective
from quadsweep.progress import CountProgress, Tick, counting

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SYMMETRIC = ("r2", "r", "cov", "tv")
FEWEST_ROWS = 4
_BLOCK = 128  # pairs solved at a time
_ENOUGH = 3  # shuffles that reach a pair's value settle it
_FIRST_ROUND = 8


@dataclass(frozen=True, eq=False)
class PairwiseResult(SelfDescribing):
    """Values for every pair of columns.

    Attributes
    ----------
    names : list
        The columns, in the order of rows and columns of the matrices.
    values : array of shape (p, p)
        Symmetric; 1 on the diagonal for ``r2`` and ``r``, NaN for others and where there is no
        value.
    r : array of shape (p, p)
        The correlation, with its sign, of the rows kept in each pair.
    pearson : array of shape (p, p)
        The correlation of all usable rows.
    p_values : array of shape (p, p) or None
        NaN on the diagonal and where there is no value. Not corrected for the number of pairs; see
        :meth:`adjusted`.
    rows, kept : int arrays of shape (p, p)
        Rows without a missing value in the pair, and how many of them were kept.
    too_few, undefined : int
        Pairs without a value: fewer than four usable rows or fewer than k of them; a constant
        column.
    objective : str
    null : str or None
        ``own`` or ``pooled``: what p-values are relative to.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``; pairs not reached are NaN.
    seconds : float
    """

    names: list[Any]
    values: Floats
    p_values: Floats | None
    r: Floats
    pearson: Floats
    rows: Ints
    kept: Ints
    too_few: int
    undefined: int
    objective: str
    null: str | None
    status: str
    seconds: float
    done: int = field(default=0, repr=False)

    @property
    def pairs(self) -> int:
        """Pairs of columns."""
        return len(self.names) * (len(self.names) - 1) // 2

    def matrix(self) -> Any:
        """The values as a labelled pandas DataFrame."""
        return self._labelled(self.values)

    def p_matrix(self) -> Any:
        """The p-values as a labelled pandas DataFrame."""
        if self.p_values is None:
            raise ValueError("there are no p-values: p_values=None was asked for")
        return self._labelled(self.p_values)

    def adjusted(self, method: str = "holm") -> Floats:
        """The p-values corrected for the number of pairs.

        ``holm`` bounds the chance of a single wrong finding; ``bh`` (Benjamini and Hochberg) the
        expected share of wrong ones among the findings, for pairs that are independent or
        positively dependent.
        """
        if self.p_values is None:
            raise ValueError("there are no p-values: p_values=None was asked for")
        upper = np.triu_indices(len(self.names), 1)
        out: Floats = np.full_like(self.p_values, np.nan)
        out[upper] = adjusted_p_values(self.p_values[upper], method)
        return np.asarray(np.fmax(out, out.T))

    def _labelled(self, values: Floats) -> Any:
        with needed("a labelled matrix"):
            import pandas as pd

        return pd.DataFrame(values, index=self.names, columns=self.names)

    def to_frame(self) -> Any:
        """One row a pair: the columns' names, value, p-value, usable rows, kept rows."""
        i, j = np.triu_indices(len(self.names), 1)
        columns: dict[str, Any] = {
            "x": [self.names[a] for a in i],
            "y": [self.names[b] for b in j],
            "value": self.values[i, j],
            "r": self.r[i, j],
            "pearson": self.pearson[i, j],
            "rows": self.rows[i, j],
            "kept": self.kept[i, j],
        }
        if self.p_values is not None:
            columns["p_value"] = self.p_values[i, j]
            columns["holm"] = self.adjusted("holm")[i, j]
            columns["bh"] = self.adjusted("bh")[i, j]
        return frames.table(columns)

    def grid(self) -> list[Sequence[str]]:
        """The strongest pairs."""
        return strongest(self)

    def lines(self) -> list[tuple[str, str]]:
        title = objectives.get(self.objective).title
        upper = self.values[np.triu_indices(len(self.names), 1)]
        lines = [("pairs", f"{self.pairs:,} of {len(self.names):,} columns")]
        if np.isfinite(upper).any():
            lines.append((title, f"{np.nanmin(upper):.4g} to {np.nanmax(upper):.4g}"))
        if self.p_values is not None:
            p = self.p_values[np.triu_indices(len(self.names), 1)]
            small = int(np.nansum(p <= 0.05))
            by_chance = f"{0.05 * np.isfinite(p).sum():.0f} expected from noise alone"
            lines.append(("p <= 0.05", f"{small:,} pairs   ({by_chance}; null: {self.null})"))
            holm, bh = (int(np.nansum(self.adjusted(m) <= 0.05)) // 2 for m in ("holm", "bh"))
            text = f"{holm:,} pairs by Holm, {bh:,} by Benjamini and Hochberg"
            lines.append(("adjusted", text))
        changed = np.nansum(np.sign(self.r) * np.sign(self.pearson) < 0)
        if changed:
            lines.append(("sign", f"{int(changed) // 2:,} pairs change sign with the rows dropped"))
        if self.too_few or self.undefined:
            text = f"{self.too_few:,} pairs with too few rows, {self.undefined:,} with a constant"
            lines.append(("no value", text))
        if self.status != "finished":
            text = f"{self.status.replace('_', ' ')} after {self.done:,} of {self.pairs:,} pairs"
            lines.append(("stopped", text))
        return lines

    def plot(self, ax: Axes | None = None) -> Axes:
        """The matrix as colours."""
        from quadsweep.plotting.pairwise import plot_pairwise

        return plot_pairwise(self, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "names": [str(name) for name in self.names],
            "objective": self.objective,
            "values": [known(row) for row in self.values],
            "r": [known(row) for row in self.r],
            "pearson": [known(row) for row in self.pearson],
            "p_values": None if self.p_values is None else [known(row) for row in self.p_values],
            "null": self.null,
            "rows": self.rows.tolist(),
            "kept": self.kept.tolist(),
            "too_few": self.too_few,
            "undefined": self.undefined,
            "status": self.status,
            "seconds": self.seconds,
        }


def pairwise(
    frame: Any,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    p_values: str | None = "own",
    permutations: int = 199,
    workers: str = "threads",
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: CountProgress = False,
) -> PairwiseResult:
    """The best-k value of every pair of columns, with p-values.

    Parameters
    ----------
    frame : data frame or array of shape (rows, columns)
        pandas, polars, or what else narwhals knows. Missing values leave a row out of the pairs
        they are in, and of no others.
    k, drop : int or float
        Rows to keep or remove in each pair, as in :func:`solve`; a share is one of the pair's
        usable rows.
    objective : {"r2", "r", "cov", "tv"}
        Those that treat both columns alike. ``r`` is the correlation, with its sign, of the rows
        that ``r2`` keeps.
    p_values : {"own", "pooled", None}
        What to compare a pair with: shuffles of itself, or one sample of shuffled pairs; see the
        notes.
    permutations : int
        Shuffles, at most so many for each pair (``own``), or in the sample (``pooled``).
    workers : {"threads", "joblib"}
        Threads of this process, or whatever joblib is set to use: processes, or a dask cluster
        within ``joblib.parallel_config(backend="dask")``.
    time_limit : float, optional
        Seconds for everything. The pairs finished by then are kept, and so they are after Ctrl-C.
    n_jobs : int, optional
        Workers; None is as many as there are cores. The answer does not depend on it,
        except between subsets tied within ``tol``.
    seed : int
        For the shuffles.
    progress : bool or callable
        True shows the count on standard error; a callable is given (done, total, seconds) and may
        return False to stop.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    Under independence the distribution of a pair's optimum depends on both columns' distributions.
    ``own`` shuffles the pair itself, stops when three shuffles have reached its value, and is valid
    for each pair (Besag and Clifford, 1991). ``pooled`` compares with shuffles of pairs drawn at
    random among those with as many usable rows: valid for a pair drawn at random, but for a given
    pair only if all columns' distributions have one shape up to shift and scale; for ``r2`` and
    ``r`` alone. Neither is corrected for the number of pairs: :meth:`PairwiseResult.adjusted` is.

    Examples
    --------
    >>> import numpy as np, quadsweep as qs
    >>> rng = np.random.default_rng(0)
    >>> a, noise = rng.normal(size=(2, 30))
    >>> b = a + 0.1 * rng.normal(size=30)
    >>> b[0] = 50
    >>> answer = qs.pairwise(np.column_stack([a, b, noise]), drop=1)
    >>> answer.values[0].round(2)
    array([1.  , 0.98, 0.17])
    >>> float(answer.p_values[0, 1])
    0.005
    """
    clock = Clock(validation.seconds(time_limit))
    task = _Task(
        goal=_symmetric(objective),
        null=_null(p_values, objective),
        permutations=validation.whole(permutations, "permutations", 1),
        tol=validation.tolerance(tol),
        seed=validation.whole(seed, "seed", 0),
    )
    if workers not in ("threads", "joblib"):
        raise ValueError(f"workers must be 'threads' or 'joblib'; got {workers!r}")
    table = _Matrices(frame, k, drop, task.goal)
    jobs = validation.jobs(n_jobs)
    with counting(progress, "pairs") as tick:
        status = _fill(table, task, workers, jobs, clock, tick)
    _warn(table)
    return PairwiseResult(
        names=table.names,
        values=table.r if objective == "r" else table.values,
        p_values=table.p_values if task.null else None,
        r=table.r,
        pearson=table.pearson(),
        rows=table.rows,
        kept=table.kept,
        too_few=table.too_few,
        undefined=table.undefined,
        objective=objective,
        null=task.null,
        status=status,
        seconds=clock.gone(),
        done=table.done,
    )


def _symmetric(objective: str) -> Objective:
    goal = objectives.get(objective)
    if goal.name not in SYMMETRIC:
        raise ValueError(
            f"pairwise needs an objective that treats both columns alike ({', '.join(SYMMETRIC)}); "
            f"got {objective!r}"
        )
    return objectives.get("r2") if goal.name == "r" else goal


def _null(p_values: Any, objective: str) -> str | None:
    if p_values not in ("own", "pooled", None):
        raise ValueError(f"p_values must be 'own', 'pooled' or None; got {p_values!r}")
    if p_values == "pooled" and objective not in ("r2", "r"):
        raise ValueError(
            f"p_values='pooled' needs an objective without units (r2, r); got {objective!r}"
        )
    return str(p_values) if p_values else None


@dataclass(frozen=True)
class _Task:
    """What to do with every block of pairs."""

    goal: Objective
    null: str | None
    permutations: int
    tol: float
    seed: int

    def batch(self, x: Floats, y: Floats, k: int, jobs: int, seconds: float = math.inf) -> Batch:
        return Batch(x, y, k, self.goal, self.tol, seconds, jobs, self.seed)


@dataclass(frozen=True)
class _Block:
    """Pairs with the same number of usable rows; one data set a row of x and y."""

    pairs: list[tuple[int, int]]
    x: Floats
    y: Floats
    k: int
    pool: Floats | None = None  # sorted scores of shuffled pairs


class _Matrices:
    """The columns, and the matrices to be filled."""

    def __init__(self, frame: Any, k: Any, drop: Any, goal: Objective) -> None:
        self.names, columns = frames.every_column(frame)
        if len(self.names) < 2:
            raise ValueError(f"frame must have at least two columns; got {len(self.names)}")
        self.columns = np.array(
            [
                validation.column(c, f"column {n!r}")
                for n, c in zip(self.names, columns, strict=True)
            ]
        )
        p, rows = self.columns.shape
        if rows < FEWEST_ROWS:
            raise ValueError(f"frame must have at least {FEWEST_ROWS} rows; got {rows}")
        validation.keep_count(rows, k, drop, goal)
        self.usable = np.isfinite(self.columns)
        self.rows = (self.usable.astype(np.int64) @ self.usable.T.astype(np.int64)).astype(np.int64)
        self.kept = np.zeros((p, p), dtype=np.int64)
        self.values, self.p_values = np.full((p, p), np.nan), np.full((p, p), np.nan)
        self.r = np.full((p, p), np.nan)
        if goal.name == "r2":
            np.fill_diagonal(self.values, 1.0)
        np.fill_diagonal(self.r, 1.0)
        self.sizes = {
            int(m): self._size(int(m), k, drop, goal)
            for m in np.unique(self.rows[np.triu_indices(p, 1)])
        }
        self.too_few = self.undefined = self.done = 0

    @staticmethod
    def _size(rows: int, k: Any, drop: Any, goal: Objective) -> int | None:
        try:
            return validation.keep_count(rows, k, drop, goal) if rows >= FEWEST_ROWS else None
        except ValueError:
            return None  # fewer rows than are to be kept

    def blocks(self) -> Iterator[_Block]:
        """Blocks of pairs with as many usable rows; pairs without a value are counted and left."""
        waiting: dict[int, list[tuple[int, int]]] = {}
        for i, j in combinations(range(len(self.names)), 2):
            rows = int(self.rows[i, j])
            if self.sizes[rows] is None:
                self.too_few += 1
                self.done += 1
                continue
            group = waiting.setdefault(rows, [])
            group.append((i, j))
            if len(group) == _BLOCK:
                yield from self._block(rows, waiting.pop(rows))
        for rows, group in waiting.items():
            yield from self._block(rows, group)

    def _block(self, rows: int, pairs: list[tuple[int, int]]) -> Iterator[_Block]:
        size = self.sizes[rows]
        assert size is not None
        i, j = np.array(pairs).T
        x, y = self.columns[i], self.columns[j]
        if rows < self.columns.shape[1]:
            both = self.usable[i] & self.usable[j]
            x, y = x[both].reshape(-1, rows), y[both].reshape(-1, rows)
        good = varied(x, y)
        self.undefined += int((~good).sum())
        self.done += int((~good).sum())
        chosen = [pair for pair, kept in zip(pairs, good, strict=True) if kept]
        if chosen:
            x, y = np.ascontiguousarray(x[good]), np.ascontiguousarray(y[good])
            yield _Block(chosen, x, y, size)

    def pearson(self) -> Floats:
        """Correlations of all rows a pair can use."""
        out: Floats = np.eye(len(self.names))
        for i, j in combinations(range(len(self.names)), 2):
            both = self.usable[i] & self.usable[j]
            r = correlations(self.columns[i, both][None], self.columns[j, both][None])
            out[i, j] = out[j, i] = r[0]
        return out

    def take(self, block: _Block, answer: Answer) -> None:
        for (i, j), value, p, r in zip(block.pairs, *answer, strict=True):
            self.values[i, j] = self.values[j, i] = value
            self.p_values[i, j] = self.p_values[j, i] = p
            self.r[i, j] = self.r[j, i] = r
            self.kept[i, j] = self.kept[j, i] = block.k
        self.done += len(block.pairs)


def _fill(
    table: _Matrices,
    task: _Task,
    workers: str,
    jobs: int,
    clock: Clock,
    tick: Tick,
) -> str:
    total = len(table.names) * (len(table.names) - 1) // 2
    run = _in_threads if workers == "threads" else _by_joblib
    try:
        for block, answer in run(_with_pools(table, task, jobs), task, jobs, clock):
            if answer is None:
                break
            table.take(block, answer)
            if tick(table.done, total, clock.gone()) is False:
                break
            if clock.left() == 0:
                break
    except KeyboardInterrupt:
        pass
    if table.done == total:
        return "finished"
    return clock.ended()


Answer = tuple[Floats, Floats, Floats]  # values, p-values, correlations of what is kept


def _in_threads(
    blocks: Iterator[_Block], task: _Task, jobs: int, clock: Clock
) -> Iterator[tuple[_Block, Answer | None]]:
    for block in blocks:
        yield block, _solve_block(block, task, jobs, clock.left())


def _by_joblib(
    blocks: Iterator[_Block], task: _Task, jobs: int, clock: Clock
) -> Iterator[tuple[_Block, Answer | None]]:
    with needed("workers='joblib'"):
        from joblib import Parallel, delayed

    def jobs_to_do() -> Iterator[Any]:
        for block in blocks:
            yield delayed(_named)(block, task, clock.left())

    parallel = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2 * n_jobs")
    answers: Iterator[tuple[_Block, Answer | None]] = parallel(jobs_to_do())
    return answers


def _named(block: _Block, task: _Task, seconds: float) -> tuple[_Block, Answer | None]:
    return block, _solve_block(block, task, 1, seconds)


def _with_pools(table: _Matrices, task: _Task, jobs: int) -> Iterator[_Block]:
    """The blocks, each with the sample it is to be compared with."""
    pools: dict[int, Floats] = {}
    for block in table.blocks():
        if task.null != "pooled":
            yield block
            continue
        rows = block.x.shape[1]
        if rows not in pools:
            pools[rows] = _pool(table, task, rows, block.k, jobs)
        yield _Block(block.pairs, block.x, block.y, block.k, pools[rows])


def _pool(table: _Matrices, task: _Task, rows: int, k: int, jobs: int) -> Floats:
    """Sorted scores of pairs drawn at random, one of the two columns shuffled."""
    rng = np.random.default_rng([task.seed, rows])
    i, j = np.nonzero(np.triu(table.rows == rows, 1))
    drawn = rng.integers(0, len(i), task.permutations)
    both = table.usable[i[drawn]] & table.usable[j[drawn]]
    xs = table.columns[i[drawn]][both].reshape(-1, rows)
    ys = rng.permuted(table.columns[j[drawn]][both].reshape(-1, rows), axis=1)
    good = varied(xs, ys)
    values = task.batch(xs[good], ys[good], k, jobs).solve().values
    scores: Floats = np.sort(task.goal.sense * values)
    return scores


def _solve_block(block: _Block, task: _Task, jobs: int, seconds: float) -> Answer | None:
    """Values and p-values of a block; None if a limit came first."""
    clock = Clock(seconds)
    found = task.batch(block.x, block.y, block.k, jobs, seconds).solve()
    if not found.proved.all():
        return None
    values, r = found.values, correlations(block.x, block.y, found.masks)
    if block.pool is not None:
        reached = len(block.pool) - np.searchsorted(
            block.pool, task.goal.sense * values - 2 * task.tol, side="left"
        )
        p = (1 + reached) / (1 + len(block.pool))
        return values, np.where(np.isfinite(values), p, np.nan), r
    if task.null is None:
        return values, np.full(len(values), np.nan), r
    own = _own_p_values(block, values, task, jobs, clock)
    return None if own is None else (values, own, r)


def _own_p_values(
    block: _Block, values: Floats, task: _Task, jobs: int, clock: Clock
) -> Floats | None:
    """Shuffles of every pair, in rounds, for those not settled yet."""
    rngs = [np.random.default_rng([task.seed, i, j]) for i, j in block.pairs]
    hits, made = np.zeros(len(values), dtype=int), np.zeros(len(values), dtype=int)
    p = np.full(len(values), np.nan)
    least = np.array(
        [
            lowered(Problem(x, y, block.k, task.goal, task.tol), v)
            for x, y, v in zip(block.x, block.y, values.tolist(), strict=True)
        ]
    )
    active, size, done = np.flatnonzero(np.isfinite(values)), _FIRST_ROUND, 0
    while len(active) and done < task.permutations:
        size = min(size, task.permutations - done)
        ys = np.concatenate([_shuffles(block.y[t], rngs[t], size) for t in active])
        xs = np.repeat(block.x[active], size, axis=0)
        shuffles = task.batch(xs, ys, block.k, jobs, clock.left())
        answers = shuffles.reach(np.repeat(least[active], size))
        if (answers < 0).any():
            return None
        for t, reached in zip(active, (answers == 1).reshape(-1, size), strict=True):
            total = hits[t] + np.cumsum(reached)
            end = int(np.argmax(total >= _ENOUGH)) if total[-1] >= _ENOUGH else size - 1
            hits[t], made[t] = total[end], made[t] + end + 1
        settled = hits >= _ENOUGH
        active, done, size = active[~settled[active]], done + size, 2 * size
    answered = np.isfinite(values)
    p[answered] = np.where(
        hits[answered] >= _ENOUGH,
        _ENOUGH / np.maximum(made[answered], 1),
        (1 + hits[answered]) / (1 + made[answered]),
    )
    return p


def _shuffles(y: Floats, rng: np.random.Generator, count: int) -> Floats:
    return rng.permuted(np.broadcast_to(y, (count, len(y))), axis=1)


def _warn(table: _Matrices) -> None:
    parts = []
    if table.too_few:
        parts.append(f"{table.too_few:,} pairs of columns have fewer usable rows than are needed")
    if table.undefined:
        parts.append(f"{table.undefined:,} pairs have a constant column")
    if parts:
        warnings.warn(f"{' and '.join(parts)}; their value is NaN", UserWarning, stacklevel=3)

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

import json
import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.choosing.pairs import (
    FEWEST_ROWS,
    Table,
    Task,
    pair_rows,
    pools,
    row_counts,
    signed_pair_rows,
    solve_pairs,
)
from quadsweep.choosing.pairwise_result import LEVEL, Matrices, PairwiseFiles, PairwiseResult
from quadsweep.clock import Clock
from quadsweep.distributed.runner import finish, missing
from quadsweep.distributed.store import ChunkStore, Columns
from quadsweep.distributed.workers import Workers, one_by_one, team
from quadsweep.inputs import frames, validation
from quadsweep.messages import argument
from quadsweep.objectives import Objective
from quadsweep.progress import CountProgress, Tick, counting

SYMMETRIC = ("r2", "r", "cov", "tv", "mcd")
_SHUFFLES = 199
_MOST_SHUFFLES = 9_999  # that are made unasked
_CHUNK = 128  # pairs of a chunk that stays in memory: the display and Ctrl-C wait for it
_FILE = 2048  # pairs of a file; fewer where each has p-values
_FILE_WITH_P_VALUES = 256


def pairwise(
    frame: Any,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    p_values: str | None = "own",
    permutations: int | None = None,
    workers: str = "threads",
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: CountProgress = None,
) -> PairwiseResult | PairwiseFiles:
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
    permutations : int, optional
        Shuffles, at most so many for each pair (``own``), or in the sample (``pooled``). By default
        as many as the smallest p-value needs to stay below 0.05 after Holm's correction, from 199
        to 9,999; 199 where that is not enough, and the summary says so. Most pairs need few.
    workers : {"threads", "joblib"}
        Threads of this process, or whatever joblib is set to use: processes, or what
        ``joblib.parallel_config(backend=...)`` names.
    client : dask Client or str, optional
        A cluster instead: a client, the address of a scheduler, or ``"local"`` to start one on this
        machine. Pairs of a worker that is lost are given to another.
    out : path, optional
        A directory for the answer, for tables too wide for matrices in memory: one row a pair in
        Parquet files, written as they are finished, the same bytes for any number of workers.
    resume : bool
        Go on with the finished files in ``out`` after a limit, Ctrl-C, or a kill.
    time_limit : float, optional
        Seconds for everything. The pairs finished by then are kept, and so they are after Ctrl-C.
    n_jobs : int, optional
        Workers; None is as many as there are cores. The answer does not depend on it,
        except between subsets tied within ``tol``.
    seed : int
        For the shuffles.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable is given (done, total, seconds).

    Returns
    -------
    PairwiseResult
        Or, with ``out``, PairwiseFiles.

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
    task = Task(
        goal=_symmetric(objective),
        k=k,
        drop=drop,
        null=_null(p_values, objective),
        permutations=0
        if permutations is None
        else validation.whole(permutations, "permutations", 1),
        tol=validation.tolerance(tol),
        seed=validation.whole(seed, "seed", 0),
    )
    jobs = validation.jobs(n_jobs)
    if resume and out is None:
        raise ValueError("resume=True goes on with the files in out; give out, a directory")
    names, table = _read(frame, task)
    if permutations is None:
        table = replace(table, task=replace(task, permutations=enough_shuffles(table.pairs)))
    with team(workers, client, jobs) as helpers, counting(progress, "pairs") as tick:
        table = replace(table, threads=jobs if helpers is None else 1, until=clock.until())
        if table.task.null == "pooled":
            table = replace(table, pools=pools(table, row_counts(table.usable), jobs))
        answers = (
            _InMemory(names, table, objective)
            if out is None
            else _Files(names, table, objective, ChunkStore(out), resume)
        )
        status = _go(answers, helpers or one_by_one, clock, tick)
    found = answers.answer(status, clock)
    _warn(answers)
    return found


def enough_shuffles(pairs: int) -> int:
    """Shuffles after which the least p-value times the number of pairs is 0.05, within reason.

    >>> [enough_shuffles(pairs) for pairs in (3, 55, 500, 501)]
    [199, 1099, 9999, 199]
    """
    needed = math.ceil(pairs / LEVEL) - 1
    return max(needed, _SHUFFLES) if needed <= _MOST_SHUFFLES else _SHUFFLES


def _read(frame: Any, task: Task) -> tuple[list[Any], Table]:
    names, columns = frames.every_column(frame)
    if len(names) < 2:
        raise ValueError(f"frame must have at least two columns; got {len(names)}")
    values = np.array(
        [validation.column(c, f"column {n!r}") for n, c in zip(names, columns, strict=True)]
    )
    rows = values.shape[1]
    if rows < FEWEST_ROWS:
        raise ValueError(f"frame must have at least {FEWEST_ROWS} rows; got {rows}")
    validation.keep_count(rows, task.k, task.drop, task.goal)
    return names, Table(values, task)


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
        raise ValueError(
            f"{argument('p_values')} must be 'own', 'pooled' or None; got {p_values!r}"
        )
    if p_values == "pooled" and objective not in ("r2", "r"):
        raise ValueError(
            f"{argument('p_values', 'pooled')} needs an objective without units (r2, r); "
            f"got {objective!r}"
        )
    return str(p_values) if p_values else None


class _Answers(ABC):
    """Pairs answered so far; those without a value are counted."""

    def __init__(self, names: list[Any], table: Table, objective: str) -> None:
        self.names, self.table, self.objective = names, table, objective
        self.done = self.too_few = self.undefined = 0

    def count(self, columns: Columns) -> None:
        self.done += len(columns["rows"])
        counts = dict(zip(*np.unique(columns["rows"], return_counts=True), strict=True))
        few = sum(int(c) for rows, c in counts.items() if self.table.task.size(int(rows)) is None)
        self.too_few += few
        self.undefined += int((columns["kept"] == 0).sum()) - few

    @abstractmethod
    def go(self, helpers: Workers) -> Iterator[int]:
        """Do all chunks; how many pairs are answered, again and again."""

    @abstractmethod
    def answer(self, status: str, clock: Clock) -> PairwiseResult | PairwiseFiles:
        """The answer, as far as it got."""


class _InMemory(_Answers):
    """Matrices to be filled."""

    def __init__(self, names: list[Any], table: Table, objective: str) -> None:
        super().__init__(names, table, objective)
        self.matrices = Matrices(len(names), table.task.goal.name)
        usable = table.usable.astype(np.int64)
        i, j = np.indices((len(names), len(names)))
        self.matrices.put(i, j, {"rows": usable @ usable.T})

    def go(self, helpers: Workers) -> Iterator[int]:
        for chunk, columns, _ in helpers(self.table.chunks(_CHUNK, solve_pairs)):
            if columns is None:
                return
            numbers = np.arange(chunk.arguments["first"], chunk.arguments["last"])
            if self.objective == "r":
                columns["value"] = columns["r"]
            self.matrices.put(*self.table.columns_of(numbers), columns)
            self.count(columns)
            yield self.done

    def answer(self, status: str, clock: Clock) -> PairwiseResult:
        task = self.table.task
        return self.matrices.result(
            self.names, task.null, too_few=self.too_few, undefined=self.undefined,
            objective=self.objective, status=status, seconds=clock.gone(), done=self.done,
            permutations=task.permutations,
        )  # fmt: skip


class _Files(_Answers):
    """Files to be written."""

    def __init__(
        self, names: list[Any], table: Table, objective: str, store: ChunkStore, resume: bool
    ) -> None:
        super().__init__(names, replace(table, names=[str(n) for n in names]), objective)
        self.store = store
        size = _FILE if table.task.null is None else _FILE_WITH_P_VALUES
        self.pieces = self.table.chunks(size, signed_pair_rows if objective == "r" else pair_rows)
        self._check_question(resume)
        self.todo = missing(self.pieces, store, resume=resume)

    def _check_question(self, resume: bool) -> None:
        """One directory, one table and one question."""
        asked = self.pieces[0].question
        path = self.store.directory / "_question.json"
        if path.exists() and resume and json.loads(path.read_text("utf-8")) != asked:
            raise ValueError(
                f"{self.store.directory} holds pairs of another table, question or version; choose "
                "another out"
            )
        self.store.directory.mkdir(parents=True, exist_ok=True)
        if self.store.is_empty():
            path.write_text(json.dumps(asked), encoding="utf-8")

    def go(self, helpers: Workers) -> Iterator[int]:
        self.done = sum(chunk.trials for chunk in self.pieces)
        self.done -= sum(chunk.trials for chunk in self.todo)
        yield self.done
        for chunk in finish(self.todo, self.store, helpers):
            self.done += chunk.trials
            yield self.done

    def answer(self, status: str, clock: Clock) -> PairwiseFiles:
        self.done, low, high, changed = 0, math.inf, -math.inf, 0
        for chunk in self.pieces:
            columns = self.store.load(chunk)
            if columns is None:
                continue  # not reached
            self.count(columns)
            low = float(np.fmin.reduce(columns["value"], initial=low))
            high = float(np.fmax.reduce(columns["value"], initial=high))
            changed += int(np.sum(np.sign(columns["r"]) * np.sign(columns["pearson"]) < 0))
        return PairwiseFiles(
            directory=self.store.directory,
            names=self.names,
            done=self.done,
            low=low,
            high=high,
            too_few=self.too_few,
            undefined=self.undefined,
            changed=changed,
            objective=self.objective,
            null=self.table.task.null,
            status=status,
            seconds=clock.gone(),
        )


def _go(answers: _Answers, helpers: Workers, clock: Clock, tick: Tick) -> str:
    try:
        for done in answers.go(helpers):
            if tick(done, answers.table.pairs, clock.gone()) is False or clock.left() == 0:
                break
    except KeyboardInterrupt:
        pass
    return "finished" if answers.done == answers.table.pairs else clock.ended()


def _warn(answers: _Answers) -> None:
    parts = []
    if answers.too_few:
        parts.append(f"{answers.too_few:,} pairs of columns have fewer usable rows than are needed")
    if answers.undefined:
        parts.append(f"{answers.undefined:,} pairs have a constant column")
    if parts:
        warnings.warn(f"{' and '.join(parts)}; their value is NaN", UserWarning, stacklevel=3)

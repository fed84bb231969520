"""Which points are outliers under small changes of the data?

The points are drawn again (bootstrap) or left out one at a time (jackknife), every data set is
solved exactly, and each point's share of the draws in which it was dropped is counted.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.choosing.nulls import split_blocks
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.messages import argument
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, Tick, counting
from quadsweep.results import plane
from quadsweep.results.formatting import (
    ResultMixin,
    as_frame,
    drawn_by,
    named_rows,
)
from quadsweep.results.result import Result
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, varied
from quadsweep.solving.methods.parallel_batches import Executor, executor
from quadsweep.solving.question import pose

_CLEAR = 0.1  # dropped less often than this, or kept less often, is clear


@dataclass(frozen=True, eq=False)
class Stability(ResultMixin):
    """How firmly each point is in or out.

    Attributes
    ----------
    dropped : array of floats, as long as the data given
        How often each point was dropped among the times it was drawn; NaN for rows left out.
    resamples : int
        Data sets solved for it.
    resample : str
        ``bootstrap`` or ``jackknife``.
    result : Result
        The optimum.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    seconds : float
    """

    json_fields = "dropped resamples resample status seconds result"

    dropped: Floats
    resamples: int
    resample: str
    result: Result = field(repr=False)
    status: str
    seconds: float

    @property
    def unclear(self) -> Ints:
        """Points dropped in some resamples and kept in others, ten percent at least of each."""
        with np.errstate(invalid="ignore"):
            return np.flatnonzero((self.dropped >= _CLEAR) & (self.dropped <= 1 - _CLEAR))

    def summary_items(self) -> list[tuple[str, str]]:
        r, labels = self.result, self.result.labels
        share = self.dropped[r.outliers]
        always = r.outliers[share == 1]
        nearly = r.outliers[(share > 1 - _CLEAR) & (share < 1)]
        lines = [
            ("kept", f"{r.k:,} of {r.n:,} points, {r.title} = {r.value:.6g}"),
            ("resamples", f"{self.resamples:,} ({self.resample})"),
            ("always out", named_rows(always, labels)),
            (
                "nearly always",
                named_rows(nearly, labels, f"over {1 - _CLEAR:.0%} of the times drawn"),
            ),
            ("unclear", named_rows(self.unclear, labels)),
        ]
        if self.status != "finished":
            lines.append(
                ("stopped", f"by {self.status.replace('_', ' ')}; counts are of less work")
            )
        return lines

    plot = drawn_by(
        "stability.plot_stability", "The points, coloured by how often they were dropped."
    )

    def to_frame(self) -> Any:
        """Return one row for each point, in pandas (or polars without pandas)."""
        r = self.result
        columns = dict(zip(r.names, [*plane.matrix(r).T, r.y], strict=True))
        return as_frame({**columns, "inlier": r.mask, "dropped": self.dropped})


def stability(
    points: Any = None,
    /,
    y: Any = None,
    k: int | float | None = None,
    *,
    x: Any = None,
    drop: int | float | None = None,
    objective: str = "r2",
    resample: str = "bootstrap",
    resamples: int = 200,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: CountProgress = None,
    data: Any = None,
    fit_intercept: bool = True,
    weights: Any = None,
    workers: str = "threads",
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Stability:
    """How often each point is dropped when the data change a little.

    Parameters
    ----------
    points, x, y, k, drop, objective, tol, nan_policy :
        As in :func:`solve`, as are ``data``, ``fit_intercept`` and ``weights``;
        ``var`` is not supported.
    resample : {"bootstrap", "jackknife"}
        ``bootstrap`` draws n points with replacement ``resamples`` times and drops as many of them
        as there are copies of the optimum's outliers; ``jackknife`` leaves out each point once and
        keeps the same share of the others.
    resamples : int
        For the bootstrap.
    time_limit : float, optional
        Seconds for everything. What is finished by then is kept, and so it is after Ctrl-C.
    n_jobs : int, optional
        As in :func:`path`.
    seed : int
        For the bootstrap.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable is given (done, total, seconds).
    workers, client :
        Who solves the resamples, as in :func:`solve_many`: threads, joblib, or a dask cluster.
    out, resume : path, bool
        A directory that keeps finished parts of the work, and whether to go on with those in it.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import quadsweep as qs
    >>> answer = qs.stability([1, 2, 3, 4, 5, 6], [1, 2.1, 9, 4, 5.1, 6], drop=1, resamples=50)
    >>> int(answer.dropped.argmax())
    2
    """
    clock = Clock(validation.seconds(time_limit))
    if objective == "var":
        raise ValueError("stability needs an objective of both columns; 'var' uses x alone")
    if resample not in ("bootstrap", "jackknife"):
        raise ValueError(
            f"{argument('resample')} must be 'bootstrap' or 'jackknife'; got {resample!r}"
        )
    draws = validation.whole(resamples, "resamples", 1)
    x, y, data = loaded("stability", *normalize_arguments("stability", points, x, y, data))
    question = pose(
        x, y, data=data, objective=objective, tol=tol, n_jobs=n_jobs, seed=seed,
        nan_policy=nan_policy, fit_intercept=fit_intercept, weights=weights,
    ).keeping(k, drop)  # fmt: skip
    result = question.answer(time_limit=clock.left())
    with (
        executor(workers, client, question.problem.n_jobs, out, resume) as helpers,
        counting(progress, "resamples") as tick,
    ):
        is_outlier = ~result.mask[question.points.rows]
        counts = _Counts(question.problem, resample, draws, clock, helpers, is_outlier)
        status = counts.go(tick)
    dropped = np.full(question.points.given, np.nan)
    with np.errstate(invalid="ignore"):
        dropped[question.points.rows] = counts.gone / counts.drawn
    return Stability(dropped, counts.done, resample, result, status, clock.gone())


def fewest_kept(problem: Problem) -> int:
    """The fewest rows that a resample can be asked to keep."""
    if problem.several:
        return problem.p + problem.intercept + 1
    return problem.objective.min_k


class Resampling(ABC):
    """Data sets drawn from the points, each solved exactly; what is done with them is recorded."""

    def __init__(
        self, problem: Problem, resample: str, draws: int, clock: Clock, helpers: Executor
    ) -> None:
        self.problem, self.clock, self.helpers = problem, clock, helpers
        n = problem.n
        self.done = 0
        if resample == "bootstrap":
            self.total, self.k = draws, problem.k
            rng = np.random.default_rng(problem.seed)
            self.take: Callable[[int], Ints] = lambda count: rng.integers(0, n, size=(count, n))
        else:
            self.total = n
            self.k = min(n - 1, max(fewest_kept(problem), round(problem.k * (n - 1) / n)))
            others = np.array([np.delete(np.arange(n), i) for i in range(n)])
            self.take = lambda count: others[self.done : self.done + count]

    def go(self, tick: Tick) -> str:
        try:
            n = self.problem.n
            for size in split_blocks(self.total, n, self.clock, tick, self.helpers.block(n)):
                if not self._solve(self.take(size)):
                    break
                self.done += size
        except KeyboardInterrupt:
            pass
        if self.done == self.total:
            return "finished"
        return self.clock.ended()

    def _solve(self, chosen: Ints) -> bool:
        sizes = self.sizes(chosen)
        return all(self._solve_alike(chosen[sizes == k], int(k)) for k in np.unique(sizes))

    def _solve_alike(self, chosen: Ints, k: int) -> bool:
        """Data sets of which the same number of rows is kept."""
        p = self.problem
        xs, ys = p.x[chosen], p.y[chosen]
        good = varied(xs, ys, p.objective)
        if not good.any():
            return True
        if k == chosen.shape[1]:
            self.record(chosen[good], np.ones_like(chosen[good], dtype=bool))
            return True
        w = None if p.weights is None else p.weights[chosen][good]
        found = self.helpers.solve(Batch.like(p, xs[good], ys[good], self.clock.left(), k, w))
        if not found.finished.all():
            return False
        answered = found.masks.any(axis=1)
        self.record(chosen[good][answered], found.masks[answered])
        return True

    def sizes(self, chosen: Ints) -> Ints:
        """How many rows to keep of each data set."""
        return np.full(len(chosen), self.k)

    @abstractmethod
    def record(self, rows: Ints, kept: Mask) -> None:
        """One row a data set: the points drawn, and which of them are kept."""


class _Counts(Resampling):
    """How often each point was drawn and dropped.

    A bootstrap draws some of the optimum's outliers twice and others not at all. As many rows are
    dropped as there are copies of them, so that none stays because another's copies took its place.
    """

    def __init__(
        self,
        problem: Problem,
        resample: str,
        draws: int,
        clock: Clock,
        helpers: Executor,
        is_outlier: Mask,
    ) -> None:
        super().__init__(problem, resample, draws, clock, helpers)
        self.drawn, self.gone = np.zeros(problem.n), np.zeros(problem.n)
        self.is_outlier = is_outlier
        self.copies = resample == "bootstrap"

    def sizes(self, chosen: Ints) -> Ints:
        if not self.copies:
            return super().sizes(chosen)
        fewest = fewest_kept(self.problem)
        return np.asarray(np.maximum(chosen.shape[1] - self.is_outlier[chosen].sum(axis=1), fewest))

    def record(self, rows: Ints, kept: Mask) -> None:
        self.drawn += np.bincount(rows.ravel(), minlength=self.problem.n)
        self.gone += np.bincount(rows[~kept], minlength=self.problem.n)

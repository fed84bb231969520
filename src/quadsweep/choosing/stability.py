"""Which points are outliers under small changes of the data?

The points are drawn again with replacement, every data set is solved exactly, and each point's
share of the draws in which it was dropped is counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.choosing.nulls import split_blocks
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, Tick, counting
from quadsweep.results import plane
from quadsweep.results.formatting import (
    ResultMixin,
    drawn_by,
    named_rows,
)
from quadsweep.results.result import Result
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, varied
from quadsweep.solving.methods.parallel_batches import HERE, Executor, executor
from quadsweep.solving.question import pose

_CLEAR = 0.1  # dropped less often than this, or kept less often, is clear


@dataclass(frozen=True, eq=False)
class Stability(ResultMixin):
    """How often each point is dropped when the data change a little.

    Attributes
    ----------
    dropped : array of floats, as long as the data given
        Share of a point's draws in which it was dropped; NaN for rows with missing values.
    resamples : int
        Data sets solved.
    result : Result
        The optimum.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    seconds : float
    """

    json_fields = "dropped resamples status seconds result"
    frame_fields = "*columns dropped"

    dropped: Floats
    resamples: int
    result: Result = field(repr=False)
    status: str
    seconds: float

    @property
    def unclear(self) -> Ints:
        """Points dropped in at least 10% of their draws and kept in at least 10%."""
        with np.errstate(invalid="ignore"):
            return np.flatnonzero((self.dropped >= _CLEAR) & (self.dropped <= 1 - _CLEAR))

    def summary_items(self) -> list[tuple[str, str]]:
        r, labels = self.result, self.result.labels
        share = self.dropped[r.outliers]
        always = r.outliers[share == 1]
        nearly = r.outliers[(share > 1 - _CLEAR) & (share < 1)]
        lines = [
            ("kept", f"{r.k:,} of {r.n:,} points, {r.title} = {r.value:.6g}"),
            ("resamples", f"{self.resamples:,} (bootstrap)"),
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

    @property
    def columns(self) -> dict[str, Any]:
        """The data with the rows kept."""
        r = self.result
        columns: dict[str, Any] = dict(zip(r.names, [*plane.matrix(r).T, r.y], strict=True))
        return {**columns, "inlier": r.mask}


def stability(
    points: Any = None,
    /,
    y: Any = None,
    k: int | float | None = None,
    *,
    x: Any = None,
    drop: int | float | None = None,
    objective: str = "r2",
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
    """Count how often each point is dropped when the data change a little.

    Parameters
    ----------
    points, x, y, k, drop, objective, tol, nan_policy :
        As in :func:`solve`, as are ``data``, ``fit_intercept`` and ``weights``;
        ``var`` is not supported.
    resample : {"bootstrap", "jackknife"}
        ``bootstrap`` draws n points with replacement ``resamples`` times; each draw drops as many
        points as it holds copies of the optimum's outliers. ``jackknife`` leaves out each point
        once and keeps the same share of the others.
    resamples : int
        Draws of the bootstrap.
    time_limit : float, optional
        Seconds for the whole call. Finished resamples are kept, also after Ctrl-C.
    n_jobs : int, optional
        As in :func:`path`.
    seed : int
        For the bootstrap.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable receives (done, total, seconds).
    workers, client :
        Threads, joblib or a dask cluster, as in :func:`solve_many`.
    out, resume : path, bool
        A directory for finished parts of the work, and whether to continue from them.

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
    draws = validation.whole(resamples, "resamples", 1)
    x, y, data = loaded("stability", *normalize_arguments("stability", points, x, y, data))
    question = pose(
        x, y, data=data, objective=objective, tol=tol, n_jobs=n_jobs, seed=seed,
        nan_policy=nan_policy, fit_intercept=fit_intercept, weights=weights,
    ).keeping(k, drop)  # fmt: skip
    result = question.answer(time_limit=clock.time_left())
    problem, n = question.problem, question.problem.n
    is_outlier, least = ~result.mask[question.points.rows], fewest_kept(question.problem)
    drawn, gone = np.zeros(n), np.zeros(n)

    def record(rows: Ints, kept: Mask) -> None:
        drawn[:] += np.bincount(rows.ravel(), minlength=n)
        gone[:] += np.bincount(rows[~kept], minlength=n)

    def count_kept(rows: Ints) -> Ints:
        # As many are dropped as there are copies of outliers: none stays because another's copies
        # took its place.
        return np.asarray(np.maximum(n - is_outlier[rows].sum(axis=1), least))

    with (
        executor(workers, client, problem.n_jobs, out, resume) as helpers,
        counting(progress, "resamples") as tick,
    ):
        done, status = solve_resamples(
            problem, draws, draw_bootstrap(problem), record, clock, tick, helpers, count_kept
        )
    dropped = np.full(question.points.given, np.nan)
    with np.errstate(invalid="ignore"):
        dropped[question.points.rows] = gone / drawn
    return Stability(dropped, done, result, status, clock.gone())


def fewest_kept(problem: Problem) -> int:
    """Return the fewest rows that a resample can be asked to keep."""
    if problem.several:
        return problem.p + problem.intercept + 1
    return problem.objective.min_k


def draw_bootstrap(problem: Problem) -> Callable[[int, int], Ints]:
    """Return what draws so many data sets of n rows with replacement, by the problem's seed."""
    rng = np.random.default_rng(problem.seed)
    return lambda done, count: rng.integers(0, problem.n, size=(count, problem.n))


def solve_resamples(
    problem: Problem,
    total: int,
    draw: Callable[[int, int], Ints],
    record: Callable[[Ints, Mask], None],
    clock: Clock,
    tick: Tick,
    helpers: Executor = HERE,
    count_kept: Callable[[Ints], Ints] | None = None,
) -> tuple[int, str]:
    """Solve data sets drawn from the rows; return how many were solved and the status.

    Parameters
    ----------
    draw : given how many were drawn before and how many to draw, rows of each data set.
    record : is given the rows of data sets and which of them are kept.
    count_kept : how many rows of each data set to keep; those of the problem if left out.
    """
    done = 0
    try:
        for size in split_blocks(total, problem.n, clock, tick, helpers.block(problem.n)):
            rows = draw(done, size)
            kept = np.full(len(rows), problem.k) if count_kept is None else count_kept(rows)
            groups = ((rows[kept == k], int(k)) for k in np.unique(kept))
            if not all(_solve_alike(problem, *group, record, clock, helpers) for group in groups):
                break
            done += size
    except KeyboardInterrupt:
        pass
    return done, "finished" if done == total else clock.ended()


def _solve_alike(
    problem: Problem,
    rows: Ints,
    k: int,
    record: Callable[[Ints, Mask], None],
    clock: Clock,
    helpers: Executor,
) -> bool:
    """Solve data sets of which the same number of rows is kept; False if a limit came first."""
    xs, ys = problem.x[rows], problem.y[rows]
    good = varied(xs, ys, problem.objective)
    if not good.any():
        return True
    if k == rows.shape[1]:
        record(rows[good], np.ones_like(rows[good], dtype=bool))
        return True
    w = None if problem.weights is None else problem.weights[rows][good]
    found = helpers.solve(Batch.from_problem(problem, xs[good], ys[good], clock.time_left(), k, w))
    if not found.finished.all():
        return False
    answered = found.masks.any(axis=1)
    record(rows[good][answered], found.masks[answered])
    return True

"""How surprising is the best subset? The same search on data whose columns have nothing in common.

The k best of n points look like a line even in pure noise. So the null is the optimum itself: y is
shuffled, which keeps both columns' distributions and breaks whatever ties them, and the optimum of
the shuffled data is found, again with a proof. The p-value is the share of data sets, the real one
among them, that reach the observed value:

    p = (1 + number of shuffles that reach it) / (1 + number of shuffles).

If x and y are independent (and the rows exchangeable), P(p <= u) <= u for every u.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Mask
from quadsweep.choosing.p_values import STATUSES, in_words, no_verdict
from quadsweep.choosing.shuffles import blocks, check_pairs, shuffled
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import arranged
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, Tick, counting
from quadsweep.results.formatting import ResultMixin, as_frame, attributes, drawn_by
from quadsweep.results.result import Result
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, lowered
from quadsweep.solving.methods.spreading import Executor, executor
from quadsweep.solving.question import pose


@dataclass(frozen=True, eq=False)
class Significance(ResultMixin):
    """An observed optimum among the optima of shuffled data.

    Attributes
    ----------
    p_value : float
        Share of data sets, the real one included, that reach the observed value; NaN if no shuffle
        was made.
    observed : float
        The optimum of the data.
    null : array of floats
        The optimum of each shuffle; empty if only decisions were asked for. Undefined ones are NaN.
    reached : array of bool
        For each shuffle, in order, whether its optimum reaches the observed value.
    permutations : int
        Shuffles asked for; ``len(reached)`` were made.
    status : str
        ``finished``, ``stopped_early``, ``time_limit`` or ``interrupted``.
    result : Result
        The observed optimum with its subset and certificate.
    objective : str
    n, k, seed : int
    seconds : float
    """

    p_value: float
    observed: float
    null: Floats
    reached: Mask
    permutations: int
    status: str
    result: Result
    objective: str
    n: int
    k: int
    seed: int
    seconds: float = field(repr=False)

    @property
    def interval(self) -> tuple[float, float]:
        """Where p would settle with endless shuffles: Clopper and Pearson, 95 percent."""
        from scipy.stats import binomtest

        if len(self.reached) == 0:
            return 0.0, 1.0
        low, high = binomtest(int(self.reached.sum()), len(self.reached)).proportion_ci()
        return float(low), float(high)

    def verdict(self) -> str:
        """The p-value in words, if there are enough shuffles for a verdict."""
        title = objectives.get(self.objective).title
        hits, done = int(self.reached.sum()), len(self.reached)
        count = f"{hits:,} of {done:,} data sets with y shuffled reach it"
        kept = f"with {self.k:,} of {self.n:,} points kept, {title} = {self.observed:.4g}"
        if few := no_verdict(self._designed()):
            return f"{kept}; {few}" + (f" ({count})" if done else "")
        so = {
            "unremarkable": ", so noise alone would do as well",
            "borderline": ", so noise alone does as well now and then",
        }
        return f"{kept} is {self.word}: {count}{so.get(self.word, '')}"

    @property
    def word(self) -> str:
        """``unremarkable``, ``borderline``, ``more than noise gives`` or ``no verdict``."""
        return in_words(math.nan if no_verdict(self._designed()) else self.p_value)

    def _designed(self) -> int:
        """Shuffles that decide: a test that ends early because it is clear would have made all."""
        return self.permutations if self.status == "stopped_early" else len(self.reached)

    def summary_items(self) -> list[tuple[str, str]]:
        title = objectives.get(self.objective).title
        low, high = self.interval
        lines = [
            (title, f"{self.observed:.6g}   (the best {self.k:,} of {self.n:,} points)"),
            (
                "p-value",
                f"{self.p_value:.4g}   (95% interval {low:.2g} to {high:.2g})"
                if len(self.reached)
                else "not known",
            ),
            ("verdict", self.verdict()),
        ]
        defined = self.null[np.isfinite(self.null)]
        if len(defined):
            q = np.quantile(defined, [0.05, 0.5, 0.95])
            lines.append(("noise", f"{q[1]:.4g}   (90% between {q[0]:.4g} and {q[2]:.4g})"))
        done = STATUSES[self.status].format(done=len(self.reached), asked=self.permutations)
        lines.append(("shuffles", f"{done}, seed {self.seed}"))
        if not self.result.success:
            lines.append(("caution", "the observed value is not proved; a better one lowers p"))
        return lines

    plot = drawn_by(
        "significance.plot_significance", "Histogram of the null with the observed value."
    )

    def to_frame(self) -> Any:
        """One row a shuffle: its optimum where it is known, and whether it reaches the observed."""
        values = self.null if len(self.null) else np.full(len(self.reached), np.nan)
        return as_frame({"value": values, "reached": self.reached})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            **attributes(self, "objective n k observed p_value interval"),
            "verdict": self.verdict(),
            "permutations": self.permutations,
            "done": len(self.reached),
            "reached": int(self.reached.sum()),
            **attributes(self, "null status seed seconds result"),
        }


def significance(
    points: Any = None,
    /,
    y: Any = None,
    k: int | float | None = None,
    *,
    x: Any = None,
    drop: int | float | None = None,
    objective: str = "r2",
    permutations: int = 999,
    null: str = "values",
    stop_after: int | None = None,
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
) -> Significance:
    """How often shuffled data have an optimum as good as the observed one.

    Parameters
    ----------
    points, x, y, k, drop, objective, tol, nan_policy :
        As in :func:`solve`, as are ``data``, ``fit_intercept`` and ``weights``;
        ``var`` looks at one column alone and has no such test.
    permutations : int
        Shuffles of y.
    null : {"values", "decisions"}
        ``values`` finds the optimum of every shuffle, for the histogram. ``decisions`` only asks
        of each whether it reaches the observed value, with the same p-value in a fraction of the
        time.
    stop_after : int, optional
        Stop when so many shuffles have reached the observed value: the p-value is then
        ``stop_after`` divided by the shuffles made, which keeps the test valid (Besag and Clifford,
        1991), and where the value is unremarkable it saves nearly all the work.
    time_limit : float, optional
        Seconds for everything. The shuffles finished by then count; so they do after Ctrl-C.
    n_jobs : int, optional
        As in :func:`path`.
    seed : int
        Shuffle number i is the same for every call with this seed and this n.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable is given (done, total, seconds).
    workers, client :
        Who solves the shuffles, as in :func:`solve_many`: threads, joblib, or a dask cluster.
    out, resume : path, bool
        A directory that keeps finished parts of the work, and whether to go on with those in it.

    Returns
    -------
    Significance

    Notes
    -----
    The null keeps both columns' own distributions and assumes nothing else about them. It is a test
    of independence of x and y: with serial order (time series) rows are not exchangeable and it
    does not apply. Equal values count as reaching, ties within ``2 * tol`` included.

    Examples
    --------
    >>> import numpy as np, quadsweep as qs
    >>> x, y = np.random.default_rng(2).uniform(size=(2, 30))
    >>> answer = qs.significance(x, y, k=10, permutations=99)
    >>> round(answer.observed, 3), answer.p_value
    (0.955, 0.49)
    >>> print(answer.verdict().split(":")[0])
    with 10 of 30 points kept, R² = 0.9551 is unremarkable
    """
    clock = Clock(validation.seconds(time_limit))
    asked = validation.whole(permutations, "permutations", 1)
    if null not in ("values", "decisions"):
        raise ValueError(f"null must be 'values' or 'decisions'; got {null!r}")
    if stop_after is not None:
        stop_after = validation.whole(stop_after, "stop_after", 1)
    goal = check_pairs(objective)
    x, y, data = loaded("significance", *arranged("significance", points, x, y, data))
    question = pose(
        x, y, data=data, objective=goal, tol=tol, n_jobs=n_jobs, seed=seed,
        nan_policy=nan_policy, fit_intercept=fit_intercept, weights=weights,
    ).keeping(k, drop)  # fmt: skip
    problem = question.problem
    with (
        executor(workers, client, problem.n_jobs, out, resume) as helpers,
        counting(progress, "permutations") as tick,
    ):
        result = question.answer(time_limit=clock.left())
        sample = _Null(problem, result.value, null == "values", clock, helpers)
        status = _draw(sample, asked, stop_after, tick)
    reached = np.array(sample.reached, dtype=bool)
    return Significance(
        p_value=_p_value(reached, stop_after),
        observed=result.value,
        null=np.array(sample.values, dtype=float),
        reached=reached,
        permutations=asked,
        status=status,
        result=result,
        objective=goal,
        n=problem.n,
        k=problem.k,
        seed=problem.seed,
        seconds=clock.gone(),
    )


def _p_value(reached: Mask, stop_after: int | None) -> float:
    hits, done = int(reached.sum()), len(reached)
    if done == 0:
        return math.nan
    if stop_after is not None and hits >= stop_after:
        return stop_after / done
    return (1 + hits) / (1 + done)


class _Null:
    """Shuffles solved or decided so far, in order."""

    def __init__(
        self, problem: Problem, observed: float, values: bool, clock: Clock, helpers: Executor
    ) -> None:
        self.problem, self.clock, self.helpers = problem, clock, helpers
        self.rng = np.random.default_rng(problem.seed)
        self.sense = problem.objective.sense
        self.least = lowered(problem, observed)
        self.look = self._solve if values else self._decide
        self.values: list[float] = []
        self.reached: list[bool] = []

    def take(self, count: int) -> bool:
        """``count`` more shuffles; False if a limit or Ctrl-C cut them short."""
        ys = shuffled(self.problem.y, self.rng, count)
        return self.look(Batch.like(self.problem, self.problem.x, ys, self.clock.left())) == count

    def _decide(self, shuffles: Batch) -> int:
        answers = self.helpers.reach(shuffles, self.least)
        good = _leading(answers >= 0)
        self.reached += (answers[:good] == 1).tolist()
        return good

    def _solve(self, shuffles: Batch) -> int:
        found = self.helpers.solve(shuffles)
        good = _leading(found.finished)
        values = found.values[:good]
        self.values += values.tolist()
        self.reached += (self.sense * values > self.sense * self.least).tolist()
        return good


def _leading(good: Mask) -> int:
    """How many from the start are good."""
    return len(good) if good.all() else int(np.argmin(good))


def _draw(sample: _Null, asked: int, stop_after: int | None, tick: Tick) -> str:
    """Shuffles until there are enough, or a limit, or Ctrl-C; what ended it."""
    try:
        n = sample.problem.n
        for size in blocks(asked, n, sample.clock, tick, sample.helpers.block(n)):
            whole = sample.take(size)
            if stop_after is not None and sum(sample.reached) >= stop_after:
                _cut(sample, stop_after)
                return "stopped_early"
            if not whole:
                break
    except KeyboardInterrupt:
        pass
    if len(sample.reached) == asked:
        return "finished"
    return sample.clock.ended()


def _cut(sample: _Null, stop_after: int) -> None:
    """Forget what lies beyond the shuffle at which the count was reached."""
    end = int(np.flatnonzero(sample.reached)[stop_after - 1]) + 1
    del sample.reached[end:], sample.values[end:]

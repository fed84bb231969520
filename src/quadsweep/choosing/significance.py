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
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Mask
from quadsweep.choosing.nulls import (
    NullComparison,
    NullSearch,
    check_pairs,
    shuffle,
)
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, counting
from quadsweep.results.formatting import drawn_by
from quadsweep.results.result import Result
from quadsweep.solving.methods.batch import lowered
from quadsweep.solving.methods.parallel_batches import executor
from quadsweep.solving.question import pose

_MEANINGS = {
    "unremarkable": ", so noise alone would do as well",
    "borderline": ", so noise alone does as well now and then",
}


@dataclass(frozen=True, eq=False)
class Significance(NullComparison):
    """A permutation test of an observed optimum.

    Attributes
    ----------
    p_value : float
        Share of the data sets, the observed one included, that reach the observed value; NaN
        without shuffles.
    observed : float
        The optimum of the data.
    null : array of floats
        The optimum of each shuffle, NaN where it is undefined.
    reached : array of bool
        For each shuffle, in order, whether its optimum reaches the observed value.
    permutations : int
        Shuffles requested; ``done`` were made.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    result : Result
        The observed optimum with its subset and certificate.
    objective : str
    n, k, seed : int
    seconds : float
    """

    json_fields = (
        "objective n k observed p_value interval verdict permutations done reached=hits null "
        "status seed seconds result"
    )
    frame_fields = "value=null reached"

    p_value: float
    observed: float
    null: Floats
    reached: Mask
    result: Result
    k: int

    @property
    def overall(self) -> float:
        """The p-value."""
        return self.p_value

    @property
    def hits(self) -> int:
        """Shuffles that reach the observed value."""
        return int(self.reached.sum())

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper-Pearson 95% interval for the p-value of infinitely many shuffles."""
        from scipy.stats import binomtest

        if self.done == 0:
            return 0.0, 1.0
        low, high = binomtest(self.hits, self.done).proportion_ci()
        return float(low), float(high)

    def verdict(self) -> str:
        """Return the p-value in words, if there are enough shuffles for a verdict."""
        title = objectives.get(self.objective).title
        count = f"{self.hits:,} of {self.done:,} data sets with y shuffled reach it"
        kept = f"with {self.k:,} of {self.n:,} points kept, {title} = {self.observed:.4g}"
        if self.missing:
            return f"{kept}; {self.missing}" + (f" ({count})" if self.done else "")
        return f"{kept} is {self.word}: {count}{_MEANINGS.get(self.word, '')}"

    def summary_items(self) -> list[tuple[str, str]]:
        title = objectives.get(self.objective).title
        low, high = self.interval
        p = f"{self.p_value:.4g}   (95% interval {low:.2g} to {high:.2g})"
        lines = [
            (title, f"{self.observed:.6g}   (the best {self.k:,} of {self.n:,} points)"),
            ("p-value", p if self.done else "not known"),
            ("verdict", self.verdict()),
        ]
        defined = self.null[np.isfinite(self.null)]
        if len(defined):
            q = np.quantile(defined, [0.05, 0.5, 0.95])
            lines.append(("noise", f"{q[1]:.4g}   (90% between {q[0]:.4g} and {q[2]:.4g})"))
        lines.append(self.describe_draws())
        if not self.result.success:
            lines.append(("caution", "the observed value is not proved; a better one lowers p"))
        return lines

    plot = drawn_by(
        "significance.plot_significance", "Histogram of the null with the observed value."
    )


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
    """Test by permutation whether the observed optimum exceeds what noise would give.

    Parameters
    ----------
    points, x, y, k, drop, objective, tol, nan_policy :
        As in :func:`solve`, as are ``data``, ``fit_intercept`` and ``weights``;
        ``var`` concerns one column alone and has no such test.
    permutations : int
        Shuffles of y.
    time_limit : float, optional
        Seconds for the whole call. Finished shuffles count, also after Ctrl-C.
    n_jobs : int, optional
        As in :func:`path`.
    seed : int
        Seed; shuffle number i is the same for every call with this seed and n.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable receives (done, total, seconds).
    workers, client :
        Threads, joblib or a dask cluster, as in :func:`solve_many`.
    out, resume : path, bool
        A directory for finished parts of the work, and whether to continue from them.

    Returns
    -------
    Significance

    Notes
    -----
    This tests independence of x and y and assumes that rows are exchangeable: it does not apply to
    time series. Values within ``2 * tol`` count as equal.

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
    goal = check_pairs(objective)
    x, y, data = loaded("significance", *normalize_arguments("significance", points, x, y, data))
    question = pose(
        x, y, data=data, objective=goal, tol=tol, n_jobs=n_jobs, seed=seed,
        nan_policy=nan_policy, fit_intercept=fit_intercept, weights=weights,
    ).keeping(k, drop)  # fmt: skip
    problem = question.problem
    with (
        executor(workers, client, problem.n_jobs, out, resume) as helpers,
        counting(progress, "permutations") as tick,
    ):
        result = question.answer(time_limit=clock.time_left())
        search = NullSearch(asked, clock, tick, helpers)
        least, sense = lowered(problem, result.value), problem.objective.sense

        rows = search.collect(
            problem.n, 1, partial(shuffle, problem.y, np.random.default_rng(problem.seed)),
            partial(search.solve_sizes, problem, np.array([problem.k])),
        )  # fmt: skip
    null = rows[:, 0]
    reached: Mask = np.asarray(sense * null > sense * least)
    done = len(null)
    return Significance(
        objective=goal,
        n=problem.n,
        permutations=asked,
        status="finished" if done == asked else clock.ended(),
        seed=problem.seed,
        seconds=clock.gone(),
        p_value=(1 + int(reached.sum())) / (1 + done) if done else math.nan,
        observed=result.value,
        null=null,
        reached=reached,
        result=result,
        k=problem.k,
    )

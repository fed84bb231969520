"""What the user gives becomes a question, a method answers it, and a Result comes out.

``solve`` is this and nothing else; ``path``, ``significance``, ``stability`` and ``compare`` ask
more than one thing of the same question.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.clock import Clock
from quadsweep.inputs import frames, validation
from quadsweep.inputs.frames import Columns, date_columns
from quadsweep.inputs.validation import Sample
from quadsweep.least_squares import fit
from quadsweep.objectives import Score
from quadsweep.progress import SearchProgress, watching
from quadsweep.results.result import Result
from quadsweep.solving.confirm import confirm
from quadsweep.solving.methods import METHODS, Outcome, Problem, regression
from quadsweep.solving.methods.problem import choose
from quadsweep.solving.methods.regression.choice import choose as choose_several
from quadsweep.solving.methods.regression.choice import remark


class SourceSettings(TypedDict, total=False):
    """Keyword arguments that solve, path and audit share, for type checkers alone."""

    data: Any
    weights: Any
    tol: float
    time_limit: float | None
    n_jobs: int | None
    seed: int
    nan_policy: str
    proof: bool
    memory_limit: float | None
    client: Any
    out: str | os.PathLike[str] | None
    resume: bool


@dataclass(frozen=True)
class Question:
    """Validated points, the problem on them, and what the columns are called.

    A question just posed keeps all its points; ``keeping`` asks for fewer.
    """

    given: Columns
    points: Sample
    problem: Problem

    def keeping(self, k: Any, drop: Any) -> Question:
        """The same with exactly one of ``k`` and ``drop`` as the user gives it."""
        if k is None and drop is None:
            k = self.given.k  # what a data set of ours suggests
        points, goal = self.points, self.problem.objective
        size = validation.keep_count(points.n, k, drop, goal, points)
        return Question(self.given, self.points, self.problem.changed(k=size))

    def answer(
        self,
        method: str = "auto",
        *,
        time_limit: float = math.inf,
        progress: SearchProgress = False,
        memory_limit: float = math.inf,
        most_boxes: float = math.inf,
    ) -> Result:
        """What a method says; by default the optimum with its proof."""
        asked, clock = self.problem, Clock(time_limit)
        if asked.several:
            chosen = choose_several(method, asked)
        else:
            chosen = choose(method, asked.objective, asked.n, asked.k)
        with watching(progress, asked.objective) as callback:
            limited = asked.changed(
                time_limit=clock.time_left(), callback=callback, memory_limit=memory_limit,
                most_boxes=most_boxes,
            )  # fmt: skip
            methods = regression.METHODS if asked.several else METHODS
            outcome = methods[chosen](limited)
        result = self.result(outcome, asked.k, chosen, clock.gone())
        open_ = asked.several and method == "auto" and result.status == "heuristic"
        more = remark(chosen, asked) if open_ else ""
        return replace(result, remark=more) if more and not result.remark else result

    def result(self, outcome: Outcome, k: int, method: str, seconds: float) -> Result:
        """An outcome of the problem (for some k) in the user's rows and names."""
        objective = self.problem.objective
        found = make_result(self.given, self.points, k, objective, outcome, method, seconds)
        return confirm(found, self.problem.trivial_bound)


def pose(
    x: Any,
    y: Any,
    *,
    objective: str,
    data: Any = None,
    tol: Any = 1e-9,
    n_jobs: Any = None,
    seed: Any = 0,
    nan_policy: str = "raise",
    fit_intercept: bool = True,
    weights: Any = None,
) -> Question:
    """The question about all the points, with everything checked but the number to keep."""
    goal = objectives.get(objective)
    given = frames.unpack(x, y, data)
    intercept = fit_intercept
    if given.formula is not None:  # which says itself whether the plane has one
        intercept = given.formula.intercept
        if fit_intercept is not True:
            raise ValueError(
                "a formula says by '- 1' that there is no intercept; leave fit_intercept"
            )
    points = validation.read_sample(given, goal, nan_policy, weights=weights, intercept=intercept)
    validation.check_varies(points, goal)
    problem = Problem(
        points.searched_x,
        points.y,
        points.n,
        goal,
        tol=validation.tolerance(tol),
        n_jobs=validation.jobs(n_jobs),
        seed=validation.whole(seed, "seed", 0),
        weights=points.weights,
        intercept=points.intercept,
    )
    return Question(given, points, problem)


def make_result(
    given: Columns,
    points: Sample,
    k: int,
    score: Score,
    outcome: Outcome,
    method: str,
    seconds: float,
) -> Result:
    """Positions among the clean points become rows of the data as given."""
    n, several = points.n, points.several
    inside = np.zeros(n, dtype=bool)
    kept = outcome.inliers
    inside[kept if len(kept) else _first_rows(outcome, k, score, several)] = True
    mask = inside
    if n < points.given:
        mask = np.zeros(points.given, dtype=bool)
        mask[points.rows] = inside
    value = outcome.value
    if not len(outcome.inliers):
        with np.errstate(over="ignore", invalid="ignore"):
            value = _value(points, score, inside)
    if math.isinf(value):
        raise ValueError(
            f"{score.name} of the best {k} points is beyond the largest floating-point number "
            "(1.8e308): divide the columns by a constant"
        )
    return Result(
        inliers=points.rows[inside],
        outliers=points.rows[~inside],
        mask=mask,
        value=value,
        bound=outcome.bound,
        gap=max(0.0, score.sense * (outcome.bound - value)) if value == value else math.inf,
        status=outcome.status,
        objective=score.name,
        method=method,
        n=n,
        k=k,
        nodes=outcome.nodes,
        seconds=seconds,
        x=_spread(points.x.reshape(-1) if several and points.p == 1 else points.x, points),
        y=_spread(points.y, points),
        names=given.names,
        labels=given.labels,
        frame=given.frame,
        fit_intercept=points.intercept,
        weights=None if points.weights is None else _spread(points.weights, points),
        searched=points.searched,
        formula=given.formula,
        dates=date_columns(given),
    )


def _value(points: Sample, score: Score, inside: Mask) -> float:
    x, y = points.searched_x[inside], points.y[inside]
    if not points.several:
        return score.value(x, y)
    weights = None if points.weights is None else points.weights[inside]
    return fit(x, y, weights, points.intercept).value(score.name)


def _spread(values: Floats, points: Sample) -> Floats:
    """Clean values at their places among all rows given, NaN elsewhere."""
    # Copies: the user may change the columns before the line or the conic is asked for.
    if points.n == points.given:
        copy: Floats = values.copy()
        return copy
    full = np.full((points.given, *values.shape[1:]), np.nan)
    full[points.rows] = values
    return full


def _first_rows(outcome: Outcome, k: int, score: Score, several: bool) -> Ints:
    """Some rows, where a limit came before the first subset was scored."""
    if outcome.status in ("time_limit", "memory_limit", "interrupted"):
        return np.arange(k)
    which = "y" if several else "x or y"
    raise ValueError(
        f"{score.name} is undefined on every subset of {k} points: in each of them {which} is "
        "constant"
    )

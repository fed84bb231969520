"""From what the user hands over to a Problem, for whoever asks more than one thing of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from quadsweep import objectives
from quadsweep.answers.result import Result
from quadsweep.border import frames, validation
from quadsweep.border.frames import Columns
from quadsweep.border.validation import Sample
from quadsweep.methods import METHODS, Outcome, Problem
from quadsweep.methods.choice import choose
from quadsweep.solving.solve import make_result


@dataclass(frozen=True)
class Question:
    """Validated points, the problem on them, and what the columns are called."""

    given: Columns
    points: Sample
    problem: Problem

    def result(self, outcome: Outcome, k: int, method: str, seconds: float) -> Result:
        """An outcome of the problem (for some k) in the user's rows and names."""
        plain = make_result(self.points, replace(self.problem, k=k), outcome, method, seconds)
        return replace(
            plain, names=self.given.names, labels=self.given.labels, frame=self.given.frame
        )

    def solve(self, time_limit: float) -> Result:
        """The certified optimum."""
        start = time.perf_counter()
        problem = replace(self.problem, time_limit=time_limit)
        method = choose("auto", problem.objective, problem.n, problem.k)
        outcome = METHODS[method](problem)
        return self.result(outcome, problem.k, method, time.perf_counter() - start)


def pose(
    x: Any,
    y: Any,
    k: Any,
    drop: Any,
    *,
    objective: str,
    tol: Any,
    n_jobs: Any,
    seed: Any,
    nan_policy: str,
) -> Question:
    """The question, with everything checked that :func:`quadsweep.solve` checks."""
    goal = objectives.get(objective)
    given = frames.unpack(x, y)
    points = validation.sample(given.x, given.y, goal, nan_policy)
    keep = validation.keep_count(points.n, k, drop, goal)
    validation.check_varies(points, goal)
    problem = Problem(
        points.x,
        points.y,
        keep,
        goal,
        tol=validation.tolerance(tol),
        n_jobs=validation.jobs(n_jobs),
        seed=validation.whole(seed, "seed", 0),
    )
    return Question(given, points, problem)

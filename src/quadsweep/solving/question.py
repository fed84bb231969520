"""The door: what the user hands over becomes a question, a method answers it, a Result comes out.

``solve`` is this and nothing else; ``path``, ``significance``, ``stability`` and ``compare`` ask
more than one thing of the same question.
"""

from __future__ import annotations

import math
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
from quadsweep.progress import SearchProgress, watching
from quadsweep.solving.answering import make_result


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
        size = validation.keep_count(self.points.n, k, drop, self.problem.objective)
        return replace(self, problem=replace(self.problem, k=size))

    def answer(
        self,
        method: str = "auto",
        *,
        time_limit: float = math.inf,
        progress: SearchProgress = False,
        memory_limit: float = math.inf,
    ) -> Result:
        """What a method says; by default the optimum with its proof."""
        asked = self.problem
        chosen = choose(method, asked.objective, asked.n, asked.k)
        start = time.perf_counter()
        with watching(progress, asked.objective) as callback:
            limited = replace(
                asked, time_limit=time_limit, callback=callback, memory_limit=memory_limit
            )
            outcome = METHODS[chosen](limited)
        return self.result(outcome, asked.k, chosen, time.perf_counter() - start)

    def result(self, outcome: Outcome, k: int, method: str, seconds: float) -> Result:
        """An outcome of the problem (for some k) in the user's rows and names."""
        objective = self.problem.objective
        return make_result(self.given, self.points, k, objective, outcome, method, seconds)


def pose(
    x: Any,
    y: Any,
    *,
    objective: str,
    tol: Any = 1e-9,
    n_jobs: Any = None,
    seed: Any = 0,
    nan_policy: str = "raise",
) -> Question:
    """The question about all the points, with everything checked but the number to keep."""
    goal = objectives.get(objective)
    given = frames.unpack(x, y)
    points = validation.sample(given.x, given.y, goal, nan_policy)
    validation.check_varies(points, goal)
    problem = Problem(
        points.x,
        points.y,
        points.n,
        goal,
        tol=validation.tolerance(tol),
        n_jobs=validation.jobs(n_jobs),
        seed=validation.whole(seed, "seed", 0),
    )
    return Question(given, points, problem)

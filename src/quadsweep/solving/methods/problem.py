"""What every method is given and what it gives back; the one that is run by default."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.clock import Clock
from quadsweep.inputs.validation import Points
from quadsweep.least_squares import fit
from quadsweep.messages import argument
from quadsweep.objectives import Objective

Callback = Callable[[float, float, int, float], object]
CHOICES = ("auto", "certified", "sweep", "naive", "exhaustive", "concentrate")
PROVING = ("auto", "certified")  # whose answers a proof can be written for
EXHAUSTIVE_LIMIT = 20_000  # subsets that are listed
EXHAUSTIVE_ROWS = 20  # of so many rows; of more the search is quicker, except that of an ellipse


@dataclass(frozen=True)
class Problem(Points):
    """Clean points and the question asked of them.

    x is a column, or a matrix with a row for each point where there are several predictors, weights
    or no intercept.

    ``callback(value, bound, nodes, seconds)`` is called about twenty times a second; returning
    False stops the method, which then answers ``interrupted``. ``memory_limit``, in bytes, is for
    what a search has still to look at. After ``most_boxes`` a search of several predictors ends
    with what is proved by then: a limit that gives every machine the same answer.
    """

    x: Floats
    y: Floats
    k: int
    objective: Objective
    tol: float = 1e-9
    time_limit: float = math.inf
    n_jobs: int = 1
    seed: int = 0
    callback: Callback | None = None
    memory_limit: float = math.inf
    weights: Floats | None = None
    intercept: bool = True
    most_boxes: float = math.inf

    @property
    def trivial_bound(self) -> float:
        """What no R2, or no sum of squares, passes."""
        return 1.0 if self.objective.sense > 0 else 0.0

    @property
    def arrays(self) -> list[Floats]:
        """x, y and, where there are any, weights."""
        return [self.x, self.y] if self.weights is None else [self.x, self.y, self.weights]

    def changed(self, **fields: Any) -> Problem:
        """`dataclasses.replace` in a fifth of its time, which thirty points notice."""
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__, **fields)
        return other

    def of_rows(self, rows: Ints) -> Problem:
        """The same question of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return self.changed(x=self.x[rows], y=self.y[rows], weights=weights)

    def fitted(self, rows: Ints) -> float:
        """The value of the plane through some rows."""
        part = self.of_rows(rows)
        return fit(part.x, part.y, part.weights, self.intercept).value(self.objective.name)


@dataclass(frozen=True)
class Outcome:
    """A method's answer: positions of the kept points (empty if no subset has a value).

    ``status`` is one of a Result's.
    """

    inliers: Ints
    value: float
    bound: float
    status: str
    nodes: int


@dataclass(frozen=True)
class SearchOutcome(Outcome):
    """An outcome of the certified engine, with what it took.

    Attributes
    ----------
    n_evaluations : float
        Points and cells costed, all boxes together.
    decided : bool
        Whether the question is answered. With ``above``, no inliers then mean that no subset
        passes it.
    """

    n_evaluations: float
    decided: bool


class Watch:
    """When a method that is not compiled ends, and what it knows until then.

    It ends at the limit on time, or when a callback says so.
    """

    def __init__(self, problem: Problem) -> None:
        self.clock, self._callback = Clock(problem.time_limit), problem.callback
        self.value, self.bound = math.nan, problem.trivial_bound
        self.status, self.nodes, self.ended = "heuristic", 0, False
        self._turn = Clock(math.inf)

    def allow(self, seconds: float) -> None:
        """End after so many seconds from now at the latest; the status does not tell that."""
        self._turn, self.ended = Clock(seconds), False

    def goes_on(self) -> bool:
        """Whether to go on; the status says why not."""
        if self.clock.time_left() == 0:
            self.status = "time_limit"
        elif self._callback is not None:
            gone = self.clock.gone()
            if self._callback(self.value, self.bound, self.nodes, gone) is False:
                self.status = "interrupted"
        self.ended = self.status != "heuristic" or self._turn.time_left() == 0
        return not self.ended


Method = Callable[[Problem], Outcome]


def compiled(method: str, problem: Problem) -> Outcome:
    """Run a method of the compiled core."""
    return Outcome(
        *_core.solve(
            problem.x,
            problem.y,
            problem.k,
            problem.objective.name,
            method,
            problem.tol,
            problem.time_limit,
            problem.n_jobs,
            problem.seed,
            problem.callback,
            problem.memory_limit,
        )
    )


def choose(method: str, objective: Objective, n: int, k: int) -> str:
    """The method to run, or a ValueError that lists the known ones.

    >>> from quadsweep.objectives import get
    >>> choose("auto", get("r2"), 12, 6), choose("auto", get("r2"), 1000, 500)
    ('exhaustive', 'certified')
    """
    if method not in CHOICES:
        raise ValueError(
            f"{argument('method')} must be one of {', '.join(CHOICES)}; got {method!r}"
        )
    if objective.name == "var" and method == "auto":
        return "univariate"
    if method != "auto":
        return method
    listed = (n <= EXHAUSTIVE_ROWS or objective.name == "mcd") and _few_subsets(n, k)
    return "exhaustive" if listed else "certified"


def _few_subsets(n: int, k: int) -> bool:
    """C(n, k) <= EXHAUSTIVE_LIMIT, without the millions of digits it may have."""
    count = 1
    for i in range(min(k, n - k)):
        count = count * (n - i) // (i + 1)
        if count > EXHAUSTIVE_LIMIT:
            return False
    return True

"""What a report says: the best subset for every number of points dropped, and its company."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep import objectives, validation
from quadsweep.result import Result
from quadsweep.solve import solve

Floats = NDArray[np.float64]

MOST_STEPS = 60  # positions of the slider


@dataclass(frozen=True)
class Noise:
    """What permuted data reach at each step: quantiles of the best value."""

    low: list[float]
    middle: list[float]
    high: list[float]
    permutations: int


@dataclass(frozen=True)
class Report:
    """Everything on the page.

    Attributes
    ----------
    steps : one Result for each position of the slider, fewest dropped first.
    start : which of them is the answer asked for.
    noise, p_value : what noise alone reaches, and how often it reaches the answer.
    comparison : rows of a table of other methods, by column.
    notes : sentences about what to beware of.
    source, command : where the data come from and what was asked.
    """

    steps: list[Result]
    start: int
    source: str
    command: str
    noise: Noise | None = None
    p_value: float | None = None
    comparison: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def answer(self) -> Result:
        return self.steps[self.start]


def drops_for(n: int, least: int, asked: int | None) -> list[int]:
    """Numbers of points to drop: from none to half, and what was asked for, at most MOST_STEPS.

    >>> drops_for(10, 3, None)
    [0, 1, 2, 3, 4, 5]
    """
    most = max(min(n // 2, n - least), 0 if asked is None else asked)
    spaced = np.unique(np.linspace(0, most, min(most + 1, MOST_STEPS)).round().astype(int))
    return sorted({int(m) for m in spaced} | ({asked} if asked is not None else set()))


def gather(
    x: Any,
    y: Any,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    method: str = "auto",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    names: tuple[str, str] = ("x", "y"),
    labels: Sequence[Any] | None = None,
    source: str = "",
    command: str = "",
    progress: Callable[[str, float], object] | None = None,
) -> Report:
    """Solve everything the page shows.

    Parameters
    ----------
    x, y, k, drop, objective, method, time_limit, n_jobs, seed :
        As in :func:`quadsweep.solve`; rows with missing values are left out.
    names, labels, source, command :
        Text for the page.
    progress : callable, optional
        Given what is being done and the share that is done.
    """
    goal = objectives.get(objective)
    points = validation.sample(x, y, goal, "omit")
    asked = None
    if k is not None or drop is not None:
        asked = points.n - validation.keep_count(points.n, k, drop, goal)
    drops = drops_for(points.n, goal.min_k, asked)
    steps: list[Result] = []
    for i, m in enumerate(drops):
        if progress is not None:
            progress("solving", i / len(drops))
        result = solve(
            x,
            y,
            drop=m,
            objective=objective,
            method=method,
            time_limit=time_limit,
            n_jobs=n_jobs,
            seed=seed,
            nan_policy="omit",
        )
        steps.append(replace(result, names=names, labels=labels))
    start = drops.index(asked) if asked is not None else _largest_gain(steps)
    return Report(steps, start, source, command, notes=_notes(steps[start]))


def _largest_gain(steps: list[Result]) -> int:
    """The step that gains most over the one before it."""
    gains = [abs(after.value - before.value) for before, after in itertools.pairwise(steps)]
    return 1 + int(np.nanargmax(gains)) if gains and not all(map(math.isnan, gains)) else 0


def _notes(answer: Result) -> list[str]:
    notes = [answer.message, answer.caution() + "."]
    return [note[0].upper() + note[1:] for note in notes if note]

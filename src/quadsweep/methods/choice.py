"""Which method answers when the caller leaves the choice to us."""

from __future__ import annotations

import math

from quadsweep.objectives import Objective

CHOICES = ("auto", "certified", "sweep", "naive", "exhaustive", "concentrate")
EXHAUSTIVE_LIMIT = 20_000  # subsets that take less time than the engine's start


def choose(method: str, objective: Objective, n: int, k: int) -> str:
    """The method to run, or a ValueError that lists the known ones.

    >>> from quadsweep.objectives import get
    >>> choose("auto", get("r2"), 12, 6), choose("auto", get("r2"), 1000, 500)
    ('exhaustive', 'certified')
    """
    if method not in CHOICES:
        raise ValueError(f"method must be one of {', '.join(CHOICES)}; got {method!r}")
    if objective.name == "var" and method == "auto":
        return "univariate"
    if method != "auto":
        return method
    return "exhaustive" if math.comb(n, k) <= EXHAUSTIVE_LIMIT else "certified"

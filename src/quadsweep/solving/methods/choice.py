"""Which method answers when the caller leaves the choice to us."""

from __future__ import annotations

from quadsweep.messages import argument
from quadsweep.objectives import Objective

CHOICES = ("auto", "certified", "sweep", "naive", "exhaustive", "concentrate")
PROVING = ("auto", "certified")  # whose answers a proof can be written for
EXHAUSTIVE_LIMIT = 20_000  # subsets that are listed
EXHAUSTIVE_ROWS = 20  # of so many rows; of more the search is quicker, except that of an ellipse


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

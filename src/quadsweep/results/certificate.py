"""What is proved about the best k of n points, in words."""

from __future__ import annotations

import math

from quadsweep.objectives import OBJECTIVES
from quadsweep.results.formatting import ResultMixin

CERTIFICATE = {
    "optimal": "proved: no other {k:,} of these {n:,} points do better",
    "best_separable": "the best of the subsets that a conic cuts off; others were not looked at",
    "heuristic": "a good subset, with no proof that it is the best",
    "time_limit": "the time limit stopped the search; the best subset so far",
    "memory_limit": "the memory limit stopped the search; the best subset so far",
    "interrupted": "interrupted; the best subset so far",
}


def caution(objective: str, k: int, n: int) -> str:
    """The caution about the best k of n points; nothing where no point was dropped."""
    if k == n:
        return ""
    share = k / n
    if objective in ("r2", "r") and share < 0.75:
        return (
            f"the best {share:.0%} of pure noise also look like a line; see quadsweep.significance"
        )
    goal = OBJECTIVES.get(objective)
    aim = "optimise" if goal is None else "maximise" if goal.sense > 0 else "minimise"
    title = objective if goal is None else goal.title
    return f"rows were selected to {aim} {title}; standard p-values are invalid"


class Certified(ResultMixin):
    """A result about the best k of n points: what its status means."""

    status: str
    objective: str
    n: int
    k: int
    value: float
    bound: float
    gap: float

    def _head_items(self, before: float) -> list[tuple[str, str]]:
        """What is kept, its value and that of all points ``before``, what is proved, the bound."""
        whole = f"   (all {self.n:,} points: {before:.6g})"
        every = "" if self.k == self.n or math.isnan(before) else whole
        lines = [
            ("kept", f"{self.k:,} of {self.n:,} points"),
            (self.title, f"{self.value:.6g}{every}"),
            ("certificate", self.certificate),
        ]
        if self.status != "optimal" and math.isfinite(self.bound):
            lines.append(("bound", f"{self.bound:.6g}   (gap {self.gap:.3g})"))
        return lines

    @property
    def success(self) -> bool:
        """True if the answer is proved to be the best."""
        return self.status == "optimal"

    @property
    def certificate(self) -> str:
        """What is proved, in words."""
        if self.success and self.k == self.n:
            return f"nothing to choose: all {self.n:,} points are kept"
        return CERTIFICATE[self.status].format(k=self.k, n=self.n)

    @property
    def title(self) -> str:
        """How people write the objective."""
        known = OBJECTIVES.get(self.objective)
        return self.objective if known is None else known.title

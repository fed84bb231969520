"""How many rows stand out of a line: the gain of dropping them against what a clean line gains.

The statistic at size k is what dropping to k gains over keeping all n, on a scale without units:
artanh r for r2 and r, minus the log of the residual sum of squares for lts. It is compared with the
same path, solved exactly, on draws from a clean line (`clean_line`), and corrected for all sizes
looked at as in `path_significance`.

If some size stands out, its rows are taken away and the rest is asked again (as in the generalised
ESD test), until nothing does. Where there is no outlier, a first step is taken with the error rate
of one test; every further one is again a test at that level of the rows that remain. Only the
decision of those counts, so they end when no more draws can change it: once at every size 5% of all
draws gain as much, so many have a least p-value that is no larger than that of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.choosing.clean_line import NORMAL, UNKNOWN, fit_clean_line
from quadsweep.choosing.p_values import FEWEST, SIGNIFICANT, no_verdict
from quadsweep.choosing.path_significance import (
    PathSignificance,
    corrected_p_values,
    null_paths,
    optima,
)
from quadsweep.clock import Clock
from quadsweep.messages import argument
from quadsweep.progress import Tick
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.regression.certified import MOST
from quadsweep.solving.methods.spreading import HERE, Executor

OBJECTIVES = ("r2", "r", "lts")
LAWS = {"line": UNKNOWN, "normal": NORMAL}  # the null's name, and the odds of its noise
_FEWEST = 8  # rows a line is fitted to and asked about; one more for each further predictor


def check_line(objective: str, null: str) -> None:
    """Only where the objective is about a line."""
    if objective not in OBJECTIVES:
        raise ValueError(
            f"{argument('null', null)} goes with the objectives {', '.join(OBJECTIVES)}; "
            f"got {objective!r}"
        )


def check_plane(problem: Problem, null: str) -> None:
    """Only rows that count alike, and as many predictors as a draw's path can be proved for."""
    if problem.weights is not None:
        raise ValueError(
            f"{argument('null', null)} takes no weights; {argument('null', 'shuffled')} does"
        )
    if problem.p > MOST:
        raise ValueError(
            f"{argument('null', null)} proves the path of every draw, up to {MOST} predictors; "
            f"got {problem.p}"
        )


@dataclass(frozen=True, eq=False)
class LineSignificance(PathSignificance):
    """A path beside the paths of clean lines, or planes, with the noise of the data.

    The attributes are those of :class:`PathSignificance`, with draws in the place of shuffles:
    ``p_value`` and ``corrected`` compare what dropping points gains, not the values themselves.

    Attributes
    ----------
    n_outliers : int or None
        How many rows are outliers from the line; 0 if none are, None if too few lines were drawn
        to say.
    normal : float
        How much of the null is normal noise; the rest has the heavier tails of Student's t.
    law : str
        ``line``: the tails are learned from the data. ``normal``: they are known to be normal.
    plane : bool
        Whether there are several predictors.
    """

    about: ClassVar[str] = "of any outlier"
    drawn: ClassVar[str] = "draws"

    n_outliers: int | None = 0
    normal: float = 1.0
    law: str = "line"
    plane: bool = False

    def verdict(self, advice: str | None = None) -> str:
        """How many rows are outliers, and how often a clean line gains as much."""
        done, clean, surface = len(self.null), self._clean(), "plane" if self.plane else "line"
        if self.n_outliers is None:
            return no_verdict(done, self.drawn)
        if self.n_outliers == 0 and self.overall <= SIGNIFICANT:
            return (
                f"outliers cannot be counted: the {self.k.min():,} rows of the smallest subset lie "
                f"on a {surface} exactly, and beside a {surface} without noise every other row "
                "stands out"
            )
        if self.n_outliers == 0:
            return (
                f"no outliers: {clean} gains as much by dropping as many "
                f"somewhere on the path (p = {self.overall:.3g}, corrected for "
                f"{self._compared():,} sizes)"
            )
        at = int(np.flatnonzero(self.n - self.k == self.n_outliers)[0])
        often = round(float(self.p_value[at]) * (done + 1)) - 1
        rows = "1 outlier" if self.n_outliers == 1 else f"{self.n_outliers:,} outliers"
        return (
            f"{rows}: {clean} gains as much by dropping "
            f"{self.n_outliers:,} in {often:,} of {done:,} draws "
            f"(p = {self.overall:.3g}, corrected for {self._compared():,} sizes)"
        )

    def _clean(self) -> str:
        noise = "normal" if self.law == "normal" else "this"
        return f"a clean {'plane' if self.plane else 'line'} of {noise} noise"

    def _compared(self) -> int:
        return int((self.k < self.n).sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            **super().to_dict(),
            "null": self.law,
            "n_outliers": self.n_outliers,
            "normal": self.normal,
        }


def clean_paths(
    problem: Problem,
    law: str,
    k: Ints,
    observed: Floats,
    masks: Mask,
    permutations: int,
    clock: Clock,
    tick: Tick,
    helpers: Executor = HERE,
) -> LineSignificance:
    """The test of all rows, then of what is left without those that stand out, and so on."""
    start = clock.gone()
    sizes, values = _from_all(problem, k, observed)
    drawn = partial(null_paths, permutations=permutations, clock=clock, tick=tick, helpers=helpers)
    first = step = _test(problem, law, sizes, values, masks[-1], permutations, clock, drawn)
    found = 0
    while len(step.null) == permutations and step.overall <= SIGNIFICANT:
        further_out = int(step.n - step.k[_most_surprising(step)])
        if further_out == 0:
            break  # draws without noise are all alike: no size is farther above them than another
        found += further_out
        rows = np.flatnonzero(masks[problem.n - k == found][0])
        further = k[k < len(rows)]
        if len(further) == 0 or len(rows) < _FEWEST + problem.p - 1:
            break
        rest = replace(problem.of_rows(rows), seed=problem.seed + found)
        part = optima(rest, further, rest.y[None], clock, helpers)
        if part is None:
            break
        smallest = masks[k == further[-1]][0]
        fewer, best = _from_all(rest, further, part[0])
        settled = partial(_settled, best, rest.objective.name, permutations)
        more = partial(drawn, settled=settled)
        step = _test(rest, law, fewer, best, smallest[rows], permutations, clock, more)
    extra = len(sizes) - len(k)
    return replace(
        first,
        k=k,
        observed=observed,
        null=first.null[:, extra:],
        p_value=first.p_value[extra:],
        corrected=first.corrected[extra:],
        n_outliers=found if len(first.null) >= FEWEST else None,
        seconds=clock.gone() - start,
    )


def _from_all(problem: Problem, k: Ints, observed: Floats) -> tuple[Ints, Floats]:
    """The sizes and their values, all rows first: that is what a gain is measured from."""
    if k[0] == problem.n:
        return k, observed
    if problem.several:
        whole = problem.fitted(np.arange(problem.n))
    else:
        whole = problem.objective.value(problem.x, problem.y)
    return np.concatenate([[problem.n], k]), np.concatenate([[whole], observed])


def _most_surprising(step: LineSignificance) -> int:
    """The size with the least corrected p-value; of equals, the farthest above the draws."""
    best = step.corrected == step.corrected.min()
    gain, gains = _gains(step.observed, step.objective), _gains(step.null, step.objective)
    with np.errstate(invalid="ignore", divide="ignore"):
        far = (gain - gains.mean(axis=0)) / gains.std(axis=0, ddof=1)
    return int(np.argmax(np.where(best & np.isfinite(far), far, -np.inf)))


def _test(
    problem: Problem,
    law: str,
    k: Ints,
    observed: Floats,
    kept: Mask,
    permutations: int,
    clock: Clock,
    drawn: Callable[..., Floats],
) -> LineSignificance:
    """One test: does any size gain more than it does on clean lines?

    ``drawn`` is :func:`null_paths` with the number of draws, their limits and who searches them.
    """
    line = fit_clean_line(problem.x, problem.y, kept, problem.intercept, LAWS[law])
    rng = np.random.default_rng(problem.seed)
    null = drawn(problem, k, lambda count: line.draws(rng, count))
    name = problem.objective.name
    p_value, corrected = corrected_p_values(
        _gains(observed, name), _gains(null, name), np.zeros(len(k)), sense=1
    )
    return LineSignificance.of(
        problem, k, observed, null, p_value, corrected, permutations, clock,
        normal=line.normal, law=law, plane=problem.p > 1,
    )  # fmt: skip


def _settled(observed: Floats, objective: str, permutations: int, null: Floats) -> bool:
    """Whether the corrected p-value is above 5% whatever further draws bring."""
    reached = (_gains(null, objective) >= _gains(observed, objective)).sum(axis=0)
    return bool(reached.min() + 1 > SIGNIFICANT * (permutations + 1))


def _gains(values: Floats, objective: str) -> Floats:
    """What each size gains over all rows, which come first; larger is better."""
    if objective == "lts":
        scaled = -np.log(np.maximum(values, np.finfo(float).tiny))
    else:
        r = np.sqrt(np.maximum(values, 0)) if objective == "r2" else values
        scaled = np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15))
    gains: Floats = scaled - scaled[..., :1]
    return gains

"""Null data, their optima and p-values: what all tests share.

Null data are y in random order, or draws from a clean line (`clean_line`). Draw number i depends on
the seed alone, not on how many are made at a time or who solves them.

With the real data as number 0 and draws 1..B, let T_i(k) be the optimum of data set i at k. For one
k, fixed in advance, the p-value is the share of data sets that do at least as well:

    p_i(k) = #{j : T_j(k) >= T_i(k)} / (B + 1)

Whoever looks at many k and picks the best one must be compared with draws that may do the same.
The statistic of a data set is then its smallest p-value, m_i = min over k of p_i(k) (Westfall and
Young's min-p: a maximum over k of statistics made comparable by their own null), and

    corrected(k) = #{i : m_i <= p_0(k)} / (B + 1).

The data sets 0..B are exchangeable if the null holds, so P(min corrected <= u) <= u for any
dependence between the sizes, with no approximation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.clock import Clock
from quadsweep.progress import Tick
from quadsweep.results.formatting import ResultMixin
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, lowered
from quadsweep.solving.methods.parallel_batches import HERE, Executor

UNREMARKABLE = 0.1  # above this a p-value is called so
SIGNIFICANT = 0.05
FEWEST = math.ceil(1 / SIGNIFICANT) - 1  # draws: the least p-value of fewer is above 5%

_STATUSES = {
    "finished": "all {asked:,} {what}",
    "time_limit": "the time limit came after {done:,} of {asked:,} {what}",
    "interrupted": "interrupted after {done:,} of {asked:,} {what}",
}
_BLOCK_SECONDS = 0.3  # about how long a block should take: the display and Ctrl-C wait for it
_BLOCK_NUMBERS = 5_000_000  # at most so many numbers in a block


def explain_no_verdict(done: int, what: str = "shuffles") -> str:
    """Return why so few draws allow no verdict; empty if there are enough.

    >>> explain_no_verdict(5)
    'no verdict from 5 shuffles: a p-value of 0.05 takes at least 19'
    """
    if done >= FEWEST:
        return ""
    made = f"{done or 'no'} {what.removesuffix('s') if done == 1 else what}"
    return f"no verdict from {made}: a p-value of {SIGNIFICANT} takes at least {FEWEST}"


def describe_p_value(p: float) -> str:
    """Return whether a p-value is unremarkable, borderline, or small; NaN allows no verdict.

    >>> [describe_p_value(p) for p in (0.3, 0.07, 0.01)]
    ['unremarkable', 'borderline', 'more than noise gives']
    """
    if math.isnan(p):
        return "no verdict"
    if p > UNREMARKABLE:
        return "unremarkable"
    return "borderline" if p > SIGNIFICANT else "more than noise gives"


@dataclass(frozen=True, eq=False)
class NullComparison(ResultMixin):
    """What every test has: how many draws were asked for and made, and what the p-value means."""

    objective: str
    n: int
    permutations: int
    status: str
    seed: int
    seconds: float

    if TYPE_CHECKING:
        null: Floats

        @property
        def overall(self) -> float:
            """The p-value that the verdict is about."""

    @property
    def done(self) -> int:
        """Draws made."""
        return len(self.null)

    @property
    def drawn(self) -> str:
        """The noun for the draws in messages."""
        return "shuffles"

    @property
    def word(self) -> str:
        """``unremarkable``, ``borderline``, ``more than noise gives`` or ``no verdict``."""
        return "no verdict" if self.missing else describe_p_value(self.overall)

    @property
    def missing(self) -> str:
        """Why there is no verdict; empty if there is one."""
        return explain_no_verdict(self.done, self.drawn)

    @property
    def is_noise(self) -> bool:
        """Whether there is a verdict, and 5% of null data or more do as well."""
        return not self.missing and self.overall > SIGNIFICANT

    def describe_draws(self) -> tuple[str, str]:
        """Return the line of the summary about the draws."""
        status = "finished" if self.done == self.permutations else self.status
        text = _STATUSES[status].format(done=self.done, asked=self.permutations, what=self.drawn)
        return (self.drawn, f"{text}, seed {self.seed}")


# ---- draws and their optima ----------------------------------------------------------------------


def shuffle(y: Floats, rng: np.random.Generator, count: int) -> Floats:
    """Return ``count`` rows, each y in random order.

    >>> shuffle(np.arange(4.0), np.random.default_rng(0), 2)
    array([[2., 0., 1., 3.],
           [3., 2., 1., 0.]])
    """
    return np.array([rng.permutation(y) for _ in range(count)])


def check_pairs(objective: str) -> str:
    """Refuse an objective of x alone: shuffling y must change something."""
    if objectives.get(objective).name == "var":
        raise ValueError("shuffling y needs an objective of both columns; 'var' uses x alone")
    return objective


def split_blocks(
    total: int, n: int, clock: Clock, tick: Tick, fixed: int | None = None
) -> Iterator[int]:
    """Yield sizes of blocks that add up to ``total``, of about the same time or all ``fixed``.

    Ends early when the time is up or the callback returns False. The caller works on a block before
    it asks for the next one.
    """
    done, size = 0, fixed or 8
    most = max(1, _BLOCK_NUMBERS // n)
    while done < total:
        size = min(size, most, total - done)
        before = clock.gone()
        yield size
        done += size
        seconds = max(clock.gone() - before, 1e-6)
        if tick(done, total, clock.gone()) is False or clock.time_left() == 0:
            return
        if fixed is None:
            size = int(np.clip(size * _BLOCK_SECONDS / seconds, 1, 4 * size))


@dataclass(frozen=True)
class NullSearch:
    """How draws are made and searched: their number, the limits, and who searches."""

    permutations: int
    clock: Clock
    tick: Tick
    helpers: Executor = HERE

    def collect(
        self,
        n: int,
        width: int,
        draw: Callable[[int], Floats],
        ask: Callable[[Floats], Floats],
        is_enough: Callable[[Floats], bool] | None = None,
    ) -> Floats:
        """Return one row for every draw, in order; fewer after a limit, Ctrl-C, or when enough.

        ``draw`` makes so many data sets, ``ask`` returns the rows of the first of them that a limit
        left time for.
        """
        rows = [np.empty((0, width))]
        blocks = split_blocks(self.permutations, n, self.clock, self.tick, self.helpers.block(n))
        try:
            for size in blocks:
                rows.append(ask(draw(size)))
                if len(rows[-1]) < size or (is_enough and is_enough(np.concatenate(rows))):
                    break
        except KeyboardInterrupt:
            pass
        return np.concatenate(rows)

    def solve_sizes(self, problem: Problem, k: Ints, ys: Floats) -> Floats:
        """Return the optima, a row for every data set and a column for every k.

        After a limit: of one size those of the first data sets, of several sizes none.
        """
        out = np.empty((len(ys), len(k)))
        for column, size in enumerate(k.tolist()):
            batch = Batch.from_problem(problem, problem.x, ys, self.clock.time_left(), size)
            found = self.helpers.solve(batch)
            out[:, column] = found.values
            if not found.finished.all():
                return out[: count_leading(found.finished) if len(k) == 1 else 0]
        return out


def count_leading(good: Mask) -> int:
    """Count how many from the start are good."""
    return len(good) if good.all() else int(np.argmin(good))


# ---- p-values ------------------------------------------------------------------------------------


def find_slack(problem: Problem, k: Ints, observed: Floats) -> Floats:
    """Return how close values are ties: twice the tolerance, in the objective's units."""
    out = np.zeros(len(k))
    for i in np.flatnonzero(np.isfinite(observed)):
        value = float(observed[i])
        out[i] = abs(value - lowered(replace(problem, k=int(k[i])), value))
    return out


def corrected_p_values(
    observed: Floats, null: Floats, slack: Floats, sense: int
) -> tuple[Floats, Floats]:
    """Return pointwise and corrected p-values of the first of B + 1 data sets; NaN where B is 0."""
    if len(null) == 0:
        return np.full(len(observed), np.nan), np.full(len(observed), np.nan)
    everyone = sense * np.vstack([observed, null])
    everyone = np.where(np.isnan(everyone), -np.inf, everyone)
    total = len(everyone)
    p = np.empty_like(everyone)
    for column, values in enumerate(everyone.T):
        worse = np.searchsorted(np.sort(values), values - slack[column], side="left")
        p[:, column] = (total - worse) / total
    smallest = np.sort(p.min(axis=1))
    corrected: Floats = np.searchsorted(smallest, p[0] + 1e-12, side="right") / total
    return p[0], corrected

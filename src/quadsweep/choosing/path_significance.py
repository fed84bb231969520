"""P-values along a whole path, corrected for having looked at many k.

With the real data as number 0 and shuffles 1..B, let T_i(k) be the optimum of data set i at k. For
one k, fixed in advance, the p-value is the share of data sets that do at least as well:

    p_i(k) = #{j : T_j(k) >= T_i(k)} / (B + 1)

Whoever looks at many k and picks the best one must be compared with shuffles that may do the same.
The statistic of a data set is then its smallest p-value, m_i = min over k of p_i(k) (Westfall and
Young's min-p: a maximum over k of statistics made comparable by their own null), and

    corrected(k) = #{i : m_i <= p_0(k)} / (B + 1).

The data sets 0..B are exchangeable if x and y are independent, so P(min corrected <= u) <= u for
any dependence between the sizes, with no approximation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.choosing.p_values import SIGNIFICANT, STATUSES, UNREMARKABLE, in_words, no_verdict
from quadsweep.choosing.shuffles import blocks, shuffled
from quadsweep.clock import Clock
from quadsweep.messages import argument
from quadsweep.progress import Tick
from quadsweep.results.formatting import ResultMixin, as_frame, attributes, drawn_by, plain
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.batch import Batch, lowered
from quadsweep.solving.methods.spreading import HERE, Executor

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class PathSignificance(ResultMixin):
    """The optima of shuffled data for every k of a path.

    Attributes
    ----------
    k : array of ints
    observed : array of floats
        The optima of the data.
    null : array of shape (shuffles, sizes)
        The optima of the shuffles; NaN where undefined.
    p_value : array of floats
        For one k that was fixed in advance; NaN if no shuffle was made, as is ``corrected``.
    corrected : array of floats
        For a k that was picked after looking at all of them.
    permutations, seed : int
        Shuffles asked for; ``len(null)`` were made.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    objective : str
    n : int
        Points considered.
    seconds : float
    """

    about: ClassVar[str] = "of the path as a whole"
    drawn: ClassVar[str] = "shuffles"

    k: Ints
    observed: Floats
    null: Floats
    p_value: Floats
    corrected: Floats
    permutations: int
    seed: int
    status: str
    objective: str
    n: int
    seconds: float

    @property
    def overall(self) -> float:
        """The p-value of the path as a whole: the smallest of the corrected ones."""
        return float(self.corrected.min())

    @property
    def word(self) -> str:
        """``unremarkable``, ``borderline``, ``more than noise gives`` or ``no verdict``."""
        return in_words(math.nan if no_verdict(len(self.null)) else self.overall)

    @property
    def is_noise(self) -> bool:
        """Whether enough shuffles were made and 5% of them, or more, do as well."""
        return not no_verdict(len(self.null)) and self.overall > SIGNIFICANT

    @property
    def distance(self) -> Floats:
        """Standard deviations of the shuffled values between their mean and the observed one.

        For ``r2`` and ``r`` on Fisher's scale, artanh r, where spreads at different k compare.
        """
        if len(self.null) < 2:
            return np.full(len(self.k), -np.inf)
        sense = objectives.get(self.objective).sense
        null, observed = self._scaled(self.null), self._scaled(self.observed)
        with np.errstate(invalid="ignore", divide="ignore"):
            far = sense * (observed - null.mean(axis=0)) / null.std(axis=0, ddof=1)
        return np.where(np.isfinite(far), far, -np.inf)

    def _scaled(self, values: Floats) -> Floats:
        if self.objective not in ("r2", "r"):
            return values
        r = np.sqrt(values) if self.objective == "r2" else values
        fisher: Floats = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))
        return fisher

    @classmethod
    def of(
        cls,
        problem: Problem,
        k: Ints,
        observed: Floats,
        null: Floats,
        p_value: Floats,
        corrected: Floats,
        permutations: int,
        clock: Clock,
        start: float = 0.0,
        **more: Any,
    ) -> Self:
        """From the draws that a clock left time for, the first at ``start``."""
        status = "finished" if len(null) == permutations else clock.ended()
        return cls(
            k, observed, null, p_value, corrected, permutations, problem.seed, status,
            problem.objective.name, problem.n, clock.gone() - start, **more,
        )  # fmt: skip

    def band(self, share: float = 0.9) -> tuple[Floats, Floats, Floats]:
        """For every k what shuffled data reach: low, median, high, with ``share`` in between."""
        tail = (1 - share) / 2
        if len(self.null) == 0:
            nothing = np.full(len(self.k), np.nan)
            return nothing, nothing, nothing
        low, middle, high = np.quantile(self.null, [tail, 0.5, 1 - tail], axis=0)
        return low, middle, high

    def verdict(self, advice: str | None = None) -> str:
        """The overall p-value in words; where it is small, with what to ask next."""
        if few := no_verdict(len(self.null), self.drawn):
            return few
        p = f"(p = {self.overall:.3g}, corrected for {len(self.k):,} sizes)"
        if self.overall > UNREMARKABLE:
            return f"unremarkable {p}: with y shuffled the path does as well somewhere"
        if self.overall > SIGNIFICANT:
            return f"borderline {p}: with y shuffled the path does as well now and then"
        next_question = argument("null", "line") if advice is None else advice
        return (
            f"x and y go together, more than noise gives {p}; how many points to drop "
            f"is another question{next_question and ': '}{next_question}"
        )

    def summary_items(self) -> list[tuple[str, str]]:
        done = STATUSES[self.status].format(done=len(self.null), asked=self.permutations)
        return [
            ("sizes", f"{len(self.k):,}, from k = {self.k[0]:,} to {self.k[-1]:,}"),
            ("p-value", f"{self.overall:.4g}   ({self.about})" if len(self.null) else "not known"),
            ("verdict", self.verdict()),
            (self.drawn, f"{done.replace('shuffles', self.drawn)}, seed {self.seed}"),
        ]

    plot = drawn_by(
        "path.plot_path_significance",
        "Observed values against points kept, over what shuffled data reach.",
    )

    def to_frame(self) -> Any:
        """One row for every k, in pandas (or polars where that is what there is)."""
        low, middle, high = self.band()
        return as_frame(
            {
                "k": self.k,
                "observed": self.observed,
                "p_value": self.p_value,
                "corrected": self.corrected,
                "low": low,
                "middle": middle,
                "high": high,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        band = zip(("low", "middle", "high"), plain(self.band()), strict=True)
        return {
            **attributes(self, "objective n k observed p_value corrected overall"),
            "verdict": self.verdict(),
            **dict(band),
            "permutations": self.permutations,
            "done": len(self.null),
            **attributes(self, "status seed seconds"),
        }


def shuffled_paths(
    problem: Problem,
    k: Ints,
    observed: Floats,
    permutations: int,
    clock: Clock,
    tick: Tick,
    helpers: Executor,
) -> PathSignificance:
    """The path of every shuffle."""
    start = clock.gone()
    rng = np.random.default_rng(problem.seed)
    null = null_paths(
        problem,
        k,
        lambda count: shuffled(problem.y, rng, count),
        permutations,
        clock,
        tick,
        helpers=helpers,
    )
    p_value, corrected = corrected_p_values(
        observed, null, _slack(problem, k, observed), problem.objective.sense
    )
    drawn = (k, observed, null, p_value, corrected, permutations)
    return PathSignificance.of(problem, *drawn, clock, start)


def never(null: Floats) -> bool:
    """No draws settle the question: all that were asked for are made."""
    return False


def null_paths(
    problem: Problem,
    k: Ints,
    draw: Callable[[int], Floats],
    permutations: int,
    clock: Clock,
    tick: Tick,
    settled: Callable[[Floats], bool] = never,
    helpers: Executor = HERE,
) -> Floats:
    """The optima of drawn data, one row for every draw: whole ones only, fewer under a limit.

    Fewer also if those drawn so far settle the question.
    """
    rows: list[Floats] = [np.empty((0, len(k)))]
    try:
        for size in blocks(permutations, problem.n, clock, tick, helpers.block(problem.n)):
            block = optima(problem, k, draw(size), clock, helpers)
            if block is None:
                break
            rows.append(block)
            if settled(np.concatenate(rows)):
                break
    except KeyboardInterrupt:
        pass
    return np.concatenate(rows)


def optima(
    problem: Problem, k: Ints, ys: Floats, clock: Clock, helpers: Executor = HERE
) -> Floats | None:
    """One row for every data set, one column for every k; None if a limit came first."""
    out = np.empty((len(ys), len(k)))
    for column, size in enumerate(k.tolist()):
        found = helpers.solve(Batch.like(problem, problem.x, ys, clock.left(), size))
        if not found.finished.all():
            return None
        out[:, column] = found.values
    return out


def _slack(problem: Problem, k: Ints, observed: Floats) -> Floats:
    """Values this close are ties: twice the tolerance, in the objective's units."""
    out = np.zeros(len(k))
    for i in np.flatnonzero(np.isfinite(observed)):
        value = float(observed[i])
        out[i] = abs(value - lowered(replace(problem, k=int(k[i])), value))
    return out


def corrected_p_values(
    observed: Floats, null: Floats, slack: Floats, sense: int
) -> tuple[Floats, Floats]:
    """Pointwise and corrected p-values of the first of B + 1 data sets; NaN where B is 0."""
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

"""P-values along a whole path, over shuffled data or over clean lines.

Over shuffled data the statistic is the optimum itself: do x and y go together at all?

Over draws from a clean line (`clean_line`) it is what dropping to k gains over keeping all n, on a
scale without units: artanh r for r2 and r, minus the log of the residual sum of squares for lts.
That asks how many rows stand out. If some size does, its rows are taken away and the rest is asked
again (as in the generalised ESD test), until nothing does. Where there is no outlier, a first step
is taken with the error rate of one test; every further one is again a test at that level of the
rows that remain. Only the decision of those counts, so they end when no more draws can change it:
once at every size 5% of all draws gain as much, the least p-value is no smaller than 5%.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.choosing.clean_line import NORMAL, UNKNOWN, fit_clean_line
from quadsweep.choosing.nulls import (
    FEWEST,
    SIGNIFICANT,
    UNREMARKABLE,
    NullComparison,
    NullSearch,
    corrected_p_values,
    find_slack,
    shuffle,
)
from quadsweep.messages import argument
from quadsweep.results.formatting import drawn_by
from quadsweep.solving.methods import Problem
from quadsweep.solving.methods.regression.certified import MOST

LINES = ("r2", "r", "lts")  # the objectives about a line
LAWS = {"line": UNKNOWN, "normal": NORMAL}  # the null's name, and the odds of its noise
_LEAST_ROWS = 8  # rows a line is fitted to and asked about; one more for each further predictor


def check_line(objective: str, null: str) -> None:
    """Refuse an objective that is not about a line."""
    if objective not in LINES:
        raise ValueError(
            f"{argument('null', null)} goes with the objectives {', '.join(LINES)}; "
            f"got {objective!r}"
        )


def check_plane(problem: Problem, null: str) -> None:
    """Refuse weights, and more predictors than the path of a draw can be proved for."""
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
class PathSignificance(NullComparison):
    """The optima of null data for every k of a path.

    Attributes
    ----------
    k : array of ints
    observed : array of floats
        The optima of the data.
    null : array of shape (draws, sizes)
        The optima of the draws; NaN where undefined.
    p_value : array of floats
        P-values for a k that was fixed in advance; NaN if no draw was made. With a clean line as
        the null they compare the gain from dropping points, not the values.
    corrected : array of floats
        P-values for a k that was chosen after looking at all of them.
    law : str
        The null: ``shuffled`` (y in random order), ``line`` (a clean line with noise estimated from
        the data) or ``normal`` (a clean line with normal noise).
    n_outliers : int or None
        How many rows are outliers from the line (as far as counted before a limit); None with
        shuffled data, or if too few lines were drawn.
    normal : float or None
        The share of normal noise in clean lines; the rest has Student's tails.
    plane : bool
        True with several predictors.
    permutations, seed : int
        Draws requested; ``done`` were made.
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    objective : str
    n : int
        Points considered.
    seconds : float
    """

    json_fields = (
        "objective n k observed p_value corrected overall verdict low middle high permutations "
        "done status seed seconds null=law n_outliers normal"
    )
    frame_fields = "k observed p_value corrected low middle high"

    k: Ints
    observed: Floats
    null: Floats
    p_value: Floats
    corrected: Floats
    law: str = "shuffled"
    n_outliers: int | None = None
    normal: float | None = None
    plane: bool = False

    @property
    def drawn(self) -> str:
        """The noun for the draws in messages."""
        return "shuffles" if self.law == "shuffled" else "draws"

    @property
    def overall(self) -> float:
        """The p-value of the path as a whole: the smallest of the corrected ones."""
        return float(self.corrected.min())

    @property
    def low(self) -> Floats:
        """The 5% quantile of null data."""
        return self.band()[0]

    @property
    def middle(self) -> Floats:
        """The median of null data."""
        return self.band()[1]

    @property
    def high(self) -> Floats:
        """The 95% quantile of null data."""
        return self.band()[2]

    def band(self, share: float = 0.9) -> tuple[Floats, Floats, Floats]:
        """Return low, median, high of the null data per k, with ``share`` between the ends."""
        tail = (1 - share) / 2
        if self.done == 0:
            nothing = np.full(len(self.k), np.nan)
            return nothing, nothing, nothing
        low, middle, high = np.quantile(self.null, [tail, 0.5, 1 - tail], axis=0)
        return low, middle, high

    def verdict(self, advice: str | None = None) -> str:
        """Return the overall p-value in words; if it is small, also the next question to ask."""
        if self.missing:
            return self.missing
        if self.law != "shuffled":
            return self._count_outliers()
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

    def _count_outliers(self) -> str:
        surface = "plane" if self.plane else "line"
        clean = f"a clean {surface} of {'normal' if self.law == 'normal' else 'this'} noise"
        sizes = f"corrected for {int((self.k < self.n).sum()):,} sizes"
        if not self.n_outliers and self.overall <= SIGNIFICANT:
            return (
                f"outliers cannot be counted: the {self.k.min():,} rows of the smallest subset lie "
                f"on a {surface} exactly, and beside a {surface} without noise every other row "
                "stands out"
            )
        if not self.n_outliers:
            return (
                f"no outliers: {clean} gains as much by dropping as many "
                f"somewhere on the path (p = {self.overall:.3g}, {sizes})"
            )
        at = int(np.flatnonzero(self.n - self.k == self.n_outliers)[0])
        often = round(float(self.p_value[at]) * (self.done + 1)) - 1
        rows = "1 outlier" if self.n_outliers == 1 else f"{self.n_outliers:,} outliers"
        rows = rows if self.status == "finished" else f"at least {rows}"
        return (
            f"{rows}: {clean} gains as much by dropping {self.n_outliers:,} in {often:,} of "
            f"{self.done:,} draws (p = {self.overall:.3g}, {sizes})"
        )

    def summary_items(self) -> list[tuple[str, str]]:
        about = "of the path as a whole" if self.law == "shuffled" else "of any outlier"
        return [
            ("sizes", f"{len(self.k):,}, from k = {self.k[0]:,} to {self.k[-1]:,}"),
            ("p-value", f"{self.overall:.4g}   ({about})" if self.done else "not known"),
            ("verdict", self.verdict()),
            self.describe_draws(),
        ]

    plot = drawn_by(
        "path.plot_path_significance",
        "Observed values against points kept, over the band of the null data.",
    )


def compare_shuffled(
    problem: Problem, k: Ints, observed: Floats, search: NullSearch
) -> PathSignificance:
    """Compare a path with that of every shuffle."""
    start = search.clock.gone()
    rng = np.random.default_rng(problem.seed)
    null = search.collect(
        problem.n, len(k), partial(shuffle, problem.y, rng), partial(search.solve_sizes, problem, k)
    )
    slack, sense = find_slack(problem, k, observed), problem.objective.sense
    p_values = corrected_p_values(observed, null, slack, sense)
    return _report(problem, k, observed, null, p_values, search, start)


def _report(
    problem: Problem,
    k: Ints,
    observed: Floats,
    null: Floats,
    p_values: tuple[Floats, Floats],
    search: NullSearch,
    start: float,
) -> PathSignificance:
    """Return the result from the draws that a clock left time for, the first at ``start``."""
    return PathSignificance(
        objective=problem.objective.name,
        n=problem.n,
        permutations=search.permutations,
        status="finished" if len(null) == search.permutations else search.clock.ended(),
        seed=problem.seed,
        seconds=search.clock.gone() - start,
        k=k,
        observed=observed,
        null=null,
        p_value=p_values[0],
        corrected=p_values[1],
        plane=problem.p > 1,
    )


# ---- clean lines ---------------------------------------------------------------------------------


def compare_clean_lines(
    problem: Problem, law: str, k: Ints, observed: Floats, masks: Mask, search: NullSearch
) -> PathSignificance:
    """Test all rows, then what is left without those that stand out, and so on."""
    start = search.clock.gone()
    sizes, values = _prepend_all(problem, k, observed)
    first = step = _test_gains(problem, law, sizes, values, masks[-1], search)
    found, is_cut = 0, False
    while step.done == search.permutations and step.overall <= SIGNIFICANT:
        further_out = int(step.n - step.k[_find_most_surprising(step)])
        if further_out == 0:
            break  # draws without noise are all alike: no size is farther above them than another
        found += further_out
        rows = np.flatnonzero(masks[problem.n - k == found][0])
        further = k[k < len(rows)]
        if len(further) == 0 or len(rows) < _LEAST_ROWS + problem.p - 1:
            break
        rest = replace(problem.of_rows(rows), seed=problem.seed + found)
        part = search.solve_sizes(rest, further, rest.y[None])
        if len(part) == 0:
            is_cut = True
            break
        smallest = masks[k == further[-1]][0]
        fewer, best = _prepend_all(rest, further, part[0])
        is_settled = partial(_is_settled, best, rest.objective.name, search.permutations)
        step = _test_gains(rest, law, fewer, best, smallest[rows], search, is_settled)
        is_cut = step.done < search.permutations and not is_settled(step.null)
    extra = len(sizes) - len(k)
    return replace(
        first,
        k=k,
        observed=observed,
        null=first.null[:, extra:],
        p_value=first.p_value[extra:],
        corrected=first.corrected[extra:],
        status=search.clock.ended() if is_cut else first.status,
        n_outliers=found if first.done >= FEWEST else None,
        seconds=search.clock.gone() - start,
    )


def _prepend_all(problem: Problem, k: Ints, observed: Floats) -> tuple[Ints, Floats]:
    """Return the sizes and their values, all rows first: a gain is measured from these."""
    if k[0] == problem.n:
        return k, observed
    if problem.several:
        whole = problem.fitted(np.arange(problem.n))
    else:
        whole = problem.objective.value(problem.x, problem.y)
    return np.concatenate([[problem.n], k]), np.concatenate([[whole], observed])


def _find_most_surprising(step: PathSignificance) -> int:
    """Find the size with the least corrected p-value; of equals, the farthest above the draws."""
    best = step.corrected == step.corrected.min()
    gain, gains = _gains(step.observed, step.objective), _gains(step.null, step.objective)
    return int(np.argmax(np.where(best, _standardize(gain, gains), -np.inf)))


def _test_gains(
    problem: Problem,
    law: str,
    k: Ints,
    observed: Floats,
    kept: Mask,
    search: NullSearch,
    is_settled: Callable[[Floats], bool] | None = None,
) -> PathSignificance:
    """Test whether any size gains more than it does on clean lines."""
    start = search.clock.gone()
    line = fit_clean_line(problem.x, problem.y, kept, problem.intercept, LAWS[law])
    rng = np.random.default_rng(problem.seed)
    null = search.collect(
        problem.n, len(k), partial(line.draws, rng), partial(search.solve_sizes, problem, k),
        is_settled,
    )  # fmt: skip
    name = problem.objective.name
    p_values = corrected_p_values(_gains(observed, name), _gains(null, name), np.zeros(len(k)), 1)
    found = _report(problem, k, observed, null, p_values, search, start)
    return replace(found, law=law, normal=line.normal)


def _is_settled(observed: Floats, objective: str, permutations: int, null: Floats) -> bool:
    """Return whether the corrected p-value is above 5% whatever further draws bring."""
    reached = (_gains(null, objective) >= _gains(observed, objective)).sum(axis=0)
    return bool(reached.min() + 1 > SIGNIFICANT * (permutations + 1))


def _gains(values: Floats, objective: str) -> Floats:
    """Return what each size gains over all rows, which come first; larger is better."""
    if objective == "lts":
        scaled = -np.log(np.maximum(values, np.finfo(float).tiny))
    else:
        scaled = _to_fisher(values, objective, 1e-15)
    gains: Floats = scaled - scaled[..., :1]
    return gains


def _to_fisher(values: Floats, objective: str, edge: float = 1e-12) -> Floats:
    """Return artanh r of values of r2 or r."""
    r = np.sqrt(np.maximum(values, 0)) if objective == "r2" else values
    return np.asarray(np.arctanh(np.clip(r, -1 + edge, 1 - edge)))


def _standardize(observed: Floats, null: Floats) -> Floats:
    """Return standard deviations above the mean of the draws; minus infinity if not known."""
    if len(null) < 2:
        return np.full(len(observed), -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        far = (observed - null.mean(axis=0)) / null.std(axis=0, ddof=1)
    return np.where(np.isfinite(far), far, -np.inf)

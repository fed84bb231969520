"""The certified optimum beside the methods it is usually compared with.

=================  ==================================================  ======  ====  ===========
name               idea                                                subset  line  correlation
=================  ==================================================  ======  ====  ===========
anneal_published   annealing from 1e5 to 1: a random walk on R2        yes     yes   yes
anneal_fair        the same number of steps from 1 to 1e-4             yes     yes   yes
lts                k points with the least residual sum of squares     yes     yes   yes
ransac             most points near a line through a random sample     yes     yes   yes
mcd                the least covariance determinant found at random    yes     yes   yes
theil_sen          median of the lines through pairs of points                 yes
pearson            all points                                                  yes   yes
spearman           ranks                                                             yes
kendall            pairs in the same order                                           yes
quadrant           signs about the medians                                           yes
biweight           weights that fade with distance from the medians                  yes
=================  ==================================================  ======  ====  ===========

Methods are judged by the k points that they would keep: their own subset if it has k points,
otherwise the k points nearest to their line. Rank correlations have neither.
"""

from __future__ import annotations

import importlib
import math
import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.messages import argument
from quadsweep.objectives import OBJECTIVES, centred_sums
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, Tick, counting
from quadsweep.results.formatting import HasFields, ResultMixin, as_frame, drawn_by
from quadsweep.results.result import Result
from quadsweep.solving.question import pose

ANNEALING_STEPS = 10_000
CERTIFIED = "certified"
RANSAC_TRIALS = 100
SAME = 1e-9  # R2 within this of the optimum counts as the optimum

_LIBRARIES = {  # imported before a method is timed
    "ransac": "sklearn.linear_model",
    "theil_sen": "sklearn.linear_model",
    "mcd": "sklearn.covariance",
    "spearman": "scipy.stats",
    "kendall": "scipy.stats",
}
_NEEDS = "needs "
_ABOUT_R2 = (
    "of the points each method would keep: its own if it names as many, else those nearest to "
    "its line; slope, intercept and correlation are the method's own"
)
_ABOUT_ANNEALING = (
    '"published" cools from 1e5 to 1 as the paper does, nearly a random walk on a score between 0 '
    'and 1; "fair" takes as many steps from 1 to 1e-4'
)
_COLUMNS = ("method", "R²", "best points", "slope", "intercept", "correlation", "seconds")


@dataclass(frozen=True, eq=False)
class LineEstimate:
    """What a method returns; None for what it does not estimate.

    Attributes
    ----------
    subset : boolean array or None
        The points the method relies on, not always k of them.
    slope, intercept : float or None
    correlation : float or None

    Examples
    --------
    >>> import numpy as np
    >>> LineEstimate(slope=1.0, intercept=0.0).kept(np.array([0.0, 1, 2]), np.array([0.0, 5, 2]), 2)
    array([ True, False,  True])
    """

    subset: Mask | None = None
    slope: float | None = None
    intercept: float | None = None
    correlation: float | None = None

    def residuals(self, x: Floats, y: Floats) -> Floats | None:
        """Return the residuals of the method's line; None without a line."""
        if self.slope is None or self.intercept is None:
            return None
        return np.asarray(y - self.slope * x - self.intercept)

    def kept(self, x: Floats, y: Floats, k: int) -> Mask | None:
        """Return the k points the method would keep: its own subset, or the nearest to its line."""
        if self.subset is not None and int(self.subset.sum()) == k:
            return self.subset
        residuals = self.residuals(x, y)
        if residuals is None:
            return None
        nearest = np.zeros(len(y), dtype=bool)
        nearest[np.argsort(np.abs(residuals), kind="stable")[:k]] = True
        return nearest


Comparator = Callable[..., LineEstimate]


def fit_subset(x: Floats, y: Floats, subset: Mask) -> LineEstimate:
    """Fit the least squares line and the Pearson correlation of some of the points."""
    a, b, c = centred_sums(x[subset], y[subset])
    if not a > 0:
        return LineEstimate(subset)
    slope = c / a
    intercept = float(y[subset].mean() - slope * x[subset].mean())
    r = c / math.sqrt(a) / math.sqrt(b) if b > 0 else None
    return LineEstimate(subset, slope, intercept, r)


def r2_of(x: Floats, y: Floats, subset: Mask) -> float:
    """Return R2 of the least squares line of some of the points; NaN if it is undefined."""
    return OBJECTIVES["r2"].value(x[subset], y[subset])


def anneal(
    hottest: float, coldest: float, x: Floats, y: Floats, k: int, *,
    seed: int = 0, steps: int = ANNEALING_STEPS,
) -> LineEstimate:  # fmt: skip
    """Find a subset by simulated annealing: swaps of a kept point, geometric cooling.

    R2 lies in [0, 1]. At the paper's temperatures, 1e5 to 1, at least a third of the worsening
    steps are accepted, and mostly all: nearly a random walk.
    """
    rng, n = random.Random(seed), len(x)
    u = ((x - x.mean()) / (x.std() or 1.0)).tolist()
    w = ((y - y.mean()) / (y.std() or 1.0)).tolist()
    order = rng.sample(range(n), n)  # the first k are kept
    kept = [(u[i], w[i]) for i in order[:k]]
    columns = zip(*((p, q, p * p, p * q, q * q) for p, q in kept), strict=True)
    sums = tuple(sum(column) for column in columns)
    energy = -_r2_of_sums(sums, k)
    best, best_energy = order[:k], energy
    for step in range(1, steps + 1) if k < n else ():
        temperature = hottest * math.exp(math.log(coldest / hottest) * step / steps)
        p, q = int(rng.random() * k), k + int(rng.random() * (n - k))
        i, j = order[p], order[q]
        changes = (
            u[j] - u[i], w[j] - w[i], u[j] * u[j] - u[i] * u[i], u[j] * w[j] - u[i] * w[i],
            w[j] * w[j] - w[i] * w[i],
        )  # fmt: skip
        moved = tuple(a + b for a, b in zip(sums, changes, strict=True))
        new = -_r2_of_sums(moved, k)
        if new > energy and math.exp((energy - new) / temperature) < rng.random():
            continue
        order[p], order[q], sums, energy = j, i, moved, new
        if energy < best_energy:
            best, best_energy = order[:k], energy
    subset = np.zeros(n, dtype=bool)
    subset[best] = True
    return fit_subset(x, y, subset)


def _r2_of_sums(sums: tuple[float, ...], k: int) -> float:
    su, sw, suu, suw, sww = sums
    a, b, c = suu - su * su / k, sww - sw * sw / k, suw - su * sw / k
    return c * c / (a * b) if a > 1e-12 and b > 1e-12 else 0.0


def lts(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Find the k points with the least residual sum of squares, exactly."""
    from quadsweep.solving.solve import solve

    return fit_subset(x, y, solve(x, y, k, objective="lts", seed=seed, n_jobs=1).mask)


def ransac(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Run scikit-learn's random sample consensus: 100 samples of k points each.

    The line is the final fit and the subset is the consensus; both are None if there is none.
    """
    from sklearn.linear_model import LinearRegression, RANSACRegressor

    model = RANSACRegressor(
        LinearRegression(), min_samples=k, max_trials=RANSAC_TRIALS, random_state=seed % 2**32
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a consensus of one point has no R2
            model.fit(x[:, None], y)
    except ValueError:
        return LineEstimate()
    kept = np.asarray(model.inlier_mask_, dtype=bool)
    line = model.estimator_
    correlation = fit_subset(x, y, kept).correlation
    return LineEstimate(kept, float(line.coef_[0]), float(line.intercept_), correlation)


def mcd(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Run scikit-learn's minimum covariance determinant with a support of k, not reweighted."""
    from sklearn.covariance import fast_mcd

    scale = x.std() or 1.0, y.std() or 1.0
    points = np.column_stack([(x - x.mean()) / scale[0], (y - y.mean()) / scale[1]])
    if np.linalg.matrix_rank(points) < 2:
        return LineEstimate()
    share = min((k + 0.5) / len(x), 1.0)  # scikit-learn rounds share * n down
    with warnings.catch_warnings():
        # k points on a line have determinant 0, and scikit-learn divides by it.
        warnings.simplefilter("ignore", RuntimeWarning)
        support = fast_mcd(points, support_fraction=share, random_state=seed % 2**32)[2]
    return fit_subset(x, y, np.asarray(support, dtype=bool))


def theil_sen(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Run scikit-learn's Theil-Sen: the spatial median of lines through pairs of points."""
    from sklearn.linear_model import TheilSenRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the number of iterations
        model = TheilSenRegressor(random_state=seed % 2**32).fit(x[:, None], y)
    return LineEstimate(None, float(model.coef_[0]), float(model.intercept_))


def pearson(x: Floats, y: Floats, k: int, *, seed: int = 0) -> LineEstimate:
    """Fit all points."""
    return replace(fit_subset(x, y, np.ones(len(x), dtype=bool)), subset=None)


def correlate(
    measure: Callable[[Floats, Floats], Any], x: Floats, y: Floats, k: int, *, seed: int = 0
) -> LineEstimate:
    """Measure a correlation of all points; None if a column is constant or the value is NaN."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return LineEstimate()
    value = float(measure(x, y))
    return LineEstimate() if math.isnan(value) else LineEstimate(correlation=value)


def _rank_correlation(name: str, x: Floats, y: Floats) -> Any:
    from scipy import stats

    return getattr(stats, name)(x, y).statistic


def _quadrant(x: Floats, y: Floats) -> Any:
    """Return the mean sign of (x - median)(y - median)."""
    return (np.sign(x - np.median(x)) * np.sign(y - np.median(y))).mean()


def _biweight(x: Floats, y: Floats) -> Any:
    """Return the biweight midcorrelation; NaN if a median absolute deviation is 0."""
    return _biweight_scores(x) @ _biweight_scores(y)


def _biweight_scores(values: Floats) -> Floats:
    """Return deviations from the median times (1 - u^2)^2, u = deviation / (9 MAD), length one."""
    deviation = values - np.median(values)
    spread = np.median(np.abs(deviation))
    if spread == 0:
        return np.full(len(values), math.nan)
    u = deviation / (9 * spread)
    scores: Floats = np.where(np.abs(u) < 1, deviation * (1 - u * u) ** 2, 0.0)
    return np.asarray(scores / np.linalg.norm(scores))


COMPARATORS: dict[str, Comparator] = {
    "anneal_published": partial(anneal, 1e5, 1.0),
    "anneal_fair": partial(anneal, 1.0, 1e-4),
    "lts": lts,
    "ransac": ransac,
    "mcd": mcd,
    "theil_sen": theil_sen,
    "pearson": pearson,
    "spearman": partial(correlate, partial(_rank_correlation, "spearmanr")),
    "kendall": partial(correlate, partial(_rank_correlation, "kendalltau")),
    "quadrant": partial(correlate, _quadrant),
    "biweight": partial(correlate, _biweight),
}


@dataclass(frozen=True, eq=False)
class MethodAnswer(HasFields):
    """One method's answer; None for what it does not estimate.

    Attributes
    ----------
    method : str
    r2 : float or None
        R2 of the k points the method would keep.
    optimal : bool or None
        Whether that is the certified optimum.
    own : bool
        Whether the method itself chose those k points; otherwise they are the nearest to its line.
    slope, intercept, correlation : float or None
        The method's own estimates.
    seconds : float
    subset : boolean array or None
        The k points, among those considered.
    note : str
        Why there is no answer.
    """

    json_fields = "method r2 optimal own slope intercept correlation seconds note"

    method: str
    r2: float | None = None
    optimal: bool | None = None
    own: bool = False
    slope: float | None = None
    intercept: float | None = None
    correlation: float | None = None
    seconds: float = 0.0
    subset: Mask | None = field(default=None, repr=False)
    note: str = ""

    @property
    def name(self) -> str:
        """The method in words."""
        return self.method.replace("_", " ")

    @property
    def missing(self) -> str:
        """The library that is not installed; empty if nothing is missing."""
        return self.note.removeprefix(_NEEDS) if self.note.startswith(_NEEDS) else ""

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts."""
        found = "yes" if self.own else "nearest to its line"
        word = {True: found, False: "no", None: ""}[self.optimal]
        numbers = [_short(v) for v in (self.slope, self.intercept, self.correlation)]
        return (self.name, _short(self.r2), word, *numbers, self.note or f"{self.seconds:.2g}")


@dataclass(frozen=True, eq=False)
class Comparison(ResultMixin):
    """A table of methods, the certified optimum first.

    Attributes
    ----------
    rows : tuple of MethodAnswer
    result : Result
        The certified optimum.
    n, k : int
    status : str
        ``finished``, ``time_limit`` or ``interrupted``; methods not reached have no row.
    """

    json_fields = "n k status rows result"

    rows: tuple[MethodAnswer, ...]
    result: Result
    n: int
    k: int
    status: str

    def __getitem__(self, method: str) -> MethodAnswer:
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(method)

    def grid(self) -> list[Sequence[str]]:
        """Return one row for each method whose library is installed."""
        return [_COLUMNS, *(row.cells() for row in self.rows if not row.missing)]

    def summary_items(self) -> list[tuple[str, str]]:
        """Return the summary as pairs of a name and a text."""
        choosing, lines_only = (
            [row.optimal for row in self.rows[1:] if row.optimal is not None and row.own is own]
            for own in (True, False)
        )
        lines = [
            ("kept", f"{self.k:,} of {self.n:,} points"),
            ("found by", f"{sum(map(bool, choosing))} of {len(choosing)} other methods that choose "
             f"points; nearest to the lines of {sum(map(bool, lines_only))} of {len(lines_only)}"),
            ("R²", _ABOUT_R2),
        ]  # fmt: skip
        if {"anneal_published", "anneal_fair"} <= {row.method for row in self.rows}:
            lines.append(("annealing", _ABOUT_ANNEALING))
        if absent := [row for row in self.rows if row.missing]:
            text = ", ".join(f"{row.name} (needs {row.missing})" for row in absent)
            lines.append(("not run", text))
        if self.status != "finished":
            lines.append(("stopped", f"by {self.status.replace('_', ' ')}; rows are missing"))
        return lines

    def to_frame(self) -> Any:
        """Return one row for each method as a data frame."""
        columns = MethodAnswer.json_fields.split()
        return as_frame({name: [getattr(row, name) for row in self.rows] for name in columns})

    plot = drawn_by("compare.plot_comparison", "The points and every method's line.")


def compare(
    points: Any = None,
    /,
    y: Any = None,
    k: int | float | None = None,
    *,
    x: Any = None,
    drop: int | float | None = None,
    methods: Sequence[str] | None = None,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: CountProgress = None,
    data: Any = None,
) -> Comparison:
    """Compare the certified optimum with other methods' points, lines and correlations.

    Parameters
    ----------
    points, x, y, k, drop, tol, n_jobs, nan_policy, data :
        As in :func:`solve`.
    methods : sequence of str, optional
        Names of :data:`quadsweep.paper.compare.COMPARATORS`; by default all. A method whose
        library is not installed has a row that says so, which the printed table omits.
    time_limit : float, optional
        Seconds for the whole comparison; methods not reached have no row.
    seed : int
        For methods that draw random numbers.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable receives (done, total, seconds).

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import quadsweep as qs
    >>> table = qs.compare([1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5, 6], drop=1, methods=["pearson"])
    >>> [(row.method, round(row.r2, 3), row.optimal) for row in table.rows]
    [('certified', 1.0, True), ('pearson', 1.0, True)]
    """
    clock = Clock(validation.seconds(time_limit))
    x, y, data = loaded("compare", *normalize_arguments("compare", points, x, y, data))
    question = pose(
        x, y, data=data, objective="r2", tol=tol, n_jobs=n_jobs, seed=seed, nan_policy=nan_policy
    )
    if question.problem.several:
        raise ValueError("compare takes one predictor; got several")
    names = _check_names(methods)
    question = question.keeping(k, drop)
    points, size = question.points, question.problem.k
    result = question.answer(time_limit=clock.time_left())
    rows = [_certified_row(result, points.rows)]
    with counting(progress, "methods") as tick:
        status = _run(names, rows, points.x, points.y, size, question.problem.seed, clock, tick)
    return Comparison(tuple(rows), result, points.n, size, status)


def _check_names(methods: Any) -> list[str]:
    if methods is None:
        return list(COMPARATORS)
    if isinstance(methods, str):
        raise TypeError(f"{argument('methods')} must be a sequence of names; got {methods!r}")
    for name in (names := list(methods)):
        if name not in COMPARATORS:
            raise ValueError(
                f"{argument('methods')} must be among {', '.join(COMPARATORS)}; got {name!r}"
            )
    return names


def _run(
    names: list[str],
    rows: list[MethodAnswer],
    x: Floats,
    y: Floats,
    k: int,
    seed: int,
    clock: Clock,
    tick: Tick,
) -> str:
    """Append a row for each method; return how it ended."""
    try:
        for done, name in enumerate(names, 1):
            if clock.time_left() == 0:
                return "time_limit"
            rows.append(_row(name, x, y, k, seed, rows[0].r2))
            if tick(done, len(names), clock.gone()) is False and done < len(names):
                return "interrupted"
    except KeyboardInterrupt:
        return "interrupted"
    return "finished"


def _certified_row(result: Result, rows: Ints) -> MethodAnswer:
    sign = 1.0 if (result.slope or 0.0) >= 0 else -1.0
    return MethodAnswer(
        CERTIFIED, result.value, result.success, True, result.slope, result.intercept,
        sign * result.value**0.5, result.seconds, result.mask[rows],
        "" if result.success else "not proved",
    )  # fmt: skip


def _row(name: str, x: Floats, y: Floats, k: int, seed: int, best: float | None) -> MethodAnswer:
    try:
        importlib.import_module(_LIBRARIES.get(name, "numpy"))
        start = time.perf_counter()
        estimate = COMPARATORS[name](x, y, k, seed=seed)
    except ModuleNotFoundError as missing:
        return MethodAnswer(name, note=f"{_NEEDS}{str(missing.name).split('.')[0]}")
    except ValueError:
        return MethodAnswer(name, note="found nothing")
    seconds = time.perf_counter() - start
    subset = estimate.kept(x, y, k)
    r2 = None if subset is None else r2_of(x, y, subset)
    is_own = subset is not None and subset is estimate.subset
    return MethodAnswer(
        name, r2, None if r2 is None or best is None else bool(r2 >= best - SAME), is_own,
        estimate.slope, estimate.intercept, estimate.correlation, seconds, subset,
    )  # fmt: skip


def _short(value: float | None) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}"
    return f"{value:.9g}" if text == "1" and value < 1 else text

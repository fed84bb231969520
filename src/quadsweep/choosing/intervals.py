"""How uncertain is the line of the kept points, when choosing them is part of the procedure?

The usual standard error takes the kept points as given; they were chosen to lie on a line, so it is
too small. Here the whole procedure is repeated: n points are drawn with replacement, the best k of
them are found again, exactly, and their line is fitted. With slopes s_1 ... s_B of the draws,

    standard error = standard deviation of s_b,      interval = quantiles of s_b.

Draws in which the kept points share one x have no line and do not count.

The interval is about what the procedure estimates: the line of the best share of the population.
With `lts` and symmetric noise that is the line itself. With `r2` and `r` it is steeper, because the
points that make it steeper are kept; no resampling takes that out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.choosing.stability import draw_bootstrap, solve_resamples
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.objectives import OBJECTIVES
from quadsweep.progress import CountProgress, counting
from quadsweep.results.formatting import ResultMixin, drawn_by
from quadsweep.results.result import Result
from quadsweep.solving.question import pose

PARAMETERS = ("slope", "intercept")


class Interval(NamedTuple):
    """Two ends."""

    low: float
    high: float


class Band(NamedTuple):
    """The line at some x, and an interval at each."""

    line: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Bootstrap(ResultMixin):
    """Bootstrap of the line: every resample repeats the exact selection.

    Attributes
    ----------
    slope, intercept : arrays of floats
        The line of each draw.
    resamples : int
        Number of draws with a line.
    result : Result
        The answer for the data as given.
    seed : int
    status : str
        ``finished``, ``time_limit`` or ``interrupted``.
    seconds : float
    """

    json_fields = "resamples seed status seconds result *estimates"
    frame_fields = "slope intercept"

    slope: Floats = field(repr=False)
    intercept: Floats = field(repr=False)
    resamples: int
    result: Result = field(repr=False)
    seed: int
    status: str
    seconds: float

    def standard_error(self, parameter: str = "slope") -> float:
        """Standard deviation over the draws; it includes the selection of rows.

        Parameters
        ----------
        parameter : {"slope", "intercept"}
        """
        return float(np.std(self._draws(parameter), ddof=1))

    def interval(self, parameter: str = "slope", level: float = 0.95) -> Interval:
        """Quantiles of the draws: a confidence interval that allows for the selection.

        It covers the line that the same selection would find in the population. For ``lts`` with
        symmetric noise this is the population's line; for ``r2`` and ``r`` it is steeper.

        Parameters
        ----------
        parameter : {"slope", "intercept"}
        level : float
            In (0, 1).
        """
        return Interval(*map(float, np.quantile(self._draws(parameter), _tails(level))))

    def confidence_band(self, x: Any, level: float = 0.95) -> Band:
        """The line at every x, with a confidence interval for the line.

        Parameters
        ----------
        x : sequence of numbers
        level : float
            In (0, 1); coverage is pointwise, not simultaneous.
        """
        at = np.atleast_1d(np.asarray(x, dtype=np.float64))
        low, high = np.quantile(self._heights(at), _tails(level), axis=0)
        return Band(self._line(at), low, high)

    def prediction_band(self, x: Any, level: float = 0.95) -> Band:
        """The line at every x, with an interval for a new row that is no outlier.

        Adds residuals of the kept rows to each draw's line. The band does not cover outliers.

        Parameters
        ----------
        x, level :
            As in :meth:`confidence_band`.
        """
        at = np.atleast_1d(np.asarray(x, dtype=np.float64))
        kept = self.result.inliers
        left = self.result.y[kept] - self._line(self.result.x[kept])
        left = left * math.sqrt(len(left) / max(len(left) - 2, 1))
        rng = np.random.default_rng([self.seed, 1])
        heights = self._heights(at)
        noisy = heights + rng.choice(left, size=(len(heights), 1))
        low, high = np.quantile(noisy, _tails(level), axis=0)
        return Band(self._line(at), low, high)

    def _draws(self, parameter: str) -> Floats:
        if parameter not in PARAMETERS:
            raise ValueError(f"parameter must be 'slope' or 'intercept'; got {parameter!r}")
        if self.resamples < 2:
            raise ValueError(
                f"an interval needs at least 2 draws; there are {self.resamples} ({self.status})"
            )
        draws: Floats = getattr(self, parameter)
        return draws

    def _heights(self, at: Floats) -> Floats:
        """One row a draw: its line at each place."""
        slope, intercept = self._draws("slope"), self._draws("intercept")
        return np.asarray(slope[:, None] * at + intercept[:, None])

    def _line(self, at: Floats) -> Floats:
        slope, intercept = _fitted(self.result)
        return np.asarray(slope * at + intercept)

    def summary_items(self) -> list[tuple[str, str]]:
        r = self.result
        lines = [("kept", f"{r.k:,} of {r.n:,} points, chosen again in every draw")]
        for name, value in zip(PARAMETERS, _fitted(r), strict=True):
            low, high = self.interval(name)
            error = self.standard_error(name)
            lines.append(
                (
                    name,
                    f"{value:.6g}, standard error {error:.3g}, 95% interval {low:.4g} to "
                    f"{high:.4g}",
                )
            )
        lines.append(("draws", f"{self.resamples:,} (bootstrap), {self.seconds:.3g} s"))
        if self.status != "finished":
            lines.append(("stopped", f"by {self.status.replace('_', ' ')}; fewer draws than asked"))
        return lines

    plot = drawn_by("intervals.plot_bootstrap", "The points, the line and both bands.")

    @property
    def estimates(self) -> dict[str, Any]:
        """Slope and intercept, each with its standard error and interval, as plain values."""
        return {
            name: {
                "value": value,
                "standard_error": self.standard_error(name),
                "interval": self.interval(name),
            }
            for name, value in zip(PARAMETERS, _fitted(self.result), strict=True)
        }


def bootstrap(
    result: Result,
    resamples: int = 999,
    *,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: CountProgress = None,
) -> Bootstrap:
    """Standard errors and intervals of a result's line that allow for the choosing.

    Parameters
    ----------
    result : Result
        Of one predictor, and of an objective known by name.
    resamples : int
        Draws of n points with replacement; each keeps k of them, found exactly.
    tol, n_jobs, progress :
        As in :func:`stability`.
    time_limit : float, optional
        Seconds. The draws finished by then are kept, and so they are after Ctrl-C.
    seed : int

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> import quadsweep as qs
    >>> stars = qs.datasets.load("stars-cyg")
    >>> drawn = qs.solve(stars.x, stars.y, drop=6).bootstrap(99)
    >>> low, high = drawn.interval("slope")
    >>> bool(low < drawn.result.slope < high), drawn.resamples
    (True, 99)
    """
    clock = Clock(validation.seconds(time_limit))
    draws = validation.whole(resamples, "resamples", 2)
    _check(result)
    question = pose(
        result.x[result.used], result.y[result.used], objective=result.objective, tol=tol,
        n_jobs=n_jobs, seed=seed,
    ).keeping(result.k, None)  # fmt: skip
    problem = question.problem
    lines: list[Floats] = [np.empty((0, 2))]

    def record(rows: Ints, kept: Mask) -> None:
        lines.append(fitted_lines(problem.x[rows], problem.y[rows], kept))

    with counting(progress, "resamples") as tick:
        _, status = solve_resamples(problem, draws, draw_bootstrap(problem), record, clock, tick)
    found = np.concatenate(lines)
    found = found[np.isfinite(found).all(axis=1)]
    return Bootstrap(
        slope=found[:, 0],
        intercept=found[:, 1],
        resamples=len(found),
        result=result,
        seed=problem.seed,
        status=status,
        seconds=clock.gone(),
    )


def fitted_lines(x: Floats, y: Floats, kept: Mask) -> Floats:
    """Slope and intercept on the kept points of each row; NaN where they share one x.

    >>> fitted_lines(np.array([[0.0, 1, 2]]), np.array([[1.0, 3, 9]]), np.array([[1, 1, 0]]) > 0)
    array([[2., 1.]])
    """
    count = kept.sum(axis=1)
    mx, my = (np.where(kept, v, 0.0).sum(axis=1) / count for v in (x, y))
    u, w = x - mx[:, None], y - my[:, None]
    a = np.where(kept, u * u, 0.0).sum(axis=1)
    c = np.where(kept, u * w, 0.0).sum(axis=1)
    first = np.take_along_axis(x, np.argmax(kept, axis=1)[:, None], axis=1)
    flat = np.where(kept, x == first, True).all(axis=1)
    slope = np.where(flat, np.nan, c / np.where(a > 0, a, np.nan))
    return np.column_stack([slope, my - slope * mx])


def _fitted(result: Result) -> tuple[float, float]:
    assert result.slope is not None
    return float(result.slope), float(result.intercept)


def _check(result: Result) -> None:
    if result.objective not in OBJECTIVES or result.objective == "var":
        raise ValueError(
            f"intervals are of a line chosen by an objective of both columns; got "
            f"{result.objective!r}"
        )
    if result.x.ndim != 1 or getattr(result, "several", False):
        raise ValueError("intervals are of a line with one predictor, an intercept and no weights")


def _tails(level: float) -> list[float]:
    try:
        inside = 0.0 < float(level) < 1.0
    except (TypeError, ValueError):
        inside = False
    if not inside:
        raise ValueError(f"level must be between 0 and 1; got {level!r}")
    return [(1 - level) / 2, (1 + level) / 2]

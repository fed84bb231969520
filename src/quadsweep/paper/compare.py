"""The certified optimum beside every method it is usually compared with.

The methods answer different questions, so the criterion is the k points each would keep: its own
subset where it names k points; otherwise the k points nearest to its line. Those with neither (rank
correlations) have a correlation to show and no subset.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.messages import argument
from quadsweep.outofcore.solve import loaded
from quadsweep.paper.methods import COMPARATORS, r2_of
from quadsweep.progress import CountProgress, Tick, counting
from quadsweep.results.formatting import HasFields, ResultMixin, as_frame, drawn_by
from quadsweep.results.result import Result
from quadsweep.solving.question import pose

CERTIFIED = "certified"
SAME = 1e-9  # R2 as close to the optimum as this is the optimum

_LIBRARIES = {
    "anneal_published": "simanneal",
    "anneal_fair": "simanneal",
    "ransac": "sklearn.linear_model",
    "theil_sen": "sklearn.linear_model",
    "mcd": "sklearn.covariance",
    "spearman": "scipy.stats",
    "kendall": "scipy.stats",
}
_NEEDS = "needs "
_ABOUT_R2 = (
    "of the points each method would keep: its own where it names as many, else those nearest to "
    "its line; slope, intercept and correlation are the method's own"
)
_ABOUT_ANNEALING = (
    '"published" cools from 1e5 to 1 as the paper does, nearly a random walk on a score between 0 '
    'and 1; "fair" takes as many steps from 1 to 1e-4'
)
_COLUMNS = ("method", "R²", "best points", "slope", "intercept", "correlation", "seconds")


@dataclass(frozen=True, eq=False)
class MethodAnswer(HasFields):
    """One method's answer; None where it has nothing to say.

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
        The method's own line and its own correlation figure.
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
        """The library the method could not do without; empty if it had all it needs."""
        return self.note.removeprefix(_NEEDS) if self.note.startswith(_NEEDS) else ""

    def cells(self) -> tuple[str, ...]:
        """The row as texts."""
        found = "yes" if self.own else "nearest to its line"
        word = {True: found, False: "no", None: ""}[self.optimal]
        numbers = [_short(v) for v in (self.slope, self.intercept, self.correlation)]
        time_ = self.note or f"{self.seconds:.2g}"
        return (self.name, _short(self.r2), word, *numbers, time_)


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
        ``finished``, ``time_limit`` or ``interrupted``; rows not reached are left out.
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
        """One row a method; not those whose library is not installed."""
        return [_COLUMNS, *(row.cells() for row in self.rows if not row.missing)]

    def summary_items(self) -> list[tuple[str, str]]:
        """What the table comes to."""
        choosing, lines_only = (
            [row.optimal for row in self.rows[1:] if row.optimal is not None and row.own is own]
            for own in (True, False)
        )
        lines = [
            ("kept", f"{self.k:,} of {self.n:,} points"),
            ("found by", f"{sum(map(bool, choosing))} of {len(choosing)} other methods that choose "
             f"points; nearest to the lines of {sum(map(bool, lines_only))} of {len(lines_only)}"),
        ]  # fmt: skip
        lines.append(("R²", _ABOUT_R2))
        shown = [row.method for row in self.rows if not row.missing]
        if "anneal_published" in shown and "anneal_fair" in shown:
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
    """Other methods' R2, lines and correlations beside the certified optimum.

    Parameters
    ----------
    points, x, y, k, drop, tol, n_jobs, nan_policy, data :
        As in :func:`solve`.
    methods : sequence of str, optional
        Names of :data:`quadsweep.paper.methods.COMPARATORS`; all of them if left out. A method
        whose library is not installed has a row that says so, which the table leaves out.
    time_limit : float, optional
        Seconds for everything; methods that were not reached are left out.
    seed : int
        For methods that draw random numbers.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable is given (done, total, seconds).

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
        raise ValueError("compare is of two columns; got several predictors")
    names = _names(methods)
    question = question.keeping(k, drop)
    points, size = question.points, question.problem.k
    result = question.answer(time_limit=clock.time_left())
    rows = [_certified_row(result, points.rows)]
    with counting(progress, "methods") as tick:
        status = _run(names, rows, points.x, points.y, size, question.problem.seed, clock, tick)
    return Comparison(tuple(rows), result, points.n, size, status)


def _names(methods: Any) -> list[str]:
    if methods is None:
        return list(COMPARATORS)
    if isinstance(methods, str):
        raise TypeError(f"{argument('methods')} must be a sequence of names; got {methods!r}")
    names = list(methods)
    for name in names:
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
    a_sign = 1.0 if (result.slope or 0.0) >= 0 else -1.0
    return MethodAnswer(
        CERTIFIED,
        result.value,
        result.success,
        True,
        result.slope,
        result.intercept,
        a_sign * result.value**0.5,
        result.seconds,
        result.mask[rows],
        "" if result.success else "not proved",
    )


def _row(name: str, x: Floats, y: Floats, k: int, seed: int, best: float | None) -> MethodAnswer:
    try:
        if name in _LIBRARIES:
            importlib.import_module(_LIBRARIES[name])  # not a part of the method's time
        start = time.perf_counter()
        estimate = COMPARATORS[name](x, y, k, seed=seed)
    except ModuleNotFoundError as missing:
        return MethodAnswer(name, note=f"{_NEEDS}{missing.name}")
    except ValueError:
        return MethodAnswer(name, note="found nothing")
    seconds = time.perf_counter() - start
    subset = estimate.kept(x, y, k)
    r2 = None if subset is None else r2_of(x, y, subset)
    return MethodAnswer(
        name,
        r2,
        None if r2 is None or best is None else bool(r2 >= best - SAME),
        subset is not None and subset is estimate.subset,
        estimate.slope,
        estimate.intercept,
        estimate.correlation,
        seconds,
        subset,
    )


def _short(value: float | None) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}"
    return f"{value:.9g}" if text == "1" and value < 1 else text

"""The certified optimum for every k of a range: the curve from which to choose k.

How the sizes are searched is in :mod:`quadsweep.choosing.walk`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.choosing.nulls import NullSearch, check_pairs
from quadsweep.choosing.path_significance import (
    LAWS,
    PathSignificance,
    check_line,
    check_plane,
    compare_clean_lines,
    compare_shuffled,
)
from quadsweep.choosing.walk import Walk
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.inputs.validation import least_kept
from quadsweep.messages import argument
from quadsweep.outofcore.solve import loaded
from quadsweep.progress import CountProgress, counting
from quadsweep.proofs.proof import Proof, together
from quadsweep.results.formatting import ResultMixin, drawn_by, named_rows
from quadsweep.results.result import Result
from quadsweep.solving.methods import Outcome, Problem
from quadsweep.solving.methods.parallel_batches import HERE, Executor, executor
from quadsweep.solving.proving import check_provable, proof_of
from quadsweep.solving.question import Question, pose

_MOST_SIZES = 501  # of a default range
_RULES = {"gain": "largest gain", "elbow": "elbow", "stands out": "stands out"}


@dataclass(frozen=True, eq=False)
class Path(ResultMixin):
    """The best subset for every k of a range.

    Attributes
    ----------
    k, drop : arrays of ints
        Points kept, falling, and points dropped.
    value, bound : arrays of floats
        The optimum, and a bound that no subset of that size passes; NaN if a limit came first.
    masks : boolean array, one row for every k, as wide as the data given; True for inliers.
    status : array of strings
        As in :class:`Result`, for each k.
    slope, intercept : arrays of floats
        Least squares lines of the inliers; ``slope`` is NaN with several predictors.
    coef : array with a row for every k
        One coefficient for each predictor.
    nodes : array of ints
    objective : str
    n : int
        Points considered.
    noise : PathSignificance or None
        The optima of the null data, if requested.
    seconds : float
    proof : Proof or None
        With ``proof=True``, proofs for :func:`quadsweep.check` of the sizes proved in time.
    """

    json_fields = (
        "objective n k status value bound slope intercept suggestions seconds coef=coefficients "
        "rows=@index leaving returning nested noise"
    )
    frame_fields = (
        "k drop value bound status slope intercept *coefficients rows=@index leaving returning "
        "*p_values"
    )

    k: Ints
    value: Floats
    bound: Floats
    masks: Mask
    status: NDArray[np.str_]
    slope: Floats
    intercept: Floats
    nodes: Ints
    objective: str
    n: int
    seconds: float
    noise: PathSignificance | None = field(default=None, repr=False)
    question: Question = field(repr=False, kw_only=True)
    coef: Floats = field(repr=False, kw_only=True)
    proof: Proof | None = field(default=None, repr=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.k)

    @property
    def drop(self) -> Ints:
        """Points dropped at each k."""
        return self.n - self.k

    @property
    def gap(self) -> Floats:
        """Distance between value and bound at each k."""
        sense = objectives.get(self.objective).sense
        gaps: Floats = np.maximum(sense * (self.bound - self.value), 0.0)
        return gaps

    @property
    def success(self) -> bool:
        """True if every answer is proved to be the best."""
        return bool(np.all(self.status == "optimal"))

    def suggestions(self) -> dict[str, int | None]:
        """Sizes worth a look, each by a rule; None where the rule finds nothing.

        gain
            The k after the step that gains most per point dropped.
        elbow
            The k at which the curve rises farthest above the straight line between its two ends,
            both axes scaled to one. None if the curve never does.
        stands out
            n minus the number of points that stand out from a clean line with the noise of the data
            (see :class:`PathSignificance`). None if none do. Absent if the path was made without
            ``null="line"`` or ``"normal"``, or with too few draws to say. If it is present, the
            other two are absent unless they agree.

        The first two are rules of thumb: they describe the curve and do not allow for noise.
        """
        return suggest(self.k, self.value, objectives.get(self.objective).sense, self.noise)

    def summary_items(self) -> list[tuple[str, str]]:
        title = objectives.get(self.objective).title
        known_ = np.flatnonzero(np.isfinite(self.value))
        proved = int((self.status == "optimal").sum())
        lines = [("sizes", f"{len(self):,}, from {self._range()} of {self.n:,} points")]
        if len(known_):
            first, last = known_[0], known_[-1]
            lines.append(
                (
                    title,
                    f"{self.value[first]:.6g} with {self.k[first]:,} points kept, "
                    f"{self.value[last]:.6g} with {self.k[last]:,}",
                )
            )
        lines.append(("certificate", f"{proved:,} of {len(self):,} sizes proved optimal"))
        for stopped_by in sorted({"time_limit", "interrupted"} & set(self.status.tolist())):
            why = stopped_by.replace("_", " ")
            missing = int((np.isnan(self.value) & (self.status == stopped_by)).sum())
            lines.append(("stopped", f"{why}; {missing:,} of {len(self):,} sizes were not reached"))
        for rule, k in self.suggestions().items():
            lines.append((_RULES[rule], self._suggestion(k)))
        back = sorted({int(i) for r in self.returning for i in r})
        text = named_rows(
            back, self.question.given.labels, "dropped at one size, kept at a smaller one"
        )
        lines.append(("coming back", text if back else "none: all are nested"))
        if self.noise is not None:
            return lines + self.noise.summary_items()[1:]
        see = f"values rise as points are dropped, in noise too; see {argument('null', 'line')}"
        return [*lines, ("caution", see)]

    def _suggestion(self, k: int | None) -> str:
        if k is None:
            return "none"
        value = self.value[self.k == k][0]
        return f"k = {k:,}, {self.n - k:,} dropped, value {value:.6g}"

    def _range(self) -> str:
        return f"k = {self.k[0]:,} to {self.k[-1]:,}"

    @property
    def leaving(self) -> list[Ints]:
        """For each k, the points that are kept at the preceding k but not at this one."""
        return self._changes(self.masks[:-1] & ~self.masks[1:])

    @property
    def returning(self) -> list[Ints]:
        """For each k, the points that are dropped at the preceding k but kept at this one.

        The best subsets are not nested: dropping one more point can bring others back.
        """
        return self._changes(~self.masks[:-1] & self.masks[1:])

    def _changes(self, changed: Mask) -> list[Ints]:
        answered: Mask = self.masks.sum(axis=1) > 0
        compared = answered[:-1] & answered[1:]
        none = np.array([], dtype=np.int64)
        return [none, *(np.flatnonzero(row) for row in changed & compared[:, None])]

    @property
    def nested(self) -> bool:
        """True if no dropped point ever comes back."""
        return all(len(r) == 0 for r in self.returning)

    def result(self, k: int) -> Result:
        """The answer for one of the sizes, as :func:`solve` gives it."""
        at = np.flatnonzero(self.k == k)
        if len(at) == 0 or not self.masks[at[0]].any():
            raise ValueError(f"the path has no answer for k = {k}; it has {self._range()}")
        i = int(at[0])
        inliers = np.flatnonzero(self.masks[i][self.question.points.rows])
        outcome = Outcome(
            inliers,
            float(self.value[i]),
            float(self.bound[i]),
            str(self.status[i]),
            int(self.nodes[i]),
        )
        method = "certified" if str(self.status[i]) != "heuristic" else "concentrate"
        return self.question.result(outcome, int(self.k[i]), method, self.seconds / len(self))

    def significance(
        self,
        *,
        null: str = "shuffled",
        permutations: int = 199,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
        progress: CountProgress = None,
    ) -> PathSignificance:
        """Search simulated data of a null hypothesis, and give p-values for every k.

        ``null="shuffled"`` tests whether x and y are associated. ``null="line"`` counts the rows
        that stand out from a line or plane (``n_outliers``) and allows for heavy tails;
        ``null="normal"`` counts them for normal noise. The ``corrected`` p-values of
        :class:`PathSignificance` allow for looking at many k. The cost is ``permutations`` more
        paths.
        """
        _check_null(null, self.objective)
        problem = replace(
            self.question.problem,
            n_jobs=validation.jobs(n_jobs),
            seed=validation.whole(seed, "seed", 0),
        )
        asked = validation.whole(permutations, "permutations", 1)
        clock = Clock(validation.seconds(time_limit))
        return self._compare(problem, null, asked, clock, progress, HERE)

    def _compare(
        self,
        problem: Problem,
        null: str,
        asked: int,
        clock: Clock,
        progress: CountProgress,
        helpers: Executor,
    ) -> PathSignificance:
        """Compare with null data; the arguments have been checked."""
        if null in LAWS:
            check_plane(problem, null)
        with counting(progress, "permutations" if null == "shuffled" else "draws") as tick:
            search = NullSearch(asked, clock, tick, helpers)
            if null == "shuffled":
                return compare_shuffled(problem, self.k, self.value, search)
            masks = self.masks[:, self.question.points.rows]
            return compare_clean_lines(problem, null, self.k, self.value, masks, search)

    plot = drawn_by(
        "path.plot_path",
        "Value against points dropped, with the band of the null data if searched; with\n"
        "``view='residuals'`` or ``'coefficients'`` those of the fit as rows are dropped.",
    )

    @property
    def residuals(self) -> Floats:
        """Residuals of all rows as given, one line per k; NaN where omitted or unsolved."""
        points = self.question.points
        out = np.full((len(self), points.given), np.nan)
        fitted = self.intercept[:, None] + self.coef @ points.x.reshape(points.n, -1).T
        out[:, points.rows] = points.y - fitted
        return out

    @property
    def p_values(self) -> dict[str, Floats]:
        """The p-values for every k, if null data were searched."""
        noise = self.noise
        return {} if noise is None else {"p_value": noise.p_value, "corrected": noise.corrected}

    @property
    def coefficients(self) -> dict[str, Floats]:
        """With several predictors, the coefficient of each at every k."""
        if self.coef.shape[1] < 2:
            return {}
        return dict(zip(self.question.given.names, self.coef.T, strict=False))


def path(
    points: Any = None,
    /,
    y: Any = None,
    *,
    x: Any = None,
    ks: Sequence[int | float] | None = None,
    drop: int | float | Sequence[int | float] | None = None,
    objective: str = "r2",
    permutations: int | None = None,
    null: str = "shuffled",
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: CountProgress = None,
    data: Any = None,
    fit_intercept: bool = True,
    weights: Any = None,
    proof: bool = False,
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Path:
    """Find the best subset of every size in a range, each with its proof.

    Parameters
    ----------
    points, x, y, objective, tol, nan_policy :
        As in :func:`solve`, as are ``data``, ``fit_intercept`` and ``weights``.
    ks : sequence of ints or shares, optional
        Sizes to keep.
    drop : int, share, or sequence of either, optional
        The most points to drop (every number from 0 on), or a sequence of numbers to drop. By
        default 0 to half of the points, at most 501 numbers, evenly spaced.
    permutations : int, optional
        How many data sets of the null to search as well (see :meth:`Path.significance`); by default
        99 if ``null`` is ``line`` or ``normal``, else none.
    null : str
        ``shuffled``: y in random order, to test whether x and y are associated. ``line``: a clean
        line (or plane) with the noise of the data, to count the rows that are outliers. ``normal``:
        the same with normal noise, more powerful for normal errors and invalid for heavier tails.
    time_limit : float, optional
        Seconds for the whole call. Finished sizes are kept, also after Ctrl-C; the others have the
        status ``time_limit`` or ``interrupted`` and the value NaN.
    n_jobs : int, optional
        Threads; by default one for each core. Only the choice between subsets tied within ``tol``
        depends on it.
    seed : int
        For the shuffles, and for methods that draw starting points.
    progress : bool or callable, optional
        As in :func:`quadsweep.solve`; a callable receives (done, total, seconds).
    proof : bool
        Also write a proof for every size, ``Path.proof``, as in :func:`solve`.
    client : dask Client or str, optional
        A cluster for the searches, as in :func:`solve_many`.
    out, resume : path, bool
        A directory for finished parts of the work, and whether to continue from them.

    Returns
    -------
    Path

    Examples
    --------
    >>> import quadsweep as qs
    >>> answer = qs.path([1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5, 7], drop=2)
    >>> answer.k
    array([6, 5, 4])
    >>> answer.value.round(4)
    array([0.3643, 0.9796, 1.    ])
    >>> answer.suggestions()
    {'gain': 5, 'elbow': 5}
    """
    goal = objectives.get(objective)
    clock = Clock(validation.seconds(time_limit))
    if permutations is None:
        permutations = 99 if null in LAWS else 0
    asked = validation.whole(permutations, "permutations", 0)
    if asked or null != "shuffled":
        _check_null(null, objective)
    x, y, data = loaded("path", *normalize_arguments("path", points, x, y, data))
    question = pose(
        x, y, data=data, objective=objective, tol=tol, n_jobs=n_jobs, seed=seed,
        nan_policy=nan_policy, fit_intercept=fit_intercept, weights=weights,
    )  # fmt: skip
    if proof:
        check_provable("certified", objective, question.problem)
    goal = replace(goal, min_k=least_kept(question.points, goal))
    sizes = read_sizes(question.problem.n, ks, drop, goal)
    with executor("threads", client, question.problem.n_jobs, out, resume) as helpers:
        with counting(progress, "sizes") as tick:
            walk = Walk(question.problem, sizes, clock, helpers)
            walk.run_all(tick)
        made = _collect(question, sizes, walk, clock.gone())
        if proof:
            made = replace(made, proof=_proofs(made, clock), seconds=clock.gone())
        if not asked or not walk.complete:
            return made
        noise = made._compare(question.problem, null, asked, clock, progress, helpers)
    return replace(made, noise=noise, seconds=clock.gone())


def _proofs(made: Path, clock: Clock) -> Proof | None:
    """Of all sizes, each a part of one file."""
    sizes = made.k[made.masks.any(axis=1)].tolist()
    found = (proof_of(made.question, made.result(k), clock.time_left()) for k in sizes)
    parts = [proof for proof in found if proof is not None]
    return together(parts) if parts else None


def _check_null(null: str, objective: str) -> None:
    if null == "shuffled":
        check_pairs(objective)
    elif null in LAWS:
        check_line(objective, null)
    else:
        raise ValueError(f"{argument('null')} must be 'shuffled', 'line' or 'normal'; got {null!r}")


def _plane(question: Question, inliers: Ints) -> tuple[float, Floats]:
    """Intercept and coefficients of the rows kept."""
    points = question.points
    if points.several:
        result = question.result(Outcome(inliers, 0.0, 0.0, "heuristic", 0), len(inliers), "", 0.0)
        return result.intercept, result.coef
    x, y = points.x[inliers], points.y[inliers]
    a, _, c = objectives.centred_sums(x, y)
    slope = c / a if a > 0 else np.nan
    return float(y.mean() - slope * x.mean()), np.array([slope])


def _collect(question: Question, sizes: list[int], walk: Walk, seconds: float) -> Path:
    points, count = question.points, len(sizes)
    masks = np.zeros((count, points.given), dtype=bool)
    numbers, coef = np.full((4, count), np.nan), np.full((count, points.p), np.nan)
    status, nodes = [walk.clock.ended()] * count, np.zeros(count, dtype=np.int64)
    for i, k in enumerate(sizes):
        outcome = walk.outcomes.get(k)
        if outcome is None:
            continue
        status[i], nodes[i] = outcome.status, outcome.nodes
        if len(outcome.inliers) == 0:
            continue
        masks[i, points.rows[outcome.inliers]] = True
        intercept, coef[i] = _plane(question, outcome.inliers)
        slope = np.nan if points.p > 1 else coef[i, 0]
        numbers[:, i] = outcome.value, outcome.bound, slope, intercept
    return Path(
        k=np.array(sizes),
        value=numbers[0],
        bound=numbers[1],
        masks=masks,
        status=np.array(status),
        slope=numbers[2],
        intercept=numbers[3],
        nodes=nodes,
        objective=question.problem.objective.name,
        n=points.n,
        seconds=seconds,
        question=question,
        coef=coef,
    )


def read_sizes(n: int, ks: Any, drop: Any, goal: objectives.Objective) -> list[int]:
    """Return the sizes asked for, falling, each once; of a range at most 501."""
    if ks is not None and drop is not None:
        raise ValueError("give at most one of ks (sizes to keep) and drop; got both")
    if ks is not None:
        chosen = [validation.keep_count(n, k, None, goal) for k in _sequence(ks, "ks")]
    elif drop is None:
        validation.keep_count(n, n, None, goal)
        chosen = _spread(n, max(n - n // 2, min(goal.min_k, n)), _MOST_SIZES)
    elif np.ndim(drop) == 0:
        chosen = _spread(n, validation.keep_count(n, None, drop, goal), n)
    else:
        chosen = [validation.keep_count(n, None, d, goal) for d in _sequence(drop, "drop")]
    return sorted(set(chosen), reverse=True)


def _spread(n: int, least: int, most: int) -> list[int]:
    """Return sizes from n down to the least, every one of them or so many evenly spaced."""
    drops = np.linspace(0, n - least, min(n - least + 1, most)).round()
    return [n - int(d) for d in drops]


def _sequence(values: Any, name: str) -> list[Any]:
    if np.ndim(values) != 1 or isinstance(values, str):
        raise TypeError(f"{name} must be a sequence of sizes; got {values!r}")
    if len(values) == 0:
        raise ValueError(f"{name} must hold at least one size; got none")
    return list(values)


# ---- rules of thumb for k ---------------------------------------------------------------------


def suggest(
    k: Ints, value: Floats, sense: int, noise: PathSignificance | None
) -> dict[str, int | None]:
    """Return each rule's k; the rules are stated in :meth:`quadsweep.Path.suggestions`."""
    finite = np.isfinite(value)
    sizes, score = k[finite], sense * value[finite]
    rules = {"gain": largest_gain(sizes, score), "elbow": elbow(sizes, score)}
    if noise is None or noise.n_outliers is None:
        return rules
    clear = noise.n - noise.n_outliers if noise.n_outliers else None
    # Beside a test that tells outliers from noise, rules that cannot may only agree with it.
    agreeing = {rule: size for rule, size in rules.items() if size == clear and size is not None}
    return {"stands out": clear, **agreeing}


def largest_gain(k: Ints, score: Floats) -> int | None:
    """Return the k after the step that gains most per point dropped.

    >>> largest_gain(np.array([10, 9, 8]), np.array([0.1, 0.7, 0.8]))
    9
    """
    if len(k) < 2:
        return None
    gain = np.diff(score) / -np.diff(k)
    return int(k[1 + np.argmax(gain)]) if gain.max() > 0 else None


def elbow(k: Ints, score: Floats) -> int | None:
    """Return the k at which the curve is farthest above the straight line between its ends.

    >>> elbow(np.array([10, 9, 8, 7]), np.array([0.1, 0.3, 0.8, 0.85]))
    8
    """
    if len(k) < 3 or not score[-1] > score[0]:
        return None
    across = (k[0] - k) / (k[0] - k[-1])
    up = (score - score[0]) / (score[-1] - score[0])
    best = int(np.argmax(up - across))
    return int(k[best]) if up[best] - across[best] > 1e-12 else None

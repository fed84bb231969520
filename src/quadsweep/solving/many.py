"""Many data sets of one shape at once: threads inside, one data set a thread."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.arrays import Floats, Ints
from quadsweep.inputs import validation
from quadsweep.objectives import Objective
from quadsweep.results.formatting import ResultMixin
from quadsweep.solving.methods.batch import Batch, BatchOutcome
from quadsweep.solving.methods.parallel_batches import executor
from quadsweep.solving.methods.problem import choose


@dataclass(frozen=True, eq=False)
class BatchResult(BatchOutcome, ResultMixin):
    """The best subset of each of T data sets.

    Attributes
    ----------
    values, bounds : arrays of T floats
        The objective on the chosen points, and a bound: no subset of that size is better. NaN if
        every subset is undefined, or if a limit stopped the search before any value.
    masks : boolean array of shape (T, n)
        True for inliers; a row without inliers has no answer.
    status : array of T strings
        As in :class:`Result`, for each data set.
    nodes : array of T whole numbers
        Subsets, hyperplanes or boxes examined.
    objective, method : str
    k : int
        Points kept in each.
    """

    json_fields = "objective method k values bounds status success inliers nodes"
    frame_fields = "value=values bound=bounds status nodes"

    objective: str
    method: str
    k: int

    def __post_init__(self) -> None:
        kept = self.masks.sum(axis=1)
        assert np.all((kept == self.k) | (kept == 0))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def success(self) -> bool:
        """True if every answer is proved to be the best."""
        return bool(np.all(self.status == "optimal"))

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a label and its text."""
        lines = [
            ("data sets", f"{len(self):,} of {self.masks.shape[1]:,} points"),
            ("kept", f"{self.k:,} points in each"),
        ]
        answered = self.values[np.isfinite(self.values)]
        if len(answered):
            low, middle, high = np.quantile(answered, [0, 0.5, 1])
            text = f"{low:.6g} to {high:.6g}, median {middle:.6g}"
            lines.append((objectives.get(self.objective).title, text))
        proved = int((self.status == "optimal").sum())
        lines.append(("certificate", f"{proved:,} of {len(self):,} proved optimal"))
        lines.append(("search", f"{self.method}, {int(self.nodes.sum()):,} nodes"))
        return lines

    @property
    def inliers(self) -> list[Ints]:
        """The rows kept of each data set."""
        return [np.flatnonzero(mask) for mask in self.masks]

    @property
    def gaps(self) -> Floats:
        """Distance between value and bound of each, 0 when the proof is complete."""
        sense = objectives.get(self.objective).sense
        with np.errstate(invalid="ignore"):  # both infinite: beyond the range of a double
            gaps = np.maximum(sense * (self.bounds - self.values), 0.0)
        return np.where(self.bounds == self.values, 0.0, gaps)


def solve_many(
    X: Any,
    Y: Any = None,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    method: str = "auto",
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    workers: str = "threads",
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> BatchResult:
    """Solve T data sets of n points each.

    Parameters
    ----------
    X, Y : arrays of shape (T, n)
        One data set in each row; an array of n numbers is used in every data set.
        ``objective="var"`` needs no ``Y``.
    k, drop, objective, method, tol, seed :
        As in :func:`solve`.
    time_limit : float, optional
        Seconds for the whole batch.
    n_jobs : int, optional
        Threads; by default one for each core. Only the choice between subsets tied within ``tol``
        depends on it.
    workers : {"threads", "joblib"}
        Threads of this process, or joblib's backend (``joblib.parallel_config``).
    client : dask Client or str, optional
        A cluster: a client, the address of a scheduler, or ``"local"`` to start one here. If a
        worker is lost, another repeats its work.
    out, resume : path, bool
        A directory for finished parts of the work, and whether to continue from them.

    Returns
    -------
    BatchResult

    Examples
    --------
    >>> import quadsweep as qs
    >>> batch = qs.solve_many([[1, 2, 3, 4], [1, 2, 3, 4]], [[1, 2, 9, 4], [7, 2, 3, 4]], drop=1)
    >>> batch.values
    array([1., 1.])
    >>> batch.masks
    array([[ True,  True, False,  True],
           [False,  True,  True,  True]])
    """
    goal = objectives.get(objective)
    xs, ys = _tables(X, Y, goal)
    keep = validation.keep_count(xs.shape[1], k, drop, goal)
    chosen = choose(method, goal, xs.shape[1], keep)
    jobs = validation.jobs(n_jobs)
    batch = Batch(
        xs,
        ys,
        keep,
        goal,
        validation.tolerance(tol),
        validation.seconds(time_limit),
        jobs,
        validation.whole(seed, "seed", 0),
    )
    with executor(workers, client, jobs, out, resume) as helpers:
        found = helpers.solve(batch, method)
    return BatchResult(**vars(found), objective=goal.name, method=chosen, k=keep)


def _tables(X: Any, Y: Any, objective: Objective) -> tuple[Floats, Floats]:
    xs = _table(X, "X")
    if Y is None:
        if objective.name != "var":
            raise ValueError(f"Y may be left out only for objective 'var'; got {objective.name!r}")
        ys = np.zeros_like(xs)
    else:
        ys = _table(Y, "Y")
    if xs.ndim == 1 and ys.ndim == 1:
        raise ValueError("X or Y must have two dimensions, one data set a row; both have one")
    if xs.shape[-1] != ys.shape[-1] or (xs.ndim == ys.ndim and xs.shape != ys.shape):
        raise ValueError(f"X and Y must have the same shape; got {xs.shape} and {ys.shape}")
    xs, ys = np.broadcast_arrays(xs, ys)
    if xs.size == 0:
        raise ValueError(f"X and Y must hold points; got shape {xs.shape}")
    bad = ~(np.isfinite(xs) & np.isfinite(ys))
    if bad.any():
        t, i = (int(p) for p in np.argwhere(bad)[0])
        raise ValueError(
            f"X and Y must be finite; got {int(bad.sum())} points with NaN or infinity, the first "
            f"in data set {t} at index {i}"
        )
    return np.ascontiguousarray(xs), np.ascontiguousarray(ys)


def _table(values: Any, name: str) -> Floats:
    try:
        array = validation.unmasked(values)
    except ValueError:
        raise ValueError(f"{name} must have rows of one length; got several") from None
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions; got shape {array.shape}")
    if array.dtype.kind == "O" and any(value is None for value in array.flat):  # masked integers
        return validation.column(array.ravel(), name).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {validation.kind(array)}")
    return np.asarray(array, dtype=np.float64)

"""The entry point: one call from columns to a Result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import normalize_arguments
from quadsweep.outofcore.result import OutOfCoreResult
from quadsweep.outofcore.search import Query
from quadsweep.outofcore.solve import SourceResources, load_or_stream, solve_out_of_core
from quadsweep.progress import SearchProgress
from quadsweep.results.result import Result
from quadsweep.solving.proving import check_provable, with_proof
from quadsweep.solving.question import SourceSettings, pose

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class Settings(SourceSettings, total=False):
        """The keyword arguments, for type checkers alone."""

        fit_intercept: bool
        drop: int | float | None
        objective: str
        method: str
        progress: SearchProgress


# A path may be larger than memory; what else may be is not known by its type.
@overload
def solve(
    points: str | os.PathLike[str],
    /,
    y: str,
    k: int | float | None = None,
    *,
    x: str,
    **settings: Unpack[Settings],
) -> Result | OutOfCoreResult: ...
@overload
def solve(
    points: Any = None,
    /,
    y: Any = None,
    k: int | float | None = None,
    *,
    x: Any = None,
    **settings: Unpack[Settings],
) -> Result: ...
def solve(
    points: Any = None,
    /,
    y: Any = None,
    k: int | float | None = None,
    *,
    x: Any = None,
    data: Any = None,
    fit_intercept: bool = True,
    weights: Any = None,
    drop: int | float | None = None,
    objective: str = "r2",
    method: str = "auto",
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: SearchProgress = None,
    memory_limit: float | None = None,
    proof: bool = False,
    client: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Result | OutOfCoreResult:
    """Find the k rows with the best value of an objective, with a proof.

    Parameters
    ----------
    points, x, y : sequences of numbers
        Lists, arrays, pandas or polars columns. Several predictors are an array of shape (n, p) or
        a data frame. The first argument may also be

        - a data frame of two columns, or a data set of :mod:`quadsweep.datasets`: x and y;
        - a data frame or source, with the names of its columns as ``x`` and ``y``;
        - a formula followed by its data frame: ``solve("y ~ a + b", frame, drop=3)``.

        ``objective="var"`` needs no ``y``.
    k : int or float, optional
        Rows to keep: a number, or a share of n in (0, 1).
    data : data frame, optional
        The table whose columns ``x`` and ``y`` name (a list of names for several predictors), or
        the table of a formula such as ``"y ~ a + b + C(group)"`` (extra ``formula``). A Parquet
        path (file, folder or pattern), an Arrow dataset, a polars LazyFrame or a dask DataFrame is
        searched out of core if its rows do not fit in ``memory_limit``.
    fit_intercept : bool
        False for a plane through the origin; R2 is then about zero, not about the mean of y.
    weights : sequence of positive numbers, optional
        Weights of weighted least squares, one for each row. ``k`` counts rows, not weights.
    drop : int or float, optional
        Rows to drop, instead of ``k``.
    objective : str
        Largest is best: ``r2``, ``r`` (correlation), ``cov``, ``dv`` (variance of x minus that of
        y). Smallest is best: ``lts`` (residual sum of squares), ``tv`` (variance of x plus that of
        y), ``var`` (variance of x), ``mcd`` (covariance determinant). Several predictors take
        ``r2`` or ``lts``.
    method : str
        ``auto`` and ``certified`` (branch and bound) and ``exhaustive`` prove the answer; with many
        predictors ``auto`` may end with a gap. ``sweep`` and ``naive`` are the paper's: they
        examine only subsets that a conic cuts off. ``concentrate`` is a heuristic.
    tol : float
        Tolerance of the proof: a difference for ``r2`` and ``r``, a share of the value for the
        others (values of zero: ``docs/certificate.md``).
    time_limit : float, optional
        Seconds after which the search returns the best subset found.
    n_jobs : int, optional
        Threads; by default one for each core.
    seed : int
        For methods that draw starting points.
    nan_policy : {"raise", "omit"}
        Refuse rows that have NaN or infinity, or leave them out.
    progress : bool or callable, optional
        Whether to show progress on standard error; by default after two seconds, in a terminal or a
        notebook. A callable receives (value, bound, nodes, seconds) about twenty times a second and
        may return False to stop the search.
    memory_limit : float, optional
        Gigabytes for the open boxes of the search; by default a quarter of the machine's memory.
    proof : bool
        Also write a proof, ``Result.proof``, that :func:`quadsweep.check` verifies in exact
        arithmetic. It is checked before it is returned, which takes far longer than the search;
        there is none if ``time_limit`` ends first.
    client, out, resume : optional
        For data out of core: a dask client, its address or ``"local"``; a folder for finished
        parts; True to continue from those parts.

    Returns
    -------
    Result
        For data out of core a :class:`quadsweep.OutOfCoreResult`.

    Examples
    --------
    >>> import quadsweep as qs
    >>> result = qs.solve([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], drop=1)
    >>> result.outliers
    array([2])
    >>> result.value, result.status
    (1.0, 'optimal')

    Two predictors:

    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1], [2, 1], [2, 3]]
    >>> result = qs.solve(X, [1, 3, 4, 60, 8, 14], drop=1)
    >>> result.outliers, result.coef.round(6)
    (array([3]), array([2., 3.]))
    """
    x, y, data = normalize_arguments("solve", points, x, y, data)
    source = None
    if data is not None or client is not None or out is not None or resume:
        source, x, y, data = load_or_stream(
            x, y, data, memory_limit, client=client, out=out, resume=resume
        )
    if source is not None:
        if method not in ("auto", "certified") or proof or weights is not None or not fit_intercept:
            raise ValueError(
                "out-of-core data support only method='auto' or 'certified', with an intercept, "
                "without proof and weights"
            )
        query = Query.checked(objective, k, drop, tol, seed, nan_policy)
        limit = validation.memory(memory_limit)
        resources = SourceResources(limit, time_limit, n_jobs, progress, client, out, resume)
        return solve_out_of_core(source, query, resources)
    clock = Clock(validation.seconds(time_limit))
    question = pose(
        x, y, data=data, objective=objective, tol=tol, n_jobs=n_jobs, seed=seed,
        nan_policy=nan_policy, fit_intercept=fit_intercept, weights=weights,
    )  # fmt: skip
    posed = question.keeping(k, drop)
    if proof:
        check_provable(method, objective, posed.problem)
    result = posed.answer(
        method,
        time_limit=clock.time_left(),
        progress=progress,
        memory_limit=validation.memory(memory_limit),
    )
    return with_proof(posed, result, clock.time_left(), progress) if proof else result

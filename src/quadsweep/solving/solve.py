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
    """The k points with the best value of an objective.

    Parameters
    ----------
    points, x, y : sequences of numbers
        The first argument is x, or a data frame or source whose columns ``x`` and ``y`` name.
        Lists, arrays, pandas or polars columns. ``x`` may have several columns, an array of shape
        (n, p) or a data frame; one data frame of two columns as ``x`` alone is x and y. ``y`` may
        be left out for ``objective="var"``. A data set of :mod:`quadsweep.datasets` will do for
        both. Or it is a formula, followed by its data frame: ``solve("y ~ a + b", frame, drop=3)``.
    k : int or float, optional
        Points to keep: a number, or a share of n in (0, 1).
    data : data frame, optional
        ``x`` and ``y`` are then names of its columns (``x`` a list of names for several), or ``x``
        is a formula such as ``"y ~ a + b + C(group)"``, which needs the extra ``formula``. A path
        of Parquet (file, folder or pattern), an Arrow dataset, a polars LazyFrame or a dask
        DataFrame is searched out of core where its rows do not fit in ``memory_limit``
        (``docs/out-of-core.md``).
    fit_intercept : bool
        False for a plane through the origin; R2 is then of y about zero.
    weights : sequence of positive numbers, optional
        One for each row, for weighted least squares: squares count that many times. ``k`` counts
        rows all the same.
    drop : int or float, optional
        Points to remove, instead of ``k``.
    objective : str
        ``r2``, ``r``, ``cov``, ``dv`` (largest is best), ``tv``, ``var``, ``lts``, ``mcd``
        (smallest); ``r2`` or ``lts`` for several predictors.
    method : str
        ``auto`` (always with a proof, unless a limit stops it or, with many predictors, the bound
        is not reached), ``certified``, ``sweep``,
        ``naive``, ``exhaustive`` or ``concentrate``.
    tol : float
        How close to the best value the proof must come: a difference for ``r2`` and ``r``, for the
        others a share of the value (``docs/certificate.md`` has the rule for values of zero).
    time_limit : float, optional
        Seconds after which the best subset so far is returned.
    n_jobs : int, optional
        Threads; None is as many as there are cores.
    seed : int
        For methods that draw starting points.
    nan_policy : {"raise", "omit"}
        What to do with rows that have NaN or infinity.
    progress : bool or callable, optional
        None shows the search on standard error, from two seconds on, where that is a terminal or a
        notebook; True always, False never. A callable is given (value, bound, nodes, seconds) about
        twenty times a second and may return False to stop.
    memory_limit : float, optional
        Gigabytes that what is still to be looked at may take; None is a quarter of the machine's.
        The search goes depth first long before, and ends with the status ``memory_limit`` only if
        that does not help.
    proof : bool
        Also write down why no subset is better, so that :func:`quadsweep.check` can verify it in
        exact arithmetic: ``Result.proof``. It is checked before it is handed out, which takes far
        longer than the search. Where ``time_limit`` is over before, there is none.
    client, out, resume : optional
        For data out of core: a dask client, an address or ``"local"``; a folder for finished parts;
        True goes on with those that are there.

    Returns
    -------
    Result
        Or, for data out of core, a :class:`quadsweep.outofcore.result.OutOfCoreResult`.

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

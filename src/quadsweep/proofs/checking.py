"""Checking a proof against the data it is about."""

from __future__ import annotations

import time
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.inputs import frames, validation
from quadsweep.inputs.validation import columns_of
from quadsweep.messages import argument
from quadsweep.proofs import checker
from quadsweep.proofs.proof import Proof


@dataclass(frozen=True)
class Check:
    """The outcome of checking a proof.

    Attributes
    ----------
    proved : bool
        Whether every inequality of the proof holds.
    message : str
        The theorem proved, or the node, the box and the inequality that fails.
    nodes : int
        Nodes examined.
    listed : int
        Subsets scored one by one.
    seconds : float
    """

    proved: bool
    message: str
    nodes: int
    listed: int
    seconds: float

    def __bool__(self) -> bool:
        return self.proved

    def __str__(self) -> str:
        return f"{'proved' if self.proved else 'refuted'}: {self.message}"


def check(
    proof: Proof | str | PathLike[str],
    x: Any,
    y: Any = None,
    *,
    controls: Any = None,
    max_bytes: int = checker.MAX_BYTES,
    max_steps: int = checker.MAX_STEPS,
) -> Check:
    """Verify a proof in exact arithmetic, trusting nothing but the data.

    Parameters
    ----------
    proof : Proof or path
        From ``solve(..., proof=True)``, or the file it was saved to.
    x, y : sequences of numbers
        The data as given to :func:`quadsweep.solve`: x has a column for each of several
        predictors. Rows with missing values are left out.
    controls : array or data frame, optional
        As given to :func:`quadsweep.audit`, without constant columns.
    max_bytes, max_steps : int
        Limits on the unpacked file and on the work (costs of rows and subsets listed, up to a
        million a second): a small file may require any amount of both.

    Returns
    -------
    Check

    Raises
    ------
    ValueError
        If the file is not a proof, is about other data, or exceeds a limit.

    Examples
    --------
    >>> import quadsweep as qs
    >>> data = qs.datasets.load("nonseparable-r2")
    >>> proof = qs.solve(data.x, data.y, data.k, proof=True).proof
    >>> qs.check(proof, data.x, data.y).proved
    True
    """
    known = proof if isinstance(proof, Proof) else Proof.load(proof, max_bytes)
    given = frames.unpack(x, y)
    predictors = columns_of(given.x)
    xs = [validation.column(v, "x") for v in ([given.x] if predictors is None else predictors)]
    ys = validation.column(given.y, "y")
    xs = [*_controls(controls), *xs]
    if any(len(column) != len(ys) for column in xs):
        lengths = sorted({len(column) for column in (*xs, ys)})
        raise ValueError(f"all columns must have the same length; got {lengths}")
    start = time.perf_counter()
    run = checker.Checker(known.content, max_steps)
    try:
        run.check(*(column.tolist() for column in (*xs, ys)))
        proved, message = True, known.claim
    except checker.Refuted as wrong:
        proved, message = False, str(wrong)
    except checker.TooMuch as wrong:
        raise ValueError(f"{wrong}: raise {argument('max_steps')}") from None
    return Check(proved, message, run.nodes, run.listed, time.perf_counter() - start)


def _controls(given: Any) -> list[Floats]:
    """Columns of numbers, but for those that say no more than an intercept."""
    if given is None:
        return []
    if hasattr(given, "columns"):
        values = frames.every_column(given)[1]
    else:
        array = np.asarray(given)
        values = [array] if array.ndim == 1 else list(array.T)
    columns = [validation.column(value, "a control") for value in values]
    return [c for c in columns if len(np.unique(c[np.isfinite(c)])) > 1]

"""What an audit of a reported test means: every removal refitted by statsmodels.

Controls that the others explain on the rows kept are left out of the fit, as libraries that drop
collinear columns do. A subset whose p-value is within ``NEAR`` of the level is too near to call,
and so is everything that depends on it, and HC2 or HC3 with a row of leverage 1. Where there is no
coefficient, no standard error, or a fit without residuals, nothing breaks.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import statsmodels.api as sm

from quadsweep.arrays import Floats, Ints

NEAR = 1e-7
KINDS = ("HC0", "HC1", "HC2", "HC3", "classical")


class TooNear(Exception):
    """A p-value that rounding may put on either side of the level."""


@dataclass(frozen=True)
class Instance:
    """A regression and a question about it; ``vcov`` is a kind or the clusters of the rows."""

    x: Floats
    y: Floats
    controls: Floats  # without the intercept
    vcov: Any
    claim: str = "significance"
    groups: Ints | None = None
    weights: Floats | None = None
    instrument: Floats | None = None
    level: float = 0.05
    link: str = ""

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def units(self) -> Ints:
        return np.arange(self.n) if self.groups is None else self.groups


def independent(z: Floats) -> Floats:
    """The columns that those before them do not explain."""
    kept: list[Floats] = []
    for column in z.T:
        left = column
        for _ in range(2):
            for other in kept:
                left = left - other * (other @ left)
        length = float(np.linalg.norm(left))
        if length > 1e-9 * max(float(np.linalg.norm(column)), 1e-300):
            kept.append(left / length)
    return np.column_stack(kept) if kept else np.zeros((len(z), 0))


def t_test(case: Instance, rows: Ints) -> tuple[float, float] | None:
    """The coefficient of x and its p-value on some rows."""
    if case.link:
        return likelihood(case, rows)
    w = np.ones(len(rows)) if case.weights is None else case.weights[rows]
    root = np.sqrt(w)[:, None]
    z = independent(root * np.column_stack([np.ones(len(rows)), case.controls[rows]])) / root
    x, y = case.x[rows], case.y[rows]
    design = np.column_stack([x, z])
    if independent(root * np.column_stack([z, x])).shape[1] < design.shape[1]:
        return None
    if len(rows) <= design.shape[1]:
        return None
    if case.instrument is not None:
        return two_stage(case, rows, z, w)
    model, how = sm.WLS(y, design, weights=w), {}
    if isinstance(case.vcov, str):
        if case.vcov != "classical":
            how = {"cov_type": case.vcov, "use_t": True}
    else:
        clusters = np.asarray(case.vcov)[rows]
        ways = clusters.T if clusters.ndim == 2 else [clusters]
        if min(len(np.unique(labels)) for labels in ways) < 2:
            return None
        how = {"cov_type": "cluster", "cov_kwds": {"groups": clusters}, "use_t": True}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fitted = model.fit(**how)
        rest = float(np.linalg.norm(fitted.wresid))
        if rest <= 1e-9 * float(np.linalg.norm(np.sqrt(w) * y)):
            return None
        if case.vcov in ("HC2", "HC3") if isinstance(case.vcov, str) else False:
            basis = np.linalg.qr(root * design)[0]
            if float((basis**2).sum(axis=1).max()) > 1 - 1e-9:
                raise TooNear  # a residual of rounding, over one less a leverage of 1
        p = float(fitted.pvalues[0])
    # The root of a variance that may be rounding: where it is zero, there is no test.
    if float(fitted.bse[0]) <= 1e-7 * max(abs(float(fitted.params[0])), np.std(y) / np.std(x)):
        raise TooNear
    return None if math.isnan(p) else (float(fitted.params[0]), p)


def likelihood(case: Instance, rows: Ints) -> tuple[float, float] | None:
    """The same of a logit or Poisson regression; None where the controls separate the outcome."""
    z = np.column_stack([np.ones(len(rows)), case.controls[rows]])
    z = independent(z) * math.sqrt(len(rows))
    x, y = case.x[rows], case.y[rows]
    if independent(np.column_stack([z, x])).shape[1] == z.shape[1]:
        return None
    if maximum(case.link, y, z) is None:
        return None
    found = maximum(case.link, y, np.column_stack([x, z]))
    if found is None:
        raise TooNear  # the term separates it: a coefficient without end
    return float(found.params[0]), float(found.pvalues[0])


def maximum(link: str, y: Floats, design: Floats) -> Any:
    """A fit by statsmodels, None where there is none."""
    model = sm.Logit if link == "logit" else sm.Poisson
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fitted = model(y, design).fit(disp=0, maxiter=60)
        except (np.linalg.LinAlgError, ValueError, sm.tools.sm_exceptions.PerfectSeparationError):
            return None
        gone = not fitted.mle_retvals["converged"] or np.isnan(fitted.pvalues).any()
        return None if gone or np.abs(design @ fitted.params).max() > 15 else fitted


def two_stage(case: Instance, rows: Ints, z: Floats, w: Floats) -> tuple[float, float] | None:
    """The same with an instrument, by linearmodels, whose "debiased" is k - p and Student's t."""
    from linearmodels.iv import IV2SLS

    assert case.instrument is not None
    s, root = case.instrument[rows], np.sqrt(w)[:, None]
    if independent(root * np.column_stack([z, s])).shape[1] == z.shape[1]:
        return None
    kind = "unadjusted" if case.vcov == "classical" else "robust"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = IV2SLS(case.y[rows], z, case.x[rows], s, weights=w)
        try:
            fitted = model.fit(cov_type=kind, debiased=True)
        except (ValueError, np.linalg.LinAlgError):
            return None
    slope, p = float(fitted.params.iloc[-1]), float(fitted.pvalues.iloc[-1])
    return None if math.isnan(p) else (slope, p)


def broken(case: Instance, rows: Ints, full: tuple[float, float]) -> bool:
    """Whether the claim that holds on all rows breaks on these."""
    found = t_test(case, rows)
    if found is None:
        return False
    slope, p = found
    if case.claim == "sign":
        if abs(slope) < NEAR * abs(full[0]):
            raise TooNear
        return slope * full[0] < 0
    if abs(p - case.level) < NEAR:
        raise TooNear
    if case.claim == "reverse":
        return p < case.level and slope * full[0] < 0
    return (p < case.level) != (full[1] < case.level)


def removals(case: Instance, m: int) -> Iterator[Ints]:
    """The rows kept, for all removals of m units."""
    for gone in combinations(np.unique(case.units).tolist(), m):
        yield np.flatnonzero(~np.isin(case.units, gone))


def fewest(case: Instance, most: int) -> int | None:
    """The fewest units whose removal breaks the claim, None if no more than ``most`` do."""
    full = t_test(case, np.arange(case.n))
    assert full is not None
    for m in range(1, most + 1):
        if any(broken(case, rows, full) for rows in removals(case, m)):
            return m
    return None

"""The t test of a coefficient, with the classical standard error or those that no proof covers.

With x~ what the controls leave of x and e the residuals, all on the rows kept, and p columns:

    classical   s^2 / sum x~^2,                       k - p degrees of freedom
    HC1         k / (k - p) sum (x~ e)^2 / (sum x~^2)^2
    HC3         sum (x~ e / (1 - h))^2 / (sum x~^2)^2
    clusters    G / (G - 1) (k - 1) / (k - p) sum_g (sum_g x~ e)^2 / (sum x~^2)^2, G - 1 degrees
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import CorrelationAbove, CorrelationBelow
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.moments import Sums, basis, residual
from quadsweep.results.formatting import chance

KINDS = ("HC1", "HC3")
_CLEAR = 1e-7


@dataclass(frozen=True, eq=False)
class Errors:
    """Which standard errors: ``kind`` is classical, HC1, HC3 or cluster, by these clusters."""

    kind: str = "classical"
    clusters: Ints | None = None
    by: str = ""

    @property
    def test(self) -> str:
        if self.kind == "classical":
            return "classical t test"
        if self.kind == "cluster":
            return f"t test, standard errors clustered by {self.by}"
        return f"t test, {self.kind} standard errors"


@dataclass(frozen=True)
class TermFit(Fit):
    """What a multiple regression says about one coefficient.

    ``slope`` is the coefficient, ``r`` the partial correlation given the controls, ``r2`` the
    multiple R2; ``intercept`` is NaN where the regression has none.
    """

    se: float = math.nan
    t: float = math.nan
    freedom: int = 0

    def __str__(self) -> str:
        return (
            f"coefficient {self.slope:.4g}, standard error {self.se:.3g}, t {self.t:.3g}, "
            f"{chance(self.p_value)}, R² {self.r2:.4g}   ({self.n:,} rows)"
        )


@np.errstate(over="ignore", invalid="ignore")
def fit_term(design: Design, kept: Ints, errors: Errors) -> TermFit:
    """The coefficient of the term on some rows, all controls refitted."""
    from scipy.special import stdtr

    nan = math.nan
    nothing = TermFit(len(kept), nan, nan, nan, nan, nan)
    root = design.root_weights[kept]
    x, y, z = (v[kept] for v in design.scaled)
    space = basis(z)
    u, w = residual(space.q, x), residual(space.q, y)
    a = float(u @ u)
    if not a > 1e-24 * max(float(x @ x), 1e-300):
        return nothing
    b, c = float(w @ w), float(u @ w)
    slope = c / a
    rest = w - slope * u
    used = space.q.shape[1] + 1 + design.fixed
    about = design.y[kept]
    if design.intercept is not None:
        about = about - float((root * root) @ about) / float((root * root).sum())
    total = float(((root * about) ** 2).sum())
    freedom, variance = _variance(u, rest, space.q, len(kept), used, errors, kept)
    se = math.sqrt(variance) if freedom >= 1 else math.nan
    t = slope / se if se > 0 else math.copysign(math.inf, slope) if se == 0 else math.nan
    return TermFit(
        n=len(kept),
        slope=slope,
        intercept=_intercept(design, kept, slope),
        r=c / (math.sqrt(a) * math.sqrt(b)) if b > 0 else math.nan,
        r2=1 - float(rest @ rest) / total if total > 0 else math.nan,
        p_value=float(2 * stdtr(freedom, -abs(t))) if freedom >= 1 else math.nan,
        se=se,
        t=t,
        freedom=freedom,
    )


def _variance(
    u: Floats, rest: Floats, q: Floats, k: int, used: int, errors: Errors, kept: Ints
) -> tuple[int, float]:
    a, freedom = float(u @ u), k - used
    if freedom < 1:
        return freedom, math.nan
    score = u * rest
    if errors.kind == "HC1":
        return freedom, k / freedom * float(score @ score) / a**2
    if errors.kind == "HC3":
        left = 1 - (q * q).sum(axis=1) - u * u / a
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(left > 1e-10, score / left, 0.0)
        return freedom, float(score @ score) / a**2
    if errors.kind == "cluster":
        assert errors.clusters is not None
        _, which = np.unique(errors.clusters[kept], return_inverse=True)
        sums = np.bincount(which, score)
        g = len(sums)
        if g < 2:
            return 0, math.nan
        return g - 1, g / (g - 1) * (k - 1) / freedom * float(sums @ sums) / a**2
    return freedom, float(rest @ rest) / freedom / a


def _intercept(design: Design, kept: Ints, slope: float) -> float:
    if design.intercept is None:
        return math.nan
    root = design.root_weights[kept]
    z = root[:, None] * design.controls[kept]
    y = root * (design.y[kept] - slope * design.x[kept])
    coefficients = np.linalg.lstsq(z, y, rcond=None)[0]
    return float(coefficients[design.intercept] * design.controls[0, design.intercept])


@dataclass(frozen=True, eq=False)
class RobustCase(Case):
    """A test with other standard errors: removals are found as for the classical one, and tested.

    The t statistic stands for the partial r of the same p-value, so that conditions need not know.
    """

    errors: Errors

    def excess(self, removal: Ints) -> float:
        assert isinstance(self.condition, (CorrelationAbove, CorrelationBelow))
        design = self.moments.design
        kept = np.setdiff1d(np.arange(design.n), design.rows(removal))
        found = fit_term(design, kept, self.errors)
        if found.freedom < 1 or math.isnan(found.t):
            return -math.inf
        # A residual of zero everywhere has no robust error to divide by.
        if math.isinf(found.t):
            return -math.inf
        r = found.t / math.sqrt(found.freedom + found.t**2)
        stand_in = Sums(found.freedom + 1, 0, 1.0, 1.0, r, 1.0)
        return self.condition.excess(stand_in, (1.0, 1.0))

    def broken(self, removal: Ints) -> bool:
        return self.excess(removal) > _CLEAR

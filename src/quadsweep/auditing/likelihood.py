"""Logistic and Poisson regressions: the coefficient of the term by maximum likelihood.

The log-likelihood is concave, so the coefficient has the sign of the score of the term, sum x (y -
m), at the fit without it. Where the controls alone separate the outcome on the rows kept, that fit
does not exist, there is no coefficient, and nothing breaks; where only the term does, the
coefficient is infinite and has a sign. A z test needs the whole fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from quadsweep import _core
from quadsweep.arrays import Floats, Ints
from quadsweep.auditing import claims
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import (
    Claim,
    CorrelationAbove,
    CorrelationBelow,
    SlopeBeyond,
    Subject,
    Terms,
)
from quadsweep.auditing.controls.reading import Regression, phrase
from quadsweep.auditing.controls.robust import TermFit
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.moments import Moments, Sums
from quadsweep.auditing.span import basis, residual
from quadsweep.inputs.standard_errors import OWN

_STEPS = 60
_SETTLED = 1e-9
_LONG = 2.0  # a step of this length, in the metric of the curvature
_FAR = 25.0  # a linear predictor beyond which a fit has separated
_NEAR = 0.1  # of the columns' own squares on all rows, what is left on others: a basis there, too


def mean(link: str, eta: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(eta) if link == "logit" else np.exp(eta))


def potential(link: str, eta: Floats) -> Floats:
    """What has the mean as its derivative: a log-likelihood is y eta less it."""
    return np.asarray(np.logaddexp(0.0, eta) if link == "logit" else np.exp(eta))


def variance(link: str, m: Floats) -> Floats:
    return m * (1 - m) if link == "logit" else m


def maximum(z: Floats, y: Floats, w: Floats, link: str, start: Floats | None = None) -> Any:
    """The coefficients of independent columns; None where the fit does not settle."""
    beta = np.zeros(z.shape[1]) if start is None else start
    for _ in range(_STEPS):
        eta = z @ beta
        if not np.all(np.abs(eta) < _FAR):
            return None
        m = mean(link, eta)
        curve = (z * (w * variance(link, m))[:, None]).T @ z
        try:
            root = np.linalg.cholesky(curve)
        except np.linalg.LinAlgError:
            return None
        scaled = np.linalg.solve(root, z.T @ (w * (y - m)))
        length, step = float(np.linalg.norm(scaled)), np.linalg.solve(root.T, scaled)
        if length > _LONG:  # shortened so that the likelihood rises
            most = float(np.abs(z @ step).max())
            step *= math.log1p(most) / most
        beta = beta + step
        if length < _SETTLED:
            return beta
    return None


def fit_likelihood(design: Design, kept: Ints) -> TermFit:
    """The whole fit on some rows."""
    from scipy.special import ndtr

    nan = math.nan
    x, y, z = (v[kept] for v in (design.x, design.y, design.controls))
    w = np.ones(len(kept)) if design.weights is None else design.weights[kept]
    q = basis(z).q
    u = residual(q, x)
    length = float(np.linalg.norm(u))
    nothing = TermFit(len(kept), nan, nan, nan, nan, nan)
    if not length > 1e-12 * float(np.linalg.norm(x)):
        return nothing
    columns = np.column_stack([q, u / length])
    beta = maximum(columns, y, w, design.link)
    if beta is None:
        return nothing
    m = mean(design.link, columns @ beta)
    curve = (columns * (w * variance(design.link, m))[:, None]).T @ columns
    se = math.sqrt(float(np.linalg.inv(curve)[-1, -1])) / length
    slope = float(beta[-1]) / length
    z_value = slope / se
    freedom = len(kept) - columns.shape[1]
    return TermFit(
        len(kept), slope, nan, nan, nan, float(2 * ndtr(-abs(z_value))), se, z_value, freedom, "z"
    )


class Likelihood:
    """One condition on the fits of subsets: of the sign, or of the z test.

    Attributes
    ----------
    rows, first : the rows in the order of their units, and where among them each unit begins.
    start : the coefficients on all rows of ``z``, an orthonormal basis of the controls, and of
        ``x``, what they leave of the term, if the test is of the whole fit.
    side : 0 where |z| must be below ``critical``, or the sign with which it must be above; of a
        sign, the one that breaks the claim, and ``critical`` the least cosine of the score.
    """

    usable = True

    def __init__(self, design: Design, condition: Any) -> None:
        from scipy.special import ndtri

        self.design, self.sign_alone = design, isinstance(condition, SlopeBeyond)
        self.rows = np.argsort(design.unit, kind="stable")
        self.first = np.concatenate([[0], np.cumsum(np.bincount(design.unit))]).tolist()
        self.z = basis(design.controls).q
        u = residual(self.z, design.x)
        self.x = u / np.linalg.norm(u)
        self.weights = np.ones(design.n) if design.weights is None else design.weights
        self.side = 0 if isinstance(condition, CorrelationBelow) else condition.sign
        self.critical = condition.margin if self.sign_alone else 0.0
        if not self.sign_alone:
            # The p-value that a correlation's threshold stands for at many degrees of freedom.
            freedom = 10**6
            r = condition.threshold(freedom)
            self.critical = float(r * math.sqrt(freedom) / math.sqrt((1 - r) * (1 + r)))
            self.critical = float(-ndtri(_tail(self.critical, freedom)))

    def columns(self) -> Floats:
        return np.column_stack([self.z, self.x])

    @cached_property
    def start(self) -> Any:
        columns = self.z if self.sign_alone else self.columns()
        return maximum(columns, self.design.y, self.weights, self.design.link)

    @cached_property
    def core(self) -> _core.LikelihoodTest:
        """The test as the compiled half wants it."""
        columns = np.ascontiguousarray(self.columns()[self.rows])
        return _core.LikelihoodTest(
            columns, self.design.y[self.rows], self.weights[self.rows], self.first,
            link=self.design.link, start=self.start.tolist(), sign_alone=self.sign_alone,
            critical=self.critical, side=self.side,
        )  # fmt: skip

    def without(self, kept: Ints) -> tuple[Floats, float] | None:
        """On all rows, x times (y - m) at the fit without x to some rows; and its cosine there."""
        z, y, w, link = self.z[kept], self.design.y, self.weights, self.design.link
        if float(np.linalg.eigvalsh(z.T @ z).min(initial=1.0)) > _NEAR:
            beta = maximum(z, y[kept], w[kept], link, self.start if self.sign_alone else None)
        else:
            q = basis(z).q
            beta = maximum(q, y[kept], w[kept], link)
            if beta is not None:
                beta = np.linalg.lstsq(z, q, rcond=None)[0] @ beta
        if beta is None:
            return None
        with np.errstate(over="ignore"):
            rest = w * (y - mean(link, self.z @ beta))
        size = float(np.linalg.norm(self.x[kept]) * np.linalg.norm(rest[kept]))
        score = float(self.x[kept] @ rest[kept])
        return self.x * rest, score / size if size > 0 else 0.0

    def excess(self, kept: Ints) -> float:
        """How far past its threshold a subset is; minus infinity where there is no fit."""
        if self.sign_alone:
            found = self.without(kept)
            return -math.inf if found is None else self.side * found[1] - self.critical
        z = fit_likelihood(self.design, kept).t
        if math.isnan(z):
            return -math.inf
        return self.critical - abs(z) if self.side == 0 else self.side * z - self.critical


def _tail(t: float, freedom: int) -> float:
    from scipy.special import stdtr

    return float(stdtr(freedom, -t))


@dataclass(frozen=True, eq=False)
class LikelihoodProblem(BreakProblem):
    """A condition on a coefficient by maximum likelihood."""

    linear = first_order = False

    @cached_property
    def test(self) -> Likelihood:
        return Likelihood(self.moments.design, self.condition)

    @property
    def necessary(self) -> tuple[BreakProblem, ...]:
        how = self.condition
        if not isinstance(how, CorrelationAbove):
            return ()
        return (LikelihoodProblem(self.moments, SlopeBeyond(0.0, 0.0, how.sign)),)

    def excess(self, removal: Ints) -> float:
        return self.test.excess(self.moments.design.kept(removal))

    def broken(self, removal: Ints) -> bool:
        return self.excess(removal) > 0

    def gain(self, removal: Ints) -> Floats:
        found = self.test.without(self.moments.design.kept(removal))
        if found is None:
            return np.zeros(self.moments.design.size)
        way = self.test.side
        if isinstance(self.condition, (CorrelationBelow, CorrelationAbove)) and way == 0:
            way = -self.condition.sign
        return self.moments.design.sums(way * found[0])

    def influence(self) -> tuple[Floats, float]:
        nothing = np.zeros(0, dtype=np.int64)
        return -self.gain(nothing), self.excess(nothing)

    def passed(self, removal: Ints) -> bool:
        return self.broken(removal)


def pose_claim(
    given: Regression, terms: Terms, before: Fit
) -> tuple[Claim, tuple[BreakProblem, ...]]:
    """Return the claim about a term of the regression, and one problem for each way it breaks."""
    design = given.design
    if terms.name in ("r2", "slope") or given.fixed:
        raise ValueError("a logistic or Poisson regression has the claims 'sign', 'significance' "
                         "and 'reverse', controls refitted; "
                         f"got {terms.name!r}")  # fmt: skip
    if math.isnan(before.slope):
        raise ValueError(f"the {design.link} fit on all {design.n} rows does not exist: its "
                         "columns separate the outcome, or nearly so")  # fmt: skip
    sign = Fraction(1 if before.slope > 0 else -1, 2)
    full = Sums(design.n, design.q, Fraction(1), Fraction(1), sign, Fraction(1))
    subject = Subject.coefficient(phrase(given), name_test(given), True)
    claimed = claims.build(terms, full, subject, before.p_value <= terms.level)
    moments = Moments(design)
    return claimed, tuple(LikelihoodProblem(moments, how) for how in claimed.conditions)


def name_test(given: Regression) -> str:
    """Return the name of the test of a logistic or Poisson regression."""
    own = given.errors.test if given.errors.kind == OWN else "z test"
    return f"{given.design.link} regression, {own}"

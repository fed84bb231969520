"""What a fitted model says about its term on some rows: its own library fits it again.

Tests with errors that no search knows are searched by refits: good removals are found as for the
classical test, and each is fitted again; so is every removal of a few units if there is time.
A removal after which the term has no figures breaks nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing import claims
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import Claim, CorrelationAbove, SlopeBeyond, Subject, Terms
from quadsweep.auditing.controls.reading import Regression, phrase
from quadsweep.auditing.controls.robust import CLEAR, TermFit, student
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.likelihood import LikelihoodProblem
from quadsweep.auditing.moments import Moments, Sums
from quadsweep.inputs.fitted.joint import JointModel
from quadsweep.inputs.fitted.protocol import Figures, Model


@dataclass(frozen=True, eq=False)
class StatedTerm:
    """A term of a fitted model; ``rows`` are those of the design among the model's."""

    model: Model
    rows: Ints
    term: str
    is_least_squares: bool = True
    found: dict[bytes, Figures | None] = field(default_factory=dict)

    def refit(self, kept: Ints) -> Figures | None:
        """The figures on some rows of the design; None where they are undefined."""
        key = np.asarray(kept, dtype=np.int64).tobytes()
        if key not in self.found:
            if len(self.found) > 64:  # only what is asked for twice in a row is worth keeping
                self.found.clear()
            figures = self.model.refit(self.rows[kept], [self.term]).figures
            self.found[key] = figures.get(self.term)
        return self.found[key]

    def state(self, fit: TermFit, kept: Ints) -> TermFit:
        """A fit of the columns with the figures of the model; NaN where these are undefined."""
        if not self.is_least_squares:
            fit = replace(fit, intercept=math.nan, r=math.nan, r2=math.nan)
        figures = self.refit(kept)
        if figures is None:
            nan = math.nan
            return replace(fit, slope=nan, p_value=nan, se=nan, t=nan)
        return replace(
            fit,
            slope=figures.estimate,
            p_value=figures.p,
            statistic="F" if math.isnan(figures.se) else fit.statistic,
            se=figures.se,
            t=figures.statistic,
            freedom=fit.freedom if math.isinf(figures.df) else int(figures.df),
        )

    def correlate(self, kept: Ints) -> Sums[float] | None:
        """Sums with the partial r whose p-value is that of the model's test."""
        figures = self.refit(kept)
        if figures is None or figures.df < 1:
            return None
        freedom = len(kept) if math.isinf(figures.df) else int(figures.df)
        t = figures.statistic
        t = student(t, freedom) if math.isinf(figures.df) else t
        return Sums(freedom + 1, 0, 1.0, 1.0, t / math.sqrt(freedom + t * t), 1.0)


@dataclass(frozen=True, eq=False)
class StatedProblem(BreakProblem):
    """A test whose errors, or a claim about a term, that only the model's library knows."""

    first_order = False
    is_refitted = True

    stated: StatedTerm

    @property
    def necessary(self) -> tuple[BreakProblem, ...]:
        if not isinstance(self.condition, CorrelationAbove) or not self.stated.is_least_squares:
            return ()
        return (BreakProblem(self.moments, SlopeBeyond(0.0, 0.0, self.condition.sign)),)

    def excess(self, removal: Ints) -> float:
        return _excess(self, self.stated, removal)

    def broken(self, removal: Ints) -> bool:
        return self.excess(removal) > CLEAR


@dataclass(frozen=True, eq=False)
class StatedLikelihood(LikelihoodProblem):
    """A test of a logistic or Poisson regression whose errors only its library knows."""

    is_refitted = True

    stated: StatedTerm

    def excess(self, removal: Ints) -> float:
        return _excess(self, self.stated, removal)

    def broken(self, removal: Ints) -> bool:
        return self.excess(removal) > CLEAR


def _excess(problem: BreakProblem, stated: StatedTerm, removal: Ints) -> float:
    sums = stated.correlate(problem.moments.design.kept(removal))
    return -math.inf if sums is None else float(problem.condition.excess(sums, (1.0, 1.0)))


def stated_term(given: Regression) -> StatedTerm | None:
    """Return what refits the term of a fitted model; None where there is no model."""
    if given.model is None or given.model_rows is None:
        return None
    return StatedTerm(given.model, given.model_rows, given.design.term, not given.by_refits)


def pose_claim_by_refits(
    given: Regression, terms: Terms, before: Fit
) -> tuple[Claim, tuple[BreakProblem, ...]]:
    """Return the claim about a term of a model without a search, and its problems."""
    stated = stated_term(given)
    assert stated is not None
    is_joint = isinstance(stated.model, JointModel)
    if is_joint and terms.name != "significance":
        raise ValueError(f"{stated.model.name} have the claim 'significance'; got {terms.name!r}")
    if terms.name in ("r2", "slope"):
        raise ValueError(f"{stated.model.name} have the claims 'sign', 'significance' and "
                         f"'reverse'; got {terms.name!r}")  # fmt: skip
    sign = Fraction(1 if before.slope > 0 else -1, 2)
    full = Sums(given.design.n, given.design.q, Fraction(1), Fraction(1), sign, Fraction(1))
    subject = Subject.coefficient(phrase(given), given.errors.test, True)
    claimed = claims.build(terms, full, subject, before.p_value <= terms.level)
    if is_joint:  # whose statistic has no sign
        claimed = replace(claimed, conditions=claimed.conditions[:1])
    moments = Moments(given.design)
    return claimed, tuple(StatedProblem(moments, how, stated) for how in claimed.conditions)

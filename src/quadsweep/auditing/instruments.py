"""One instrument for the term: its coefficient is that of the reduced form over the first stage's.

With z~ what the controls leave of the instrument on the rows kept, the coefficient is above c where
sum z~ (y - c x) and sum z~ x have the same sign. Both are signs of least-squares coefficients of
the instrument, so a claim about the coefficient (``sign``, ``slope``) breaks where one of the two
forms changes its sign and the other does not (``oracles.choice.BothSigns``).

The Anderson-Rubin test of a coefficient of 0 is the t test of the instrument in the reduced form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from quadsweep.arrays import Floats, Ints
from quadsweep.auditing import claims
from quadsweep.auditing.break_problem import BreakProblem, Residuals
from quadsweep.auditing.claims import (
    Claim,
    Condition,
    CorrelationAbove,
    CorrelationBelow,
    SlopeBeyond,
    Subject,
    Terms,
)
from quadsweep.auditing.controls.reading import Regression, explained, phrase
from quadsweep.auditing.controls.robust import RobustProblem
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.moments import Moments, Sums
from quadsweep.auditing.resources import Resources
from quadsweep.inputs.standard_errors import StandardErrors
from quadsweep.messages import argument

_LEAST = 1e-300  # instead of a covariance that has turned
_TURNED = 1e12  # off the score of a removal that turns the second form


class TwoForms(NamedTuple):
    """The fits of both forms without some rows."""

    one: Residuals
    other: Residuals

    def without(self, row: int) -> TwoForms:
        """Return both without a row that was kept."""
        return TwoForms(self.one.without(row), self.other.without(row))

    def return_row(self, row: int) -> TwoForms:
        """Return both with a row that was removed."""
        return TwoForms(self.one.return_row(row), self.other.return_row(row))


@dataclass(frozen=True, eq=False)
class InstrumentProblem(BreakProblem):
    """One form changes its sign, and ``other``, that the second still has its own, holds.

    Removals are found by the ratio of the two covariances, the first over the second.
    """

    first_order = False

    other: BreakProblem

    @property
    def parts(self) -> tuple[BreakProblem, ...]:
        return BreakProblem(self.moments, self.condition), self.other

    def broken(self, removal: Ints) -> bool:
        return all(part.broken(removal) for part in self.parts)

    def excess(self, removal: Ints) -> float:
        return min(part.excess(removal) for part in self.parts)

    def gain(self, removal: Ints) -> Floats:
        one, other = (part.residuals(removal) for part in self.parts)
        ratio = self.signs[0] * one.c / max(self.signs[1] * other.c, _LEAST)
        gain = self.signs[0] * one.x * one.y - min(ratio, 0.0) * self.signs[1] * one.x * other.y
        return self.moments.design.sums(gain)

    def without_units(self, removal: Ints) -> TwoForms:
        return TwoForms(*(part.residuals(removal) for part in self.parts))

    def statistic_without_each(self, r: TwoForms) -> Floats:
        """Return the ratio without each row; below all of them where the second form turns."""
        one, other = r.one, r.other
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 1 - one.leverage
            top = self.signs[0] * (one.c - one.x * one.y / left)
            bottom = self.signs[1] * (other.c - other.x * other.y / left)
            fine = one.inside & (left > 1e-9) & (one.a - one.x**2 / left > 1e-12)
            score = np.where(bottom > 0, top / bottom, bottom - _TURNED)
        return np.where(fine & np.isfinite(score), score, -np.inf)

    @property
    def signs(self) -> tuple[int, int]:
        """Those that the covariances of both forms are to have."""
        signs = [p.condition.sign for p in self.parts if isinstance(p.condition, SlopeBeyond)]
        return signs[0], signs[1]


def reduced_form(design: Design, at: float = 0.0) -> Design:
    """The outcome, less ``at`` times the term, on the instrument and the controls."""
    assert design.instrument is not None
    return replace(
        design,
        x=design.instrument,
        y=design.y - at * design.x if at else design.y,
        term=design.instrument_name,
        instrument=None,
    )


def first_stage(design: Design) -> Design:
    """The term on the instrument and the controls."""
    assert design.instrument is not None
    return replace(
        design,
        x=design.instrument,
        y=design.x,
        term=design.instrument_name,
        outcome=design.term,
        instrument=None,
    )


def coefficient_sums(design: Design) -> Sums[Fraction]:
    """Stands for the sums of all rows: only the sign of the coefficient is in it."""
    reduced, stage = (Moments(d).all_rows() for d in (reduced_form(design), first_stage(design)))
    name = design.instrument_name
    if stage.c == 0:
        raise ValueError(
            f"the instrument {name} does not move {design.term} on all rows, so it has no "
            "coefficient"
        )
    one = Fraction(1)
    product = reduced.c * stage.c
    sign = (product > 0) - (product < 0)
    return Sums(reduced.k, reduced.rank, one, one, Fraction(sign, 2), one)


def problems(
    design: Design, conditions: tuple[Condition, ...], errors: StandardErrors
) -> tuple[BreakProblem, ...]:
    """The problems of a claim about the coefficient of an instrumented term."""
    stage = Moments(first_stage(design))
    found: list[BreakProblem] = []
    for condition in conditions:
        if isinstance(condition, SlopeBeyond):
            found += _sign_problems(Moments(reduced_form(design, condition.beta)), stage, condition)
        else:
            assert isinstance(condition, (CorrelationAbove, CorrelationBelow))
            reduced = Moments(reduced_form(design))
            signs: list[BreakProblem] = []
            if isinstance(condition, CorrelationAbove):
                signs = _sign_problems(reduced, stage, SlopeBeyond(0.0, 0.0, condition.sign))
            found.append(RobustProblem(reduced, condition, errors, design, stage, tuple(signs)))
    return tuple(found)


def _sign_problems(reduced: Moments, stage: Moments, condition: SlopeBeyond) -> list[BreakProblem]:
    """None where the coefficient has that sign on all rows."""
    signs = [1 if m.all_rows().c > 0 else -1 for m in (reduced, stage)]
    if signs[0] * signs[1] == condition.sign:
        return []
    out: list[BreakProblem] = []
    for this, other, own, others in (
        (reduced, stage, signs[0], signs[1]),
        (stage, reduced, signs[1], signs[0]),
    ):
        still = BreakProblem(other, SlopeBeyond(0.0, condition.margin, others))
        out.append(InstrumentProblem(this, SlopeBeyond(0.0, condition.margin, -own), still))
    return out


def pose_claim(
    given: Regression, terms: Terms, before: Fit, resources: Resources
) -> tuple[Claim, tuple[BreakProblem, ...]]:
    """Return the claim about an instrumented term, and one problem for each way it breaks."""
    design, errors, claim = given.design, given.errors, terms.name
    if claim == "r2" or given.fixed:
        raise ValueError("an instrumented term has the claims 'sign', 'slope', 'significance' and "
                         f"'reverse', and its controls are refitted; got {claim!r}")  # fmt: skip
    if errors.kind in ("HC2", "HC3"):
        raise ValueError(f"{errors.kind} standard errors are for least squares; an instrumented "
                         "term has classical, HC0, HC1 or clustered ones")  # fmt: skip
    if errors.reduced_form and claim != "significance":
        raise ValueError(
            f"{argument('vcov', 'anderson-rubin')} is for {argument('claim', 'significance')}; "
            f"got {claim!r}"
        )
    assert design.instrument is not None
    if explained(design, design.instrument):
        name = design.instrument_name
        raise ValueError(f"the controls explain the instrument {name} on all rows")
    test = errors.test if errors.reduced_form else f"two-stage least squares, {errors.test}"
    subject = Subject.coefficient(phrase(given), test, True)
    if errors.reduced_form:
        moments = Moments(reduced_form(design), resources.check)
        claimed = claims.build(terms, moments.all_rows(), subject)
        return claimed, tuple(BreakProblem(moments, how) for how in claimed.conditions)
    full = coefficient_sums(design)
    claimed = claims.build(terms, full, subject, before.p_value <= terms.level)
    return claimed, problems(design, claimed.conditions, errors)

"""Audit simulated clean regressions of the same strength, to judge whether the count is small.

An outcome is drawn as y* = fitted + e* with the estimate and the residual sum of squares of the
data: e* is drawn anew, projected on what the regression leaves, and scaled. So coefficient,
classical standard error, t and R2 are the same in every draw, and only the errors are others. Where
errors are normal, and drawn normal, this is their exact distribution given estimate and variance,
which residuals are independent of. Other errors are the residuals over the roots of 1 - leverage,
permuted; and since variances often depend on the term, a trend of their size in

    log |e| = a + b u + c |u|,      u = what the controls leave of the term, standardised,

fitted so that single rows have little weight, is taken out before and put in after. What trend the
permuted residuals have by chance is taken out too: a draw has the trend of the data, as it has
their estimate. Otherwise the trend, estimated from the residuals whose removal is counted, makes
the draws follow the data, and the test is cautious (a p-value that plugs in an estimate which it
does not condition on).

Every draw is audited exactly. Counts are discrete: half of the ties count (the mid-p-value).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Floats
from quadsweep.auditing.audit import audit_given
from quadsweep.auditing.claims import Terms
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.span import basis
from quadsweep.auditing.specification import units_of
from quadsweep.clock import Stopped
from quadsweep.inputs import validation
from quadsweep.messages import argument
from quadsweep.progress import counting
from quadsweep.results.formatting import ResultMixin, attributes, drawn_by

if TYPE_CHECKING:
    from quadsweep.auditing.result import Audit

ERRORS = ("heteroskedastic", "permuted", "normal")
_ROUNDS = 20
_FREE = 1e-8  # of 1 - leverage: rows that the regression does not fit exactly
_PATIENCE = 10.0  # a draw may take as many times the seconds of the audit, and a second


@dataclass(frozen=True, eq=False)
class Reference(ResultMixin):
    """How many rows must be removed from simulated clean regressions of the same strength.

    Attributes
    ----------
    audit : Audit
        The audit that is compared.
    lower, upper : arrays
        Bounds on the count of each draw, equal if it is proved; ``upper`` is NaN if no removal was
        found.
    errors : str
        The method that made the errors of the draws.
    seed : int
    status : str
        ``optimal`` if all draws are proved, ``undecided`` if some are not, ``time_limit`` or
        ``interrupted`` if there are fewer than requested.
    seconds : float
    """

    audit: Audit
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    errors: str
    seed: int
    status: str
    seconds: float

    @property
    def draws(self) -> int:
        """Number of draws."""
        return len(self.lower)

    @property
    def p_value(self) -> float:
        """Share of clean regressions that need as few rows or fewer; ties count half.

        If draws, or the audit itself, have only bounds: the largest p-value that these allow.
        """
        observed = self.audit.upper
        if observed is None:
            return 1.0
        fewer, ties = self.lower < observed, self.lower == observed
        return float((0.5 + fewer.sum() + 0.5 * ties.sum()) / (self.draws + 1))

    def interval(self, share: float = 0.9) -> tuple[float, float]:
        """Interval of the counts that holds the middle share of the draws; infinite if unknown."""
        ends = (1 - share) / 2, (1 + share) / 2
        most = np.where(np.isnan(self.upper), np.inf, self.upper)
        low = np.quantile(self.lower, ends[0], method="inverted_cdf")
        return float(low), float(np.quantile(most, ends[1], method="inverted_cdf"))

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        low, high = self.interval()
        units = units_of([self.audit])
        needs = f"{low:,.0f} to {high:,.0f}" if np.isfinite(high) else f"{low:,.0f} or more"
        if low == high:
            needs = f"{low:,.0f}"
        found = self.audit
        here = "more than were tried"
        if found.upper is not None:
            here = f"{found.upper:,}"
            if found.lower < found.upper:
                here = f"{found.lower:,} to {found.upper:,}"
        return (
            f"A clean regression of this strength needs {needs} {units}; this one needs {here} "
            f"(p = {self.p_value:.2g})."
        )

    def summary_items(self) -> list[tuple[str, str]]:
        """Description of the draws as pairs of a name and a text."""
        proved = int((self.lower == self.upper).sum())
        return [
            ("claim", self.audit.claim),
            ("draws", f"{self.draws:,}, {proved:,} of them proved; 90% of them are quoted"),
            ("errors", f"{self.errors}, with the estimate and the residual variance of the data"),
            ("status", self.status),
            ("search", f"{self.seconds:.3g} s"),
        ]

    json_fields = (
        "p_value interval observed lower upper errors seed status message=headline seconds"
    )
    frame_fields = "lower upper"

    @property
    def observed(self) -> dict[str, Any]:
        """The bounds of the audit itself."""
        return attributes(self.audit, "lower upper")

    plot = drawn_by("reference.plot_reference", "The counts of the draws, and that of the data.")


def reference(
    audit: Audit, draws: Any, seed: Any, errors: Any, time_limit: Any, n_jobs: Any, progress: Any
) -> Reference:
    """The audits of drawn outcomes."""
    if not isinstance(errors, str) or errors not in ERRORS:
        raise ValueError(f"errors must be one of {', '.join(ERRORS)}; got {errors!r}")
    columns, audit_outcome = redrawn(audit, n_jobs)
    number = validation.whole(draws, "draws", 1)
    limit = validation.seconds(time_limit)
    rng = np.random.default_rng(validation.whole(seed, "seed", 0))
    start, status = time.perf_counter(), "optimal"
    patience = 1.0 + _PATIENCE * audit.seconds
    found: list[tuple[float, float]] = []
    with counting(progress, "draws") as tick:
        try:
            for y in outcomes(*columns, errors, rng):
                gone = time.perf_counter() - start
                if tick(len(found), number, gone) is False:
                    raise Stopped("interrupted")
                if len(found) == number:
                    break
                if gone > limit:
                    raise Stopped("time_limit")
                one = audit_outcome(y, min(patience, limit - gone))
                found.append((one.lower, np.nan if one.upper is None else one.upper))
        except Stopped as stop:
            status = stop.status
        except KeyboardInterrupt:
            status = "interrupted"
    if not found:
        raise ValueError(f"no draw was audited ({status}); allow more time")
    lower, upper = np.array(found, dtype=np.float64).T
    if status == "optimal" and np.any((lower != upper) & (lower <= (audit.upper or np.inf))):
        status = "undecided"
    gone = time.perf_counter() - start
    return Reference(audit, lower, upper, errors, int(seed), status, gone)


def redrawn(
    audit: Audit, n_jobs: Any = None
) -> tuple[tuple[Floats, Floats, Floats], Callable[[Floats, float], Audit]]:
    """Term, outcome and controls, times the roots of the weights; and the same audit of another
    outcome, within so many seconds."""
    given = audit.regression
    assert given is not None
    given.least_squares("a reference")
    if audit.n_groups is not None or given.errors.kind == "cluster":
        raise ValueError(
            "a reference is drawn for rows that are independent of each other; got groups or "
            f"clusters: audit without groups and with {argument('vcov', 'HC1')} to compare"
        )
    design = given.design
    terms = Terms(audit.claim, audit.level, audit.threshold, audit.tol, audit.max_drop)
    jobs = validation.jobs(n_jobs)

    def audit_outcome(outcome: Floats, seconds: float) -> Audit:
        drawn = replace(design, y=outcome / design.root_weights)
        resources = Resources(seconds, n_jobs=jobs)
        regression = replace(given, design=drawn, model=None, stated=None)
        return audit_given(regression, terms, resources)

    return design.expanded().scaled, audit_outcome


def outcomes(
    x: Floats, y: Floats, z: Floats, errors: str, rng: np.random.Generator
) -> Iterator[Floats]:
    """Outcomes whose regression on x and z has the coefficients and residual variance of y.

    >>> rng = np.random.default_rng(0)
    >>> x, y, z = rng.normal(size=20), rng.normal(size=20), np.ones((20, 1))
    >>> drawn = next(outcomes(x, y, z, "permuted", rng))
    >>> bool(np.allclose(np.polyfit(x, y, 1), np.polyfit(x, drawn, 1))), bool((drawn != y).all())
    (True, True)
    """
    q = basis(np.column_stack([z, x])).q
    fitted = q @ (q.T @ y)
    rest = y - fitted
    left = 1 - (q * q).sum(axis=1)
    free = np.flatnonzero(left > _FREE)
    spread = float(rest @ rest)
    pool = rest[free] / np.sqrt(left[free])
    space = basis(z).q
    u = (x - space @ (space.T @ x))[free]
    scale = _scale(u, pool) if errors == "heteroskedastic" else np.ones(len(free))
    while True:
        drawn = np.zeros(len(y))
        if errors == "normal":
            drawn[free] = rng.normal(size=len(free))
        elif errors == "permuted":
            drawn[free] = rng.permutation(pool)
        else:
            other = rng.permutation(pool / scale)
            drawn[free] = other / _scale(u, other) * scale
        drawn -= q @ (q.T @ drawn)
        norm = float(drawn @ drawn)
        if norm > 0:
            yield fitted + drawn * np.sqrt(spread / norm)


def _scale(u: Floats, rest: Floats) -> Floats:
    """How the size of the errors depends on u, up to a factor; rows far from it weigh less."""
    u = u / np.sqrt(np.mean(u * u)) if np.any(u) else u
    columns = np.column_stack([np.ones(len(u)), u, np.abs(u)])
    size = np.log(np.maximum(np.abs(rest), 1e-300))
    size = np.maximum(size, np.median(size) - 3)  # a residual of nearly zero says little
    weight = np.ones(len(u))
    for _ in range(_ROUNDS):
        root = np.sqrt(weight)
        coefficients = np.linalg.lstsq(root[:, None] * columns, root * size, rcond=None)[0]
        weight = 1 / np.maximum(np.abs(size - columns @ coefficients), 1)
    return np.asarray(np.exp(columns[:, 1:] @ coefficients[1:]))

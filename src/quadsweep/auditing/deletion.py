"""The influence of single rows, or of single groups: the regression without each of them.

With u and e what the controls leave of the term and the residual, h the leverage in the regression
and g that among the controls alone, a = u.u, RSS = e.e and f degrees of freedom, all on all rows,
row i changes the coefficient by u e / (a (1 - h)) when it goes; then a falls by u^2 / (1 - g), RSS
by e^2 / (1 - h) and f by 1. So the classical test needs no refit. Groups, other standard errors,
instruments, logistic and Poisson regressions and rows that are fitted exactly are refitted. The
exact fewest rows or groups stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep.arrays import Floats, Ints, Mask
from quadsweep.auditing import claims
from quadsweep.auditing.audit import audit_given, fitted
from quadsweep.auditing.controls.reading import Regression, read
from quadsweep.auditing.design import Design
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.result import Audit, RegressionAudit
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.arguments import arranged
from quadsweep.inputs.standard_errors import in_one_word
from quadsweep.progress import SearchProgress, counting
from quadsweep.results.formatting import ResultMixin, as_frame, drawn_by, figure, plain

_FREE = 1e-8  # of 1 - leverage: rows closer to being fitted exactly are refitted
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Influence(ResultMixin):
    """The regression without each row, or without each group.

    Attributes
    ----------
    names : list
        Of the rows (their index in the data) or groups.
    sizes : array
        Rows of each.
    leverage, residual : arrays
        Of a row in the regression on all rows, the leverage in the first stage where there is an
        instrument; of a group the sum and the root mean square. NaN for logit and Poisson.
    coefficient, se, t, p_value : arrays
        Of the term without each of them; NaN where it has none.
    dfbeta, dfbetas : arrays
        The coefficient on all rows less that without it, by itself and over the standard error
        without it.
    tried : array of bool
        Whether the time sufficed for its own regression; the most influential rows come first.
    removed : array of bool
        Whether it belongs to the fewest whose removal breaks the claim, as ``audit`` found them.
    audit : Audit
        The exact answer.
    """

    names: list[Any] = field(repr=False)
    sizes: Ints = field(repr=False)
    leverage: Floats = field(repr=False)
    residual: Floats = field(repr=False)
    coefficient: Floats = field(repr=False)
    se: Floats = field(repr=False)
    t: Floats = field(repr=False)
    p_value: Floats = field(repr=False)
    tried: Mask = field(repr=False)
    removed: Mask = field(repr=False)
    audit: Audit

    @property
    def dfbeta(self) -> Floats:
        """The coefficient on all rows less that without it."""
        return np.asarray(self.audit.before.slope - self.coefficient)

    @property
    def dfbetas(self) -> Floats:
        """The same over the standard error without it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.dfbeta / self.se)

    @property
    def order(self) -> Ints:
        """Positions from the most influential to the least."""
        undefined = np.where(self.tried, np.inf, -1.0)
        change = np.abs(self.dfbeta)
        return np.argsort(-np.where(np.isnan(change), undefined, change), kind="stable")

    @property
    def _unit(self) -> str:
        return "row" if self.audit.n_groups is None else "group"

    @property
    def headline(self) -> str:
        """The most influential, and the exact answer."""
        i = self.order[0]
        return (
            f"Without {self._unit} {self.names[i]} the coefficient of {self.audit.term} is "
            f"{figure(self.coefficient[i])} instead of {figure(self.audit.before.slope)}. "
            f"{self.audit.message}"
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "rows": self.sizes,
            "leverage": self.leverage,
            "residual": self.residual,
            "coefficient": self.coefficient,
            "change": -self.dfbeta,
            "dfbeta": self.dfbeta,
            "dfbetas": self.dfbetas,
            "std_error": self.se,
            "t": self.t,
            "p_value": self.p_value,
            "removed": self.removed,
        }

    def grid(self) -> list[Sequence[str]]:
        """The most influential."""
        rows: list[Sequence[str]] = [(self._unit, "coefficient without", "change", "t", "removed")]
        for i in self.order[:_SHOWN].tolist():
            change, removed = figure(-self.dfbeta[i]), "yes" if self.removed[i] else ""
            cells = figure(self.coefficient[i]), change, f"{self.t[i]:.3g}", removed
            rows.append((str(self.names[i]), *cells))
        return rows

    def summary_items(self) -> list[tuple[str, str]]:
        """What was asked."""
        more = len(self.names) - _SHOWN
        items = [("all rows", str(self.audit.before)), ("test", self.audit.test)]
        if more > 0:
            items.append(("not shown", f"{more:,} {self._unit}s with less influence"))
        if late := int((~self.tried).sum()):
            items.append(("not refitted", f"{late:,} {self._unit}s, for want of time"))
        return [*items, ("certificate", self.audit.certificate)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        content = {"names": [str(n) for n in self.names], **self._columns(), "audit": self.audit}
        return dict(plain(content))

    def to_frame(self) -> Any:
        """One row for each row or group of the data, the most influential first; in pandas its
        index is that of the data."""
        order = self.order
        frame = as_frame(
            {
                self._unit: [self.names[i] for i in order],
                **{name: values[order] for name, values in self._columns().items()},
            }
        )
        return frame.set_index(self._unit) if hasattr(frame, "set_index") else frame

    plot = drawn_by(
        "deletion.plot_deletion",
        "The coefficient without each of the most influential, one below the other.",
    )


def influence(
    points: Any = None,
    /,
    y: Any = None,
    *,
    x: Any = None,
    controls: Any = None,
    groups: Any = None,
    weights: Any = None,
    data: Any = None,
    term: str | None = None,
    vcov: Any = None,
    cov_type: str | None = None,
    cov_kwds: dict[str, Any] | None = None,
    claim: str = "sign",
    level: float = 0.05,
    threshold: Any = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    nan_policy: str = "raise",
    progress: SearchProgress = None,
) -> Influence:
    """The influence of single rows or groups on a coefficient, and the exact fewest it depends on.

    Parameters
    ----------
    points, x, y, controls, weights, data, term, vcov, cov_type, cov_kwds, claim, level, threshold
        As in :func:`quadsweep.audit`.
    groups : sequence, or name of a column, optional
        Leave out one group at a time.
    time_limit, n_jobs, seed, nan_policy, progress
        Of the audit; a callable is given its progress. At most half of the time goes to the
        regressions without one row each.

    Returns
    -------
    Influence

    Examples
    --------
    >>> import quadsweep as qs
    >>> answer = qs.influence([1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20])
    >>> answer.to_frame()["coefficient"].round(2).head(2).tolist()
    [-1.0, 0.97]
    """
    terms = claims.terms(claim, level, threshold, validation.tolerance(1e-9))
    x, y, data = arranged("influence", points, x, y, data, models=True)
    given = read(
        x, y, controls=controls, groups=groups, weights=weights, data=data, term=term,
        vcov=in_one_word(vcov, cov_type, cov_kwds), nan_policy=nan_policy,
    )  # fmt: skip
    resources = Resources.given(time_limit, n_jobs, seed)
    half = Clock(resources.left() / 2)
    columns = _without_each(given, half, False if callable(progress) else progress)
    audit = audit_given(RegressionAudit, given, claim, terms, None, resources, progress)
    gone = np.isin(given.rows, audit.outliers)
    removed = np.array([bool(gone[rows].any()) for rows in given.design.members])
    return Influence(**columns, removed=removed, audit=audit)


def _without_each(given: Regression, clock: Clock, progress: bool | None) -> dict[str, Any]:
    """The fields of an Influence that need no audit, as far as the time goes."""
    design = given.design
    everything = np.arange(design.n)
    full = fitted(given, everything)
    leverage, rest = _diagnostics(design, full.slope)
    found = np.full((4, design.size), np.nan)
    if design.units is None and design.instrument is None and not (design.link or given.fixed):
        found = _closed_form(design, rest, leverage, full, given.errors.classical)
    tried = np.isfinite(found).all(axis=0)
    change = np.nan_to_num(np.abs(full.slope - found[0]), nan=np.inf)
    again = np.argsort(-change, kind="stable")  # as far as it is known, the most influential first
    again = again[~tried[again]]
    unit = "row" if design.units is None else "group"
    with counting(progress, f"regressions without one {unit}") as tick:
        for done, i in enumerate(again.tolist()):
            if clock.left() == 0 or tick(done, len(again), clock.gone()) is False:
                break
            fit = fitted(given, np.delete(everything, design.members[i]))
            found[:, i], tried[i] = (fit.slope, fit.se, fit.t, fit.p_value), True
    sizes = np.array([len(rows) for rows in design.members])
    residual = rest if design.units is None else np.sqrt(design.sums(rest * rest) / sizes)
    names = ("coefficient", "se", "t", "p_value")
    return dict(zip(names, found, strict=True)) | {
        "names": _names(given), "sizes": sizes, "leverage": design.sums(leverage),
        "residual": residual, "tried": tried,
    }  # fmt: skip


def _diagnostics(design: Design, slope: float) -> tuple[Floats, Floats]:
    """Leverage and residual of the rows: of the first stage and of the outcome where there is an
    instrument; unknown where the regression is not linear."""
    if design.link:
        return np.full(design.n, np.nan), np.full(design.n, np.nan)
    x, y, _ = design.scaled
    u = design.span.residual(design.scaled_instrument)
    return design.span.leverage + u * u / (u @ u), design.span.residual(y - slope * x)


def _closed_form(design: Design, rest: Floats, h: Floats, full: Any, is_classical: bool) -> Floats:
    """Coefficient, standard error, t and p without each row; NaN where it must be refitted."""
    from scipy.special import stdtr

    slope, freedom = full.slope, full.freedom
    u, g = design.span.residual(design.scaled[0]), design.span.leverage
    a = float(u @ u)
    clear = (1 - h > _FREE) & (1 - g > _FREE)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = slope - u * rest / (a * (1 - h))
        left = a - u * u / (1 - g)
        spread = float(rest @ rest) - rest * rest / (1 - h)
        clear &= (left > _FREE * a) & (spread > _FREE * float(rest @ rest)) & (freedom > 1)
        se = np.sqrt(spread / (freedom - 1) / left)
        t = without / se
        p = 2 * stdtr(max(freedom - 1, 1), -np.abs(t))
    found = np.where(clear, np.array([without, se, t, p]), np.nan)
    if not is_classical:
        found[1:] = np.nan
    return found


def _names(given: Regression) -> list[Any]:
    units = given.design.units
    if units is not None:
        return list(units)
    rows = given.rows.tolist()
    return rows if given.labels is None else [given.labels[i] for i in rows]

"""The answer of an audit with controls: the fields of every Audit, and what the regression adds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Ints
from quadsweep.auditing import claims
from quadsweep.auditing.audit import Audit
from quadsweep.auditing.baselines import Approximation
from quadsweep.auditing.case import Case
from quadsweep.auditing.conditions import Claim, build
from quadsweep.auditing.controls.approximations import approximations
from quadsweep.auditing.controls.proposals import Proposer
from quadsweep.auditing.controls.proving import check_provable, refutation
from quadsweep.auditing.controls.reading import Regression, read
from quadsweep.auditing.controls.robust import RobustCase, TermFit, fit_term
from quadsweep.auditing.design import Design
from quadsweep.auditing.fewest import Fewest, Way
from quadsweep.auditing.moments import Moments
from quadsweep.auditing.oracles.choice import oracles_for
from quadsweep.auditing.resources import Resources
from quadsweep.inputs import validation
from quadsweep.progress import Removals, watching
from quadsweep.results.formatting import named_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 4  # controls that a sentence names
_FACTOR = re.compile(r"\[[^\[]*\]$")  # the level of a factor, in the name of its dummy


@dataclass(frozen=True)
class Known:
    """What the search found out."""

    lower: int
    upper: int | None
    removal: Ints | None
    status: str
    refitted: int = 0  # removals of lower - 1 units, where every one was refitted


@dataclass(frozen=True, eq=False)
class RegressionAudit(Audit):
    """How few rows, or groups of rows, carry a coefficient of a multiple regression.

    As :class:`quadsweep.Audit`; ``drop``, ``lower``, ``upper`` and ``max_drop`` count groups where
    there are groups, ``outliers`` are rows in any case.

    Attributes
    ----------
    term : str
        Whose coefficient it is.
    controls : tuple of str
        What else is in the regression, the intercept included.
    groups : list or None
        The groups to remove, by name; None where single rows are removed.
    n_groups : int or None
    test : str
        The standard errors of the test, "classical t test" for instance.
    refitted : bool
        False where the controls were held fixed, which is an approximation.
    design : Design
        The columns.
    """

    term: str = "x"
    controls: tuple[str, ...] = ()
    groups: Sequence[Any] | None = None
    n_groups: int | None = None
    test: str = "classical t test"
    refitted: bool = True
    design: Design | None = field(default=None, repr=False)
    cases: tuple[Case, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        removed = len(self.outliers) if self.groups is None else len(self.groups)
        assert self.upper is None or self.lower <= self.upper == removed
        assert (self.drop is None) == (self.lower != self.upper)

    @property
    def _unit(self) -> str:
        return "rows" if self.n_groups is None else "groups"

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs: what, and its text."""
        lines = [("all rows", str(self.before))]
        if self.after is not None:
            lines.append(("without them", str(self.after)))
            if self.groups is not None:
                lines.append(("groups", ", ".join(str(g) for g in self.groups) or "none"))
            lines.append(("removed", named_rows(self.outliers, self.labels)))
        lines += self._left_out()
        proof = self.certificate.replace("rows", self._unit)
        lines.append(("certificate", proof))
        if self.claim in ("significance", "reverse") or self.test != "classical t test":
            lines.append(("test", self.test))
        if not self.refitted:
            lines.append(("controls", "held fixed, not refitted: an approximation"))
        if self.upper != 0:
            lines += [(a.method, a.verdict(self.lower, self.upper)) for a in self.approximations]
        lines.append(("search", f"{self.nodes:,} nodes, {self.seconds:.3g} s"))
        return lines

    @cached_property
    def approximations(self) -> tuple[Approximation, ...]:
        """What the usual approximations make of it; computed when first looked at."""
        return approximations(self.cases, self.max_drop)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The added-variable plot of the term: rows removed, the line with and without them."""
        from quadsweep.plotting.regression import plot_regression

        return plot_regression(self, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            **super().to_dict(),
            "term": self.term,
            "controls": list(self.controls),
            "groups": None if self.groups is None else [_plain(g) for g in self.groups],
            "n_groups": self.n_groups,
            "test": self.test,
            "refitted": self.refitted,
        }


def audit_regression(
    x: Any, y: Any, *, controls: Any, groups: Any, weights: Any, data: Any, term: Any, vcov: Any,
    claim: str, level: float, threshold: Any, max_drop: Any, tol: float, time_limit: float | None,
    n_jobs: int | None, seed: int, nan_policy: str, progress: Any, proof: bool = False,
) -> RegressionAudit:  # fmt: skip
    """The fewest rows or groups whose removal breaks a claim about one coefficient."""
    claims.get(claim)
    asked = claims.terms(claim, level, threshold, validation.tolerance(tol))
    limit, jobs = validation.seconds(time_limit), validation.jobs(n_jobs)
    validation.whole(seed, "seed", 0)
    given = read(
        x, y, controls=controls, groups=groups, weights=weights, data=data, term=term, vcov=vcov,
        nan_policy=nan_policy,
    )  # fmt: skip
    design = given.design
    if proof:
        check_provable(given, claim)
    most = units_limit(max_drop, design)
    moments = Moments(design)
    full = moments.all_rows()
    if full.a == 0:
        raise ValueError(
            f"the controls explain {design.term} on all rows, so it has no coefficient"
        )
    if full.b == 0:
        raise ValueError(
            f"the controls explain {design.outcome} on all rows, so {design.term} has nothing to do"
        )
    if given.fixed and claim == "r2":
        raise ValueError("claim 'r2' needs controls that are refitted; got controls='fixed'")
    before = fit_term(design, np.arange(design.n), given.errors)
    if (
        given.se is not None
        and not given.fixed
        and not math.isclose(before.se, given.se, rel_tol=1e-5)
    ):
        raise ValueError(
            f"the model states a standard error of {given.se:.6g} for {design.term}, and its kind "
            f"({given.errors.test}) gives {before.se:.6g} here; give vcov= to audit the latter"
        )
    tested = claim in ("significance", "reverse") and not given.errors.classical
    if tested and math.isnan(before.p_value):
        raise ValueError(f"the {given.errors.test} has no p-value on all {design.n} rows")
    significant = None if given.errors.classical else before.p_value <= asked.level
    claimed = build(claim, phrase(given), full, asked, given.errors.test, significant)
    cases = _cases(claimed, moments, given)
    state: dict[str, float] = {"upper": math.nan, "lower": 1}
    with watching(progress, Removals()) as callback:

        def report(nodes: int, seconds: float) -> object:
            return callback(state["upper"], state["lower"], nodes, seconds) if callback else None

        def note(known: Fewest) -> None:
            state["upper"] = math.nan if known.upper is None else known.upper
            state["lower"] = known.lower

        resources = Resources(limit, n_jobs=jobs, seed=seed, callback=report)
        known = _search(cases, most, resources, note)
    found = _audit(given, claim, asked, claimed, cases, known, most, resources, before)
    if not proof:
        return found
    return replace(found, proof=refutation(design, claimed.ways, known.lower - 1, resources.left()))


def _search(
    cases: Sequence[Case], most: int, resources: Resources, note: Callable[[Fewest], None]
) -> Known:
    nothing = np.zeros(0, dtype=np.int64)
    if any(case.broken(nothing) for case in cases):
        return Known(0, 0, nothing, "optimal")
    ways = [
        Way(Proposer(case, most, resources.check, resources.seed), oracles_for(case, resources))
        for case in cases
    ]
    found = Fewest(ways, most, resources, note)
    refitted = resources.refitted.get(found.lower - 1, 0)
    return Known(found.lower, found.upper, found.removal, found.status, refitted)


def _cases(claimed: Claim, moments: Moments, given: Regression) -> tuple[Case, ...]:
    if given.errors.classical or not claimed.test:
        return tuple(Case(moments, way) for way in claimed.ways)
    return tuple(RobustCase(moments, way, given.errors) for way in claimed.ways)


def _audit(
    given: Regression, claim: str, asked: claims.Terms, claimed: Claim, cases: tuple[Case, ...],
    known: Known, most: int, resources: Resources, before: TermFit,
) -> RegressionAudit:  # fmt: skip
    design = given.design
    removal = np.zeros(0, dtype=np.int64) if known.removal is None else known.removal
    gone = design.rows(removal)
    kept = np.setdiff1d(np.arange(design.n), gone)
    mask = np.zeros(given.given, dtype=bool)
    mask[given.rows[kept]] = True
    full = np.full((2, given.given), np.nan)
    full[:, given.rows] = design.x, design.y
    units = design.units
    return RegressionAudit(
        claim=claim,
        drop=known.upper if known.lower == known.upper else None,
        lower=known.lower,
        upper=known.upper,
        outliers=given.rows[gone],
        before=before,
        after=None if known.removal is None else fit_term(design, kept, given.errors),
        status="robust" if known.upper is None and known.status == "optimal" else known.status,
        message=message(claimed, known, given, most, len(gone)),
        n=design.n,
        max_drop=most,
        level=asked.level,
        threshold=asked.threshold,
        tol=asked.tol,
        nodes=resources.nodes,
        seconds=resources.gone(),
        mask=mask,
        x=full[0],
        y=full[1],
        names=(design.term, design.outcome),
        labels=given.labels,
        frame=given.table,
        term=design.term,
        controls=design.names,
        groups=None if units is None else [units[i] for i in removal],
        n_groups=None if units is None else len(units),
        test=given.errors.test,
        refitted=not given.fixed,
        design=design,
        cases=cases,
    )


def units_limit(max_drop: Any, design: Design) -> int:
    """The most rows or groups that may be removed, from what the user gives."""
    most_possible = design.size - 1 if design.units is not None else design.n - design.q - 2
    if max_drop is None:
        return most_possible
    most = validation.count(max_drop, "max_drop", design.size)
    if not 1 <= most <= most_possible:
        what = "rows" if design.units is None else "groups"
        raise ValueError(
            f"max_drop={max_drop} removes up to {most} of {design.size} {what}; between 1 and "
            f"{most_possible} are allowed"
        )
    return most


# ---- sentences --------------------------------------------------------------------------------


def phrase(given: Regression) -> str:
    """The term and the controls: "educ (given exper and tenure)"."""
    design = given.design
    others = [name for i, name in enumerate(design.names) if i != design.intercept]
    others = [name for name in others if name not in ("Intercept", "const")]
    others = list(dict.fromkeys(_FACTOR.sub("", name) for name in others))
    how = "given" if not given.fixed else "with fixed"
    return f"{design.term} ({how} {_listed(others)})" if others else design.term


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def message(claim: Claim, known: Known, given: Regression, most: int, rows: int) -> str:
    """The answer in a sentence or two, to be quoted as it stands."""
    design = given.design
    what = "rows" if design.units is None else f"groups{f' by {given.by}' if given.by else ''}"
    if known.upper == 0:
        text = (
            f"Nothing need be removed: on all {design.n:,} rows it is not so that {claim.before}."
        )
    elif known.upper is None:
        tried = known.lower - 1
        of = f"{tried:,} of {design.size:,} {what} ({_percent(tried / design.size)})"
        if tried == most:
            text = f"No removal of up to {of} {claim.breaks}."
        else:
            proved = f"no removal of up to {of} does" if tried else "nothing is proved"
            text = f"No removal that {claim.breaks} was found; {proved}."
    else:
        share = rows / design.n
        of = f"{known.upper:,} of {design.size:,} {what} ({_percent(share)})"
        if design.units is not None:
            of = (f"{known.upper:,} of {design.size:,} {what} ({rows:,} of {design.n:,} rows, "
                  f"{_percent(share)})")  # fmt: skip
        text = f"Removing {of} {claim.breaks}.{_fewer(known, design.units is not None)}"
    if given.fixed:
        text += " The controls were held fixed, not refitted: an approximation."
    return text


def _fewer(known: Known, grouped: bool) -> str:
    single, several = ("group", "groups") if grouped else ("row", "rows")
    fewer = known.lower - 1
    text = ""
    if fewer > 0:
        which = f"single {single}" if fewer == 1 else f"set of {fewer:,} {several}"
        how = f" (all {known.refitted:,} were refitted)" if known.refitted else ""
        text += f" No {which} does{how}."
    if known.upper is not None and known.lower < known.upper:
        last = known.upper - 1
        between = f"{known.lower:,}" + (f" to {last:,}" if last > known.lower else "")
        text += f" Whether {between} would suffice is not known."
    return text


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.0095 else f"{100 * share:.1g}%"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value

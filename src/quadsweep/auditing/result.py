"""The results of audits: of two columns, of a regression, of rows that are not in memory."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints, Mask
from quadsweep.auditing.approximations import Approximation, approximations
from quadsweep.auditing.break_problem import BreakProblem
from quadsweep.auditing.claims import Claim
from quadsweep.auditing.design import Design
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.specification import (
    Specification,
    Tabulated,
    of_one,
    spell_interval,
)
from quadsweep.inputs.frames import KEPT
from quadsweep.outofcore.flags import Flags
from quadsweep.outofcore.result import cost
from quadsweep.results.formatting import ResultMixin, drawn_by, named_rows

PROOF = {
    "optimal": "proved: no smaller set of {units} does",
    "robust": "proved for every removal of up to {max_drop:,} {units}",
    "undecided": "the numbers of {units} between the two bounds could not be decided",
    "time_limit": "the time limit stopped the proof",
    "memory_limit": "the memory limit stopped the proof",
    "interrupted": "interrupted before the proof was complete",
}


@dataclass(frozen=True)
class SearchState:
    """What the search found out: ``removal`` breaks the claim, or is None."""

    lower: int
    upper: int | None
    removal: Any
    status: str
    refitted: int = 0  # removals of lower - 1 units, where every one was refitted
    followed: tuple[tuple[float, float], ...] = ()  # of each problem: RowHeuristic.followed


FINDING = (
    "claim drop lower upper rows=@index outliers before after status success message n max_drop "
    "level threshold tol"
)


@dataclass(frozen=True, eq=False)
class Verdict(ResultMixin, Tabulated):
    """What every audit says, wherever its rows are; see :class:`quadsweep.Audit`."""

    json_fields = f"{FINDING} nodes seconds"

    claim: str
    drop: int | None
    lower: int
    upper: int | None
    outliers: Any
    before: Fit
    after: Fit | None
    status: str
    message: str
    n: int
    max_drop: int
    level: float
    threshold: float | tuple[float, float] | None
    tol: float
    nodes: int
    seconds: float

    def __post_init__(self) -> None:
        assert self.upper is None or self.lower <= self.upper
        assert (self.drop is None) == (self.lower != self.upper)

    @property
    def success(self) -> bool:
        """True if the answer is proved: the least number, or that there is none."""
        return self.status in ("optimal", "robust")

    @property
    def headline(self) -> str:
        """The answer in a sentence or two."""
        return self.message

    @property
    def certificate(self) -> str:
        """What is proved, in words."""
        return PROOF[self.status].format(max_drop=self.max_drop, units=self._units)

    @property
    def _units(self) -> str:
        """What is removed."""
        return "rows"

    @property
    def specification(self) -> Specification:
        """The term, the claim and the audit, as a table has them."""
        return of_one(self)

    def to_latex(self, **options: Any) -> str:
        """A table with the estimate and the count; options as of ``AuditTable.to_latex``."""
        from quadsweep.auditing.tables import AuditTable

        return AuditTable([self.specification]).to_latex(**options)

    def write_paper_files(self, folder: Any, **options: Any) -> Any:
        """What a paper needs, as :meth:`AuditTable.write_paper_files` writes it."""
        from quadsweep.auditing.tables import AuditTable

        return AuditTable([self.specification]).write_paper_files(folder, **options)


def reported(claim: Claim, known: SearchState, most: int, n: int, **groups: Any) -> dict[str, Any]:
    """The fields of a Verdict that say what was found; groups as in ``message``."""
    robust = known.upper is None and known.status == "optimal"
    return {
        "claim": claim.name,
        "drop": known.upper if known.lower == known.upper else None,
        "lower": known.lower,
        "upper": known.upper,
        "status": "robust" if robust else known.status,
        "message": message(claim, known, most, n, **groups),
        "n": n,
        "max_drop": most,
    }


def message(
    claim: Claim, known: SearchState, most: int, n: int, *,
    groups: int | None = None, by: str = "", rows: int = 0,
) -> str:  # fmt: skip
    """The answer in a sentence or two, to be quoted as it stands.

    With groups: how many there are, by what, and how many rows are in those removed.
    """
    if known.upper == 0:
        return f"Nothing need be removed: on all {n:,} rows it is not so that {claim.before}."
    size, units = (n, "rows") if groups is None else (groups, f"groups{f' by {by}' if by else ''}")
    fewer = known.lower - 1
    if known.upper is None:
        up_to = f"up to {fewer:,} of {size:,} {units} ({_percent(fewer / size)})"
        if fewer == most:
            return f"No removal of {up_to} {claim.breaks}."
        proved = f"no removal of {up_to} does" if fewer > 0 else "nothing is proved"
        return f"No removal that {claim.breaks} was found; {proved}."
    share = _percent((known.upper if groups is None else rows) / n)
    of = share if groups is None else f"{rows:,} of {n:,} rows, {share}"
    text = f"Removing {known.upper:,} of {size:,} {units} ({of}) {claim.breaks}."
    unit = "row" if groups is None else "group"
    if fewer > 0:
        which = f"single {unit}" if fewer == 1 else f"set of {fewer:,} {unit}s"
        how = f" (all {known.refitted:,} were refitted)" if known.refitted else ""
        text += f" No {which} does{how}."
    if known.lower < known.upper:
        last = known.upper - 1
        between = f"{known.lower:,}" + (f" to {last:,}" if last > known.lower else "")
        text += f" Whether {between} would suffice is not known."
    return text


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.0095 else f"{100 * share:.1g}%"


if TYPE_CHECKING:
    from quadsweep.auditing.controls.reading import Regression
    from quadsweep.auditing.reference import Reference
    from quadsweep.progress import CountProgress
    from quadsweep.proofs.proof import Proof

_SHARE, _LEAST = 0.1, 0.5  # of an audit's time limit, and seconds, for the approximations


@dataclass(frozen=True, eq=False)
class Audit(Verdict):
    """The fewest rows that a claim depends on, and what is proved about their number.

    Attributes
    ----------
    claim : str
    drop : int or None
        The fewest rows whose removal breaks the claim; None if unknown, or if no removal of up to
        ``max_drop`` rows does. With ``groups``, the counts ``drop``, ``lower``, ``upper`` and
        ``max_drop`` are numbers of groups.
    lower : int
        Proved: no fewer rows break the claim.
    upper : int or None
        Removing this many rows, ``outliers``, breaks the claim; None if no such rows were found.
    outliers : sorted positions
        Rows, counted from 0 in the data as given, whose removal breaks the claim.
    before, after : Fit
        The fit to all rows and the fit without the outliers (or None): slope, intercept, r, R2,
        p-value.
    status : str
        ``optimal`` (``lower`` equals ``upper``), ``robust`` (no removal of up to ``max_drop`` rows
        breaks the claim), ``undecided``, ``time_limit``, ``memory_limit`` or ``interrupted``.
    message : str
        The answer in a sentence or two.
    n, max_drop : int
        Rows considered, and the most that may be removed.
    level, threshold, tol
        Parameters of the claim.
    nodes : int
        Boxes of the search.
    seconds : float
    x, y : arrays
        The data as given.
    names, labels, frame
        As in :class:`quadsweep.Result`.
    proof : Proof, optional
        With ``proof=True``, a proof that no fewer rows than ``lower`` break the claim.
    term : str
        The column whose coefficient is audited.
    controls : tuple of str
        The other columns of the regression, with the intercept.
    groups : list or None
        Names of the groups removed; None if rows are removed one by one.
    n_groups : int or None
    test : str
        The standard errors of the test, "classical t test" for instance.
    refitted : bool
        False if the controls were held fixed, which is an approximation.
    first_stage, reduced_form : Fit or None
        With an instrument, on all rows: the regressions of the term and of the outcome on it.
    design : Design
        The columns of the regression.
    regression : Regression
        The columns, the standard errors, and the positions of the rows in the data as given.
    """

    json_fields = (
        f"{FINDING} approximations=listed_approximations term controls groups n_groups test "
        "refitted first_stage reduced_form nodes seconds"
    )

    outliers: Ints
    mask: Mask = field(repr=False)
    x: Floats = field(repr=False)
    y: Floats = field(repr=False)
    names: tuple[str, ...] = ("x", "y")
    labels: Sequence[Any] | None = field(default=None, repr=False)
    frame: Any = field(default=None, repr=False)
    proof: Proof | None = field(default=None, repr=False)
    term: str = "x"
    controls: tuple[str, ...] = ("Intercept",)
    groups: Sequence[Any] | None = None
    n_groups: int | None = None
    test: str = "classical t test"
    refitted: bool = True
    first_stage: Fit | None = None
    reduced_form: Fit | None = None
    design: Design | None = field(default=None, repr=False)
    regression: Regression | None = field(default=None, repr=False)
    problems: tuple[BreakProblem, ...] = field(default=(), repr=False)
    followed: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    time_limit: float = field(default=math.inf, repr=False)
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        removed = self.outliers if self.groups is None else self.groups
        assert self.upper is None or self.upper == len(removed)

    @property
    def _units(self) -> str:
        return "rows" if self.n_groups is None else "groups"

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a name and a text."""
        lines = [("all rows", str(self.before))]
        if self.after is not None:
            lines.append(("without them", str(self.after)))
        if before := spell_interval(self.before, self.level):
            after = "" if self.after is None else spell_interval(self.after, self.level)
            without = f"; without them {after}" if after and self.upper else ""
            lines.append((f"{100 * (1 - self.level):.4g}% interval", before + without))
        if self.after is not None:
            if self.groups is not None:
                lines.append(("groups", ", ".join(str(g) for g in self.groups) or "none"))
            lines.append(("removed", named_rows(self.outliers, self.labels)))
        if len(self.omitted):
            lines.append(("left out", named_rows(self.omitted, self.labels, "missing or infinite")))
        lines += [("certificate", self.certificate), *self._about_the_fit()]
        if self.upper != 0:
            lines += [(a.method, a.verdict(self.lower, self.upper)) for a in self.approximations]
        return [*lines, ("search", f"{self.nodes:,} nodes, {self.seconds:.3g} s")]

    def _about_the_fit(self) -> list[tuple[str, str]]:
        return []

    @property
    def omitted(self) -> Ints:
        """Positions left out because of a missing value."""
        return np.flatnonzero(np.isnan(self.x))

    @cached_property
    def approximations(self) -> tuple[Approximation, ...]:
        """What the usual approximations make of it; computed when first looked at, after an audit
        with a time limit in a tenth of that, or half a second."""
        seconds = max(_SHARE * self.time_limit, _LEAST)
        return approximations(self.problems, self.max_drop, self.followed, seconds)

    plot = drawn_by(
        "audit.plot_audit",
        "The rows removed, and the line with and without them; with ``view='influence'`` what the\n"
        "removal of each row does to the statistic, to first order.",
    )

    def to_frame(self) -> Any:
        """Return the data with a column ``inlier``, null for rows left out because of a missing
        value, in the library it came from (pandas for arrays), with the index of the data."""
        from quadsweep.inputs.frames import marked

        frame = marked(self.frame, self.x, self.y, self.names, self.mask, np.isnan(self.x))
        if self.labels is not None and hasattr(frame, "set_axis"):
            return frame.set_axis(list(self.labels), axis=0)
        return frame

    def reference(
        self,
        draws: int = 99,
        *,
        seed: int = 0,
        errors: str = "heteroskedastic",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        progress: CountProgress = None,
    ) -> Reference:
        """Audit simulated clean regressions of the same strength, for comparison.

        Parameters
        ----------
        draws : int
            Outcomes to draw; each has the coefficients and the residual variance of the data and
            is audited exactly.
        seed : int
        errors : {"heteroskedastic", "permuted", "normal"}
            ``heteroskedastic`` permutes residuals and keeps the dependence of their size on the
            term; ``permuted`` permutes them as they are; ``normal`` draws normal errors.
        time_limit, n_jobs, progress
            As in :func:`quadsweep.audit`; a callable is given (done, draws, seconds). A single draw
            may take ten times as long as this audit did, plus a second.

        Returns
        -------
        Reference

        Examples
        --------
        >>> import numpy as np, quadsweep as qs
        >>> rng = np.random.default_rng(0)
        >>> x = np.append(rng.normal(size=57), [4, 4, 4])
        >>> y = rng.normal(size=60) + 0.2 * x + 6 * (x == 4)
        >>> qs.audit(x, y).reference(19).headline
        'A clean regression of this strength needs 10 to 27 rows; this one needs 4 (p = 0.025).'
        """
        from quadsweep.auditing.reference import reference

        return reference(self, draws, seed, errors, time_limit, n_jobs, progress)

    @property
    def listed_approximations(self) -> list[dict[str, Any]]:
        """The approximations as plain values; empty if no removal is needed."""
        return [asdict(a) for a in self.approximations] if self.upper != 0 else []


@dataclass(frozen=True, eq=False)
class RegressionAudit(Audit):
    """The fewest rows, or groups, that a coefficient depends on: a :class:`quadsweep.Audit`."""

    def _about_the_fit(self) -> list[tuple[str, str]]:
        lines = []
        if self.claim in ("significance", "reverse") or self.test != "classical t test":
            lines.append(("test", self.test))
        if not self.refitted:
            lines.append(("controls", "held fixed, not refitted: an approximation"))
        if self.first_stage is not None:
            lines.append(("first stage", str(self.first_stage)))
            lines.append(("reduced form", str(self.reduced_form)))
        return lines

    plot = drawn_by(
        "audit.plot_regression",
        "The added-variable plot of the term: rows removed, the line with and without them; with\n"
        "``view='influence'`` the first-order effect of removing each row on the statistic.",
    )


@dataclass(frozen=True, eq=False)
class OutOfCoreAudit(Verdict):
    """The fewest rows that a claim depends on, for rows that are not in memory.

    Attributes
    ----------
    claim, drop, lower, upper, before, after, status, message, n, max_drop, level, threshold, tol,
    nodes, seconds
        As in :class:`quadsweep.Audit`.
    outliers : array of row numbers, or None if there are more than 10,000 or none were found.
    missing : int
        Rows left out for a missing value.
    passes, rows_read, loaded : int
        As in :class:`quadsweep.outofcore.result.OutOfCoreResult`.
    """

    json_fields = f"{FINDING} names missing passes rows_read loaded nodes seconds"

    names: tuple[str, str]
    missing: int
    passes: int
    rows_read: int
    loaded: int
    flags: Flags | None = field(repr=False)

    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a name and a text."""
        lines = [("all rows", str(self.before))]
        if self.after is not None:
            gone = f"{self.upper:,} rows" if self.outliers is None else named_rows(self.outliers)
            lines += [("without them", str(self.after)), ("removed", gone)]
        lines.append(("certificate", self.certificate))
        if self.missing:
            lines.append(("left out", f"{self.missing:,} rows (missing or infinite)"))
        return [*lines, ("search", cost(self))]

    def flag(self, source: Any = None, column: str = KEPT) -> Any:
        """Which rows are kept, as :meth:`quadsweep.outofcore.result.OutOfCoreResult.flag`."""
        return self._found().flag(source, column)

    def write(self, path: str | os.PathLike[str], column: str = KEPT) -> None:
        """Write the source to a Parquet file with a column that says which rows are kept."""
        self._found().write(path, column)

    def to_frame(self) -> Any:
        """The rows that break the claim as a data frame, if they are few."""
        return self._found().left_out(self.outliers, self.upper or 0)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Rows of the first part, kept and removed, and the line with and without them."""
        from quadsweep.plotting.outofcore import plot_out_of_core

        lines = [("all rows", self.before.slope, self.before.intercept)]
        if self.after is not None:
            lines.insert(0, ("without them", self.after.slope, self.after.intercept))
        return plot_out_of_core(self._found(), lines, f"of {self.n:,} rows", ax=ax)

    def _found(self) -> Flags:
        if self.flags is None:
            raise ValueError("no rows were found that break the claim, so none are flagged")
        return self.flags

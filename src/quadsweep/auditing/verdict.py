"""What every audit says, wherever its rows are: the bounds, the certificate, the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quadsweep.auditing.claims import Claim
from quadsweep.auditing.fit import Fit
from quadsweep.auditing.specification import Specification, Tabulated, of_one
from quadsweep.results.formatting import ResultMixin

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

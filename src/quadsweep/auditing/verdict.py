"""What every audit says, wherever its rows are: the bounds, the certificate, the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quadsweep.auditing.claims import Claim
from quadsweep.auditing.fit import Fit
from quadsweep.results.formatting import INDEX, ResultMixin

PROOF = {
    "optimal": "proved: no smaller set of rows does",
    "robust": "proved for every removal of up to {max_drop:,} rows",
    "undecided": "the numbers of rows between the two bounds could not be decided",
    "time_limit": "the time limit stopped the proof",
    "interrupted": "interrupted before the proof was complete",
}


@dataclass(frozen=True, eq=False)
class Verdict(ResultMixin):
    """What every audit says, wherever its rows are; see :class:`quadsweep.Audit`."""

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
        return PROOF[self.status].format(max_drop=self.max_drop)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "claim": self.claim,
            "drop": self.drop,
            "lower": self.lower,
            "upper": self.upper,
            "rows": INDEX,
            "outliers": None if self.outliers is None else self.outliers.tolist(),
            "before": self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "status": self.status,
            "success": self.success,
            "message": self.message,
            "n": self.n,
            "max_drop": self.max_drop,
            "level": self.level,
            "threshold": list(self.threshold)
            if isinstance(self.threshold, tuple)
            else self.threshold,
            "tol": self.tol,
            **self._more(),
            "nodes": self.nodes,
            "seconds": self.seconds,
        }

    def _more(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Known:
    """What the search found out."""

    lower: int
    upper: int | None
    kept: Any
    status: str
    nodes: int
    seconds: float


def message(claim: Claim, known: Known, n: int, most: int) -> str:
    """The answer in a sentence or two."""
    if known.upper == 0:
        return f"Nothing need be removed: on all {n:,} rows it is not so that {claim.before}."
    if known.upper is None:
        tried = known.lower - 1
        if tried == most:
            return f"No removal of up to {_of(tried, n)} {claim.breaks}."
        proved = f"no removal of up to {_of(tried, n)} does" if tried else "nothing is proved"
        return f"No removal that {claim.breaks} was found; {proved}."
    text = f"Removing {_of(known.upper, n)} {claim.breaks}."
    fewer = known.lower - 1
    if fewer > 0:
        text += " No single row does." if fewer == 1 else f" No set of {fewer:,} rows does."
    if known.lower < known.upper:
        last = known.upper - 1
        between = f"{known.lower:,}" + (f" to {last:,}" if last > known.lower else "")
        text += f" Whether {between} would suffice is not known."
    return text


def _of(m: int, n: int) -> str:
    return f"{m:,} of {n:,} rows ({_percent(m / n)})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.0095 else f"{100 * share:.1g}%"

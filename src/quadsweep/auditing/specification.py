"""What was asked of one regression, and how its numbers are written in a table.

maketables reads any result that has the attributes ``__maketables_...__``, its plug-in interface,
so that audits stand in one table with regressions of other libraries.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quadsweep.extras import needed

if TYPE_CHECKING:
    from quadsweep.auditing.fit import Fit
    from quadsweep.auditing.result import Verdict

_DOES = {
    "sign": "flip the sign",
    "reverse": "flip the sign significantly",
    "r2": "move R² past {threshold}",
    "slope": "move the coefficient out of {threshold}",
}


class Tabulated(ABC):
    """What maketables asks of a result, answered from its specification."""

    @property
    @abstractmethod
    def specification(self) -> Specification:
        """The term, the claim and the audit, as a table has them."""

    @property
    def __maketables_coef_table__(self) -> Any:
        with needed("a table of coefficients"):
            import pandas as pd
        audits = self.specification.audits.items()
        found = {
            term: (*estimate(audit.before), *interval(audit.before)) for (term, _), audit in audits
        }
        names = ["b", "se", "t", "p", "ci95l", "ci95u"]
        return pd.DataFrame.from_dict(found, orient="index", columns=names)

    def __maketables_stat__(self, key: str) -> Any:
        each = self.specification
        if key in ("N", "r2", "se_type"):
            fit = each.first.before
            return {"N": fit.n, "r2": fit.r2, "se_type": errors_of(each.first)}[key]
        kind, _, term = key.partition(":")
        audit = each.audits.get((term or each.terms[0], kind.partition(" ")[0]))
        return (
            None if audit is None or kind not in (audit.claim, kind_of(audit)) else counted(audit)
        )

    @property
    def __maketables_depvar__(self) -> str:
        return outcome_of(self.specification.first)

    @property
    def __maketables_fixef_string__(self) -> str | None:
        return " + ".join(effects_of(self.specification.first)) or None

    @property
    def __maketables_vcov_info__(self) -> dict[str, Any]:
        return {"vcov_type": used_test(self.specification.first)}

    @property
    def __maketables_stat_labels__(self) -> dict[str, str]:
        return labels([self.specification])

    @property
    def __maketables_default_stat_keys__(self) -> list[str]:
        return [*labels([self.specification]), "N", "r2", "se_type"]


@dataclass(frozen=True, eq=False)
class Specification(Tabulated):
    """What was asked of one regression: audits by (term, claim), or why one could not be made."""

    name: str
    audits: dict[tuple[str, str], Verdict] = field(repr=False)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def specification(self) -> Specification:
        return self

    @property
    def terms(self) -> list[str]:
        """The terms with an answer, in the order asked."""
        return list(dict.fromkeys(term for term, _ in self.audits))

    @property
    def claims(self) -> list[str]:
        """The claims with an answer, in the order asked."""
        return list(dict.fromkeys(claim for _, claim in self.audits))

    @property
    def first(self) -> Verdict:
        """One of the audits, for what they have in common."""
        return next(iter(self.audits.values()))

    def audit_of_term(self, term: str) -> Verdict:
        """One of the audits of a term, which knows the estimate."""
        return next(audit for (which, _), audit in self.audits.items() if which == term)


def of_one(audit: Verdict) -> Specification:
    """An audit by itself."""
    return Specification("(1)", {(term_of(audit), audit.claim): audit})


def term_of(audit: Any) -> str:
    """What the audit is about: a term of a regression, or x."""
    return str(getattr(audit, "term", None) or getattr(audit, "names", ("x",))[0])


def outcome_of(audit: Any) -> str:
    """What the outcome is called."""
    return str(getattr(audit, "names", ("y",))[-1])


def effects_of(audit: Any) -> tuple[str, ...]:
    """The fixed effects of its regression, by name."""
    return getattr(getattr(audit, "regression", None), "effects", ())


def errors_of(audit: Any) -> str:
    """The kind of its standard errors."""
    regression = getattr(audit, "regression", None)
    return "classical" if regression is None else str(regression.errors.label)


def kind_of(audit: Verdict) -> str:
    """Its claim, and of significance whether it is lost or gained."""
    if audit.claim != "significance":
        return audit.claim
    return f"significance {'lost' if audit.before.p_value <= audit.level else 'gained'}"


def used_test(audit: Any) -> str:
    """The standard errors of its test."""
    return str(getattr(audit, "test", "classical t test"))


# ---- what the cells say -----------------------------------------------------------------------


def estimate(fit: Fit) -> tuple[float, float, float, float]:
    """The coefficient, its standard error, t and p."""
    se, t = getattr(fit, "se", math.nan), getattr(fit, "t", math.nan)
    if math.isnan(t) and fit.n > 2 and abs(fit.r) < 1:  # a line through points
        t = fit.r * math.sqrt((fit.n - 2) / ((1 - fit.r) * (1 + fit.r)))
        se = fit.slope / t if t else math.nan
    return fit.slope, se, t, fit.p_value


def interval(fit: Fit, level: float = 0.05) -> tuple[float, float]:
    """The confidence interval of the coefficient, NaN where its test has no standard error."""
    from scipy.special import ndtri, stdtrit

    slope, se, _, _ = estimate(fit)
    freedom = getattr(fit, "freedom", fit.n - 2)
    is_normal = getattr(fit, "statistic", "t") == "z"
    wide = -float(ndtri(level / 2) if is_normal else stdtrit(max(freedom, 1), level / 2)) * se
    return slope - wide, slope + wide


def spell_interval(fit: Fit, level: float = 0.05) -> str:
    """The interval as a text, "" where there is none."""
    low, high = interval(fit, level)
    return "" if math.isnan(low) else f"[{low:.4g}, {high:.4g}]"


def size_of(audit: Any) -> int:
    """How many rows or groups there are to remove."""
    return int(getattr(audit, "n_groups", None) or audit.n)


def bounds(claim: str, audit: Verdict | None) -> dict[str, Any]:
    """The count, its bounds and share, and the interval of the coefficient without the rows."""
    ends = ("", "_lower", "_upper", "_share", "_ci_lower", "_ci_upper")
    if audit is None:
        return dict.fromkeys(f"{claim}{end}" for end in ends)
    share = None if audit.upper is None else audit.upper / size_of(audit)
    after = (None, None) if audit.after is None else interval(audit.after)
    return {
        f"{claim}_ci_lower": after[0],
        f"{claim}_ci_upper": after[1],
        claim: audit.drop,
        f"{claim}_lower": audit.lower,
        f"{claim}_upper": audit.upper,
        f"{claim}_share": share,
    }


def counted(audit: Verdict) -> str:
    """The count and its share, or the interval that is known."""
    n = size_of(audit)
    if audit.upper is None:
        known = audit.lower - 1
        return f"> {known:,} (> {percent(known / n)})" if known else "not known"
    if audit.lower == audit.upper:
        return f"{audit.upper:,} ({percent(audit.upper / n)})"
    shares = f"{percent(audit.lower / n)} to {percent(audit.upper / n)}"
    return f"[{audit.lower:,}, {audit.upper:,}] ({shares})"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.00095 else f"{100 * share:.1g}%"


def units_of(audits: Sequence[Any]) -> str:
    grouped = {getattr(audit, "n_groups", None) is not None for audit in audits}
    if grouped != {True}:
        return "rows or groups" if len(grouped) > 1 else "rows"
    by = {audit.regression.by for audit in audits}
    return f"groups by {by.pop()}" if len(by) == 1 and "" not in by else "groups"


def labels(specifications: Sequence[Specification], by_term: bool = True) -> dict[str, str]:
    """What the count of a claim is called, by ``kind:term`` or by kind alone."""
    every = [(key, audit) for each in specifications for key, audit in each.audits.items()]
    terms = list(dict.fromkeys(term for (term, _), _ in every))
    found: dict[str, str] = {}
    kinds = list(dict.fromkeys(kind_of(audit) for _, audit in every))
    claims = list(dict.fromkeys(claim for (_, claim), _ in every))
    kinds.sort(key=lambda kind: claims.index(kind.partition(" ")[0]))
    for wanted in terms if by_term else [None]:
        for kind in kinds:
            asked = [a for (t, _), a in every if kind_of(a) == kind and wanted in (None, t)]
            if not asked:
                continue
            text = f"{units_of(asked).capitalize()} to {does(asked[0].claim, asked)} (share)"
            about = f", {wanted}" if by_term and len(terms) > 1 else ""
            found[kind if wanted is None else f"{kind}:{wanted}"] = text + about
    return found


def does(claim: str, audits: Sequence[Verdict]) -> str:
    """What a removal does that breaks the claim of these audits."""
    if claim != "significance":
        low_high = audits[0].threshold
        if isinstance(low_high, tuple):
            return _DOES[claim].format(threshold=f"[{low_high[0]:g}, {low_high[1]:g}]")
        return _DOES[claim].format(threshold=low_high)
    held = {audit.before.p_value <= audit.level for audit in audits}
    return (
        f"{'lose or gain' if len(held) > 1 else 'lose' if held == {True} else 'gain'} significance"
    )

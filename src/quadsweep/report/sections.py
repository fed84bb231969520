"""Sections that stand for themselves: audits with controls, and what is said of one that failed."""

from __future__ import annotations

import html
from collections.abc import Sequence

from quadsweep.auditing.fit import Fit
from quadsweep.auditing.result import Audit, RegressionAudit
from quadsweep.report.content import Report
from quadsweep.results.formatting import (
    chance,
    embedded_picture,
    figure,
    html_table,
    named_rows,
    some,
)


def failure(report: Report, section: str) -> str:
    """Why a section, or the rest of it, is missing."""
    why = report.failures.get(section)
    return "" if why is None else f"<p>This could not be worked out: {html.escape(why)}.</p>"


def told_audit(audit: Audit) -> str:
    """The sentence, and the rows it is about."""
    gone = named_rows(audit.outliers, audit.labels)
    named = f" Removed: {gone}." if len(audit.outliers) else ""
    return f"{audit.message}{named}"


def scrolled(table: str, name: str) -> str:
    """A table that may be wider than a phone, which the keyboard can scroll as well."""
    return f"<div class='scroll' role='region' tabindex='0' aria-label='{name}'>{table}</div>"


def regression_section(report: Report) -> str:
    """The audits of a coefficient with controls: sentences, the fits, the added-variable plot."""
    why = failure(report, "regression")
    audits = [a for a in report.regressions if isinstance(a, RegressionAudit)]
    if not audits:
        title = "With controls"
        return f"<section><h2>{title}</h2>{why}</section>" if why else ""
    first = audits[0]
    title = f"The coefficient of {first.term}, with controls"
    others = [name for name in first.controls if name not in ("Intercept", "const")]
    told = "".join(f"<p>{html.escape(told_audit(audit))}</p>" for audit in audits)
    return (
        f"<section aria-labelledby='regression'><h2 id='regression'>{html.escape(title)}</h2>"
        f"<p class='quiet'>Beside it: {html.escape(some(others))}. "
        f"{html.escape(first.test[0].upper() + first.test[1:])}.</p>"
        f"{told}{why}{scrolled(_fits(audits), 'fits')}{_picture(audits)}</section>"
    )


def _fits(audits: Sequence[RegressionAudit]) -> str:
    """The fit of all rows and of what each audit leaves, a row each."""
    rows = [("all rows", audits[0].before)]
    rows += [(f"without those of {a.claim}", a.after) for a in audits if a.after and a.upper]
    header = ("", "rows", "coefficient", "standard error", "p-value", "R²")
    return html_table([header, *((name, *_figures(fit)) for name, fit in rows)])


def _figures(fit: Fit) -> tuple[str, ...]:
    error = figure(getattr(fit, "se", float("nan")))
    p = chance(fit.p_value).removeprefix("p ")
    return f"{fit.n:,}", figure(fit.slope), error, p, figure(fit.r2)


def _picture(audits: Sequence[RegressionAudit]) -> str:
    """The added-variable plot of the first audit that removes rows; none without matplotlib."""
    shown = next((audit for audit in audits if len(audit.outliers)), audits[0])
    try:
        source = embedded_picture(shown, (7.0, 4.6), "svg", metadata={"Date": None})
    except Exception as wrong:
        return f"<p>There is no picture: {html.escape(str(wrong))}.</p>"
    about = html.escape(f"Added-variable plot of {shown.term}: {shown.message}", quote=True)
    return source and f'<figure><img alt="{about}" src="{source}"></figure>'

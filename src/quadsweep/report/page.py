"""From a Report to one self-contained HTML page.

Whatever comes from the data (names, labels, the file's path) is escaped: as HTML where it becomes
markup, and in the embedded JSON so that nothing in it can end the script.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import numpy as np

from quadsweep.auditing.fit import Fit
from quadsweep.auditing.result import Audit, RegressionAudit
from quadsweep.messages import free
from quadsweep.report.content import Report
from quadsweep.report.live import Table, available, fragments
from quadsweep.report.live.page import MOST_VALUES, POLICY
from quadsweep.report.shell import page_around, text_of
from quadsweep.results.formatting import (
    chance,
    embedded_picture,
    figure,
    finite,
    html_table,
    named_rows,
    some,
)
from quadsweep.results.result import Result

_MOST_POINTS = 5_000  # whose answers for every size are on the page


def to_html(report: Report, table: Table | None = None) -> str:
    """Return the page as text.

    The slider goes through the answers that came with the page. Where the engine for pages was
    built, the reader can ask anything else; ``table`` has the columns for that, and its path.
    """
    answer = report.answer
    own = _own_table(report)
    if table is None or table.values > MOST_VALUES or not available():
        table = replace(own, path=table.path, builtin=table.builtin) if table else own
    fits = table.values <= MOST_VALUES and (available() or answer.n <= _MOST_POINTS)
    parts = {
        "title": html.escape(f"{answer.names[1]} against {answer.names[0]}"),
        "subtitle": html.escape(_subtitle(report)),
        "answer": html.escape(_answer(report)),
        "regression": regression_section(report),
        "comparison": _comparison(report),
        "cautions": "".join(f"<p>{html.escape(note)}</p>" for note in _notes(report)),
        "made": _made(report),
    }
    return page_around("page.html", parts | (_interactive if fits else _drawn)(report, table))


def _own_table(report: Report) -> Table:
    """Return the points of the answer as a table for the page."""
    answer = report.answer
    columns: list[Any] = []
    names: list[str] = list(answer.names)
    labels = answer.labels is not None and not isinstance(answer.labels, range)
    if labels and answer.labels is not None:
        columns, names = [[str(label) for label in answer.labels]], [free("label", names), *names]
    columns += [answer.x.tolist(), answer.y.tolist()]
    return Table(
        report.source or "the data", names, columns, len(columns) - 2, len(columns) - 1,
        label=0 if labels else None,
    )  # fmt: skip


def _interactive(report: Report, table: Table) -> dict[str, str]:
    """Return the parts of a page whose picture moves, begun at the answer."""
    answer = report.answer
    path = {
        "drops": [step.n - step.k for step in report.steps],
        "values": [finite(step.value) for step in report.steps],
        "proved": [step.success for step in report.steps],
        "noise": _noise(report),
        "told": f"{_path_caption(report)} {_verdict(report)}".strip(),
    }
    start = replace(
        table, known=_known(report, table), drop=answer.n - answer.k, objective=answer.objective
    )
    return fragments([start], path, audits=_audit(report))


def _known(report: Report, table: Table) -> dict[str, Any] | None:
    """Return the answers for the sizes of the path, rows by their place among those used."""
    answer = report.answer
    if len(answer.mask) != len(table.columns[0]) or table.x is None or table.y is None:
        return None
    names = ("value", "bound", "gap", "status", "method", "nodes", "seconds")
    steps = report.steps if answer.n <= _MOST_POINTS else [answer]
    return {
        "n": answer.n,
        "x": table.x,
        "y": table.y,
        "objective": answer.objective,
        "answers": [
            {
                "drop": step.n - step.k,
                "outliers": np.searchsorted(step.used, step.outliers),
                **{name: getattr(step, name) for name in names},
            }
            for step in steps
        ],
    }


def _drawn(report: Report, table: Table) -> dict[str, str]:
    """Return the parts of a page with too many points to move: pictures and sentences."""
    shown = [("The points", report.answer, ""), ("How many to drop", report.path, _verdict(report))]
    sections = "".join(
        f"<section><h2>{title}</h2>{_picture(result, title)}<p>{html.escape(text)}</p></section>"
        for title, result, text in shown
    )
    audits = _audit(report) and f"<section><h2>How few rows it depends on</h2>{_audit(report)}"
    return {
        "policy": POLICY,
        "style": text_of("page.css"),
        "picture": sections + (audits and f"{audits}</section>"),
        "tail": "",
        "scripts": "",
    }


def _subtitle(report: Report) -> str:
    answer = report.answer
    skipped = len(answer.omitted)
    text = f"{answer.n:,} points"
    if report.source:
        text += f" from {report.source}"
    if skipped:
        text += f"; {skipped:,} rows with missing or infinite values left out"
    return text


def _answer(report: Report) -> str:
    """The answer; before it, where that is so, that the path does not rise above noise, or that no
    row stands out of it."""
    answer, noise = report.answer, report.path.noise
    lead = (
        "Interrupted: the page holds what was finished by then. " if report.is_interrupted else ""
    )
    if noise is not None and noise.is_noise:
        lead += (
            f"The path does not rise above noise (p = {noise.overall:.3g}, corrected for "
            f"{len(noise.k):,} sizes). "
        )
    elif report.line is not None and report.line.n_outliers == 0:
        lead += (
            f"No row stands out from a clean line with this noise (p = {report.line.overall:.3g}). "
        )
    if answer.k == answer.n:
        return lead + _sentence(answer, f" ({report.chosen})" if report.chosen else "")
    return lead + _sentence(answer) + (f" This is {report.chosen}." if report.chosen else "")


def _sentence(step: Result, why: str = "") -> str:
    """Say what one number of dropped points comes to."""
    if step.k == step.n:
        return (
            f"Nothing is dropped{why}: {step.title} of all {step.n:,} points is {step.value:.4g}."
        )
    return (
        f"Dropping {step.n - step.k:,} of {step.n:,} points takes {step.title} from "
        f"{step.before:.4g} to {step.value:.4g} ({step.certificate})."
    )


def _path_caption(report: Report) -> str:
    text = f"{report.answer.title} of the best subset against the number of points dropped."
    if report.path.noise is not None:
        text += (
            f" The band holds 90% of what {len(report.path.noise.null):,} shufflings of y reach, "
            "the dotted line is their median."
        )
    open_ = sum(not step.success for step in report.steps)
    if open_:
        verb = "is" if open_ == 1 else "are"
        text += (
            f" {open_:,} of {len(report.steps):,} sizes {verb} not proved: hollow marks are the "
            "best found."
        )
    return text


def _verdict(report: Report) -> str:
    noise = report.path.noise
    if noise is None:
        return ""
    text = noise.verdict("quadsweep path --null line asks it" if report.line is None else "")
    if report.line is not None:
        text += f"; {report.line.verdict()}"
    return f"{text[0].upper() + text[1:]}."


def _audit(report: Report) -> str:
    why = failure(report, "audits")
    if not report.audits and not why:
        return ""
    text = "".join(f"<p>{html.escape(audit_text(audit))}</p>" for audit in report.audits)
    return text + why


def _notes(report: Report) -> list[str]:
    answer = report.answer
    caution = answer.caution()
    notes = [
        answer.message,
        f"{caution[0].upper() + caution[1:]}." if caution else "",
        "Dropping more points always gives a better fit, in noise as well: compare a size with the "
        "band, not its value with that of another size.",
        "The certificate is about the data as given: that no other choice is better, not that the "
        "points dropped are wrong. Look at them before leaving them out.",
    ]
    if not report.path.nested:
        notes.append(
            "The best subsets of different sizes are not nested: a point dropped at one size can "
            "be kept at the next."
        )
    return [note for note in notes if note]


def _comparison(report: Report) -> str:
    why = failure(report, "comparison")
    if report.comparison is None and not why:
        return ""
    table = "" if report.comparison is None else report.comparison._repr_html_()
    return (
        "<section aria-labelledby='others'><h2 id='others'>Other methods on the same points</h2>"
        f"{scrolled(table, 'other methods')}{why}</section>"
    )


def _made(report: Report) -> str:
    from quadsweep import __version__

    answer = report.answer
    seconds = report.path.seconds
    command = f"<pre>{html.escape(report.command)}</pre>" if report.command else ""
    return (
        f"{_proof(report)}{command}<p class='quiet'>quadsweep {html.escape(__version__)}, method "
        f"{html.escape(answer.method)}, {len(report.steps)} sizes in {seconds:.3g} s. The page is "
        "complete in itself: it loads nothing and sends nothing.</p>"
    )


def _proof(report: Report) -> str:
    if not report.proof:
        return ""
    there = html.escape(report.proof)
    return (
        f"<p><a href='{quote(report.proof)}'>The proof of the answer</a>: "
        f"<code>quadsweep check {there} DATA</code> verifies it in exact arithmetic.</p>"
    )


def _noise(report: Report) -> dict[str, Any] | None:
    noise = report.path.noise
    if noise is None or len(noise.null) == 0:
        return None
    shown = np.isin(noise.k, [step.k for step in report.steps])
    return {
        name: [finite(v) for v in values[shown]]
        for name, values in zip(("low", "middle", "high"), noise.band(), strict=True)
    }


# ---- audits with controls, and what is said of a section that failed -----------------------------


def failure(report: Report, section: str) -> str:
    """Why a section, or the rest of it, is missing."""
    why = report.failures.get(section)
    return "" if why is None else f"<p>This could not be worked out: {html.escape(why)}.</p>"


def audit_text(audit: Audit) -> str:
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
    text = "".join(f"<p>{html.escape(audit_text(audit))}</p>" for audit in audits)
    return (
        f"<section aria-labelledby='regression'><h2 id='regression'>{html.escape(title)}</h2>"
        f"<p class='quiet'>Beside it: {html.escape(some(others))}. "
        f"{html.escape(first.test[0].upper() + first.test[1:])}.</p>"
        f"{text}{why}{scrolled(_fits(audits), 'fits')}{_picture_of_audits(audits)}</section>"
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


def _picture_of_audits(audits: Sequence[RegressionAudit]) -> str:
    """Return the added-variable plot of the first audit that removes rows."""
    shown = next((audit for audit in audits if len(audit.outliers)), audits[0])
    return _picture(shown, f"Added-variable plot of {shown.term}: {shown.message}")


def _picture(result: Any, about: str) -> str:
    """Return a picture of a result; none without matplotlib."""
    try:
        source = embedded_picture(result, (7.0, 4.6), "svg", metadata={"Date": None})
    except Exception as wrong:
        return f"<p>There is no picture: {html.escape(str(wrong))}.</p>"
    return source and (
        f'<figure><img alt="{html.escape(about, quote=True)}" src="{source}"></figure>'
    )

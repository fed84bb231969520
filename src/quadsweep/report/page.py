"""From a Report to one self-contained HTML page.

Whatever comes from the data (names, labels, the file's path) is escaped: as HTML where it becomes
markup, and in the embedded JSON so that nothing in it can end the script.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import numpy as np

from quadsweep.auditing.fit import Fit
from quadsweep.auditing.result import Audit, RegressionAudit
from quadsweep.objectives import centred_sums
from quadsweep.plotting.canvas import limits
from quadsweep.report.content import Report
from quadsweep.report.live import Table, available, fragments
from quadsweep.report.live.page import MOST_VALUES
from quadsweep.report.shell import embedded, filled, page_around, script, text_of
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

_MOST_POINTS = 5_000  # drawn on the page
_MOST_ROWS = 200  # listed by name


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def to_html(report: Report, table: Table | None = None) -> str:
    """The page as text.

    With the data as a table, and where the engine for pages was built, the picture is live: the
    reader can ask further. Otherwise it shows what was computed.
    """
    answer = report.answer
    title = f"{answer.names[1]} against {answer.names[0]}"
    value = answer.title
    parts = {
        "title": html.escape(title),
        "subtitle": html.escape(_subtitle(report)),
        "answer": html.escape(_answer(report)),
        "value": html.escape(value),
        "regression": regression_section(report),
        "comparison": _comparison(report),
        "cautions": "".join(f"<p>{html.escape(note)}</p>" for note in _notes(report)),
        "made": _made(report),
    }
    if table is not None and available() and table.values <= MOST_VALUES:
        parts |= {"audit": ""} | _live(report, table, value)
    else:
        parts |= {"audit": _audit_section(report)} | _static(report, value)
    return page_around("page.html", parts)


def _static(report: Report, value: str) -> dict[str, str]:
    """What was computed, and a slider that shows it."""
    parts = {
        "value": html.escape(value),
        "drawn": html.escape(_drawn_note(report.answer)),
        "skipped": _skipped(report.answer),
        "path_caption": html.escape(_path_caption(report, value)),
        "surprise": _surprise(report),
    }
    return {
        "policy": _POLICY,
        "style": text_of("page.css"),
        "tail": "",
        "picture": filled("static.html", parts),
        "scripts": embedded("data", _payload(report, value))
        + "\n"
        + script("axes.js", "live/geometry.js", "page.js"),
    }


def _live(report: Report, table: Table, value: str) -> dict[str, str]:
    """The engine, begun at the answer, with the path as computed."""
    path = {
        "drops": [step.n - step.k for step in report.steps],
        "values": [finite(step.value) for step in report.steps],
        "proved": [step.success for step in report.steps],
        "noise": _noise(report),
        "told": f"{_path_caption(report, value)} {_verdict(report)}".strip(),
    }
    return fragments([replace(table, known=_known(report, table))], path, audits=_audit(report))


def _known(report: Report, table: Table) -> dict[str, Any] | None:
    """The answer for the page's first question, rows by their place among those without a gap."""
    answer = report.answer
    if len(answer.mask) != len(table.columns[0]) or table.x is None or table.y is None:
        return None
    return {
        "n": answer.n,
        "x": table.x,
        "y": table.y,
        "drop": answer.n - answer.k,
        "objective": answer.objective,
        "outliers": np.searchsorted(answer.used, answer.outliers).tolist(),
        "answer": {
            "value": finite(answer.value),
            "bound": finite(answer.bound),
            "gap": finite(answer.gap),
            "status": answer.status,
            "method": answer.method,
            "nodes": answer.nodes,
            "seconds": answer.seconds,
        },
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


def _drawn_note(answer: Result) -> str:
    if answer.n <= _MOST_POINTS:
        return ""
    return f"{_MOST_POINTS:,} of the {answer.n:,} points are drawn."


def _skipped(answer: Result) -> str:
    if not len(answer.omitted):
        return ""
    labels = [str(answer.label(i)) for i in answer.omitted[:_MOST_ROWS]]
    more = len(answer.omitted) - len(labels)
    text = ", ".join(labels) + (f", and {more:,} more" if more else "")
    return f"<p>Left out for missing or infinite values: {html.escape(text)}.</p>"


def _path_caption(report: Report, value: str) -> str:
    text = f"{value} of the best subset against the number of points dropped."
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


def _surprise(report: Report) -> str:
    verdict = _verdict(report)
    return f"<p>{html.escape(verdict)}</p>" if verdict else ""


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


def _audit_section(report: Report) -> str:
    text, title = _audit(report), "How few rows it depends on"
    if not text:
        return ""
    return f"<section aria-labelledby='audit'><h2 id='audit'>{title}</h2>{text}</section>"


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


def _payload(report: Report, value: str) -> dict[str, Any]:
    answer = report.answer
    everyone = answer.used
    x, y = answer.x[everyone], answer.y[everyone]
    xlim, ylim = limits(x, 0.06), limits(y, 0.06)
    a, _, c = centred_sums(x, y)
    slope = c / a if a > 0 else math.nan
    drawn = _drawn(report, everyone)
    return {
        "names": list(answer.names),
        "value": value,
        "n": answer.n,
        "named": answer.labels is not None and not isinstance(answer.labels, range),
        "xlim": xlim,
        "ylim": ylim,
        "slope": finite(slope),
        "intercept": finite(float(y.mean() - slope * x.mean())),
        "points": [[int(i), answer.x[i], answer.y[i], str(answer.label(i))] for i in drawn],
        "frames": [
            {
                **_frame(step, set(drawn.tolist())),
                "surprise": _chance(report, step.k),
                "lead": _answer(report) if step is answer else _sentence(step),
            }
            for step in report.steps
        ],
        "noise": _noise(report),
        "start": report.start,
    }


def _drawn(report: Report, everyone: Any) -> Any:
    """Rows to draw: all, or those dropped in the answer and a fair sample of the others."""
    if len(everyone) <= _MOST_POINTS:
        return everyone
    rng = np.random.default_rng(0)
    half = _MOST_POINTS // 2
    out = report.answer.outliers
    chosen = out if len(out) <= half else rng.choice(out, half, replace=False)
    rest = np.setdiff1d(everyone, chosen)
    return np.union1d(chosen, rng.choice(rest, _MOST_POINTS - len(chosen), replace=False))


def _frame(step: Result, drawn: set[int]) -> dict[str, Any]:
    labels = [str(step.label(i)) for i in step.outliers[:_MOST_ROWS]]
    conic = step.conic
    return {
        "drop": step.n - step.k,
        "k": step.k,
        "value": finite(step.value),
        "proof": step.certificate,
        "proved": step.success,
        "slope": None if step.slope is None else finite(step.slope),
        "intercept": finite(step.intercept),
        "kind": "none found" if conic is None else conic.kind,
        "out": [int(i) for i in step.outliers if int(i) in drawn],
        "labels": labels,
        "at": [[step.x[i], step.y[i]] for i in step.outliers[:_MOST_ROWS]],
        "more": len(step.outliers) - len(labels),
        "conic": None if conic is None else [conic.local, conic.origin, conic.scale],
    }


def _noise(report: Report) -> dict[str, Any] | None:
    noise = report.path.noise
    if noise is None or len(noise.null) == 0:
        return None
    shown = np.isin(noise.k, [step.k for step in report.steps])
    return {
        name: [finite(v) for v in values[shown]]
        for name, values in zip(("low", "middle", "high"), noise.band(), strict=True)
    }


def _chance(report: Report, k: int) -> str:
    """How often noise does as well with as many points kept."""
    noise = report.path.noise
    if noise is None or len(noise.null) == 0 or k not in noise.k:
        return ""
    at = int(np.flatnonzero(noise.k == k)[0])
    return (
        f"With {k:,} points kept, p = {noise.p_value[at]:.3g} from {len(noise.null):,} shufflings; "
        f"corrected for having looked at {len(noise.k):,} sizes, p = {noise.corrected[at]:.3g}."
    )


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
        f"{text}{why}{scrolled(_fits(audits), 'fits')}{_picture(audits)}</section>"
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

"""Audits as a table for a paper: regressions beside each other, claims below each other.

The layout is that of maketables; ours are the numbers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quadsweep.auditing.audit import audit
from quadsweep.auditing.claims import NAMES
from quadsweep.auditing.specification import (
    Specification,
    bounds,
    counted,
    effects_of,
    errors_of,
    estimate,
    interval,
    kind_of,
    labels,
    outcome_of,
    spell_interval,
    term_of,
    units_of,
    used_test,
)
from quadsweep.extras import needed
from quadsweep.inputs.models import is_several
from quadsweep.progress import Removals, watching_several
from quadsweep.results.formatting import ResultMixin, as_frame, drawn_by, figure, plain
from quadsweep.results.markup import escape_latex

if TYPE_CHECKING:
    from quadsweep.auditing.result import Verdict

THREE = ("significance", "sign", "reverse")
_THRESHOLDS = ("r2", "slope")  # claims that are about one
_ARGUMENTS = tuple(inspect.signature(audit).parameters)[1:]
_ESTIMATE = ("estimate", "std_error", "t", "p_value")
_PARTS = {"coef": "Estimates", "fe": "Fixed effects", "stats": "Rows removed, and the fit"}
_NOTE = (
    "Fewest {units} whose removal changes the conclusion, everything refitted, and their share. A "
    "single number is proved; of [a, b], fewer than a are ruled out and b suffice."
)
_STOPPED = "not audited: interrupted before"


@dataclass(frozen=True, eq=False)
class AuditTable(ResultMixin, Sequence[Specification]):
    """Audits of terms, claims and regressions, as one table.

    It is a sequence of specifications, each with its audits by (term, claim). ``maketables.ETable``
    accepts it, alone or in a list with other models.

    Attributes
    ----------
    specifications : list of Specification
        The regressions with at least one answer.
    left_out : dict
        By name, the reason why a regression has no answer.
    """

    specifications: list[Specification]
    left_out: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, which: Any) -> Any:
        return self.specifications[which]

    def __len__(self) -> int:
        return len(self.specifications)

    def __iter__(self) -> Iterator[Specification]:
        return iter(self.specifications)

    def to_list(self) -> list[Specification]:
        """The specifications, as maketables asks for them."""
        return list(self.specifications)

    @property
    def success(self) -> bool:
        """True if every audit could be made and is proved."""
        audits = (audit for each in self for audit in each.audits.values())
        asked = not self.left_out and not any(each.failures for each in self)
        return asked and all(a.success for a in audits)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for every regression and term."""
        rows = []
        for each in self:
            for term in each.terms:
                fit = each.audit_of_term(term).before
                numbers = dict(zip(_ESTIMATE, estimate(fit), strict=True))
                row = {
                    "model": each.name,
                    "outcome": outcome_of(each.first),
                    "term": term,
                    **numbers,
                }
                row |= dict(zip(("ci_lower", "ci_upper"), interval(fit), strict=True))
                row |= {"n": fit.n, "effects": " + ".join(effects_of(each.first)),
                        "errors": errors_of(each.first)}  # fmt: skip
                for claim in self.claims:
                    row |= bounds(claim, each.audits.get((term, claim)))
                rows.append(row)
        return rows

    @property
    def claims(self) -> list[str]:
        """All claims that were audited."""
        return list(dict.fromkeys(claim for each in self for claim in each.claims))

    def grid(self) -> list[Sequence[str]]:
        """Rows of texts, the header first: one for every regression and term."""
        titles = labels(self.specifications, by_term=False)
        shared = any(effects_of(each.first) for each in self)
        grid: list[Sequence[str]] = [
            ("model", "outcome", "term", "estimate", "std. error", "95% interval", "N",
             *["fixed effects"] * shared, "errors", *titles.values())
        ]  # fmt: skip
        for each in self:
            for term in each.terms:
                fit = each.audit_of_term(term).before
                found = {kind_of(a): counted(a) for (t, _), a in each.audits.items() if t == term}
                effects = [" + ".join(effects_of(each.first)) or "-"] * shared
                grid.append((
                    each.name, outcome_of(each.first), term, *map(figure, estimate(fit)[:2]),
                    spell_interval(fit), f"{fit.n:,}", *effects, errors_of(each.first),
                    *(found.get(kind, "-") for kind in titles),
                ))  # fmt: skip
        return grid

    def summary_items(self) -> list[tuple[str, str]]:
        """Explanation of the numbers, and the audits that were refused."""
        lines = [("counts", self.notes)]
        for each in self:
            for (term, claim), why in each.failures.items():
                lines.append((f"{each.name}, {term}, {claim}".replace(", None", ""), why))
        return [*lines, *self.left_out.items()]

    @property
    def notes(self) -> str:
        """Explanation of the numbers, for a note under the table."""
        audits = [audit for each in self for audit in each.audits.values()]
        tests = "; ".join(dict.fromkeys(used_test(audit) for audit in audits))
        tested = [audit for audit in audits if audit.claim in ("significance", "reverse")]
        levels = " or ".join(dict.fromkeys(f"{audit.level:g}" for audit in tested))
        at = f", significance at level {levels}" if levels else ""
        return _NOTE.format(units=units_of(audits)) + f" Test: {tests}{at}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "rows": plain(self.rows()),
            "notes": self.notes,
            "failures": [
                {"model": each.name, "term": term, "claim": claim, "why": why}
                for each in self
                for (term, claim), why in each.failures.items()
            ],
            "left_out": self.left_out,
        }

    def to_frame(self) -> Any:
        """One row for every regression and term: the estimate, and for every claim the count
        (missing where only bounds are known), the bounds and the share."""
        rows = self.rows()
        frame = as_frame({name: [row[name] for row in rows] for name in rows[0]})
        if not hasattr(frame, "convert_dtypes"):
            return frame
        counts = [f"{claim}{end}" for claim in self.claims for end in ("", "_lower", "_upper")]
        return frame.astype(dict.fromkeys(counts, "Int64"))  # whole numbers that may be missing

    def to_maketables(self, **options: Any) -> Any:
        """The table as ``maketables.ETable``, which writes LaTeX, HTML, Word and Typst.

        Parameters
        ----------
        **options
            Of ``maketables.ETable``: ``labels``, ``caption``, ``notes``, ``model_stats``, ...
        """
        with needed("a table for a paper"):
            import maketables
        titles = labels(self.specifications)
        given = {
            "model_stats": [*titles, "N", "r2", "se_type"],
            "model_stats_labels": titles | {"se_type": "Standard errors"},
            "model_heads": [each.name for each in self],
            "head_order": "d" if all(_numbered(each.name) for each in self) else "dh",
            "notes": f"Standard errors in parentheses; * p < 0.1, ** p < 0.05, *** p < 0.01. "
            f"{self.notes}",
        }
        return maketables.ETable(self.specifications, **{**given, **options})

    def to_latex(self, **options: Any) -> str:
        """LaTeX, for the packages booktabs, makecell, tabularx and threeparttable.

        Parameters
        ----------
        **options
            As of ``to_maketables``. Special characters are escaped; ``caption`` and ``notes`` may
            hold formulas between dollars.
        """
        made = self.to_maketables(**options)
        made.df = made.df.astype(object).map(_escape_cell)
        made.df.index, made.df.columns = (
            i.map(_escape_cell) for i in (made.df.index, made.df.columns)
        )
        for name in ("notes", "caption"):
            escape = _escape_prose if name in options else _escape_cell
            setattr(made, name, escape(getattr(made, name)))
        return str(made.make(type="tex"))

    def to_gt(self, **options: Any) -> Any:
        """The table as ``great_tables.GT``; options as of ``to_maketables``."""
        made = self.to_maketables(**options)
        made.df.index = made.df.index.map(lambda row: (_PARTS.get(row[0], row[0]), *row[1:]))
        return made.make(type="gt")

    def to_html(self, **options: Any) -> str:
        """The table as HTML."""
        return str(self.to_gt(**options).as_raw_html())

    def to_markdown(self) -> str:
        """A table for GitHub, R Markdown, Quarto and the like."""
        return f"{super().to_markdown()}\n\n{self.notes}"

    def write_paper_files(self, folder: str | PathLike[str], **options: Any) -> list[Path]:
        """Write what a paper needs into a folder, and return the paths.

        The robustness paragraph, the table (LaTeX, Markdown, HTML), the picture, a paragraph for
        the data availability statement (software, versions, seed, time, memory), all figures as
        JSON, and the proofs of audits with ``proof=True``. Options as of ``to_maketables``.
        """
        from quadsweep.auditing.paper_files import write_paper_files

        return write_paper_files(self, folder, **options)

    plot = drawn_by(
        "audit_table.plot_audit_table",
        "The counts of every regression and term, with their intervals, one below the other.",
    )


def audit_table(
    models: Any,
    terms: Sequence[str] | str | None = None,
    claims: Sequence[str] | str = THREE,
    **settings: Any,
) -> AuditTable:
    """Audit terms and claims of one or more regressions, as one table.

    Parameters
    ----------
    models : a regression, a list of them, or a dictionary of them by name
        Each is a fitted model, a formula (with ``data=``), or a dictionary of arguments of
        :func:`quadsweep.audit`; in a dictionary, ``model`` is the model or formula:
        ``{"rows": fit, "firms": {"model": fit, "groups": "firm"}}``.
    terms : str or list of str, optional
        The columns whose coefficients are audited; optional if there is only one.
    claims : list of str
        Claims of :func:`quadsweep.audit`.
    **settings
        Arguments of every :func:`quadsweep.audit`: ``data``, ``vcov``, ``groups``, ``level``,
        ``time_limit`` (of each audit), ``progress`` (one line for each audit), ...

    Returns
    -------
    AuditTable

    Notes
    -----
    A cell is empty if the regression lacks the term or the audit is refused; the summary has the
    reason. Ctrl-C ends the current audit, whose bounds are kept, and skips those after it.

    Examples
    --------
    >>> import quadsweep as qs
    >>> x, y = [1, 2, 3, 4, 5, 6, 20], [6, 5, 4, 3, 2, 1, 20]
    >>> table = qs.audit_table({"all": {"x": x, "y": y}}, claims=["sign", "reverse"])
    >>> table.grid()[1][:6]
    ('all', 'y', 'x', '0.8605', '0.2278', '[0.2748, 1.446]')
    >>> table.grid()[1][6:]
    ('7', 'classical', '1 (14.3%)', '1 (14.3%)')
    """
    wanted = [terms] if terms is None or isinstance(terms, str) else list(terms)
    asked = [claims] if isinstance(claims, str) else list(claims)
    if not asked or not all(isinstance(c, str) and c in NAMES for c in asked):
        raise ValueError(f"claims must be some of {', '.join(NAMES)}; got {claims!r}")
    threshold = settings.pop("threshold", None)
    found, left_out = [], {}
    first: Exception | None = None
    stopped = False
    with watching_several(settings.pop("progress", None), Removals()) as following:
        for name, (model, own) in _named(models).items():
            audits: dict[tuple[str, str], Verdict] = {}
            failures: dict[tuple[str, str], str] = {}
            for term, claim in product(wanted, asked):
                if stopped:
                    failures[str(term), claim] = _STOPPED
                    continue
                about = {"claim": claim, **settings, **own}
                about |= {} if term is None else {"term": term}
                about |= {"threshold": threshold} if claim in _THRESHOLDS else {}
                line = following(", ".join([name, *([] if term is None else [term]), claim]))
                try:
                    answer: Any = audit(*model, **{"progress": line, **about})
                except Exception as wrong:  # the others stand
                    failures[str(term), claim] = str(wrong)
                    first = first or wrong
                    continue
                audits[term_of(answer), claim] = answer
                stopped = answer.status == "interrupted"
            if audits:
                found.append(Specification(name, audits, failures))
            else:
                left_out[name] = "; ".join(dict.fromkeys(failures.values()))
    if not found:
        raise first or ValueError("models must be one or more regressions; got none")
    return AuditTable(found, left_out)


def _named(models: Any) -> dict[str, tuple[list[Any], dict[str, Any]]]:
    """The regressions by name, or by number where they have none: the model, if it is given as one,
    and further arguments of its audit."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        if is_several(models):
            models = models.to_list()
        several = list(models) if isinstance(models, (list, tuple)) else [models]
        named = {f"({i})": model for i, model in enumerate(several, 1)}
    found = {}
    for name, model in named.items():
        own = dict(model) if isinstance(model, Mapping) else {"model": model}
        if unknown := [key for key in own if key != "model" and key not in _ARGUMENTS]:
            raise ValueError(f"models: {name!r} has no argument of audit called {unknown[0]!r}; "
                             f"allowed are model, {', '.join(_ARGUMENTS)}")  # fmt: skip
        found[name] = ([own.pop("model")] if "model" in own else [], own)
    return found


def _numbered(name: str) -> bool:
    return name.startswith("(") and name[1:-1].isdigit()


def _escape_cell(text: Any) -> Any:
    """Return a cell, or each part of a name in several parts, as LaTeX prints it."""
    if isinstance(text, tuple):
        return tuple(map(_escape_cell, text))
    return escape_latex(text) if isinstance(text, str) else text


def _escape_prose(text: Any) -> Any:
    r"""Escape a text of the user; formulas between dollars, and what is escaped, stay as they are.

    >>> print(_escape_prose("a_1 & 5% of $x_1$, p < 0.1"), _escape_prose(None))
    a\_1 \& 5\% of $x_1$, p $<$ 0.1 None
    """
    if not isinstance(text, str):
        return text
    parts = text.split("$")
    outside = [re.sub(r"(?<!\\)([%_&#])", r"\\\1", part) for part in parts[::2]]
    outside = [re.sub(r"([<>])", r"$\1$", part) for part in outside]
    parts[::2] = outside
    return "$".join(parts)

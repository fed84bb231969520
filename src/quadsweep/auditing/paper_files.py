"""The files that a paper needs of its audits: paragraph, table, picture, availability, proofs."""

from __future__ import annotations

import json
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quadsweep.auditing.specification import estimate, spell_interval
from quadsweep.results.formatting import chance, figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quadsweep.auditing.result import Verdict
    from quadsweep.auditing.tables import AuditTable

_WITH = ("numpy", "scipy", "formulaic", "statsmodels", "pyfixest", "linearmodels")


def write_paper_files(table: AuditTable, folder: Any, **options: Any) -> list[Path]:
    """Write the files into a folder, which is made where there is none, and return their paths."""
    audits = [(each.name, audit) for each in table for audit in each.audits.values()]
    texts = {
        "robustness.md": describe_robustness(table),
        "table.tex": table.to_latex(**options),
        "table.md": table.to_markdown(),
        "table.html": table.to_html(**options),
        "availability.md": describe_availability([audit for _, audit in audits]),
        "audits.json": json.dumps(
            [{"model": name, **audit.to_dict()} for name, audit in audits], indent=1
        ),
    }
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    drawn: Any = table if len(audits) > 1 else audits[0][1]
    axes, picture = drawn.plot(), place / "figure.pdf"
    axes.figure.savefig(picture, bbox_inches="tight")
    written = [picture]
    for name, text in texts.items():
        written.append(place / name)
        written[-1].write_text(text + "\n", encoding="utf-8")
    for number, (_, audit) in enumerate(audits, 1):
        proof = getattr(audit, "proof", None)
        if proof is not None:
            written.append(place / f"proof-{number}.json.gz")
            proof.save(written[-1])
    return written


def describe_robustness(table: AuditTable) -> str:
    """A paragraph of each audit in sentences, and what the bounds mean."""
    said = []
    for each in table:
        about = "" if len(table) == 1 else f"Model {each.name}. "
        said += [about + _describe(audit) for audit in each.audits.values()]
    said += [f"Model {name} was not audited: {why}." for name, why in table.left_out.items()]
    return "\n\n".join([*said, table.notes])


def _describe(audit: Verdict) -> str:
    """The answer, with the estimate before and after."""
    parts = [audit.message]
    pairs = [(f"on all {audit.n:,} rows", audit.before), ("without these rows", audit.after)]
    for where, fit in pairs if audit.upper else pairs[:1]:
        if fit is not None:
            slope, _, _, p = estimate(fit)
            within = spell_interval(fit, audit.level)
            within = f"{100 * (1 - audit.level):.4g}% interval {within}, " if within else ""
            parts.append(f"The estimate {where} is {figure(slope)} ({within}{chance(p)}).")
    return " ".join([*parts, f"Certificate: {audit.certificate}."])


def describe_availability(audits: Iterable[Verdict]) -> str:
    """Software, versions, seeds, time and memory, as replication packages want them."""
    every, versions = list(audits), []
    for name in ("quadsweep", *_WITH):
        if name == "quadsweep" or name in sys.modules:
            try:
                versions.append(f"{name} {metadata.version(name)}")
            except metadata.PackageNotFoundError:
                continue
    seeds = ", ".join(dict.fromkeys(str(getattr(audit, "seed", 0)) for audit in every))
    seconds = sum(audit.seconds for audit in every)
    peak = _peak_memory()
    used = f" and up to {peak:,.0f} MB of memory" if peak else ""
    return (
        f"The audits were computed with {', '.join(versions)} under Python "
        f"{platform.python_version()} on {platform.system()} ({platform.machine()}), with the seed "
        f"{seeds}. They took {seconds:.3g} seconds{used}. Upper bounds are removals that were "
        "fitted again, lower bounds are proved; `audits.json` has all figures, and the `proof-` "
        "files, where there are any, can be checked by `quadsweep check`."
    )


def _peak_memory() -> float | None:
    """The most megabytes of this process so far; None where the system does not say."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

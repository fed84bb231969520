"""What a report contains: the best subsets of many sizes, audits, a comparison of methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadsweep import objectives
from quadsweep.auditing.audit import audit
from quadsweep.auditing.result import Audit
from quadsweep.choosing.nulls import SIGNIFICANT
from quadsweep.choosing.path import Path, path
from quadsweep.choosing.path_significance import LINES, PathSignificance
from quadsweep.clock import Clock
from quadsweep.inputs import validation
from quadsweep.inputs.frames import Columns, unpack
from quadsweep.paper.compare import Comparison, compare
from quadsweep.results.result import Result

MOST_STEPS = 60  # positions of the slider
_AUDIT_SECONDS = 10.0
_OTHERS_SECONDS = 20.0
_AUDIT_SHARE = 0.1  # of the time left, for each of up to four audits
_LINE_SECONDS = 20.0
_LINE_ROWS = 200  # beyond, a hundred paths of clean lines take minutes
_LINE_DRAWS = 19  # fewer cannot reach 5%
_WALK = 0.8  # of the time that the audits leave; the comparison has the rest
_STOPPED = "interrupted"
_ABOUT_LINES = ("r2", "r", "cov", "lts")


@dataclass(frozen=True)
class Report:
    """Everything on the page.

    Attributes
    ----------
    path : the best subsets of all the sizes shown, with what shuffled data reach.
    steps : one Result for each position of the slider, fewest dropped first.
    start : which of them is the answer asked for.
    chosen : why the slider starts there.
    audits : how few rows the sign and the significance of the correlation of all points depend on.
    comparison : other methods with as many points kept; for R2 alone.
    line : how many rows stand out of a clean line; None where that was not asked or not finished.
    regressions : the same audits of a coefficient with controls, where a formula was given.
    failures : sections that could not be made, and why.
    is_interrupted : whether Ctrl-C ended the work; what was finished by then is on the page.
    source, command : where the data come from and what was asked.
    proof : where the answer's proof is, seen from the page; empty if there is none.
    """

    path: Path
    steps: list[Result]
    start: int
    chosen: str
    source: str
    command: str
    audits: list[Audit] = field(default_factory=list)
    comparison: Comparison | None = None
    proof: str = ""
    line: PathSignificance | None = None
    regressions: list[Audit] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False

    @property
    def answer(self) -> Result:
        return self.steps[self.start]


def drops_for(n: int, least: int, asked: int | None) -> list[int]:
    """Numbers of points to drop: from none to half, and what was asked for, at most MOST_STEPS.

    >>> drops_for(10, 3, None)
    [0, 1, 2, 3, 4, 5]
    """
    most = max(min(n // 2, n - least), 0 if asked is None else asked)
    spaced = np.unique(np.linspace(0, most, min(most + 1, MOST_STEPS)).round().astype(int))
    return sorted({int(m) for m in spaced} | ({asked} if asked is not None else set()))


def gather(
    x: Any,
    y: Any = None,
    k: int | float | None = None,
    *,
    drop: int | float | None = None,
    objective: str = "r2",
    permutations: int = 99,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    source: str = "",
    command: str = "",
    progress: bool = False,
    regression: dict[str, Any] | None = None,
) -> Report:
    """Solve everything the page shows.

    Parameters
    ----------
    x, y, k, drop, objective, n_jobs, seed, progress :
        As in :func:`quadsweep.solve`; rows with missing values are left out. Without ``k`` and
        ``drop`` the page starts where a rule of :meth:`quadsweep.path.Path.suggestions` says.
    time_limit : float, optional
        Seconds for the whole page.
    permutations : int
        Shufflings of y for the noise band, and draws of clean lines that rows stand out of or not;
        0 for none.
    source, command :
        Text for the page.
    regression : dict, optional
        Arguments of :func:`quadsweep.audit` for a coefficient with controls.

    A section beside the path that cannot be made leaves its reason and does not stop the others.
    Ctrl-C during the path keeps the sizes found so far and skips the sections after it.
    """
    given = unpack(x, y)
    if len(given.names) > 2:
        names = ", ".join(map(str, given.names[:-1]))
        raise ValueError(f"a report is of one predictor; choose one of {names}")
    goal = objectives.get(objective)
    points = validation.read_sample(given, goal, "omit")
    asked = None
    if k is not None or drop is not None:
        asked = points.n - validation.keep_count(points.n, k, drop, goal)
    clock = Clock(validation.seconds(time_limit))
    sections = _Sections(clock, {"n_jobs": n_jobs, "seed": seed, "nan_policy": "omit"})
    audits = sections.audits("audits", x=given) if goal.name in _ABOUT_LINES else []
    regressions = sections.audits("regression", **regression) if regression else []
    walk = path(
        given,
        drop=drops_for(points.n, goal.min_k, asked),
        objective=objective,
        permutations=permutations if goal.name != "var" else 0,
        time_limit=_WALK * clock.time_left(),
        n_jobs=n_jobs,
        seed=seed,
        nan_policy="omit",
        progress=progress,
    )
    steps = [walk.result(int(size)) for size in walk.k[walk.masks.any(axis=1)]]
    if not steps:
        if "interrupted" in walk.status:
            raise KeyboardInterrupt
        raise ValueError("the time limit ended before the first subset was found; give more")
    sections.is_interrupted = "interrupted" in [*walk.status, walk.noise and walk.noise.status]
    line = sections.line(walk, permutations)
    start, chosen = _start(walk, line, steps, None if asked is None else points.n - asked)
    others = sections.comparison(given, steps[start].k, progress) if goal.name == "r2" else None
    return Report(
        walk, steps, start, chosen, source, command, audits, others,
        line=line, regressions=regressions, failures=sections.failures,
        is_interrupted=sections.is_interrupted or getattr(others, "status", "") == _STOPPED,
    )  # fmt: skip


class _Sections:
    """What stands beside the path: each within its share of the time, and for itself."""

    def __init__(self, clock: Clock, settings: dict[str, Any]) -> None:
        self.failures: dict[str, str] = {}
        self.is_interrupted = False
        self._clock = clock
        self._settings = settings

    def audits(self, section: str, **asked: Any) -> list[Audit]:
        """How few rows the usual conclusions from the figures depend on."""
        made: list[Audit] = []
        try:
            for claim in ("sign", "significance"):
                limit = min(_AUDIT_SECONDS, _AUDIT_SHARE * self._clock.time_left())
                question: dict[str, Any] = {**asked, **self._settings}
                made.append(audit(**question, claim=claim, time_limit=limit))
                if made[-1].status == "interrupted":
                    raise KeyboardInterrupt  # nothing of the page is known before its path
        except Exception as wrong:
            self.failures[section] = str(wrong)
        return made

    def line(self, walk: Path, draws: int) -> PathSignificance | None:
        """How many rows stand out of a clean line, where there is a line and the test is quick."""
        is_asked = draws >= _LINE_DRAWS and walk.objective in LINES and walk.n <= _LINE_ROWS
        if not is_asked or not walk.success or _is_noise(walk) or self.is_interrupted:
            return None
        limit = min(_LINE_SECONDS, _WALK * self._clock.time_left())
        seed, jobs = self._settings["seed"], self._settings["n_jobs"]
        try:
            found = walk.significance(
                null="line", permutations=draws, time_limit=limit, n_jobs=jobs, seed=seed
            )
        except Exception as wrong:
            self.failures["rows that stand out"] = str(wrong)
            return None
        # Beside rows that lie on a line exactly every other one is surprising, and none is counted.
        is_clear = (found.overall <= SIGNIFICANT) == bool(found.n_outliers)
        return found if found.status == "finished" and is_clear else None

    def comparison(self, given: Columns, k: int, progress: bool) -> Comparison | None:
        """Other methods on the same points."""
        limit = min(_OTHERS_SECONDS, self._clock.time_left())
        if limit == 0 or self.is_interrupted:
            stopped = "the time limit left no time for it"
            self.failures["comparison"] = "interrupted" if self.is_interrupted else stopped
            return None
        try:
            return compare(given, k=k, time_limit=limit, progress=progress, **self._settings)
        except Exception as wrong:
            self.failures["comparison"] = str(wrong)
            return None


_REASONS = {
    "elbow": "the size at which the curve below bends most",
    "gain": "the size reached by the step that gains most",
}


def _is_noise(walk: Path) -> bool:
    return walk.noise is not None and walk.noise.is_noise


def _start(
    walk: Path, line: PathSignificance | None, steps: list[Result], asked: int | None
) -> tuple[int, str]:
    sizes = [step.k for step in steps]
    if asked in sizes:
        return sizes.index(asked), ""
    if _is_noise(walk):
        return 0, "noise alone would do as well"
    if line is not None and line.n_outliers == 0:
        return 0, ""
    if line is not None and line.n_outliers and walk.n - line.n_outliers in sizes:
        clean = f"a clean line with this noise (p = {line.overall:.3g})"
        return sizes.index(walk.n - line.n_outliers), f"how many rows stand out from {clean}"
    suggested = walk.suggestions()
    for rule, reason in _REASONS.items():
        size = suggested.get(rule)
        if size in sizes:
            return sizes.index(size), reason
    return 0, "no size stands out"

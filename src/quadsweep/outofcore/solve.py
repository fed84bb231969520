"""The entry point for sources: in memory if the rows fit, otherwise out of core."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from quadsweep.clock import Clock
from quadsweep.distributed.runner import missing
from quadsweep.distributed.store import ChunkStore
from quadsweep.distributed.workers import team
from quadsweep.inputs import validation
from quadsweep.inputs.frames import Columns
from quadsweep.messages import argument
from quadsweep.objectives import Objective
from quadsweep.outofcore.boundary import gradient_of_sums
from quadsweep.outofcore.flags import Flags, decide, listed
from quadsweep.outofcore.result import OutOfCoreResult
from quadsweep.outofcore.running import Passes
from quadsweep.outofcore.search import ROW_BYTES, Leaves, MemoryPlan, Placing, Query, Search
from quadsweep.outofcore.sources import Source, collects_itself, is_source, open_source
from quadsweep.progress import SearchProgress, StatusLine, is_shown, watching

IN_PASSES = ("r2", "r", "cov", "dv", "tv", "lts")


def fits(source: Source, memory: float) -> bool:
    """Return whether all rows can be searched in memory."""
    return source.given * ROW_BYTES <= memory


def columns_of(source: Source) -> tuple[Any, Any]:
    """Read all rows of a source."""
    read = [source.read(part) for part in range(source.parts)]
    x, y = (np.concatenate([np.zeros(0), *column]) for column in zip(*read, strict=True))
    return x, y


def refuse(**for_sources: Any) -> None:
    """What goes with data out of core is not silently ignored with arrays and frames."""
    given = [argument(name) for name, v in for_sources.items() if v is not None and v is not False]
    if given:
        raise ValueError(
            f"{', '.join(given)}: only with a source out of core, a path for instance, and two "
            "of its columns by name"
        )


def load_or_stream(
    x: Any, y: Any, data: Any, memory_limit: Any, **for_sources: Any
) -> tuple[Source | None, Any, Any, Any]:
    """Return a source that has to be read out of core, or None with x, y and data in memory."""
    if not is_source(data) or (collects_itself(data) and not _names_two(x, y)):
        if any(value is not None and value is not False for value in for_sources.values()):
            refuse(**for_sources)
        return None, x, y, data
    source, memory = open_source(data, x, y), validation.memory(memory_limit)
    if not fits(source, memory):
        return source, x, y, data
    if collects_itself(data):
        return None, x, y, data
    return None, Columns(*columns_of(source), source.names), None, None


def _names_two(x: Any, y: Any) -> bool:
    return isinstance(x, str) and isinstance(y, str)


def loaded(question: str, x: Any, y: Any, data: Any) -> tuple[Any, Any, Any]:
    """x, y and data for a question that needs all rows in memory."""
    source, x, y, data = load_or_stream(x, y, data, None)
    if source is not None:
        raise ValueError(
            f"{question} needs its rows in memory; got {source.given:,} rows, which do not fit "
            "(solve and audit work out of core)"
        )
    return x, y, data


@dataclass(frozen=True)
class SourceResources:
    """What a search out of core may use, as the user gives it."""

    memory: float
    time_limit: float | None = None
    n_jobs: int | None = None
    progress: SearchProgress = None
    client: Any = None
    out: str | os.PathLike[str] | None = None
    resume: bool = False

    @contextmanager
    def search(self, source: Source, query: Query, callback: Any) -> Iterator[Search]:
        """Make a search with its workers, folder for finished parts and clock."""
        jobs = validation.jobs(self.n_jobs)
        store = None if self.out is None else ChunkStore(self.out)
        if store is not None:
            missing([], store, resume=self.resume)
        clock = Clock(validation.seconds(self.time_limit))
        with team("threads", self.client, jobs) as workers, report_passes(self.progress) as tick:
            passes = Passes(jobs, workers, store, tick)
            if store is not None and not store.is_empty():
                passes.read_fingerprints(source)
            memory_plan = MemoryPlan.within(self.memory, source.given)
            yield Search(source, query, passes, memory_plan, clock, callback)


def check_objective(goal: Objective) -> None:
    """Raise an error if an objective needs its rows in memory."""
    if goal.name not in IN_PASSES:
        allowed = ", ".join(IN_PASSES)
        raise ValueError(f"{goal.name} cannot be searched out of core; {allowed} can")


def solve_out_of_core(source: Source, query: Query, resources: SourceResources) -> OutOfCoreResult:
    """Find the best subset of a source's rows without loading them all."""
    goal = query.objective
    check_objective(goal)
    with (
        watching(resources.progress, goal) as callback,
        resources.search(source, query, _in_units(callback, goal)) as search,
    ):
        found, leaves, size = search.run()
        if not found["real"]:
            raise ValueError(
                f"no {size:,} rows with a value of {goal.name} were found; "
                "give a larger memory_limit"
            )
        if not _tells(query, found):
            found |= {"status": "heuristic", "bound": 0.0}
        return _result(source, goal, found, leaves, size, search.passes, search.clock)


def _in_units(callback: Any, goal: Objective) -> Any:
    """Scores of a search out of core are in units of its own; only those of r and r2 are shown."""
    if callback is None or goal.name in ("r2", "r"):
        return callback
    return lambda score, bound, nodes, seconds: callback(math.nan, math.nan, nodes, seconds)


@contextmanager
def report_passes(progress: Any) -> Iterator[Callable[[str, int, int, float], object]]:
    """Show passes and parts on standard error, where progress is asked for."""
    if not is_shown(progress):
        yield lambda *_: None
        return
    line = StatusLine()

    def tell(what: str, done: int, total: int, seconds: float) -> None:
        line.show(seconds, lambda: f"{what}, {done:,} of {total:,} parts, {seconds:.0f} s")

    try:
        yield tell
    finally:
        line.close()


def _value(goal: Objective, score: float, placing: Placing) -> float:
    """The value of a score in placed coordinates: a power of two, exactly."""
    ex, ey = placing[2:4]
    exponent = {"cov": ex + ey, "dv": 2 * ex, "tv": 2 * ex, "lts": 2 * ey}.get(goal.name, 0)
    return math.ldexp(goal.sense * score, exponent) + 0.0


def line_of(moments: list[float], k: int, placing: Placing) -> tuple[float, float]:
    """Return slope and intercept of the least squares line, from placed sums."""
    x0, y0, ex, ey, tilt = placing
    sx, sy, sxx, sxy, _ = moments
    a, c = sxx - sx * sx / k, sxy - sx * sy / k
    if not a > 0:
        return math.nan, math.nan
    steep = c / a
    slope = math.ldexp(steep, ey - ex) + tilt
    height = y0 + math.ldexp((sy - steep * sx) / k, ey)
    return slope, height - slope * x0


def _score(goal: Objective, moments: list[float], k: int) -> float:
    sx, sy, sxx, sxy, syy = moments
    a, b, c = sxx - sx * sx / k, syy - sy * sy / k, sxy - sx * sy / k
    return goal.sense * goal.of_sums(a, b, c, k)


def values_of(
    goal: Objective, found: dict[str, Any], k: int, placing: Placing
) -> tuple[float, float]:
    """The value of what was found, and its bound."""
    score, bound = found["score"], found["bound"]
    if score is None:
        score = bound = _score(goal, found["moments"], k)
    return _value(goal, score, placing), _value(goal, bound, placing)


def _result(
    source: Source,
    goal: Objective,
    found: dict[str, Any],
    leaves: Leaves,
    k: int,
    passes: Passes,
    clock: Clock,
) -> OutOfCoreResult:
    placing, n = leaves.partition.placing, leaves.n
    value, best = values_of(goal, found, k, placing)
    slope, intercept = line_of(found["moments"], k, placing)
    flags = Flags(source, decide(found, leaves), passes.jobs)
    outliers = listed(flags, passes, n - k, leaves)
    return OutOfCoreResult(
        value=value,
        bound=best,
        gap=max(0.0, goal.sense * (best - value)),
        status=found["status"],
        objective=goal.name,
        n=n,
        k=k,
        nodes=found["nodes"],
        seconds=clock.gone(),
        names=source.names,
        before=_before(goal, leaves),
        slope=slope,
        intercept=intercept,
        missing=int(leaves.missing.sum()),
        passes=passes.count,
        reading=passes.seconds,
        rows_read=passes.rows_read,
        loaded=len(leaves.row),
        outliers=outliers,
        flags=flags,
        gain=gradient_of_sums(goal, found["moments"], k, placing),
    )


def _tells(query: Query, found: dict[str, Any]) -> bool:
    """Whether sums in doubles tell a residual sum of squares to the tolerance.

    They do not where far rows are kept. What is below 2^-100 of them is an exact fit.
    """
    if query.objective.name != "lts" or found["status"] != "optimal" or found["score"] is None:
        return True
    squares, left = float(found["moments"][4]), -float(found["score"])
    return left <= 2.0**-100 * squares or max(query.tol, 1e-12) * left >= 2.0**-50 * squares


def _before(goal: Objective, leaves: Leaves) -> float:
    placing = leaves.partition.placing
    return _value(goal, _score(goal, leaves.total().tolist(), leaves.n), placing)

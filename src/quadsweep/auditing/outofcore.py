"""The audit of two columns that are not in memory: the walk of ``audit`` over a source."""

from __future__ import annotations

from quadsweep.auditing import claims
from quadsweep.auditing.claims import Claim, Terms
from quadsweep.auditing.controls.reading import FEWEST_KEPT, drop_limit
from quadsweep.auditing.minimal_removal import (
    BreakMode,
    MinimalRemovalSearch,
    Report,
    report_bounds,
)
from quadsweep.auditing.oracles.outofcore import (
    Engine,
    OutOfCore,
    OutOfCoreHeuristic,
    OutOfCoreProblem,
    Removal,
)
from quadsweep.auditing.resources import Resources
from quadsweep.auditing.result import OutOfCoreAudit, SearchState, reported
from quadsweep.clock import Stopped
from quadsweep.outofcore.flags import Flags, listed
from quadsweep.outofcore.search import Query
from quadsweep.outofcore.solve import SourceResources
from quadsweep.outofcore.sources import Source


def audit_out_of_core(
    source: Source, terms: Terms, query: Query, given_to: SourceResources
) -> OutOfCoreAudit:
    """Find the fewest rows of a source whose removal breaks a claim."""
    with given_to.search(source, query, None) as search:
        resources = Resources(search.clock.limit, search.clock.start)
        with report_bounds(given_to.progress, resources) as note:
            engine = Engine(search, search.survey(), resources)
            if engine.n <= FEWEST_KEPT:
                raise ValueError(f"an audit needs at least 4 rows; got {engine.n}")
            most = drop_limit(terms.max_drop, engine.n)
            claimed = claims.build(terms, engine.sums())
            known = _search(claimed, engine, most, note)
            return _result(source, claimed, terms, most, known, engine)


def _search(claimed: Claim, engine: Engine, most: int, note: Report) -> SearchState:
    problems = [OutOfCoreProblem(how, engine) for how in claimed.conditions]
    if any(problem.broken(engine.everything) for problem in problems):
        return SearchState(0, 0, engine.everything, "optimal")
    heuristics = [OutOfCoreHeuristic(problem, most) for problem in problems]
    modes = [
        BreakMode(heuristic, [OutOfCore(problem, engine.resources)])
        for problem, heuristic in zip(problems, heuristics, strict=True)
    ]
    try:  # the rows along the boundaries where the answer seems to be, in one pass
        wanted = sorted({leaf for heuristic in heuristics for leaf in heuristic.boundary()})
        if wanted:
            engine.open(wanted)
    except Stopped as stop:
        return SearchState(1, None, None, stop.status)
    found = MinimalRemovalSearch(modes, most, engine.resources, note).run()
    ended = "memory_limit" if engine.is_full and found.status == "undecided" else found.status
    return SearchState(found.lower, found.upper, found.removal, ended)


def _result(
    source: Source, claimed: Claim, terms: Terms, most: int, known: SearchState, engine: Engine
) -> OutOfCoreAudit:
    passes, leaves, removal = engine.search.passes, engine.leaves, known.removal
    placing = leaves.partition.placing
    flags = after = outliers = None
    if isinstance(removal, Removal):
        flags = Flags(source, removal.rows, passes.jobs)
        after = removal.sums.fit(placing)
        outliers = listed(flags, passes, len(removal), leaves)
    return OutOfCoreAudit(
        **reported(claimed, known, most, engine.n),
        outliers=outliers,
        before=engine.everything.sums.fit(placing),
        after=after,
        level=terms.level,
        threshold=terms.threshold,
        tol=terms.tol,
        nodes=engine.resources.nodes,
        seconds=engine.resources.gone(),
        names=source.names,
        missing=int(leaves.missing.sum()),
        passes=passes.count,
        rows_read=passes.rows_read,
        loaded=len(leaves.row),
        flags=flags,
    )

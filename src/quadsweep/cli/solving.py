"""``quadsweep solve``: the best subset of the points in a file."""

from __future__ import annotations

from quadsweep.cli.answering import Pairs, answer
from quadsweep.cli.options import Given, command
from quadsweep.cli.outofcore import answer_source, source_of
from quadsweep.cli.places import check_table
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.predictors import read_predictors
from quadsweep.groups import Groups
from quadsweep.results.result import Result

_AT_ONCE = 0.05  # seconds of a search after which its path is not asked for unasked
_PATIENCE = 1.0  # seconds for that path
_FEWEST = 8  # rows from which on a path has a shape
_RULES = {"gain": "largest gain", "elbow": "elbow"}


@command(
    "xs y formula keep drop objective method label plot json time_limit jobs seed memory_limit "
    "proof by output dask work resume",
    asks="solving.solve:solve",
)
def solve_command(given: Given) -> None:
    """The k points with the highest R2, and the proof.

    Example: quadsweep solve weights.csv --x "body mass" --y brain --drop 3 --plot weights.png
    """
    source = source_of(given)
    if source is not None:
        answer_source(given, source)
    points = read_predictors(given)
    check_table(given.output)
    answer(given, points, more=lambda result: how_many(result, points, given))


def how_many(result: Result | Groups, points: NamedPoints, given: Given) -> Pairs:
    """What the path says about the number to drop, where it takes no time to ask."""
    from quadsweep.choosing.path import path

    if isinstance(result, Groups) or result.seconds > _AT_ONCE or not result.success:
        return []
    dropped = result.n - result.k
    if result.n < _FEWEST or dropped == 0:
        return []
    most = min(result.n - result.n // 2, max(2 * dropped, 10))
    asked = {k: v for k, v in given.arguments(points).items() if k in ("objective", "n_jobs")}
    found = path(points.columns, drop=most, time_limit=_PATIENCE, nan_policy="omit", **asked)
    if not found.success:
        return []
    rules = {rule: k for rule, k in found.suggestions().items() if k is not None}
    said = [f"{result.n - k:,} by the {_RULES[rule]}" for rule, k in rules.items()]
    text = f"of 0 to {most:,}: {' and '.join(said)}" if said else "no size stands out"
    return [("how many", f"{text}; quadsweep path --null line tests for outliers")]

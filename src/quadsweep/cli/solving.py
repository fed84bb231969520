"""``quadsweep solve``: the best subset of the points in a file."""

from __future__ import annotations

from typing import Any

from quadsweep.cli import options as opt
from quadsweep.cli.answering import Outputs, Pairs, ask, finish
from quadsweep.cli.flagging import write_flagged
from quadsweep.cli.options import amount, given
from quadsweep.cli.outofcore import answer_source, find_source
from quadsweep.cli.places import check_table
from quadsweep.cli.points import NamedPoints
from quadsweep.cli.predictors import read_predictors
from quadsweep.cli.tables import FileOptions
from quadsweep.results.result import Result

_AT_ONCE = 0.05  # seconds of a search after which its path is not asked for unasked
_PATIENCE = 1.0  # seconds for that path
_FEWEST = 8  # rows from which on a path has a shape
_RULES = {"gain": "largest gain", "elbow": "elbow"}


def solve_command(
    file: opt.File,
    x: opt.Xs = None,
    y: opt.Y = None,
    formula: opt.Formula = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    objective: opt.Objective = None,
    method: opt.Method = None,
    label: opt.Label = None,
    output: opt.Output = None,
    plot: opt.Plot = None,
    proof: opt.Proof = None,
    as_json: opt.Json = False,
    time_limit: opt.TimeLimit = None,
    memory_limit: opt.MemoryLimit = None,
    jobs: opt.Jobs = None,
    seed: opt.Seed = None,
    dask: opt.Dask = None,
    work: opt.Work = None,
    resume: opt.Resume = False,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    missing: opt.Missing = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
) -> None:
    """The k points with the highest R2, and the proof.

    Example: quadsweep solve weights.csv --x "body mass" --y brain --drop 3 --plot weights.png
    """
    from quadsweep.solving.solve import solve

    options = FileOptions(file, encoding, decimal, sheet, missing, header, skip_rows or 0)
    outputs = Outputs(plot, as_json, proof)
    asked = given(
        k=amount("--keep", keep), drop=amount("--drop", drop), objective=objective, method=method,
        time_limit=time_limit, memory_limit=memory_limit, n_jobs=jobs, seed=seed,
        client=dask, out=work, resume=resume,
    )  # fmt: skip
    source = find_source(file, x, y, memory_limit) if not formula and not label else None
    if source is not None:
        answer_source(solve, source, file, outputs, asked, output)
    check_table(output)
    points = read_predictors(options, x, y, formula, label)
    asked |= points.suggest("k", "objective", unless=asked)
    found = ask(solve, points.columns, outputs=outputs, nan_policy="omit", **asked)
    write_flagged(found, points, output)
    finish(found, points, outputs, [] if as_json else how_many(found, points, asked))


def how_many(result: Result, points: NamedPoints, asked: dict[str, Any]) -> Pairs:
    """What the path says about the number to drop, where it takes no time to ask."""
    from quadsweep.choosing.path import path

    dropped = result.n - result.k
    if result.seconds > _AT_ONCE or not result.success or result.n < _FEWEST or dropped == 0:
        return []
    most = min(result.n - result.n // 2, max(2 * dropped, 10))
    same = {name: asked[name] for name in ("objective", "n_jobs") if name in asked}
    found = path(points.columns, drop=most, time_limit=_PATIENCE, nan_policy="omit", **same)
    if not found.success:
        return []
    rules = {rule: k for rule, k in found.suggestions().items() if k is not None}
    said = [f"{result.n - k:,} by the {_RULES[rule]}" for rule, k in rules.items()]
    text = f"of 0 to {most:,}: {' and '.join(said)}" if said else "no size stands out"
    return [("how many", f"{text}; quadsweep path --null line tests for outliers")]

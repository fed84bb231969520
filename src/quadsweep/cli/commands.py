"""The commands but for those about the paper and pages: each reads, asks and prints."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import numpy as np
import typer

from quadsweep import datasets
from quadsweep.cli import options as opt
from quadsweep.cli.answering import Outputs, Pairs, ProofOutputs, answer, ask, finish, print_table
from quadsweep.cli.ending import BadInput, code_of, print_json, print_pairs
from quadsweep.cli.options import given
from quadsweep.cli.outofcore import answer_source, find_source
from quadsweep.cli.places import check_picture, check_table, write_flagged, write_table
from quadsweep.cli.points import NamedPoints, read_columns, read_points, read_predictors
from quadsweep.cli.regressions import RegressionOptions, answer_regression
from quadsweep.cli.tables import built_in_table
from quadsweep.inputs.frames import table as frame_of
from quadsweep.results.formatting import figure, plain
from quadsweep.results.result import Result

_AT_ONCE = 0.05  # seconds of a search after which its path is not asked for unasked
_PATIENCE = 1.0  # seconds for that path
_FEWEST = 8  # rows from which on a path has a shape
_RULES = {"gain": "largest gain", "elbow": "elbow"}
_REFUTED = 1


def solve_command(
    *,
    table: opt.FileOptions,
    columns: opt.PointOptions,
    subset: opt.SubsetOptions,
    method: opt.Method = None,
    output: opt.Output = None,
    outputs: ProofOutputs,
    limits: opt.LimitOptions,
    memory_limit: opt.MemoryLimit = None,
    seed: opt.Seed = None,
    cluster: opt.ClusterOptions,
) -> None:
    """Find the k points with the highest R2, with a proof.

    Example: quadsweep solve weights.csv --x "body mass" --y brain --drop 3 --plot weights.png
    """
    from quadsweep.solving.solve import solve

    asked = given(subset, limits, cluster, method=method, memory_limit=memory_limit, seed=seed)
    if not columns.formula and not columns.label:
        source = find_source(table.file, columns.x, columns.y, memory_limit)
        if source is not None:
            answer_source(solve, source, table.file, outputs, asked, output)
    check_table(output)
    points = read_predictors(table, columns)
    asked |= points.suggest("k", "objective", unless=asked)
    found = ask(solve, points.columns, outputs=outputs, nan_policy="omit", **asked)
    write_flagged(found, points, output)
    finish(found, points, outputs, [] if outputs.as_json else how_many(found, points, asked))


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


def check_command(
    *,
    written: Annotated[str, typer.Argument(metavar="PROOF", help="File written by --proof.")],
    table: opt.FileOptions,
    columns: opt.PointOptions,
    term: opt.Term = None,
    controls: opt.Controls = None,
    as_json: opt.Json = False,
) -> None:
    """Verify a proof against the data, in exact arithmetic: 0 proved, 1 refuted.

    Example: quadsweep check weights.proof weights.csv --x "body mass" --y brain

    Of an audit with controls: quadsweep check w.proof w.csv --x dose --y effect --controls age
    """
    from quadsweep.proofs.checking import check

    x = [*(controls or []), *(columns.x or [])]
    points = read_predictors(table, opt.PointOptions(x, columns.y, columns.formula))
    predictors, names = points.x, list(points.names[:-1])
    if term is not None and term not in names:
        raise BadInput(f"no term {term!r} in the formula; there are: {', '.join(names)}")
    if term is not None and len(names) > 1:  # that of the term after its controls
        predictors = points.x[:, sorted(range(len(names)), key=lambda i: names[i] == term)]
    try:
        found = check(written, predictors, points.y)
    except OSError as wrong:
        raise BadInput(f"{written} cannot be read: {wrong.strerror}") from None
    if as_json:
        print_json(vars(found))
    else:
        typer.echo(f"{found} ({found.nodes:,} nodes, {found.seconds:.3g} s)")
    raise typer.Exit(0 if found.proved else _REFUTED)


def path_command(
    *,
    table: opt.FileOptions,
    columns: opt.PointOptions,
    drop: Annotated[
        opt.Text, typer.Option(metavar="M", help="The most points to drop; default: half.")
    ] = None,
    objective: opt.Objective = None,
    permutations: Annotated[
        int | None, typer.Option(metavar="N", help="Simulated data sets; 99 with --null.")
    ] = None,
    null: Annotated[
        opt.Text,
        typer.Option(
            metavar="NAME",
            help="Null: y 'shuffled', a clean 'line', or a line with 'normal' noise.",
        ),
    ] = None,
    outputs: ProofOutputs,
    limits: opt.LimitOptions,
    seed: opt.Seed = None,
    cluster: opt.ClusterOptions,
) -> None:
    """Find the best subset of every size, and how many rows are outliers.

    Example: quadsweep path stars-cyg --drop 10 --null line --permutations 99 --plot path.png
    """
    from quadsweep.choosing.path import path

    asked = given(
        limits, cluster, drop=drop, objective=objective, permutations=permutations, null=null,
        seed=seed,
    )  # fmt: skip
    points = read_predictors(table, columns)
    answer(path, points, outputs, asked | points.suggest("objective", unless=asked))


def significance_command(
    *,
    table: opt.FileOptions,
    columns: opt.PointOptions,
    subset: opt.SubsetOptions,
    permutations: opt.Permutations = None,
    outputs: Outputs,
    limits: opt.LimitOptions,
    seed: opt.Seed = None,
    dask: opt.Dask = None,
) -> None:
    """Test whether noise does as well: the exact optimum of shuffled data.

    Example: quadsweep significance stars-cyg --drop 4 --permutations 999
    """
    from quadsweep.choosing.significance import significance

    asked = given(subset, limits, permutations=permutations, seed=seed, dask=dask)
    points = read_predictors(table, columns)
    answer(significance, points, outputs, asked | points.suggest("k", "objective", unless=asked))


def stability_command(
    *,
    table: opt.FileOptions,
    columns: opt.PointOptions,
    subset: opt.SubsetOptions,
    resamples: Annotated[
        int | None, typer.Option(metavar="N", help="Data sets of the bootstrap.")
    ] = None,
    outputs: Outputs,
    limits: opt.LimitOptions,
    seed: opt.Seed = None,
    dask: opt.Dask = None,
) -> None:
    """Count how often each row is dropped when the data change a little.

    Example: quadsweep stability stars-cyg --drop 4 --plot stability.png
    """
    from quadsweep.choosing.stability import stability

    asked = given(subset, limits, resamples=resamples, seed=seed, dask=dask)
    points = read_predictors(table, columns)
    answer(stability, points, outputs, asked | points.suggest("k", "objective", unless=asked))


def pairwise_command(
    *,
    table: opt.FileOptions,
    x: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Column; may be repeated. Default: all numeric."),
    ] = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    objective: Annotated[str, typer.Option(metavar="NAME", help="r2, r, cov or tv.")] = "r",
    as_json: opt.Json = False,
    limits: opt.LimitOptions,
) -> None:
    """Correlate every pair of columns, trimmed and untrimmed.

    Example: quadsweep pairwise birds.csv --drop 5%
    """
    from quadsweep.choosing.pairwise import solve_pairs

    asked = given(limits, keep=keep, drop=drop, objective=objective)
    columns = frame_of(read_columns(table, x))
    pairs, status = solve_pairs(columns, progress=sys.stderr.isatty(), **asked)
    if as_json:
        print_json({"source": table.file, "status": status, **plain(pairs)})
    else:
        strongest = np.argsort(-np.nan_to_num(np.abs(pairs["r"]), nan=-1.0), kind="stable")
        rows = [
            [figure(value) if isinstance(value, float) else str(value) for value in row]
            for row in zip(*pairs.values(), strict=True)
        ]
        print_table([list(pairs), *(rows[i] for i in strongest)])
    raise typer.Exit(code_of(status))


def audit_command(
    *,
    table: opt.FileOptions,
    design: RegressionOptions,
    claim: opt.ClaimOptions,
    outputs: ProofOutputs,
    limits: opt.LimitOptions,
    memory_limit: opt.MemoryLimit = None,
    seed: opt.Seed = None,
    cluster: opt.ClusterOptions,
) -> None:
    """Find the fewest rows whose removal changes the conclusion, with a proof.

    Example: quadsweep audit trial.csv --x dose --y effect --claim significance --plot trial.png

    Larger than memory: quadsweep audit 'logs/*.parquet' --x size --y seconds

    With controls: quadsweep audit wages.csv --formula "wage ~ educ + C(region)" --term educ

    Fixed effects: quadsweep audit wages.csv --formula "wage ~ educ | firm" --term educ --vcov firm
    """
    from quadsweep.auditing.audit import audit

    design = design.published(table.file)
    asked = given(claim, limits, cluster, memory_limit=memory_limit, seed=seed)
    if design.is_regression:
        answer_regression(audit, table, design, outputs, asked)
    if design.label is None and outputs.proof is None:
        names = [design.x] if design.x else None
        source = find_source(table.file, names, design.y, memory_limit)
        if source is not None:
            answer_source(audit, source, table.file, outputs, asked)
    answer(audit, read_points(table, design.x, design.y, design.label), outputs, asked)


def datasets_command(
    *,
    name: Annotated[
        opt.Text,
        typer.Argument(
            metavar="[NAME]",
            help="A data set to print in full.",
            autocompletion=opt.complete_data_set,
        ),
    ] = None,
    output: Annotated[
        opt.Text,
        typer.Option("--output", "-o", metavar="FILE", help="Write it: .csv, .tsv or .parquet."),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """List the built-in data sets; commands accept their names as FILE.

    Example: quadsweep datasets phone-calls -o phone-calls.csv
    """
    check_table(output)
    if name is None and output is not None:
        raise BadInput("--output needs the NAME of a data set")
    if name is not None:
        data = datasets.load(name)
        if output is not None:
            write_table(output, built_in_table(name), {})
        elif as_json:
            print_json({"name": name, **data.to_dict()})
        else:
            print_pairs([("name", name), *data.summary_items()])
        return
    every = {known: datasets.load(known) for known in datasets.names()}
    if as_json:
        listed = [
            {"name": known, "n": len(data.y), "k": data.k, "names": list(data.names)}
            for known, data in every.items()
        ]
        print_json({"datasets": listed})
        return
    print_pairs(
        (known, f"{len(data.y)} rows, {data.names[-1]} against {', '.join(data.names[:-1])}")
        for known, data in every.items()
    )


def demo_command(
    *,
    plot: Annotated[
        str, typer.Option(metavar="FILE", help="File of the picture.")
    ] = "quadsweep-demo.png",
) -> None:
    """Solve a built-in data set, print the answer, write a picture.

    Example: quadsweep demo --plot animals.png
    """
    from quadsweep import demo

    check_picture(plot)
    demo.main(plot)

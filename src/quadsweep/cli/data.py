"""``quadsweep datasets``: what comes with the package."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep import datasets
from quadsweep.cli import options
from quadsweep.cli.ending import BadInput, print_json, print_pairs
from quadsweep.cli.flagging import check_table, whole_data_set, write_table


def datasets_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of them, in full; default: a list.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it: .csv, .tsv or .parquet."),
    ] = None,
    json: options.Json = False,
) -> None:
    """The built-in data sets, which every command takes in place of a file.

    Example: quadsweep datasets phone-calls -o phone-calls.csv
    """
    check_table(output)
    if output is not None and name is None:
        raise BadInput("--output needs the NAME of a data set")
    if name is not None:
        data = datasets.load(name)
        if output is not None:
            write_table(output, *whole_data_set(name), {})
            return
        if json:
            print_json({"name": name, **data.to_dict()})
        else:
            print_pairs([("name", name), *data.summary_items()])
        return
    every = {known: datasets.load(known) for known in datasets.names()}
    if json:
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

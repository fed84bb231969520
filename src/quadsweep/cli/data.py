"""``quadsweep datasets`` and ``demo``: what comes with the package, and one of them solved."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep import datasets
from quadsweep.cli import options as opt
from quadsweep.cli.ending import BadInput, print_json, print_pairs
from quadsweep.cli.flagging import write_table
from quadsweep.cli.places import check_picture, check_table
from quadsweep.cli.tables import built_in_table


def datasets_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="One of them, in full; default: a list.",
            autocompletion=opt.complete_data_set,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it: .csv, .tsv or .parquet."),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """The built-in data sets, which every command takes in place of a file.

    Example: quadsweep datasets phone-calls -o phone-calls.csv
    """
    check_table(output)
    if name is None:
        if output is not None:
            raise BadInput("--output needs the NAME of a data set")
        _list(as_json)
        return
    data = datasets.load(name)
    if output is not None:
        write_table(output, built_in_table(name), {})
    elif as_json:
        print_json({"name": name, **data.to_dict()})
    else:
        print_pairs([("name", name), *data.summary_items()])


def _list(as_json: bool) -> None:
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
    plot: Annotated[
        str, typer.Option(metavar="FILE", help="Where the picture goes.")
    ] = "quadsweep-demo.png",
) -> None:
    """Solve a built-in data set, print the answer, write a picture.

    Example: quadsweep demo --plot animals.png
    """
    from quadsweep import demo

    check_picture(plot)
    demo.main(plot)

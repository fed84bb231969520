"""``quadsweep datasets`` and ``demo``: what comes with the package, and one of them solved."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from quadsweep import datasets
from quadsweep.cli.ending import BadInput, print_json, print_pairs
from quadsweep.cli.flagging import write_table
from quadsweep.cli.options import OPTIONS, Given, command
from quadsweep.cli.places import check_table
from quadsweep.cli.tables import built_in_table

_NAME = typer.Argument(metavar="[NAME]", help="One of them, in full; default: a list.")


@command(
    "output json",
    arguments={"name": Annotated[str | None, _NAME]},
    output="Write it: .csv, .tsv or .parquet.",
)
def datasets_command(given: Given) -> None:
    """The built-in data sets, which every command takes in place of a file.

    Example: quadsweep datasets phone-calls -o phone-calls.csv
    """
    name, output = given.name, given.output
    check_table(output)
    if output is not None and name is None:
        raise BadInput("--output needs the NAME of a data set")
    if name is not None:
        data = datasets.load(name)
        if output is not None:
            write_table(output, built_in_table(name), {})
            return
        if given.json:
            print_json({"name": name, **data.to_dict()})
        else:
            print_pairs([("name", name), *data.summary_items()])
        return
    every = {known: datasets.load(known) for known in datasets.names()}
    if given.json:
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


@command(
    "",
    asks="demo:main",
    arguments={},
    plot=replace(OPTIONS["plot"], help="Where the picture goes.", default="quadsweep-demo.png"),
)
def demo_command(given: Given) -> None:
    """Solve a built-in data set, print the answer, write a picture.

    Example: quadsweep demo --plot animals.png
    """
    given.function(given.plot)

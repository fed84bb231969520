"""``quadsweep demo``: a built-in data set from question to picture."""

from __future__ import annotations

from typing import Annotated

import typer

from quadsweep.cli.presenting import check_picture


def demo_command(
    picture: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="Where the picture goes.")
    ] = "quadsweep-demo.png",
) -> None:
    """Solve a built-in data set, print the answer, write a picture.

    Example: quadsweep demo --plot animals.png
    """
    from quadsweep.demo import main

    check_picture(picture)
    main(picture)

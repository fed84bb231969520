"""``quadsweep demo``: a built-in data set from question to picture."""

from __future__ import annotations

from dataclasses import replace

from quadsweep.cli.options import OPTIONS, Given, command


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

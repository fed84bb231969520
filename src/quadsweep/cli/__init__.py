"""The command line: every command a function, errors in one line, five exit codes.

0 done and proved, 1 a proof refuted, 2 bad input or usage, 3 a limit stopped the proof, 130
interrupted.

commands          ``solving``, ``choosing``, ``auditing``, ``proving``, ``reporting``, ``paper``,
                  ``data``; gathered in ``application``
they are given    ``options``, each once; ``tables``, and of these ``points``, ``predictors``,
                  ``regressions`` or ``outofcore``
they print        ``answering``, ``flagging``, ``places``; ``ending``

Imports anything below it, when a command needs it. Decides nothing: it reads, asks and prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        from quadsweep.cli.application import run

        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # while modules were loaded
        sys.stderr.write("error: interrupted\n")
        return 130

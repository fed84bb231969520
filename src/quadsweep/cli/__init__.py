"""The command line: one file a group of commands, errors in one line, five exit codes.

0 done and proved, 1 a proof refuted, 2 bad input or usage, 3 a limit stopped the proof, 130
interrupted.

commands          ``solving``, ``choosing``, ``auditing``, ``proving``, ``reporting``,
                  ``separating``, ``reproducing``, ``data``; gathered in ``application``, with their
                  help
they are given    ``options``, each once; ``tables``, and of these ``points``, ``predictors``,
                  ``regressions`` or ``outofcore``
they print        ``answering``, ``presenting``, ``flagging``, ``places``; ``ending``

Imports anything below it, when a command needs it. Decides nothing: it reads, asks and prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    from quadsweep.cli.application import run

    return run(sys.argv[1:] if arguments is None else list(arguments))

"""The command line: one file a group of commands, errors in one line, four exit codes.

0 done and proved, 2 bad input or usage, 3 a limit stopped the proof, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        from quadsweep.cli.application import run
    except ModuleNotFoundError as missing:
        sys.stderr.write(
            f"error: the command line needs {missing.name}; pip install 'quadsweep[cli]'\n"
        )
        return 2
    return run(sys.argv[1:] if arguments is None else list(arguments))

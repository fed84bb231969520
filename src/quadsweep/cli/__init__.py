"""The command line: every command a function, errors in one line, five exit codes.

0 done and proved, 1 a proof refuted, 2 bad input or usage, 3 a limit stopped the proof, 130
interrupted.

commands          ``commands``, ``reporting``, ``paper``; gathered in ``application``
they are given    ``options``, each once; ``tables``, and of these ``points``,
                  ``regressions`` or ``outofcore``
they print        ``answering``, ``places``; ``ending``

Imports anything below it, when a command needs it. Decides nothing: it reads, asks and prints.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. Python ends by the signal itself if a plain KeyboardInterrupt leaves an ``exec``."""


def _interrupt_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):  # ends a sleep as well
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code, which is 130 after every Ctrl-C.

    A search that is interrupted returns the best so far, and its command may go on.
    """
    arrived: list[int] = []
    timers: list[threading.Timer] = []
    usual = sys.unraisablehook

    def interrupt(number: int, frame: Any) -> None:
        arrived.append(number)
        raise Interrupted

    def interrupt_again(lost: Any) -> None:
        """After a Ctrl-C in a finalizer or a callback of the imports, which Python only prints."""
        if lost.exc_type is not Interrupted:
            usual(lost)
            return
        timers.append(threading.Timer(0.02, _interrupt_main_thread))
        timers[-1].daemon = True
        timers[-1].start()

    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if heeded:  # not ignored, nor somebody else's
            signal.signal(signal.SIGINT, interrupt)
            sys.unraisablehook = interrupt_again
        from quadsweep.cli.application import run

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # while modules were loaded
        code = 130
    finally:
        if heeded:
            for timer in timers:
                timer.cancel()
            sys.unraisablehook = usual
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if not arrived and code != 130:
        return code
    sys.stderr.write("error: interrupted\n")
    return 130

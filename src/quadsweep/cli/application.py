"""The commands gathered, and every way they can end."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Annotated, Any

import typer

from quadsweep.cli import commands, paper, reporting
from quadsweep.cli.ending import INTERRUPTED, BadInput, begin, fail
from quadsweep.cli.options import SPELLED, expand
from quadsweep.extras import sentence
from quadsweep.messages import spelled_as

app = typer.Typer(
    name="quadsweep",
    help="Which k of n rows fit together best, and how few rows a conclusion depends on, proved.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in (
    ("solve", commands.solve_command),
    ("check", commands.check_command),
    ("path", commands.path_command),
    ("significance", commands.significance_command),
    ("stability", commands.stability_command),
    ("pairwise", commands.pairwise_command),
    ("audit", commands.audit_command),
    ("report", reporting.report_command),
    ("explore", reporting.explore_command),
    ("compare", paper.compare_command),
    ("separate", paper.separate_command),
    ("counterexamples", paper.counterexamples_command),
    ("reproduce", paper.reproduce_command),
    ("datasets", commands.datasets_command),
    ("demo", commands.demo_command),
):
    app.command(name)(expand(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        from quadsweep import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from; also after a command.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Which k of n rows fit together best, and how few rows a conclusion depends on, proved."""


def run(arguments: list[str]) -> int:
    """Run one command; whatever goes wrong ends in one line on standard error."""
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        return fail("standard output is closed")
    begin(debugging="--debug" in arguments)
    with spelled_as(SPELLED):
        return _run([argument for argument in arguments if argument != "--debug"])


@cache
def _command() -> Any:
    return typer.main.get_command(app)


def _run(arguments: list[str]) -> int:
    try:
        code = _command()(args=arguments, prog_name="quadsweep", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # Whoever was reading has seen enough; nothing is left to flush at exit.
        _give_up_output()
        return 0
    except SystemExit as ended:
        if ended.code != 1:
            raise
        _give_up_output()  # a broken pipe again, as rich and click put it
        return 0
    except typer.Exit as ended:
        return int(getattr(ended, "exit_code", 0))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (BadInput, ValueError, TypeError) as wrong:
        return fail(str(wrong))
    except OSError as wrong:  # a full disk, most likely behind standard output
        _give_up_output()
        where = wrong.filename or "standard output"
        return fail(f"{where} cannot be written: {wrong.strerror}")
    except ModuleNotFoundError as missing:
        named = "pip install" in str(missing)
        return fail(str(missing) if named else sentence("this command", missing))
    except MemoryError:
        return fail("the data does not fit into memory")
    except Exception as wrong:
        if hasattr(wrong, "format_message"):  # a wrong option; click says what is wrong with it
            return fail(wrong.format_message()) if wrong.format_message() else 2
        return fail(f"{type(wrong).__name__}: {wrong}; please report this, with --debug")


def _give_up_output() -> None:
    """Whatever is still in the buffer goes nowhere, so that the exit does not fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

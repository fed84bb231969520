"""The commands gathered, and every way they can end."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from quadsweep.cli import (
    auditing,
    choosing,
    data,
    ending,
    proving,
    reporting,
    reproducing,
    separating,
    solving,
)
from quadsweep.cli.ending import BadInput, fail
from quadsweep.cli.options import COMMANDS, commands_of, named_object
from quadsweep.extras import sentence


def _plain(params: list[Any]) -> list[Any]:
    """Newer versions of typer put ``<bool>`` and the like beside every option and argument.

    And they import pydantic to read each of them, which takes longer than all else.
    """
    for param in params:
        shown = getattr(param, "display_type_rich", None)
        if shown is None:
            continue
        typeless = getattr(param, "is_flag", False) or param.param_type_name == "argument"
        param.display_type_rich = _nothing if typeless else partial(_bare, shown)
        if hasattr(param, "get_runtime_param"):
            param.get_runtime_param = partial(_PlainValue, param.get_runtime_param)
    return params


class _PlainValue:
    """Text, numbers and what has a parser of its own are read here, the rest as typer does."""

    def __init__(self, otherwise: Callable[[], Any]) -> None:
        self._otherwise = otherwise

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        kind = param.type_descriptor.annotation
        read = param.type_descriptor.parameter_info.parser or kind
        try:
            if read is not kind or kind in (str, int, float):
                return read(value)
            if kind == list[str]:
                return list(value)
        except ValueError:
            pass  # typer says what is wrong with it
        return self._otherwise().coerce(value, param=param, ctx=ctx)


def _nothing(ctx: Any) -> str:
    return ""


def _bare(shown: Callable[..., str | None], ctx: Any) -> str:
    return (shown(ctx=ctx) or "").removeprefix("<").removesuffix(">")


class PlainCommand(TyperCommand):
    """A command with plain help; defaults are those of the function that it asks."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        known = COMMANDS.get(self.name or "")
        if known is not None and known.asks:
            defaults = inspect.signature(named_object(known.asks)).parameters
            param: Any
            for param in self.params:
                option = known.options.get(param.name)
                if option is None:
                    continue
                if option.choices:
                    param.help = f"{param.help} {', '.join(named_object(option.choices))}."
                if param.default is None and option.argument and option.argument in defaults:
                    param.default = defaults[option.argument].default
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """The commands with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))


app = typer.Typer(
    name="quadsweep",
    cls=Group,
    help="Which k of n points have the highest R2, exactly and with a certificate.",
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _part in (solving, proving, choosing, auditing, reporting, separating, data, reproducing):
    for _name, _run in commands_of(_part.__name__):
        app.command(_name, cls=PlainCommand)(_run)


def _print_version(wanted: bool) -> None:
    if wanted:
        from quadsweep import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    ending.begin(debug)


# Wherever typer keeps its copy of click, this is what a wrong option raises.
_UsageError: Any = typer.BadParameter.__mro__[2]


def run(arguments: list[str]) -> int:
    """Run one command; whatever goes wrong ends in one line on standard error."""
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        return fail("standard output is closed")
    try:
        code = app(args=arguments, prog_name="quadsweep", standalone_mode=False)
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
        return fail("interrupted", 130)
    except _UsageError as wrong:
        message = wrong.format_message()
        if not message or wrong.__class__.__name__ == "NoArgsIsHelpError":
            return 2
        return fail(message)
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


def _give_up_output() -> None:
    """Whatever is still in the buffer goes nowhere, so that the exit does not fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

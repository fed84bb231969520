"""Help without the names of types: what an option wants is said by its own word."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup

from quadsweep.cli.options import COMMANDS, named_object


def _plain(params: list[Any]) -> list[Any]:
    """Newer versions of typer put ``<bool>`` and the like beside every option and argument."""
    for param in params:
        shown = getattr(param, "display_type_rich", None)
        if shown is None:
            continue
        typeless = getattr(param, "is_flag", False) or param.param_type_name == "argument"
        param.display_type_rich = _nothing if typeless else partial(_bare, shown)
    return params


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

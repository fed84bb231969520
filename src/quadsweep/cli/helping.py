"""Help without the names of types: what an option wants is said by its own word."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup


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


class Command(TyperCommand):
    """A command with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))


class Group(TyperGroup):
    """The commands with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

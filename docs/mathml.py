"""Formulas as MathML, which browsers draw by themselves: the guide reads offline."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(writer: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Take the place of the script that would be fetched from the network."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}

r"""Tables of text in LaTeX and Markdown, with whatever comes from the data escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}", "%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "<": "$<$",
    ">": "$>$", "²": "$^2$",
}  # fmt: skip


def escape_latex(text: str) -> str:
    r"""Return the text as LaTeX prints it, character by character.

    >>> print(escape_latex(r"a_1 & {5%} of $x^2$, \input"))
    a\_1 \& \{5\%\} of \$x\textasciicircum{}2\$, \textbackslash{}input
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)


def escape_markdown(text: str) -> str:
    r"""Return the text as a cell of a table in Markdown: one line, bars escaped.

    >>> print(escape_markdown("a|b\nc"))
    a\|b c
    """
    return re.sub(r"\s*[\r\n]+\s*", " ", text).replace("\\", "\\\\").replace("|", r"\|")


def latex_table(grid: Sequence[Sequence[str]]) -> str:
    r"""Return rows of texts, the header first, as a tabular for the package booktabs.

    >>> print(latex_table([("method", "R²"), ("lts", "0.9")]))
    \begin{tabular}{lr}
    \toprule
    method & R$^2$ \\
    \midrule
    lts & 0.9 \\
    \bottomrule
    \end{tabular}
    """
    header, *rows = [" & ".join(map(escape_latex, row)) + r" \\" for row in grid]
    columns = "l" + "r" * (len(grid[0]) - 1)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule"]
    return "\n".join([*lines, *rows, r"\bottomrule", r"\end{tabular}"])


def markdown_table(grid: Sequence[Sequence[str]]) -> str:
    """Return rows of texts, the header first, as a table in Markdown.

    >>> print(markdown_table([("method", "R²"), ("lts", "0.9")]))
    | method | R² |
    |:--|--:|
    | lts | 0.9 |
    """
    header, *rows = ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in grid]
    return "\n".join([header, "|:--|" + "--:|" * (len(grid[0]) - 1), *rows])

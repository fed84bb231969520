"""Results as text, as a table in notebooks, JSON, data frame, LaTeX, Markdown and picture.

A result declares the attributes that go into its JSON and its data frame (``json_fields`` and
``frame_fields``) and the lines of its summary (``summary_items``); the rest follows from these.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from importlib import import_module
from inspect import ismethod
from typing import TYPE_CHECKING, Any, ClassVar

from quadsweep.results.markup import latex_table, markdown_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def drawn_by(function: str, about: str) -> Callable[..., Axes]:
    """The method ``plot`` of a result: ``"path.plot_path"`` of `plotting`, loaded when called.

    ``about`` is its documentation; arguments beside ``ax`` are those of the function.
    """
    module, name = function.split(".")

    def plot(self: Any, ax: Axes | None = None, **options: Any) -> Axes:
        draw: Callable[..., Axes] = getattr(import_module(f"quadsweep.plotting.{module}"), name)
        return draw(self, ax=ax, **options)

    plot.__doc__ = about
    return plot


def as_frame(columns: dict[str, Any]) -> Any:
    """A data frame of columns, in pandas (or polars where that is what there is)."""
    from quadsweep.inputs.frames import table

    return table(columns)


class HasFields:
    """What declares the attributes that go into its JSON."""

    json_fields: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON: None stands for NaN and infinity."""
        return attributes(self, self.json_fields)


class ResultMixin(HasFields, ABC):
    """What all results share: text, notebook table, JSON, frame, LaTeX, Markdown, picture.

    Attributes
    ----------
    json_fields, frame_fields : str
        Names of attributes, or of methods without arguments, for :func:`attributes`.
    """

    frame_fields: ClassVar[str] = ""

    @abstractmethod
    def summary_items(self) -> list[tuple[str, str]]:
        """The summary as pairs of a name and a text."""

    def to_frame(self) -> Any:
        """Return the rows of the result as a data frame, in pandas (or polars without pandas)."""
        return as_frame(_fields(self, self.frame_fields))

    def to_latex(self) -> str:
        """Return the table, or the summary where there is none, as LaTeX for booktabs."""
        return latex_table(self.grid() or [("", ""), *self.summary_items()])

    def to_markdown(self) -> str:
        """Return the table, or the summary where there is none, as Markdown."""
        return markdown_table(self.grid() or [("", ""), *self.summary_items()])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The picture, of results that have one."""
        raise TypeError(f"there is no picture of a {type(self).__name__}")

    @property
    def headline(self) -> str:
        """The answer in a sentence, where one says it."""
        return ""

    def grid(self) -> list[Sequence[str]]:
        """Rows of texts, the header first, for results that are a table; otherwise none."""
        return []

    def summary(self) -> str:
        """What was found and what to make of it, as text."""
        lines = self.summary_items()
        width = max(12, *(len(name) for name, _ in lines)) + 2
        parts = [
            self.headline,
            aligned(self.grid()),
            "\n".join(f"{name + ':':<{width}}{text}" for name, text in lines),
        ]
        return printable("\n\n".join(part for part in parts if part))

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from html import escape

        title = f"<p><b>{escape(self.headline)}</b></p>" if self.headline else ""
        pairs = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self.summary_items()
        )
        return f"{title}{html_table(self.grid())}<table>{pairs}</table>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the picture where there is one, and tables as pandas has them."""
        tables = self._repr_html_().replace("<table>", '<table border="1" class="dataframe">')
        return {"text/plain": repr(self), "text/html": _STYLE + picture(self) + tables}


# As pandas: quiet lines; a front end's own style of data frames comes on top of it.
_STYLE = (
    "<style scoped>.dataframe tbody tr th, .dataframe thead th { text-align: right; } "
    ".dataframe th, .dataframe td { vertical-align: top; }</style>"
)
# Of ASCII, of Latin-1, and those that turn the direction of writing; newlines stay.
_CONTROLS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]"
)
_MOST_DRAWN = 50_000  # rows from which on a picture is drawn only when it is asked for


def html_table(grid: Sequence[Sequence[str]]) -> str:
    """Rows of texts as a table of a page, the header first; nothing where there are none."""
    from html import escape

    rows = "".join(
        "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
        for tag, cells in zip(("th", *["td"] * len(grid)), grid, strict=False)
    )
    return f"<table>{rows}</table>" if rows else ""


def picture(result: Any) -> str:
    """A result's picture inside the page; nothing without matplotlib, or where it has none."""
    if getattr(result, "n", 0) > _MOST_DRAWN:
        return ""
    try:
        source = embedded_picture(result, (6.4, 4.4), "png", dpi=144)
    except (TypeError, ValueError):  # nothing to draw: no row answered
        return ""
    return source and f'<img alt="" style="width:640px;max-width:100%" src="{source}">'


def embedded_picture(result: Any, size: tuple[float, float], kind: str, **how: Any) -> str:
    """A result's picture as the source of an image; nothing without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return ""
    from base64 import b64encode
    from io import BytesIO

    drawn, file = Figure(figsize=size, layout="constrained"), BytesIO()
    result.plot(ax=drawn.subplots())
    drawn.savefig(file, format=kind, **how)
    data = b64encode(file.getvalue()).decode("ascii")
    return f"data:image/{'svg+xml' if kind == 'svg' else kind};base64,{data}"


def printable(text: str) -> str:
    """Text without control characters, which a terminal would obey, newlines apart.

    >>> printable("a\\x1b[31mb\\u202ec\\td")
    'a\\\\x1b[31mb\\\\u202ec d'
    """
    return _CONTROLS.sub(lambda m: " " if m[0] == "\t" else ascii(m[0])[1:-1], text)


def aligned(grid: Sequence[Sequence[str]]) -> str:
    """Columns of one width, the first flush left.

    >>> print(aligned([("method", "R²"), ("lts", "0.9")]))
    method   R²
    lts     0.9
    """
    if not grid:
        return ""
    widths = [max(len(cell) for cell in column) for column in zip(*grid, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if i else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in grid
    )


def some(rows: Iterable[Any], labels: Sequence[Any] | None = None, most: int = 12) -> str:
    """The first few of some points, by label where there are labels.

    >>> some(range(14), most=3)
    '0, 1, 2, and 11 more'
    """
    every = list(rows)
    shown = ", ".join(str(i if labels is None else labels[i]) for i in every[:most])
    more = len(every) - most
    return f"{shown}, and {more:,} more" if more > 0 else shown or "none"


def named_rows(rows: Iterable[Any], labels: Sequence[Any] | None = None, note: str = "") -> str:
    """The same for people: numbers are called rows and say where they begin.

    >>> named_rows([3]), named_rows([8, 18], range(1, 21)), named_rows([1], ["ant", "bee"], "late")
    ('row 3 (numbered from 0)', 'rows 9, 19 (numbered from 1)', 'bee (late)')
    """
    every = list(rows)
    if not every:
        return "none"
    are_numbers = labels is None or isinstance(labels[every[0]], int)
    word = ("row " if len(every) == 1 else "rows ") if are_numbers else ""
    start = 0 if labels is None else labels[0]
    counted = labels is None or (start in (0, 1) and labels[-1] == start + len(labels) - 1)
    notes = [f"numbered from {start}"] * counted + [note] * bool(note)
    return f"{word}{some(every, labels)}" + (f" ({'; '.join(notes)})" if notes else "")


def figure(value: float) -> str:
    """A number to be read: four digits, or whole from a thousand on.

    >>> figure(116.4962), figure(5060.3), figure(-0.000213), figure(3.2e12)
    ('116.5', '5,060', '-0.000213', '3.2e+12')
    """
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def equation(names: Sequence[str], slope: float, intercept: float) -> str:
    """A line by the names of its columns, x's first.

    >>> equation(("GrLivArea", "SalePrice"), 116.4962, 5060.3)
    'SalePrice = 116.5 · GrLivArea + 5,060'
    """
    sign = "-" if intercept < 0 else "+"
    return f"{names[-1]} = {figure(slope)} · {names[0]} {sign} {figure(abs(intercept))}"


def chance(p: float) -> str:
    """A p-value, which is never nought, and not rounded to a usual level that it is not.

    >>> chance(0.0312), chance(0.0), chance(0.0503)
    ('p 0.031', 'p < 1e-300', 'p 0.0503')
    """
    digits = 2
    while (
        digits < 9 and float(f"{p:.{digits}g}") in (0.01, 0.05, 0.1) and p not in (0.01, 0.05, 0.1)
    ):
        digits += 1
    return "p < 1e-300" if p < 1e-300 else f"p {p:.{digits}g}"


OUTCOME = "objective method n k value bound gap status success message"
INDEX = "index from 0"  # how plain values call rows, unless they say otherwise
_ROWS = frozenset({"inliers", "outliers", "omitted", "leaving", "returning"})


def renumbered(content: dict[str, Any], labels: Sequence[Any], called: str) -> dict[str, Any]:
    """Plain values with their rows by label; ``called`` says in one of them what the labels are.

    >>> renumbered({"outliers": [1], "rows": INDEX}, ["ant", "bee"], "label")
    {'outliers': ['bee'], 'rows': 'label'}
    """

    def new(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return renumbered(value, labels, called)
        if name == "rows" and value == INDEX:
            return called
        return _by_label(value, labels) if name in _ROWS else value

    return {name: new(name, value) for name, value in content.items()}


def _by_label(rows: Any, labels: Sequence[Any]) -> Any:
    if isinstance(rows, list):
        return [_by_label(row, labels) for row in rows]
    return labels[rows]


def finite(value: float | None) -> float | None:
    """A plain number for JSON, which has no infinity: None where nothing is known.

    >>> finite(1.5), finite(float("nan"))
    (1.5, None)
    """
    return float(value) if value is not None and math.isfinite(value) else None


def plain(value: Any) -> Any:
    """Return a value for JSON, also within lists and dictionaries.

    Arrays and tuples become lists, results dictionaries, exact numbers text, and NaN None.

    >>> plain((1, float("nan"), "a", Fraction(3, 7)))
    [1, None, 'a', '3/7']
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Fraction):
        return str(value)
    return finite(value) if isinstance(value, float) else value


def attributes(result: Any, names: str) -> dict[str, Any]:
    """Return attributes, and what methods return, as plain values.

    ``a=b`` calls b by the name a, and ``*b`` stands for the items of the dictionary b.

    >>> attributes(1 + 2j, "real imaginary=imag")
    {'real': 1.0, 'imaginary': 2.0}
    """
    return {name: plain(value) for name, value in _fields(result, names).items()}


def _fields(result: Any, names: str) -> dict[str, Any]:
    """Return attributes by name; lists of arrays become lists of lists."""
    found: dict[str, Any] = {}
    for field in names.split():
        name, at = field.partition("=")[0], field.rpartition("=")[2]
        if at == "@index":
            found[name] = INDEX
            continue
        value = getattr(result, at.lstrip("*"))
        value = value() if ismethod(value) else value
        if at.startswith("*"):
            found |= value
        elif isinstance(value, list):
            found[name] = [one.tolist() if hasattr(one, "tolist") else one for one in value]
        else:
            found[name] = value
    return found

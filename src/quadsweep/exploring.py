"""A data frame on a page that solves, in place in a notebook or in a file.

An iframe with the page's text and not a widget: the page is one file that works without a kernel,
so a notebook sent to a colleague, or opened on the web, still solves, and nothing has to be
installed in the notebook's front end. What it costs: selections do not come back to Python; the
page gives the line of Python that does.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quadsweep import datasets
from quadsweep.inputs.frames import every_column
from quadsweep.report.live import Table, available, explore_page
from quadsweep.report.live.page import MOST_VALUES

SAMPLES = ("stars-cyg", "phone-calls", "animals", "anscombe-3")  # offered on an empty page


@dataclass(frozen=True)
class Explorer:
    """A data frame on an interactive page: shown in notebooks; ``save`` writes it to a file."""

    table: Table = field(repr=False)
    height: int = 900

    @property
    def page(self) -> str:
        """The page's text, or a ValueError that says why there is none."""
        return page_of([self.table], "quadsweep")

    def _repr_html_(self) -> str:
        try:
            page = self.page
        except ValueError as missing:
            return f"<p>{html.escape(str(missing))}</p>"
        return (
            f'<iframe srcdoc="{html.escape(page)}" title="quadsweep" '
            'sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )

    def save(self, file: str | Path) -> None:
        """Write the page."""
        Path(file).write_text(self.page, encoding="utf-8")


def page_of(tables: Sequence[Table], title: str) -> str:
    """The page, or a ValueError that says why there is none."""
    if not available():
        raise ValueError(
            "this installation has no engine for pages; a wheel has one, and `make wasm` builds it"
        )
    size = sum(table.values for table in tables)
    if size > MOST_VALUES:
        raise ValueError(f"a page holds at most {MOST_VALUES:,} values; got {size:,}")
    samples = () if tables else [dataset_table(name) for name in SAMPLES]
    return explore_page(tables, title, samples=samples)


def dataset_table(name: str) -> Table:
    """A built-in data set for a page, where it begins included.

    Of several predictors the first is x to begin with, and the command line's question is another.
    """
    data = datasets.load(name)
    several = data.x.ndim == 2
    columns: list[Sequence[Any]] = [*(data.x.T if several else data.x[None]).tolist()]
    columns.append(data.y.tolist())
    names = list(data.names)
    if data.labels:
        columns, names = [list(data.labels), *columns], ["label", *names]
    first = 1 if data.labels else 0
    return Table(
        source=name,
        names=names,
        columns=columns,
        x=first,
        y=len(columns) - 1,
        drop=len(data.y) - data.k,
        objective=data.objective,
        path=None if several else name,
        builtin=not several,
        label=0 if data.labels else None,
    )


def playground() -> str:
    """The page with every built-in data set, Anscombe's quartet first."""
    names = sorted(datasets.names(), key=lambda name: (not name.startswith("anscombe"), name))
    return page_of([dataset_table(name) for name in names], "Playground")


def explore(frame: Any, *, height: int = 900) -> Explorer:
    """Open a data frame on an interactive page.

    Parameters
    ----------
    frame : data frame, or array of shape (rows, columns)
        The page offers its numeric columns.
    height : int
        Height in a notebook, in pixels.

    Returns
    -------
    Explorer

    Examples
    --------
    >>> import quadsweep as qs
    >>> import numpy as np
    >>> page = qs.explore(np.array([[1, 1], [2, 2], [3, 9], [4, 4]]))
    >>> len(page.table.columns)
    2

    A notebook shows the page; ``page.save("page.html")`` writes it to a file.
    """
    names, columns = every_column(frame)
    lists = [column.tolist() if hasattr(column, "tolist") else list(column) for column in columns]
    return Explorer(Table("the frame", names, lists), height)

"""The first thing to try: a built-in data set solved, explained and drawn.

``python -m quadsweep.demo [PICTURE]`` writes the picture, by default ``quadsweep-demo.png``.
"""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path

from quadsweep import datasets
from quadsweep.extras import needed
from quadsweep.results.result import Result
from quadsweep.solving.solve import solve


def solved(name: str = "animals") -> Result:
    """A built-in data set solved with its own k, its points named.

    >>> result = solved("animals")
    >>> [result.label(i) for i in result.outliers]
    ['Diplodocus', 'Triceratops', 'Brachiosaurus']
    """
    data = datasets.load(name)
    result = solve(data.x, data.y, data.k, objective=data.objective)
    return replace(result, names=data.names, labels=data.labels or None)


def draw(result: Result, picture: Path) -> None:
    """Write the result's picture, without a display."""
    with needed("the picture"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.8), layout="constrained")
    result.plot(ax=figure.subplots())
    figure.savefig(picture, dpi=150)


def main(picture: str = "quadsweep-demo.png") -> None:
    """Solve, print, draw."""
    print(textwrap.fill(datasets.load("animals").description, 80), end="\n\n")
    result = solved("animals")
    print(result.summary(), end="\n\n")
    draw(result, Path(picture))
    print(f"Picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Names beside points: near their point, on no other point, on no other name.

Each name has candidate places on rings around its point. A place costs the points it would cover,
the area it shares with other names, the area outside the axes, and its distance. Names take the
cheapest place one after the other, twice over, so that the first can move for the last. It is
done whenever the figure is drawn: only then are sizes known. A thin line joins a name to its point.
The legend seeks its place among the names, and then they make way for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from quadsweep.arrays import Axes, Floats, Ints
from quadsweep.plotting.canvas import OUTLIER, literal

if TYPE_CHECKING:
    from matplotlib.transforms import Transform

    from quadsweep.results.result import Result

MOST_LABELS = 15
_LONGEST = 24
_SIZE = 8.0  # of the letters, in points
_RINGS = (5.0, 12.0, 22.0, 34.0, 48.0, 64.0, 84.0)  # gaps between point and name, in points
_DIRECTIONS = 16
_COVERED = 60.0  # what a covered point costs, in points of distance
_MARK = 3.5  # half the width of a point's mark, in points
_CELL = 3.0  # points nearer than this count once, in points


def name_points(ax: Axes, x: Floats, y: Floats, rows: Ints, names: Iterable[Any]) -> None:
    """Write names beside some of the points drawn.

    Parameters
    ----------
    ax : matplotlib axes
    x, y : arrays
        All points, so that no name covers one.
    rows : positions of those that get a name; nothing is written if they are more than fifteen.
    names : one for each of ``rows``; long ones are shortened.
    """
    if not 0 < len(rows) <= MOST_LABELS:
        return
    from matplotlib.patheffects import withStroke

    texts = [literal(shortened(str(name))) for name in names]
    layout = _Layout(ax, np.column_stack([x, y]), rows, texts)
    for i, (row, text) in enumerate(zip(rows, texts, strict=True)):
        written = ax.annotate(
            text, (x[row], y[row]), xytext=(0, 0), textcoords=_Place(layout, i),
            ha="center", va="center", fontsize=_SIZE, color=OUTLIER, zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops={
                "arrowstyle": "-", "color": OUTLIER, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3,
            },
        )  # fmt: skip
        written.set_in_layout(False)


def name_outliers(ax: Axes, result: Result) -> None:
    """Write their names beside the rows that a result leaves out."""
    out = result.outliers
    name_points(ax, result.x, result.y, out, [result.label(i) for i in out])


def shortened(text: str) -> str:
    """Beginning and end of a long name: both tell it from others.

    >>> shortened("The very long name of municipality number 12")
    'The very lon…y number 12'
    """
    text = " ".join(text.split())
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}…{text[-(_LONGEST // 2 - 1) :]}"


class _Place:
    """Where one name stands, as matplotlib asks for it while drawing."""

    def __init__(self, layout: _Layout, which: int) -> None:
        self.layout, self.which = layout, which

    def __call__(self, renderer: Any) -> Transform:
        from matplotlib.transforms import Affine2D

        left, low, right, high = self.layout.boxes(renderer)[self.which]
        return Affine2D().translate((left + right) / 2, (low + high) / 2)


class _Layout:
    """The places of all names of one picture, worked out again when its size has changed."""

    def __init__(self, ax: Axes, points: Floats, rows: Ints, texts: list[str]) -> None:
        self.ax, self.rows = ax, rows
        self.points = points[np.isfinite(points).all(axis=1)]
        self.anchors = points[rows]
        self.sizes = np.array([_extent(text) for text in texts])
        self._known: tuple[bytes, Floats] | None = None

    def boxes(self, renderer: Any) -> Floats:
        """Left, low, right, high of every name in pixels."""
        matrix = self.ax.transData.transform([[0.0, 0.0], [1.0, 1.0]])
        state = matrix.tobytes() + np.array([*self.ax.bbox.extents, self.ax.figure.dpi]).tobytes()
        if self._known is None or self._known[0] != state:
            # The legend looks for its place among the names: it is asked after the first try.
            self._known = state, self._place([])
            legend = self.ax.get_legend()
            if legend is not None:
                self._known = (
                    state,
                    self._place([np.array(legend.get_window_extent(renderer).extents)]),
                )
        return self._known[1]

    def _place(self, fixed: list[Floats]) -> Floats:
        point = self.ax.figure.dpi / 72
        marks = _thinned(self.ax.transData.transform(self.points), _CELL * point)
        anchors = self.ax.transData.transform(self.anchors)
        choices = [
            _candidates(at, size * point, point)
            for at, size in zip(anchors, self.sizes, strict=True)
        ]
        standing = [self._costs(boxes, marks, point) for boxes in choices]
        placed: list[Floats | None] = [None] * len(choices)
        for _ in range(2):
            for i in np.argsort(anchors[:, 1]):
                others = [*fixed, *(b for j, b in enumerate(placed) if b is not None and j != i)]
                cost = standing[i] + sum((_shared(choices[i], b) for b in others), 0.0) / point
                placed[i] = choices[i][int(np.argmin(cost))]
        return np.array(placed)

    def _costs(self, boxes: Floats, marks: Floats, point: float) -> Floats:
        """Of every place by itself: distance, points covered, area outside the axes."""
        distance = np.repeat(_RINGS, _DIRECTIONS) * 1.0
        reach = _MARK * point
        covered = (
            (marks[:, 0] > boxes[:, None, 0] - reach)
            & (marks[:, 0] < boxes[:, None, 2] + reach)
            & (marks[:, 1] > boxes[:, None, 1] - reach)
            & (marks[:, 1] < boxes[:, None, 3] + reach)
        ).sum(axis=1)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        outside = area - _shared(boxes, np.array(self.ax.bbox.extents))
        return np.asarray(distance + _COVERED * covered + outside / point)


def _candidates(at: Floats, size: Floats, point: float) -> Floats:
    """Boxes of a size on rings around a point, those straight below and above first."""
    turns = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS) - np.pi / 2
    toward = np.column_stack([np.cos(turns), np.sin(turns)])
    half = size / 2
    # The gap is between the point and the box's edge, not its middle.
    middles = np.concatenate([at + toward * (ring * point) + toward * half for ring in _RINGS])
    return np.column_stack([middles - half, middles + half])


def _shared(boxes: Floats, other: Any) -> Floats:
    """Area that each box shares with another."""
    width = np.minimum(boxes[:, 2], other[2]) - np.maximum(boxes[:, 0], other[0])
    height = np.minimum(boxes[:, 3], other[3]) - np.maximum(boxes[:, 1], other[1])
    return np.asarray(np.maximum(width, 0.0) * np.maximum(height, 0.0))


def _thinned(marks: Floats, cell: float) -> Floats:
    """One point of each cell: a picture has only so many."""
    return np.asarray(np.unique(np.round(marks / cell), axis=0) * cell)


def _extent(text: str) -> tuple[float, float]:
    """Width and height of a text, in points."""
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0, 0.0
    return float(TextPath((0, 0), text, size=_SIZE).get_extents().width) + 2.0, 1.25 * _SIZE

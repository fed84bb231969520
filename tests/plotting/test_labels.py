"""Names, marks and ticks on pictures: readable whatever the number of points."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import quadsweep as qs


@pytest.fixture
def ax():
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def crowded():
    """Forty rows, eight of them out and close together, with long names."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = x + 0.2 * rng.normal(size=40)
    x[:8], y[:8] = 1.5 + 0.05 * rng.normal(size=8), -1 + 0.05 * rng.normal(size=8)
    names = [f"The very long name of municipality number {i}" for i in range(40)]
    return pd.DataFrame({"a": x, "b": y}, index=names)


def boxes(ax):
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in ax.texts if text.get_text()]


def bare(text, renderer):
    """The letters alone, without the line to the point."""
    from matplotlib.text import Text

    return Text.get_window_extent(text, renderer)


def test_names_of_crowded_points_cover_neither_each_other_nor_points(ax):
    result = qs.solve(crowded(), drop=8)
    result.plot(ax=ax)
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    written = [bare(text, renderer) for text in ax.texts]
    assert len(written) == 8
    for i, box in enumerate(written):
        assert ax.bbox.x0 <= box.x0
        assert box.x1 <= ax.bbox.x1
        for other in written[i + 1 :]:
            shared = min(box.x1, other.x1) - max(box.x0, other.x0)
            tall = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(shared, tall) <= 1.5
    points = ax.transData.transform(np.column_stack([result.x, result.y]))
    covered = sum(bool(box.contains(*point)) for box in written for point in points)
    assert covered == 0


def test_long_names_are_shortened_and_still_differ(ax):
    qs.solve(crowded(), drop=8).plot(ax=ax)
    texts = {text.get_text() for text in ax.texts}
    assert len(texts) == 8
    assert max(map(len, texts)) <= 24


def test_rows_of_a_frame_without_names_are_called_by_their_index(ax):
    result = qs.solve(crowded().reset_index(drop=True), drop=8)
    result.plot(ax=ax)
    assert {text.get_text() for text in ax.texts} == {str(i) for i in result.outliers}


def test_an_audit_names_its_rows_in_the_same_way(ax):
    audit = qs.audit(crowded())
    audit.plot(ax=ax)
    assert len(ax.texts) == len(audit.outliers)
    assert max(len(text.get_text()) for text in ax.texts) <= 24
    assert boxes(ax)


def many(n=1460, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(7.2, 0.35, n)
    y = 110 * x + 5000 + rng.normal(0, 30000, n) * (x / 1500)
    x[:4], y[:4] = 1.7 * x[:4], y[:4] - 250000
    return x, y


def test_dropped_points_stay_large_among_many(ax):
    qs.solve(*many(), drop=5).plot(ax=ax)
    sizes = {c.get_label(): c.get_sizes()[0] for c in ax.collections if c.get_label()[0] != "_"}
    assert sizes["dropped (5)"] == 46
    assert sizes["kept (1,455)"] < 5


def test_points_dropped_are_counted_in_whole_numbers(ax):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    qs.path(x, y, drop=4).plot(ax=ax)
    ax.figure.canvas.draw()
    assert all(t == int(t) for t in ax.get_xticks())
    assert "4" in [t.get_text() for t in ax.get_xticklabels()]


def test_shuffles_are_counted_in_whole_numbers(ax):
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    qs.significance(x, y, drop=4, permutations=5).plot(ax=ax)
    ax.figure.canvas.draw()
    assert all(t == int(t) for t in ax.get_yticks())


def test_lines_of_a_comparison_differ_in_colour_dashes_and_shape(ax):
    stars = qs.datasets.load("stars-cyg")
    methods = ["pearson", "theil_sen", "lts", "ransac"]
    qs.compare(stars.x, stars.y, drop=6, methods=methods).plot(ax=ax)
    drawn = [line for line in ax.lines if not line.get_label().startswith("_")]
    for style in ("get_color", "get_marker"):
        assert len({str(getattr(line, style)()) for line in drawn}) == len(drawn) >= 4
    assert len({str(line._dash_pattern) for line in drawn}) == len(drawn)

"""Pictures look as they did when someone last looked at them.

After a change that is meant, ``make images`` draws them anew; look at them before committing.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

import quadsweep as qs
from quadsweep.demo import solved

IMAGES = Path(__file__).parent / "images"
TOLERANCE = 8.0  # root mean square of grey levels: fonts may differ a little, layouts may not


def _result(name):
    return lambda ax: solved(name).plot(ax=ax)


def _objective(objective):
    def draw(ax):
        x, y = np.random.default_rng(3).normal(size=(2, 24))
        qs.solve(x, y, 16, objective=objective).plot(ax=ax)

    return draw


def _conic(ax):
    ax.set_xlim(-3, 3)
    ax.set_ylim(-3, 3)
    qs.Conic((-0.5, 1.2, -0.5, 0.1, 0.0, 0.4)).plot(ax=ax)


def _stars(make):
    def draw(ax):
        stars = qs.datasets.load("stars-cyg")
        make(stars.x, stars.y).plot(ax=ax)

    return draw


def _nonseparable(ax):
    hard = qs.datasets.load("nonseparable-r2")
    best = qs.solve(hard.x, hard.y, hard.k)
    qs.separate(hard.x, hard.y, best.mask).plot(ax=ax)


def _several(**kind):
    def draw(ax):
        plant = qs.datasets.load("stack-loss")
        qs.solve(plant, objective="lts", method="exhaustive").plot(ax=ax, **kind)

    return draw


PICTURES = {
    "animals": _result("animals"),
    "phone-calls": _result("phone-calls"),
    "nonseparable-r2": _result("nonseparable-r2"),
    "lts": _objective("lts"),
    "tv": _objective("tv"),
    "var": _objective("var"),
    "mcd": lambda ax: qs.solve(qs.datasets.load("stars-cyg"), k=25, objective="mcd").plot(ax=ax),
    "conic": _conic,
    "path": _stars(lambda x, y: qs.path(x, y, drop=10, permutations=39)),
    "significance": _stars(lambda x, y: qs.significance(x, y, drop=4, permutations=99)),
    "audit": _stars(qs.audit),
    "stability": _stars(lambda x, y: qs.stability(x, y, drop=4, resamples=50)),
    "compare": _stars(
        lambda x, y: qs.compare(x, y, drop=4, methods=["pearson", "theil_sen", "lts"])
    ),
    "separation": _nonseparable,
    "several-fitted": _several(),
    "several-residuals": _several(kind="residuals"),
    "several-added": _several(predictor="air flow"),
}


def drawn(name, path):
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    PICTURES[name](figure.subplots())
    figure.savefig(path, dpi=80)


@pytest.mark.parametrize("name", PICTURES)
def test_looks_as_it_did(name, tmp_path):
    path = tmp_path / f"{name}.png"
    drawn(name, path)
    expected = tmp_path / f"{name}-expected.png"
    expected.write_bytes((IMAGES / f"{name}.png").read_bytes())
    assert compare_images(str(expected), str(path), TOLERANCE) is None


def test_a_picture_of_something_else_is_noticed(tmp_path):
    path = tmp_path / "tv.png"
    drawn("tv", path)
    expected = tmp_path / "other.png"
    expected.write_bytes((IMAGES / "var.png").read_bytes())
    assert compare_images(str(expected), str(path), TOLERANCE) is not None


if __name__ == "__main__":
    for picture in sys.argv[1:] or PICTURES:
        drawn(picture, IMAGES / f"{picture}.png")
